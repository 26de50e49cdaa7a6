"""Tokens: a whole text as ragged ids over one vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat import _kernel
from karat.errors import InputError
from karat.text.recipe import CASES, TOKENIZERS
from karat.text.segments import Texts, as_segments, runs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vocab = _kernel.Vocab
"""Words to ids in order of first sight, and back; may be shared by several texts."""


@dataclass(frozen=True)
class Tokens:
    """Segment i is `ids[offsets[i]:offsets[i + 1]]`; the words are in `vocab`."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocab: Vocab

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, segment: int) -> list[str]:
        if not 0 <= segment < len(self):
            raise IndexError(f"segment {segment} of {len(self)}")
        ids = self.ids[self.offsets[segment] : self.offsets[segment + 1]]
        return [self.vocab.words(i, i + 1)[0] for i in ids.tolist()]

    def map(self, function: Callable[[str], str]) -> Tokens:
        """Apply any function to the words: it is called once for each distinct one."""
        target = Vocab()
        mapped = target.add([function(word) for word in self.vocab.words(0, len(self.vocab))])
        return Tokens(mapped[self.ids], self.offsets, target)


def tokenize(
    texts: Texts, tok: str = "13a", case: str = "mixed", vocab: Vocab | None = None
) -> Tokens:
    """Cut texts (strings, or a file by its path) into tokens.

    Give the vocabulary of another text to have ids in common with it.
    """
    import numpy as np

    if tok not in TOKENIZERS:
        raise InputError(f"tokenizer {tok!r}: expected one of {', '.join(TOKENIZERS)}")
    if case not in CASES:
        raise InputError(f"case {case!r}: expected one of {', '.join(CASES)}")
    segments = as_segments(texts, "texts")
    vocab = Vocab() if vocab is None else vocab
    ids, offsets, held = [np.empty(0, np.int32)], [np.zeros(1, np.int64)], 0
    for start, stop in runs([segments], 1 << 16, 1 << 26):
        views = segments.views(start, stop)
        part, ends = _kernel.tokenize(views.lower() if case == "lower" else views, vocab, tok)
        ids.append(part)
        offsets.append(ends[1:] + held)
        held += len(part)
    return Tokens(np.concatenate(ids), np.concatenate(offsets), vocab)
