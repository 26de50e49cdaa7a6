"""String accuracies (Bangalore, Rambow and Whittaker 2000).

The candidate is aligned with the reference (R tokens) at a cost of 3 for an insertion or deletion
and 4 for a substitution; see `karat.metrics.explain.edits` for ties. A word deleted in one place
and inserted in another is one move, M; I' and D' are what remains of I and D.

    simple accuracy     = 1 - (I + D + S) / R
    generation accuracy = 1 - (M + I' + D' + S) / R

Both may be negative. A corpus score is that of the summed counts. An empty reference scores 1 with
an empty candidate, else 0. Several references: the one with the best score, the first of equals.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Floats, Ints, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.explain.edits import Alignment, best_alignment, edit_counts
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.tokens import CASES, TOKENIZERS, Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence


def error_rate(errors: NDArray[Any], length: NDArray[Any]) -> Floats:
    """errors / length; for a length of 0: 0 without errors, else 1."""
    out = np.minimum(errors, 1).astype(np.float64)
    found: Floats = np.divide(errors, length, out=out, where=length > 0)
    return found


@dataclass(frozen=True)
class EditMetric(Metric):
    """The base of accuracies and word error rate: the tokens, and scores without a bound."""

    bounded: ClassVar[bool] = False
    aliases: ClassVar[Any] = MappingProxyType({"tokenizer": "tok"})

    tok: str = setting("none", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens."""
        return Recipe(self.tok, self.case)


@dataclass(frozen=True)
class Accuracy(EditMetric):
    """The base of all accuracies: a row is [S, I, D, M, R]."""

    counts_moves: ClassVar[bool] = False

    @abstractmethod
    def _edits(self, pairs: Pairs) -> tuple[Ints, Ints]:
        """For each pair S, I, D and M in columns, and R."""

    def columns(self) -> tuple[str, ...]:
        return ("substitutions", "insertions", "deletions", "moves", "tokens")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        rows = np.column_stack(self._edits(pairs))
        return rows if pairs.single else rows[pairs.best(self.measure(rows)["value"])]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        s, i, d, m, tokens = (rows[:, k].astype(float) for k in range(5))
        unchanged = tokens - s - d
        moves = m if self.counts_moves else 0 * m
        i, d = i - moves, d - moves
        parts = {
            "value": 1 - error_rate(s + i + d + moves, tokens),
            "unchanged": unchanged,
            "substitutions": s,
            "insertions": i,
            "deletions": d,
        }
        if self.counts_moves:
            parts["moves"] = moves
        return parts | {"tokens": tokens}


@dataclass(frozen=True)
class _StringAccuracy(Accuracy):
    """The candidate against the reference as strings."""

    def _edits(self, pairs: Pairs) -> tuple[Ints, Ints]:
        lengths = pairs.references.tokens(self.recipe).lengths
        return edit_counts(pairs, self.recipe, "accuracy"), lengths

    def explain(self, candidate: str, references: str | Sequence[str]) -> Alignment:
        """Return the words kept, substituted, inserted, deleted and moved by the best reference."""
        return best_alignment(self, candidate, references, "accuracy", self.recipe)


@dataclass(frozen=True)
class SimpleAccuracy(_StringAccuracy):
    """Insertions, deletions and substitutions by reference token: 1 - (I + D + S) / R."""

    name: ClassVar[str] = "simple_accuracy"


@dataclass(frozen=True)
class GenerationAccuracy(_StringAccuracy):
    """Simple accuracy in which a deleted and inserted word is a move: 1 - (M + I' + D' + S) / R."""

    name: ClassVar[str] = "generation_accuracy"
    counts_moves: ClassVar[bool] = True
