"""Nodes of many trees in flat columns, as the models of inflection see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from karat.arithmetic import log
from karat.arrays import Flags, Floats, Ints, np
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
from karat.realize.orthography import plain
from karat.realize.symbols import word_shape
from karat.realize.treebank import MISSING, Treebank

SIZES = (3, 6, 10, 15, 25, 40)
"""Trees with more nodes than this are larger."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Lemmas in lower case with their labels; `mothers` are places in the columns, -1 for roots.

    Tree i has the nodes `offsets[i]` to `offsets[i + 1]`. `known` has the forms of nodes that are
    not inflected.
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
        starts = np.repeat(bank.offsets[:-1], np.diff(bank.offsets))
        mothers = np.where(bank.heads > 0, starts + bank.heads - 1, -1).astype(np.int64)
        cells = _cells(bank.lemmas, bank.upos, bank.xpos, bank.features)
        return cls(cells, bank.relations, mothers, bank.offsets)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def lemmas(self) -> Keys:
        """Symbols of lemmas; the last, at -1, is of the mother that a root has not."""
        return symbols([*(cell.lemma for cell in self.cells), ""])

    @cached_property
    def tags(self) -> Keys:
        """Symbols of UPOS and XPOS."""
        return symbols([*(f"{cell.upos} {cell.xpos}" for cell in self.cells), ""])

    @cached_property
    def labels(self) -> Keys:
        """Symbols of relations."""
        return symbols([*self.relations, ""])

    @cached_property
    def morphology(self) -> Keys:
        """Symbols of features."""
        return symbols([*(cell.features for cell in self.cells), ""])

    @cached_property
    def sizes(self) -> Keys:
        """Classes of the sizes of the trees that the nodes belong to."""
        sizes = np.diff(self.offsets)
        return np.repeat(np.searchsorted(SIZES, sizes), sizes).astype(np.uint64)

    @cached_property
    def _daughters(self) -> tuple[Ints, Ints]:
        """Daughters by their mothers, and where those of each node begin."""
        order = np.argsort(self.mothers, kind="stable")
        order = order[np.count_nonzero(self.mothers < 0) :]
        starts = np.searchsorted(self.mothers[order], np.arange(len(self) + 1))
        return order, starts

    def daughters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the daughters of some nodes: which node's, and the daughters."""
        order, starts = self._daughters
        first, sizes = starts[nodes], starts[nodes + 1] - starts[nodes]
        owners = np.repeat(np.arange(len(nodes)), sizes)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owners, order[first[owners] + within]

    def sisters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the other daughters of the nodes' mothers: which node's, and the sisters."""
        below = np.flatnonzero(self.mothers[nodes] >= 0)
        owners, siblings = self.daughters(self.mothers[nodes[below]])
        is_other = siblings != nodes[below][owners]
        return below[owners[is_other]], siblings[is_other]


def _cells(lemmas: list[str], *labels: list[str]) -> list[Cell]:
    """Return the cells of lemmas with their UPOS, XPOS and features."""
    rows = zip(lemmas, *labels, strict=True)
    return [Cell(plain(lemma.lower()), *row_labels) for lemma, *row_labels in rows]


def tree_features(nodes: Nodes, chosen: Ints) -> LogLinearFeatures:
    """Return what the tree tells of some nodes: mother, sisters, daughters, labels."""
    mothers = nodes.mothers[chosen]
    above = np.where(mothers >= 0, nodes.mothers[mothers], -1)
    lemma, tag, label, features = nodes.lemmas, nodes.tags, nodes.labels, nodes.morphology
    of_node = (
        (label[chosen],),
        (tag[chosen], features[chosen]),
        (lemma[mothers],),
        (lemma[mothers], label[chosen]),
        (tag[mothers], label[chosen]),
        (features[mothers], label[chosen]),
        (label[mothers], label[chosen]),
        (lemma[above], label[mothers]),
        (nodes.sizes[chosen],),
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
"""Characters of a form that its neighbours see."""
EDGE = ""
"""Stands before and after a sentence."""
FIRST_TEMPLATE = 60


class Candidates(NamedTuple):
    """Forms that the words of sentences may have, in the order of the sentences.

    Those of word i are the rows `choices.offsets[i]` to `choices.offsets[i + 1]`; `sentences[i]`
    is the first word of sentence i, and the last entry the number of words.
    """

    forms: list[str]
    choices: Choices
    sentences: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sequence[dict[str, float]]]) -> Candidates:
        """Make candidates of forms with their scores (logarithms), word by word."""
        words = [word for sentence in sentences for word in sentence]
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        priors = np.array([score for word in words for score in word.values()], dtype=np.float64)
        starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        forms = [form for word in words for form in word]
        return cls(forms, Choices(offsets, priors), starts)


class FormParts(NamedTuple):
    """Symbols of forms, of how they begin and of how they end; a column a form."""

    forms: Keys
    beginnings: tuple[Keys, ...]
    ends: tuple[Keys, ...]

    @classmethod
    def of(cls, forms: list[str]) -> FormParts:
        """Return the symbols of forms; the last entry, at -1, is of the edge of a sentence."""
        listed = [*forms, EDGE]
        beginnings = tuple(symbols([form[:n] for form in listed]) for n in BEGINNINGS)
        ends = tuple(symbols([form[-n:] for form in listed]) for n in ENDS)
        return cls(symbols(listed), beginnings, ends)


def pair_features(parts: FormParts, left: Ints, right: Ints, rows: Ints) -> LogLinearFeatures:
    """Return the features of neighbouring forms, for the rows they belong to."""
    before, after = parts.forms[left], parts.forms[right]
    key_pairs = [(before, after)]
    key_pairs += [(before, part[right]) for part in parts.beginnings]
    key_pairs += [(part[left], after) for part in parts.ends]
    keys = [mix_keys(FIRST_TEMPLATE + n, *both) for n, both in enumerate(key_pairs)]
    return LogLinearFeatures(np.tile(rows, len(keys)), np.concatenate(keys))


def neighbour_rows(candidates: Candidates, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the chosen forms before and after each word, as rows; -1 at the edges."""
    before, after = np.append(-1, chosen[:-1]), np.append(chosen[1:], -1)
    before[candidates.sentences[:-1]] = -1
    after[candidates.sentences[1:] - 1] = -1
    return before, after


