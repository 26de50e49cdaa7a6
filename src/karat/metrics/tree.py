"""Tree accuracies (Bangalore, Rambow and Whittaker 2000), and predictions of readers' ratings.

The references are dependency trees. For every treelet (a head and all its daughters) the words in
the order of the reference are aligned with the same words in the order of the candidate, as in the
string accuracies; one level up, the head stands for the treelet. Errors are summed over treelets
and divided by R, the words of the tree. Words missing from the candidate are deletions, and extra
words are insertions; each counts once. docs/explanation/accuracy.md explains
how words are assigned to nodes.

    simple tree accuracy     = 1 - (I + D + S) / R
    generation tree accuracy = 1 - (M + I' + D' + S) / R

From the judgements of readers the authors fitted, with STA the simple tree accuracy and S the
substitutions of a sentence (a corpus has the mean of its sentences):

    understandability accuracy = (1.3147 STA - 0.1039 S - 0.4458) / 0.8689
    quality accuracy           = (1.0192 STA - 0.0869 S - 0.3553) / 0.6639
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.metrics.accuracy import Accuracy, Alignment, edit_operations, error_rate, spell_tokens
from karat.metrics.pairs import Pairs
from karat.text.tokens import Lexicon
from karat.text.trees import Tree, Trees

MAX_TREE_CELLS = 10**9
"""The largest product of a candidate's tokens and a tree's words."""


@dataclass(frozen=True)
class TreeAccuracy(Accuracy):
    """The candidate against the treelets of the reference's tree."""

    def _edit_counts_and_lengths(self, pairs: Pairs) -> tuple[Ints, Ints]:
        """Return the counts of each kind of edit by pair, and the number of words of each tree."""
        trees = pairs.trees
        if trees is None:
            raise InputError(
                f"{self.name} needs dependency trees as references: a .conllu file, Tree objects, "
                f"or karat.parse_references(texts); a set gets them by karat data convert --parse"
            )
        lengths = np.diff(trees.offsets)

        def count() -> Ints:
            candidates = pairs.candidates.tokens(self.recipe)
            cells = pairs.spread(candidates.lengths) * lengths
            pairs.check_sizes(cells, MAX_TREE_CELLS, "pairs of tokens are too many for a tree")
            words = pairs.candidates.words(trees.words, self.recipe)
            return _kernel.tree_edits(
                *candidates, words, trees.heads, trees.offsets, pairs.starts, pairs.check
            )

        return pairs.once(("treelets", self.recipe), count), lengths

    def explain(self, candidate: str, references: Tree | Sequence[Tree]) -> TreeExplanation:
        """Return the errors of each treelet, and missing and extra words, for the best tree.

        The best tree has the best score by this metric; the first of equals.
        """
        trees = [references] if isinstance(references, Tree) else references
        if not isinstance(trees, list | tuple) or not all(isinstance(t, Tree) for t in trees):
            give = "give a Tree or a list of them as references"
            raise InputError(f"{self.name} is explained by dependency trees: {give}")
        if not trees:
            raise InputError("no reference was given: at least one is needed")
        values = self.sign * self.segments([candidate] * len(trees), Trees(trees), threads=1)
        best = int(values.argmax())
        tree, lexicon = trees[best], Lexicon()
        passage = lexicon.passage([candidate], "candidate")
        ids = passage.tokens(self.recipe).ids
        batch = Trees([tree]).trees(0, 1)
        words = passage.words(batch.words, self.recipe)
        places = _kernel.tree_places(ids, words, batch.heads, None).tolist()
        return TreeExplanation(
            signature=self.signature(len(trees)),
            value=float(values[best]) * self.sign,
            tree=tree,
            reference=best,
            candidate=spell_tokens(ids, lexicon.words(self.recipe)),
            places=tuple(None if place < 0 else place for place in places),
            treelets=tuple(_treelets(tree, words.tolist(), places, self.counts_moves)),
        )


@dataclass(frozen=True)
class SimpleTreeAccuracy(TreeAccuracy):
    """Insertions, deletions and substitutions within treelets: 1 - (I + D + S) / R."""

    name: ClassVar[str] = "simple_tree_accuracy"


@dataclass(frozen=True)
class GenerationTreeAccuracy(TreeAccuracy):
    """Simple tree accuracy with moves within treelets: 1 - (M + I' + D' + S) / R."""

    name: ClassVar[str] = "generation_tree_accuracy"
    counts_moves: ClassVar[bool] = True


