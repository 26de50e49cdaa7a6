"""Ratings: values of an output on one or more scales.

{"ratings": {"quality": 6, "understandability": 5}, "comment": "", "done": true}

The seven-point scales of quality and understandability come from the evaluation of FERGUS
(Bangalore, Rambow and Whittaker 2000), with its words for the ends and the middle. The five-point
scales of adequacy, fluency, dissimilarity and paraphrases come from Liu, Dahlmeier and Ng
(2010), which words the ends of the overall score only; the other words are Karat's. Every dimension
also has a scale from 0 to 100.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.judgements import Dimension
from karat.settings import nearest
from karat.studio.tasks import checks
from karat.studio.tasks.task import (
    AssignmentView,
    CurrentDecision,
    Json,
    JudgementRows,
    Ratings,
    Task,
)

MAX_QUESTION = 2000
MAX_LABELS = 101
MAX_RATING = 2.0**32
"""Upper limit for exact sums."""


_REQUIRED = ("dimension", "low", "high")
_DEFAULTS: Json = {"step": 1, "better": "higher", "guideline": "", "labels": {}, "compares": False}
"""Fields of a scale that may be missing.

`guideline` is the question to assessors, and `labels` has labels by value as text. A question that
`compares` the output with another text needs that text beside the output.
"""


def _scale_error(scale: Json) -> str:
    """Return the first error of a scale with all fields; "" if it is valid."""
    dimension, low, high, step = (scale[name] for name in (*_REQUIRED, "step"))
    if not isinstance(dimension, str) or not dimension.strip():
        return f"found the dimension {quoted(dimension)}, expected a name"
    if not all(checks.is_number(end) for end in (low, high, step)):
        return "expected numbers for low, high and step"
    if not low < high or not 0 < step <= high - low:
        problem = f"found {low} to {high} in steps of {step}"
        return f"{problem}, expected a lower and a higher end and a step that fits between them"
    if scale["better"] not in ("higher", "lower"):
        return f"found better={quoted(scale['better'])}, expected higher or lower"
    if not isinstance(scale["labels"], Mapping) or len(scale["labels"]) > MAX_LABELS:
        return f"expected labels as an object with at most {MAX_LABELS} values"
    compares = scale["compares"]
    compares_error = f"found compares={quoted(compares)}, expected true or false"
    errors = ["" if isinstance(compares, bool) else compares_error]
    errors.append(checks.text_error("guideline", scale["guideline"], MAX_QUESTION))
    errors += [checks.text_error("label", text, 200) for text in scale["labels"].values()]
    return checks.first_error(errors)


_QUESTIONS = {
    "quality": "How well-written is this sentence?",
    "understandability": "How easy is this sentence to understand?",
    "adequacy": "Is the meaning preserved adequately?",
    "fluency": "Is the text fluent?",
    "dissimilarity": "How much has the paraphrase changed the original sentence?",
    "paraphrase": (
        "A good paraphrase should convey the same meaning as the original sentence, while being as "
        "different as possible on the surface form and being fluent and grammatical English. With "
        "respect to this definition, give an overall score."
    ),
    "coverage": "How much of the expected content does the text have?",
    "score": "How good is this output?",
}
_COMPARING = ("adequacy", "dissimilarity", "paraphrase", "coverage")
_WORDS = {
    "quality-7": {7: "Extremely well-written", 4: "Pretty bad", 1: "Horrible"},
    "understandability-7": {7: "Extremely easy", 4: "Just barely possible", 1: "Impossible"},
    "quality-5": {5: "Very good", 4: "Good", 3: "Acceptable", 2: "Poor", 1: "Very poor"},
    "understandability-5": {
        **{5: "Clear at once", 4: "Clear with a little effort", 3: "Clear with effort"},
        **{2: "Clear in parts only", 1: "Impossible to understand"},
    },
    "adequacy-5": {5: "All", 4: "Most", 3: "Much", 2: "Little", 1: "None"},
    "fluency-5": {
        **{5: "Flawless", 4: "Good, with a slip", 3: "Not native, but readable"},
        **{2: "Disfluent", 1: "Incomprehensible"},
    },
    "dissimilarity-5": {
        **{5: "Changed completely", 4: "Changed much", 3: "Changed in part"},
        **{2: "Changed little", 1: "The same words"},
    },
    "paraphrase-5": {5: "Perfect", 1: "Unacceptable"},
    "coverage-5": {5: "All", 4: "Most", 3: "Some", 2: "Hardly any", 1: "None"},
    "adequacy-7": {7: "All of the meaning", 4: "About half of it", 1: "None of it"},
    "fluency-7": {7: "Flawless", 4: "Readable, with errors", 1: "Incomprehensible"},
    "dissimilarity-7": {7: "Changed completely", 4: "Changed in part", 1: "The same words"},
}


def _standard_scale(dimension: str, low: int, high: int, labels: Mapping[int, str]) -> Json:
    """Return a scale of whole numbers with the question of its dimension."""
    texts = {str(value): text for value, text in labels.items()}
    fields = {"guideline": _QUESTIONS[dimension], "labels": texts}
    ends = {"dimension": dimension, "low": low, "high": high}
    return {**ends, **_DEFAULTS, **fields, "compares": dimension in _COMPARING}


def _standard_scales() -> dict[str, Json]:
    scales = {}
    for name, labels in _WORDS.items():
        dimension, _, points = name.partition("-")
        scales[name] = _standard_scale(dimension, 1, int(points), labels)
    for dimension in _QUESTIONS:
        labels = {0: "Worst", 100: "Best"}
        if dimension == "dissimilarity":
            labels = {0: "The same words", 100: "Changed completely"}
        scales[f"{dimension}-100"] = _standard_scale(dimension, 0, 100, labels)
    return scales


SCALES: dict[str, Json] = _standard_scales()
"""Name, such as `quality-7` -> scale."""


_POINTS = {"5": (1, 5), "7": (1, 7), "100": (0, 100)}


def _sized_scale(dimension: str, size: str) -> object:
    """Return the scale of a dimension with 5, 7 or 100 points."""
    if f"{dimension}-{size}" in SCALES:
        return f"{dimension}-{size}"
    low, high = _POINTS[size]
    return {"dimension": dimension, "low": low, "high": high, "compares": dimension in _COMPARING}


def rating_error(scale: Json, value: object) -> str:
    """Return an error message if a value is not on the scale, else ""."""
    low, high, step = scale["low"], scale["high"], scale["step"]
    if not isinstance(value, bool) and isinstance(value, int | float) and low <= value <= high:
        n_steps = (value - low) / step
        if abs(n_steps - round(n_steps)) < 1e-9:
            return ""
    steps = "" if step == 1 else f" in steps of {step:g}"
    kind = "a whole number" if step == 1 else "a number"
    expected = f"expected {kind} from {low:g} to {high:g}{steps}"
    return f"found {short(scale['dimension'])}={quoted(value)}, {expected}"


def make_scale(scale: object) -> dict[str, Any]:
    """Return a scale with all fields, by its name or from the JSON object of an owner."""
    if isinstance(scale, str) and scale in SCALES:
        return dict(SCALES[scale])
    if not isinstance(scale, Mapping):
        suggestion = nearest(str(scale), SCALES) or f" (there are {', '.join(SCALES)})"
        raise InputError(f"no scale {quoted(scale)}{suggestion}")
    names = (*_REQUIRED, *_DEFAULTS)
    if unknown := [key for key in scale if key not in names]:
        expected = f"found {quoted(unknown[0])}, expected {', '.join(names)}"
        raise InputError(f"a scale of the owner's: {expected}")
    if missing := [key for key in _REQUIRED if key not in scale]:
        raise InputError(f"a scale of the owner's: {missing[0]} is missing")
    full_scale = {**dict.fromkeys(_REQUIRED), **_DEFAULTS, **scale}
    if error := _scale_error(full_scale):
        raise InputError(f"scale {short(full_scale['dimension'])}: {error}")
    return full_scale


def scale_dimension(scale: Json) -> Dimension:
    """Return the dimension of a scale."""
    ends = float(scale["low"]), float(scale["high"])
    return Dimension(scale["dimension"], scale["better"], *ends, scale["guideline"])


def scale_range(scale: Json, values: Sequence[float]) -> float:
    """Return the range of values as a share of the scale."""
    return float((max(values) - min(values)) / (scale["high"] - scale["low"]))


class RatingTask(Task):
    """Rate one output on all scales of the project."""

    name = "ratings"

    def settings(self, options: Json) -> dict[str, Any]:
        """Return the scales in full; the option `scales` has names or objects."""
        checks.check_setting_names(self.name, options, ("scales",))
        requested = options.get("scales") or ()
        if not isinstance(requested, list | tuple) or not requested:
            raise InputError("task ratings: expected scales, such as quality-7 and fluency-5")
        scales = [make_scale(scale) for scale in requested]
        names = [scale["dimension"] for scale in scales]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"task ratings: two scales of {short(repeated[0])}: expected one")
        return {"scales": scales}

    def choose_settings(
        self, dimensions: Sequence[str], scales: Sequence[str], scheme: str | None
    ) -> dict[str, Any]:
        """Return the named scales, and a scale of the given size for each dimension."""
        if scheme:
            raise InputError(f"--scheme is for spans: leave it out for {self.name}")
        sizes = [scale for scale in scales if scale in _POINTS]
        names = [scale for scale in scales if scale not in _POINTS]
        if unknown := [scale for scale in names if scale.isdigit()]:
            raise InputError(
                f"--scale {unknown[0]}: expected 5, 7, 100 or a name such as quality-7"
            )
        if len(sizes) > 1:
            raise InputError(f"--scale {sizes[1]}: expected one size for all dimensions")
        if sizes and not dimensions:
            advice = f"name what is rated, as in --dimension quality --scale {sizes[0]}"
            raise InputError(f"--scale {sizes[0]}: {advice}")
        size = sizes[0] if sizes else "7"
        sized = [_sized_scale(dimension, size) for dimension in dimensions]
        return self.settings({"scales": [*sized, *names] or ["quality-7"]})

    def scales(self, settings: Json) -> list[Json]:
        return list(settings.get("scales", ()))

    def dimensions(self, settings: Json) -> list[Dimension]:
        return [scale_dimension(scale) for scale in settings["scales"]]

    def find_error(self, value: object, view: AssignmentView) -> str:
        if error := checks.answer_error(value, (self.name,)):
            return error
        answer: Any = value
        ratings = answer.get(self.name, {})
        if not isinstance(ratings, dict):
            return f"found ratings={quoted(ratings)}, expected an object of values by dimension"
        scales = {scale["dimension"]: scale for scale in view.settings["scales"]}
        if unknown := [name for name in ratings if name not in scales]:
            return f"found the dimension {quoted(unknown[0])}, expected {', '.join(scales)}"
        if error := checks.first_error(
            [rating_error(scales[name], ratings[name]) for name in ratings]
        ):
            return error
        missing = [name for name in scales if name not in ratings]
        return f"no value for {short(missing[0])}" if missing and checks.is_done(answer) else ""

    def similarity(self, value: Any, answer: Any, view: AssignmentView) -> float:
        """Return 1 minus the mean distance from the known values, as a share of the scale."""
        scales = {scale["dimension"]: scale for scale in view.settings["scales"]}
        ratings, known_ratings = value[self.name], answer[self.name]
        return fmean(
            1 - scale_range(scales[name], (ratings[name], known_ratings[name]))
            for name in known_ratings
        )

    def to_judgements(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return the value of each dimension."""
        return [(outputs[0], name, rating) for name, rating in value[self.name].items()]

    def to_ratings(self, value: Json, settings: Json) -> Ratings:
        return [(name, float(rating)) for name, rating in value[self.name].items()]

    def decision_to_ratings(self, decision: CurrentDecision, settings: Json) -> Ratings:
        rating = decision.field("value")
        if not checks.is_number(rating):
            raise decision.error("a number")
        return [(decision.about, float(rating))]

    def summarize_votes(self, values: Sequence[Any]) -> str:
        return ", ".join(map(str, values))

    def disagreement(self, settings: Json, about: str, values: Sequence[Any]) -> float:
        scales = {scale["dimension"]: scale for scale in settings["scales"]}
        return scale_range(scales[about], values)

    def narrow(self, view: AssignmentView, about: str) -> AssignmentView:
        scales = [scale for scale in view.settings["scales"] if scale["dimension"] == about]
        return replace(view, settings={**view.settings, "scales": scales})

    def answer_to_decision(self, answer: Json, about: str) -> dict[str, Any]:
        return {"value": answer[self.name][about]}

    def decision_to_answer(self, value: Any, about: str) -> dict[str, Any]:
        return {self.name: {about: value["value"] if isinstance(value, dict) else value}}

    def check_decision(
        self, decision: CurrentDecision, view: AssignmentView, outputs: Sequence[int]
    ) -> None:
        prefix = f"adjudication {decision.id}"
        if decision.about not in [scale["dimension"] for scale in view.settings["scales"]]:
            raise InputError(f"{prefix}: found the dimension {quoted(decision.about)}")
        ((_, rating),) = self.decision_to_ratings(decision, view.settings)
        if abs(rating) >= MAX_RATING:
            raise InputError(f"{prefix}: found {quoted(decision.value)}, expected a rating")
