"""Learning of the joint HMM: translation probabilities of word pairs, and jumps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.paraphrase.align.aligner import Aligner, Iteration
from karat.paraphrase.align.stored_tokens import Words, word_count

Texts = tuple[Any, Any, Any, Any]
"""Ids and offsets of the source text, then those of the pivot text."""


class HmmLearner:
    """Jumps, and steps of training; the entries of word pairs are the kernel's or in files."""

    dtype, width, first = "float32", 2, 1.0
    """Entries are t(pivot | source) and t(source | pivot)."""
    keeps_posteriors = False

    def __init__(self, source: Words, pivot: Words, how: Aligner) -> None:
        self.how = how
        self.jumps = _kernel.first_jumps()
        self.words = len(source.vocab), len(pivot.vocab)
        self.longer = max(map(word_count, (source, pivot)))
        self._clear()

    def _clear(self) -> None:
        self.totals = np.zeros(self.words[0], np.int64), np.zeros(self.words[1], np.int64)
        self.jump_counts = np.zeros((2, 2, self.jumps.shape[1]), np.int64)

    def whole(self, texts: Texts, most_cells: int) -> _kernel.JointAligner:
        """Return the aligner of a text, with its table in memory."""
        how = self.how
        return _kernel.JointAligner(*texts, how.longest, most_cells, how.agreement)

    def expect(self, kernel: _kernel.JointAligner, step: Iteration) -> Callable[[int, int], None]:
        """Return the E-step of some sentences."""
        return partial(kernel.expect, hmm=step.hmm)

    def update(self, kernel: _kernel.JointAligner, step: Iteration) -> None:
        """Do the M-step of an aligner of a whole text."""
        kernel.update(step.hmm)

    def decode(self, kernel: _kernel.JointAligner, rule: str) -> Callable[[int, int], Any]:
        """Return the decoding of some sentences."""
        how = self.how
        return partial(kernel.decode, hmm=how.hmm > 0, rule=rule, threshold=how.least)

    # ---------------------------------------------------------------------------------- parts

    def part(self, texts: Texts, cells: Any, entries: Any, posteriors: Any) -> _kernel.JointAligner:
        """Return the aligner of a part of a text, with what is known so far."""
        how = self.how
        known = {"cells": cells, "entries": entries, "jumps": self.jumps}
        return _kernel.JointAligner(*texts, how.longest, how.agreement, **known, words=self.longer)

    def add_pairs(self, sources: Any, pivots: Any, counts: Ints) -> None:
        """Add the counts of some word pairs to those of their words."""
        _kernel.add_at(self.totals[0], sources, counts)
        _kernel.add_at(self.totals[1], pivots, counts)

    def add_part(self, kernel: _kernel.JointAligner) -> None:
        """Add what a part counted beside its word pairs."""
        self.jump_counts += kernel.jump_counts()

    def entries(
        self, keys: NDArray[np.int32], sums: Ints, held: Callable[[], Any]
    ) -> NDArray[np.float32]:
        """Return the entries of some word pairs from their counts in the whole text."""
        counted = self.totals[0][keys[:, 0]].all() and self.totals[1][keys[:, 1]].all()
        last = np.zeros((len(keys), 2), np.float32) if counted else held()
        return _kernel.estimate_pairs(keys, sums, *self.totals, last)

    def update_parts(self, step: Iteration) -> None:
        """Finish the M-step of all parts, after the entries."""
        if step.hmm:
            self.jumps = _kernel.update_jumps(self.jumps, self.jump_counts)
        self._clear()
