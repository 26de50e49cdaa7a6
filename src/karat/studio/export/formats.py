"""Formats of exports, and `export_studio`, which writes one format or all of a project."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import InputError, OutputError, no_formula, quoted
from karat.evalset import conversion
from karat.evalset.catalogue import GivenPath
from karat.evalset.conversion import NamedFile
from karat.evalset.formats.directory import directory_files
from karat.evalset.formats.wmt import WEIGHTS
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.nuggets.formats.json_lines import jsonl_lines
from karat.nuggets.formats.text_files import trec_files
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.storage.output import as_path
from karat.studio.contents import Contents, read_contents
from karat.studio.export import sets
from karat.studio.export.log import log_lines
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, RATINGS, SPANS, TASKS
from karat.studio.tasks.pairs import WIN, pair_name
from karat.studio.tasks.task import Task

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck

UNKNOWN_LANGUAGE = "und"
MEAN = "mean"
ALL = "all"
PRIVATE = ("log.jsonl",)
"""Files with names of assessors, readable only by the user who writes them."""


def csv_line(row: tuple[object, ...], spreadsheet_safe: bool = False) -> str:
    """Return a CSV line; with `spreadsheet_safe`, no cell can be read as a formula."""
    text = io.StringIO()
    cells = [no_formula(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(text, lineterminator="\n").writerow(cells if spreadsheet_safe else row)
    return text.getvalue()


# Error spans


class OutputMarks(NamedTuple):
    """The errors that one judge marked in one output."""

    output: int
    judge: str
    value: Mapping[str, Any]
    ms: int
    time: str


def current_marks(contents: Contents) -> list[OutputMarks]:
    """Return the current marks: the decision on an output, else the answers of all assessors.

    MQM and Appraise have no adjudication, so a decision replaces the answers, under the judge
    `adjudicated`; the log has the marks of each assessor.
    """
    if not contents.project.settings.has(SPANS):
        raise InputError("the project marks no error spans: choose another format")
    decided_marks = {
        row.output: OutputMarks(
            row.output, contents.decider, SPANS.decided_answer(row), 0, row.time
        )
        for row in contents.decisions_on(SPANS)
        if row.output is not None
    }
    people = [
        OutputMarks(row.outputs[0], contents.names[row.assessor], row.value, row.ms, row.time)
        for row in contents.answers_to(SPANS)
        if row.outputs[0] not in decided_marks
    ]
    return [*people, *decided_marks.values()]


_MQM_COLUMNS = (
    *("system", "doc", "doc_id", "seg_id", "rater", "source", "target"),
    *("category", "severity"),
)
_SEVERITIES = {name.lower(): name for name in WEIGHTS if "/" not in name}
_BLANKS = {ord(end): " " for end in "\t\r\n"}


def mqm_lines(contents: Contents) -> Iterator[str]:
    """Yield a table with a row for every error, or `No-error` for an output without errors."""
    yield "\t".join(_MQM_COLUMNS) + "\n"
    for marks in current_marks(contents):
        output = contents.outputs[marks.output]
        item, text = contents.items[output.item], output.text
        source, before = item.source or "", (item.group or item.segment, "1", item.segment)
        if any(mark in text + source for mark in ("<v>", "</v>")):
            advice = "which MQM files use for errors: choose another format"
            raise OutputError(f"the text {quoted(text + source)} holds <v> or </v>, {advice}")
        errors = []
        for span in marks.value["spans"]:
            start, end, severity = span["start"], span["end"], str(span["severity"])
            marked_text = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
            severity = _SEVERITIES.get(severity.lower(), severity)
            errors.append((marked_text, span.get("category", "Other"), severity))
        for error in errors or [(text, "No-error", "No-error")]:
            row = (output.system, *before, marks.judge, source, *error)
            cells = [cell.replace("\r\n", " ").translate(_BLANKS) for cell in row]
            yield "\t".join(cells) + "\n"


def appraise_lines(contents: Contents) -> Iterator[str]:
    """Yield rows in the export format of Appraise; documents are groups."""
    scored = bool(SPANS.scales(contents.project.settings.tasks[SPANS.name]))
    positions = {id: at for at, id in enumerate(contents.items, 1)}
    for marks in current_marks(contents):
        output = contents.outputs[marks.output]
        item = contents.items[output.item]
        end = datetime.fromisoformat(marks.time).timestamp()
        spans = [
            {
                **{"start_i": span["start"], "end_i": span["end"], "severity": span["severity"]},
                "error_type": None,  # with a type, Appraise would read it as MQM
                **({"category": span["category"]} if span.get("category") else {}),
            }
            for span in marks.value["spans"]
        ]
        yield csv_line(
            (
                *(marks.judge, output.system, positions[item.id], "TGT", *[UNKNOWN_LANGUAGE] * 2),
                marks.value["score"] if scored else 0,
                *(f"{item.group or item.segment}#{output.system}", False),
                json.dumps(spans, ensure_ascii=False),
                *(round(end - marks.ms / 1000, 3), end),
            )
        )


# One label for each unit


class OutputLabel(NamedTuple):
    """The label of an output or a pair.

    It is the adjudicated label, else that of the majority; for ratings and penalties, the mean. If
    people are equally divided on a pair or nugget, the basis is `tie`. Ties are listed separately,
    and left out of formats with yes and no only.
    """

    task: str
    segment: str
    system: str
    other: str
    """The other system of a pair."""
    output: str
    """The id of the output, or the ids of a pair; a system may have several responses."""
    about: str
    label: float
    basis: str
    """adjudicated, majority, mean or tie."""
    votes: tuple[float, ...]


def make_labels(contents: Contents) -> list[OutputLabel]:
    """Return one label for each output and dimension, pair, and response and nugget."""
    return [*_rating_labels(contents), *_pair_labels(contents), *_nugget_labels(contents)]


def _rating_labels(contents: Contents) -> Iterator[OutputLabel]:
    rated_dimensions = {scale["dimension"] for scale in contents.project.settings.rating_scales}
    for (id, dimension), (people, adjudicated) in _votes(sets.rated_values(contents)).items():
        label = adjudicated[0] if adjudicated else sum(people) / len(people)
        basis = ADJUDICATED if adjudicated else MEAN
        task = RATINGS if dimension in rated_dimensions else SPANS
        location = contents.segment(id), contents.outputs[id].system, "", str(id)
        yield OutputLabel(task.name, *location, dimension, label, basis, tuple(people))


def _votes(
    values: Iterable[sets.ExportedValue],
) -> dict[tuple[int, str], tuple[list[float], list[float]]]:
    """Return values by people and adjudicated ones, by output and dimension or nugget."""
    votes: dict[tuple[int, str], tuple[list[float], list[float]]] = {}
    for row in values:
        people, adjudicated = votes.setdefault((row.output, row.dimension), ([], []))
        (adjudicated if row.kind == ADJUDICATED else people).append(row.value)
    return votes


def _pair_labels(contents: Contents) -> Iterator[OutputLabel]:
    for label in sets.pair_labels(contents):
        system, other = (contents.outputs[id].system for id in (label.first, label.second))
        name = pair_name((label.first, label.second))
        location = contents.items[label.item].segment, system, other, name
        yield OutputLabel(PAIRS.name, *location, WIN.name, label.share, label.basis, label.votes)


def _nugget_labels(contents: Contents) -> Iterator[OutputLabel]:
    if not contents.project.settings.has(NUGGETS):
        return
    judgements = sets.make_nugget_set(contents).judgements
    adjudicated = {row.pair_key for row in judgements.rows if row.kind == ADJUDICATED}
    for (id, nugget), (people, _) in _votes(sets.nugget_values(contents)).items():
        output, segment = contents.outputs[id], contents.segment(id)
        words = (segment, nugget, normal(output.text))
        is_tie = judgements.tie(*words) is not None
        basis = ADJUDICATED if words in adjudicated else sets.TIE if is_tie else sets.MAJORITY
        location = segment, output.system, "", str(id)
        label = judgements.values[words]
        yield OutputLabel(NUGGETS.name, *location, nugget, label, basis, tuple(people))


def label_lines(labels: Iterable[OutputLabel]) -> Iterator[str]:
    """Yield a table of labels; the label of a tie is `tie`."""
    yield "\t".join(OutputLabel._fields) + "\n"
    for row in labels:
        label = sets.TIE if row.basis == sets.TIE else repr(row.label)
        votes = " ".join(map(repr, row.votes))
        yield "\t".join((*row[:6], label, row.basis, votes)) + "\n"


def drop_ties(nuggets: NuggetSet) -> NuggetSet:
    """Return a nugget set with one label for each response and nugget, and none for ties."""
    judgements, labelled, rows = nuggets.judgements, set(), []
    for row in judgements.deciding:
        if (row.run, row.pair_key) in labelled or judgements.tie(*row.pair_key) is not None:
            continue
        labelled.add((row.run, row.pair_key))
        rows.append(row._replace(value=judgements.values[row.pair_key], judge="", kind=""))
    return NuggetSet(nuggets.name, nuggets.key, nuggets.runs, judgements.with_rows(rows))


# Values of each judge

CSV_COLUMNS = (
    *("task", "segment", "group", "system", "other", "judge", "kind", "about", "value", "comment"),
    *("ms", "time", "reason", "probability", "uuid"),
)


def judgement_lines(contents: Contents, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a CSV file with a row for each current value of each judge."""
    for row in _judgement_rows(contents):
        cells = (
            json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell
            for cell in row
        )
        yield csv_line(tuple(cells), spreadsheet_safe)


