"""Paraphrase recognition by a threshold (section 7 of the paper): is a pair a paraphrase or not?

Pairs that people gave at least a certain score are paraphrases. A pair is recognised if a measure
of it reaches a threshold t:

    precision(t) = paraphrases recognised / recognised      recall(t) = ... / paraphrases

Average precision is the mean over paraphrases of the precision at their own score. The threshold
with the best F1 is chosen on the same pairs, which flatters it; `f1_held_out` chooses it for each
fold of originals on all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.paraphrase.combine.svr import group_folds
from karat.paraphrase.pem.bags import share
from karat.paraphrase.pem.judged_pairs import JudgedPairs

MOST_POINTS = 100
"""Points of one precision-recall curve that are kept, evenly by recall."""
FOLDS = 10


class Recognition(NamedTuple):
    """Recognition by one measure: average precision, the threshold of best F1 and what it gives."""

    measure: str
    pairs: int
    paraphrases: int
    average_precision: float
    threshold: float
    precision: float
    recall: float
    f1: float
    f1_held_out: float
    """F1 with thresholds that were chosen on other originals."""


class RecognitionPoint(NamedTuple):
    """A point of the precision-recall curve of a measure."""

    measure: str
    threshold: float
    precision: float
    recall: float


class PrecisionRecall(NamedTuple):
    """Precision and recall at every threshold that tells pairs apart, from the highest down."""

    thresholds: Floats
    precision: Floats
    recall: Floats

    @property
    def f1(self) -> Floats:
        """F1 at every threshold."""
        return share(2 * self.precision * self.recall, self.precision + self.recall)

    @property
    def best(self) -> int:
        """The place of the best F1; of equals the highest threshold."""
        return int(self.f1.argmax())

    @property
    def average_precision(self) -> float:
        """The precision at each threshold, weighted by what it adds to recall."""
        return float((np.diff(self.recall, prepend=0.0) * self.precision).sum())


def recognition_curve(scores: Floats, positive: Flags) -> PrecisionRecall:
    """Return precision and recall of `scores >= t`, for all t among the scores."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(positive[order])
    last = np.append(np.diff(ranked) != 0, True)  # pairs of equal scores are recognised together
    recognised = (np.flatnonzero(last) + 1).astype(np.float64)
    found = hits[last].astype(np.float64)
    return PrecisionRecall(ranked[last], found / recognised, found / positive.sum())


def recognition(
    judged: JudgedPairs, measures: Mapping[str, Floats], least: float
) -> tuple[tuple[Recognition, ...], tuple[RecognitionPoint, ...]]:
    """Return how well measures recognise the pairs that people gave at least `least`, of 5."""
    positive = judged.human >= least
    if not 0 < positive.sum() < len(positive):
        which = "every" if positive.any() else "no"
        raise InputError(
            f"recognise={least:g}: {which} pair of {judged.evalset.name} has at least that human "
            f"score (found {judged.human.min():g} to {judged.human.max():g} on the scale of 1 to 5)"
        )
    folds = min(FOLDS, len(set(judged.originals)))
    fold = group_folds(judged.originals, folds) if folds > 1 else None
    rows: list[Recognition] = []
    points: list[RecognitionPoint] = []
    for name, scores in measures.items():
        curve = recognition_curve(scores, positive)
        chosen = curve.best
        t, precision, recall, f1 = (float(part[chosen]) for part in (*curve, curve.f1))
        held_out = float("nan") if fold is None else _held_out(scores, positive, fold)
        size, best = (len(positive), int(positive.sum())), (t, precision, recall, f1)
        rows.append(Recognition(name, *size, curve.average_precision, *best, held_out))
        points += _points(name, curve)
    return tuple(rows), tuple(points)


def _held_out(scores: Floats, positive: Flags, fold: Ints) -> float:
    """Return F1 where the threshold of each fold is the best of all others."""
    recognised = np.zeros(len(scores), dtype=np.bool_)
    for k in np.unique(fold).tolist():
        rest = fold != k
        if positive[rest].any():
            curve = recognition_curve(scores[rest], positive[rest])
            recognised[~rest] = scores[~rest] >= curve.thresholds[curve.best]
    both = int((recognised & positive).sum())
    return 2 * both / int(recognised.sum() + positive.sum())


def _points(name: str, curve: PrecisionRecall) -> Iterator[RecognitionPoint]:
    """Yield the ends of the curve, the point of best F1, and some between them."""
    wanted = np.searchsorted(curve.recall, np.linspace(0, 1, MOST_POINTS - 2))
    last = len(curve.recall) - 1
    places = sorted({0, curve.best, last, *np.minimum(wanted, last).tolist()})
    for i in places:
        yield RecognitionPoint(name, *(float(part[i]) for part in curve))
