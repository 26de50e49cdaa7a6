"""Completion: insertion of function words and punctuation into trees of content words.

Classifiers fill the slots (`completer`), and the trees are ordered with the widest likely filling
of every slot, which gives the positions of words. Then the fillings are rescored by the words
around each slot (`rescore`), and the trees are ordered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, permutations, product
from typing import TYPE_CHECKING, NamedTuple

from karat.arithmetic import log
from karat.arrays import Ints, np
from karat.lm.model import LanguageModel
from karat.realize.completer import Choice, ClassModel, Completer
from karat.realize.content import SLOTS, ContentTrees, Filling, Item, base_relation
from karat.realize.input_trees import SPACE, SPACES, InputTrees, Orders, unordered_trees
from karat.realize.treebank import Treebank

if TYPE_CHECKING:
    from karat.realize.fergus import Fergus
    from karat.realize.inflection import OrderedForms
    from karat.realize.ordering import OrderingModel

Slot = tuple[str, int]
"""The name of a slot, and its content word."""
Fillings = Mapping[str, Sequence[Filling]]
"""Slot -> its filling at each content word."""


class InsertionPlace(NamedTuple):
    """Position of a word in a slot: the number of its item, and its number within the item."""

    slot: Slot
    item: int
    part: int


class InsertionNode(NamedTuple):
    """A word of a completed tree.

    `head` counts from 1 within the tree, 0 for the root. `place` is None for content words.
    `source` is the position in the treebank's columns, -1 for inserted words.
    """

    word: str
    tag: str
    relation: str
    head: int
    place: InsertionPlace | None
    source: int


@dataclass(frozen=True, eq=False)
class InsertedTrees:
    """Trees with the words of their slots.

    `places` are the positions of words in slots, None for content words; `sources` are positions
    in the treebank's columns, -1 for inserted words.
    """

    trees: InputTrees
    places: list[InsertionPlace | None]
    sources: Ints


def insert_fillings(trees: ContentTrees, fillings: Fillings) -> InsertedTrees:
    """Return the trees with the words in slots as daughters of their content words.

    They may be longer than the maximal length of an input.
    """
    nodes, offsets = _all_nodes(trees, fillings)
    rows = ((node.word, "", node.tag, "", node.relation, "") for node in nodes)
    bank = Treebank.of_rows(trees.name, rows, [node.head for node in nodes], offsets, trees.ids)
    unordered = unordered_trees(bank, "all")
    moved = [nodes[j] for j in (unordered.starts + unordered.places).tolist()]
    sources = np.array([node.source for node in moved], dtype=np.int64)
    return InsertedTrees(unordered, [node.place for node in moved], sources)


def to_treebank(trees: ContentTrees, treebank: Treebank) -> Treebank:
    """Return content words with the words in their slots as a treebank.

    The content words of a sentence come first, in the order of `trees`, which were made from
    `treebank`.
    """
    nodes, offsets = _all_nodes(trees, trees.fillings)
    lemmas, fine = treebank.lemmas, treebank.xpos
    features = dict(zip(trees.places.tolist(), trees.features, strict=True))
    rows = (
        (word, lemmas[j], tag, fine[j], relation, features.get(j, treebank.features[j]))
        for word, tag, relation, _, _, j in nodes
    )
    return Treebank.of_rows(trees.name, rows, [node.head for node in nodes], offsets, trees.ids)


def _all_nodes(trees: ContentTrees, fillings: Fillings) -> tuple[list[InsertionNode], list[int]]:
    """Return the words of all trees, content words first, and the offsets of trees."""
    nodes: list[InsertionNode] = []
    offsets, heads, places = [0], trees.heads.tolist(), trees.places.tolist()
    for start, end in pairwise(trees.offsets.tolist()):
        for j in range(start, end):
            head = heads[j] - start + 1 if heads[j] >= 0 else 0
            labels = trees.words[j], trees.tags[j], trees.relations[j]
            nodes.append(InsertionNode(*labels, head, None, places[j]))
        for slot, j in product(SLOTS, range(start, end)):
            for item, words in enumerate(fillings[slot][j]):
                # Slots that are filled in the input are not changed.
                sources = trees.sources[slot][j][item] if trees.sources[slot][j] else ()
                head, first = j - start + 1, len(nodes) - offsets[-1] + 1
                for part, (word, relation, tag) in enumerate(words):
                    place = InsertionPlace((slot, j), item, part)
                    source = sources[part] if sources else -1
                    part_head = first if part else head
                    nodes.append(InsertionNode(word, tag, relation, part_head, place, source))
        offsets.append(len(nodes))
    return nodes, offsets


MIN_WIDE_PROBABILITY = 0.08
"""Minimal probability of the widest filling."""
MIN_PROBABILITY = 0.02
"""Less probable fillings are not tried."""
MAX_PERMUTATIONS = 10_000  # the first one always fits the filling itself
MAX_PLACEMENTS = 4
"""Maximal number of placements of one filling in another."""

Shown = tuple[Item | None, ...]
"""For each item of the widest filling, the item in its place; None if it is empty."""


class Candidate(NamedTuple):
    """A filling of a slot, its probability, and the positions of its items."""

    filling: Filling
    chance: float
    placement: Shown


class Token(NamedTuple):
    """A word of a sentence, and its position in a slot; None for content words."""

    word: str
    tag: str
    place: InsertionPlace | None


def widest_filling(choice: Choice) -> Filling:
    """Return the longest likely filling that has places for the best one; on ties the likeliest."""
    likely = [
        pair
        for pair in choice.fillings
        if pair[1] >= MIN_WIDE_PROBABILITY and _placements(choice.best, pair[0])
    ]
    return max(likely, key=lambda pair: (len(pair[0]), pair[1]))[0] if likely else choice.best


def list_candidates(choice: Choice, wide: Filling) -> list[Candidate]:
    """Return the ways to fill a slot in the places of its widest filling.

    A filling fits if it has no more words of each relation than the widest; one comma can take
    either place of two.
    """
    return [
        Candidate(filling, chance, placement)
        for filling, chance in choice.fillings
        if chance >= MIN_PROBABILITY or filling == choice.best
        for placement in _placements(filling, wide)
    ]


def _placements(filling: Filling, wide: Filling) -> list[Shown]:
    """Return the placements of a filling in the places of a wider one."""

    def fits(item: Item, place: Item) -> bool:
        first, other = item[0].relation, place[0].relation
        return len(item) == len(place) and base_relation(first) == base_relation(other)

    orders = islice(permutations(range(len(wide)), len(filling)), MAX_PERMUTATIONS)
    items = (
        dict(zip(order, filling, strict=True))
        for order in orders
        if all(fits(item, wide[k]) for item, k in zip(filling, order, strict=True))
    )
    placements = (tuple(placed.get(k) for k in range(len(wide))) for placed in items)
    return list(islice(dict.fromkeys(placements), MAX_PLACEMENTS))


LN_10 = 2.302585092994046
ROUNDS = 2


class RescoringWeights(NamedTuple):
    """Weights of the two models, and the bonus of each word of a filling."""

    words: float
    classes: float
    word: float


WEIGHTS = {
    "all": {
        "aux": RescoringWeights(0.0, 0.0, 1.1),
        "mark": RescoringWeights(0.0, 0.15, 2.0),
        "case": RescoringWeights(0.5, 0.0, 1.5),
        "cc": RescoringWeights(0.0, 0.3, 0.7),
        "article": RescoringWeights(0.3, 0.0, 1.5),
        "final": RescoringWeights(0.15, 0.3, 1.1),
        "comma": RescoringWeights(0.15, 0.15, 1.6),
        "other": RescoringWeights(0.0, 0.15, 1.1),
    },
    "relations": {
        "aux": RescoringWeights(0.0, 0.3, 2.0),
        "mark": RescoringWeights(0.3, 0.0, 2.0),
        "case": RescoringWeights(0.3, 0.15, 1.5),
        "cc": RescoringWeights(0.0, 0.3, 1.1),
        "article": RescoringWeights(0.3, 0.15, 2.0),
        "final": RescoringWeights(0.3, 0.0, 1.5),
        "comma": RescoringWeights(0.15, 0.15, 1.6),
        "other": RescoringWeights(0.0, 0.3, 1.5),
    },
}
"""Kind of input -> slot -> its weights, tuned on held-out documents of EWT's training part."""


