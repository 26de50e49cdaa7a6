"""Learning of the fertility model: counts of word pairs, and what is known of single words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.paraphrase.align.aligner import Aligner, Iteration
from karat.paraphrase.align.hmm_learner import Texts
from karat.paraphrase.align.stored_tokens import Words

NULL = 0.2  # probability that the null word generates a word
SPREAD = 0.2  # share of the unigram distribution in that of the null word
ALPHA = 0.003  # added to the count of every word pair
IDENTICAL = 1.0  # added to the count of a pair of equal words
JUMPS = 20.0  # jumps of an average word, added to those of a word
FERTILITY = 0.5  # exponent of fertilities

_SENTENCES = 1 << 16  # whose words are counted together


class FertilityLearner:
    """A model of words, and steps of training; counts of pairs are the kernel's or in files."""

    dtype, width, first = "int64", None, 0
    """Entries are counts, as whole numbers of 2^-15."""
    keeps_posteriors = True

    def __init__(self, source: Words, pivot: Words, how: Aligner) -> None:
        self.how = how
        twins = pivot.vocab.find(source.vocab.words(0, len(source.vocab)))
        settings = (NULL, SPREAD, ALPHA, IDENTICAL, JUMPS, FERTILITY)
        self.model = _kernel.WordModel(unigrams(source), unigrams(pivot), twins, *settings)

    def whole(self, texts: Texts, most_cells: int) -> _kernel.FertilityAligner:
        """Return the aligner of a text, with its table in memory."""
        how = self.how
        return _kernel.FertilityAligner(self.model, *texts, how.longest, most_cells, how.agreement)

    def expect(
        self, kernel: _kernel.FertilityAligner, step: Iteration
    ) -> Callable[[int, int], None]:
        """Return the E-step of some sentences."""
        _, hmm, fertility, counts = step
        return partial(kernel.expect, hmm=hmm, fertility=fertility, count_fertilities=counts)

    def update(self, kernel: _kernel.FertilityAligner, step: Iteration) -> None:
        """Do the M-step of an aligner of a whole text."""
        kernel.update()
        self.update_parts(step)

    def decode(self, kernel: _kernel.FertilityAligner, rule: str) -> Callable[[int, int], Any]:
        """Return the decoding of some sentences."""
        how = self.how
        stage = {"hmm": how.hmm > 0, "fertility": how.fertilities > 0}
        return partial(kernel.decode, **stage, rule=rule, threshold=how.least)

    # ---------------------------------------------------------------------------------- parts

    def part(
        self, texts: Texts, cells: Any, entries: Any, posteriors: Any
    ) -> _kernel.FertilityAligner:
        """Return the aligner of a part of a text; it replaces the posteriors."""
        how = self.how
        known = {"cells": cells, "counts": entries, "posteriors": posteriors}
        return _kernel.FertilityAligner(self.model, *texts, how.longest, how.agreement, **known)

    def add_pairs(self, sources: Any, pivots: Any, counts: Ints) -> None:
        """Do nothing: the model has counted its words."""

    def add_part(self, kernel: _kernel.FertilityAligner) -> None:
        """Do nothing: all parts count into one model."""

    def entries(self, keys: NDArray[np.int32], sums: Ints, held: Callable[[], Any]) -> Ints:
        """Return the entries of some word pairs from their counts in the whole text."""
        return sums

    def update_parts(self, step: Iteration) -> None:
        """Finish the M-step of all parts, after the entries."""
        self.model.update(step.hmm, step.counts_fertility)


def unigrams(words: Words) -> Ints:
    """Return how often each word of a text occurs."""
    found = np.zeros(len(words.vocab), np.int64)
    for start in range(0, len(words), _SENTENCES):
        part = words.part(start, min(start + _SENTENCES, len(words)))
        found += np.bincount(part.ids, minlength=len(found))
    return found
