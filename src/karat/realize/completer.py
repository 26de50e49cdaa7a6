"""The class model: an n-gram model of sentences in which tags stand for all but frequent words.

It sees which function words and marks follow each other around nouns, verbs and so on, whatever
these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.content import (
    SLOTS,
    ContentTrees,
    Filling,
    SlotWord,
    content_trees,
    filling_text,
    final_marks,
)
from karat.realize.input_trees import SPACE, SPACES, check_inputs
from karat.realize.slot_features import (
    BASE,
    FEATURES,
    Hashes,
    NodeFeatures,
    filled_templates,
    hash_strings,
    learn_lemmas,
    mix,
    ragged,
)
from karat.realize.symbols import from_half_bytes, to_half_bytes
from karat.realize.treebank import Treebank
from karat.storage import schema
from karat.storage.schema import ModelLayout, check_arrays
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

ORDER, FREQUENT = 5, 50
"""Length of the n-grams; times that a word occurs which stands for itself."""


@dataclass(frozen=True, eq=False)
class ClassModel:
    """The words that stand for themselves, and the model of these and of tags."""

    frequent: frozenset[str]
    model: LanguageModel

    def token(self, word: str, tag: str) -> str:
        """Return what stands for a word, in lower case."""
        return SPACES.sub(SPACE, word) if word in self.frequent else tag

    def about(self) -> dict[str, Any]:
        """Return the description beside the arrays."""
        return {"frequent": sorted(self.frequent), "model": self.model.about}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        return with_prefix("classes_", self.model.arrays)

    @classmethod
    def stored(cls, about: Mapping[str, Any], arrays: Mapping[str, Any], name: str) -> ClassModel:
        """Return a stored model; arrays of other parts may stand beside its own."""
        model = LanguageModel(about["model"], without_prefix("classes_", arrays), name)
        return cls(frozenset(map(str, about["frequent"])), model.check_finite(name))


def train_class_model(treebank: Treebank) -> ClassModel:
    """Train on the sentences of a treebank."""
    words = [word.lower() for word in treebank.words]
    frequent = frozenset(word for word, n in Counter(words).items() if n >= FREQUENT)
    pairs = zip(words, treebank.upos, strict=True)
    tokens = [SPACES.sub(SPACE, word) if word in frequent else tag for word, tag in pairs]
    sentences = [" ".join(tokens[a:b]) for a, b in pairwise(treebank.offsets.tolist())]
    return ClassModel(frequent, LanguageModel.train(sentences, ORDER, tok="none"))


Weights = NDArray[np.float32]
Chances = NDArray[np.float32]
Numbers = NDArray[np.int32]
Kind = tuple[str, str]
T = TypeVar("T")

BITS = 22
MIN_FEATURE_COUNT, NODES = 2, 10_000
"""Features that occur less often have no weights; where more nodes teach, one in so many."""
EPOCHS, REMEMBERED = 6, 2
DAMPING = 1.0
MIN_FILLING_COUNT = 3
"""Fillings that are rarer are not learned."""
MIN_FILLED_SHARE = 0.002
"""Of the nodes of a kind that fill a slot: where there are fewer, the slot stays empty."""


class Learning(NamedTuple):
    """Settings of training: the rate of steps, and the share of features that each leaves out."""

    rate: float = 0.07
    dropout: float = 0.3


DEFAULT_LEARNING = Learning()


class TreeViews:
    """Trees as classifiers see them: features that all slots share, and those of filled slots."""

    def __init__(self, trees: ContentTrees, inputs: str, lemmas: Mapping[str, str]) -> None:
        self.trees, self.nodes = trees, trees.nodes
        self._features = NodeFeatures(trees, inputs == "all", lemmas)
        columns = self._features.columns
        self._base = self._features.blocks(columns, BASE, 1)
        if inputs == "all":
            self._base += self._features.feature_blocks(columns, FEATURES, 1000)
        tags = trees.tags if inputs == "all" else [""] * trees.nodes
        self.kinds: list[Kind] = list(zip(trees.relations, tags, strict=True))

    def numbers(self, filled: Sequence[Hashes], nodes: Ints) -> tuple[Numbers, Ints]:
        """Return the features of some nodes, with the slots filled so far, and where each begins.

        `filled` has for every such slot a symbol of what each node has in it.
        """
        columns = dict(self._features.columns)
        together = np.zeros(self.nodes, dtype=np.uint64)
        for k, texts in enumerate(filled):
            columns[str(k)] = texts
            together = mix(together, texts)
        columns["A"] = together
        blocks = self._base
        if filled:
            blocks = blocks + self._features.blocks(columns, filled_templates(len(filled)), 2000)
        return _select_nodes(*ragged(blocks, self.nodes, BITS), nodes)


@dataclass(frozen=True, eq=False)
class SlotClassifier(Generic[T]):
    """Fillings, kinds of nodes that may have them, features that have weights, and the weights.

    The first filling is that of all other nodes: nothing.
    """

    fillings: tuple[T, ...]
    kinds: frozenset[Kind]
    known: Flags
    weights: Weights

    def chances(self, views: TreeViews, filled: Sequence[Hashes]) -> tuple[Ints, Chances]:
        """Return the nodes that may have fillings, and the probability of each."""
        members = [j for j, kind in enumerate(views.kinds) if kind in self.kinds]
        nodes = np.array(members, dtype=np.int64)
        rows = _rows(*views.numbers(filled, nodes), self.known)
        return nodes, _kernel.label_chances(self.weights, len(self.fillings), rows)

    def about(self) -> dict[str, Any]:
        """Return the description beside the arrays."""
        return {"fillings": list(self.fillings), "kinds": sorted(self.kinds)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays: half a byte a weight, and the exponent of each row."""
        levels, exponents = to_half_bytes(self.weights, len(self.fillings))
        return {"known": np.packbits(self.known), "levels": levels, "exponents": exponents}

    @classmethod
    def stored(
        cls, fillings: Sequence[T], kinds: Sequence[Sequence[str]], arrays: Mapping[str, Any]
    ) -> SlotClassifier[T]:
        """Return a stored classifier; a ValueError or KeyError if its arrays do not fit."""
        levels = {
            "known": ModelLayout("uint8", "bytes of features"),
            "levels": ModelLayout("uint8", "levels"),
        }
        check_arrays(arrays, levels | {"exponents": ModelLayout("int8", "rows", -100, 100)})
        has_weight = np.unpackbits(arrays["known"]).astype(bool)
        if len(has_weight) != 1 << BITS or int(has_weight.sum()) != len(arrays["exponents"]):
            raise ValueError("features and weights differ in number")
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(fillings))
        node_kinds = frozenset((relation, tag) for relation, tag in kinds)
        return cls(tuple(fillings), node_kinds, has_weight, weights)

    def rounded(self) -> SlotClassifier[T]:
        """Return the classifier as it is when it has been stored."""
        arrays = self.arrays()
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(self.fillings))
        return SlotClassifier(self.fillings, self.kinds, self.known, weights)


