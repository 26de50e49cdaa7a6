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
from karat.studio.export.values import decided_spans

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
    """Return the answers that count: the decision on an output, else those of all assessors."""
    settings = contents.project.settings.tasks
    if "spans" not in settings:
        raise InputError("the project marks no error spans: choose another format")
    decider = contents.decider
    settled = {
        one.output: Marked(one.output, decider, decided_spans(one), 0, one.time)
        for one in contents.decided("spans")
        if one.output is not None
    }
    people = [
        Marked(one.outputs[0], contents.names[one.assessor], one.value, one.ms, one.time)
        for one in contents.of_task("spans")
        if one.outputs[0] not in settled
    ]
    return [*people, *settled.values()]


def mqm_lines(contents: Contents) -> Iterator[str]:
    """Yield a table with a row for every error, and `No-error` for an output without."""
    yield "\t".join(COLUMNS) + "\n"
    for one in marked(contents):
        output = contents.outputs[one.output]
        item = contents.items[output.item]
        before = (output.system, item.group or item.segment, "1", item.segment, one.judge)
        _check_marks(output.text + (item.source or ""))
        for span in one.value["spans"] or [None]:
            target, category, severity = _error(output.text, span)
            row = (*before, item.source or "", target, category, severity)
            yield "\t".join(map(_field, row)) + "\n"


def _error(text: str, span: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Return the output with the span between marks, its category and its severity."""
    if span is None:
        return text, "No-error", "No-error"
    start, end = span["start"], span["end"]
    shown = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
    severity = str(span["severity"])
    return shown, span.get("category", "Other"), _SEVERITIES.get(severity.lower(), severity)


def _field(text: str) -> str:
    """Return a text as a table can hold it: line ends and tabs become blanks."""
    return text.replace("\r\n", " ").translate({ord(end): " " for end in "\t\r\n"})


def _check_marks(text: str) -> None:
    if "<v>" in text or "</v>" in text:
        told = "which MQM files use for errors: choose another format"
        raise OutputError(f"the text {quoted(text)} holds <v> or </v>, {told}")


def appraise_lines(contents: Contents) -> Iterator[str]:
    """Yield the rows of a campaign as Appraise exports them; documents are the groups."""
    scored = contents.project.settings.tasks.get("spans", {}).get("scale") is not None
    place = {id: at for at, id in enumerate(contents.items, 1)}
    for one in marked(contents):
        output = contents.outputs[one.output]
        item = contents.items[output.item]
        end = datetime.fromisoformat(one.time).timestamp()
        row = (
            *(one.judge, output.system, place[item.id], "TGT", *[UNKNOWN_LANGUAGE] * 2),
            one.value["score"] if scored else 0,
            *(f"{item.group or item.segment}#{output.system}", False),
            json.dumps([_appraised(span) for span in one.value["spans"]], ensure_ascii=False),
            *(round(end - one.ms / 1000, 3), end),
        )
        yield csv_line(row)


def _appraised(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span in Appraise's words; a type would make the campaign one of MQM."""
    found = {"start_i": span["start"], "end_i": span["end"], "severity": span["severity"]}
    return {**found, "error_type": None, **({"category": c} if (c := span.get("category")) else {})}


def csv_line(row: tuple[object, ...], spreadsheet_safe: bool = False) -> str:
    """Return a row of a CSV file; with `spreadsheet_safe`, no text in it is taken for a formula."""
    text = io.StringIO()
    cells = [no_formula(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(text, lineterminator="\n").writerow(cells if spreadsheet_safe else row)
    return text.getvalue()
