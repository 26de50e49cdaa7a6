"""Choices in one sentence explained: inserted words and forms of lemmas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.realize.completer import Choice
from karat.realize.completion import RealizedContent, Slot
from karat.realize.content import filling_text
from karat.realize.forms import Source
from karat.realize.inflector import (
    Candidates,
    FormParts,
    Inflector,
    Nodes,
    choose_forms,
    neighbour_rows,
    pair_features,
    tree_scores,
)
from karat.realize.input_trees import InputTrees, Order

SHOWN = 0.05
"""A slot that stays empty is shown if something else is as probable."""
TOLD = 3
"""Fillings of a slot that are told, beside the chosen one."""


class SlotFilling(NamedTuple):
    """A way to fill a slot of a content word; the likeliest of each slot stands first.

    `filling` is empty where the slot is; `probability` is the classifier's; `chosen` is what the
    sentence has. The rest are parts of the score that decides, each minus that of the filling with
    the highest score; None for fillings that were not tried.
    """

    word: str
    slot: str
    filling: str
    probability: float
    chosen: bool
    log_p: float | None = None
    language_model: float | None = None
    class_model: float | None = None
    bonus: float | None = None
    total: float | None = None


class OptionalWord(NamedTuple):
    """Words of a slot in a sentence, and what else might stand there; empty text if it is empty.

    `probability` is None for words of the input.
    """

    word: str
    probability: float | None = None
    others: tuple[tuple[str, float], ...] = ()


class CompletionExplained(NamedTuple):
    """A tree through completion: its slots, the completed tree and its best orders."""

    fillings: tuple[SlotFilling, ...]
    tree: InputTrees
    orders: tuple[Order, ...]
    optional: tuple[OptionalWord, ...]
    """The best order with what else its slots might have."""


def explain_completion(found: RealizedContent, words: list[str]) -> CompletionExplained:
    """Explain what was inserted into the only tree, whose content words are given."""
    rows = [row for choice in found.choices for row in _rows(choice, words, found)]
    optional, orders = tuple(_optional(found)), tuple(found.orders[0])
    return CompletionExplained(tuple(rows), found.inserted.trees, orders, optional)


def _rows(choice: Choice, words: list[str], found: RealizedContent) -> list[SlotFilling]:
    """Return the ways to fill a slot, unless it is all but sure to be empty."""
    if not any(filling and chance >= SHOWN for filling, chance in choice.fillings):
        return []
    chosen = filling_text(found.fillings[choice.slot][choice.node])
    ranked = sorted(choice.fillings, key=lambda one: -one[1])
    ways = [(filling_text(one), one, chance) for one, chance in ranked]
    scores = found.scores.get((choice.slot, choice.node), {})
    best = max(scores.values(), key=lambda one: one.total, default=None)
    return [
        SlotFilling(words[choice.node], choice.slot, text, chance, text == chosen)._replace(
            **scores[one].minus(best)._asdict() if best and one in scores else {}
        )
        for n, (text, one, chance) in enumerate(ways)
        if n < TOLD or text == chosen
    ]


Ways = Mapping[Slot, Mapping[str, float]]
"""Texts of the fillings of each slot, with their probabilities."""


def _optional(found: RealizedContent) -> Iterator[OptionalWord]:
    """Yield the words of the only tree, and the slots that are empty where they would stand."""
    ways = {(c.slot, c.node): {filling_text(f): p for f, p in c.fillings} for c in found.choices}
    empty = _empty(found)
    yield from _left_out(empty.get(-1, ()), ways)
    tree, places = found.inserted.trees, found.inserted.places
    by_slot = groupby(found.orders[0][0].nodes, lambda n: place.slot if (place := places[n]) else n)
    for slot, nodes in ((slot, list(nodes)) for slot, nodes in by_slot):
        if not isinstance(slot, tuple):
            yield OptionalWord(tree.words[slot])
            yield from _left_out(empty.get(int(tree.places[slot]), ()), ways)
        else:
            yield _filled([tree.words[n] for n in nodes], slot, found, ways)


def _filled(words: list[str], slot: Slot, found: RealizedContent, ways: Ways) -> OptionalWord:
    """Return words of a slot; others are told if these are all that it has."""
    filling = found.fillings[slot[0]][slot[1]]
    chosen, every = filling_text(filling), ways.get(slot, {})
    whole = len(words) == sum(map(len, filling))
    others = _likely(every, chosen) if whole else ()
    return OptionalWord(" ".join(words), every.get(chosen), others)


def _likely(ways: Mapping[str, float], chosen: str) -> tuple[tuple[str, float], ...]:
    return tuple((text, p) for text, p in ways.items() if text != chosen and p >= SHOWN)


def _left_out(slots: Iterable[Slot], ways: Ways) -> Iterator[OptionalWord]:
    for slot in slots:
        if others := _likely(ways.get(slot, {}), ""):
            yield OptionalWord("", ways[slot].get(""), others)


def _empty(found: RealizedContent) -> dict[int, list[Slot]]:
    """Return the slots left empty after each content word in the order of the widest fillings."""
    last, seen, after = -1, set[Slot](), dict[int, list[Slot]]()
    for node in found.wide_orders[0][0].nodes:
        place = found.wide.places[node]
        if place is None:
            last = int(found.wide.trees.places[node])
        elif place.slot not in seen and not found.fillings[place.slot[0]][place.slot[1]]:
            after.setdefault(last, []).append(place.slot)
            seen.add(place.slot)
    return after


class WordForm(NamedTuple):
    """A form that a word might have; those of one word stand together, the best first.

    `times` is how often it was seen, or how many lemmas speak for a rule. `counts`, `tree`,
    `before` and `after` are what counts, the tree and the two neighbours add to its score.
    """

    place: int
    lemma: str
    form: str
    probability: float
    chosen: bool
    source: str
    times: int
    counts: float
    tree: float
    before: float
    after: float


def explain_forms(inflector: Inflector, nodes: Nodes, order: Ints) -> list[WordForm]:
    """Return the forms that the words of one sentence, in a given order, might have."""
    found = inflector.candidates(nodes, order, np.array([0, len(order)]))
    choices = found.choices
    tree = tree_scores(inflector.by_neighbours, nodes, order, found)
    chosen = choose_forms(inflector.by_neighbours, found, choices.priors + tree)
    parts = (choices.priors, tree, *_of_neighbours(inflector, found, chosen))
    chances = choices.probabilities(np.sum(parts, axis=0))
    made: list[WordForm] = []
    for place, node in enumerate(order.tolist()):
        cell = nodes.cells[node]
        source = inflector.source(nodes, node)
        first, end = choices.offsets[place : place + 2].tolist()
        for row in sorted(range(first, end), key=lambda row: -chances[row]):
            form, is_chosen = found.forms[row], bool(row == chosen[place])
            told = place + 1, cell.lemma, form, float(chances[row]), is_chosen, _told(source)
            made.append(WordForm(*told, source.forms[form], *(float(part[row]) for part in parts)))
    return made


def _of_neighbours(inflector: Inflector, found: Candidates, chosen: Ints) -> tuple[Floats, Floats]:
    """Return the scores of all forms with the chosen neighbours before and after them."""
    before, after = neighbour_rows(found, chosen)
    forms, items, rows = FormParts.of(found.forms), found.choices.items, np.arange(len(found.forms))
    model, several = inflector.by_neighbours, (np.diff(found.choices.offsets) > 1)[items]
    left = model.scores(pair_features(forms, before[items], rows, rows), len(rows))
    right = model.scores(pair_features(forms, rows, after[items], rows), len(rows))
    return np.where(several, left, 0.0), np.where(several, right, 0.0)


def _told(source: Source) -> str:
    """Return where forms come from, for people."""
    if source.origin == "seen":
        return "seen with these tags and features"
    if source.origin == "similar":
        return f"seen with {source.detail}"
    if source.origin == "lemma":
        return "no rule: lemma unchanged"
    if source.origin == "inserted":
        return "inserted as it is"
    end = source.detail
    whole = end.startswith("^")
    return f"rule for {end[1:]}" if whole else f"rule for -{end}" if end else "rule for all lemmas"
