"""Recognition by a threshold, pair by pair: slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence


def at(scores: Sequence[float], positive: Sequence[bool], threshold: float) -> tuple[float, float]:
    """Precision and recall of `score >= threshold`."""
    recognised = [p for s, p in zip(scores, positive, strict=True) if s >= threshold]
    return sum(recognised) / len(recognised), sum(recognised) / sum(positive)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def average_precision(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """The mean over paraphrases of the precision at their own score."""
    own = [at(scores, positive, s)[0] for s, p in zip(scores, positive, strict=True) if p]
    return sum(own) / len(own)
