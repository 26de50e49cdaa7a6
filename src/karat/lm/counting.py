"""Counting: how often each n-gram of a text occurs, over a vocabulary that may be cut off.

Words that the vocabulary leaves out are counted as `<unk>`, which is then a word like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import NDArray, np
from karat.errors import InputError
from karat.lm.memory import Memory, not_too_many
from karat.lm.scratch import Scratch
from karat.lm.token_batches import token_batches
from karat.progress import Progress, n_threads
from karat.text.segments import Segments
from karat.text.tokens import Recipe

UNK, BOS, EOS = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
"""The first three words of every model."""


class Cutoff(NamedTuple):
    """The words that are known: the `size` most frequent, of those that occur `min_count` times."""

    size: int | None = None
    min_count: int = 1


class Counted(NamedTuple):
    """The vocabulary of a text, and its n-grams with their counts."""

    vocab: _kernel.Vocab
    ngrams: _kernel.NgramTraining
    order: int


def count_text(
    sources: Sequence[Segments],
    order: int,
    recipe: Recipe,
    cutoff: Cutoff,
    scratch: Scratch,
    *,
    threads: int | None,
    progress: Progress,
) -> Counted:
    """Count all n-grams up to a length, batch by batch, in the memory of `scratch`."""
    memory = scratch.memory
    cutters = memory.threads(n_threads(threads))
    work: dict[str, Any] = {"threads": cutters, "nbytes": memory.batch(cutters)}
    work["progress"] = progress
    known = _known(sources, recipe, cutoff, memory, **work) if cutoff != Cutoff() else None
    vocab = _new_vocab() if known is None else known
    ngrams = scratch.training(order, memory.sorting(len(vocab), vocab.bytes()))
    with scratch.writing(), not_too_many("train on less text"):
        for tokens, words in token_batches(sources, recipe, what="counting", **work):
            ids = _ids(vocab, words, grow=known is None)
            ngrams.limit(memory.sorting(len(vocab), vocab.bytes()))
            ngrams.add(ids[tokens.ids], tokens.offsets)
        ngrams.merge(len(vocab), lambda: progress(ngrams.done, ngrams.total, "merging"))
    progress(ngrams.done, ngrams.total, "merging")
    if not ngrams.words()[EOS]:
        raise InputError("there is no text to train on")
    return Counted(vocab, ngrams, order)


def _new_vocab() -> _kernel.Vocab:
    vocab = _kernel.Vocab()
    vocab.add(list(SPECIAL))
    return vocab


def _ids(vocab: _kernel.Vocab, words: _kernel.Vocab, *, grow: bool) -> NDArray[np.int32]:
    """Return the ids of a batch's words; what looks like `<s>` or `</s>` in a text is unknown."""
    ids = vocab.merge(words) if grow else vocab.find(words.words(0, len(words)))
    return np.where(ids > EOS, ids, UNK).astype(np.int32)


def _known(
    texts: Sequence[Segments], recipe: Recipe, cutoff: Cutoff, memory: Memory, **work: Any
) -> _kernel.Vocab:
    """Return the words to keep: by falling count, of equal ones the first in the text first."""
    vocab, counts = _new_vocab(), np.zeros(0, np.int64)
    for tokens, words in token_batches(texts, recipe, what="words", **work):
        ids = _ids(vocab, words, grow=True)
        memory.sorting(len(vocab), vocab.bytes())
        here = np.bincount(ids[tokens.ids], minlength=len(vocab))
        here[: len(counts)] += counts
        counts = here
    ranked = np.argsort(-counts[EOS + 1 :], kind="stable")[: cutoff.size] + EOS + 1
    kept = ranked[counts[ranked] >= cutoff.min_count]
    return vocab.chosen(np.concatenate([np.arange(EOS + 1), kept]).astype(np.int32))
