"""Completion: function words and punctuation that a tree of content words leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, permutations
from typing import TYPE_CHECKING, NamedTuple, Protocol

from karat.arithmetic import log
from karat.arrays import Floats, Ints, np
from karat.lm.model import LanguageModel
from karat.realize.completer import Choice, ClassModel, CompletedTrees, Completer
from karat.realize.content import SLOTS, ContentTrees, Filling, Item, base_relation
from karat.realize.input_trees import SPACE, SPACES, InputTrees, Orders, Realizer, unordered_trees
from karat.realize.treebank import Treebank

if TYPE_CHECKING:
    from karat.lm.model import LanguageModel


Slot = tuple[str, int]
"""A slot and the content word that has it."""


class InsertionPlace(NamedTuple):
    """The place of a word in a slot: the number of its item, and its own within the item."""

    slot: Slot
    item: int
    part: int


class InsertionNode(NamedTuple):
    """A word of a completed tree.

    `head` counts from 1 within the tree, 0 is the root's. `place` is None for content words.
    `source` is the word's place in the treebank's columns, -1 if it was inserted.
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

    `places` has the place of each word in a slot, None for content words; `sources` where words
    of the input stood in the treebank's columns, -1 for inserted ones.
    """

    trees: InputTrees
    places: list[InsertionPlace | None]
    sources: Ints


def insert_fillings(trees: ContentTrees, fillings: Mapping[str, list[Filling]]) -> InsertedTrees:
    """Return the trees with the words of their slots as daughters of the words that have them.

    They may be longer than an input may be.
    """
    nodes, offsets = _all_nodes(trees, fillings)
    rows = ((node.word, "", node.tag, "", node.relation, "") for node in nodes)
    bank = Treebank.of_rows(trees.name, rows, [node.head for node in nodes], offsets, trees.ids)
    unordered = unordered_trees(bank, "all")
    starts = np.repeat(unordered.offsets[:-1], np.diff(unordered.offsets))
    moved = [nodes[j] for j in (starts + unordered.places).tolist()]
    sources = np.array([node.source for node in moved], dtype=np.int64)
    return InsertedTrees(unordered, [node.place for node in moved], sources)


def to_treebank(trees: ContentTrees, treebank: Treebank) -> Treebank:
    """Return content words with what is in their slots, as a person would write the trees.

    The content words of a sentence come first, in the order of `trees`, which were made of
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


def _all_nodes(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]]
) -> tuple[list[InsertionNode], list[int]]:
    """Return the words of all trees, and where each tree begins."""
    nodes: list[InsertionNode] = []
    offsets = [0]
    for start, end in pairwise(trees.offsets.tolist()):
        nodes += _tree(trees, fillings, start, end)
        offsets.append(len(nodes))
    return nodes, offsets


def _tree(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]], start: int, end: int
) -> list[InsertionNode]:
    """Return one tree's content words, then all that is in their slots."""
    heads = [int(head) - start + 1 if head >= 0 else 0 for head in trees.heads[start:end]]
    nodes = [
        InsertionNode(
            trees.words[j], trees.tags[j], trees.relations[j], head, None, int(trees.places[j])
        )
        for j, head in enumerate(heads, start)
    ]
    for slot in SLOTS:
        for j in range(start, end):
            for item, words in enumerate(fillings[slot][j]):
                # What the input has in a slot is not changed.
                sources = trees.sources[slot][j][item] if trees.sources[slot][j] else ()
                nodes += _item(words, (slot, j), item, (j - start + 1, len(nodes) + 1), sources)
    return nodes


def _item(
    words: Item, slot: Slot, item: int, heads: tuple[int, int], sources: tuple[int, ...]
) -> Iterator[InsertionNode]:
    """Yield the words of an item in a slot; `heads` are those of its first word and of others."""
    for part, word in enumerate(words):
        place, source = InsertionPlace(slot, item, part), sources[part] if sources else -1
        yield InsertionNode(word.word, word.tag, word.relation, heads[part > 0], place, source)


