"""The inflector: from lemmas with tags and features to forms, in two passes.

Candidates are the forms seen for a lemma (`forms`). The first pass, before ordering, chooses by the
tree; the second by the tree and the neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from karat.arithmetic import log
from karat.arrays import Floats, Ints, np
from karat.realize.forms import Cell, Forms, FormSource, FormTable
from karat.realize.input_trees import InputTrees
from karat.realize.log_linear import (
    Choices,
    Keys,
    LogLinear,
    LogLinearFeatures,
    mix_keys,
    symbols,
)
from karat.realize.orthography import neighbours, plain
from karat.realize.symbols import positions_within, word_shape
from karat.realize.treebank import MISSING, Treebank

SIZES = (3, 6, 10, 15, 25, 40)
"""Upper limits of the classes of tree sizes."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Lemmas in lower case with their labels; `mothers` are positions in the columns, or -1.

    Tree i has the nodes `offsets[i]` to `offsets[i + 1]`. `fixed_forms` has the forms of nodes
    that are not inflected.
    """

    cells: list[Cell]
    relations: list[str]
    mothers: Ints
    offsets: Ints
    fixed_forms: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of_trees(cls, trees: InputTrees) -> Nodes:
        """Return the nodes of trees of lemmas."""
        columns = trees.words, trees.tags, trees.fine, trees.features
        return cls(_cells(*columns), trees.relations, trees.mothers(), trees.offsets)

    @classmethod
    def of_treebank(cls, bank: Treebank) -> Nodes:
        """Return the words of a treebank."""
        cells = _cells(bank.lemmas, bank.upos, bank.xpos, bank.features)
        return cls(cells, bank.relations, bank.mothers, bank.offsets)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def _daughters(self) -> tuple[Ints, Ints]:
        """Daughters sorted by mother, and the offsets of each node's daughters."""
        order = np.argsort(self.mothers, kind="stable")
        order = order[np.count_nonzero(self.mothers < 0) :]
        starts = np.searchsorted(self.mothers[order], np.arange(len(self) + 1))
        return order, starts

    def daughters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the daughters of some nodes, as indices into `nodes` and daughters."""
        order, starts = self._daughters
        first, sizes = starts[nodes], starts[nodes + 1] - starts[nodes]
        owners = np.repeat(np.arange(len(nodes)), sizes)
        return owners, order[first[owners] + positions_within(sizes)]

    def sisters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the sisters of some nodes, as indices into `nodes` and sisters."""
        below = np.flatnonzero(self.mothers[nodes] >= 0)
        owners, siblings = self.daughters(self.mothers[nodes[below]])
        is_other = siblings != nodes[below][owners]
        return below[owners[is_other]], siblings[is_other]


def _cells(lemmas: list[str], *labels: list[str]) -> list[Cell]:
    """Return the cells of lemmas with their UPOS, XPOS and features."""
    rows = zip(lemmas, *labels, strict=True)
    return [Cell(plain(lemma.lower()), *row_labels) for lemma, *row_labels in rows]


def tree_features(nodes: Nodes, chosen: Ints) -> LogLinearFeatures:
    """Return features of some nodes from the tree: mother, sisters, daughters, labels."""
    mothers = nodes.mothers[chosen]
    above = np.where(mothers >= 0, nodes.mothers[mothers], -1)
    cells = nodes.cells
    # The last entry of each column, at -1, is for the missing mother of a root.
    lemma = symbols([*(cell.lemma for cell in cells), ""])
    tag = symbols([*(f"{cell.upos} {cell.xpos}" for cell in cells), ""])
    label = symbols([*nodes.relations, ""])
    features = symbols([*(cell.features for cell in cells), ""])
    tree_sizes = np.diff(nodes.offsets)
    size_class = np.repeat(np.searchsorted(SIZES, tree_sizes), tree_sizes).astype(np.uint64)
    of_node = (
        (label[chosen],),
        (tag[chosen], features[chosen]),
        (lemma[mothers],),
        (lemma[mothers], label[chosen]),
        (tag[mothers], label[chosen]),
        (features[mothers], label[chosen]),
        (label[mothers], label[chosen]),
        (lemma[above], label[mothers]),
        (size_class[chosen],),
    )
    rows = np.arange(len(chosen))
    joined = [LogLinearFeatures(rows, mix_keys(n, *parts)) for n, parts in enumerate(of_node)]
    for n, (owners, relatives) in enumerate((nodes.sisters(chosen), nodes.daughters(chosen))):
        of_other = (
            (label[relatives], lemma[relatives]),
            (lemma[relatives],),
            (label[relatives], tag[relatives]),
            (label[relatives], features[relatives]),
        )
        joined += [
            LogLinearFeatures(owners, mix_keys(20 + 10 * n + i, *parts))
            for i, parts in enumerate(of_other)
        ]
    return LogLinearFeatures.joined(joined)


