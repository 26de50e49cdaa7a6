"""Error spans: MQM (severity and category) and ESA (severity and a score from 0 to 100).

    {"spans": [{"start": 0, "end": 4, "severity": "major", "category": "Accuracy/Omission"}],
     "score": 70}

Offsets count Unicode code points of the output as it was sent; spans may overlap. The penalty of an
output is the sum of the weights of MQM files (`mqm`) or of Appraise (`penalty`). There is none if a
severity that the owner defined has no weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.formats.appraise import WEIGHTS as ESA_WEIGHTS
from karat.evalset.formats.wmt import WEIGHTS, weight_of
from karat.evalset.judgements import Dimension
from karat.studio.tasks import checks
from karat.studio.tasks.ratings import make_scale, rating_error, scale_dimension, scale_range
from karat.studio.tasks.task import (
    AssignmentView,
    CurrentAnswer,
    CurrentDecision,
    Json,
    JudgementRows,
    Ratings,
    Task,
    Votes,
)

MAX_SPANS = 200
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
_MQM_WEIGHTS = {name.lower(): weight for name, weight in WEIGHTS.items()}


class SpanTask(Task):
    """Mark the errors in one output."""

    name = "spans"

    def settings(self, options: Json) -> dict[str, Any]:
        """Return the scheme with its severities, categories and, for ESA, the scale."""
        checks.check_setting_names(
            self.name, options, ("scheme", "severities", "categories", "scale")
        )
        scheme = options.get("scheme", "mqm")
        if error := checks.choice_error("scheme", scheme, SCHEMES):
            raise InputError(f"task spans: {error}")
        severities = _check_names("severities", options.get("severities", SEVERITIES[scheme]))
        default_categories = CATEGORIES if scheme == "mqm" else ()
        categories = options.get("categories", default_categories)
        scale = options.get("scale", "score-100" if scheme == "esa" else None)
        return {
            "scheme": scheme,
            "severities": severities,
            "categories": _check_names("categories", categories, min_names=0),
            "scale": None if scale is None else make_scale(scale),
        }

    def choose_settings(
        self, dimensions: Sequence[str], scales: Sequence[str], scheme: str | None
    ) -> dict[str, Any]:
        super().choose_settings(dimensions, scales, None)
        return self.settings({"scheme": scheme} if scheme else {})

    def scales(self, settings: Json) -> list[Json]:
        return [settings["scale"]] if settings["scale"] else []

    def dimensions(self, settings: Json) -> list[Dimension]:
        """Return the score of ESA, and the penalty if all severities have weights."""
        dimensions = [scale_dimension(scale) for scale in self.scales(settings)]
        if _has_weights(settings):
            guideline = "Sum of the weights of the marked errors."
            dimensions.append(Dimension(_penalty_name(settings), "lower", 0.0, guideline=guideline))
        return dimensions

    def find_error(self, value: object, view: AssignmentView) -> str:
        has_score = view.settings["scale"] is not None
        if error := checks.answer_error(value, ("spans", "score") if has_score else ("spans",)):
            return error
        answer: Any = value
        spans = answer.get("spans", [])
        if error := checks.spans_error("spans", spans, view.outputs[0].text, MAX_SPANS):
            return error
        if error := checks.first_error([_span_error(span, view.settings) for span in spans]):
            return error
        if "spans" not in answer and checks.is_done(answer):
            return "no spans: expected a list, which is empty if there is no error"
        if not has_score or ("score" not in answer and not checks.is_done(answer)):
            return ""
        return rating_error(view.settings["scale"], answer.get("score"))

    def similarity(self, value: Any, answer: Any, view: AssignmentView) -> float:
        """Return the F1 of the characters that both mark."""
        return checks.overlap_f1(
            checks.marked_characters(value["spans"]), checks.marked_characters(answer["spans"])
        )

    def to_judgements(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return all spans in one row, also for an output without errors, and the score."""
        return [(outputs[0], name, content) for name, content in _marks(value).items()]

    def to_ratings(self, value: Json, settings: Json) -> Ratings:
        """Return the score of ESA, and the penalty if all severities have weights."""
        ratings = []
        if settings["scale"] and "score" in value:
            ratings.append((settings["scale"]["dimension"], float(value["score"])))
        if _has_weights(settings):
            penalty = sum(_weight(span, settings["scheme"]) for span in value["spans"])
            ratings.append((_penalty_name(settings), float(penalty)))
        return ratings

    def decision_to_ratings(self, decision: CurrentDecision, settings: Json) -> Ratings:
        return self.to_ratings(self.decided_answer(decision), settings)

    def votes(self, answer: CurrentAnswer) -> Votes:
        """Return spans and their score, which are decided together."""
        return [(answer.outputs[0], self.name, _marks(answer.value))]

    def subject(self, about: str) -> str:
        return "errors"

    def disagreement(self, settings: Json, about: str, values: Sequence[Any]) -> float:
        """Return the larger disagreement: on the marked errors or on the score.

        On errors it is 1 minus the mean F1 of (character, severity) over pairs of assessors.
        """
        marks = [
            {
                (at, span["severity"])
                for span in vote["spans"]
                for at in range(span["start"], span["end"])
            }
            for vote in values
        ]
        mark_disagreement = 0.0
        if any(marks):
            mark_disagreement = 1 - fmean(
                checks.overlap_f1(a, b) for a, b in combinations(marks, 2)
            )
        scale = settings["scale"]
        if not scale:
            return mark_disagreement
        return max(mark_disagreement, scale_range(scale, [vote["score"] for vote in values]))

    def vote_answer(self, value: Json, about: str, outputs: Sequence[int]) -> dict[str, Any]:
        return _marks(value)

    def answer_to_decision(self, answer: Json, about: str) -> dict[str, Any]:
        return _marks(answer)

    def decision_to_answer(self, value: Any, about: str) -> dict[str, Any]:
        return {"spans": value} if isinstance(value, list) else dict(value)

    def decided_answer(self, decision: CurrentDecision) -> dict[str, Any]:
        """Return a decision on error spans as an answer."""
        value = decision.value
        answer = {"spans": value} if isinstance(value, list) else value
        if not isinstance(answer, dict) or not isinstance(answer.get("spans"), list):
            raise decision.error("spans")
        return answer

    def check_decision(
        self, decision: CurrentDecision, view: AssignmentView, outputs: Sequence[int]
    ) -> None:
        if error := self.find_error(self.decided_answer(decision), view):
            raise InputError(f"adjudication {decision.id}: {error}")


