"""Formats of exports, and `export_store`, which writes one or all that a project has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import InputError, OutputError, no_formula, quoted
from karat.evalset.catalogue import GivenPath
from karat.evalset.conversion import (
    NamedFile,
    check_distinct,
    check_free,
    write_file,
    write_folder,
)
from karat.evalset.formats.directory import directory_files
from karat.evalset.formats.wmt import WEIGHTS
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.nuggets.formats.json_lines import jsonl_lines
from karat.nuggets.formats.text_files import trec_files
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.storage.output import as_path
from karat.studio.contents import Contents, read_contents
from karat.studio.export.log import log_lines, restore
from karat.studio.export.sets import (
    MAJORITY,
    TIE,
    JudgedValue,
    all_values,
    make_evalset,
    make_key_set,
    make_nugget_set,
    pair_labels,
    preference_lines,
    win_lines,
)
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, RATINGS, SPANS, TASKS
from karat.studio.tasks.pairs import WIN, pair_name
from karat.studio.tasks.task import CurrentAnswer, Task

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


COLUMNS = (
    *("system", "doc", "doc_id", "seg_id", "rater", "source", "target"),
    *("category", "severity"),
)
UNKNOWN_LANGUAGE = "und"
_SEVERITIES = {name.lower(): name for name in WEIGHTS if "/" not in name}


class Marked(NamedTuple):
    """The errors that one judge marked in one output."""

    output: int
    judge: str
    value: Mapping[str, Any]
    ms: int
    time: str


def marked(contents: Contents) -> list[Marked]:
    """Return the current marks: the decision on an output, else the answers of all assessors."""
    if not contents.project.settings.has(SPANS):
        raise InputError("the project marks no error spans: choose another format")
    decider = contents.decider
    decided_marks = {
        row.output: Marked(row.output, decider, SPANS.decided_answer(row), 0, row.time)
        for row in contents.decisions_on(SPANS)
        if row.output is not None
    }
    people = [
        Marked(row.outputs[0], contents.names[row.assessor], row.value, row.ms, row.time)
        for row in contents.answers_to(SPANS)
        if row.outputs[0] not in decided_marks
    ]
    return [*people, *decided_marks.values()]


def mqm_lines(contents: Contents) -> Iterator[str]:
    """Yield a table with a row for every error, and `No-error` for an output without."""
    yield "\t".join(COLUMNS) + "\n"
    for marks in marked(contents):
        output = contents.outputs[marks.output]
        item = contents.items[output.item]
        before = (output.system, item.group or item.segment, "1", item.segment, marks.judge)
        _check_marks(output.text + (item.source or ""))
        for span in marks.value["spans"] or [None]:
            target, category, severity = _mark_error(output.text, span)
            row = (*before, item.source or "", target, category, severity)
            yield "\t".join(map(_field, row)) + "\n"


def _mark_error(text: str, span: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Return the output with the span between marks, its category and its severity."""
    if span is None:
        return text, "No-error", "No-error"
    start, end = span["start"], span["end"]
    marked_text = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
    severity = str(span["severity"])
    return marked_text, span.get("category", "Other"), _SEVERITIES.get(severity.lower(), severity)


def _field(text: str) -> str:
    """Return a text as a table can hold it: line ends and tabs become blanks."""
    return text.replace("\r\n", " ").translate({ord(end): " " for end in "\t\r\n"})


def _check_marks(text: str) -> None:
    if "<v>" in text or "</v>" in text:
        advice = "which MQM files use for errors: choose another format"
        raise OutputError(f"the text {quoted(text)} holds <v> or </v>, {advice}")


def appraise_lines(contents: Contents) -> Iterator[str]:
    """Yield the rows of a campaign as Appraise exports them; documents are the groups."""
    scored = bool(SPANS.scales(contents.project.settings.tasks[SPANS.name]))
    positions = {id: at for at, id in enumerate(contents.items, 1)}
    for marks in marked(contents):
        output = contents.outputs[marks.output]
        item = contents.items[output.item]
        end = datetime.fromisoformat(marks.time).timestamp()
        row = (
            *(marks.judge, output.system, positions[item.id], "TGT", *[UNKNOWN_LANGUAGE] * 2),
            marks.value["score"] if scored else 0,
            *(f"{item.group or item.segment}#{output.system}", False),
            json.dumps([_appraise_span(span) for span in marks.value["spans"]], ensure_ascii=False),
            *(round(end - marks.ms / 1000, 3), end),
        )
        yield csv_line(row)