BEGINNINGS, ENDS = (1, 2, 3), (1, 2)
"""Numbers of characters of a form that its neighbours see."""
EDGE = ""
"""The form before and after a sentence."""
FIRST_TEMPLATE = 60


class Candidates(NamedTuple):
    """Candidate forms of the words of sentences, in the order of the sentences.

    Word i has the rows `choices.offsets[i]` to `choices.offsets[i + 1]`; sentence i has the words
    `sentences[i]` to `sentences[i + 1]`.
    """

    forms: list[str]
    choices: Choices
    sentences: Ints

    @classmethod
    def of(cls, forms: list[Forms], sentences: Ints) -> Candidates:
        """Return candidates from the forms of every word, with their counts."""
        offsets = np.cumsum([0, *map(len, forms)], dtype=np.int64)
        counts = np.array([n for word in forms for n in word.values()], dtype=np.float64)
        priors = log(counts + SMOOTHING)
        return cls([form for word in forms for form in word], Choices(offsets, priors), sentences)


class FormParts(NamedTuple):
    """Symbols of forms, of their beginnings and of their ends."""

    forms: Keys
    beginnings: tuple[Keys, ...]
    ends: tuple[Keys, ...]

    @classmethod
    def of(cls, forms: list[str]) -> FormParts:
        """Return the symbols of forms; the last entry, at -1, is for the edge of a sentence."""
        listed = [*forms, EDGE]
        beginnings = tuple(symbols([form[:n] for form in listed]) for n in BEGINNINGS)
        ends = tuple(symbols([form[-n:] for form in listed]) for n in ENDS)
        return cls(symbols(listed), beginnings, ends)


def pair_features(parts: FormParts, left: Ints, right: Ints, rows: Ints) -> LogLinearFeatures:
    """Return the features of neighbouring forms, for the rows they belong to.

    The score of a pair is a sum of weights for both forms, and for their beginnings and ends. The
    weights are learned with the neighbours in the treebank on both sides:

        P(form | neighbours) = exp(score(form) + score(left, form) + score(form, right)) / Σ
    """
    before, after = parts.forms[left], parts.forms[right]
    key_pairs = [(before, after)]
    key_pairs += [(before, part[right]) for part in parts.beginnings]
    key_pairs += [(part[left], after) for part in parts.ends]
    keys = [mix_keys(FIRST_TEMPLATE + n, *both) for n, both in enumerate(key_pairs)]
    return LogLinearFeatures(np.tile(rows, len(keys)), np.concatenate(keys))


