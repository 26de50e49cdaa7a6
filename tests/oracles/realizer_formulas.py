"""The tree model, the adjunction table and the search of the realiser, by dicts and loops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, permutations, product
from math import inf, log

from karat.realize.fergus import LpWeights
from karat.realize.grammar import ARGUMENTS, Grammar, Slots, gold_frames
from karat.realize.input_trees import InputTrees

K = 5.0  # of Witten and Bell, as in csrc/realize/fergus/tree_model.hpp
STRENGTH = 0.5  # as in csrc/realize/fergus/precedence.hpp
FREE_PENALTY = -9.0

Context = tuple[object, ...]


class Tables:
    """All counts of a treebank, by context and outcome."""

    def __init__(self, trees: InputTrees, grammar: Grammar) -> None:
        self.counts: dict[Context, Counter[object]] = defaultdict(Counter)
        self.trees, self.grammar = trees, grammar
        self.frames = gold_frames(trees)
        for i in range(len(trees)):
            self._tree(i)

    def note(self, outcome: object, *contexts: Context) -> None:
        for context in contexts:
            self.counts[context][outcome] += 1

    def back_off(self, p: float, outcome: object, *contexts: Context) -> float:
        """Witten and Bell, from the most general context to the most specific."""
        for context in contexts:
            outcomes = self.counts.get(context)
            if outcomes:
                strength = K * len(outcomes)
                p = (outcomes[outcome] + strength * p) / (outcomes.total() + strength)
        return p

    def choice(self, *contexts: Context) -> float:
        """The probability of True, with a constant strength."""
        p = 0.5
        for context in contexts:
            outcomes = self.counts.get(context)
            if outcomes:
                p = (outcomes[True] + STRENGTH * p) / (outcomes.total() + STRENGTH)
        return p

    def _tree(self, i: int) -> None:
        tree = Nodes(self.trees, i)
        grammar_frames = set(self.grammar.frames)
        for node in range(tree.size):
            frame = self.frames[tree.start + node]
            self.note(min(tree.degree(node), 3), *degree_contexts(tree.labels[node]))
            if frame in grammar_frames:
                self.note(frame, *frame_contexts(tree, node, tree.labels[node]))
            self._edge(tree, node, grammar_frames)
        for mother in range(tree.size):
            self._order(tree, mother)

    def _edge(self, tree: Nodes, node: int, grammar_frames: set[object]) -> None:
        label, mother = tree.labels[node], tree.heads[node]
        above = tree.labels[mother] if mother >= 0 else None
        word = tree.words[mother] if mother >= 0 else None
        self.note(tree.words[node], *word_contexts(label, above, word))
        self.note(label, *label_contexts("free", above, word))
        framed = mother >= 0 and self.frames[tree.start + mother] in grammar_frames
        if framed and label[1] in ARGUMENTS and above:
            self.note(label[0], *argument_contexts(label[1], above, word))
        else:
            self.note(label, *label_contexts("adjunct", above, word))

    def _order(self, tree: Nodes, mother: int) -> None:
        places = tree.places
        daughters = tree.daughters[mother]
        for d in daughters:
            left = places[d] < places[mother]
            self.note(left, *side_contexts(tree.member(d), tree.member(mother)))
            for e in daughters:
                if e > d and (places[e] < places[mother]) == left:
                    first, a, b = places[d] < places[e], tree.member(d), tree.member(e)
                    if a == b:
                        continue
                    if pair_key(self.grammar, a) > pair_key(self.grammar, b):
                        a, b, first = b, a, not first
                    self.note(first, *pair_contexts(left, a, b, tree.member(mother)))


Label = tuple[str, str]
Member = tuple[str, Label, int]


class Nodes:
    """One tree with what the formulas ask for."""

    def __init__(self, trees: InputTrees, i: int, labels: list[Label] | None = None) -> None:
        part = trees.slice(i)
        self.start, self.size = part.start, part.stop - part.start
        self.words = trees.words[part]
        self.heads = trees.heads[part].tolist()
        self.places = trees.places[part].tolist()
        gold_labels = list(zip(trees.tags[part], trees.relations[part], strict=True))
        self.labels = gold_labels if labels is None else labels
        self.daughters: list[list[int]] = [[] for _ in self.words]
        for node, head in enumerate(self.heads):
            if head >= 0:
                self.daughters[head].append(node)

    def degree(self, node: int) -> int:
        return len(self.daughters[node])

    def member(self, node: int) -> Member:
        return self.words[node], self.labels[node], min(self.degree(node), 2)


def degree_contexts(label: Label) -> list[Context]:
    return [("degree", label[0]), ("degree", label)]


def frame_contexts(tree: Nodes, node: int, label: Label) -> list[Context]:
    n = min(tree.degree(node), 4)
    return [
        ("frame", label[0], n),
        ("frame", label, n),
        ("frame", tree.words[node], label[0], n),
    ]


def word_contexts(label: Label, above: Label | None, word: str | None) -> list[Context]:
    mother = above[0] if above else None
    return [
        ("word 1", label[0]),
        ("word 2", label),
        ("word 3", label, mother),
        ("word 4", label, word),
    ]


def label_contexts(kind: str, above: Label | None, word: str | None) -> list[Context]:
    mother = above[0] if above else None
    return [(kind,), (kind, 1, mother), (kind, 2, above), (kind, 3, mother, word)]


def argument_contexts(relation: str, above: Label, word: str | None) -> list[Context]:
    return [
        ("argument", relation),
        ("argument", relation, above[0]),
        ("argument", relation, above[0], word),
    ]


def side_contexts(d: Member, m: Member) -> list[Context]:
    (word, label, degree), (above, mother, _) = d, m
    return [
        ("side 1", label[1]),
        ("side 2", label, mother[0], degree),
        ("side 3", label, above, mother[0]),
        ("side 4", word, label, mother[0], degree),
        ("side 5", word, label, above),
    ]


def pair_contexts(left: bool, a: Member, b: Member, m: Member) -> list[Context]:
    mother = m[1][0]
    return [
        ("pair 1", left, a[1][1], b[1][1]),
        ("pair 2", left, a[1], b[1], mother, a[2], b[2]),
        ("pair 3", left, a[0], a[1], b[1], mother),
        ("pair 4", left, b[0], a[1], b[1], mother),
        ("pair 5", left, a[0], a[1], b[0], b[1]),
    ]


def pair_key(grammar: Grammar, member: Member) -> tuple[object, ...]:
    """By label, word and degree, as the kernel numbers them; unknown words come first."""
    word, (tag, relation), degree = member
    tags, relations = grammar.tags, grammar.relations
    number = int(grammar.find([word])[0])
    return tags.index(tag), relations.index(relation), number, degree


# ------------------------------------------------------------------------------ Tree Chooser


def supertaggings(tables: Tables, trees: InputTrees, i: int) -> Iterator[tuple[float, object]]:
    """Every assignment of labels, frames and slots that attaches, with its log probability.

    Every word of the tree must have been seen with enough labels for the kernel to try no others.
    """
    bare = Nodes(trees, i)
    choices = [_labels(tables, word, node) for node, word in enumerate(bare.words)]
    for labels in product(*choices):
        tree = Nodes(trees, i, list(labels))
        frame_choices = [_frames(tables, tree, node, choices) for node in range(tree.size)]
        for frames in product(*frame_choices):
            yield _score(tables, tree, frames), (labels, tuple(f for f, _ in frames))


def _labels(tables: Tables, word: str, node: int) -> list[Label]:
    grammar = tables.grammar
    at = int(grammar.find([word])[0])
    start, stop = grammar.arrays["label_offsets"][at : at + 2]
    labels = [grammar.label(int(label)) for label in grammar.arrays["labels"][start:stop]]
    if node:
        return [label for label in labels if label[1] != "root"]
    return list(dict.fromkeys((tag, "root") for tag, _ in labels))


def _frames(
    tables: Tables, tree: Nodes, node: int, choices: list[list[Label]]
) -> list[tuple[object, float]]:
    """The frames whose slots the arguments fill exactly.

    The free one is for a treelet that no frame would fit, whatever the labels of the daughters.
    """
    daughters = tree.daughters[node]
    fit = _fitting(tables, tree.labels[node], [tree.labels[d] for d in daughters])
    if fit:
        return [(f, _frame(tables, tree, node, f)) for f in fit]
    label_choices = product(*(choices[d] for d in daughters))
    if any(_fitting(tables, tree.labels[node], list(labels)) for labels in label_choices):
        return []
    return [(None, FREE_PENALTY)]


def _fitting(tables: Tables, label: Label, daughters: list[Label]) -> list[Slots]:
    arguments = sorted(relation for _, relation in daughters if relation in ARGUMENTS)
    tag = tables.grammar.tags.index(label[0])
    frames = [tables.grammar.frames[f] for f in tables.grammar.tag_frames[tag]]
    return [f for f in frames if sorted(r for r, _ in f) == arguments]


def _frame(tables: Tables, tree: Nodes, node: int, frame: object) -> float:
    contexts = frame_contexts(tree, node, tree.labels[node])
    return log(tables.back_off(1e-6, frame, *contexts))


def _score(tables: Tables, tree: Nodes, frames: tuple[tuple[object, float], ...]) -> float:
    total = sum(score for _, score in frames)
    base = 1 / ((len(tables.grammar.words) + 1) * len(tables.grammar.tags))  # no word is rare
    for node, label in enumerate(tree.labels):
        mother = tree.heads[node]
        above = tree.labels[mother] if mother >= 0 else None
        word = tree.words[mother] if mother >= 0 else None
        degree = min(tree.degree(node), 3)
        total += log(tables.back_off(0.25, degree, *degree_contexts(label)))
        total += log(tables.back_off(base, tree.words[node], *word_contexts(label, above, word)))
        is_free = mother >= 0 and frames[mother][0] is None
        if mother >= 0 and label[1] in ARGUMENTS and above and not is_free:
            p = 1 / len(tables.grammar.tags)
            contexts = argument_contexts(label[1], above, word)
            total += log(tables.back_off(p, label[0], *contexts))
        else:
            kind = "free" if is_free else "adjunct"
            contexts = label_contexts(kind, above, word)
            total += log(tables.back_off(1e-5, label, *contexts))
    return total


# ------------------------------------------------------------------------------ the search


def orders(
    tables: Tables, tree: Nodes, frames: list[object], slots: list[int], weights: LpWeights
) -> Iterator[tuple[list[int], float]]:
    """Every order that the supertags allow, with the score of the adjunction table."""
    yield from _subtree(tables, tree, 0, frames, slots, weights)


def _subtree(
    tables: Tables, tree: Nodes, m: int, frames: list[object], slots: list[int], weights: LpWeights
) -> Iterator[tuple[list[int], float]]:
    daughters = tree.daughters[m]
    below = {d: list(_subtree(tables, tree, d, frames, slots, weights)) for d in daughters}
    for order in permutations([m, *daughters]):
        score = _treelet(tables, tree, m, order, frames[m], slots, weights)
        if score == -inf:
            continue
        for parts in product(*([([m], 0.0)] if item == m else below[item] for item in order)):
            yield [n for nodes, _ in parts for n in nodes], score + sum(s for _, s in parts)


def _treelet(
    tables: Tables,
    tree: Nodes,
    m: int,
    order: tuple[int, ...],
    frame: object,
    slots: list[int],
    weights: LpWeights,
) -> float:
    head = order.index(m)
    total = 0.0
    if isinstance(frame, tuple):
        filled = [(slots[d], order.index(d) > head) for d in order if d != m and slots[d] >= 0]
        if filled != [(slot, bool(side)) for slot, (_, side) in enumerate(frame)]:
            return -inf
    for at, d in enumerate(order):
        if d == m:
            continue
        p = tables.choice(*side_contexts(tree.member(d), tree.member(m)))
        total += weights.side * log(p if at < head else 1 - p)
        for later in order[at + 1 :]:
            if later != m and (order.index(later) < head) == (at < head):
                total += weights.pair * log(_before(tables, tree, m, d, later, at < head))
    return total


def _before(tables: Tables, tree: Nodes, m: int, d: int, e: int, left: bool) -> float:
    a, b = tree.member(d), tree.member(e)
    if a == b:
        return 0.5
    if pair_key(tables.grammar, a) > pair_key(tables.grammar, b):
        return 1 - _before(tables, tree, m, e, d, left)
    return tables.choice(*pair_contexts(left, a, b, tree.member(m)))


# ------------------------------------------------------------------------------ the baseline


def left_counts(trees: InputTrees) -> dict[Context, Counter[bool]]:
    """Whether each lexeme was left of any mother, and of each."""
    side_counts: dict[Context, Counter[bool]] = defaultdict(Counter)
    for i in range(len(trees)):
        tree = Nodes(trees, i)
        for node, head in enumerate(tree.heads):
            if head >= 0:
                for context in _left_contexts(tree, node):
                    side_counts[context][tree.places[node] < tree.places[head]] += 1
    return side_counts


def _left_contexts(tree: Nodes, node: int) -> list[Context]:
    word = tree.words[node]
    return [(), (word,), (word, tree.words[tree.heads[node]])]


def left_right(
    counts: dict[Context, Counter[bool]], tree: Nodes, m: int = 0
) -> list[tuple[int, ...]]:
    """All orders of a subtree in which each daughter is on her likelier side of her mother."""
    lefts, rights = [], []
    for d in tree.daughters[m]:
        p = 0.5
        for side_counts in (counts.get(context) for context in _left_contexts(tree, d)):
            p = (side_counts[True] + p) / (side_counts.total() + 1) if side_counts else p
        (lefts if p > 0.5 else rights).append(d)
    below = {d: left_right(counts, tree, d) for d in tree.daughters[m]}
    below[m] = [(m,)]
    return [
        tuple(chain(*parts))
        for left, right in product(permutations(lefts), permutations(rights))
        for parts in product(*(below[node] for node in (*left, m, *right)))
    ]
