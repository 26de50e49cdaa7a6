"""Ratings: a model rates outputs on the scale of one dimension.

Outputs are judged blind: the model sees numbered texts in random order and no system names. Equal
outputs of a segment are rated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.judgements import Dimension
from karat.evalset.sets import EvalSet
from karat.llm.interview import (
    Interview,
    JudgedValue,
    PromptCase,
    Slots,
    entries,
    json_object,
    number_between,
    quote_from,
    shuffle,
)
from karat.llm.material import Material, rating_agreement
from karat.llm.results import TOO_LONG, JudgedRows, JudgingTask, ModelRatings, RatingRow
from karat.llm.task_prompts import RATINGS
from karat.settings import check_count

FORM = "answers: id, evidence (a quote; empty for the best value or an empty output), value"


class RatingScale(NamedTuple):
    """Ends of a scale, and which is better."""

    low: float
    high: float
    better: str

    @property
    def best(self) -> float:
        """The better end."""
        return self.high if self.better == "higher" else self.low


@dataclass(frozen=True)
class ModelRatingTask(JudgingTask[ModelRatings]):
    """Outputs to rate, at most `batch` of a segment in one request."""

    name: ClassVar[str] = "judge-ratings"
    slots: ClassVar[Slots] = RATINGS
    form: ClassVar[str] = FORM
    material: Material
    prompt: str | PathLike[str] | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        check_count("batch", self.batch, 1)
        _ = self.scale

    @property
    def scale(self) -> RatingScale:
        """The scale of the dimension; raise InputError if it lacks an end."""
        dimension = self.material.dimension
        if dimension.low is None or dimension.high is None:
            problem = f"dimension {short(dimension.name)} has no complete scale: give one, such as"
            raise InputError(f"{self.material.evalset.name}: {problem} --scale 1-5")
        return RatingScale(dimension.low, dimension.high, dimension.better)

    def make_cases(self) -> Iterator[PromptCase]:
        """Yield the distinct outputs of every segment, in batches."""
        for segment in self.material.segments:
            texts = list(dict.fromkeys(self.material.outputs(segment).values()))
            fitting = [text for text in texts if self.material.fits(segment, text)]
            fitting = shuffle(fitting, self.material.seed, segment) if self.batch > 1 else fitting
            values = {**self.material.values(segment), "scale": self.scale._asdict()}
            for start in range(0, len(fitting), self.batch):
                batch = fitting[start : start + self.batch]
                numbered = {str(k): text for k, text in enumerate(batch, 1)}
                listed = [{"id": id, "text": text} for id, text in numbered.items()]
                parse = partial(parse_ratings, numbered, self.scale)
                yield PromptCase(f"{segment}\t{start}", {**values, "outputs": listed}, parse)

    @property
    def settings(self) -> dict[str, object]:
        """Settings for signatures."""
        low, high, _ = self.scale
        settings = {"dimension": self.material.dimension.name, "scale": f"{low:g}-{high:g}"}
        return {**settings, "batch": self.batch, **self.material.settings(self.batch > 1)}

    def result(self, interview: Interview, **fields: Any) -> ModelRatings:
        """Return the ratings with their agreement with people."""
        agreement = rating_agreement(self.material, fields["judge"], fields["rows"])
        return ModelRatings(**fields, agreement=agreement, dimension=self.material.dimension)

    def judged_rows(self, interview: Interview) -> JudgedRows:
        """Return the ratings, and the output and reason of each missing one."""
        case_of = {
            (case.id.partition("\t")[0], output["text"]): case.id
            for case in self.cases
            for output in case.values["outputs"]  # type: ignore[attr-defined]
        }
        rows, missing = [], []
        for system in self.material.evalset.systems:
            for segment in self.material.segments:
                text = self.material.output(system, segment)
                if text is None:
                    continue
                case = case_of.get((segment, text), "")
                if replies := interview.answers.get(case):
                    rows.append(_row(system, segment, text, [answer[text] for answer in replies]))
                else:
                    reason = interview.reasons.get(case, TOO_LONG)
                    missing.append((f"{system}, segment {segment}", reason))
        return JudgedRows(rows, missing, list(self.material.notes()))


def rating_task(
    evalset: EvalSet,
    dimension: str,
    scale: tuple[float, float] | None = None,
    guideline: str = "",
    batch: int = 1,
    prompt: str | PathLike[str] | None = None,
    sample: int | None = None,
    seed: int = 12345,
) -> ModelRatingTask:
    """Return the task of rating a set in one of its dimensions, or in a new one with a scale."""
    if dimension not in evalset.dimensions and scale is None:
        names = short(", ".join(evalset.dimensions) or "none")
        problem = f"{evalset.name} has no dimension {quoted(dimension)} (it has {names})"
        raise InputError(f"{problem}: to rate a new one, give its scale, such as --scale 1-5")
    rated = evalset.dimensions.get(dimension, Dimension(dimension))
    if scale is not None:
        for end, new_end in zip((rated.low, rated.high), scale, strict=True):
            if end is not None and end != new_end:
                problem = f"found a scale that ends at {new_end:g}, but {evalset.name} has {end:g}"
                raise InputError(
                    f"dimension {short(dimension)}: {problem}; rate under another name"
                )
        rated = replace(rated, low=scale[0], high=scale[1])
    rated = replace(rated, guideline=guideline) if guideline else rated
    return ModelRatingTask(Material(evalset, rated, sample, seed), prompt, batch)


def _row(system: str, segment: str, text: str, ratings: Sequence[JudgedValue]) -> RatingRow:
    """Return the mean of ratings with the evidence of the rating nearest to it."""
    mean = sum(rating.value for rating in ratings) / len(ratings)
    nearest = min(ratings, key=lambda rating: abs(rating.value - mean))
    return RatingRow(system, segment, mean, nearest.evidence, text, len(ratings))


def parse_ratings(
    texts: Mapping[str, str], scale: RatingScale, answer: str
) -> dict[str, JudgedValue]:
    """Return the ratings in an answer by text; `texts` are the outputs by id.

    Evidence may be empty only for the best value of the scale and for an empty output.
    """
    ratings = {}
    for id, entry in entries(json_object(answer), "answers", list(texts)).items():
        value = number_between(entry, scale.low, scale.high)
        needed = value != scale.best and bool(texts[id].strip())
        ratings[texts[id]] = JudgedValue(value, quote_from(entry, texts[id], needed=needed))
    return ratings