class FillingScore(NamedTuple):
    """The score of a filling: log P, both weighted models, the bonus of its words, their sum."""

    log_p: float
    language_model: float
    class_model: float
    bonus: float
    total: float


Sentences = list[tuple[list[Token], dict[Slot, list[Candidate]]]]
"""Sentences, with the candidates of their slots that have several."""


def rescore(
    inserted: InsertedTrees,
    orders: Orders,
    choices: Sequence[Choice],
    wide: Fillings,
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, RescoringWeights],
) -> tuple[dict[Slot, Filling], dict[Slot, dict[Filling, FillingScore]]]:
    """Return the best filling of every slot, and the scores of all fillings that were tried.

        best = argmax over fillings of
            log P(filling) + a · log p(sentence) + b · log p(classes) + c · words of the filling

    p(sentence) is by the orderer's language model, p(classes) by the class model. Every slot has
    its own weights a, b and c. All slots are decided given the earlier fillings of the others, in
    `ROUNDS` rounds. So `a` becomes `an`, and prepositions agree with the noun beside them. The
    trees have their widest likely fillings: others are tried in their places, without ordering the
    sentence again.
    """
    choice_of_slot = {(choice.slot, choice.node): choice for choice in choices}
    sentences: Sentences = []
    best: dict[Slot, int] = {}  # index of the best candidate
    trees = inserted.trees
    for start, (order, *_) in zip(trees.offsets[:-1].tolist(), orders, strict=True):
        sentence = [
            Token(SPACES.sub(SPACE, trees.words[j]), trees.tags[j], inserted.places[j])
            for j in (start + node for node in order.nodes)
        ]
        doubtful: dict[Slot, list[Candidate]] = {}
        for slot in dict.fromkeys(token.place.slot for token in sentence if token.place):
            if choice := choice_of_slot.get(slot):
                candidates = list_candidates(choice, wide[slot[0]][slot[1]])
                if len(candidates) > 1:
                    fillings = [candidate.filling for candidate in candidates]
                    best[slot] = fillings.index(choice.best) if choice.best in fillings else 0
                    doubtful[slot] = candidates
        if doubtful:
            sentences.append((sentence, doubtful))
    all_slots = [pair for _, slots in sentences for pair in slots.items()]
    scores: dict[Slot, list[FillingScore]] = {}
    for _ in range(ROUNDS if all_slots else 0):
        texts, class_texts = _texts_of_candidates(sentences, best, classes)
        rows = _score_candidates(all_slots, texts, class_texts, model, classes, weights)
        for slot, candidates in all_slots:
            scores[slot] = list(islice(rows, len(candidates)))
            totals = [score.total for score in scores[slot]]
            best[slot] = totals.index(max(totals))
    best_scores: dict[Slot, dict[Filling, FillingScore]] = {}
    for slot, candidates in all_slots:  # a filling has the score of its best placement
        by_filling = best_scores[slot] = {}
        for candidate, score in zip(candidates, scores[slot], strict=True):
            if score.total > by_filling.setdefault(candidate.filling, score).total:
                by_filling[candidate.filling] = score
    return {slot: candidates[best[slot]].filling for slot, candidates in all_slots}, best_scores