MIN_WIDE_PROBABILITY = 0.08
"""Probability of the widest filling that a sentence is ordered with."""
MIN_PROBABILITY = 0.02
"""Fillings that are less probable are not tried."""
MAX_PERMUTATIONS = 10_000  # permutations; the first one always fits the filling itself
MAX_PLACEMENTS = 4
"""Ways to show one filling in the places of another."""

Shown = tuple[Item | None, ...]
"""For each item of the widest filling what is shown in its place; None if nothing is."""


class Candidate(NamedTuple):
    """A filling of a slot, its probability, and where its words stand."""

    filling: Filling
    chance: float
    placement: Shown


class Token(NamedTuple):
    """A word in a sentence, and its place in a slot: the item and the word of it."""

    word: str
    tag: str
    slot: Slot | None
    item: int
    part: int


Sentence = list[Token]


def widest_filling(choice: Choice) -> Filling:
    """Return the longest likely filling that has places for the best one.

    Of equally long fillings it is the likeliest.
    """
    likely = [
        pair
        for pair in choice.fillings
        if pair[1] >= MIN_WIDE_PROBABILITY and _placements(choice.best, pair[0])
    ]
    return max(likely, key=lambda pair: (len(pair[0]), pair[1]))[0] if likely else choice.best


def list_candidates(choice: Choice, wide: Filling) -> list[Candidate]:
    """Return the ways to fill a slot in the places of its widest filling."""
    probable = [
        pair for pair in choice.fillings if pair[1] >= MIN_PROBABILITY or pair[0] == choice.best
    ]
    return [
        Candidate(filling, chance, placement)
        for filling, chance in probable
        for placement in _placements(filling, wide)
    ]


def _placements(filling: Filling, wide: Filling) -> list[Shown]:
    """Return the ways to show a filling in the places of a wider one."""
    fitting = (
        positions
        for positions in islice(permutations(range(len(wide)), len(filling)), MAX_PERMUTATIONS)
        if all(_is_alike(item, wide[k]) for item, k in zip(filling, positions, strict=True))
    )
    places = (dict(zip(positions, filling, strict=True)) for positions in fitting)
    placements = (tuple(placement.get(k) for k in range(len(wide))) for placement in places)
    return list(islice(dict.fromkeys(placements), MAX_PLACEMENTS))


def _is_alike(a: Item, b: Item) -> bool:
    return len(a) == len(b) and base_relation(a[0].relation) == base_relation(b[0].relation)


def ordered_tokens(inserted: InsertedTrees, orders: Orders) -> Iterator[Sentence]:
    """Yield the words of every tree in its best order."""
    trees = inserted.trees
    for start, (best, *_) in zip(trees.offsets[:-1].tolist(), orders, strict=True):
        tokens = []
        for j in (start + node for node in best.nodes):
            place = inserted.places[j]
            slot, item, part = (place.slot, place.item, place.part) if place else (None, 0, 0)
            word = SPACES.sub(SPACE, trees.words[j])
            tokens.append(Token(word, trees.tags[j], slot, item, part))
        yield tokens


def open_slots(
    sentence: Sentence, choices: Mapping[Slot, Choice], wide: Mapping[str, Sequence[Filling]]
) -> dict[Slot, list[Candidate]]:
    """Return the slots of a sentence that can be filled in several ways, with these."""
    slots = dict.fromkeys(token.slot for token in sentence if token.slot in choices)
    candidates = {s: list_candidates(choices[s], wide[s[0]][s[1]]) for s in slots if s is not None}
    return {
        slot: slot_candidates
        for slot, slot_candidates in candidates.items()
        if len(slot_candidates) > 1
    }


LN_10 = 2.302585092994046
ROUNDS = 2


class RescoringWeights(NamedTuple):
    """Weights of the two models, and what a word of a filling is worth."""

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
"""Of every slot, for either input: chosen on documents held out of EWT's training part."""


class FillingScore(NamedTuple):
    """The score of a filling: log P, both models by weight, the bonus of its words, the sum."""

    log_p: float
    language_model: float
    class_model: float
    bonus: float
    total: float

    def minus(self, other: FillingScore) -> FillingScore:
        """Return the differences from another score."""
        return FillingScore(*(a - b for a, b in zip(self, other, strict=True)))