def _appraise_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span in Appraise's words; a type would make the campaign one of MQM."""
    fields = {"start_i": span["start"], "end_i": span["end"], "severity": span["severity"]}
    return {
        **fields,
        "error_type": None,
        **({"category": c} if (c := span.get("category")) else {}),
    }


def csv_line(row: tuple[object, ...], spreadsheet_safe: bool = False) -> str:
    """Return a row of a CSV file; with `spreadsheet_safe`, no text in it is taken for a formula."""
    text = io.StringIO()
    cells = [no_formula(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(text, lineterminator="\n").writerow(cells if spreadsheet_safe else row)
    return text.getvalue()


MEAN = "mean"


class OutputLabel(NamedTuple):
    """The label of an output or a pair."""

    task: str
    segment: str
    system: str
    other: str
    """The system that the output was compared with."""
    output: str
    """The id of the output, or the ids of a pair: a system may have several responses."""
    about: str
    label: float
    basis: str
    """adjudicated, majority, mean or tie."""
    votes: tuple[float, ...]


def make_labels(contents: Contents) -> list[OutputLabel]:
    """Return one label for each output and dimension, pair, and response and nugget."""
    return [*_rating_labels(contents), *_pair_labels(contents), *_nugget_labels(contents)]


def _rating_labels(contents: Contents) -> Iterator[OutputLabel]:
    by_dimension: dict[tuple[int, str], list[JudgedValue]] = {}
    for value in all_values(contents):
        if value.dimension != WIN.name:
            by_dimension.setdefault((value.output, value.dimension), []).append(value)
    rated_dimensions = {scale["dimension"] for scale in contents.project.settings.rating_scales}
    for (id, dimension), values in by_dimension.items():
        people = tuple(value.value for value in values if value.kind == PERSON)
        adjudicated = [value.value for value in values if value.kind == ADJUDICATED]
        label = adjudicated[0] if adjudicated else sum(people) / len(people)
        basis = ADJUDICATED if adjudicated else MEAN
        task = RATINGS if dimension in rated_dimensions else SPANS
        location = *_segment_and_system(contents, id), "", str(id)
        yield OutputLabel(task.name, *location, dimension, label, basis, people)


def _segment_and_system(contents: Contents, id: int) -> tuple[str, str]:
    output = contents.outputs[id]
    return contents.items[output.item].segment, output.system


def _pair_labels(contents: Contents) -> Iterator[OutputLabel]:
    for label in pair_labels(contents):
        segment, system = _segment_and_system(contents, label.first)
        other = contents.outputs[label.second].system
        location = segment, system, other, pair_name((label.first, label.second))
        yield OutputLabel(PAIRS.name, *location, WIN.name, label.share, label.basis, label.votes)


def _nugget_labels(contents: Contents) -> Iterator[OutputLabel]:
    if not contents.project.settings.has(NUGGETS):
        return
    votes: dict[tuple[int, str], list[float]] = {}
    for answer in contents.answers_to(NUGGETS):
        for id, nugget, value in NUGGETS.to_judgements(answer.value, answer.outputs):
            votes.setdefault((id, nugget), []).append(value)
    for decision in contents.decisions_on(NUGGETS):
        if decision.output is not None:  # the answers may have been undone
            votes.setdefault((decision.output, decision.about), [])
    judgements = make_nugget_set(contents).judgements
    adjudicated = {row.words for row in judgements.rows if row.kind == ADJUDICATED}
    for (id, nugget), values in votes.items():
        segment, system = _segment_and_system(contents, id)
        words = (segment, nugget, normal(contents.outputs[id].text))
        is_tie = judgements.tie(*words) is not None
        basis = ADJUDICATED if words in adjudicated else TIE if is_tie else MAJORITY
        location = segment, system, "", str(id)
        label = judgements.known[words]
        yield OutputLabel(NUGGETS.name, *location, nugget, label, basis, tuple(values))


def label_lines(labels: list[OutputLabel]) -> Iterator[str]:
    """Yield a table of labels; the label of a tie is `tie`."""
    yield "\t".join(OutputLabel._fields) + "\n"
    for row in labels:
        label = TIE if row.basis == TIE else repr(row.label)
        votes = " ".join(map(repr, row.votes))
        yield "\t".join((*row[:6], label, row.basis, votes)) + "\n"


def drop_ties(nuggets: NuggetSet) -> NuggetSet:
    """Return a nugget set with one label for each response and nugget, and none for ties."""
    judgements, labelled, rows = nuggets.judgements, set(), []
    for row in judgements.deciding:
        if (row.run, row.words) in labelled or judgements.tie(*row.words) is not None:
            continue
        labelled.add((row.run, row.words))
        rows.append(row._replace(value=judgements.known[row.words], judge="", kind=""))
    return NuggetSet(nuggets.name, nuggets.key, nuggets.runs, judgements.with_rows(rows))


# Values of each judge

CSV_COLUMNS = (
    *("task", "segment", "group", "system", "other", "judge", "kind", "about", "value", "comment"),
    *("ms", "time", "reason", "probability", "uuid"),
)


def judgement_lines(contents: Contents, spreadsheet_safe: bool = False) -> Iterator[str]:
    """Yield a CSV file with a row for each current value of each judge."""
    yield csv_line(CSV_COLUMNS, spreadsheet_safe)
    for answer in contents.answers:
        for row in _answer_rows(contents, answer):
            yield csv_line(row, spreadsheet_safe)
    for decision in contents.decisions:
        item = contents.items[decision.item]
        system = "" if decision.output is None else contents.outputs[decision.output].system
        is_nugget = decision.task == NUGGETS.name
        value = NUGGETS.decided_label(decision) if is_nugget else _cell(decision.value)
        yield csv_line(
            (
                *(decision.task, item.segment, item.group or "", system, "", contents.decider),
                *(ADJUDICATED, decision.about, value, "", "", decision.time, "", ""),
                decision.uuid,
            ),
            spreadsheet_safe,
        )


def _answer_rows(contents: Contents, answer: CurrentAnswer) -> Iterator[tuple[object, ...]]:
    item, judge = contents.items[answer.item], contents.names[answer.assessor]
    probability = "" if answer.probability is None else answer.probability
    comment = answer.value.get("comment", "")
    details = comment, answer.ms, answer.time, answer.reason, probability, answer.uuid
    for id, about, value in TASKS[answer.task].exported_rows(answer.value, answer.outputs):
        system = contents.outputs[id].system
        opponents = [contents.outputs[other].system for other in answer.outputs if other != id]
        location = answer.task, item.segment, item.group or "", system, "".join(opponents), judge
        yield (*location, PERSON, about, _cell(value), *details)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


ALL = "all"
PRIVATE = ("log.jsonl",)
"""Files with all that assessors said under their names: only the owner of the file reads them."""


class ExportSource:
    """A store that is exported: its contents are read once."""

    def __init__(self, store: Store, anonymous: bool, spreadsheet_safe: bool = False) -> None:
        self.store, self.anonymous = store, anonymous
        self.spreadsheet_safe = spreadsheet_safe

    @cached_property
    def contents(self) -> Contents:
        """Texts, answers and decisions."""
        return read_contents(self.store, self.anonymous)

    @cached_property
    def labels(self) -> list[OutputLabel]:
        """One label for each thing that was judged."""
        return make_labels(self.contents)

    @property
    def ties(self) -> list[OutputLabel]:
        """Labels on which people are equally divided."""
        return [label for label in self.labels if label.basis == TIE]


class ExportFormat(NamedTuple):
    """A format: its file or folder in an export of everything, its tasks, its writer."""

    name: str
    tasks: tuple[Task, ...]
    """A project needs one of these; none if every project has it."""
    write: Callable[[ExportSource], Iterable[str]] | None = None
    """The text of a file in pieces."""
    files: Callable[[ExportSource], Iterator[NamedFile]] | None = None
    """The files of a folder."""


def _trec_files(source: ExportSource) -> Iterator[NamedFile]:
    """Yield TREC's files; ties stand in a file of their own."""
    yield from trec_files(drop_ties(make_nugget_set(source.contents)))
    yield "ties.tsv", label_lines([label for label in source.ties if label.task == NUGGETS.name])


FORMATS: Mapping[str, ExportFormat] = {
    "log": ExportFormat("log.jsonl", (), lambda one: log_lines(one.store, one.anonymous)),
    "csv": ExportFormat(
        "judgements.csv", (), lambda one: judgement_lines(one.contents, one.spreadsheet_safe)
    ),
    "labels": ExportFormat("labels.tsv", (), lambda one: label_lines(one.labels)),
    "ties": ExportFormat("ties.tsv", (), lambda one: label_lines(one.ties)),
    "set": ExportFormat(
        "set",
        (RATINGS, PAIRS, SPANS),
        files=lambda one: directory_files(make_evalset(one.contents)),
    ),
    "mqm": ExportFormat("mqm.tsv", (SPANS,), lambda one: mqm_lines(one.contents)),
    "appraise": ExportFormat("appraise.csv", (SPANS,), lambda one: appraise_lines(one.contents)),
    "pairs": ExportFormat("pairs.jsonl", (PAIRS,), lambda one: preference_lines(one.contents)),
    "wins": ExportFormat("wins.tsv", (PAIRS,), lambda one: win_lines(one.contents)),
    "nuggets": ExportFormat(
        "nuggets.jsonl", (NUGGETS,), lambda one: jsonl_lines(make_nugget_set(one.contents))
    ),
    "key": ExportFormat(
        "key.jsonl", (NUGGETS,), lambda one: jsonl_lines(make_key_set(one.contents))
    ),
    "trec": ExportFormat("trec", (NUGGETS,), files=_trec_files),
}
"""Name -> format."""


def export_store(
    store: Store,
    target: GivenPath,
    format: str = ALL,
    anonymous: bool = False,
    spreadsheet_safe: bool = False,
) -> tuple[str, ...]:
    """Write a store to a new file or folder, whole or not at all; return the formats written.

    Args:
        store: an open store; `Store.reading` will do.
        target: file or folder that does not exist yet.
        format: name of a format, or `all` for a folder with each format of the project's tasks.
        anonymous: write pseudonyms instead of the names of assessors.
        spreadsheet_safe: in `csv`, keep spreadsheets from taking text for formulas.
    """
    if spreadsheet_safe and format not in (ALL, "csv"):
        raise InputError(
            f"--spreadsheet-safe is for the format csv, and the format is {format}, which other "
            "tools read: leave it out"
        )
    path = as_path("target", target)
    check_free(path)
    source = ExportSource(store, anonymous, spreadsheet_safe)
    if format == ALL:
        names = list_formats(source.contents.project.settings)
        with store.read():  # one state of the store for all files
            files = (file for name in names for file in _format_files(name, source))
            write_folder(path, files, private=() if anonymous else PRIVATE)
        return tuple(names)
    if format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join((ALL, *FORMATS))}")
    _check_format(format, source)
    export_format = FORMATS[format]
    with store.read():
        if export_format.write:
            write_file(
                path, export_format.write(source), export_format.name in PRIVATE and not anonymous
            )
        elif export_format.files:
            write_folder(path, export_format.files(source))
    return (format,)


def list_formats(settings: ProjectSettings) -> list[str]:
    """Return the names of the formats that a project has."""
    return [name for name in FORMATS if _has_format(name, settings)]


def export_files(store: Store, format: str, anonymous: bool = False) -> list[tuple[str, str]]:
    """Return the files of a format, or of `all`, by their names: for those who download them."""
    source = ExportSource(store, anonymous)
    with store.read():
        if format != ALL:
            _check_format(format, source)
        names = list_formats(source.contents.project.settings) if format == ALL else [format]
        files = check_distinct(file for name in names for file in _format_files(name, source))
        return [(file, "".join(text)) for file, text in files]


def _format_files(name: str, source: ExportSource) -> Iterator[NamedFile]:
    export_format = FORMATS[name]
    if export_format.write:
        yield export_format.name, export_format.write(source)
    elif export_format.files:
        yield from (
            (f"{export_format.name}/{file}", text) for file, text in export_format.files(source)
        )


def _has_format(name: str, settings: ProjectSettings) -> bool:
    """Return whether a project has what a format is made of."""
    tasks = FORMATS[name].tasks
    if tasks == (SPANS,) and settings.has(SPANS):  # each scheme has its own format
        is_esa: bool = settings.tasks[SPANS.name]["scheme"] == "esa"
        return is_esa == (name == "appraise")
    return not tasks or any(settings.has(task) for task in tasks)


def _check_format(name: str, source: ExportSource) -> None:
    settings = source.contents.project.settings
    if name not in FORMATS or not _has_format(name, settings):
        available = ", ".join(list_formats(settings))
        raise InputError(
            f"the project has nothing for the format {name}: expected one of {available}"
        )


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
    with Store.reading(store) as opened, opened.intact():
        return export_store(opened, target, format, anonymous, spreadsheet_safe)


def import_studio(log: GivenPath, store: GivenPath) -> None:
    """Make a file of judgements from its log; `open_studio` gives each assessor a new link.

    Args:
        log: log that `export_studio` wrote, or the folder that has it.
        store: file to make.
    """
    restore(log, store)


def check_studio(store: GivenPath) -> StoreCheck:
    """Check a file of judgements: the database, references between rows, what may not change.

    Args:
        store: file of judgements; a studio may be using it.
    """
    with Store.reading(store) as opened:
        return opened.check()
