"""Texts cut by the user's tokenizer, whose tokens may be anything hashable; loads the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from karat.arrays import Ints, np
from karat.text.tokens import Lexicon, Passage, Ragged, Recipe

if TYPE_CHECKING:
    from karat import _kernel

Tokenize = Callable[[str], Iterable[Any]]


class CustomPassage(Passage):
    """Texts that a function cuts; equal tokens have equal numbers in all of them."""

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


def passage_of(tokenize: Tokenize) -> Callable[[_kernel.Views, Lexicon], Passage]:
    """Return what makes passages of texts that are to be compared with each other."""
    numbers: dict[Any, int] = {}
    return lambda views, lexicon: CustomPassage(views, lexicon, tokenize, numbers)
