"""Forms explained: what each word of one sentence might have been, how probable, and why.

    P(form | neighbours) = exp(counts + tree + before + after) / Σ over the forms of the word

as the second pass was trained; the neighbours are those of the sentence.
"""

from __future__ import annotations

from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.realize.inflection.form_table import Source
from karat.realize.inflection.inflector import Inflector, tree_scores
from karat.realize.inflection.neighbours import (
    Candidates,
    FormParts,
    choose_forms,
    neighbour_rows,
    pair_features,
)
from karat.realize.inflection.nodes import Nodes


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
