"""Small phrase tables: the paper's example, and any that a dictionary of counts describes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from karat.paraphrase.table.phrase_table import PhraseCounts, PhraseTable
from karat.text.tokens import Vocab

PLAIN = {"tok": "none", "case": "mixed", "stem": "none"}
"""White space alone cuts words."""

Counts = Mapping[str, Mapping[str, int]]

PAPER: Counts = {
    "Morning , sir .": {"Bonjour , monsieur .": 10},
    "Hello ,": {"Bonjour ,": 9, "Salut ,": 1},
    ".": {".": 50},
}
"""The example of section 4.3."""


def ragged(texts: list[str], vocab: Vocab) -> tuple[Any, Any]:
    words = [text.split() for text in texts]
    ids = vocab.add([word for phrase in words for word in phrase])
    return ids, np.array([0, *accumulate(map(len, words))], dtype=np.int64)


def phrase_counts(counts: Counts) -> tuple[PhraseCounts, Vocab, Vocab]:
    """Counted pairs as arrays, with their vocabularies."""
    pairs = [(e, f, n) for e, translations in counts.items() for f, n in translations.items()]
    source, pivot = Vocab(), Vocab()
    arrays = (*ragged([e for e, _, _ in pairs], source), *ragged([f for _, f, _ in pairs], pivot))
    numbers = np.array([n for _, _, n in pairs], dtype=np.int64)
    return PhraseCounts(*arrays, numbers), source, pivot


def table(counts: Counts, recipe: Mapping[str, str] = PLAIN) -> PhraseTable:
    """The table of counts by phrase and translation."""
    return PhraseTable.from_counts(*phrase_counts(counts), {"source": recipe, "pivot": PLAIN})
