"""One candidate beside its references: the way of functions that are called for every sentence.

`Metric.stats` is made for many segments. Its fixed cost would be most of the time of a single one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.arrays import np
from karat.metrics.pairs import Pairs
from karat.text.tokens import Lexicon, Passage

if TYPE_CHECKING:
    from karat.metrics.base import Metric
    from karat.text.tokens import Recipe

_LOCAL = threading.local()  # a vocabulary for each thread, for all sentences


def pairs_of(
    metrics: Sequence[Metric],
    candidate: str,
    references: Sequence[str],
    passage: Callable[[_kernel.Views, Lexicon], Passage] = Passage,
) -> Pairs:
    """Return what metrics count between a candidate and its references."""
    if not hasattr(_LOCAL, "lexicon"):
        _LOCAL.lexicon = Lexicon()
    lexicon: Lexicon = _LOCAL.lexicon
    lexicon.tidy()
    candidate_passage, reference_passage = (
        passage(_kernel.Views.from_strings(texts, 0, len(texts)), lexicon)
        for texts in ((candidate,), tuple(references))
    )
    orders: dict[Recipe, int] = {}
    for recipe, order in chain.from_iterable(metric.overlaps() for metric in metrics):
        orders[recipe] = max(order, orders.get(recipe, 0))
    return Pairs(
        candidate_passage, reference_passage, np.array([0, len(references)], dtype=np.int64), orders
    )


def row_of(metric: Metric, candidate: str, references: Sequence[str]) -> Any:
    """Return the statistics of one segment."""
    return metric.rows(pairs_of([metric], candidate, references))[0]
