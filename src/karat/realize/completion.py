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
from karat.realize.content import SLOTS, ContentTrees, Filling, Item, base
from karat.realize.input_trees import SPACE, SPACES, InputTrees, Orders, Realizer, unordered_trees
from karat.realize.treebank import Treebank

if TYPE_CHECKING:
    from karat.lm.model import LanguageModel


Slot = tuple[str, int]
"""A slot and the content word that has it."""


class Place(NamedTuple):
    """The place of a word in a slot: the number of its item, and its own within the item."""

    slot: Slot
    item: int
    part: int


class Node(NamedTuple):
    """A word of a completed tree.

    `head` counts from 1 within the tree, 0 is the root's. `place` is None for content words.
    `source` is the word's place in the treebank's columns, -1 if it was inserted.
    """

    word: str
    tag: str
    relation: str
    head: int
    place: Place | None
    source: int


@dataclass(frozen=True, eq=False)
class InsertedTrees:
    """Trees with the words of their slots.

    `places` has the place of each word in a slot, None for content words; `sources` where words
    of the input stood in the treebank's columns, -1 for inserted ones.
    """

    trees: InputTrees
    places: list[Place | None]
    sources: Ints


def completed(trees: ContentTrees, fillings: Mapping[str, list[Filling]]) -> InsertedTrees:
    """Return the trees with the words of their slots as daughters of the words that have them.

    They may be longer than an input may be.
    """
    nodes, offsets = _all_nodes(trees, fillings)
    rows = ((one.word, "", one.tag, "", one.relation, "") for one in nodes)
    bank = Treebank.of_rows(trees.name, rows, [one.head for one in nodes], offsets, trees.ids)
    found = unordered_trees(bank, "all")
    starts = np.repeat(found.offsets[:-1], np.diff(found.offsets))
    moved = [nodes[j] for j in (starts + found.places).tolist()]
    sources = np.array([one.source for one in moved], dtype=np.int64)
    return InsertedTrees(found, [one.place for one in moved], sources)


def as_given(trees: ContentTrees, treebank: Treebank) -> Treebank:
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
    return Treebank.of_rows(trees.name, rows, [one.head for one in nodes], offsets, trees.ids)


def _all_nodes(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]]
) -> tuple[list[Node], list[int]]:
    """Return the words of all trees, and where each tree begins."""
    nodes: list[Node] = []
    offsets = [0]
    for start, end in pairwise(trees.offsets.tolist()):
        nodes += _tree(trees, fillings, start, end)
        offsets.append(len(nodes))
    return nodes, offsets


def _tree(
    trees: ContentTrees, fillings: Mapping[str, list[Filling]], start: int, end: int
) -> list[Node]:
    """Return one tree's content words, then all that is in their slots."""
    heads = [int(head) - start + 1 if head >= 0 else 0 for head in trees.heads[start:end]]
    nodes = [
        Node(trees.words[j], trees.tags[j], trees.relations[j], head, None, int(trees.places[j]))
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
) -> Iterator[Node]:
    """Yield the words of an item in a slot; `heads` are those of its first word and of others."""
    for part, one in enumerate(words):
        place, source = Place(slot, item, part), sources[part] if sources else -1
        yield Node(one.word, one.tag, one.relation, heads[part > 0], place, source)


LIKELY = 0.08
"""Probability of the widest filling that a sentence is ordered with."""
LEAST = 0.02
"""Fillings that are less probable are not tried."""
MOST_TRIED = 10_000  # permutations; the first one always fits the filling itself
MOST_WAYS = 4
"""Ways to show one filling in the places of another."""

Shown = tuple[Item | None, ...]
"""For each item of the widest filling what is shown in its place; None if nothing is."""


class Candidate(NamedTuple):
    """A filling of a slot, its probability, and where its words stand."""

    filling: Filling
    chance: float
    shown: Shown


class Token(NamedTuple):
    """A word in a sentence, and its place in a slot: the item and the word of it."""

    word: str
    tag: str
    slot: Slot | None
    item: int
    part: int


Sentence = list[Token]


def widest(choice: Choice) -> Filling:
    """Return the longest likely filling that has places for the best one.

    Of equally long fillings it is the likeliest.
    """
    likely = [one for one in choice.fillings if one[1] >= LIKELY and _ways(choice.best, one[0])]
    return max(likely, key=lambda one: (len(one[0]), one[1]))[0] if likely else choice.best