def train_classifier(
    views: TreeViews,
    gold: Sequence[T],
    filled: Sequence[Hashes],
    nothing: T,
    seed: int,
    learning: Learning = DEFAULT_LEARNING,
) -> SlotClassifier[T]:
    """Train a classifier on nodes whose fillings are known.

    Its weights are the mean of those at the halves of the last epochs.
    """
    times = Counter[Any](gold)
    fillings = (
        nothing,
        *sorted(f for f, n in times.items() if f != nothing and n >= MIN_FILLING_COUNT),
    )
    number = {filling: i for i, filling in enumerate(fillings)}
    kinds = _filled_kinds(views.kinds, gold, nothing)
    members = [j for j, kind in enumerate(views.kinds) if kind in kinds and gold[j] in number]
    numbers, offsets = views.numbers(filled, np.array(members, dtype=np.int64))
    min_count = max(MIN_FEATURE_COUNT, len(members) // NODES)
    has_weight = np.bincount(numbers, minlength=1 << BITS) >= min_count
    rows = _rows(numbers, offsets, has_weight)
    labels = np.array([number[gold[j]] for j in members], dtype=np.int32).reshape(-1, 1)
    trainer = _kernel.LabelTrainer([len(fillings)], int(has_weight.sum()), *learning, DAMPING)
    rng = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(members)), 2):
            trainer.train_nodes(rows, labels, part, seed * 1000 + epoch)
            if epoch >= EPOCHS - REMEMBERED:
                trainer.remember()
    # Without dropout more features add up than the weights were trained for.
    weights = trainer.mean().reshape(-1) * np.float32(1 - learning.dropout)
    return SlotClassifier(fillings, kinds, has_weight, weights)


def _filled_kinds(kinds: list[Kind], gold: Sequence[T], nothing: T) -> frozenset[Kind]:
    """Return the kinds of nodes that fill a slot often enough."""
    totals = Counter(kinds)
    filled = Counter(kind for kind, filling in zip(kinds, gold, strict=True) if filling != nothing)
    return frozenset(kind for kind, n in filled.items() if n >= MIN_FILLED_SHARE * totals[kind])