def _judgement_rows(contents: Contents) -> Iterator[tuple[object, ...]]:
    yield CSV_COLUMNS
    systems = {id: output.system for id, output in contents.outputs.items()}
    for answer in contents.answers:
        item, judge = contents.items[answer.item], contents.names[answer.assessor]
        probability = "" if answer.probability is None else answer.probability
        comment = answer.value.get("comment", "")
        details = comment, answer.ms, answer.time, answer.reason, probability, answer.uuid
        for id, about, value in TASKS[answer.task].exported_rows(answer.value, answer.outputs):
            opponents = "".join(systems[other] for other in answer.outputs if other != id)
            location = item.segment, item.group or "", systems[id], opponents
            yield (answer.task, *location, judge, PERSON, about, value, *details)
    for decision in contents.decisions:
        item = contents.items[decision.item]
        system = "" if decision.output is None else systems[decision.output]
        value = TASKS[decision.task].exported_decision(decision)
        yield (
            *(decision.task, item.segment, item.group or "", system, "", contents.decider),
            *(ADJUDICATED, decision.about, value, "", "", decision.time, "", "", decision.uuid),
        )


# Formats


@dataclass(frozen=True)
class ExportSource:
    """A store to export; its contents are read once."""

    store: Store
    anonymous: bool
    spreadsheet_safe: bool = False

    @cached_property
    def contents(self) -> Contents:
        """Texts, answers and decisions."""
        return read_contents(self.store, self.anonymous)

    @cached_property
    def labels(self) -> list[OutputLabel]:
        """One label for each judged unit."""
        return make_labels(self.contents)

    @property
    def ties(self) -> list[OutputLabel]:
        """Labels on which people are equally divided."""
        return [label for label in self.labels if label.basis == sets.TIE]


