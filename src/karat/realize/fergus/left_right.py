"""The baseline LR: only whether a lexeme precedes or follows her mother's.

    p(l_d left of l_m), which backs off to p(l_d left of any mother), to p(left)

Every daughter goes to her likelier side. Which order those on one side have these parameters do not
tell: it is that of their contents, which says nothing, or the language model's (`trigrams`). The
paper imposed a *random* tree on each training sentence; the same parameters from the real trees are
what its successor compared with. Both are offered.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import partial

from karat import _kernel
from karat.arrays import NDArray, np
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.grammar import Grammar, Ints
from karat.realize.fergus.lp_chooser import Weights, as_orders, batched, lm_words
from karat.realize.input_trees import InputTrees, Orders

WEIGHTS = Weights(lm=0.0, margin=1000.0)
"""No order on a side is worse than another, unless the language model speaks."""


@dataclass(frozen=True, eq=False)
class LeftRight:
    """The baseline with its counts; `name` tells which trees they are from."""

    name: str
    grammar: Grammar
    lm: LanguageModel
    keys: NDArray[np.uint32]
    counts: Ints
    trigrams: bool = False

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree."""
        return batched(partial(self._best, k=k), trees, k, progress)

    def _best(self, trees: InputTrees, k: int) -> Orders:
        words = self.grammar.find(trees.words)
        given = self.keys, self.counts, words, trees.heads, trees.offsets
        if k == 1 and not self.trigrams:  # the first that sides leave open: all are as good
            nodes = _kernel.order_left_right(*given)
            return as_orders(trees, nodes, np.zeros(len(trees)), np.arange(len(trees) + 1))
        weights = replace(WEIGHTS, lm=float(self.trigrams)).values()
        search = self.lm.kernel, lm_words(self.lm, trees), weights, k
        nodes, scores, _, starts = _kernel.linearize_left_right(*given, *search)
        return as_orders(trees, nodes, scores, starts)


def train_left_right(
    grammar: Grammar, trees: InputTrees, lm: LanguageModel, *, random_trees: bool
) -> LeftRight:
    """Count on which side of her mother each lexeme stood, in real or in random trees."""
    mothers = _random_mothers(trees) if random_trees else trees.mothers()
    nodes = np.flatnonzero(mothers >= 0)
    words, above = grammar.find(trees.words), mothers[nodes]
    left = trees.places[nodes] < trees.places[above]
    found = _kernel.count_sides(words[nodes], words[above], left.astype(np.int32))
    name = "LR, random trees" if random_trees else "LR, real trees"
    return LeftRight(name, grammar, lm, *found)


def _random_mothers(trees: InputTrees) -> NDArray[np.int64]:
    """Make a random tree of each sentence: words in random order, each below an earlier one."""
    rng = random.Random(0)
    mothers = np.full(len(trees.words), -1, dtype=np.int64)
    for i in range(len(trees)):
        start = int(trees.offsets[i])
        order = [start + node for node in trees.reference(i)]
        rng.shuffle(order)
        for at in range(1, len(order)):
            mothers[order[at]] = order[rng.randrange(at)]
    return mothers