def list_candidates(choice: Choice, wide: Filling) -> list[Candidate]:
    """Return the ways to fill a slot in the places of its widest filling."""
    tried = [one for one in choice.fillings if one[1] >= LEAST or one[0] == choice.best]
    return [
        Candidate(filling, chance, shown)
        for filling, chance in tried
        for shown in _ways(filling, wide)
    ]


def _ways(filling: Filling, wide: Filling) -> list[Shown]:
    """Return the ways to show a filling in the places of a wider one."""
    fitting = (
        at
        for at in islice(permutations(range(len(wide)), len(filling)), MOST_TRIED)
        if all(_is_alike(item, wide[k]) for item, k in zip(filling, at, strict=True))
    )
    places = (dict(zip(at, filling, strict=True)) for at in fitting)
    shown = (tuple(one.get(k) for k in range(len(wide))) for one in places)
    return list(islice(dict.fromkeys(shown), MOST_WAYS))


def _is_alike(a: Item, b: Item) -> bool:
    return len(a) == len(b) and base(a[0].relation) == base(b[0].relation)


def sentences(inserted: InsertedTrees, orders: Orders) -> Iterator[Sentence]:
    """Yield the words of every tree in its best order."""
    trees = inserted.trees
    for start, (best, *_) in zip(trees.offsets[:-1].tolist(), orders, strict=True):
        found = []
        for j in (start + node for node in best.nodes):
            place = inserted.places[j]
            slot, item, part = (place.slot, place.item, place.part) if place else (None, 0, 0)
            word = SPACES.sub(SPACE, trees.words[j])
            found.append(Token(word, trees.tags[j], slot, item, part))
        yield found


def open_slots(
    sentence: Sentence, choices: Mapping[Slot, Choice], wide: Mapping[str, Sequence[Filling]]
) -> dict[Slot, list[Candidate]]:
    """Return the slots of a sentence that can be filled in several ways, with these."""
    slots = dict.fromkeys(token.slot for token in sentence if token.slot in choices)
    found = {s: list_candidates(choices[s], wide[s[0]][s[1]]) for s in slots if s is not None}
    return {slot: ways for slot, ways in found.items() if len(ways) > 1}


LN_10 = 2.302585092994046
ROUNDS = 2


class Weights(NamedTuple):
    """Weights of the two models, and what a word of a filling is worth."""

    words: float
    classes: float
    word: float


