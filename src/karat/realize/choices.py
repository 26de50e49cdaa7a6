"""Explanations of the choices in one sentence: inserted words and forms of lemmas."""

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

MIN_SHOWN_PROBABILITY = 0.05
"""Fillings of empty slots and forms that were not chosen are shown if they are this probable."""
MAX_SHOWN_FILLINGS = 3
"""Number of likeliest fillings of a slot that are shown."""


class SlotFilling(NamedTuple):
    """A filling of a slot of a content word; the likeliest of each slot comes first.

    `filling` is empty for an empty slot; `probability` is the classifier's; `chosen` is true for
    the filling in the sentence. The rest are the parts of the deciding score, each minus that of
    the filling with the highest score; None for fillings that were not tried.
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
    """The words of a slot in a sentence, empty for an empty slot, and the alternatives.

    `probability` is None for words of the input.
    """

    word: str
    probability: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()


class CompletionExplained(NamedTuple):
    """The steps of completion: the fillings of slots, and the words of the best order."""

    fillings: tuple[SlotFilling, ...]
    optional: tuple[OptionalWord, ...]
    """The words of the best order, with the alternatives in their slots."""


def explain_completion(realized: RealizedContent, words: list[str]) -> CompletionExplained:
    """Explain the insertions into the only tree; `words` are its content words."""
    rows: list[SlotFilling] = []
    for choice in realized.choices:
        if any(filling and p >= MIN_SHOWN_PROBABILITY for filling, p in choice.fillings):
            rows += _slot_fillings(choice, words[choice.node], realized)
    return CompletionExplained(tuple(rows), tuple(_optional_words(realized)))


def _slot_fillings(choice: Choice, word: str, realized: RealizedContent) -> Iterator[SlotFilling]:
    """Yield the likeliest fillings of a slot of a word, and the chosen one."""
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
    """Yield the words of the only tree, and its empty slots at their likely positions."""
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
        is_complete = len(words) == sum(map(len, filling))  # False if other words are between
        alternatives = likely(slot, chosen) if is_complete else ()
        probability = probabilities.get(slot, {}).get(chosen)
        yield OptionalWord(" ".join(words), probability, alternatives)


def _empty_slots(realized: RealizedContent) -> dict[int, list[Slot]]:
    """Return the empty slots after each content word, in the order of the widest fillings."""
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
    """A candidate form of a word; those of a word are consecutive, the best first.

    `times` is how often it was seen, or the number of lemmas that support a rule. `counts`, `tree`,
    `before` and `after` are the contributions of counts, the tree and both neighbours to its score.
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

    @property
    def is_alternative(self) -> bool:
        """True if the form was not chosen but is probable enough to be shown."""
        return not self.chosen and self.probability >= MIN_SHOWN_PROBABILITY


def explain_forms(ordered: OrderedForms) -> list[WordForm]:
    """Return the candidate forms of the words of the first sentence.

        P(form | neighbours) = exp(counts + tree + before + after) / Σ over the forms of the word

    as in the second pass of the inflector, with the neighbours in the sentence.
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
