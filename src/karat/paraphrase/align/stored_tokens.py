"""Tokens of long texts in temporary files, read part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from karat.arrays import NDArray, np
from karat.storage.arrays import ArrayFile
from karat.text.segments import Segments
from karat.text.tokens import Recipe, Tokens, Vocab, token_parts

_PURPOSE = "the words of a text are held there"


class StoredTokens:
    """The ids of words in temporary files; the vocabulary is in memory."""

    def __init__(self) -> None:
        self.vocab = Vocab()
        self._ids, self._offsets = ArrayFile("int32", _PURPOSE), ArrayFile("int64", _PURPOSE)
        self._offsets.append(np.zeros(1, np.int64))
        self._mapped: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self._ids)

    def append(self, tokens: Tokens) -> None:
        """Add the next segments."""
        self._offsets.append(tokens.offsets[1:] + len(self._ids))
        self._ids.append(tokens.ids)

    def part(self, start: int, stop: int) -> Tokens:
        """Return some of the segments."""
        offsets = self._offsets.read(start, stop + 1)
        ids = self._ids.read(int(offsets[0]), int(offsets[-1]))
        ids = ids if self._mapped is None else self._mapped[ids]
        return Tokens(ids, offsets - offsets[0], self.vocab)

    def map(self, function: Callable[[str], str]) -> StoredTokens:
        """Apply any function to the words, as `Tokens.map` does; the files are the same."""
        found, target = copy(self), Vocab()
        mapped = target.add([function(word) for word in self.vocab.words(0, len(self.vocab))])
        found.vocab = target
        found._mapped = mapped if self._mapped is None else mapped[self._mapped]
        return found


Words = Tokens | StoredTokens
"""The words of a text, in memory or in files."""


def word_count(words: Words) -> int:
    """Return the number of words of a text."""
    return int(words.offsets[-1]) if isinstance(words, Tokens) else words.size


def stored_tokens(texts: Sequence[Segments], recipe: Recipe, **work: Any) -> StoredTokens:
    """Cut one or more texts into words, one after the other; `work` is `threads`, `progress`."""
    found = StoredTokens()
    for text in texts:
        for part in token_parts(text, recipe, found.vocab, **work):
            found.append(part)
            text.release(0, len(text))
    return found
