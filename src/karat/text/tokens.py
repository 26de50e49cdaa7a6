"""Tokens: a whole text as ragged ids over one vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat import _kernel
from karat.errors import InputError
from karat.text.recipe import CASES, TOKENIZERS
from karat.text.segments import Segments, Texts, as_segments, available_threads, runs

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
    texts: Texts,
    tok: str = "13a",
    case: str = "mixed",
    *,
    vocab: Vocab | None = None,
    threads: int | None = None,
) -> Tokens:
    """Cut texts (strings, or a file by its path) into tokens.

    Give the vocabulary of another text to have ids in common with it. Ids are given in the order
    of first sight, whatever the number of threads.
    """
    import numpy as np

    if tok not in TOKENIZERS:
        raise InputError(f"tokenizer {tok!r}: expected one of {', '.join(TOKENIZERS)}")
    if case not in CASES:
        raise InputError(f"case {case!r}: expected one of {', '.join(CASES)}")
    segments = as_segments(texts, "texts")
    vocab = Vocab() if vocab is None else vocab
    ids, offsets, held = [np.empty(0, np.int32)], [np.zeros(1, np.int64)], 0
    for part, ends, words in _parts(segments, tok, case, threads or available_threads()):
        ids.append(vocab.merge(words)[part])
        offsets.append(ends[1:] + held)
        held += len(part)
    return Tokens(np.concatenate(ids), np.concatenate(offsets), vocab)


_Part = tuple["NDArray[np.int32]", "NDArray[np.int64]", Vocab]


def _parts(segments: Segments, tok: str, case: str, threads: int) -> Iterator[_Part]:
    """Ids, offsets and vocabulary of every run of segments, in order."""
    from concurrent.futures import ThreadPoolExecutor

    def cut(bounds: tuple[int, int]) -> _Part:
        views, words = segments.views(*bounds), Vocab()
        lowered = views.lower() if case == "lower" else views
        return (*_kernel.tokenize(lowered, words, tok), words)

    with ThreadPoolExecutor(threads, thread_name_prefix="karat") as pool:
        yield from pool.map(cut, runs([segments], 1 << 14, 1 << 24))