def _marks(answer: Json) -> dict[str, Any]:
    """Return the spans and the score of an answer, without the comment."""
    return {name: answer[name] for name in ("spans", "score") if name in answer}


def _penalty_name(settings: Json) -> str:
    return "mqm" if settings["scheme"] == "mqm" else "penalty"


def _has_weights(settings: Json) -> bool:
    """Return whether all severities have a weight."""
    weights = _MQM_WEIGHTS if settings["scheme"] == "mqm" else ESA_WEIGHTS
    return all(name.lower() in weights for name in settings["severities"])


def _weight(span: Json, scheme: str) -> float:
    severity = str(span["severity"]).lower()
    if scheme == "esa":
        return ESA_WEIGHTS[severity]
    return weight_of(severity, str(span.get("category", "")), _MQM_WEIGHTS) or 0.0


def _span_error(span: Json, settings: Json) -> str:
    categories = settings["categories"]
    keys = ("start", "end", "severity", *(("category",) if categories else ()), "note")
    if unknown := [key for key in span if key not in keys]:
        return f"found the key {quoted(unknown[0])} in a span, expected {', '.join(keys)}"
    return checks.first_error(
        [
            checks.choice_error("severity", span.get("severity"), settings["severities"]),
            checks.choice_error("category", span.get("category"), categories) if categories else "",
            checks.text_error("note", span.get("note", ""), 500),
        ]
    )


def _check_names(setting: str, value: object, min_names: int = 1) -> list[str]:
    """Return a list of names in the settings; raise InputError if it is invalid."""
    names = list(value) if isinstance(value, list | tuple) else []
    are_names = all(isinstance(name, str) and 0 < len(name) <= 100 for name in names)
    if not isinstance(value, list | tuple) or len(names) < min_names or not are_names:
        raise InputError(f"task spans: found {setting}={quoted(value)}, expected a list of names")
    if len({*names}) < len(names):
        raise InputError(f"task spans: a name occurs twice among {setting}")
    return names
