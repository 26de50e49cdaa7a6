"""Contents of a nugget set: the paper's Table 1, and its Figure 4, nuggets by who found them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.nuggets.sets.nugget_set import NuggetSet


class MeanInterval(NamedTuple):
    """A mean and how sure it is: half the 95% interval, 1.96 standard errors; NaN of one value."""

    mean: float
    half: float


class Census(NamedTuple):
    """The paper's Table 1: means with half their 95% intervals, 1.96 standard errors."""

    name: str
    questions: int
    vital: int
    okay: int
    nuggets: float
    """Nuggets of a question."""
    nuggets_half: float
    runs: int
    responses: float
    """Responses of a run."""
    responses_half: float
    answers: float
    """Responses of a run to a question."""
    answers_half: float
    judgements: int
    judged: float
    """The share of pairs of response and nugget that were judged."""


class Bin(NamedTuple):
    """Nuggets that at least `low` and at most `high` runs found."""

    low: int
    high: int
    nuggets: int
    share: float

    @property
    def label(self) -> str:
        """`3-4`, or `3` where that is all."""
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def census(nuggets: NuggetSet) -> Census:
    """Counts of questions, nuggets, runs and responses."""
    known = nuggets.judgements.known
    questions = nuggets.key.questions.values()
    vital = sum(len(question.vital) for question in questions)
    runs = nuggets.runs.values()
    counts = [[len(run.responses(id)) for id in nuggets.key.questions] for run in runs]
    sizes = [len(question.nuggets) for question in questions]
    pairs = sum(size * row[i] for row in counts for i, size in enumerate(sizes))
    judged = sum(
        (id, nugget.id, response.normal) in known
        for run in runs
        for id, question in nuggets.key.questions.items()
        for response in run.responses(id)
        for nugget in question.nuggets
    )
    cells: list[Any] = [len(sizes), vital, sum(sizes) - vital, *mean_interval(sizes), len(counts)]
    cells += mean_interval([sum(row) for row in counts])
    cells += mean_interval([n for row in counts for n in row])
    cells += [len(nuggets.judgements.rows), judged / pairs if pairs else math.nan]
    return Census(nuggets.name, *cells)


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """Return the mean of some values, and 1.96 s / sqrt(n)."""
    n = len(values)
    if not n:
        return MeanInterval(math.nan, math.nan)
    mean = math.fsum(values) / n
    if n == 1:
        return MeanInterval(mean, math.nan)
    variance = math.fsum(d * d for d in (value - mean for value in values)) / (n - 1)
    return MeanInterval(mean, 1.96 * math.sqrt(variance / n))


def finders(nuggets: NuggetSet) -> dict[tuple[str, str], int]:
    """For each nugget, by question and id, how many runs were judged to carry it, if in part."""
    known = nuggets.judgements.known
    found = {(id, n.id): 0 for id, q in nuggets.key.questions.items() for n in q.nuggets}
    for run in nuggets.runs.values():
        for id, question in nuggets.key.questions.items():
            texts = [response.normal for response in run.responses(id)]
            for nugget in question.nuggets:
                found[id, nugget.id] += any(known.get((id, nugget.id, text)) for text in texts)
    return found


def difficulty(nuggets: NuggetSet) -> list[Bin]:
    """Nuggets by the number of runs that found them: 0, 1, 2, 3-4, 5-8 and so on."""
    counts = list(finders(nuggets).values())
    edges, high = [(0, 0)], 1
    while edges[-1][1] < len(nuggets.runs):
        edges.append((edges[-1][1] + 1, min(high, len(nuggets.runs))))
        high *= 2
    inside = [sum(low <= count <= top for count in counts) for low, top in edges]
    return [Bin(*ends, n, n / len(counts)) for ends, n in zip(edges, inside, strict=True)]
