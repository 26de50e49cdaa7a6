"""Models on disk: what was trained on a treebank, in one file that is mapped.

A file may hold the paper's realiser and the ordering model, for either kind of input; each is a
part with a name of its own, and its arrays have that name before theirs. Equal arrays, such as
those of the language model, are stored once; those that deflate to less than half are packed, but
for the language model, which is mapped.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from karat import __version__
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.fergus import Fergus, stored_fergus
from karat.realize.fergus.lp_chooser import ORDER
from karat.realize.input_trees import INPUTS, Realizer, input_trees
from karat.realize.training_overlap import Fingerprints, fingerprints
from karat.realize.treebank import Treebank
from karat.schema import (
    Column,
    anything,
    check_arrays,
    check_fields,
    named,
    record,
    text,
    whole,
)
from karat.store import Store, damaged, read_store, with_prefix, without_prefix, write_store

KIND, VERSION = "realiser", 4
MODELS = ("fergus", "ordering", "all")
"""What can be trained."""
TRAINED_INPUTS = (*INPUTS, "both")
"""For what it can be."""
INPUT_NAMES = {"words": "words", "all": "words, tags, relations"}
"""What is given, as one reads it."""
INPUTS_SAID = {"words": "words alone", "all": "words with tags and relations"}
"""The same within a sentence."""
LARGE = 1 << 16
"""Bytes of an array that may be packed."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class RealizerModel:
    """The realisers that were trained together; `ordering` has one for each kind of input.

    `seen` are the fingerprints of the sentences they were trained on.
    """

    fergus: Fergus | None
    ordering: Mapping[str, Any] = field(default_factory=dict)
    treebank: Mapping[str, int] = field(default_factory=dict)
    seen: Fingerprints = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def realizers(self, inputs: str) -> list[Realizer]:
        """All realisers for one kind of input, from the simplest to the best."""
        found: list[Realizer] = []
        if self.fergus is not None:
            found += [*self.fergus.baselines, self.fergus]
        return found + ([self.ordering[inputs]] if inputs in self.ordering else [])

    def best(self, inputs: str) -> Realizer:
        """The one to generate with."""
        found = self.realizers(inputs)
        if not found:
            raise InputError(
                f"the model was not trained for inputs={inputs}: train it with --inputs {inputs}, "
                f"or both"
            )
        return found[-1]

    def fallback(self, inputs: str) -> str:
        """Why not the ordering model writes for these inputs, and what to do; "" where it does.

        A model without any ordering model is so by choice, and there is nothing to tell.
        """
        if inputs in self.ordering or not self.ordering:
            return ""
        (other,) = self.ordering
        return (
            f"The supertags write the sentences, because the ordering model is for "
            f"{INPUTS_SAID[other]} and not for {INPUTS_SAID[inputs]}: train with --inputs both, "
            f"or give --inputs {other}."
        )

    def the_fergus(self) -> Fergus:
        """The paper's realiser, or an error: its grammar and modules can be asked alone."""
        if self.fergus is None:
            raise InputError("the model has no supertags: train it with --model fergus or all")
        return self.fergus

    def language_model(self, inputs: str) -> LanguageModel:
        """The model of words that goes with the realiser for these inputs."""
        if self.fergus is not None:
            return self.fergus.lm
        found: LanguageModel = self.ordering[inputs].language_model
        return found

    def contents(self) -> str:
        """What it has, in words."""
        fergus = ["baselines", "supertags"] if self.fergus is not None else []
        ordering = [f"ordering model ({INPUT_NAMES[inputs]})" for inputs in self.ordering]
        return ", ".join(fergus + ordering)

    def save(self, path: Path) -> None:
        """Write all parts into one file."""
        about: dict[str, Any] = {"karat": __version__, "treebank": dict(self.treebank), "parts": {}}
        arrays: dict[str, Any] = {}
        for name, (said, held) in self._parts().items():
            about["parts"][name] = said
            arrays |= with_prefix(f"{name}.", held)
        about["same"], once = _once(arrays | {"seen": self.seen})
        write_store(path, KIND, VERSION, about, once, packed=_packed(once))

    def _parts(self) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
        parts = {f"ordering-{inputs}": model.parts() for inputs, model in self.ordering.items()}
        if self.fergus is not None:
            parts["fergus"] = (self.fergus.about(), self.fergus.arrays())
        return parts


