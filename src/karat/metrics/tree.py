"""Tree accuracies (Bangalore, Rambow and Whittaker 2000), and what they say about readers.

The references are dependency trees. For every treelet (a head and all its daughters) the words in
the order of the reference are aligned with the same words in the order of the candidate, as in the
string accuracies; one level up, the head stands for the treelet. Errors are summed over treelets
and divided by R, the words of the tree. Words that the candidate lacks are deletions, words that it
has besides are insertions; each counts once. docs/explanation/accuracy.md says
how words are tied to nodes.

    simple tree accuracy     = 1 - (I + D + S) / R
    generation tree accuracy = 1 - (M + I' + D' + S) / R

From the judgements of readers the authors fitted, with STA the simple tree accuracy and S the
substitutions of a sentence (a corpus has the mean of its sentences):

    understandability accuracy = (1.3147 STA - 0.1039 S - 0.4458) / 0.8689
    quality accuracy           = (1.0192 STA - 0.0869 S - 0.3553) / 0.6639
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.metrics.accuracy import Accuracy, error_rate
from karat.metrics.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.metrics.explain.treelets import TreeExplanation
    from karat.text.trees import Tree

MOST_CELLS = 10**9
"""The largest product of a candidate's tokens and a tree's words."""


@dataclass(frozen=True)
class TreeAccuracy(Accuracy):
    """The candidate against the treelets of the reference's tree."""

    def _edits(self, pairs: Pairs) -> tuple[Ints, Ints]:
        trees = pairs.trees
        if trees is None:
            raise InputError(
                f"{self.name} needs dependency trees as references: a .conllu file, Tree objects, "
                f"or karat.parse_references(texts); a set gets them by karat data convert --parse"
            )
        lengths = np.diff(trees.offsets)

        def count() -> Ints:
            mine = pairs.candidates.tokens(self.recipe)
            cells = pairs.spread(mine.lengths) * lengths
            pairs.refuse(cells, MOST_CELLS, "pairs of tokens are too many for a tree")
            words = pairs.candidates.words(trees.words, self.recipe)
            return _kernel.tree_edits(
                *mine, words, trees.heads, trees.offsets, pairs.starts, pairs.check
            )

        return pairs.once(("treelets", self.recipe), count), lengths

    def explain(self, candidate: str, references: Tree | Sequence[Tree]) -> TreeExplanation:
        """The errors treelet by treelet, and the words lacking and besides, by the best tree."""
        from karat.metrics.explain.treelets import explain

        return explain(self, candidate, references)


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
        edits, lengths = self._edits(pairs)
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
