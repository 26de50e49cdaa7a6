"""Error spans as rows of MQM and as a campaign of Appraise: what counts, without kinds of judges.

These formats do not know adjudication. Where an output was adjudicated, the rows are those of the
decision, under the judge `adjudicated`; what each assessor said stands in the log.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from karat.errors import InputError, OutputError, no_formula, quoted
from karat.evalset.formats.wmt import WEIGHTS
from karat.studio.export.contents import Contents
from karat.studio.tasks import SPANS

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