class RescoredFillings(NamedTuple):
    """The best filling of every slot, and the scores of all that were tried there."""

    best: dict[Slot, Filling]
    scores: dict[Slot, dict[Filling, FillingScore]]


class InsertionDecision:
    """A sentence with slots to decide: their candidates, and the number of the one that is best.

    `scores` has those of the last time that slots were decided.
    """

    def __init__(
        self,
        sentence: Sentence,
        slots: Mapping[Slot, list[Candidate]],
        choices: Mapping[Slot, Choice],
    ) -> None:
        self.sentence, self.slots = sentence, slots
        self.best = {
            slot: _index_of(candidates, choices[slot].best) for slot, candidates in slots.items()
        }
        self.scores: dict[Slot, list[FillingScore]] = {}
        self.places: dict[Slot, list[int]] = {slot: [] for slot in slots}
        for at, token in enumerate(sentence):
            if token.slot in self.places:
                self.places[token.slot].append(at)

    def texts(self, classes: ClassModel) -> tuple[list[str], list[str]]:
        """Return the sentence with every candidate of every slot, as words and as classes."""
        words = [token.word for token in self.sentence]
        tokens = [classes.token(token.word, token.tag) for token in self.sentence]
        for slot, candidates in self.slots.items():
            self._show(slot, candidates[self.best[slot]], words, tokens, classes)
        texts: list[str] = []
        class_texts: list[str] = []
        for slot, candidates in self.slots.items():
            slot_words, slot_tokens = list(words), list(tokens)
            for candidate in candidates:
                self._show(slot, candidate, slot_words, slot_tokens, classes)
                texts.append(" ".join(filter(None, slot_words)))
                class_texts.append(" ".join(filter(None, slot_tokens)))
        return texts, class_texts

    def _show(
        self,
        slot: Slot,
        candidate: Candidate,
        words: list[str],
        tokens: list[str],
        classes: ClassModel,
    ) -> None:
        """Put a candidate into its places; empty strings where it has nothing."""
        for at in self.places[slot]:
            token = self.sentence[at]
            item = candidate.placement[token.item]
            words[at] = tokens[at] = ""
            if item is not None:
                word = item[token.part]
                words[at] = SPACES.sub(SPACE, word.word)
                tokens[at] = classes.token(word.word, word.tag)

    def decide(self, scores: Sequence[FillingScore]) -> None:
        """Take the best candidate of every slot; `scores` has one for each, in their order."""
        start = 0
        for slot, candidates in self.slots.items():
            slot_scores = self.scores[slot] = list(scores[start : start + len(candidates)])
            self.best[slot] = max(range(len(candidates)), key=lambda n: slot_scores[n].total)
            start += len(candidates)

    def scored(self, slot: Slot) -> dict[Filling, FillingScore]:
        """Return the score of every filling of a slot where it stands best."""
        best_scores: dict[Filling, FillingScore] = {}
        for candidate, score in zip(self.slots[slot], self.scores[slot], strict=True):
            if (
                candidate.filling not in best_scores
                or score.total > best_scores[candidate.filling].total
            ):
                best_scores[candidate.filling] = score
        return best_scores


def _index_of(candidates: list[Candidate], filling: Filling) -> int:
    return next((n for n, candidate in enumerate(candidates) if candidate.filling == filling), 0)


def rescore(
    inserted: InsertedTrees,
    orders: Orders,
    choices: Sequence[Choice],
    wide: Mapping[str, Sequence[Filling]],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, RescoringWeights],
) -> RescoredFillings:
    """Return what fits best into the slots of trees that have their widest likely fillings."""
    choice_of_slot = {(choice.slot, choice.node): choice for choice in choices}
    decisions = [
        InsertionDecision(sentence, slots, choice_of_slot)
        for sentence in ordered_tokens(inserted, orders)
        if (slots := open_slots(sentence, choice_of_slot, wide))
    ]
    for _ in range(ROUNDS):
        _decide(decisions, model, classes, weights)
    best = {
        slot: candidates[decision.best[slot]].filling
        for decision in decisions
        for slot, candidates in decision.slots.items()
    }
    return RescoredFillings(
        best, {slot: decision.scored(slot) for decision in decisions for slot in decision.slots}
    )