def choose_forms(model: LogLinear, candidates: Candidates, scores: Floats) -> Ints:
    """Return the row of the best form of every word, neighbours considered.

    Args:
        model: weights of pairs, beside which it may have others.
        candidates: forms of the words of sentences; their priors are not looked at.
        scores: score of each form without its neighbours.
    """
    pairs = _Pairs.of(model, candidates)
    best_rows: Ints = candidates.choices.offsets[:-1].copy()
    for first, end in _doubtful_spans(candidates):
        best_rows[first:end] = _best_path(candidates, scores, pairs, first, end)
    return best_rows


class _Pairs(NamedTuple):
    """Scores of neighbouring forms: those of words i - 1 and i begin at `starts[i]`.

    Word i may be the first of a sentence, or the one after the last word.
    """

    starts: Ints
    scores: Floats

    @classmethod
    def of(cls, model: LogLinear, candidates: Candidates) -> _Pairs:
        """Score all pairs of which one word has several forms."""
        offsets, n = candidates.choices.offsets, len(candidates.choices.offsets) - 1
        counts = np.append(np.diff(offsets), 1)
        is_first = np.zeros(n + 1, dtype=bool)
        is_first[candidates.sentences] = True
        # A pair at an edge is two pairs: of the last word and the edge, of the edge and the first.
        before = np.append(1, counts[:-1])
        sizes = np.where(is_first, before + counts, before * counts)
        sizes = np.where((before > 1) | (counts > 1), sizes, 0)
        starts = np.append(0, np.cumsum(sizes))
        words = np.repeat(np.arange(n + 1), sizes)
        within = np.arange(len(words)) - starts[words]
        first, second = np.divmod(within, counts[words])
        edge = is_first[words]
        last_row = np.append(0, offsets[:-1])[words]  # the first row of the word before
        ends = edge & (within < before[words])
        left = np.where(edge, np.where(ends, last_row + within, -1), last_row + first)
        own_row = np.append(offsets[:-1], 0)[words]
        right = np.where(
            edge, np.where(ends, -1, own_row + within - before[words]), own_row + second
        )
        parts = FormParts.of(candidates.forms)
        features = pair_features(parts, left, right, np.arange(len(words)))
        return cls(starts, model.scores(features, len(words)))

    def between(self, word: int, before: int, count: int) -> Floats:
        """Return the scores of the forms of two neighbours, the first word's by rows."""
        scores = self.scores[self.starts[word] : self.starts[word + 1]]
        return scores.reshape(before, count) if len(scores) else np.zeros((before, count))

    def after_edge(self, word: int, count: int) -> Floats:
        """Return the scores of the first word's forms."""
        scores = self.scores[self.starts[word] : self.starts[word + 1]]
        return scores[len(scores) - count :] if len(scores) else np.zeros(count)

    def before_edge(self, word: int, count: int) -> Floats:
        """Return the scores of the last word's forms; `word` is the one after it."""
        scores = self.scores[self.starts[word] : self.starts[word + 1]]
        return scores[:count] if len(scores) else np.zeros(count)


