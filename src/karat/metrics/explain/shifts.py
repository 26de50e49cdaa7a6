"""TER's shifts as data: which blocks of the candidate moved where, and what was edited then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from karat import _kernel
from karat.errors import InputError
from karat.metrics.explain.edits import Alignment, operations, spelled
from karat.metrics.ter import MOST_TOKENS
from karat.text.segments import Strings
from karat.text.tokens import Lexicon, Passage

if TYPE_CHECKING:
    from karat.metrics.ter import TER


class Shift(NamedTuple):
    """A block of words, taken out at `start` and put back before word `target` of the rest."""

    start: int
    length: int
    target: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class ShiftedAlignment:
    """The candidate, its shifts in order, and the alignment of the shifted candidate."""

    candidate: tuple[str, ...]
    shifts: tuple[Shift, ...]
    """Each in the text that the ones before it have made."""
    alignment: Alignment
    """Its `candidate` is the shifted text."""

    @property
    def edits(self) -> int:
        """Shifts, substitutions, insertions and deletions."""
        return len(self.shifts) + sum(o.kind != "keep" for o in self.alignment.operations)


def explain(metric: TER, candidate: str, reference: str) -> ShiftedAlignment:
    """The shifts and edits of one candidate with one reference."""
    lexicon = Lexicon()
    texts = Strings([candidate], "candidate"), Strings([reference], "reference")
    mine, theirs = metric.tokens(*(Passage(text.views(0, 1), lexicon) for text in texts))
    longest = max(len(mine.ids), len(theirs.ids))
    if longest > MOST_TOKENS:
        raise InputError(f"{longest:,} tokens are too many for ter (at most {MOST_TOKENS:,})")
    vocab = lexicon.vocab(metric.tokenizer, metric.case)
    shifts, ids, rows = _kernel.ter_script(mine.ids, theirs.ids, None)
    words, given, shifted = (spelled(row, vocab) for row in (mine.ids, theirs.ids, ids))
    after = Alignment(given, shifted, operations(rows.tolist(), given, shifted))
    return ShiftedAlignment(words, tuple(_with_words(shifts.tolist(), words)), after)


def _with_words(shifts: list[list[int]], words: Sequence[str]) -> Iterator[Shift]:
    """The shifts with what they moved, done one after the other."""
    now = list(words)
    for start, length, target in shifts:
        block = now[start : start + length]
        yield Shift(start, length, target, tuple(block))
        del now[start : start + length]
        now[target:target] = block
