"""Blocks of trees: completion works on few at a time, so that memory does not grow with a file."""

from __future__ import annotations

from collections.abc import Iterator

from karat.arrays import Ints, np
from karat.realize.treebank import Treebank, some_sentences

SENTENCES, PAIRS = 256, 1 << 18
"""Sentences of a block, and pairs of sisters, of which features are made; a block may be one
sentence that has more."""


def blocks(treebank: Treebank, most: int = SENTENCES) -> Iterator[tuple[int, Treebank]]:
    """Yield some sentences after the other: the number of the first, and the sentences."""
    pairs = _pairs(treebank)
    first = held = 0
    for i, mine in enumerate(pairs.tolist()):
        if i > first and (i - first >= most or held + mine > PAIRS):
            yield first, some_sentences(treebank, first, i)
            first, held = i, 0
        held += mine
    if first < len(pairs):
        yield first, some_sentences(treebank, first, len(pairs))


def _pairs(treebank: Treebank) -> Ints:
    """Return the number of pairs of sisters in every sentence, and of words with themselves."""
    starts = np.repeat(treebank.offsets[:-1], np.diff(treebank.offsets))
    mothers = (starts + treebank.heads - 1)[treebank.heads > 0]
    daughters = np.bincount(mothers, minlength=len(treebank.words))
    sums = np.append(0, np.cumsum(daughters.astype(np.int64) ** 2))
    found: Ints = np.diff(sums[treebank.offsets])
    return found
