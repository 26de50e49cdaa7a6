"""Nuggets: whether a response supports each nugget of its question, with the evidence marked.

{"nuggets": {"1": {"label": "support", "evidence": [{"start": 0, "end": 12}]}}}

In a draft a nugget may have evidence and no label yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from karat.errors import quoted, short
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT
from karat.studio.tasks.task import (
    AssignmentView,
    first_wrong,
    is_done,
    only_known,
    wrong_choice,
    wrong_parts,
    wrong_spans,
)

LABELS = {"support": SUPPORT, "partial": PARTIAL, "none": NOT}
MOST_EVIDENCE = 50


class NuggetTask:
    """One response at a time, with all nuggets of its question."""

    name = "nuggets"

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return no settings: there are none."""
        only_known(self.name, given, ())
        return {}

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return each response alone."""
        return [(one,) for one in outputs]

    def check(self, value: object, shown: AssignmentView) -> str:
        """Return what is wrong with an answer."""
        if told := wrong_parts(value, ("nuggets",)):
            return told
        given: Any = value
        found = given.get("nuggets", {})
        if not isinstance(found, dict):
            return f"found nuggets={quoted(found)}, expected an object by nugget"
        known = [nugget.id for nugget in shown.nuggets]
        if unknown := [id for id in found if id not in (*known, *shown.dropped)]:
            return f"found the nugget {quoted(unknown[0])}, expected {short(', '.join(known))}"
        text, drafted = shown.outputs[0].text, not is_done(given)
        wrong = [_wrong_label(id, one, text, drafted) for id, one in found.items()]
        if told := first_wrong(wrong):
            return told
        missing = [id for id in known if id not in found]
        return f"no label for nugget {short(missing[0])}" if missing and is_done(given) else ""

    def likeness(self, value: Any, answer: Any, shown: AssignmentView) -> float:
        """Return the share of nuggets with the known label."""
        given, known = value["nuggets"], answer["nuggets"]
        return fmean(given[id]["label"] == known[id]["label"] for id in known)

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return 1, 0.5 or 0 for each nugget."""
        return [(outputs[0], id, LABELS[one["label"]]) for id, one in value["nuggets"].items()]


def _wrong_label(id: str, given: object, text: str, drafted: bool) -> str:
    """Return what is wrong with the label and the evidence of one nugget."""
    where = f"nugget {short(id)}: "
    if not isinstance(given, dict):
        return f"{where}found {quoted(given)}, expected an object with label and evidence"
    if unknown := [key for key in given if key not in ("label", "evidence")]:
        return f"{where}found the key {quoted(unknown[0])}, expected label and evidence"
    evidence = given.get("evidence", [])
    undecided = drafted and "label" not in given
    told = "" if undecided else wrong_choice("label", given.get("label"), LABELS)
    told = told or wrong_spans("evidence", evidence, text, MOST_EVIDENCE)
    if not told and any({*span} != {"start", "end"} for span in evidence):
        told = "found other keys in the evidence, expected start and end"
    return told and where + told
