"""Choices in one sentence explained: inserted words and forms of lemmas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from karat.arrays import np
from karat.realize.completer import Choice
from karat.realize.completion import RealizedContent, Slot
from karat.realize.content import filling_text
from karat.realize.inflection import OrderedForms
from karat.realize.inflector import (
    FormParts,
    choose_forms,
    neighbour_rows,
    pair_features,
    tree_scores,
)
from karat.realize.input_trees import InputTrees, WordOrder

MIN_SHOWN_PROBABILITY = 0.05
"""A slot that stays empty is shown if something else is as probable."""
MAX_SHOWN_FILLINGS = 3
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
    alternatives: tuple[tuple[str, float], ...] = ()


class CompletionExplained(NamedTuple):
    """A tree through completion: its slots, the completed tree and its best orders."""

    fillings: tuple[SlotFilling, ...]
    tree: InputTrees
    orders: tuple[WordOrder, ...]
    optional: tuple[OptionalWord, ...]
    """The best order with what else its slots might have."""


def explain_completion(realized: RealizedContent, words: list[str]) -> CompletionExplained:
    """Explain what was inserted into the only tree, whose content words are given."""
    rows: list[SlotFilling] = []
    for choice in realized.choices:
        if any(filling and p >= MIN_SHOWN_PROBABILITY for filling, p in choice.fillings):
            rows += _slot_fillings(choice, words[choice.node], realized)
    optional, orders = tuple(_optional_words(realized)), tuple(realized.orders[0])
    return CompletionExplained(tuple(rows), realized.inserted.trees, orders, optional)


def _slot_fillings(choice: Choice, word: str, realized: RealizedContent) -> Iterator[SlotFilling]:
    """Yield the likeliest ways to fill a slot of a word, and the chosen one."""
    chosen = filling_text(realized.fillings[choice.slot][choice.node])
    scores = realized.scores.get((choice.slot, choice.node), {})
    best = max(scores.values(), key=lambda score: score.total, default=None)
    ranked = sorted(choice.fillings, key=lambda candidate: -candidate[1])
    for n, (filling, probability) in enumerate(ranked):
        text = filling_text(filling)
        if n < MAX_SHOWN_FILLINGS or text == chosen:
            parts: Iterable[float] = ()
            if best and filling in scores:
                parts = (a - b for a, b in zip(scores[filling], best, strict=True))
            yield SlotFilling(word, choice.slot, text, probability, text == chosen, *parts)


def _optional_words(realized: RealizedContent) -> Iterator[OptionalWord]:
    """Yield the words of the only tree, and the slots that are empty where they would stand."""
    probabilities = {
        (c.slot, c.node): {filling_text(f): p for f, p in c.fillings} for c in realized.choices
    }

    def likely(slot: Slot, chosen: str) -> tuple[tuple[str, float], ...]:
        texts = probabilities.get(slot, {}).items()
        return tuple((t, p) for t, p in texts if t != chosen and p >= MIN_SHOWN_PROBABILITY)

    def empty_slots(word: int) -> Iterator[OptionalWord]:
        for slot in empty.get(word, ()):
            if alternatives := likely(slot, ""):
                yield OptionalWord("", probabilities[slot].get(""), alternatives)

    empty = _empty_slots(realized)
    yield from empty_slots(-1)
    tree, places = realized.inserted.trees, realized.inserted.places
    by_slot = groupby(
        realized.orders[0][0].nodes, lambda n: place.slot if (place := places[n]) else n
    )
    for slot, nodes in by_slot:
        if not isinstance(slot, tuple):
            yield OptionalWord(tree.words[slot])
            yield from empty_slots(int(tree.places[slot]))
            continue
        words = [tree.words[node] for node in nodes]
        filling = realized.fillings[slot[0]][slot[1]]
        chosen = filling_text(filling)
        is_complete = len(words) == sum(map(len, filling))  # else the slot's words stand apart
        alternatives = likely(slot, chosen) if is_complete else ()
        probability = probabilities.get(slot, {}).get(chosen)
        yield OptionalWord(" ".join(words), probability, alternatives)


def _empty_slots(realized: RealizedContent) -> dict[int, list[Slot]]:
    """Return the slots left empty after each content word in the order of the widest fillings."""
    last, visited, after = -1, set[Slot](), dict[int, list[Slot]]()
    for node in realized.wide_orders[0][0].nodes:
        place = realized.wide.places[node]
        if place is None:
            last = int(realized.wide.trees.places[node])
        elif place.slot not in visited and not realized.fillings[place.slot[0]][place.slot[1]]:
            after.setdefault(last, []).append(place.slot)
            visited.add(place.slot)
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


def explain_forms(ordered: OrderedForms) -> list[WordForm]:
    """Return the forms that the words of the first sentence might have.

        P(form | neighbours) = exp(counts + tree + before + after) / Σ over the forms of the word

    as the second pass of the inflector was trained; the neighbours are those of the sentence.
    """
    inflector, nodes = ordered.inflection.inflector, ordered.nodes
    order = ordered.order[: int(ordered.starts[1])]
    candidates = inflector.candidates(nodes, order, np.array([0, len(order)]))
    choices = candidates.choices
    tree = tree_scores(inflector.by_neighbours, nodes, order, candidates)
    chosen = choose_forms(inflector.by_neighbours, candidates, choices.priors + tree)
    before, after = neighbour_rows(candidates, chosen)
    parts, rows, items = FormParts.of(candidates.forms), np.arange(len(tree)), choices.items
    several = (np.diff(choices.offsets) > 1)[items]
    neighbours = (before[items], rows), (rows, after[items])
    by_neighbours = (
        inflector.by_neighbours.scores(pair_features(parts, left, right, rows), len(rows))
        for left, right in neighbours
    )
    score_parts = choices.priors, tree, *(np.where(several, s, 0.0) for s in by_neighbours)
    probabilities = choices.probabilities(np.sum(score_parts, axis=0))
    word_forms: list[WordForm] = []
    for place, node in enumerate(order.tolist()):
        source = inflector.source(nodes, node)
        ending = source.detail
        rule = ending[1:] if ending.startswith("^") else f"-{ending}" if ending else "all lemmas"
        description = {
            "seen": "seen with these tags and features",
            "similar": f"seen with {source.detail}",
            "lemma": "no rule: lemma unchanged",
            "inserted": "inserted as it is",
            "rule": f"rule for {rule}",
        }[source.origin]
        first, end = choices.offsets[place : place + 2].tolist()
        for row in sorted(range(first, end), key=lambda row: -probabilities[row]):
            form = candidates.forms[row]
            word_forms.append(
                WordForm(
                    place + 1,
                    nodes.cells[node].lemma,
                    form,
                    float(probabilities[row]),
                    bool(row == chosen[place]),
                    description,
                    source.forms[form],
                    *(float(part[row]) for part in score_parts),
                )
            )
    return word_forms
