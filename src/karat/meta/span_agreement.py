"""`compare_spans`: how far judges agree on the errors that they mark in outputs.

Spans are read from JSON lines, from tables of WMT's MQM and from exports of Appraise.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.judgements import MODEL, kind_problem
from karat.evalset.reading import Reading, read_json_lines, read_lines, read_rows
from karat.meta.judge_check_results import interval_columns, unit_interval
from karat.meta.settings import SpanSettings
from karat.results import Column, Result, number, program_columns
from karat.stats.spans import MarkedSpan, SpanCredit, span_agreement, span_credit
from karat.storage.digests import data_digest

PEOPLE = "other people"
_TEXTS = ("system", "segment", "judge", "document", "kind")
_NO_PLACE = "missing"
_MAX_CHARACTERS = 200_000
_EXPECTED_SPANS = (
    'expected [{"start": 0, "end": 4, "severity": "major"}, …] with whole numbers, '
    f"0 ≤ start ≤ end ≤ {_MAX_CHARACTERS:,}"
)
_MQM = ("system", "doc", "seg_id", "rater", "target", "severity")
_APPRAISE_FIELDS = 12
_OPEN, _CLOSE = "<v>", "</v>"
_NO_ERROR = ("no-error", "hotw-test")


class MarkedOutput(NamedTuple):
    """The spans that one judge marked in one output; an empty tuple if the judge found none."""

    system: str
    segment: str
    judge: str
    spans: tuple[MarkedSpan, ...]
    document: str = ""
    kind: str = ""


class SpanRow(NamedTuple):
    """A judge compared with other people, or with one person."""

    judge: str
    reference: str
    outputs: int
    units: int
    marked: int
    """Characters that the judge marked."""
    reference_marked: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    f: float
    f_low: float
    f_high: float
    f_edges: float
    """F where edges of spans may differ."""


SPAN_COLUMNS = (
    Column("judge", "Judge"),
    Column("reference", "Reference"),
    number("outputs", "Outputs", help="Pairs of an output and a reference judge."),
    number("units", "Units", help="Documents or segments, which are independent."),
    *program_columns("marked", "reference_marked"),
    number("precision", "P", 3, "Credit of the characters that the judge marked."),
    number("recall", "R", 3, "Credit of the characters that the reference marked."),
    *program_columns("precision_low", "precision_high", "recall_low", "recall_high"),
    *interval_columns("f", "F", "Harmonic mean of P and R.", prefix="f_"),
    number("f_edges", "F, edges", 3, "F where edges of spans may differ by some characters."),
)


@dataclass(frozen=True, eq=False, repr=False)
class SpanComparison(Result):
    """Agreement of judges on spans: each judge with the other people (`rows`), and by pair."""

    rows: tuple[SpanRow, ...]
    pairs: tuple[SpanRow, ...]
    """Every two judges with common outputs; the second is the reference."""
    models: tuple[str, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def compare_spans(
    marked: Iterable[MarkedOutput | str | os.PathLike[str]],
    *,
    model_judges: Sequence[str] = (),
    severity_credit: float = SpanSettings.severity_credit,
    edges: int = SpanSettings.edges,
) -> SpanComparison:
    """Return micro precision, recall and F by characters of each judge against the other people.

    Args:
        marked: outputs with the spans that a judge marked (`MarkedOutput`), or files: JSON lines,
            WMT's MQM tables, or exports of Appraise.
        model_judges: judges that are models; they are never references.
        severity_credit: credit for a character that the reference marks with another severity.
        edges: characters by which edges of spans may differ in the tolerant F.
    """
    options = SpanSettings(severity_credit, edges)
    outputs: list[MarkedOutput] = []
    for source in [marked] if isinstance(marked, str | os.PathLike) else marked:
        outputs += [source] if isinstance(source, MarkedOutput) else read_spans(source)
    judges = list(dict.fromkeys(output.judge for output in outputs))
    if unknown := [name for name in model_judges if name not in judges]:
        raise InputError(f"no spans by {quoted(unknown[0])} (judges: {short(', '.join(judges))})")
    models = {*model_judges, *(output.judge for output in outputs if output.kind == MODEL)}
    table = _SpanTable(_by_judge(outputs), _units(outputs), options)
    people = [judge for judge in judges if judge not in models]
    rows = [
        row
        for judge in judges
        if (row := table.row(judge, [name for name in people if name != judge], PEOPLE))
    ]
    if not rows:
        raise InputError(
            f"found no output that a person and another judge marked (people: {len(people)}, "
            f"models: {len(models)}): expected the spans of two judges for an output"
        )
    pairs = [row for a, b in combinations(judges, 2) if (row := table.row(b, [a], a))]
    digest = data_digest(*([*output] for output in outputs))
    return SpanComparison(
        tuple(sorted(rows, key=lambda row: row.judge not in models)),
        tuple(pairs),
        tuple(judge for judge in judges if judge in models),
        {"severity_credit": severity_credit, "edges": edges, "models": tuple(sorted(models))},
        (),
        f"spans:{digest}|severity_credit={severity_credit:g}|edges={edges}",
    )


_Output = tuple[str, str]


def _by_judge(outputs: Iterable[MarkedOutput]) -> dict[str, dict[_Output, MarkedOutput]]:
    by_judge: dict[str, dict[_Output, MarkedOutput]] = {}
    for output in outputs:
        marked = by_judge.setdefault(output.judge, {})
        earlier = marked.setdefault((output.system, output.segment), output)
        if sorted(earlier.spans) != sorted(output.spans):
            raise InputError(
                f"judge {short(output.judge)} marked segment {quoted(output.segment)} of "
                f"{quoted(output.system)} twice, with different spans: expected one of them"
            )
    return by_judge


def _units(outputs: Iterable[MarkedOutput]) -> dict[str, int]:
    """Number the documents, or the segments without one, by segment."""
    numbers: dict[tuple[str, str], int] = {}
    unit_of: dict[str, int] = {}
    for output in outputs:
        key = ("document", output.document) if output.document else ("segment", output.segment)
        unit_of.setdefault(output.segment, numbers.setdefault(key, len(numbers)))
    return unit_of


class _SpanTable(NamedTuple):
    """The spans of every judge and output."""

    by_judge: Mapping[str, Mapping[_Output, MarkedOutput]]
    unit_of: Mapping[str, int]
    options: SpanSettings

    def row(self, judge: str, references: Sequence[str], name: str) -> SpanRow | None:
        """Return a judge compared with references, added up; None without common outputs."""
        marked, pairs = self.by_judge[judge], []
        for reference in references:
            for key, output in self.by_judge[reference].items():
                if key in marked:
                    pairs.append((output.spans, marked[key].spans, self.unit_of[key[1]]))
        if not pairs:
            return None
        unit = np.array([unit for _, _, unit in pairs])
        credits = self._credits(pairs, 0)
        agreement = span_agreement(credits, unit)
        tolerant = span_agreement(self._credits(pairs, self.options.edges), unit)
        precision, recall, f = agreement
        return SpanRow(
            judge,
            name,
            len(pairs),
            len(np.unique(unit)),
            sum(credit.marked for credit in credits),
            sum(credit.reference_marked for credit in credits),
            precision.value,
            *unit_interval(precision, (0.0, 1.0)),
            recall.value,
            *unit_interval(recall, (0.0, 1.0)),
            f.value,
            *unit_interval(f, (0.0, 1.0)),
            tolerant.f.value,
        )

    def _credits(
        self, pairs: Sequence[tuple[Sequence[MarkedSpan], Sequence[MarkedSpan], int]], edges: int
    ) -> list[SpanCredit]:
        credit = self.options.severity_credit
        return [span_credit(gold, predicted, credit, edges) for gold, predicted, _ in pairs]


# ------------------------------------------------------------------------------------ reading


def read_spans(path: str | os.PathLike[str]) -> list[MarkedOutput]:
    """Return the spans in a file: JSON lines, a table of WMT's MQM, or an export of Appraise."""
    file = Path(path)
    reading = Reading(lister="")
    try:
        lines = read_lines(file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    first = next((line.lstrip() for line in lines if line.strip()), "")
    if first.startswith("{"):
        outputs = list(_json_spans(file, reading))
    elif {*_MQM} <= {*first.split("\t")}:
        outputs = list(_mqm_spans(file, reading))
    elif first.count(",") >= _APPRAISE_FIELDS - 1 and not first.startswith("["):
        outputs = list(_appraise_spans(file, reading))
    else:
        expected = (
            'expected JSON lines such as {"system": "A", "segment": "1", "judge": "ann", "spans": '
            '[{"start": 0, "end": 4, "severity": "major"}]}, a table of MQM or an Appraise export'
        )
        raise InputError(
            f"{file}: found {quoted(short(first)) if first else 'no text'}, {expected}"
        )
    reading.check()
    if not outputs:
        raise InputError(f"{file}: found no marked output, expected at least one")
    return outputs


def _json_spans(file: Path, reading: Reading) -> Iterator[MarkedOutput]:
    for location, record in read_json_lines(file, reading):
        texts = [str(x) if type(x) is int else x for x in (record.get(key, "") for key in _TEXTS)]
        spans = _parse_spans(record.get("spans"), "start", "end")
        if not all(isinstance(text, str) for text in texts) or not all(texts[:3]):
            fields = json.dumps({key: record.get(key) for key in _TEXTS[:3]}, ensure_ascii=False)
            expected = "expected text as system, segment and judge"
            reading.problem(location, f"found {short(fields)}, {expected}")
        elif problem := kind_problem(texts[-1]):
            reading.problem(location, problem)
        elif spans is None:
            text = short(json.dumps(record.get("spans"), ensure_ascii=False))
            reading.problem(location, f"found the spans {text}, {_EXPECTED_SPANS}")
        else:
            system, segment, judge, document, kind = texts
            yield MarkedOutput(system, segment, judge, spans, document, kind)


def _parse_spans(spans: object, start: str, end: str) -> tuple[MarkedSpan, ...] | None:
    """Return spans, without those that have no place in the output; None if they are invalid."""
    if not isinstance(spans, list):
        return None
    parsed = []
    for span in spans:
        if not isinstance(span, dict) or not isinstance(span.get("severity") or "", str):
            return None
        first, last = span.get(start), span.get(end)
        if first == last == _NO_PLACE:
            continue
        if type(first) is not int or type(last) is not int:
            return None
        if not 0 <= first <= last <= _MAX_CHARACTERS:
            return None
        parsed.append(MarkedSpan(first, last, (span.get("severity") or "").lower()))
    return tuple(parsed)


def _mqm_spans(file: Path, reading: Reading) -> Iterator[MarkedOutput]:
    """Yield the outputs of a table with a row for each error, marked by `<v>` and `</v>`."""
    (_, header), *rows = reading.numbered(read_lines(file), file)
    columns = header.split("\t")
    places = [columns.index(name) for name in _MQM]
    outputs: dict[tuple[str, str, str, str], list[MarkedSpan]] = {}
    for location, line in rows:
        fields = line.split("\t")
        if len(fields) != len(columns):
            reading.problem(location, f"found {len(fields)} fields, expected {len(columns)}")
            continue
        system, document, segment, rater, target, severity = (fields[place] for place in places)
        spans = outputs.setdefault((system, document, segment, rater), [])
        before, opened, rest = target.partition(_OPEN)
        inside, closed, _ = rest.partition(_CLOSE)
        if opened and closed and severity.lower() not in _NO_ERROR:
            spans.append(MarkedSpan(len(before), len(before) + len(inside), severity.lower()))
    for (system, document, segment, rater), spans in outputs.items():
        yield MarkedOutput(system, f"{document} {segment}", rater, tuple(spans), document)


def _appraise_spans(file: Path, reading: Reading) -> Iterator[MarkedOutput]:
    """Yield the answers of an export of Appraise, as `read_appraise` places them.

    A segment is the position of an item in its document; documents that were judged in part and
    items for quality control are left out.
    """
    documents: dict[tuple[str, str, str], dict[int, tuple[MarkedSpan, ...]]] = {}
    for location, row in read_rows(file, reading, commas=True):
        spans = _decode_spans(row[9]) if len(row) == _APPRAISE_FIELDS else None
        if spans is None or not re.fullmatch("[0-9]{1,9}", row[2]):
            text = short(",".join(row))
            expected = f"{_APPRAISE_FIELDS} fields, the third a number, the tenth error spans"
            reading.problem(location, f"found {quoted(text)}, expected {expected}")
            continue
        judge, system, number_of_item, kind, _, _, _, document, is_document = row[:9]
        is_control = "#bad" in document or "#duplicate" in document or "tutorial" in document
        if kind == "TGT" and is_document != "True" and not is_control:
            name = document.rpartition("#")[0] or document
            documents.setdefault((name, system, judge), {})[int(number_of_item)] = spans
    lengths: dict[str, int] = {}
    for (name, _, _), items in documents.items():
        lengths[name] = max(lengths.get(name, 0), len(items))
    for (name, system, judge), items in documents.items():
        if len(items) == lengths[name]:
            for place, item in enumerate(sorted(items), 1):
                yield MarkedOutput(system, f"{name} {place}", judge, items[item], name)


def _decode_spans(text: str) -> tuple[MarkedSpan, ...] | None:
    try:
        return _parse_spans(json.loads(text), "start_i", "end_i")
    except (ValueError, RecursionError):
        return None
