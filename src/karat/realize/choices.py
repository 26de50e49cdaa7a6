"""Choices in one sentence explained: inserted words and forms of lemmas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.realize.completer import Choice
from karat.realize.completion import RealizedContent, Slot
from karat.realize.content import filling_text
from karat.realize.forms import FormSource
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
    rows = [row for choice in realized.choices for row in _rows(choice, words, realized)]
    optional, orders = tuple(_optional_words(realized)), tuple(realized.orders[0])
    return CompletionExplained(tuple(rows), realized.inserted.trees, orders, optional)


def _rows(choice: Choice, words: list[str], realized: RealizedContent) -> list[SlotFilling]:
    """Return the ways to fill a slot, unless it is all but sure to be empty."""
    if not any(filling and chance >= MIN_SHOWN_PROBABILITY for filling, chance in choice.fillings):
        return []
    chosen = filling_text(realized.fillings[choice.slot][choice.node])
    ranked = sorted(choice.fillings, key=lambda candidate: -candidate[1])
    ranked_texts = [(filling_text(candidate), candidate, chance) for candidate, chance in ranked]
    scores = realized.scores.get((choice.slot, choice.node), {})
    best = max(scores.values(), key=lambda candidate: candidate.total, default=None)
    return [
        SlotFilling(words[choice.node], choice.slot, text, chance, text == chosen)._replace(
            **scores[candidate].minus(best)._asdict() if best and candidate in scores else {}
        )
        for n, (text, candidate, chance) in enumerate(ranked_texts)
        if n < MAX_SHOWN_FILLINGS or text == chosen
    ]


Ways = Mapping[Slot, Mapping[str, float]]
"""Texts of the fillings of each slot, with their probabilities."""


def _optional_words(realized: RealizedContent) -> Iterator[OptionalWord]:
    """Yield the words of the only tree, and the slots that are empty where they would stand."""
    probabilities = {
        (c.slot, c.node): {filling_text(f): p for f, p in c.fillings} for c in realized.choices
    }
    empty = _empty_slots(realized)
    yield from _empty_slot_words(empty.get(-1, ()), probabilities)
    tree, places = realized.inserted.trees, realized.inserted.places
    by_slot = groupby(
        realized.orders[0][0].nodes, lambda n: place.slot if (place := places[n]) else n
    )
    for slot, nodes in ((slot, list(nodes)) for slot, nodes in by_slot):
        if not isinstance(slot, tuple):
            yield OptionalWord(tree.words[slot])
            yield from _empty_slot_words(empty.get(int(tree.places[slot]), ()), probabilities)
        else:
            yield _filled_slot([tree.words[n] for n in nodes], slot, realized, probabilities)


def _filled_slot(
    words: list[str], slot: Slot, realized: RealizedContent, probabilities: Ways
) -> OptionalWord:
    """Return words of a slot; others are told if these are all that it has."""
    filling = realized.fillings[slot[0]][slot[1]]
    chosen, texts = filling_text(filling), probabilities.get(slot, {})
    is_complete = len(words) == sum(map(len, filling))
    alternatives = _likely(texts, chosen) if is_complete else ()
    return OptionalWord(" ".join(words), texts.get(chosen), alternatives)


def _likely(probabilities: Mapping[str, float], chosen: str) -> tuple[tuple[str, float], ...]:
    return tuple(
        (text, p)
        for text, p in probabilities.items()
        if text != chosen and p >= MIN_SHOWN_PROBABILITY
    )


def _empty_slot_words(slots: Iterable[Slot], probabilities: Ways) -> Iterator[OptionalWord]:
    for slot in slots:
        if alternatives := _likely(probabilities.get(slot, {}), ""):
            yield OptionalWord("", probabilities[slot].get(""), alternatives)


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


def explain_forms(inflector: Inflector, nodes: Nodes, order: Ints) -> list[WordForm]:
    """Return the forms that the words of one sentence, in a given order, might have."""
    candidates = inflector.candidates(nodes, order, np.array([0, len(order)]))
    choices = candidates.choices
    tree = tree_scores(inflector.by_neighbours, nodes, order, candidates)
    chosen = choose_forms(inflector.by_neighbours, candidates, choices.priors + tree)
    score_parts = (choices.priors, tree, *_neighbour_scores(inflector, candidates, chosen))
    probabilities = choices.probabilities(np.sum(score_parts, axis=0))
    word_forms: list[WordForm] = []
    for place, node in enumerate(order.tolist()):
        cell = nodes.cells[node]
        source = inflector.source(nodes, node)
        first, end = choices.offsets[place : place + 2].tolist()
        for row in sorted(range(first, end), key=lambda row: -probabilities[row]):
            form, is_chosen = candidates.forms[row], bool(row == chosen[place])
            description = (
                place + 1,
                cell.lemma,
                form,
                float(probabilities[row]),
                is_chosen,
                describe_source(source),
            )
            word_forms.append(
                WordForm(
                    *description, source.forms[form], *(float(part[row]) for part in score_parts)
                )
            )
    return word_forms


def _neighbour_scores(
    inflector: Inflector, candidates: Candidates, chosen: Ints
) -> tuple[Floats, Floats]:
    """Return the scores of all forms with the chosen neighbours before and after them."""
    before, after = neighbour_rows(candidates, chosen)
    forms, items, rows = (
        FormParts.of(candidates.forms),
        candidates.choices.items,
        np.arange(len(candidates.forms)),
    )
    model, several = inflector.by_neighbours, (np.diff(candidates.choices.offsets) > 1)[items]
    left = model.scores(pair_features(forms, before[items], rows, rows), len(rows))
    right = model.scores(pair_features(forms, rows, after[items], rows), len(rows))
    return np.where(several, left, 0.0), np.where(several, right, 0.0)


def describe_source(source: FormSource) -> str:
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
    is_whole_lemma = end.startswith("^")
    return (
        f"rule for {end[1:]}"
        if is_whole_lemma
        else f"rule for -{end}"
        if end
        else "rule for all lemmas"
    )