@dataclass(frozen=True)
class _Regression(TreeAccuracy):
    """A mean over segments: a row is [value, STA, S, 1]."""

    fitted: ClassVar[tuple[float, float, float, float]]
    """(a STA - b S - c) / d: the numbers a, b, c and d."""

    def columns(self) -> tuple[str, ...]:
        return ("value", "simple_tree_accuracy", "substitutions", "segments")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        edits, lengths = self._edit_counts_and_lengths(pairs)
        sta = 1 - error_rate(edits[:, :3].sum(axis=1), lengths)
        s = edits[:, 0].astype(float)
        slope, penalty, offset, scale = self.fitted
        value = (slope * sta - penalty * s - offset) / scale
        best = pairs.best(value)
        return np.column_stack([value[best], sta[best], s[best], np.ones(len(best))])

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        means = (rows[:, :3] / np.maximum(rows[:, 3:], 1)).T
        return dict(zip(self.columns(), means, strict=False))


@dataclass(frozen=True)
class UnderstandabilityAccuracy(_Regression):
    """Understandability by the published regression: the mean over segments."""

    name: ClassVar[str] = "understandability_accuracy"
    fitted: ClassVar[tuple[float, float, float, float]] = (1.3147, 0.1039, 0.4458, 0.8689)


@dataclass(frozen=True)
class QualityAccuracy(_Regression):
    """Quality of writing by the published regression: the mean over segments."""

    name: ClassVar[str] = "quality_accuracy"
    fitted: ClassVar[tuple[float, float, float, float]] = (1.0192, 0.0869, 0.3553, 0.6639)


@dataclass(frozen=True)
class Treelet:
    """A head and its daughters that occur in the candidate, in both orders."""

    head: int
    """Index of the head in the reference, even if the candidate lacks it."""
    nodes: tuple[int, ...]
    """Indices in the reference of the treelet's words that the candidate has."""
    places: tuple[int, ...]
    """Indices of these words in the candidate."""
    alignment: Alignment
    """From the order of the reference to that of the candidate."""
    counts_moves: bool
    """True if a word deleted here and inserted there is one error, a move."""

    @property
    def moves(self) -> int:
        """Number of moved words; 0 if moves are not counted."""
        return len(self.alignment.moves) if self.counts_moves else 0

    @property
    def substitutions(self) -> int:
        """Number of substituted words."""
        return self.alignment.count("substitute")

    @property
    def insertions(self) -> int:
        """Number of inserted words that are not moves."""
        return self.alignment.count("insert") - self.moves

    @property
    def deletions(self) -> int:
        """Number of deleted words that are not moves."""
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
    """The best-scoring reference."""
    reference: int
    """Its index among the references."""
    candidate: tuple[str, ...]
    places: tuple[int | None, ...]
    """For each word of the tree its index in the candidate; None if it is missing."""
    treelets: tuple[Treelet, ...]
    """All treelets, in the order of their heads."""

    @cached_property
    def lacking(self) -> tuple[int, ...]:
        """The words of the tree that the candidate lacks: one deletion each."""
        return tuple(node for node, place in enumerate(self.places) if place is None)

    @cached_property
    def besides(self) -> tuple[int, ...]:
        """The words of the candidate that are not in the tree: one insertion each."""
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
        """Number of errors of all treelets, and of missing and extra words."""
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float:
        """1 - errors / R: the value, unless the metric is a regression on it."""
        return 1 - self.share(self.errors)

    def share(self, errors: int) -> float:
        """Return the loss of accuracy by some errors: errors / R."""
        return errors / len(self.tree)


def _treelets(
    tree: Tree, words: Sequence[int], places: Sequence[int], counts_moves: bool
) -> Iterator[Treelet]:
    """Yield every head with its daughters; equal words have equal ids in `words`."""
    members: dict[int, list[int]] = {}
    for node, head in enumerate(tree.heads):
        if head:
            members.setdefault(head - 1, [head - 1]).append(node)
    for head in sorted(members):
        nodes = sorted(node for node in members[head] if places[node] >= 0)
        order = sorted(nodes, key=lambda node: places[node])
        steps = edit_operations([words[n] for n in order], [words[n] for n in nodes])
        candidate_words, reference_words = (
            tuple(tree.words[n] for n in side) for side in (order, nodes)
        )
        alignment = Alignment(reference_words, candidate_words, steps)
        positions = tuple(places[node] for node in nodes)
        yield Treelet(head, tuple(nodes), positions, alignment, counts_moves)