def _select_nodes(numbers: Numbers, offsets: Ints, nodes: Ints) -> tuple[Numbers, Ints]:
    """Return the features of some nodes alone."""
    counts = np.diff(offsets)[nodes]
    begins = np.append(0, np.cumsum(counts)).astype(np.int64)
    places = np.arange(int(begins[-1])) + np.repeat(offsets[nodes] - begins[:-1], counts)
    return numbers[places], begins


def _rows(numbers: Numbers, offsets: Ints, has_weight: Flags) -> _kernel.RowsOfNodes:
    """Return the rows of the features that have weights."""
    table = np.where(has_weight, np.cumsum(has_weight) - 1, -1).astype(np.int32)
    rows = table[numbers]
    before = np.append(0, np.cumsum(rows >= 0))
    return _kernel.given_rows(rows[rows >= 0], before[offsets].astype(np.int64))


COMPLETED = ("all", "relations")
"""Kinds of input that can be completed: words with tags, features and relations; with relations."""
VERSION = 2
"""Of the stored part: raised when its layout or the features of its classifiers change."""
MAX_FILLINGS = 6
"""Likeliest fillings of a slot that are kept."""
EMPTY_FACTOR = 0.5
"""Factor on the probability of an empty slot, for what later slots see."""

_KINDS = schema.list_of(schema.list_of(schema.text))
_WORDS = schema.list_of(schema.list_of(schema.text))
_SLOT = schema.record({"fillings": schema.list_of(schema.list_of(_WORDS), 1), "kinds": _KINDS})
_TAGGER = schema.record({"fillings": schema.list_of(schema.text, 1), "kinds": _KINDS})
_ABOUT = schema.record(
    {
        "inputs": schema.text,
        "final": schema.list_of(schema.text),
        "lemmas": schema.mapping_of(schema.text),
        "classes": schema.record({"frequent": schema.list_of(schema.text)}),
        "slots": schema.mapping_of(_SLOT),
    },
    tagger=_TAGGER,
)


class Choice(NamedTuple):
    """A slot of a node: its likeliest fillings, each with its probability."""

    node: int
    slot: str
    fillings: tuple[tuple[Filling, float], ...]

    @property
    def best(self) -> Filling:
        """The filling that later slots see."""
        return self.fillings[0][0]


@dataclass(frozen=True, eq=False)
class CompletedTrees:
    """Content words with all that is in their slots, and the choices that were made."""

    trees: ContentTrees
    fillings: Mapping[str, list[Filling]]
    choices: tuple[Choice, ...]


