"""Error rates: word error rate, and translation edit rate as sacreBLEU computes it.

    WER = 100 (S + I + D) / R
    TER = 100 (S + I + D + shifts) / R

Lower is better; both may exceed 100. A corpus score is that of the summed counts. An empty
reference gives 0 with an empty candidate, else 100. Several references: WER uses the one with
the lowest rate; TER the fewest edits to any, over the mean reference length. TER's shifts are
searched for greedily, within limits that are part of the definition (csrc/metrics/ter.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.metrics.accuracy import (
    Alignment,
    TokenMetric,
    best_alignment,
    edit_counts,
    error_rate,
    operations,
    spell_tokens,
)
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.references import one_or_several
from karat.text.tokens import CASES, Lexicon, Passage, Ragged, Recipe

MAX_TER_TOKENS = 200_000
"""The longest segment that TER accepts: about 100 MB and a minute."""


@dataclass(frozen=True)
class WER(TokenMetric):
    """Word error rate: substitutions, insertions and deletions by reference token."""

    name: ClassVar[str] = "wer"
    sign: ClassVar[int] = -1
    full_scale: ClassVar[float] = 100.0

    def columns(self) -> tuple[str, ...]:
        return ("substitutions", "insertions", "deletions", "tokens")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        edits = edit_counts(pairs, self.recipe, "unit")[:, :3]
        rows = np.column_stack([edits, pairs.references.tokens(self.recipe).lengths])
        return rows if pairs.single else rows[pairs.best(-self.measure(rows)["value"])]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        value = 100 * error_rate(rows[:, :3].sum(axis=1), rows[:, 3])
        names = self.columns()
        return {"value": value} | {name: rows[:, k].astype(float) for k, name in enumerate(names)}

    def explain(self, candidate: str, references: str | Sequence[str]) -> Alignment:
        """Return the words kept, substituted, inserted and deleted, by the best reference."""
        return best_alignment(self, candidate, references, "unit", self.recipe)


@dataclass(frozen=True)
class TER(Metric):
    """Translation edit rate: word edits and shifts of blocks, by reference token."""

    name: ClassVar[str] = "ter"
    sign: ClassVar[int] = -1
    full_scale: ClassVar[float] = 100.0
    bounded: ClassVar[bool] = False
    aliases: ClassVar[Any] = MappingProxyType(
        {"normalized": "norm", "no_punct": "nopunct", "asian_support": "asian"}
    )

    norm: bool = setting(False, "resolve entities and set punctuation apart")
    nopunct: bool = setting(False, "remove punctuation")
    asian: bool = setting(False, "norm and nopunct for Asian characters and punctuation as well")
    case: str = setting("lower", "whether capitals count (mixed) or not (lower)", choices=CASES)

    def columns(self) -> tuple[str, ...]:
        return ("edits", "tokens", "shifts")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        candidates, references = self.tokens(pairs.candidates, pairs.references)
        for lengths in (pairs.spread(candidates.lengths), references.lengths):
            pairs.check_sizes(lengths, MAX_TER_TOKENS, "tokens are too many for ter")
        edits = _kernel.ter_edits(*candidates, *references, pairs.starts, pairs.check)
        best = pairs.best(-edits[:, 0].astype(float))
        mean_length = pairs.sum(references.lengths) / np.diff(pairs.starts)
        return np.column_stack([edits[best, 0], mean_length, edits[best, 1]])

    @property
    def tokenizer(self) -> str:
        """The tokeniser; without rules, Tercom's only splits at white space."""
        return "tercom" if self.norm or self.nopunct else "none"

    def tokens(self, candidates: Passage, references: Passage) -> tuple[Ragged, Ragged]:
        """Return the tokens of both texts by Tercom's rules."""
        if self.tokenizer == "none":
            recipe = Recipe("none", self.case)
            return candidates.tokens(recipe), references.tokens(recipe)
        options = self.norm, self.nopunct, self.asian
        # sacreBLEU tokenises references twice, which makes a difference for some texts (1..5).
        return (
            candidates.tercom(*options, self.case, twice=False),
            references.tercom(*options, self.case, twice=True),
        )

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        edits, tokens, shifts = (rows[:, k].astype(float) for k in range(3))
        value = 100 * error_rate(edits, tokens)
        return {"value": value, "edits": edits, "shifts": shifts, "tokens": tokens}

    def explain(self, candidate: str, references: str | Sequence[str]) -> ShiftedAlignment:
        """Return the shifts and the edits after them, for the reference with the fewest edits."""
        texts = one_or_several(references)
        explanations = [_explain_shifts(self, candidate, text) for text in texts]
        return min(explanations, key=lambda explanation: explanation.edits)


class Shift(NamedTuple):
    """A block of words, removed at `start` and inserted before word `target` of the rest."""

    start: int
    length: int
    target: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class ShiftedAlignment:
    """The candidate, its shifts in order, and the alignment of the shifted candidate."""

    candidate: tuple[str, ...]
    shifts: tuple[Shift, ...]
    """Positions refer to the text after the preceding shifts."""
    alignment: Alignment
    """Its `candidate` is the shifted text."""

    @property
    def edits(self) -> int:
        """Shifts, substitutions, insertions and deletions."""
        return len(self.shifts) + sum(o.kind != "keep" for o in self.alignment.operations)


def _explain_shifts(metric: TER, candidate: str, reference: str) -> ShiftedAlignment:
    """Return the shifts and edits of one candidate with one reference."""
    lexicon = Lexicon()
    candidate_ids, reference_ids = (
        tokens.ids
        for tokens in metric.tokens(
            lexicon.passage([candidate], "candidate"), lexicon.passage([reference], "reference")
        )
    )
    longest = max(len(candidate_ids), len(reference_ids))
    if longest > MAX_TER_TOKENS:
        raise InputError(f"{longest:,} tokens are too many for ter (at most {MAX_TER_TOKENS:,})")
    vocab = lexicon.vocab(metric.tokenizer, metric.case)
    moves, shifted_ids, rows = _kernel.ter_script(candidate_ids, reference_ids, None)
    words, reference_words, shifted = (
        spell_tokens(ids, vocab) for ids in (candidate_ids, reference_ids, shifted_ids)
    )
    shifts, current = [], list(words)  # the words after the shifts so far
    for start, length, target in moves.tolist():
        block = current[start : start + length]
        shifts.append(Shift(start, length, target, tuple(block)))
        del current[start : start + length]
        current[target:target] = block
    after = Alignment(reference_words, shifted, operations(rows.tolist(), reference_words, shifted))
    return ShiftedAlignment(words, tuple(shifts), after)
