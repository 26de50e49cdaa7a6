"""One evaluation of PEM on a judged set, whole: predictions, the paper's tables, and rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.paraphrase.pem.evaluation import (
    Better,
    Correlation,
    against_humans,
    better,
    correlate,
    criteria,
    inter_judge,
)
from karat.paraphrase.pem.features import Features
from karat.paraphrase.pem.judged_pairs import Judged
from karat.paraphrase.pem.model import PEM, SCALE
from karat.paraphrase.pem.rivals import rival_features
from karat.paraphrase.pem.svr import GRID, Setting, cross_predict
from karat.progress import Progress, silent
from karat.stats.resampling import SEED

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Study:
    """What was found; `predicted` is what PEM gave each paraphrase without having seen it."""

    predicted: Floats
    folds: int
    against: Sequence[Correlation]
    parts: Sequence[Correlation]
    inter_judge: Sequence[Correlation]
    criteria: Sequence[Correlation]
    better: Sequence[Better]


def study(
    pem: PEM,
    judged: Judged,
    *,
    folds: int = 10,
    grid: Sequence[Setting] = GRID,
    resamples: int = 1000,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> Study:
    """Cross-validate PEM and its rivals by original, and set all beside the judges."""
    found = pem.features(judged.originals, judged.paraphrases, threads=threads, progress=progress)

    def left_out(matrix: Floats) -> Floats:
        found = cross_predict(matrix, judged.human, judged.originals, grid, folds, progress)
        return np.clip(found, *SCALE)

    predicted = left_out(found.matrix)
    rivals = rival_features(judged, found, threads=threads, progress=progress)
    against = against_humans(judged, "PEM", predicted)
    compared = []
    for name, matrix in rivals.items():
        other = left_out(matrix)
        against.append(correlate(judged, name, other, "human average", judged.human))
        if resamples:
            compared.append(better(judged, ("PEM", predicted), (name, other), resamples, seed))
    return Study(
        predicted,
        folds,
        against,
        _parts(judged, found),
        inter_judge(judged),
        criteria(judged),
        compared,
    )


def _parts(judged: Judged, found: Features) -> list[Correlation]:
    """Each of the three parts with overall quality."""
    columns = {"pivot F1": found.pivot, "fluency": found.fluency, "target F1": found.target}
    return [
        correlate(judged, name, column, "human average", judged.human)
        for name, column in columns.items()
    ]