def _texts_of_candidates(
    sentences: Sentences, best: Mapping[Slot, int], classes: ClassModel
) -> tuple[list[str], list[str]]:
    """Return the sentence of every candidate, as words and as classes; other slots as in `best`."""

    def show(
        sentence: list[Token], slot: Slot, candidate: Candidate, words: list[str], tokens: list[str]
    ) -> None:
        """Write a candidate into its places; empty places become empty strings."""
        for at, (_, _, place) in enumerate(sentence):
            if place is None or place.slot != slot:
                continue
            words[at] = tokens[at] = ""
            if (item := candidate.placement[place.item]) is not None:
                word = item[place.part]
                words[at] = SPACES.sub(SPACE, word.word)
                tokens[at] = classes.token(word.word, word.tag)

    texts: list[str] = []
    class_texts: list[str] = []
    for sentence, slots in sentences:
        words = [token.word for token in sentence]
        tokens = [classes.token(token.word, token.tag) for token in sentence]
        for slot, candidates in slots.items():
            show(sentence, slot, candidates[best[slot]], words, tokens)
        for slot, candidates in slots.items():
            slot_words, slot_tokens = list(words), list(tokens)
            for candidate in candidates:
                show(sentence, slot, candidate, slot_words, slot_tokens)
                texts.append(" ".join(filter(None, slot_words)))
                class_texts.append(" ".join(filter(None, slot_tokens)))
    return texts, class_texts