WEIGHTS = {
    "all": {
        "aux": Weights(0.0, 0.0, 1.1),
        "mark": Weights(0.0, 0.15, 2.0),
        "case": Weights(0.5, 0.0, 1.5),
        "cc": Weights(0.0, 0.3, 0.7),
        "article": Weights(0.3, 0.0, 1.5),
        "final": Weights(0.15, 0.3, 1.1),
        "comma": Weights(0.15, 0.15, 1.6),
        "other": Weights(0.0, 0.15, 1.1),
    },
    "relations": {
        "aux": Weights(0.0, 0.3, 2.0),
        "mark": Weights(0.3, 0.0, 2.0),
        "case": Weights(0.3, 0.15, 1.5),
        "cc": Weights(0.0, 0.3, 1.1),
        "article": Weights(0.3, 0.15, 2.0),
        "final": Weights(0.3, 0.0, 1.5),
        "comma": Weights(0.15, 0.15, 1.6),
        "other": Weights(0.0, 0.3, 1.5),
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


class Rescored(NamedTuple):
    """The best filling of every slot, and the scores of all that were tried there."""

    best: dict[Slot, Filling]
    scores: dict[Slot, dict[Filling, FillingScore]]


class Decision:
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
        self.best = {slot: _first(ways, choices[slot].best) for slot, ways in slots.items()}
        self.scores: dict[Slot, list[FillingScore]] = {}
        self.places: dict[Slot, list[int]] = {slot: [] for slot in slots}
        for at, token in enumerate(sentence):
            if token.slot in self.places:
                self.places[token.slot].append(at)

    def texts(self, classes: ClassModel) -> tuple[list[str], list[str]]:
        """Return the sentence with every candidate of every slot, as words and as classes."""
        words = [token.word for token in self.sentence]
        tokens = [classes.token(token.word, token.tag) for token in self.sentence]
        for slot, ways in self.slots.items():
            self._show(slot, ways[self.best[slot]], words, tokens, classes)
        texts: list[str] = []
        told: list[str] = []
        for slot, ways in self.slots.items():
            mine, theirs = list(words), list(tokens)
            for way in ways:
                self._show(slot, way, mine, theirs, classes)
                texts.append(" ".join(filter(None, mine)))
                told.append(" ".join(filter(None, theirs)))
        return texts, told

    def _show(
        self, slot: Slot, way: Candidate, words: list[str], tokens: list[str], classes: ClassModel
    ) -> None:
        """Put a candidate into its places; empty strings where it has nothing."""
        for at in self.places[slot]:
            token = self.sentence[at]
            item = way.shown[token.item]
            words[at] = tokens[at] = ""
            if item is not None:
                one = item[token.part]
                words[at] = SPACES.sub(SPACE, one.word)
                tokens[at] = classes.token(one.word, one.tag)

    def decide(self, scores: Sequence[FillingScore]) -> None:
        """Take the best candidate of every slot; `scores` has one for each, in their order."""
        at = 0
        for slot, ways in self.slots.items():
            mine = self.scores[slot] = list(scores[at : at + len(ways)])
            self.best[slot] = max(range(len(ways)), key=lambda n: mine[n].total)
            at += len(ways)

    def scored(self, slot: Slot) -> dict[Filling, FillingScore]:
        """Return the score of every filling of a slot where it stands best."""
        found: dict[Filling, FillingScore] = {}
        for way, score in zip(self.slots[slot], self.scores[slot], strict=True):
            if way.filling not in found or score.total > found[way.filling].total:
                found[way.filling] = score
        return found


def _first(ways: list[Candidate], filling: Filling) -> int:
    return next((n for n, way in enumerate(ways) if way.filling == filling), 0)


def rescored(
    inserted: InsertedTrees,
    orders: Orders,
    choices: Sequence[Choice],
    wide: Mapping[str, Sequence[Filling]],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, Weights],
) -> Rescored:
    """Return what fits best into the slots of trees that have their widest likely fillings."""
    of = {(choice.slot, choice.node): choice for choice in choices}
    decisions = [
        Decision(sentence, slots, of)
        for sentence in sentences(inserted, orders)
        if (slots := open_slots(sentence, of, wide))
    ]
    for _ in range(ROUNDS):
        _decide(decisions, model, classes, weights)
    best = {
        slot: ways[one.best[slot]].filling for one in decisions for slot, ways in one.slots.items()
    }
    return Rescored(best, {slot: one.scored(slot) for one in decisions for slot in one.slots})


def _decide(
    decisions: Sequence[Decision],
    model: LanguageModel,
    classes: ClassModel,
    weights: Mapping[str, Weights],
) -> None:
    """Decide all slots once, each with what the others have."""
    if not decisions:
        return
    texts = [one.texts(classes) for one in decisions]
    said = _logs(model, [text for mine, _ in texts for text in mine])
    told = _logs(classes.model, [text for _, mine in texts for text in mine])
    tried = [
        (weights[slot[0]], way)
        for one in decisions
        for slot, ways in one.slots.items()
        for way in ways
    ]
    chances = log(np.array([way.chance for _, way in tried]))
    a, b, c = np.array([of_slot for of_slot, _ in tried]).T
    many = np.array([sum(map(len, way.filling)) for _, way in tried])
    parts = chances, a * said, b * told, c * many
    rows = np.stack([*parts, parts[0] + parts[1] + parts[2] + parts[3]], axis=1).tolist()
    scores = [FillingScore(*row) for row in rows]
    at = 0
    for one in decisions:
        n = sum(map(len, one.slots.values()))
        one.decide(scores[at : at + n])
        at += n


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
    found = completer.complete(content, slots)
    fillings = _changed(found, {(one.slot, one.node): widest(one) for one in found.choices})
    wide = completed(found.trees, fillings)
    wide_orders = orderer.realize(wide.trees)
    models = orderer.language_model, completer.classes, WEIGHTS[completer.inputs]
    best = rescored(wide, wide_orders, found.choices, fillings, *models)
    fillings = _changed(found, best.best, fillings)
    inserted = completed(found.trees, fillings)
    orders = orderer.realize(inserted.trees, k)
    return RealizedContent(
        inserted, orders, fillings, found.choices, wide, wide_orders, best.scores
    )


def _changed(
    found: CompletedTrees, best: Mapping[tuple[str, int], Filling], of: Fillings | None = None
) -> Fillings:
    """Return fillings with others in some slots."""
    filled = {slot: list(column) for slot, column in (of or found.fillings).items()}
    for (slot, j), filling in best.items():
        filled[slot][j] = filling
    return filled