@dataclass(frozen=True, eq=False)
class Completer:
    """Classifiers of slots for one kind of input: `all` or `relations`."""

    inputs: str
    final: frozenset[str]
    """Marks that end sentences."""
    lemmas: Mapping[str, str]
    """Form -> its lemma, where they differ."""
    classes: ClassModel
    slots: Mapping[str, SlotClassifier[Filling]]
    tagger: SlotClassifier[str] | None

    def complete(self, trees: ContentTrees, slots: Sequence[str]) -> CompletedTrees:
        """Fill the slots that are wanted and empty, wherever a node is not final."""
        if missing := set(slots) - set(self.slots):
            raise InputError(f"the model does not fill the slots {', '.join(sorted(missing))}")
        views = TreeViews(trees, self.inputs, self.lemmas)
        filled: list[Hashes] = []
        fillings, choices = dict(trees.fillings), list[Choice]()
        for slot in SLOTS:
            if slot in slots:
                slot_choices = self._choices(slot, views, filled)
                fillings[slot] = list(fillings[slot])
                for choice in slot_choices:
                    fillings[slot][choice.node] = choice.best
                choices += slot_choices
            filled.append(hash_fillings(fillings[slot]))
        return CompletedTrees(self._tagged(trees, views), fillings, tuple(choices))

    def _choices(self, slot: str, views: TreeViews, filled: list[Hashes]) -> list[Choice]:
        """Return the likeliest fillings of a slot where it may be filled."""
        model, input_fillings, closed = (
            self.slots[slot],
            views.trees.fillings[slot],
            views.trees.closed,
        )
        nodes, chances = model.chances(views, filled)
        free = [n for n, j in enumerate(nodes.tolist()) if not input_fillings[j] and not closed[j]]
        nodes, chances = nodes[free], chances[free]
        weighted = chances.copy()
        weighted[:, 0] *= np.float32(EMPTY_FACTOR)
        ranked = np.argsort(-weighted, axis=1, kind="stable")[:, :MAX_FILLINGS]
        choices = []
        for j, best, p in zip(nodes.tolist(), ranked.tolist(), chances.tolist(), strict=True):
            choices.append(Choice(j, slot, tuple((model.fillings[k], p[k]) for k in best)))
        return choices

    def _tagged(self, trees: ContentTrees, views: TreeViews) -> ContentTrees:
        """Return the trees with tags, guessed if they are not given."""
        if self.tagger is None:
            return trees
        nodes, chances = self.tagger.chances(views, [])
        tags = [self.tagger.fillings[0]] * trees.nodes
        for j, best in zip(nodes.tolist(), chances.argmax(axis=1).tolist(), strict=True):
            tags[j] = self.tagger.fillings[best]
        return replace(trees, tags=tags)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored completer: its description and its arrays."""
        slots = {slot: classifier.about() for slot, classifier in self.slots.items()}
        arrays = self.classes.arrays()
        for slot, classifier in self.slots.items():
            arrays |= with_prefix(f"{slot}_", classifier.arrays())
        description = {
            "version": VERSION,
            "inputs": self.inputs,
            "final": sorted(self.final),
            "lemmas": dict(self.lemmas),
        }
        about: dict[str, Any] = description | {"slots": slots, "classes": self.classes.about()}
        if self.tagger is not None:
            about["tagger"] = self.tagger.about()
            arrays |= with_prefix("tagger_", self.tagger.arrays())
        return about, arrays

    @classmethod
    def stored(cls, store: ModelStore) -> Completer:
        """Return the completer in a store that has its parts."""
        description, arrays = store.about, store.arrays
        if (version := description.get("version", 1)) != VERSION:
            raise InputError(
                f"{store.name}: its completion is of version {quoted(version)}, and this Karat "
                f"reads version {VERSION}: train the model again with --complete-from"
            )
        try:
            schema.check_fields(description, _ABOUT)
            check_inputs(description["inputs"], COMPLETED)
            slots = {
                slot: SlotClassifier.stored(
                    [_filling(filling) for filling in about["fillings"]],
                    about["kinds"],
                    without_prefix(f"{slot}_", arrays),
                )
                for slot, about in description["slots"].items()
                if slot in SLOTS
            }
            classes = ClassModel.stored(description["classes"], arrays, store.name)
            tagger = None
            if description["inputs"] == "relations":  # where tags are given, none are guessed
                tagger_description, tagger_arrays = (
                    description["tagger"],
                    without_prefix("tagger_", arrays),
                )
                tagger = SlotClassifier.stored(
                    tagger_description["fillings"], tagger_description["kinds"], tagger_arrays
                )
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        settings = description["inputs"], frozenset(description["final"]), description["lemmas"]
        return cls(*settings, classes, slots, tagger)


def check_features(treebank: Treebank, inputs: str) -> None:
    """Refuse completion from features where a treebank has none."""
    if inputs == "all" and not any(treebank.features):
        raise InputError(f"{treebank.name}: no features (FEATS): give --complete-from relations")


def hash_fillings(fillings: Sequence[Filling]) -> Hashes:
    """Return a symbol of every filling."""
    return hash_strings(filling_text(filling) for filling in fillings)


def _filling(stored: list[list[list[str]]]) -> Filling:
    """Return a filling from lists; a TypeError or ValueError if they are none."""
    return tuple(tuple(SlotWord(*word) for word in item) for item in stored)


SLOT_LEARNING = {"comma": Learning(rate=0.05, dropout=0.6)}
"""Of slots that learn otherwise: commas have few sure signs, and learn too many by heart."""


def train_completer(
    treebank: Treebank, inputs: str, *, seed: int = 1, progress: Progress = silent
) -> Completer:
    """Train a completer; the same treebank and seed give the same one."""
    check_features(treebank, inputs)
    final = final_marks(treebank)
    trees, lemmas = content_trees(treebank, final), learn_lemmas(treebank)
    views = TreeViews(trees, inputs, lemmas)
    filled: list[Hashes] = []
    slots: dict[str, SlotClassifier[Filling]] = {}
    for n, slot in enumerate(SLOTS):
        progress(n, len(SLOTS) + 1, f"completion, {slot}")
        gold = trees.fillings[slot]
        learning = SLOT_LEARNING.get(slot, DEFAULT_LEARNING)
        classifier = train_classifier(views, gold, filled, (), seed * 100 + n, learning)
        slots[slot] = classifier.rounded()
        filled.append(hash_fillings(gold))
    progress(len(SLOTS), len(SLOTS) + 1, "completion, tags")
    tagger = None
    if inputs == "relations":
        tagger = train_classifier(views, trees.tags, [], "", seed * 100 + 99).rounded()
    return Completer(inputs, final, lemmas, train_class_model(treebank), slots, tagger)
