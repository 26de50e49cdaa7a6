"""Error spans: MQM (severity and category) and ESA (severity and a score from 0 to 100).

    {"spans": [{"start": 0, "end": 4, "severity": "major", "category": "Accuracy/Omission"}],
     "score": 70}

Offsets count Unicode code points of the output as it was sent; spans may overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.errors import InputError, quoted
from karat.studio.tasks.ratings import scale_of, wrong_value
from karat.studio.tasks.task import (
    AssignmentView,
    first_wrong,
    is_done,
    marked_characters,
    only_known,
    overlap_f1,
    wrong_choice,
    wrong_parts,
    wrong_spans,
    wrong_text,
)

MOST_SPANS = 200
SCHEMES = ("mqm", "esa")
SEVERITIES = {"mqm": ("neutral", "minor", "major", "critical"), "esa": ("minor", "major")}
CATEGORIES = (
    "Accuracy/Addition",
    "Accuracy/Omission",
    "Accuracy/Mistranslation",
    "Accuracy/Untranslated text",
    "Fluency/Grammar",
    "Fluency/Spelling",
    "Fluency/Punctuation",
    "Fluency/Register",
    "Fluency/Inconsistency",
    "Fluency/Character encoding",
    "Terminology/Inappropriate for context",
    "Terminology/Inconsistent use",
    "Style/Awkward",
    "Locale convention",
    "Source error",
    "Non-translation",
    "Other",
)


class SpanTask:
    """One output at a time, in which errors are marked."""

    name = "spans"

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scheme with its severities, categories and, for ESA, the scale."""
        only_known(self.name, given, ("scheme", "severities", "categories", "scale"))
        scheme = given.get("scheme", "mqm")
        if told := wrong_choice("scheme", scheme, SCHEMES):
            raise InputError(f"task spans: {told}")
        severities = _names("severities", given.get("severities", SEVERITIES[scheme]))
        usual = CATEGORIES if scheme == "mqm" else ()
        categories = _names("categories", given.get("categories", usual), least=0)
        scale = given.get("scale", "score-100" if scheme == "esa" else None)
        return {
            "scheme": scheme,
            "severities": severities,
            "categories": categories,
            "scale": None if scale is None else scale_of(scale).to_json(),
        }

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return each output alone."""
        return [(one,) for one in outputs]

    def check(self, value: object, shown: AssignmentView) -> str:
        """Return what is wrong with an answer."""
        scored = shown.settings["scale"] is not None
        if told := wrong_parts(value, ("spans", "score") if scored else ("spans",)):
            return told
        given: Any = value
        spans = given.get("spans", [])
        if told := wrong_spans("spans", spans, shown.outputs[0].text, MOST_SPANS):
            return told
        if told := first_wrong([_wrong_error(span, shown.settings) for span in spans]):
            return told
        if "spans" not in given and is_done(given):
            return "no spans: expected a list, which is empty if there is no error"
        if not scored or ("score" not in given and not is_done(given)):
            return ""
        return wrong_value(shown.settings["scale"], given.get("score"))

    def likeness(self, value: Any, answer: Any, shown: AssignmentView) -> float:
        """Return the F1 of the characters that both mark."""
        return overlap_f1(marked_characters(value["spans"]), marked_characters(answer["spans"]))

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return each span, and the score if there is one."""
        rows: list[tuple[int, str, Any]] = [(outputs[0], "span", one) for one in value["spans"]]
        return rows + ([(outputs[0], "score", value["score"])] if "score" in value else [])


def _wrong_error(span: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    categories = settings["categories"]
    known = ("start", "end", "severity", *(("category",) if categories else ()), "note")
    if unknown := [key for key in span if key not in known]:
        return f"found the key {quoted(unknown[0])} in a span, expected {', '.join(known)}"
    return first_wrong(
        [
            wrong_choice("severity", span.get("severity"), settings["severities"]),
            wrong_choice("category", span.get("category"), categories) if categories else "",
            wrong_text("note", span.get("note", ""), 500),
        ]
    )


def _names(what: str, given: object, least: int = 1) -> list[str]:
    """Return a list of names that the owner gave."""
    names = list(given) if isinstance(given, list | tuple) else []
    good = all(isinstance(one, str) and 0 < len(one) <= 100 for one in names)
    if not isinstance(given, list | tuple) or len(names) < least or not good:
        raise InputError(f"task spans: found {what}={quoted(given)}, expected a list of names")
    if len({*names}) < len(names):
        raise InputError(f"task spans: a name stands twice among {what}")
    return names
