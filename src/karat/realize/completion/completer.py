"""The completer: fills the slots of content words one after the other, by a classifier each.

A slot sees what the slots before it were filled with, at its node, the node's head, daughters and
sisters. Whatever is given stays: a slot that has something in the input is not filled again, and a
node that is final gets nothing.

From words and relations alone, tags are guessed first, for the ordering model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat.arrays import NDArray, np
from karat.errors import InputError, quoted
from karat.realize.completion.class_model import ClassModel
from karat.realize.completion.classifier import SeenTrees, SlotClassifier
from karat.realize.completion.content import ContentTrees
from karat.realize.completion.features import Hashes, strings
from karat.realize.completion.slots import SLOTS, Filling, SlotWord, filling_text
from karat.realize.input_trees import check_inputs
from karat.realize.treebank import Treebank
from karat.storage import schema
from karat.storage.store import ModelStore, damaged, with_prefix, without_prefix

COMPLETED = ("all", "relations")
"""Kinds of input that can be completed: words with tags, features and relations; with relations."""
VERSION = 2
"""Of the stored part: raised when its layout or the features of its classifiers change."""
TRIED = 6
"""Likeliest fillings of a slot that are kept."""
EMPTY = 0.5
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

    def complete(self, trees: ContentTrees, wanted: Sequence[str]) -> CompletedTrees:
        """Fill the slots that are wanted and empty, wherever a node is not final."""
        if missing := set(wanted) - set(self.slots):
            raise InputError(f"the model does not fill the slots {', '.join(sorted(missing))}")
        seen = SeenTrees(trees, self.inputs, self.lemmas)
        filled: list[Hashes] = []
        fillings, choices = dict(trees.fillings), list[Choice]()
        for slot in SLOTS:
            if slot in wanted:
                made = self._choices(slot, seen, filled)
                fillings[slot] = list(fillings[slot])
                for choice in made:
                    fillings[slot][choice.node] = choice.best
                choices += made
            filled.append(texts_of(fillings[slot]))
        return CompletedTrees(self._tagged(trees, seen), fillings, tuple(choices))

    def _choices(self, slot: str, seen: SeenTrees, filled: list[Hashes]) -> list[Choice]:
        """Return the likeliest fillings of a slot where it may be filled."""
        model, given, closed = self.slots[slot], seen.trees.fillings[slot], seen.trees.closed
        nodes, chances = model.chances(seen, filled)
        free = [n for n, j in enumerate(nodes.tolist()) if not given[j] and not closed[j]]
        nodes, chances = nodes[free], chances[free]
        weighed = chances.copy()
        weighed[:, 0] *= np.float32(EMPTY)
        ranked = np.argsort(-weighed, axis=1, kind="stable")[:, :TRIED]
        found = []
        for j, best, p in zip(nodes.tolist(), ranked.tolist(), chances.tolist(), strict=True):
            found.append(Choice(j, slot, tuple((model.fillings[k], p[k]) for k in best)))
        return found

    def _tagged(self, trees: ContentTrees, seen: SeenTrees) -> ContentTrees:
        """Return the trees with tags, guessed if they are not given."""
        if self.tagger is None:
            return trees
        nodes, chances = self.tagger.chances(seen, [])
        tags = [self.tagger.fillings[0]] * trees.nodes
        for j, best in zip(nodes.tolist(), chances.argmax(axis=1).tolist(), strict=True):
            tags[j] = self.tagger.fillings[best]
        return replace(trees, tags=tags)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored completer: its description and its arrays."""
        slots = {slot: one.about() for slot, one in self.slots.items()}
        arrays = self.classes.arrays()
        for slot, one in self.slots.items():
            arrays |= with_prefix(f"{slot}_", one.arrays())
        told = {
            "version": VERSION,
            "inputs": self.inputs,
            "final": sorted(self.final),
            "lemmas": dict(self.lemmas),
        }
        about: dict[str, Any] = told | {"slots": slots, "classes": self.classes.about()}
        if self.tagger is not None:
            about["tagger"] = self.tagger.about()
            arrays |= with_prefix("tagger_", self.tagger.arrays())
        return about, arrays

    @classmethod
    def stored(cls, store: ModelStore) -> Completer:
        """Return the completer in a store that has its parts."""
        said, arrays = store.about, store.arrays
        if (version := said.get("version", 1)) != VERSION:
            raise InputError(
                f"{store.name}: its completion is of version {quoted(version)}, and this Karat "
                f"reads version {VERSION}: train the model again with --complete-from"
            )
        try:
            schema.check_fields(said, _ABOUT)
            check_inputs(said["inputs"], COMPLETED)
            slots = {
                slot: SlotClassifier.stored(
                    [_filling(one) for one in about["fillings"]],
                    about["kinds"],
                    without_prefix(f"{slot}_", arrays),
                )
                for slot, about in said["slots"].items()
                if slot in SLOTS
            }
            classes = ClassModel.stored(said["classes"], arrays, store.name)
            tagger = None
            if said["inputs"] == "relations":  # where tags are given, none are guessed
                known, mine = said["tagger"], without_prefix("tagger_", arrays)
                tagger = SlotClassifier.stored(known["fillings"], known["kinds"], mine)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        told = said["inputs"], frozenset(said["final"]), said["lemmas"]
        return cls(*told, classes, slots, tagger)


def check_features(treebank: Treebank, inputs: str) -> None:
    """Refuse completion from features where a treebank has none."""
    if inputs == "all" and not any(treebank.features):
        raise InputError(f"{treebank.name}: no features (FEATS): give --complete-from relations")


def texts_of(fillings: Sequence[Filling]) -> Hashes:
    """Return a symbol of every filling."""
    return strings(filling_text(one) for one in fillings)


def _filling(stored: list[list[list[str]]]) -> Filling:
    """Return a filling from lists; a TypeError or ValueError if they are none."""
    return tuple(tuple(SlotWord(*word) for word in item) for item in stored)