def _score_candidates(
    slots: Sequence[tuple[Slot, list[Candidate]]],
    texts: Sequence[str],
    class_texts: Sequence[str],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, RescoringWeights],
) -> Iterator[FillingScore]:
    """Return the scores of all candidates of all slots; `texts` are their sentences."""
    candidates = [candidate for _, slot_candidates in slots for candidate in slot_candidates]
    log_p = log(np.array([candidate.chance for candidate in candidates]))
    a, b, c = np.array([weights[slot[0]] for slot, listed in slots for _ in listed]).T
    by_words = a * (LN_10 * model.score(texts, threads=1))
    by_classes = b * (LN_10 * classes.model.score(class_texts, threads=1))
    bonus = c * np.array([sum(map(len, candidate.filling)) for candidate in candidates])
    parts = log_p, by_words, by_classes, bonus, log_p + by_words + by_classes + bonus
    return (FillingScore(*row) for row in np.stack(parts, axis=1).tolist())


@dataclass(frozen=True, eq=False)
class RealizedContent:
    """Content words with the inserted words, and the best orders of every tree."""

    content: ContentTrees
    inserted: InsertedTrees
    orders: Orders
    fillings: Fillings
    choices: tuple[Choice, ...]
    wide: InsertedTrees
    """The trees with the widest likely fillings."""
    wide_orders: Orders
    scores: Mapping[Slot, Mapping[Filling, FillingScore]]
    """Rescored slot -> the scores of the fillings that were tried."""
    forms: OrderedForms | None = None
    """Forms of all orders, if the input has lemmas."""

    def texts(self, *, detokenise: bool = False) -> list[str]:
        """Return the sentences of all orders of all trees."""
        if self.forms is not None:
            return self.forms.texts(detokenise=detokenise)
        return self.inserted.trees.sentences(self.orders)

    def final_fillings(self) -> Fillings:
        """Return the filling of every slot, with the forms of the best order."""
        if self.forms is None:
            return self.fillings
        filled = {slot: list(column) for slot, column in self.fillings.items()}
        for node, place in enumerate(self.inserted.places):
            if place is not None:
                slot, j = place.slot
                items = [list(item) for item in filled[slot][j]]
                word = items[place.item][place.part]
                items[place.item][place.part] = word._replace(word=self.forms.best[node])
                filled[slot][j] = tuple(map(tuple, items))
        return filled


def realize_content(
    completer: Completer,
    orderer: Fergus | OrderingModel,
    content: ContentTrees,
    slots: Sequence[str],
    k: int = 1,
) -> RealizedContent:
    """Insert words into slots, and return the k best orders of every tree.

    Features and candidates of all trees are in memory: call it with blocks of trees.
    """
    completed, choices = completer.complete(content, slots)
    widest = {(c.slot, c.node): widest_filling(c) for c in choices}
    fillings = _replace_fillings(completed.fillings, widest)
    wide = insert_fillings(completed, fillings)
    wide_orders = orderer.realize(wide.trees)
    models = orderer.language_model, completer.classes, WEIGHTS[completer.inputs]
    best, scores = rescore(wide, wide_orders, choices, fillings, *models)
    fillings = _replace_fillings(fillings, best)
    inserted = insert_fillings(completed, fillings)
    orders = orderer.realize(inserted.trees, k)
    return RealizedContent(content, inserted, orders, fillings, choices, wide, wide_orders, scores)


def _replace_fillings(fillings: Fillings, replacements: Mapping[Slot, Filling]) -> Fillings:
    """Return fillings with others in some slots."""
    filled = {slot: list(column) for slot, column in fillings.items()}
    for (slot, j), filling in replacements.items():
        filled[slot][j] = filling
    return filled
