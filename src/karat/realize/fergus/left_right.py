"""The baseline LR of section 3.3: a tree model that only knows left from right.

    p(l_d left of l_m), which backs off to p(l_d left of any mother), then to p(left)

The rest of the pipeline is that of FERGUS: each daughter goes to her likelier side, the lattice
holds every order within a side, and the LP Chooser takes the best path by its language model.

The paper counts sides in a *random* tree of each training sentence; the authors' later paper counts
them in the real trees. Both read the real tree of the sentence to generate.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial

from karat import _kernel
from karat.arrays import NDArray, np
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.grammar import Grammar, Ints
from karat.realize.fergus.lp_chooser import Weights, as_orders, batched, lm_words
from karat.realize.input_trees import InputTrees, Orders

WEIGHTS = Weights(margin=1000.0)
"""Every order within a side stays in the lattice: only the language model ranks them."""


@dataclass(frozen=True, eq=False)
class LeftRight:
    """The baseline; `name` says which trees its counts are from."""

    name: str
    grammar: Grammar
    lm: LanguageModel
    keys: NDArray[np.uint32]
    counts: Ints

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree."""
        return batched(partial(self._best, k=k), trees, k, progress)

    def _best(self, trees: InputTrees, k: int) -> Orders:
        words = self.grammar.find(trees.words)
        tables = self.keys, self.counts, words, trees.heads, trees.offsets
        search = self.lm.kernel, lm_words(self.lm, trees), WEIGHTS.wider(k).values(), k
        nodes, scores, _, starts = _kernel.linearize_left_right(*tables, *search)
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
