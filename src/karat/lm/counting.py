"""Counting: how often each n-gram of a text occurs, over a vocabulary that may be cut off.

Words that the vocabulary leaves out are counted as `<unk>`, which is then a word like any other.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.lm.token_batches import token_batches
from karat.text.recipe import Recipe
from karat.text.segments import Segments

UNK, BOS, EOS = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
"""The first three words of every model."""


class Cutoff(NamedTuple):
    """The words that are known: the `size` most frequent, of those that occur `min_count` times."""

    size: int | None = None
    min_count: int = 1


class Level(NamedTuple):
    """The n-grams of one length: each by numbers into the level below, and its count.

    `suffixes` are the n-grams without their first word, `firsts` those words, `contexts` the
    n-grams without their last word. Numbers of single words are their ids.
    """

    suffixes: NDArray[np.uint32]
    firsts: NDArray[np.int32]
    contexts: NDArray[np.uint32]
    counts: Ints


class NgramCounts(NamedTuple):
    """Counts: the vocabulary, the count of each word, and of longer n-grams."""

    vocab: _kernel.Vocab
    words: Ints
    levels: list[Level]

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels) + 1


def count_text(
    sources: Sequence[Segments],
    order: int,
    recipe: Recipe,
    cutoff: Cutoff,
    *,
    memory: int | None = None,
    **work: Any,
) -> NgramCounts:
    """Count all n-grams up to a length, batch by batch: only the n-grams are held in memory.

    `work` is `threads` and `progress`.
    """
    known = _known(sources, recipe, cutoff, **work) if cutoff != Cutoff() else None
    vocab = _new_vocab() if known is None else known
    counter = _kernel.NgramCounter(order)
    limit = _quarter_of_memory() if memory is None else memory

    def check() -> None:
        if counter.bytes() > limit:
            raise InputError(
                f"the n-grams take more than {limit / 2**30:.1f} GB: train on less text, with a "
                f"lower order or a smaller vocabulary, or allow more memory"
            )

    for tokens, words in token_batches(sources, recipe, what="counting", **work):
        ids = _ids(vocab, words, grow=known is None)
        counter.add(ids[tokens.ids], tokens.offsets, check)
        check()
    levels = [Level(*counter.ngrams(n), counter.counts(n)) for n in range(2, order + 1)]
    counts = np.zeros(len(vocab), np.int64)
    found = counter.counts(1)
    counts[: len(found)] = found
    if not counts[EOS]:
        raise InputError("there is no text to train on")
    return NgramCounts(vocab, counts, levels)


def _new_vocab() -> _kernel.Vocab:
    vocab = _kernel.Vocab()
    vocab.add(list(SPECIAL))
    return vocab


def _ids(vocab: _kernel.Vocab, words: _kernel.Vocab, *, grow: bool) -> NDArray[np.int32]:
    """Return the ids of a batch's words; what looks like `<s>` or `</s>` in a text is unknown."""
    ids = vocab.merge(words) if grow else vocab.find(words.words(0, len(words)))
    return np.where(ids > EOS, ids, UNK).astype(np.int32)


def _known(texts: Sequence[Segments], recipe: Recipe, cutoff: Cutoff, **work: Any) -> _kernel.Vocab:
    """Return the words to keep: by falling count, of equal ones the first in the text first."""
    vocab, counts = _new_vocab(), np.zeros(0, np.int64)
    for tokens, words in token_batches(texts, recipe, what="words", **work):
        ids = _ids(vocab, words, grow=True)
        here = np.bincount(ids[tokens.ids], minlength=len(vocab))
        here[: len(counts)] += counts
        counts = here
    ranked = np.argsort(-counts[EOS + 1 :], kind="stable")[: cutoff.size] + EOS + 1
    kept = ranked[counts[ranked] >= cutoff.min_count]
    listed = vocab.words(0, len(vocab))
    chosen = _new_vocab()
    chosen.add([listed[i] for i in kept.tolist()])
    return chosen


def _quarter_of_memory() -> int:
    """Return a quarter of memory: estimation takes nearly twice as much again."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, ValueError, OSError):
        return 1 << 31
