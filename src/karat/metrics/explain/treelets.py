"""Tree accuracy as data: which treelet has which words in another order, and what that costs.

A treelet is a head with all its daughters. Its words in the order of the reference are aligned with
the same words in the order of the candidate. With the words that the candidate lacks, one deletion
each, and those that it has besides, one insertion each, the errors of all treelets are the score's:

    value = 1 - (sum of errors of the treelets + lacking + besides) / R

where R is the number of the tree's words. Positions are counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from karat import _kernel
from karat.errors import InputError
from karat.metrics.explain.edits import Alignment, edit_operations, spelled
from karat.text.segments import Strings
from karat.text.tokens import Lexicon, Passage
from karat.text.trees import Tree, Trees

if TYPE_CHECKING:
    from karat.metrics.tree import TreeAccuracy


@dataclass(frozen=True)
class Treelet:
    """A head and its daughters, as far as the candidate has them, in both orders."""

    head: int
    """The place of the head in the reference, whether the candidate has it or not."""
    nodes: tuple[int, ...]
    """The words of the treelet that the candidate has, by their places in the reference."""
    places: tuple[int, ...]
    """The place of each of these in the candidate."""
    alignment: Alignment
    """From the order of the reference to that of the candidate."""
    counts_moves: bool
    """True if a word deleted here and inserted there is one error, a move."""

    @property
    def moves(self) -> int:
        """The words that moved; 0 where moves are not counted."""
        return len(self.alignment.moves) if self.counts_moves else 0

    @property
    def substitutions(self) -> int:
        """The words that stand in the place of others."""
        return self.alignment.count("substitute")

    @property
    def insertions(self) -> int:
        """The words inserted that are in no move."""
        return self.alignment.count("insert") - self.moves

    @property
    def deletions(self) -> int:
        """The words deleted that are in no move."""
        return self.alignment.count("delete") - self.moves

    @property
    def errors(self) -> int:
        """Substitutions, insertions, deletions and moves."""
        return self.substitutions + self.insertions + self.deletions + self.moves


@dataclass(frozen=True)
class TreeExplanation:
    """Explanation of a tree accuracy: the place of each word and the cost of each treelet."""

    signature: str
    value: float
    tree: Tree
    """The reference that the metric scores by."""
    reference: int
    """Its number among those given, from 0."""
    candidate: tuple[str, ...]
    places: tuple[int | None, ...]
    """For each word of the tree its place in the candidate; None for a word that is not there."""
    treelets: tuple[Treelet, ...]
    """All treelets, in the order of their heads."""

    @cached_property
    def lacking(self) -> tuple[int, ...]:
        """The words of the tree that the candidate lacks: one deletion each."""
        return tuple(node for node, place in enumerate(self.places) if place is None)

    @cached_property
    def besides(self) -> tuple[int, ...]:
        """The words of the candidate that are none of the tree's: one insertion each."""
        tied = set(self.places)
        return tuple(place for place in range(len(self.candidate)) if place not in tied)

    @property
    def counts(self) -> dict[str, int]:
        """Substitutions, insertions, deletions and moves of the whole sentence."""
        return {
            "substitutions": sum(treelet.substitutions for treelet in self.treelets),
            "insertions": sum(treelet.insertions for treelet in self.treelets) + len(self.besides),
            "deletions": sum(treelet.deletions for treelet in self.treelets) + len(self.lacking),
            "moves": sum(treelet.moves for treelet in self.treelets),
        }

    @property
    def errors(self) -> int:
        """The errors of all treelets, and the words that are lacking or besides."""
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float:
        """1 - errors / R: the value, unless the metric is a regression on it."""
        return 1 - self.share(self.errors)

    def share(self, errors: int) -> float:
        """Return the accuracy that some errors cost: errors / R."""
        return errors / len(self.tree)


def explain(
    metric: TreeAccuracy, candidate: str, references: Tree | Sequence[Tree]
) -> TreeExplanation:
    """One candidate beside the tree that a metric scores best, the first of equals."""
    trees = [references] if isinstance(references, Tree) else references
    if not isinstance(trees, list | tuple) or not all(isinstance(tree, Tree) for tree in trees):
        give = "give a Tree or a list of them as references"
        raise InputError(f"{metric.name} is explained by dependency trees: {give}")
    if not trees:
        raise InputError("no reference was given: at least one is needed")
    values = metric.sign * metric.segments([candidate] * len(trees), Trees(trees), threads=1)
    best = int(values.argmax())
    tree = trees[best]
    lexicon = Lexicon()
    mine = Passage(Strings([candidate], "candidate").views(0, 1), lexicon)
    ids = mine.tokens(metric.recipe).ids
    run = Trees([tree]).trees(0, 1)
    words = mine.words(run.words, metric.recipe)
    places = _kernel.tree_places(ids, words, run.heads, None).tolist()
    return TreeExplanation(
        signature=metric.signature(len(trees)),
        value=float(values[best]) * metric.sign,
        tree=tree,
        reference=best,
        candidate=spelled(ids, lexicon.words(metric.recipe)),
        places=tuple(None if place < 0 else place for place in places),
        treelets=tuple(_treelets(tree, words.tolist(), places, metric.counts_moves)),
    )


def _treelets(
    tree: Tree, words: Sequence[int], places: Sequence[int], counts_moves: bool
) -> Iterator[Treelet]:
    """Every head with its daughters; `words` are ids that are equal where words are."""
    members: dict[int, list[int]] = {}
    for node, head in enumerate(tree.heads):
        if head:
            members.setdefault(head - 1, [head - 1]).append(node)
    for head in sorted(members):
        nodes = sorted(node for node in members[head] if places[node] >= 0)
        order = sorted(nodes, key=lambda node: places[node])
        steps = edit_operations([words[n] for n in order], [words[n] for n in nodes])
        mine, theirs = (tuple(tree.words[n] for n in side) for side in (order, nodes))
        alignment = Alignment(theirs, mine, steps)
        found = tuple(places[node] for node in nodes)
        yield Treelet(head, tuple(nodes), found, alignment, counts_moves)
