"""Fast counts of one candidate against its references, for functions called per sentence.

`Metric.stats` is made for many segments: its fixed cost would dominate the time of a single one.
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
"""A user's tokenizer, whose tokens may be any hashable values."""
_LOCAL = threading.local()  # one vocabulary per thread, shared by all sentences


class CustomPassage(Passage):
    """Texts tokenized by a user's function; equal tokens have equal ids in all of them."""

    def __init__(
        self, views: _kernel.Views, lexicon: Lexicon, tokenize: Tokenize, numbers: dict[Any, int]
    ) -> None:
        super().__init__(views, lexicon)
        self._tokenize, self._numbers = tokenize, numbers

    def _make_tokens(self, recipe: Recipe) -> Ragged:
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
    candidate: str | Sequence[str],
    references: Sequence[str],
    tokenize: Tokenize | None = None,
) -> Pairs:
    """Return the pairs of a candidate and its references for metrics to count in.

    A list of candidates has one reference for each.
    """
    candidates = (candidate,) if isinstance(candidate, str) else tuple(candidate)
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
            for texts in (candidates, tuple(references))
        )
    )
    starts = np.array([0, len(references)], dtype=np.int64)
    if not isinstance(candidate, str):
        starts = np.arange(len(candidates) + 1, dtype=np.int64)
    return Pairs(candidate_passage, reference_passage, starts, largest_orders(metrics))
