"""Judged translations as paraphrases of a reference, with the paper's four criteria from 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from karat.arrays import np
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension
from karat.evalset.sets import EvalSet
from karat.paraphrase.pem.bags import pooled_f1, target_statistics

ORIGINALS = 300
"""Originals that are taken, as in the paper."""
CRITERIA = {"adequacy": "accuracy", "fluency": "fluency", "overall": "mqm"}
"""Criterion of the paper -> the errors that raters marked."""
BEST, WORST = 5.0, 1.0
Row = tuple[str, str, str, str, float]


def judged_translations(given: EvalSet) -> EvalSet:
    """Return the first outputs of a set with MQM errors as paraphrases of its reference.

    A criterion is 5 minus the penalty by each rater, at least 1. Nobody judged dissimilarity: it is
    1 + 4 (1 - F1 of the texts' own n-grams).
    """
    originals = [texts[0] for texts in given.references][:ORIGINALS]
    systems = {name: list(texts[:ORIGINALS]) for name, texts in given.systems.items()}
    judgements = [*_criteria(given, systems), *_dissimilarities(originals, systems)]
    scales = [Dimension(name, low=WORST, high=BEST) for name in (*CRITERIA, "dissimilarity")]
    return make_evalset(
        given.name,
        systems,
        references=originals,
        sources=originals,
        judgements=judgements,
        dimensions=scales,
    )


def _criteria(given: EvalSet, systems: Mapping[str, Sequence[str | None]]) -> Iterator[Row]:
    for criterion, errors in CRITERIA.items():
        for rater in given.judgements.judges:
            scores = BEST + given.rated_by(rater, errors)  # penalties, turned: more is better
            for s, name in enumerate(systems):
                for i, value in enumerate(scores[s, :ORIGINALS].tolist(), 1):
                    if not np.isnan(value):
                        yield name, str(i), rater, criterion, max(WORST, value)


def _dissimilarities(
    originals: Sequence[str], systems: Mapping[str, Sequence[str | None]]
) -> Iterator[Row]:
    for name, texts in systems.items():
        shared = pooled_f1(target_statistics(originals, [text or "" for text in texts]))
        for i, value in enumerate(shared.tolist(), 1):
            yield name, str(i), "machine", "dissimilarity", BEST - (BEST - WORST) * value


def reference_as_original(given: EvalSet) -> EvalSet:
    """Return a set whose reference, in lower case as its outputs are, is the original."""
    originals = [texts[0].lower() for texts in given.references]
    return replace(given, sources=tuple(originals))
