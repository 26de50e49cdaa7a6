"""Rivals of PEM: other metrics beside the judges, alone and in place of the pivot languages.

The original is the reference, the paraphrase the candidate. A rival is the regression of PEM with
the pivots' features replaced by the scores of one or more metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.arrays import Floats, np
from karat.metrics.names import metric
from karat.paraphrase.pem.features import Features
from karat.paraphrase.pem.judged_pairs import JudgedPairs

RIVALS: Mapping[str, tuple[str, ...]] = {
    "stemmed unigram F1": ("rouge1:stem=porter-nltk",),
    "ROUGE-1 and chrF++": ("rouge1", "chrf++:case=lower"),
    "BLEU": ("bleu",),
}
"""Name -> the metrics that take the place of the pivot features; the original is the reference."""

Scores = dict[str, Floats]
"""Metric -> its score of every paraphrase."""


def as_rivals(given: Mapping[str, Sequence[str]] | Sequence[str] | None) -> dict[str, list[str]]:
    """Return rivals by name; a metric that is named alone is a rival of that name."""
    if given is None:
        given = RIVALS
    named = given if isinstance(given, Mapping) else {name: (name,) for name in given}
    return {name: [str(metric(one)) for one in metrics] for name, metrics in named.items()}


def rival_scores(judged: JudgedPairs, rivals: Mapping[str, Sequence[str]], **work: Any) -> Scores:
    """Return the scores of all metrics of some rivals, each metric once."""
    originals = [[text] for text in judged.originals]
    names = dict.fromkeys(name for metrics in rivals.values() for name in metrics)
    return {name: metric(name).segments(judged.paraphrases, originals, **work) for name in names}


def rival_features(
    judged: JudgedPairs,
    found: Features,
    rivals: Mapping[str, Sequence[str]] = RIVALS,
    scores: Scores | None = None,
    **work: Any,
) -> dict[str, Floats]:
    """Return the features of each rival: those of PEM with the pivots' replaced."""
    known = rival_scores(judged, rivals, **work) if scores is None else scores
    rest = found.without_pivots()
    return {
        name: np.column_stack([rest, *(known[one] for one in metrics)])
        for name, metrics in rivals.items()
    }
