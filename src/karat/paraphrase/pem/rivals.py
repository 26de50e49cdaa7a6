"""What PEM has to be better than: the same regression without any pivot language."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karat.metrics.names import parse
from karat.paraphrase.pem.features import Features
from karat.paraphrase.pem.judged_pairs import Judged
from karat.progress import Progress, silent

Floats = NDArray[np.float64]

RIVALS = {
    "stemmed unigram F1": ("rouge1:stem=porter-nltk",),
    "ROUGE-1 and chrF++": ("rouge1", "chrf++:case=lower"),
}
"""Name -> the metrics that take the place of the pivot features; the original is the reference."""


def rival_features(
    judged: Judged,
    found: Features,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> dict[str, Floats]:
    """For each rival its features: those of PEM with the pivots' replaced."""
    rest = found.without_pivots()
    originals = [[text] for text in judged.originals]
    rivals = {}
    for name, metrics in RIVALS.items():
        columns = [
            parse(metric).segments(
                judged.paraphrases, originals, threads=threads, progress=progress
            )
            for metric in metrics
        ]
        rivals[name] = np.column_stack([rest, *columns])
    return rivals
