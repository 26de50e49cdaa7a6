"""A gate on GitHub: annotations as workflow commands, and the summary of the step."""

from __future__ import annotations

from dataclasses import replace

from karat.errors import visible
from karat.gating.decisions import FAIL, PASS
from karat.gating.gates import GateResult
from karat.gating.guards import Change
from karat.report.render.renderers import render

MOST_BYTES = 1 << 20
"""GitHub drops a summary that is larger."""
_MOST_LETTERS = 2000  # of a text in the summary


def gate_annotations(result: GateResult, undecided_fails: bool = False) -> list[str]:
    """Return `::error` and `::warning` commands for all that did not pass."""
    found = []
    for verdict, sentence in zip(result.verdicts, result.sentences, strict=True):
        if verdict != PASS:
            level = "error" if verdict == FAIL or undecided_fails else "warning"
            title = _property(f"karat gate: {verdict}")
            found.append(f"::{level} title={title}::{_data(sentence)}")
    return found


def gate_summary(result: GateResult, command: str = "") -> str:
    """Return the summary in Markdown, long texts cut, always below what GitHub takes."""
    short = replace(result, changes=tuple(map(_cut, result.changes)))
    text = render(short.document(command), "md")
    if len(text.encode("utf-8")) < MOST_BYTES:
        return text
    bare = replace(short, changes=(), guards=tuple(row._replace(lost="") for row in result.guards))
    text = render(bare.document(""), "md")
    return text.encode("utf-8")[: MOST_BYTES - 1].decode("utf-8", "ignore")


def _cut(change: Change) -> Change:
    return change._replace(
        reference=_short(change.reference),
        output=_short(change.output),
        baseline_output=change.baseline_output and _short(change.baseline_output),
    )


def _short(text: str) -> str:
    many = f"… ({len(text):,} characters)" * (len(text) > _MOST_LETTERS)
    return text[:_MOST_LETTERS] + many


def _data(text: str) -> str:
    escaped = visible(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
