"""Treebanks: CoNLL-U with words, lemmas, tags and relations, all sentences in flat columns."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.text.conllu import read_columns


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
    offsets: NDArray[np.int64]
    ids: list[str]
    documents: NDArray[np.int32]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Treebank {self.name}: {len(self):,} sentences, {len(self.words):,} words>"

    def place(self, sentence: int) -> str:
        """Where a sentence stands, for messages."""
        known = f", sentence {self.ids[sentence]}" if self.ids[sentence] else ""
        return f"{self.name}, line {self.lines[sentence]:,}{known}"


def read_treebank(path: str | os.PathLike[str]) -> Treebank:
    """The sentences of a CoNLL-U file (`.gz` too), checked: one root, no cycle, words numbered."""
    found = read_columns(path)
    return Treebank(
        str(path),
        found.words.strings(),
        found.lemmas.strings(),
        found.upos.strings(),
        found.xpos.strings(),
        found.relations.strings(),
        found.heads,
        found.offsets,
        found.ids.strings(),
        found.documents,
        found.lines,
    )