def neighbour_rows(candidates: Candidates, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the chosen forms before and after each word, as rows; -1 at the edges."""
    before, after = neighbours(len(chosen), candidates.sentences)
    with_edge = np.append(chosen, -1)
    return with_edge[before], with_edge[after]


def choose_forms(model: LogLinear, candidates: Candidates, scores: Floats) -> Ints:
    """Return the row of the best form of every word, given its neighbours: a or an, le or l'.

        best = argmax over forms of Σ score(form) + Σ over neighbours of score(form, next form)

    The best forms of a sentence are found together (Viterbi), since they depend on each other:
    `will` is `wo` before `n't`. `scores` are those of each form without its neighbours; the priors
    of candidates are not used.
    """
    offsets = candidates.choices.offsets
    # Sentences are separated by edges, which have one form, at row -1.
    words = np.insert(np.arange(len(offsets) - 1), candidates.sentences, -1)
    counts = np.where(words < 0, 1, np.diff(offsets)[words])
    rows = np.where(words < 0, -1, offsets[words])
    starts, pair_scores = _score_pairs(model, candidates.forms, rows, counts)

    def between(at: int) -> Floats:
        """Return the scores of the forms of two neighbours, with a row for each first form."""
        pairs = pair_scores[starts[at - 1] : starts[at]]
        return pairs.reshape(counts[at - 1], counts[at])

    best_rows: Ints = offsets[:-1].copy()
    doubtful = counts > 1
    begins = np.flatnonzero(doubtful[1:] & ~doubtful[:-1]) + 1
    ends = np.flatnonzero(doubtful[:-1] & ~doubtful[1:]) + 1
    for first, end in zip(begins.tolist(), ends.tolist(), strict=True):
        form_scores = [scores[rows[at] : rows[at] + counts[at]] for at in range(first, end)]
        total, back = form_scores[0] + between(first)[0], []
        for at in range(first + 1, end):
            sums = total[:, None] + between(at)
            back.append(sums.argmax(axis=0))
            total = sums.max(axis=0) + form_scores[at - first]
        best = [int((total + between(end)[:, 0]).argmax())]
        for steps in reversed(back):
            best.append(int(steps[best[-1]]))
        best_rows[words[first:end]] = rows[first:end] + best[::-1]
    return best_rows


def _score_pairs(
    model: LogLinear, forms: list[str], rows: Ints, counts: Ints
) -> tuple[Ints, Floats]:
    """Return offsets and scores of the pairs of forms of neighbours, if one has several forms.

    Word i has the rows `rows[i]` to `rows[i] + counts[i]`.
    """
    sizes = np.where((counts[:-1] > 1) | (counts[1:] > 1), counts[:-1] * counts[1:], 0)
    starts = np.append(0, np.cumsum(sizes))
    words = np.repeat(np.arange(len(sizes)), sizes)
    first, second = np.divmod(np.arange(len(words)) - starts[words], counts[words + 1])
    left, right = rows[words] + first, rows[words + 1] + second
    features = pair_features(FormParts.of(forms), left, right, np.arange(len(words)))
    return starts, model.scores(features, len(words))


SMOOTHING = 0.5
"""Added to counts of forms."""
FIRST_CANDIDATE_TEMPLATE = 100  # the first template of candidates


@dataclass(frozen=True, eq=False)
class Inflector:
    """Seen forms, and the weights of both passes."""

    table: FormTable
    by_tree: LogLinear
    by_neighbours: LogLinear

    def candidates(self, nodes: Nodes, order: Ints, sentence_starts: Ints) -> Candidates:
        """Return the candidate forms of nodes, in a given order."""
        fixed, forms = nodes.fixed_forms, self.table.forms
        node_ids = order.tolist()
        return Candidates.of(
            [{fixed[j]: 0} if j in fixed else forms(nodes.cells[j]) for j in node_ids],
            sentence_starts,
        )

    def source(self, nodes: Nodes, j: int) -> FormSource:
        """Return the candidate forms of a node, and their origin."""
        if j in nodes.fixed_forms:
            return FormSource({nodes.fixed_forms[j]: 0}, "inserted")
        return self.table.source(nodes.cells[j])

    def forms_from_tree(self, nodes: Nodes) -> list[str]:
        """Return the form of every node, predicted from the tree alone."""
        order = np.arange(len(nodes))
        candidates = self.candidates(nodes, order, nodes.offsets)
        scores = candidates.choices.priors + tree_scores(self.by_tree, nodes, order, candidates)
        return [candidates.forms[row] for row in candidates.choices.best(scores).tolist()]

    def forms_in_order(self, nodes: Nodes, order: Ints, sentences: Ints) -> list[str]:
        """Return the forms of nodes in a given order, by the tree and the neighbours."""
        candidates = self.candidates(nodes, order, sentences)
        by_tree = tree_scores(self.by_neighbours, nodes, order, candidates)
        rows = choose_forms(self.by_neighbours, candidates, candidates.choices.priors + by_tree)
        return [candidates.forms[row] for row in rows.tolist()]


def tree_scores(model: LogLinear, nodes: Nodes, order: Ints, candidates: Candidates) -> Floats:
    """Return the scores of the candidates of nodes in order; 0 for a single candidate."""
    features = candidate_features(nodes, order, candidates)
    return model.scores(features, len(candidates.forms))


def candidate_features(nodes: Nodes, order: Ints, candidates: Candidates) -> LogLinearFeatures:
    """Return features from the tree for the candidates of nodes that have several."""
    choices = candidates.choices
    doubtful = np.flatnonzero(np.diff(choices.offsets) > 1)
    of_items = tree_features(nodes, order[doubtful])
    of_items = LogLinearFeatures(doubtful[of_items.rows], of_items.keys)
    features, rows = choices.crossed(of_items)
    keys = of_items.keys[features]
    forms = symbols(candidates.forms)
    shapes = symbols([word_shape(form) for form in candidates.forms])
    several = np.repeat(np.diff(choices.offsets) > 1, np.diff(choices.offsets))
    alone = np.flatnonzero(several)
    return LogLinearFeatures.joined(
        [
            LogLinearFeatures(alone, mix_keys(FIRST_CANDIDATE_TEMPLATE, forms[alone])),
            LogLinearFeatures(rows, mix_keys(FIRST_CANDIDATE_TEMPLATE + 1, keys, forms[rows])),
            LogLinearFeatures(rows, mix_keys(FIRST_CANDIDATE_TEMPLATE + 2, keys, shapes[rows])),
        ]
    )


def train_inflector(bank: Treebank) -> Inflector:
    """Learn the forms of a treebank's lemmas."""
    nodes, forms = Nodes.of_treebank(bank), [plain(word.lower()) for word in bank.words]
    has_lemma = np.array([lemma != MISSING for lemma in bank.lemmas])
    pairs = list(zip(nodes.cells, forms, strict=True))
    table = FormTable.learn(pairs[i] for i in np.flatnonzero(has_lemma).tolist())
    counts = [_counts_of_others(table, cell, form) for cell, form in pairs]
    candidates = Candidates.of(counts, bank.offsets)
    choices = candidates.choices
    offsets, items = choices.offsets.tolist(), choices.items
    right = np.full(len(forms), -1)  # the row of the right form, -1 if it is no candidate
    for i, form in enumerate(forms):
        if form in (word_forms := candidates.forms[offsets[i] : offsets[i + 1]]):
            right[i] = offsets[i] + word_forms.index(form)
    doubtful = has_lemma & (np.diff(choices.offsets) > 1) & (right >= 0)
    is_right = np.zeros(len(choices.priors), dtype=bool)
    is_right[right[doubtful]] = True
    by_tree = candidate_features(nodes, np.arange(len(nodes)), candidates)
    before, after = neighbour_rows(candidates, right)
    rows, parts = np.flatnonzero(doubtful[items]), FormParts.of(candidates.forms)
    with_left = pair_features(parts, before[items[rows]], rows, rows)
    with_right = pair_features(parts, rows, after[items[rows]], rows)
    by_both = LogLinearFeatures.joined([by_tree, with_left, with_right])
    first, second = (
        LogLinear.train_on(choices, features, is_right, doubtful) for features in (by_tree, by_both)
    )
    return Inflector(table, first, second)


def _counts_of_others(table: FormTable, cell: Cell, form: str) -> Forms:
    """Return counts of forms without one occurrence, so that a word does not vote for itself.

    A cell that was seen once has the forms of an unseen cell.
    """
    forms = table.forms(cell)
    forms = table.guess(cell).forms if sum(forms.values()) == 1 else forms
    if len(forms) == 1 or form not in forms:
        return forms
    return {other_form: max(n - (other_form == form), 0) for other_form, n in forms.items()}
