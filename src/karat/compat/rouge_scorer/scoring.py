"""rouge-score's scores, and intervals of their means by the bootstrap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

from karat.errors import InputError


class RougeTextScore(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    fmeasure: float


Score = RougeTextScore  # rouge-score's name, for `repr` and pickles
RougeTextScore.__name__ = RougeTextScore.__qualname__ = "Score"


class AggregateScore(NamedTuple):
    """The lower end, the median and the upper end of resampled mean scores."""

    low: Any
    mid: Any
    high: Any


class BaseScorer(ABC):
    """The base of scorers."""

    @abstractmethod
    def score(self, target: str, prediction: str) -> Mapping[str, Any]:
        """Return scores by their type."""


def fmeasure(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0


class BootstrapAggregator:
    """Means of scores with bootstrap intervals, drawn by numpy's global generator."""

    def __init__(self, confidence_interval: float = 0.95, n_samples: int = 1000) -> None:
        if not 0 <= confidence_interval <= 1:
            raise InputError(f"confidence_interval={confidence_interval}: expected 0 to 1")
        if n_samples <= 0:
            raise InputError(f"n_samples={n_samples}: expected a positive number")
        self._level, self._samples = confidence_interval, n_samples
        self._scores: dict[str, list[Any]] = {}

    def add_scores(self, scores: Mapping[str, Any]) -> None:
        """Add the scores of one text: a named tuple for each type."""
        for name, score in scores.items():
            self._scores.setdefault(name, []).append(score)

    def aggregate(self) -> dict[str, AggregateScore]:
        """Return low, mid and high of the mean of each type.

        With the same seed of `np.random`, the numbers are those of rouge-score.
        """
        from karat.arrays import np

        cuts = 50 * (1 - self._level), 50, 50 * (1 + self._level)
        aggregates = {}
        for name, scores in self._scores.items():
            matrix = np.array([tuple(score) for score in scores], dtype=float)
            resamples = np.random.randint(0, len(matrix), size=(self._samples, len(matrix)))
            means = np.stack([matrix[rows].mean(axis=0) for rows in resamples])
            ends = np.percentile(means, cuts, axis=0).tolist()
            aggregates[name] = AggregateScore(*(type(scores[0])(*row) for row in ends))
        return aggregates
