"""Scores of completion: what is put back into trees whose function words and marks were taken out.

For every class of words, precision, recall and F of the words in the slots of each content word:
a word counts as right if the treebank has it in the same slot of the same content word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.realize.completion.slots import Filling

CLASS_NAMES = {
    "aux": "auxiliaries and copulas",
    "mark": "markers of clauses",
    "case": "adpositions and case markers",
    "cc": "conjunctions",
    "article": "articles",
    "final": "final marks",
    "comma": "commas",
    "other": "other marks",
}
"""Slot -> what it is called in tables."""


class SlotScores(NamedTuple):
    """Precision, recall and F of one slot; `words` are those of the treebank."""

    inputs: str
    complete: str
    slot: str
    precision: float
    recall: float
    f: float
    words: int


def slot_scores(
    inputs: str,
    complete: str,
    slots: Sequence[str],
    gold: Mapping[str, list[Filling]],
    found: Mapping[str, list[Filling]],
) -> list[SlotScores]:
    """Compare what is in the slots of nodes with what the treebank has there."""
    return [_scores(inputs, complete, slot, gold[slot], found[slot]) for slot in slots]


def _scores(
    inputs: str, complete: str, slot: str, gold: list[Filling], found: list[Filling]
) -> SlotScores:
    pairs = [(_words(a), _words(b)) for a, b in zip(gold, found, strict=True) if a and b]
    right = sum((a & b).total() for a, b in pairs)
    expected, made = sum(map(len, gold)), sum(map(len, found))
    precision, recall = right / max(made, 1), right / max(expected, 1)
    f = 2 * right / max(made + expected, 1)
    return SlotScores(inputs, complete, slot, precision, recall, f, expected)


def _words(filling: Filling) -> Counter[str]:
    return Counter(" ".join(one.word for one in item) for item in filling)
