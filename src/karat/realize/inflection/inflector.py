"""The inflector: from lemmas with tags and features to forms, in two passes.

Candidates are the forms that were seen for a lemma (`form_table`). The first pass chooses among
them by the tree, so that the words can be ordered; the second by the tree and the neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

from karat.arithmetic import log
from karat.arrays import Flags, Floats, Ints, np
from karat.realize.inflection.form_table import Cell, Forms, FormTable, Source
from karat.realize.inflection.log_linear import Choices, Features, LogLinear, mixed, symbols
from karat.realize.inflection.neighbours import (
    Candidates,
    FormParts,
    choose_forms,
    neighbour_rows,
    pair_features,
)
from karat.realize.inflection.nodes import Nodes, tree_features
from karat.realize.inflection.typography import plain
from karat.realize.ordering.symbols import word_shape
from karat.realize.treebank import Treebank
from karat.realize.written_fields import MISSING

ADDED = 0.5
"""Added to counts of forms."""
CROSSED = 100  # the first template of candidates


@dataclass(frozen=True, eq=False)
class Inflector:
    """Seen forms, and the weights of both passes."""

    table: FormTable
    by_tree: LogLinear
    by_neighbours: LogLinear

    def candidates(self, nodes: Nodes, order: Ints, sentences: Ints) -> Candidates:
        """Return the forms that nodes may have, in a given order."""
        forms = [
            {nodes.known[j]: 0} if j in nodes.known else self.table.forms(nodes.cells[j])
            for j in order.tolist()
        ]
        return _candidates(forms, sentences)

    def source(self, nodes: Nodes, j: int) -> Source:
        """Return the forms that a node may have, and where they come from."""
        if j in nodes.known:
            return Source({nodes.known[j]: 0}, "inserted")
        return self.table.source(nodes.cells[j])

    def first_forms(self, nodes: Nodes) -> list[str]:
        """Return the form of every node, by the tree alone."""
        order = np.arange(len(nodes))
        found = self.candidates(nodes, order, nodes.offsets)
        scores = found.choices.priors + tree_scores(self.by_tree, nodes, order, found)
        return [found.forms[row] for row in found.choices.best(scores).tolist()]

    def forms_in_order(self, nodes: Nodes, order: Ints, sentences: Ints) -> list[str]:
        """Return the forms of nodes in a given order, by the tree and the neighbours."""
        found = self.candidates(nodes, order, sentences)
        scores = found.choices.priors + tree_scores(self.by_neighbours, nodes, order, found)
        rows = choose_forms(self.by_neighbours, found, scores)
        return [found.forms[row] for row in rows.tolist()]


def _candidates(forms: list[Forms], sentences: Ints) -> Candidates:
    offsets = np.cumsum([0, *map(len, forms)], dtype=np.int64)
    counts = np.array([n for some in forms for n in some.values()], dtype=np.float64)
    return Candidates(
        [form for some in forms for form in some], Choices(offsets, log(counts + ADDED)), sentences
    )


def tree_scores(model: LogLinear, nodes: Nodes, order: Ints, found: Candidates) -> Floats:
    """Return the scores of the candidates of nodes in order; 0 where there is but one."""
    features = candidate_features(nodes, order, found)
    return model.scores(features, len(found.forms))


def candidate_features(nodes: Nodes, order: Ints, found: Candidates) -> Features:
    """Return what the tree tells of each candidate of the nodes that have several."""
    choices = found.choices
    doubtful = np.flatnonzero(np.diff(choices.offsets) > 1)
    of_items = tree_features(nodes, order[doubtful])
    of_items = Features(doubtful[of_items.rows], of_items.keys)
    which, rows = choices.crossed(of_items)
    keys = of_items.keys[which]
    forms = symbols(found.forms)
    shapes = symbols([word_shape(form) for form in found.forms])
    several = np.repeat(np.diff(choices.offsets) > 1, np.diff(choices.offsets))
    alone = np.flatnonzero(several)
    return Features.joined(
        [
            Features(alone, mixed(CROSSED, forms[alone])),
            Features(rows, mixed(CROSSED + 1, keys, forms[rows])),
            Features(rows, mixed(CROSSED + 2, keys, shapes[rows])),
        ]
    )


def train_inflector(bank: Treebank) -> Inflector:
    """Learn the forms of a treebank's lemmas."""
    nodes, forms = Nodes.of_treebank(bank), [plain(word.lower()) for word in bank.words]
    known = np.array([lemma != MISSING for lemma in bank.lemmas])
    pairs = list(zip(nodes.cells, forms, strict=True))
    table = FormTable.learn(pairs[i] for i in np.flatnonzero(known).tolist())
    options = [_left_out(_as_unseen(table, cell), form) for cell, form in pairs]
    found = _candidates(options, bank.offsets)
    right = _right_rows(found, forms)
    doubtful = known & (np.diff(found.choices.offsets) > 1) & (right >= 0)
    by_tree = candidate_features(nodes, np.arange(len(nodes)), found)
    by_both = Features.joined([by_tree, *_seen_pairs(found, right, doubtful)])
    first = _trained(found.choices, by_tree, right, doubtful)
    return Inflector(table, first, _trained(found.choices, by_both, right, doubtful))


def _seen_pairs(found: Candidates, right: Ints, doubtful: Flags) -> list[Features]:
    """Return the features of candidates with the right neighbours on both sides."""
    before, after = neighbour_rows(found, right)
    items = found.choices.items
    rows = np.flatnonzero(doubtful[items])
    parts = FormParts.of(found.forms)
    return [
        pair_features(parts, before[items[rows]], rows, rows),
        pair_features(parts, rows, after[items[rows]], rows),
    ]


def _as_unseen(table: FormTable, cell: Cell) -> Forms:
    """Return the forms of a cell; of one that was seen once, those it would have else."""
    forms = table.forms(cell)
    return table.guessed(cell) if sum(forms.values()) == 1 else forms


def _left_out(forms: Forms, form: str) -> Forms:
    """Return the counts without one occurrence, so that a word does not vote for itself."""
    if len(forms) == 1 or form not in forms:
        return forms
    return {one: max(n - (one == form), 0) for one, n in forms.items()}


def _right_rows(found: Candidates, forms: list[str]) -> Ints:
    """Return the row of the right candidate of every word, -1 if it is none of them."""
    offsets = found.choices.offsets.tolist()
    spans = zip(forms, offsets[:-1], offsets[1:], strict=True)
    rows = (next((r for r in range(a, b) if found.forms[r] == form), -1) for form, a, b in spans)
    return np.fromiter(rows, dtype=np.int64, count=len(forms))


def _trained(choices: Choices, features: Features, right: Ints, doubtful: Flags) -> LogLinear:
    """Train on the words with several forms, one of which is right."""
    is_right = np.zeros(len(choices.priors), dtype=bool)
    is_right[right[doubtful]] = True
    return LogLinear.train_on(choices, features, is_right, doubtful)
