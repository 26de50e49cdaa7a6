"""The Tree Chooser: a supertag for every node of a tree, by the stochastic tree model.

The model's parameters are the paper's, (l_d, s_d | l_m, s_m): a daughter's lexeme and supertag
given her mother's, with interpolated back-off to labels and categories
(csrc/realize/fergus/tree_model.hpp). The best supertags of a tree are found exactly, by dynamic
programming, under the attachment constraint: every slot of a frame is filled by one daughter of its
relation. What was never seen is guessed: a word by its suffix and shape; a treelet that fits no
frame gets the free frame.
"""

from __future__ import annotations

from dataclasses import dataclass

from karat import _kernel
from karat.arrays import Floats, NDArray, np
from karat.realize.fergus.grammar import RARE, Grammar, Ints, Slots, frame_numbers, suffixes
from karat.realize.input_trees import InputTrees


@dataclass(frozen=True, eq=False)
class Supertags:
    """Label, frame and the slot filled (-1 none) of every node; a score for each tree."""

    labels: Ints
    frames: Ints
    slots: Ints
    scores: Floats


class TreeChooser:
    """The tree model of a grammar; `keys` and `counts` are its parameters."""

    def __init__(self, grammar: Grammar, keys: NDArray[np.uint32], counts: Ints) -> None:
        self.grammar = grammar
        self.keys, self.counts = keys, counts
        self.kernel = _kernel.TreeModel(grammar.kernel, keys, counts, grammar.arrays["open"])

    @classmethod
    def train(cls, grammar: Grammar, trees: InputTrees, frames: list[Slots]) -> TreeChooser:
        """Count the treelets of a treebank, whose trees have tags and relations."""
        words = grammar.find(trees.words)
        rare = np.bincount(words)[words] <= RARE
        labels = grammar.labels(trees.tags, trees.relations)
        columns = words, labels, trees.heads, suffixes(trees.words), trees.offsets
        numbers = frame_numbers(grammar, frames), rare.astype(np.int32)
        found = _kernel.count_trees(grammar.kernel, *columns, *numbers, trees.places)
        return cls(grammar, *found)

    def columns(self, trees: InputTrees) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.int64]]:
        """Return words, labels (-1 if only words are given), heads, suffixes and offsets."""
        words = self.grammar.find(trees.words)
        labels = np.full_like(words, -1)
        if trees.inputs == "all":
            labels = self.grammar.labels(trees.tags, trees.relations)
        return words, labels, trees.heads, suffixes(trees.words), trees.offsets

    def choose(self, trees: InputTrees) -> Supertags:
        """Return the best supertags of every tree."""
        return Supertags(*_kernel.choose_trees(self.kernel, *self.columns(trees), 1)[:4])

    def choose_best(self, trees: InputTrees, tree: int, k: int) -> list[Supertags]:
        """Return the k best supertaggings of one tree, the best first."""
        one = trees.choose([tree])
        labels, frames, slots, scores, _ = _kernel.choose_trees(self.kernel, *self.columns(one), k)
        n = len(one.words)
        parts = [slice(i * n, (i + 1) * n) for i in range(len(scores))]
        return [
            Supertags(labels[p], frames[p], slots[p], scores[i : i + 1])
            for i, p in enumerate(parts)
        ]
