"""One candidate beside its references: the way of functions that are called for every sentence.

`Metric.stats` is made for many segments. Its fixed cost would be most of the time of a single one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.arrays import Ints, np
from karat.metrics.pairs import Pairs, largest_orders
from karat.text.tokens import Lexicon, Passage, Ragged, Recipe

if TYPE_CHECKING:
    from karat.metrics.base import Metric

Tokenize = Callable[[str], Iterable[Any]]
"""A user's tokeniser, whose tokens may be anything hashable."""
_LOCAL = threading.local()  # a vocabulary for each thread, for all sentences


class CustomPassage(Passage):
    """Texts that a user's function cuts; equal tokens have equal numbers in all of them."""

    def __init__(
        self, views: _kernel.Views, lexicon: Lexicon, tokenize: Tokenize, numbers: dict[Any, int]
    ) -> None:
        super().__init__(views, lexicon)
        self._tokenize, self._numbers = tokenize, numbers

    def _follow(self, recipe: Recipe) -> Ragged:
        rows = [list(self._tokenize(text)) for text in self._views.strings()]
        numbers = self._numbers
        ids = [numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(rows)]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Ragged(np.array(ids, dtype=np.int32), offsets)

    def sentences(self, separator: str) -> tuple[Passage, Ints]:
        views, starts = self._views.split_sentences(separator)
        return CustomPassage(views, self._lexicon, self._tokenize, self._numbers), starts


def pairs_of(
    metrics: Sequence[Metric],
    candidate: str,
    references: Sequence[str],
    tokenize: Tokenize | None = None,
) -> Pairs:
    """Return what metrics count between a candidate and its references."""
    if not hasattr(_LOCAL, "lexicon"):
        _LOCAL.lexicon = Lexicon()
    lexicon: Lexicon = _LOCAL.lexicon
    lexicon.tidy()
    numbers: dict[Any, int] = {}
    candidate_passage, reference_passage = (
        Passage(views, lexicon)
        if tokenize is None
        else CustomPassage(views, lexicon, tokenize, numbers)
        for views in (
            _kernel.Views.from_strings(texts, 0, len(texts))
            for texts in ((candidate,), tuple(references))
        )
    )
    starts = np.array([0, len(references)], dtype=np.int64)
    return Pairs(candidate_passage, reference_passage, starts, largest_orders(metrics))
