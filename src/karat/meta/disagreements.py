"""Outputs on which a metric and the humans disagree most, by percentiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.meta.evaluation import MetaEvaluation
from karat.metrics.explain.bitext import Explanation
from karat.metrics.matching import GTM

REFERENCES = 3
"""References in the grid of an output."""


class Disagreement(NamedTuple):
    """An output on which the first metric and the humans differ, both scores more being better."""

    dimension: str
    system: str
    segment: str
    human: float
    score: float
    gap: float
    """The metric's percentile minus the humans'."""
    output: str
    references: tuple[str, ...]

    @property
    def matching(self) -> Explanation:
        """The words that match the first references, as in the bitext grid."""
        return GTM(e=2, tok="13a").explain(self.output, self.references[:REFERENCES])


def disagreements(
    result: MetaEvaluation, dimensions: Sequence[str], count: int
) -> Iterator[Disagreement]:
    """Yield the outputs with the largest difference of percentiles, in both directions.

    A text is shown once, for the first dimension, and each direction has one output of a segment.
    """
    seen: set[tuple[str, str]] = set()
    for dimension in dimensions:
        for sign in (1, -1):
            fresh = (one for one in _ordered(result, dimension, sign) if _text(one) not in seen)
            for one in _distinct(fresh, count):
                seen.add(_text(one))
                yield one


def _text(one: Disagreement) -> tuple[str, str]:
    return one.segment, one.output


def _distinct(some: Iterator[Disagreement], count: int) -> list[Disagreement]:
    """Return the first outputs, one of each segment."""
    found: dict[str, Disagreement] = {}
    while len(found) < count and (one := next(some, None)):
        found.setdefault(one.segment, one)
    return list(found.values())


def _ordered(result: MetaEvaluation, dimension: str, sign: int) -> Iterator[Disagreement]:
    """Yield the outputs that the metric ranks higher (1) or lower (-1), by falling difference."""
    evalset = result.evalset
    human = evalset.human(dimension, result.experiment.normalise)
    score = result.scored.segments(result.scored.metrics[0])
    by_metric, by_people = _percentiles(score, human), _percentiles(human, score)
    if not (_differ(by_metric) and _differ(by_people)):
        return  # equal scores rank nothing
    gaps = by_metric - by_people
    systems = list(evalset.systems.items())
    found = np.argwhere(sign * gaps > 0).tolist()  # a NaN is not
    for i, j in sorted(found, key=lambda at: -abs(gaps[at[0], at[1]])):
        name, texts = systems[i]
        scores = float(human[i, j]), float(score[i, j]), float(gaps[i, j])
        place = dimension, name, evalset.segments[j]
        yield Disagreement(*place, *scores, texts[j] or "", evalset.references[j])


def _differ(percentiles: Floats) -> bool:
    known = percentiles[~np.isnan(percentiles)]
    return bool((known != known[:1]).any())


def _percentiles(scores: Floats, beside: Floats) -> Floats:
    """The share of outputs below each, ties half, among those that both have."""
    known = ~np.isnan(scores) & ~np.isnan(beside)
    values = np.sort(scores[known])
    found = np.full(scores.shape, np.nan)
    left, right = (np.searchsorted(values, scores[known], side=s) for s in ("left", "right"))
    found[known] = (left + right) / 2 / max(len(values), 1)
    return found