def _decide(
    decisions: Sequence[InsertionDecision],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, RescoringWeights],
) -> None:
    """Decide all slots once, each with what the others have."""
    if not decisions:
        return
    texts = [decision.texts(classes) for decision in decisions]
    lm_scores = _logs(model, [text for decision_texts, _ in texts for text in decision_texts])
    class_scores = _logs(
        classes.model, [text for _, decision_texts in texts for text in decision_texts]
    )
    weighted_candidates = [
        (weights[slot[0]], candidate)
        for decision in decisions
        for slot, candidates in decision.slots.items()
        for candidate in candidates
    ]
    log_probabilities = log(np.array([candidate.chance for _, candidate in weighted_candidates]))
    a, b, c = np.array([of_slot for of_slot, _ in weighted_candidates]).T
    n_words = np.array([sum(map(len, candidate.filling)) for _, candidate in weighted_candidates])
    score_parts = log_probabilities, a * lm_scores, b * class_scores, c * n_words
    rows = np.stack(
        [*score_parts, score_parts[0] + score_parts[1] + score_parts[2] + score_parts[3]], axis=1
    ).tolist()
    scores = [FillingScore(*row) for row in rows]
    start = 0
    for decision in decisions:
        n = sum(map(len, decision.slots.values()))
        decision.decide(scores[start : start + n])
        start += n


def _logs(model: LanguageModel, texts: Sequence[str]) -> Floats:
    """Return the natural logarithms of the probabilities of texts."""
    return LN_10 * model.score(texts, threads=1)


Fillings = Mapping[str, list[Filling]]


class ContentOrderer(Realizer, Protocol):
    """A realizer that can order completed trees: FERGUS or the ordering model."""

    @property
    def language_model(self) -> LanguageModel:
        """The language model that helps to decide what fills a slot."""


@dataclass(frozen=True, eq=False)
class RealizedContent:
    """Trees with the words that were inserted, their best orders, and what is in every slot."""

    inserted: InsertedTrees
    orders: Orders
    fillings: Fillings
    choices: tuple[Choice, ...]
    wide: InsertedTrees
    """The trees with the widest likely fillings."""
    wide_orders: Orders
    scores: Mapping[Slot, Mapping[Filling, FillingScore]]
    """Slots that were decided by more than their classifier: scores of what was tried."""


def realize_content(
    completer: Completer,
    orderer: ContentOrderer,
    content: ContentTrees,
    slots: Sequence[str],
    k: int = 1,
) -> RealizedContent:
    """Insert words into slots, and return the k best orders of every tree.

    Features and candidates of all trees are held at once: give it blocks of trees.
    """
    completed_trees = completer.complete(content, slots)
    fillings = _replace_fillings(
        completed_trees,
        {(choice.slot, choice.node): widest_filling(choice) for choice in completed_trees.choices},
    )
    wide = insert_fillings(completed_trees.trees, fillings)
    wide_orders = orderer.realize(wide.trees)
    models = orderer.language_model, completer.classes, WEIGHTS[completer.inputs]
    rescoring = rescore(wide, wide_orders, completed_trees.choices, fillings, *models)
    fillings = _replace_fillings(completed_trees, rescoring.best, fillings)
    inserted = insert_fillings(completed_trees.trees, fillings)
    orders = orderer.realize(inserted.trees, k)
    return RealizedContent(
        inserted, orders, fillings, completed_trees.choices, wide, wide_orders, rescoring.scores
    )


def _replace_fillings(
    completed_trees: CompletedTrees,
    replacements: Mapping[tuple[str, int], Filling],
    fillings: Fillings | None = None,
) -> Fillings:
    """Return fillings with others in some slots."""
    filled = {slot: list(column) for slot, column in (fillings or completed_trees.fillings).items()}
    for (slot, j), filling in replacements.items():
        filled[slot][j] = filling
    return filled