class ExportFormat(NamedTuple):
    """A format: its file or folder in an export of all formats, its tasks, its writer."""

    name: str
    tasks: tuple[Task, ...]
    """A project needs one of these; () if every project has the format."""
    write: Callable[[ExportSource], Iterable[str]] | None = None
    """Returns the text of a file in pieces."""
    files: Callable[[ExportSource], Iterator[NamedFile]] | None = None
    """Returns the files of a folder."""
    scheme: str = ""
    """The scheme of error spans, if the format needs one."""

    def is_for(self, settings: ProjectSettings) -> bool:
        """Return whether a project has data for the format."""
        if self.scheme and settings.has(SPANS):
            return bool(settings.tasks[SPANS.name]["scheme"] == self.scheme)
        return not self.tasks or any(settings.has(task) for task in self.tasks)


def _trec_files(source: ExportSource) -> Iterator[NamedFile]:
    """Yield TREC's files, and a file of ties."""
    yield from trec_files(drop_ties(sets.make_nugget_set(source.contents)))
    yield "ties.tsv", label_lines(label for label in source.ties if label.task == NUGGETS.name)


FORMATS: Mapping[str, ExportFormat] = {
    "log": ExportFormat("log.jsonl", (), lambda of: log_lines(of.store, of.anonymous)),
    "csv": ExportFormat(
        "judgements.csv", (), lambda of: judgement_lines(of.contents, of.spreadsheet_safe)
    ),
    "labels": ExportFormat("labels.tsv", (), lambda of: label_lines(of.labels)),
    "ties": ExportFormat("ties.tsv", (), lambda of: label_lines(of.ties)),
    "set": ExportFormat(
        "set",
        (RATINGS, PAIRS, SPANS),
        files=lambda of: directory_files(sets.make_evalset(of.contents)),
    ),
    "mqm": ExportFormat("mqm.tsv", (SPANS,), lambda of: mqm_lines(of.contents), scheme="mqm"),
    "appraise": ExportFormat(
        "appraise.csv", (SPANS,), lambda of: appraise_lines(of.contents), scheme="esa"
    ),
    "pairs": ExportFormat("pairs.jsonl", (PAIRS,), lambda of: sets.preference_lines(of.contents)),
    "wins": ExportFormat("wins.tsv", (PAIRS,), lambda of: sets.win_lines(of.contents)),
    "nuggets": ExportFormat(
        "nuggets.jsonl", (NUGGETS,), lambda of: jsonl_lines(sets.make_nugget_set(of.contents))
    ),
    "key": ExportFormat(
        "key.jsonl", (NUGGETS,), lambda of: jsonl_lines(sets.make_key_set(of.contents))
    ),
    "trec": ExportFormat("trec", (NUGGETS,), files=_trec_files),
}
"""Name -> format."""


