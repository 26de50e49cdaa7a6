"""Links: a word alignment of two texts, sentence by sentence.

As text they are `0-0 1-2`, one line a sentence, as Pharaoh, Moses and most aligners have it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.paraphrase.align.parallel_text import each_line
from karat.progress import Progress, silent
from karat.text.recipe import check_choice
from karat.text.segments import Lines
from karat.text.tokens import Tokens

RULES = {
    "intersection": "links that both have",
    "union": "links that either has",
    "grow-diag": "from the intersection to neighbours that one has and a word without links needs",
    "grow-diag-final-and": "the same, then links of either whose words both have none",
}
"""The rules by which two alignments become one, and what they keep."""

_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, eq=False)
class Links:
    """Sentence s links word `source[k]` to word `pivot[k]` for k from `offsets[s]` to the next.

    Words count from 0 in their sentence.
    """

    source: NDArray[np.int32]
    pivot: NDArray[np.int32]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> list[tuple[int, int]]:
        if not 0 <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of {len(self)}")
        mine = slice(self.offsets[sentence], self.offsets[sentence + 1])
        return list(zip(self.source[mine].tolist(), self.pivot[mine].tolist(), strict=True))

    def __repr__(self) -> str:
        return f"<Links: {len(self.source):,} in {len(self):,} sentences>"

    @classmethod
    def of(cls, rows: Iterable[Sequence[tuple[int, int]]]) -> Links:
        """Return the links in lists of pairs, one list a sentence."""
        held = list(rows)
        flat = np.array([pair for row in held for pair in row], dtype=np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, held)], dtype=np.int64)
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), offsets)


def check_sentences(source: Tokens, pivot: Tokens, links: Links | None = None) -> None:
    """Refuse texts of unequal length, and links that do not belong to them."""
    if len(source) != len(pivot):
        raise InputError(
            f"the source text has {len(source):,} sentences and the pivot text {len(pivot):,}: "
            "expected two texts that are aligned line by line"
        )
    if links is None:
        return
    if len(links) != len(source):
        raise InputError(
            f"the texts have {len(source):,} sentences and the links are of {len(links):,}: "
            "expected one line of links for each sentence pair"
        )
    for tokens, ends, side in ((source, links.source, "source"), (pivot, links.pivot, "pivot")):
        lengths = np.repeat(np.diff(tokens.offsets), np.diff(links.offsets))
        outside = np.flatnonzero((ends < 0) | (ends >= lengths))
        if len(outside):
            first = int(outside[0])
            sentence = int(np.searchsorted(links.offsets, first, side="right"))
            raise InputError(
                f"sentence {sentence:,}: a link names {side} word {ends[first]}, and there are "
                f"{lengths[first]}, counted from 0: were the links made from another tokenisation?"
            )


def symmetrize(source: Tokens, pivot: Tokens, first: Links, second: Links, rule: str) -> Links:
    """Join two alignments of the same texts; both have their links as (source, pivot).

    After Och & Ney (2003) and Koehn, Och & Marcu (2003).
    """
    check_choice("rule", rule, RULES)
    check_sentences(source, pivot, first)
    check_sentences(source, pivot, second)
    sizes = np.diff(source.offsets), np.diff(pivot.offsets)
    given: list[Any] = [*sizes, *vars(first).values(), *vars(second).values(), rule]
    return Links(*_kernel.symmetrize(*given))


def read_pharaoh(path: str | os.PathLike[str], progress: Progress = silent) -> Links:
    """Read the links of a file (`.gz` too), words counted from 0; a sentence may have none."""
    lines = Lines(Path(path), progress)
    return Links.of(
        [_link(word, f"{lines.name}, line {number}") for word in line.split()]
        for number, line in enumerate(each_line(lines, progress), 1)
    )


def _link(word: str, place: str) -> tuple[int, int]:
    match = _LINK.fullmatch(word)
    if match is None:
        raise InputError(
            f"{place}: found {quoted(word)}, expected links as in 0-0 1-2 (source-pivot, words "
            "counted from 0)"
        )
    return int(match[1]), int(match[2])


def pharaoh_lines(links: Links) -> Iterator[str]:
    """Yield the lines of a file of links."""
    for sentence in range(len(links)):
        yield " ".join(f"{i}-{j}" for i, j in links[sentence]) + "\n"
