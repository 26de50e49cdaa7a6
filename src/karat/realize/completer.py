"""The completer: fills the slots of content words in order, with a classifier for each slot.

The classifier of a slot sees the fillings of earlier slots at its node, the node's head, daughters
and sisters. The input is never changed: a slot that is filled in the input stays, and closed nodes
get no insertions. From words and relations alone, tags are predicted first, for the ordering model.
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
    learn_final_marks,
)
from karat.realize.input_trees import SPACE, SPACES, check_inputs
from karat.realize.slot_features import (
    Hashes,
    Kind,
    NodeFeatures,
    Numbers,
    hash_strings,
    learn_lemmas,
)
from karat.realize.symbols import (
    feature_rows,
    from_half_bytes,
    to_half_bytes,
)
from karat.realize.treebank import Treebank
from karat.storage import schema
from karat.storage.schema import ModelLayout, check_arrays
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

ORDER, FREQUENT = 5, 50
"""Length of the n-grams; occurrences of a word that the class model keeps as a word."""


@dataclass(frozen=True, eq=False)
class ClassModel:
    """An n-gram model of sentences in which tags replace all but the `frequent` words.

    It models the sequence of function words, marks and classes of content words.
    """

    frequent: frozenset[str]
    model: LanguageModel

    def token(self, word: str, tag: str) -> str:
        """Return the token of a lower-cased word."""
        return SPACES.sub(SPACE, word) if word in self.frequent else tag

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
        about = {"frequent": sorted(self.frequent), "model": self.model.about}
        return about, with_prefix("classes_", self.model.arrays)

    @classmethod
    def from_arrays(
        cls, about: Mapping[str, Any], arrays: Mapping[str, Any], name: str
    ) -> ClassModel:
        """Return a stored model; `arrays` may include those of other parts."""
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
T = TypeVar("T")

BITS = 22
MIN_FEATURE_COUNT, NODES = 2, 10_000
"""Minimal count of a feature with a weight; it is raised by one for each `NODES` nodes."""
EPOCHS, REMEMBERED = 6, 2
DAMPING = 1.0
MIN_FILLING_COUNT = 3
"""Rarer fillings are not learned."""
MIN_FILLED_SHARE = 0.002
"""A slot stays empty at nodes of a kind, if a smaller share of them fills it."""


RATE, DROPOUT = 0.07, 0.3
"""Learning rate, and share of features that are dropped out in training."""


@dataclass(frozen=True, eq=False)
class SlotClassifier(Generic[T]):
    """Fillings, kinds of nodes that may have them, features with weights, and the weights.

        P(filling | node) = exp(Σ w[f, filling]) / Σ over all fillings

    The kind of a node is its relation and tag. At nodes of other kinds the slot has the first
    filling, which is empty.
    """

    fillings: tuple[T, ...]
    kinds: frozenset[Kind]
    has_weight: Flags
    weights: Weights

    def chances(self, views: NodeFeatures, filled: Sequence[Hashes]) -> tuple[Ints, Chances]:
        """Return the nodes that may have fillings, and the probability of each."""
        members = [j for j, kind in enumerate(views.kinds) if kind in self.kinds]
        nodes = np.array(members, dtype=np.int64)
        rows = _rows(*views.numbers(filled, nodes, BITS), self.has_weight)
        return nodes, _kernel.label_chances(self.weights, len(self.fillings), rows)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored classifier: half a byte per weight, and the exponent of each row."""
        about = {"fillings": list(self.fillings), "kinds": sorted(self.kinds)}
        levels, exponents = to_half_bytes(self.weights, len(self.fillings))
        bits = np.packbits(self.has_weight)
        return about, {"known": bits, "levels": levels, "exponents": exponents}

    @classmethod
    def from_arrays(
        cls, fillings: Sequence[T], kinds: Sequence[Sequence[str]], arrays: Mapping[str, Any]
    ) -> SlotClassifier[T]:
        """Return a stored classifier; raise ValueError or KeyError if its arrays do not fit."""
        check_arrays(
            arrays,
            {
                "known": ModelLayout("uint8", "bytes of features"),
                "levels": ModelLayout("uint8", "levels"),
                "exponents": ModelLayout("int8", "rows", -100, 100),
            },
        )
        has_weight = np.unpackbits(arrays["known"]).astype(bool)
        if len(has_weight) != 1 << BITS or int(has_weight.sum()) != len(arrays["exponents"]):
            raise ValueError("the numbers of features and weights differ")
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(fillings))
        node_kinds = frozenset((relation, tag) for relation, tag in kinds)
        return cls(tuple(fillings), node_kinds, has_weight, weights)

    def rounded(self) -> SlotClassifier[T]:
        """Return the classifier with its weights rounded as in storage."""
        return self.from_arrays(self.fillings, [*self.kinds], self.parts()[1])