def list_formats(settings: ProjectSettings) -> list[str]:
    """Return the names of the formats of a project."""
    return [name for name, export_format in FORMATS.items() if export_format.is_for(settings)]


def _named_files(names: Iterable[str], source: ExportSource) -> Iterator[NamedFile]:
    """Yield the files of formats with their texts; formats with several files have a folder."""
    for chosen in (FORMATS[name] for name in names):
        if chosen.write:
            yield chosen.name, chosen.write(source)
        elif chosen.files:
            yield from ((f"{chosen.name}/{file}", text) for file, text in chosen.files(source))


def _chosen_formats(name: str, source: ExportSource) -> list[str]:
    """Return the names of the formats to write; raise InputError if the project lacks one."""
    if name not in (ALL, *FORMATS):
        raise InputError(f"format {quoted(name)}: expected one of {', '.join((ALL, *FORMATS))}")
    available = list_formats(source.contents.project.settings)
    if name != ALL and name not in available:
        expected = f"expected one of {', '.join(available)}"
        raise InputError(f"the project has nothing for the format {name}: {expected}")
    return available if name == ALL else [name]


def export_files(store: Store, format: str, anonymous: bool = False) -> list[tuple[str, str]]:
    """Return the names and texts of the files of a format, or of `all`, for download."""
    with store.read():
        source = ExportSource(store, anonymous)
        files = _named_files(_chosen_formats(format, source), source)
        return [(file, "".join(text)) for file, text in conversion.check_distinct(files)]


def export_studio(
    store: GivenPath,
    target: GivenPath,
    format: str = ALL,
    anonymous: bool = False,
    spreadsheet_safe: bool = False,
) -> tuple[str, ...]:
    """Write the judgements of a studio to files; return the formats written.

    Args:
        store: file of judgements; a studio may be using it.
        target: file or folder that does not exist yet.
        format: name of a format, or `all` for a folder with each format of the project's task.
        anonymous: write pseudonyms instead of the names of assessors.
        spreadsheet_safe: in `csv`, keep spreadsheets from taking text for formulas.
    """
    if spreadsheet_safe and format not in (ALL, "csv"):
        raise InputError(
            f"--spreadsheet-safe is for the format csv, and the format is {format}, which other "
            "tools read: leave it out"
        )
    path = as_path("target", target)
    private = () if anonymous else PRIVATE
    # One state of the store for all files.
    with Store.reading(store) as opened, opened.explaining_damage(), opened.read():
        conversion.check_free(path)
        source = ExportSource(opened, anonymous, spreadsheet_safe)
        names = _chosen_formats(format, source)
        chosen = None if format == ALL else FORMATS[format]
        if chosen is None:
            conversion.write_folder(path, _named_files(names, source), private=private)
        elif chosen.write:
            conversion.write_file(path, chosen.write(source), chosen.name in private)
        elif chosen.files:
            conversion.write_folder(path, chosen.files(source))
    return tuple(names)


def check_studio(store: GivenPath) -> StoreCheck:
    """Check a file of judgements: the database, references between rows, and unchanged texts.

    Args:
        store: file of judgements; a studio may be using it.
    """
    with Store.reading(store) as opened:
        return opened.check()
