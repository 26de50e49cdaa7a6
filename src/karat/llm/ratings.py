"""Ratings: a model rates outputs on the scale of one dimension.

Outputs are judged blind: the model sees texts under numbers, in an order drawn by a seed, and no
name of a system. Equal outputs of a segment are rated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import ClassVar, NamedTuple

from karat.errors import InputError, short
from karat.llm.interview import (
    Interview,
    InterviewTask,
    PromptCase,
    Setup,
    entries,
    json_object,
    number_between,
    quote_from,
    shuffle,
)
from karat.llm.material import Material, rating_agreement
from karat.llm.results import TOO_LONG, JudgeRun, MissingJudgement, ModelRatings, RatingRow
from karat.llm.task_prompts import RATINGS, task_prompt
from karat.progress import Progress, silent
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


class Rating(NamedTuple):
    """A value and the words that decide it."""

    value: float
    evidence: str


@dataclass(frozen=True)
class RatingTask:
    """Outputs to rate, at most `batch` of a segment in one request."""

    name: ClassVar[str] = "judge-ratings"
    material: Material
    prompt: str | PathLike[str] | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        check_count("batch", self.batch, 1)
        _ = self.scale

    @property
    def scale(self) -> RatingScale:
        """The scale of the dimension, which must have two ends."""
        dimension = self.material.dimension
        if dimension.low is None or dimension.high is None:
            problem = f"dimension {short(dimension.name)} has no complete scale: give one, such as"
            raise InputError(f"{self.material.evalset.name}: {problem} --scale 1-5")
        return RatingScale(dimension.low, dimension.high, dimension.better)

    def task(self) -> InterviewTask:
        """Return the cases to ask about."""
        prompt = task_prompt(RATINGS, self.prompt)
        cases = [case for segment in self.material.segments for case in self._cases(segment)]
        return InterviewTask(prompt, FORM, cases)

    def _cases(self, segment: str) -> Iterator[PromptCase]:
        texts = list(dict.fromkeys(self.material.outputs(segment).values()))
        fitting = [text for text in texts if self.material.fits(segment, text)]
        fitting = shuffle(fitting, self.material.seed, segment) if self.batch > 1 else fitting
        values = {**self.material.values(segment), "scale": self.scale._asdict()}
        for start in range(0, len(fitting), self.batch):
            numbered = {
                str(k): text for k, text in enumerate(fitting[start : start + self.batch], 1)
            }
            listed = [{"id": id, "text": text} for id, text in numbered.items()]
            read = partial(read_ratings, numbered, self.scale)
            yield PromptCase(f"{segment}\t{start}", {**values, "outputs": listed}, read)

    @property
    def settings(self) -> dict[str, object]:
        """Settings, as signatures have them."""
        low, high, _ = self.scale
        settings = {"dimension": self.material.dimension.name, "scale": f"{low:g}-{high:g}"}
        return {**settings, "batch": self.batch, **self.material.settings(self.batch > 1)}

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> ModelRatings:
        """Ask a model and return its ratings."""
        judge, task = judge or setup.judge, self.task()
        self.material.check_judge(judge)
        interview = task.ask(setup, progress)
        rows, missing = self._rows(task.cases, interview)
        name = self.material.evalset.name
        judge_run = JudgeRun(self.name, name, judge, self.settings, task, setup, interview)
        return ModelRatings(
            **judge_run.fields(rows, missing, self.material.notes()),
            agreement=rating_agreement(self.material, judge, rows),
            dimension=self.material.dimension,
        )

    def _rows(
        self, cases: Sequence[PromptCase], interview: Interview
    ) -> tuple[list[RatingRow], list[MissingJudgement]]:
        """Return the ratings, and the output and reason of each that is missing."""
        case_of = {
            (case.id.partition("\t")[0], output["text"]): case.id
            for case in cases
            for output in case.values["outputs"]  # type: ignore[attr-defined]
        }
        rows, missing = [], []
        for system in self.material.evalset.systems:
            for segment in self.material.segments:
                text = self.material.output(system, segment)
                case = case_of.get((segment, text or ""))
                if text is None:
                    continue
                if replies := interview.answers.get(case or ""):
                    rows.append(_row(system, segment, text, [answer[text] for answer in replies]))
                else:
                    reason = interview.reasons.get(case or "", TOO_LONG)
                    missing.append((f"{system}, segment {segment}", reason))
        return rows, missing


def _row(system: str, segment: str, text: str, ratings: Sequence[Rating]) -> RatingRow:
    """The mean of some ratings, with the evidence of the one that is nearest to it."""
    mean = sum(rating.value for rating in ratings) / len(ratings)
    nearest = min(ratings, key=lambda rating: abs(rating.value - mean))
    return RatingRow(system, segment, mean, nearest.evidence, text, len(ratings))


def read_ratings(texts: Mapping[str, str], scale: RatingScale, answer: str) -> dict[str, Rating]:
    """Return the ratings in an answer, which has them by id, by text.

    Evidence may be empty only for the best value of the scale and for an empty output.
    """
    ratings = {}
    for id, entry in entries(json_object(answer), "answers", list(texts)).items():
        value = number_between(entry, "value", scale.low, scale.high)
        needed = value != scale.best and bool(texts[id].strip())
        ratings[texts[id]] = Rating(value, quote_from(entry, texts[id], needed=needed))
    return ratings