def train_classifier(
    views: NodeFeatures,
    gold: Sequence[T],
    filled: Sequence[Hashes],
    nothing: T,
    seed: int,
    rate: float = RATE,
    dropout: float = DROPOUT,
) -> SlotClassifier[T]:
    """Train a classifier on nodes with gold fillings.

    Its weights are averaged over the halves of the last epochs.
    """
    times = Counter[Any](gold)
    fillings = (
        nothing,
        *sorted(f for f, n in times.items() if f != nothing and n >= MIN_FILLING_COUNT),
    )
    number = {filling: i for i, filling in enumerate(fillings)}
    totals = Counter(views.kinds)
    filled_counts = Counter(
        kind for kind, filling in zip(views.kinds, gold, strict=True) if filling != nothing
    )
    kinds = frozenset(
        kind for kind, n in filled_counts.items() if n >= MIN_FILLED_SHARE * totals[kind]
    )
    members = [j for j, kind in enumerate(views.kinds) if kind in kinds and gold[j] in number]
    numbers, offsets = views.numbers(filled, np.array(members, dtype=np.int64), BITS)
    min_count = max(MIN_FEATURE_COUNT, len(members) // NODES)
    has_weight = np.bincount(numbers, minlength=1 << BITS) >= min_count
    rows = _rows(numbers, offsets, has_weight)
    labels = np.array([number[gold[j]] for j in members], dtype=np.int32).reshape(-1, 1)
    trainer = _kernel.LabelTrainer([len(fillings)], int(has_weight.sum()), rate, dropout, DAMPING)
    rng = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(members)), 2):
            trainer.train_nodes(rows, labels, part, seed * 1000 + epoch)
            if epoch >= EPOCHS - REMEMBERED:
                trainer.remember()
    # Compensate for dropout: more features are summed now than in training.
    weights = trainer.mean().reshape(-1) * np.float32(1 - dropout)
    return SlotClassifier(fillings, kinds, has_weight, weights)


def _rows(numbers: Numbers, offsets: Ints, has_weight: Flags) -> _kernel.RowsOfNodes:
    """Return the rows of the features that have weights."""
    rows = feature_rows(has_weight)[numbers]
    before = np.append(0, np.cumsum(rows >= 0))
    return _kernel.given_rows(rows[rows >= 0], before[offsets].astype(np.int64))


COMPLETED = ("all", "relations")
"""Kinds of input that can be completed: words with all labels, or with relations only."""
VERSION = 2
"""Version of the stored part: changes with its layout or the features of its classifiers."""
MAX_FILLINGS = 6
"""Number of fillings of a slot that are considered, the likeliest first."""
EMPTY_FACTOR = 0.5
"""Factor of the probability of an empty slot, when the best filling is chosen."""

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
    """The likeliest fillings of a slot of a node, each with its probability."""

    node: int
    slot: str
    fillings: tuple[tuple[Filling, float], ...]

    @property
    def best(self) -> Filling:
        """The filling that later slots see."""
        return self.fillings[0][0]


