"""Candidates: the ways to fill the slots of sentences whose order is known.

A sentence is ordered once with the widest likely filling of every slot. A filling that has no more
words of each relation than the widest can be shown in their places; one comma of two can stand in
either place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations
from typing import NamedTuple

from karat.realize.completion.completer import Choice
from karat.realize.completion.insertion import InsertedTrees, Slot
from karat.realize.completion.slots import Filling, Item, base
from karat.realize.input_trees import SPACE, SPACES, Orders

LIKELY = 0.08
"""Probability of the widest filling that a sentence is ordered with."""
LEAST = 0.02
"""Fillings that are less probable are not tried."""
MOST_TRIED = 10_000  # permutations; the first one always fits the filling itself
MOST_WAYS = 4
"""Ways to show one filling in the places of another."""

Shown = tuple[Item | None, ...]
"""For each item of the widest filling what is shown in its place; None if nothing is."""


class Candidate(NamedTuple):
    """A filling of a slot, its probability, and where its words stand."""

    filling: Filling
    chance: float
    shown: Shown


class Token(NamedTuple):
    """A word in a sentence, and its place in a slot: the item and the word of it."""

    word: str
    tag: str
    slot: Slot | None
    item: int
    part: int


Sentence = list[Token]


def widest(choice: Choice) -> Filling:
    """Return the longest likely filling that has places for the best one.

    Of equally long fillings it is the likeliest.
    """
    likely = [one for one in choice.fillings if one[1] >= LIKELY and _ways(choice.best, one[0])]
    return max(likely, key=lambda one: (len(one[0]), one[1]))[0] if likely else choice.best


def candidates(choice: Choice, wide: Filling) -> list[Candidate]:
    """Return the ways to fill a slot in the places of its widest filling."""
    tried = [one for one in choice.fillings if one[1] >= LEAST or one[0] == choice.best]
    return [
        Candidate(filling, chance, shown)
        for filling, chance in tried
        for shown in _ways(filling, wide)
    ]


def _ways(filling: Filling, wide: Filling) -> list[Shown]:
    """Return the ways to show a filling in the places of a wider one."""
    fitting = (
        at
        for at in islice(permutations(range(len(wide)), len(filling)), MOST_TRIED)
        if all(_is_alike(item, wide[k]) for item, k in zip(filling, at, strict=True))
    )
    places = (dict(zip(at, filling, strict=True)) for at in fitting)
    shown = (tuple(one.get(k) for k in range(len(wide))) for one in places)
    return list(islice(dict.fromkeys(shown), MOST_WAYS))


def _is_alike(a: Item, b: Item) -> bool:
    return len(a) == len(b) and base(a[0].relation) == base(b[0].relation)


def sentences(inserted: InsertedTrees, orders: Orders) -> Iterator[Sentence]:
    """Yield the words of every tree in its best order."""
    trees = inserted.trees
    for start, (best, *_) in zip(trees.offsets[:-1].tolist(), orders, strict=True):
        found = []
        for j in (start + node for node in best.nodes):
            place = inserted.places[j]
            slot, item, part = (place.slot, place.item, place.part) if place else (None, 0, 0)
            word = SPACES.sub(SPACE, trees.words[j])
            found.append(Token(word, trees.tags[j], slot, item, part))
        yield found


def open_slots(
    sentence: Sentence, choices: Mapping[Slot, Choice], wide: Mapping[str, Sequence[Filling]]
) -> dict[Slot, list[Candidate]]:
    """Return the slots of a sentence that can be filled in several ways, with these."""
    slots = dict.fromkeys(token.slot for token in sentence if token.slot in choices)
    found = {s: candidates(choices[s], wide[s[0]][s[1]]) for s in slots if s is not None}
    return {slot: ways for slot, ways in found.items() if len(ways) > 1}