def _once(arrays: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Which arrays are equal to earlier ones, and the others."""
    seen: dict[tuple[str, bytes], str] = {}
    same, kept = {}, {}
    for name, array in arrays.items():
        key = array.dtype.str, sha256(array.tobytes()).digest()
        if seen.setdefault(key, name) != name:
            same[name] = seen[key]
        else:
            kept[name] = array
    return same, kept


def _packed(arrays: Mapping[str, Any]) -> list[str]:
    """The arrays that are worth the time it takes to inflate them."""
    large = {n: a for n, a in arrays.items() if a.nbytes > LARGE and ".lm_" not in n}
    return [n for n, a in large.items() if 2 * len(zlib.compress(a.tobytes(), 1)) < a.nbytes]


def train_realizer(
    treebank: Treebank,
    model: str = "all",
    *,
    inputs: str = "words",
    lm_order: int = ORDER,
    progress: Progress = silent,
) -> RealizerModel:
    """Train what is named (see `MODELS`) on a treebank.

    `inputs` says what the ordering model will be given: words, all (tags and relations too), or
    both, for which there is a model each. `lm_order` is that of the LP Chooser's language model.
    """
    if model not in MODELS:
        raise InputError(f"model={quoted(model)}: expected one of {', '.join(MODELS)}")
    if inputs not in TRAINED_INPUTS:
        raise InputError(f"inputs={quoted(inputs)}: expected one of {', '.join(TRAINED_INPUTS)}")
    fergus, ordering = None, {}
    if model in ("fergus", "all"):
        fergus = Fergus.train(treebank, order=lm_order, progress=progress)
    if model in ("ordering", "all"):
        from karat.realize.ordering.model import OrderingModel

        for kind in INPUTS if inputs == "both" else (inputs,):
            ordering[kind] = OrderingModel.train(treebank, kind, progress=progress)
    sizes = {"sentences": len(treebank), "words": len(treebank.words)}
    seen = np.unique(fingerprints(input_trees(treebank)))
    return RealizerModel(fergus, ordering, sizes, seen)


_ABOUT = record(
    {"parts": named(named(anything), 1), "same": named(text), "treebank": named(whole(0))}
)
"""The description of a model; its parts have schemas of their own."""


def open_realizer(path: Path) -> RealizerModel:
    """Map a model that `save` wrote."""
    store = read_store(path, KIND, VERSION)
    try:
        check_fields(store.about, _ABOUT)
        for name, other in store.about["same"].items():
            if other in store.arrays:
                store.arrays[name] = store.arrays[other]
        check_arrays(store.arrays, {"seen": Column("uint64", "sentences")})
    except ValueError as error:
        raise damaged(store.name, str(error)) from error
    parts = store.about["parts"]
    ordering = {
        inputs: _stored_ordering(_part(store, f"ordering-{inputs}"))
        for inputs in INPUTS
        if f"ordering-{inputs}" in parts
    }
    fergus = stored_fergus(_part(store, "fergus")) if "fergus" in parts else None
    if fergus is None and not ordering:
        raise damaged(store.name, "it has no part that this Karat knows")
    return RealizerModel(fergus, ordering, store.about["treebank"], store.arrays["seen"])


def _part(store: Store, name: str) -> Store:
    """One part as a store of its own."""
    return Store(store.name, store.about["parts"][name], without_prefix(f"{name}.", store.arrays))


def _stored_ordering(store: Store) -> Any:
    from karat.realize.ordering.model import OrderingModel

    return OrderingModel.stored(store)
