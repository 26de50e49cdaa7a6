"""Links: a word alignment of two texts, sentence by sentence.

As text they are `0-0 1-2`, one line a sentence, as Pharaoh, Moses and most aligners have it.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.paraphrase.align.parallel_text import iterate_lines
from karat.progress import Progress, silent
from karat.storage.arrays import ArrayFile
from karat.text.segments import Lines
from karat.text.tokens import Tokens, check_choice

RULES = {
    "intersection": "links that both have",
    "union": "links that either has",
    "grow-diag": "from the intersection to neighbours that one has and a word without links needs",
    "grow-diag-final-and": "the same, then links of either whose words both have none",
}
"""The rules by which two alignments become one, and what they keep."""

_PURPOSE = "links of words are held there"
_LINES = 1 << 12  # that are held at a time
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


class AnyLinks(ABC):
    """Links of a text, sentence by sentence, in memory or in files."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of links."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def part(self, start: int, stop: int) -> Links:
        """Return the links of some sentences."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns of `Links`; those in files are mapped."""

    def __getitem__(self, sentence: int) -> list[tuple[int, int]]:
        if not 0 <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of {len(self)}")
        links = self.part(sentence, sentence + 1)
        return list(zip(links.source.tolist(), links.pivot.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Links(AnyLinks):
    """Sentence s links word `source[k]` to word `pivot[k]` for k from `offsets[s]` to the next.

    Words count from 0 in their sentence.
    """

    source: NDArray[np.int32]
    pivot: NDArray[np.int32]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        return len(self.source)

    def part(self, start: int, stop: int) -> Links:
        offsets = self.offsets[start : stop + 1]
        part_links = slice(offsets[0], offsets[-1])
        return Links(self.source[part_links], self.pivot[part_links], offsets - offsets[0])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return vars(self)

    def __repr__(self) -> str:
        return f"<Links: {len(self.source):,} in {len(self):,} sentences>"

    @classmethod
    def of(cls, rows: Iterable[Sequence[tuple[int, int]]]) -> Links:
        """Return the links in lists of pairs, one list a sentence."""
        sentences = list(rows)
        flat = np.array([pair for row in sentences for pair in row], np.int32).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), offsets)


class StoredLinks(AnyLinks):
    """Links that grow sentence by sentence, in temporary files or in memory."""

    def __init__(self, in_memory: bool = False) -> None:
        file = partial(ArrayFile, purpose=_PURPOSE, in_memory=in_memory)
        self._source, self._pivot, self._offsets = file("int32"), file("int32"), file("int64")
        self._offsets.append(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def size(self) -> int:
        return len(self._source)

    def arrays(self) -> dict[str, NDArray[Any]]:
        files = {"source": self._source, "pivot": self._pivot, "offsets": self._offsets}
        return {name: file.mapped() for name, file in files.items()}

    def append(self, source: NDArray[np.int32], pivot: NDArray[np.int32], ends: Ints) -> None:
        """Add the links of the next sentences; `ends` are the ends of each, among these."""
        self._offsets.append(ends + len(self._source))
        self._source.append(source)
        self._pivot.append(pivot)

    def part(self, start: int, stop: int) -> Links:
        offsets = self._offsets.read(start, stop + 1)
        bounds = int(offsets[0]), int(offsets[-1])
        return Links(self._source.read(*bounds), self._pivot.read(*bounds), offsets - offsets[0])


def check_lengths(source: Sized, pivot: Sized, links: Sized | None = None) -> None:
    """Refuse texts and links of unequal length."""
    if len(source) != len(pivot):
        raise InputError(
            f"the source text has {len(source):,} sentences and the pivot text {len(pivot):,}: "
            "expected two texts that are aligned line by line"
        )
    if links is not None and len(links) != len(source):
        raise InputError(
            f"the texts have {len(source):,} sentences and the links are of {len(links):,}: "
            "expected one line of links for each sentence pair"
        )


def check_links(source: Tokens, pivot: Tokens, links: Links, before: int = 0) -> None:
    """Refuse links of words that are not there; `before` sentences stand before these."""
    for tokens, ends, side in ((source, links.source, "source"), (pivot, links.pivot, "pivot")):
        lengths = np.repeat(np.diff(tokens.offsets), np.diff(links.offsets))
        outside = np.flatnonzero((ends < 0) | (ends >= lengths))
        if len(outside):
            first = int(outside[0])
            sentence = before + int(np.searchsorted(links.offsets, first, side="right"))
            raise InputError(
                f"sentence {sentence:,}: a link names {side} word {ends[first]}, and there are "
                f"{lengths[first]}, counted from 0: were the links made from another tokenisation?"
            )


def symmetrize(source: Tokens, pivot: Tokens, first: Links, second: Links, rule: str) -> Links:
    """Join two alignments of the same texts; both have their links as (source, pivot).

    After Och & Ney (2003) and Koehn, Och & Marcu (2003).
    """
    check_choice("rule", rule, RULES)
    for links in (first, second):
        check_lengths(source, pivot, links)
        check_links(source, pivot, links)
    sizes = np.diff(source.offsets), np.diff(pivot.offsets)
    arguments: list[Any] = [*sizes, *vars(first).values(), *vars(second).values(), rule]
    return Links(*_kernel.symmetrize(*arguments))


def read_pharaoh(path: str | os.PathLike[str], progress: Progress = silent) -> Links:
    """Read the links of a file (`.gz` too), words counted from 0; a sentence may have none."""
    lines = Lines(Path(path), progress)

    def parse(word: str, line_number: int) -> tuple[int, int]:
        if (match := _LINK.fullmatch(word)) is None:
            raise InputError(
                f"{lines.name}, line {line_number}: found {quoted(word)}, expected links as in 0-0 "
                "1-2 (source-pivot, words counted from 0)"
            )
        return int(match[1]), int(match[2])

    return Links.of(
        [parse(word, number) for word in line.split()]
        for number, line in enumerate(iterate_lines(lines, progress), 1)
    )


def pharaoh_lines(links: AnyLinks) -> Iterator[str]:
    """Yield the lines of a file of links."""
    for start in range(0, len(links), _LINES):
        part = links.part(start, min(start + _LINES, len(links)))
        for sentence in range(len(part)):
            yield " ".join(f"{i}-{j}" for i, j in part[sentence]) + "\n"
