"""Ratings: values of an output on one or more scales.

{"ratings": {"quality": 6, "understandability": 5}, "comment": "", "done": true}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any

from karat.errors import InputError, quoted, short
from karat.settings import nearest
from karat.studio.tasks.task import (
    AssignmentView,
    first_wrong,
    is_done,
    is_number,
    only_known,
    wrong_parts,
    wrong_text,
)

LONGEST_QUESTION = 2000
MOST_LABELS = 101


@dataclass(frozen=True)
class AssessorScale:
    """A dimension, the values that may be given, and the words for some of them."""

    dimension: str
    low: float
    high: float
    step: float = 1
    better: str = "higher"
    guideline: str = ""
    """The question that assessors are asked."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Value as text -> words."""
    compares: bool = False
    """Whether the question is about another text, too, which then must be shown."""

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise InputError(f"scale {short(self.dimension)}: {problem}")

    def _problem(self) -> str:
        if not isinstance(self.dimension, str) or not self.dimension.strip():
            return f"found the dimension {quoted(self.dimension)}, expected a name"
        if not all(is_number(end) for end in (self.low, self.high, self.step)):
            return "expected numbers for low, high and step"
        if not self.low < self.high or not 0 < self.step <= self.high - self.low:
            found = f"found {self.low} to {self.high} in steps of {self.step}"
            return f"{found}, expected a lower and a higher end and a step that fits between them"
        if self.better not in ("higher", "lower"):
            return f"found better={quoted(self.better)}, expected higher or lower"
        if not isinstance(self.labels, Mapping) or len(self.labels) > MOST_LABELS:
            return f"expected labels as an object with at most {MOST_LABELS} values"
        words = [wrong_text("label", text, 200) for text in self.labels.values()]
        yes_or_no = isinstance(self.compares, bool)
        told = f"found compares={quoted(self.compares)}, expected true or false"
        question = wrong_text("guideline", self.guideline, LONGEST_QUESTION)
        return first_wrong(["" if yes_or_no else told, question, *words])

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {**asdict(self), "labels": dict(self.labels)}


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


def _scales() -> dict[str, AssessorScale]:
    found = {}
    for name, words in _WORDS.items():
        dimension, points = name.split("-")
        labels = {str(value): text for value, text in words.items()}
        question = _QUESTIONS[dimension]
        found[name] = AssessorScale(dimension, 1, int(points), guideline=question, labels=labels)
    for dimension, question in _QUESTIONS.items():
        found[f"{dimension}-100"] = AssessorScale(
            dimension, 0, 100, guideline=question, labels={"0": "Worst", "100": "Best"}
        )
    same = {"0": "The same words", "100": "Changed completely"}
    found["dissimilarity-100"] = replace(found["dissimilarity-100"], labels=same)
    return {name: replace(one, compares=one.dimension in _COMPARING) for name, one in found.items()}


SCALES: dict[str, AssessorScale] = _scales()
"""Name, such as `quality-7` -> scale."""


def wrong_value(scale: Mapping[str, Any], value: object) -> str:
    """Return what is wrong with a value; "" if it is on the scale, which settings have as JSON."""
    if _has(scale, value):
        return ""
    low, high, step = scale["low"], scale["high"], scale["step"]
    steps = "" if step == 1 else f" in steps of {step:g}"
    whole = "a whole number" if step == 1 else "a number"
    told = f"expected {whole} from {low:g} to {high:g}{steps}"
    return f"found {short(scale['dimension'])}={quoted(value)}, {told}"


def _has(scale: Mapping[str, Any], value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if not scale["low"] <= value <= scale["high"]:  # nor is what is not a number
        return False
    steps = (value - scale["low"]) / scale["step"]
    return bool(abs(steps - round(steps)) < 1e-9)


def scale_of(given: object) -> AssessorScale:
    """Return a scale by its name, or one that an owner wrote as an object."""
    if isinstance(given, AssessorScale):
        return given
    if isinstance(given, Mapping):
        known = tuple(AssessorScale.__dataclass_fields__)
        if unknown := [key for key in given if key not in known]:
            told = f"found {quoted(unknown[0])}, expected {', '.join(known)}"
            raise InputError(f"a scale of the owner's: {told}")
        if lacking := [key for key in ("dimension", "low", "high") if key not in given]:
            raise InputError(f"a scale of the owner's: {lacking[0]} is missing")
        return AssessorScale(**given)
    if isinstance(given, str) and given in SCALES:
        return SCALES[given]
    known_names = nearest(str(given), SCALES) or f" (there are {', '.join(SCALES)})"
    raise InputError(f"no scale {quoted(given)}{known_names}")


class RatingTask:
    """One output at a time, on all scales of the project."""

    name = "ratings"

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scales in full; the setting `scales` names them or has them as objects."""
        only_known(self.name, given, ("scales",))
        wanted = given.get("scales") or ()
        if not isinstance(wanted, list | tuple) or not wanted:
            raise InputError("task ratings: expected scales, such as quality-7 and fluency-5")
        scales = [scale_of(one) for one in wanted]
        names = [one.dimension for one in scales]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"task ratings: two scales of {short(twice[0])}: expected one")
        return {"scales": [one.to_json() for one in scales]}

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return each output alone."""
        return [(one,) for one in outputs]

    def check(self, value: object, shown: AssignmentView) -> str:
        """Return what is wrong with an answer."""
        if told := wrong_parts(value, ("ratings",)):
            return told
        given: Any = value
        found = given.get("ratings", {})
        if not isinstance(found, dict):
            return f"found ratings={quoted(found)}, expected an object of values by dimension"
        scales = {one["dimension"]: one for one in shown.settings["scales"]}
        if unknown := [name for name in found if name not in scales]:
            return f"found the dimension {quoted(unknown[0])}, expected {', '.join(scales)}"
        if told := first_wrong([wrong_value(scales[name], found[name]) for name in found]):
            return told
        missing = [name for name in scales if name not in found]
        return f"no value for {short(missing[0])}" if missing and is_done(given) else ""

    def likeness(self, value: Any, answer: Any, shown: AssignmentView) -> float:
        """Return 1 less the mean distance from the known values, as a share of the scale."""
        ends = {one["dimension"]: (one["low"], one["high"]) for one in shown.settings["scales"]}
        given, known = value["ratings"], answer["ratings"]
        return fmean(
            1 - abs(given[name] - known[name]) / (ends[name][1] - ends[name][0]) for name in known
        )

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return the value of each dimension."""
        return [(outputs[0], name, found) for name, found in value["ratings"].items()]