def _doubtful_spans(candidates: Candidates) -> list[tuple[int, int]]:
    """Return the spans of words with several forms, within sentences."""
    doubtful = np.diff(candidates.choices.offsets) > 1
    cuts = np.zeros(len(doubtful) + 1, dtype=bool)
    cuts[candidates.sentences] = True
    begins = doubtful & (cuts[:-1] | ~np.append(False, doubtful[:-1]))
    ends = doubtful & (cuts[1:] | ~np.append(doubtful[1:], False))
    places = np.flatnonzero(begins).tolist(), (np.flatnonzero(ends) + 1).tolist()
    return list(zip(*places, strict=True))


def _best_path(
    candidates: Candidates, scores: Floats, pairs: _Pairs, first: int, end: int
) -> list[int]:
    """Return the rows of the best forms of a span of words, whose neighbours have one form."""
    offsets = candidates.choices.offsets
    counts = np.diff(offsets[first : end + 1]).tolist()
    edges = {int(i) for i in candidates.sentences[np.isin(candidates.sentences, (first, end))]}
    total = scores[offsets[first] : offsets[first + 1]].copy()
    if first in edges:
        total += pairs.after_edge(first, counts[0])
    else:
        total += pairs.between(first, 1, counts[0])[0]
    back = []
    for word in range(first + 1, end):
        before, count = counts[word - first - 1 : word - first + 1]
        sums = total[:, None] + pairs.between(word, before, count)
        back.append(sums.argmax(axis=0))
        total = sums.max(axis=0) + scores[offsets[word] : offsets[word + 1]]
    if end in edges:
        total = total + pairs.before_edge(end, counts[-1])
    else:
        total = total + pairs.between(end, counts[-1], 1)[:, 0]
    best = [int(total.argmax())]
    for steps in reversed(back):
        best.append(int(steps[best[-1]]))
    return [int(offsets[first + i]) + k for i, k in enumerate(reversed(best))]


SMOOTHING = 0.5
"""Added to counts of forms."""
FIRST_CANDIDATE_TEMPLATE = 100  # the first template of candidates


@dataclass(frozen=True, eq=False)
class Inflector:
    """Seen forms, and the weights of both passes."""

    table: FormTable
    by_tree: LogLinear
    by_neighbours: LogLinear

    def candidates(self, nodes: Nodes, order: Ints, sentences: Ints) -> Candidates:
        """Return the forms that nodes may have, in a given order."""
        forms = [
            {nodes.fixed_forms[j]: 0}
            if j in nodes.fixed_forms
            else self.table.forms(nodes.cells[j])
            for j in order.tolist()
        ]
        return _candidates(forms, sentences)

    def source(self, nodes: Nodes, j: int) -> FormSource:
        """Return the forms that a node may have, and where they come from."""
        if j in nodes.fixed_forms:
            return FormSource({nodes.fixed_forms[j]: 0}, "inserted")
        return self.table.source(nodes.cells[j])

    def first_forms(self, nodes: Nodes) -> list[str]:
        """Return the form of every node, by the tree alone."""
        order = np.arange(len(nodes))
        candidates = self.candidates(nodes, order, nodes.offsets)
        scores = candidates.choices.priors + tree_scores(self.by_tree, nodes, order, candidates)
        return [candidates.forms[row] for row in candidates.choices.best(scores).tolist()]

    def forms_in_order(self, nodes: Nodes, order: Ints, sentences: Ints) -> list[str]:
        """Return the forms of nodes in a given order, by the tree and the neighbours."""
        candidates = self.candidates(nodes, order, sentences)
        scores = candidates.choices.priors + tree_scores(
            self.by_neighbours, nodes, order, candidates
        )
        rows = choose_forms(self.by_neighbours, candidates, scores)
        return [candidates.forms[row] for row in rows.tolist()]


