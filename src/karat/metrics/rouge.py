"""ROUGE (Lin 2004) as rouge-score computes it: a mean of segment scores.

ROUGE-N counts common n-grams, ROUGE-L the longest common subsequence, ROUGE-Lsum the union of the
longest common subsequences of sentences. For each segment

    P = hits / candidate's units     R = hits / reference's units
    F = P R / (alpha R + (1 - alpha) P)

Several references: the one with the best F at alpha = 0.5 counts. Nothing in common, an empty
candidate and an empty reference all give 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import Field, dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Floats, Ints, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.tokens import CASES, TOKENIZERS, Recipe, stemmers

_ALPHA_HELP = "weight of precision: 0 is recall, 1 is precision"
_CASE_HELP = "case (the tokeniser rouge always lower-cases)"


def f_measure(p: Floats, r: Floats, alpha: float) -> Floats:
    """Return P R / (alpha R + (1 - alpha) P), 0 where nothing matches."""
    below = alpha * r + (1 - alpha) * p
    return np.divide(p * r, below, out=np.zeros(len(p)), where=below > 0)


@dataclass(frozen=True)
class Rouge(Metric):
    """The base class of the family: a row is [value, P, R, 1]."""

    alpha: float = setting(0.5, _ALPHA_HELP, low=0, high=1)
    tok: str = setting("rouge", "tokeniser", choices=TOKENIZERS)
    case: str = setting("lower", _CASE_HELP, choices=CASES)
    stem: str = setting("none", "stemmer; rouge-score's is porter-nltk", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file")

    aliases: ClassVar[Any] = MappingProxyType({"tokenizer": "tok", "stemmer": "stem"})

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens; the tokeniser `rouge` lowers the case itself."""
        case = "mixed" if self.tok == "rouge" else self.case
        return Recipe(self.tok, case, self.stem, self.stop)

    @abstractmethod
    def hits(self, pairs: Pairs) -> tuple[Ints, Ints, Ints]:
        """Return hits, units of the candidate and units of the reference for each pair."""

    def columns(self) -> tuple[str, ...]:
        return ("value", "precision", "recall", "segments")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        hits, candidate_units, reference_units = self.hits(pairs)
        p, r = hits / np.maximum(candidate_units, 1), hits / np.maximum(reference_units, 1)
        best = pairs.best(f_measure(p, r, 0.5))
        p, r = p[best], r[best]
        value = {0.0: r, 1.0: p}.get(self.alpha, f_measure(p, r, self.alpha))
        return np.column_stack([value, p, r, np.ones(len(p))])

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        if row[1] or row[2] or self.tok != "rouge":
            return ()
        return (
            f"no {self._unit} matched; the tokeniser rouge knows a-z and 0-9 only, so for other "
            "scripts use tok=intl, tok=zh or tok=char",
        )

    @property
    def _unit(self) -> str:
        """The unit that is matched."""
        return "word"

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        means = (rows[:, :3] / np.maximum(rows[:, 3:], 1)).T
        return dict(zip(self.columns(), means, strict=False))


@dataclass(frozen=True)
class RougeN(Rouge):
    """Overlap of n-grams of one order: precision, recall and F, the mean over segments."""

    name: ClassVar[str] = "rouge1"
    title: ClassVar[str] = "rouge1, rouge2, …"

    n: int = setting(1, "the order; part of the name: rouge1, rouge2, …", low=1, high=20)

    def _head(self) -> str:
        return f"rouge{self.n}"

    @property
    def _unit(self) -> str:
        return "word" if self.n == 1 else f"n-gram of {self.n} words"

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        return [f for f in fields(cls) if f.name != "n"]

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        yield self.recipe, self.n

    def hits(self, pairs: Pairs) -> tuple[Ints, Ints, Ints]:
        candidate_lengths = pairs.spread(pairs.candidates.tokens(self.recipe).lengths)
        reference_lengths = pairs.references.tokens(self.recipe).lengths
        hits = pairs.matches(self.recipe, self.n).per_pair[:, self.n - 1].astype(np.int64)
        candidate_units = np.maximum(candidate_lengths - self.n + 1, 0)
        return hits, candidate_units, np.maximum(reference_lengths - self.n + 1, 0)


@dataclass(frozen=True)
class RougeL(Rouge):
    """Longest common subsequence of the whole texts."""

    name: ClassVar[str] = "rougeL"

    def hits(self, pairs: Pairs) -> tuple[Ints, Ints, Ints]:
        candidate_lengths = pairs.spread(pairs.candidates.tokens(self.recipe).lengths)
        reference_lengths = pairs.references.tokens(self.recipe).lengths
        return pairs.lcs(self.recipe), candidate_lengths, reference_lengths


_SEPARATOR_TEXT = {"newline": "\n", "n-tag": "<n>", "q-tag": "<q>"}
_NEWLINE = {"newline": "a line feed inside the segment (from Python; rouge-score's way)"}
_SEPARATORS = _SEPARATOR_TEXT | _NEWLINE


@dataclass(frozen=True)
class RougeLsum(Rouge):
    """Summary-level longest common subsequence: union over sentences, each token used once."""

    name: ClassVar[str] = "rougeLsum"

    sep: str = setting("newline", "what stands between sentences", choices=_SEPARATORS)

    def hits(self, pairs: Pairs) -> tuple[Ints, Ints, Ints]:
        return pairs.summary_lcs(self.recipe, _SEPARATOR_TEXT[self.sep])