@dataclass(frozen=True, eq=False)
class Completer:
    """Classifiers of slots for one kind of input: `all` or `relations`."""

    inputs: str
    final_marks: frozenset[str]
    """Marks that end sentences."""
    lemmas: Mapping[str, str]
    """Form -> its lemma, where they differ."""
    classes: ClassModel
    slots: Mapping[str, SlotClassifier[Filling]]
    tagger: SlotClassifier[str] | None

    def complete(
        self, trees: ContentTrees, slots: Sequence[str]
    ) -> tuple[ContentTrees, tuple[Choice, ...]]:
        """Fill the given slots where they are empty and the node is not closed.

        Return the trees with fillings and tags, and the choices made.
        """
        if missing := set(slots) - set(self.slots):
            raise InputError(f"the model does not fill the slots {', '.join(sorted(missing))}")
        views = NodeFeatures(trees, self.inputs, self.lemmas)
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
        return replace(self._tagged(trees, views), fillings=fillings), tuple(choices)

    def _choices(self, slot: str, views: NodeFeatures, filled: list[Hashes]) -> list[Choice]:
        """Return the likeliest fillings of a slot at the nodes where it may be filled."""
        model, trees = self.slots[slot], views.trees
        nodes, chances = model.chances(views, filled)
        is_free = [not trees.fillings[slot][j] and not trees.closed[j] for j in nodes.tolist()]
        free = np.flatnonzero(is_free)
        nodes, chances = nodes[free], chances[free]
        weighted = chances.copy()
        weighted[:, 0] *= np.float32(EMPTY_FACTOR)
        ranked = np.argsort(-weighted, axis=1, kind="stable")[:, :MAX_FILLINGS]
        rows = zip(nodes.tolist(), ranked.tolist(), chances.tolist(), strict=True)
        return [
            Choice(j, slot, tuple((model.fillings[k], p[k]) for k in best)) for j, best, p in rows
        ]

    def _tagged(self, trees: ContentTrees, views: NodeFeatures) -> ContentTrees:
        """Return the trees with tags, predicted if they are not given."""
        if self.tagger is None:
            return trees
        nodes, chances = self.tagger.chances(views, [])
        tags = [self.tagger.fillings[0]] * trees.nodes
        for j, best in zip(nodes.tolist(), chances.argmax(axis=1).tolist(), strict=True):
            tags[j] = self.tagger.fillings[best]
        return replace(trees, tags=tags)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored completer: its description and its arrays."""
        about: dict[str, Any] = {
            "version": VERSION,
            "inputs": self.inputs,
            "final": sorted(self.final_marks),
            "lemmas": dict(self.lemmas),
            "slots": {},
        }
        about["classes"], arrays = self.classes.parts()
        for slot, classifier in self.slots.items():
            about["slots"][slot], slot_arrays = classifier.parts()
            arrays |= with_prefix(f"{slot}_", slot_arrays)
        if self.tagger is not None:
            about["tagger"], tagger_arrays = self.tagger.parts()
            arrays |= with_prefix("tagger_", tagger_arrays)
        return about, arrays

    @classmethod
    def from_store(cls, store: ModelStore) -> Completer:
        """Return the completer of a store."""
        about, arrays = store.about, store.arrays
        if (version := about.get("version", 1)) != VERSION:
            raise InputError(
                f"{store.name}: its completion is of version {quoted(version)}, and this Karat "
                f"reads version {VERSION}: train the model again with --complete-from"
            )
        try:
            schema.check_fields(about, _ABOUT)
            check_inputs(about["inputs"], COMPLETED)
            slots: dict[str, SlotClassifier[Filling]] = {}
            for slot in (slot for slot in about["slots"] if slot in SLOTS):
                fillings, kinds = about["slots"][slot]["fillings"], about["slots"][slot]["kinds"]
                listed = [tuple(tuple(SlotWord(*w) for w in item) for item in f) for f in fillings]
                part = without_prefix(f"{slot}_", arrays)
                slots[slot] = SlotClassifier.from_arrays(listed, kinds, part)
            classes = ClassModel.from_arrays(about["classes"], arrays, store.name)
            tagger = None
            if about["inputs"] == "relations":  # otherwise tags are given
                fillings, kinds = about["tagger"]["fillings"], about["tagger"]["kinds"]
                part = without_prefix("tagger_", arrays)
                tagger = SlotClassifier[str].from_arrays(fillings, kinds, part)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        settings = about["inputs"], frozenset(about["final"]), about["lemmas"]
        return cls(*settings, classes, slots, tagger)


def check_features(treebank: Treebank, inputs: str) -> None:
    """Raise if completion needs features and the treebank has none."""
    if inputs == "all" and not any(treebank.features):
        raise InputError(f"{treebank.name}: no features (FEATS): give --complete-from relations")


def hash_fillings(fillings: Sequence[Filling]) -> Hashes:
    """Return a hash of every filling."""
    return hash_strings(filling_text(filling) for filling in fillings)


SEED = 100  # of the first classifier; that of the tagger is SEED + 99
SLOT_LEARNING = {"comma": {"rate": 0.05, "dropout": 0.6}}
"""Slot -> its settings, if not the default: the classifier of commas overfits easily."""


def train_completer(treebank: Treebank, inputs: str, *, progress: Progress = silent) -> Completer:
    """Train a completer; the same treebank gives the same completer."""
    check_features(treebank, inputs)
    final_marks = learn_final_marks(treebank)
    trees, lemmas = content_trees(treebank, final_marks), learn_lemmas(treebank)
    views = NodeFeatures(trees, inputs, lemmas)
    filled: list[Hashes] = []
    slots: dict[str, SlotClassifier[Filling]] = {}
    for n, slot in enumerate(SLOTS):
        progress(n, len(SLOTS) + 1, f"completion, {slot}")
        gold = trees.fillings[slot]
        learning = SLOT_LEARNING.get(slot, {})
        classifier = train_classifier(views, gold, filled, (), SEED + n, **learning)
        slots[slot] = classifier.rounded()
        filled.append(hash_fillings(gold))
    progress(len(SLOTS), len(SLOTS) + 1, "completion, tags")
    tagger = None
    if inputs == "relations":
        tagger = train_classifier(views, trees.tags, [], "", SEED + 99).rounded()
    return Completer(inputs, final_marks, lemmas, train_class_model(treebank), slots, tagger)
