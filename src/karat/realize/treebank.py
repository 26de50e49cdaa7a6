"""Treebanks: CoNLL-U with words, lemmas, tags and relations, all sentences in flat columns."""

from __future__ import annotations

import mmap
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.text.conllu import columns_in, map_conllu


@dataclass(frozen=True, eq=False)
class Treebank:
    """Sentence i has the words `offsets[i]` to `offsets[i + 1]` of every column.

    `heads` count from 1 within the sentence, 0 is the root's; `documents[i]` tells which document
    sentence i belongs to; `lines[i]` is where it begins in the file.
    """

    name: str
    words: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    relations: list[str]
    heads: NDArray[np.int32]
    offsets: Ints
    ids: list[str]
    documents: NDArray[np.int32]
    lines: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Treebank {self.name}: {len(self):,} sentences, {len(self.words):,} words>"

    def place(self, sentence: int) -> str:
        """Return the place of a sentence, for messages."""
        known = f", sentence {self.ids[sentence]}" if self.ids[sentence] else ""
        return f"{self.name}, line {self.lines[sentence]:,}{known}"


def read_treebank(path: str | os.PathLike[str]) -> Treebank:
    """Read sentences from a CoNLL-U file, checked: one root, no cycle, words numbered.

    The format of the Surface Realization tasks is read, too: its words are scrambled, and FEATS or
    MISC has the original place (`original_id=7`).

    Args:
        path: the file; `.gz` is fine.
    """
    buffer, name = map_conllu(path)
    columns = columns_in(buffer, name)
    lists: list[Any] = [c.strings() if isinstance(c, _kernel.Views) else c for c in columns]
    found = Treebank(name, *lists)
    known = _original_ids(buffer, name, len(found.words))
    return found if known is None else _in_order(found, known)


_WORD = re.compile(rb"^\d+\t[^\n]*", re.MULTILINE)
_ORIGINAL = re.compile(rb"(?:^|[\t|])original_id=(\d{1,9})(?=[\t|\r]|$)")


def _original_ids(text: mmap.mmap, name: str, n: int) -> NDArray[np.int32] | None:
    """Return the original place of each word, if the file gives it for every word."""
    if text.find(b"original_id=") < 0:
        return None
    found = [_ORIGINAL.search(match[0]) for match in _WORD.finditer(text)]
    if len(found) != n or None in found:
        raise InputError(f"{name}: original_id is given for some words, expected it for all")
    return np.array([int(match[1]) for match in found if match], dtype=np.int32)


def _in_order(bank: Treebank, known: NDArray[np.int32]) -> Treebank:
    """Return the sentences with their words sorted by original number."""
    sentences = np.repeat(np.arange(len(bank)), np.diff(bank.offsets))
    order = np.lexsort((known, sentences))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    starts = bank.offsets[sentences]
    heads = place[starts + np.maximum(bank.heads - 1, 0)] - starts + 1
    columns = ("words", "lemmas", "upos", "xpos", "relations")
    moved: dict[str, Any] = {c: [getattr(bank, c)[j] for j in order.tolist()] for c in columns}
    return replace(bank, heads=np.where(bank.heads > 0, heads, 0)[order].astype(np.int32), **moved)