def _candidates(forms: list[Forms], sentences: Ints) -> Candidates:
    offsets = np.cumsum([0, *map(len, forms)], dtype=np.int64)
    counts = np.array([n for word_forms in forms for n in word_forms.values()], dtype=np.float64)
    return Candidates(
        [form for word_forms in forms for form in word_forms],
        Choices(offsets, log(counts + SMOOTHING)),
        sentences,
    )


def tree_scores(model: LogLinear, nodes: Nodes, order: Ints, candidates: Candidates) -> Floats:
    """Return the scores of the candidates of nodes in order; 0 where there is but one."""
    features = candidate_features(nodes, order, candidates)
    return model.scores(features, len(candidates.forms))


def candidate_features(nodes: Nodes, order: Ints, candidates: Candidates) -> LogLinearFeatures:
    """Return what the tree tells of each candidate of the nodes that have several."""
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
    options = [_without_occurrence(_forms_if_unseen(table, cell), form) for cell, form in pairs]
    candidates = _candidates(options, bank.offsets)
    right = _right_rows(candidates, forms)
    doubtful = has_lemma & (np.diff(candidates.choices.offsets) > 1) & (right >= 0)
    by_tree = candidate_features(nodes, np.arange(len(nodes)), candidates)
    by_both = LogLinearFeatures.joined([by_tree, *_gold_pair_features(candidates, right, doubtful)])
    first = _train_log_linear(candidates.choices, by_tree, right, doubtful)
    return Inflector(table, first, _train_log_linear(candidates.choices, by_both, right, doubtful))


def _gold_pair_features(
    candidates: Candidates, right: Ints, doubtful: Flags
) -> list[LogLinearFeatures]:
    """Return the features of candidates with the right neighbours on both sides."""
    before, after = neighbour_rows(candidates, right)
    items = candidates.choices.items
    rows = np.flatnonzero(doubtful[items])
    parts = FormParts.of(candidates.forms)
    return [
        pair_features(parts, before[items[rows]], rows, rows),
        pair_features(parts, rows, after[items[rows]], rows),
    ]


def _forms_if_unseen(table: FormTable, cell: Cell) -> Forms:
    """Return the forms of a cell; of one that was seen once, those it would have else."""
    forms = table.forms(cell)
    return table.guessed(cell) if sum(forms.values()) == 1 else forms


def _without_occurrence(forms: Forms, form: str) -> Forms:
    """Return the counts without one occurrence, so that a word does not vote for itself."""
    if len(forms) == 1 or form not in forms:
        return forms
    return {other_form: max(n - (other_form == form), 0) for other_form, n in forms.items()}


def _right_rows(candidates: Candidates, forms: list[str]) -> Ints:
    """Return the row of the right candidate of every word, -1 if it is none of them."""
    offsets = candidates.choices.offsets.tolist()
    spans = zip(forms, offsets[:-1], offsets[1:], strict=True)
    rows = (
        next((r for r in range(a, b) if candidates.forms[r] == form), -1) for form, a, b in spans
    )
    return np.fromiter(rows, dtype=np.int64, count=len(forms))


def _train_log_linear(
    choices: Choices, features: LogLinearFeatures, right: Ints, doubtful: Flags
) -> LogLinear:
    """Train on the words with several forms, one of which is right."""
    is_right = np.zeros(len(choices.priors), dtype=bool)
    is_right[right[doubtful]] = True
    return LogLinear.train_on(choices, features, is_right, doubtful)
