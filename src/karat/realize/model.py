"""Realiser models: trained on a treebank, stored in one file that is mapped.

A file may hold the paper's realiser and the ordering model, for either kind of input; each is a
part with a name of its own, and its arrays have that name before theirs. Equal arrays, such as
those of the language model, are stored once; those that deflate to less than half are packed, but
for the language model, which is mapped.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

from karat import __version__
from karat.arrays import NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.fergus.fergus import Fergus, stored_fergus
from karat.realize.fergus.lp_chooser import ORDER
from karat.realize.input_trees import INPUTS, InputTrees, Realizer, check_inputs, input_trees
from karat.realize.treebank import Treebank, read_treebank
from karat.results import Result
from karat.settings import renamed
from karat.storage import schema
from karat.storage.output import FilePath
from karat.storage.store import Store, damaged, read_store, with_prefix, without_prefix, write_store

KIND, VERSION = "realiser", 4
MODELS = ("fergus", "ordering", "all")
"""Models that can be trained."""
INPUT_NAMES = {"words": "words", "all": "words, tags, relations"}
"""Names of the kinds of input."""
INPUTS_SAID = {"words": "words alone", "all": "words with tags and relations"}
"""Names of the kinds of input within a sentence."""
LARGE = 1 << 16
"""Bytes of an array that may be packed."""

Fingerprints = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class RealizerResult(Result):
    """Flat rows, with the name of the file that they are about."""

    name: str
    rows: tuple[Any, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    signature: str = ""


def fingerprints(trees: InputTrees) -> Fingerprints:
    """Return a number of 64 bits for every tree's sentence, its words in order, in lower case.

    By these a model can tell a sentence it has seen without holding any text.
    """
    sentences = (trees.sentence(i, trees.reference(i)).lower() for i in range(len(trees)))
    texts = (sentence.encode("utf-8", "surrogatepass") for sentence in sentences)
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


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
        """Return all realisers for one kind of input, from the simplest to the best."""
        found: list[Realizer] = []
        if self.fergus is not None:
            found += [*self.fergus.baselines, self.fergus]
        return found + ([self.ordering[inputs]] if inputs in self.ordering else [])

    def best(self, inputs: str) -> Realizer:
        """Return the best realiser for one kind of input."""
        found = self.realizers(inputs)
        if not found:
            raise InputError(
                f"the model was not trained for inputs={inputs}: train it with --inputs {inputs}, "
                f"or both"
            )
        return found[-1]

    def fallback(self, inputs: str) -> str:
        """Say why the ordering model does not write for these inputs; "" where it does.

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
        """Return the paper's realiser, whose modules can be asked alone, or raise an error."""
        if self.fergus is None:
            raise InputError("the model has no supertags: train it with --realizer fergus or all")
        return self.fergus

    def language_model(self, inputs: str) -> LanguageModel:
        """Return the language model that goes with the realiser for these inputs."""
        if self.fergus is not None:
            return self.fergus.lm
        found: LanguageModel = self.ordering[inputs].language_model
        return found

    def contents(self) -> str:
        """Return the names of the realisers."""
        fergus = ["baselines", "supertags"] if self.fergus is not None else []
        ordering = [f"ordering model ({INPUT_NAMES[inputs]})" for inputs in self.ordering]
        return ", ".join(fergus + ordering)

    def save(self, path: FilePath) -> None:
        """Write all parts into one file."""
        about: dict[str, Any] = {"karat": __version__, "treebank": dict(self.treebank), "parts": {}}
        arrays: dict[str, Any] = {}
        parts = {f"ordering-{inputs}": model.parts() for inputs, model in self.ordering.items()}
        if self.fergus is not None:
            parts["fergus"] = (self.fergus.about(), self.fergus.arrays())
        for name, (said, held) in parts.items():
            about["parts"][name] = said
            arrays |= with_prefix(f"{name}.", held)
        about["same"], once = _once(arrays | {"seen": self.seen})
        large = {n: a for n, a in once.items() if a.nbytes > LARGE and ".lm_" not in n}
        # Those that are worth the time it takes to inflate them.
        packed = [n for n, a in large.items() if 2 * len(zlib.compress(a.tobytes(), 1)) < a.nbytes]
        write_store(path, KIND, VERSION, about, once, packed=packed)


def _once(arrays: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return which arrays are equal to earlier ones, and the others."""
    seen: dict[tuple[str, bytes], str] = {}
    same, kept = {}, {}
    for name, array in arrays.items():
        key = array.dtype.str, sha256(array.tobytes()).digest()
        if seen.setdefault(key, name) != name:
            same[name] = seen[key]
        else:
            kept[name] = array
    return same, kept


@renamed(model="realizer")
def train_realizer(
    treebank: Treebank,
    realizer: str = "all",
    *,
    inputs: str = "words",
    lm_order: int = ORDER,
    progress: Progress = silent,
) -> RealizerModel:
    """Train a realiser on a treebank.

    Args:
        treebank: as `read_treebank` returns it.
        realizer: `fergus`, `ordering` or `all`.
        inputs: input of the ordering model: `words`, `all` (with UPOS tags and relations) or
            `both`.
        lm_order: order of the LP Chooser's language model.
        progress: function that is called with the progress.
    """
    if realizer not in MODELS:
        raise InputError(f"realizer={quoted(realizer)}: expected one of {', '.join(MODELS)}")
    check_inputs(inputs, (*INPUTS, "both"))
    fergus, ordering = None, {}
    if realizer in ("fergus", "all"):
        fergus = Fergus.train(treebank, order=lm_order, progress=progress)
    if realizer in ("ordering", "all"):
        from karat.realize.ordering.ordering_model import OrderingModel

        for kind in INPUTS if inputs == "both" else (inputs,):
            ordering[kind] = OrderingModel.train(treebank, kind, progress=progress)
    sizes = {"sentences": len(treebank), "words": len(treebank.words)}
    seen = np.unique(fingerprints(input_trees(treebank)))
    return RealizerModel(fergus, ordering, sizes, seen)


class TrainedRealizer(NamedTuple):
    """A trained model on disk; `seconds` are of processor time."""

    output: str
    models: str
    sentences: int
    seconds: float
    megabytes: float


@dataclass(frozen=True, eq=False, repr=False)
class RealizerTraining(RealizerResult):
    """The model that was trained, in one row."""

    rows: tuple[TrainedRealizer, ...]


@renamed(model="realizer")
def train_realizer_file(
    treebank: FilePath,
    output: FilePath,
    realizer: str = "all",
    *,
    inputs: str = "words",
    lm_order: int = ORDER,
    progress: Progress = silent,
) -> RealizerTraining:
    """Train a model on the treebank in a file, and save it; see `train_realizer`."""
    begin = time.process_time()
    bank = read_treebank(treebank)
    made = train_realizer(bank, realizer, inputs=inputs, lm_order=lm_order, progress=progress)
    made.save(output)
    size = os.path.getsize(output) / 1e6 if os.path.isfile(output) else 0.0
    seconds = time.process_time() - begin
    row = TrainedRealizer(str(output), made.contents(), len(bank), seconds, size)
    settings = {"realizer": realizer, "inputs": inputs, "lm_order": lm_order}
    return RealizerTraining(bank.name, (row,), settings)


_ABOUT = schema.record(
    {
        "parts": schema.named(schema.named(schema.anything), 1),
        "same": schema.named(schema.text),
        "treebank": schema.named(schema.whole(0)),
    }
)
"""The description of a model; its parts have schemas of their own."""


def open_realizer(path: FilePath) -> RealizerModel:
    """Open a trained realiser.

    Args:
        path: file that `RealizerModel.save` wrote.
    """
    store = read_store(path, KIND, VERSION)
    try:
        schema.check_fields(store.about, _ABOUT)
        for name, other in store.about["same"].items():
            if other in store.arrays:
                store.arrays[name] = store.arrays[other]
        schema.check_arrays(store.arrays, {"seen": schema.Layout("uint64", "sentences")})
    except ValueError as error:
        raise damaged(store.name, str(error)) from error
    parts = {
        name: Store(store.name, about, without_prefix(f"{name}.", store.arrays))
        for name, about in store.about["parts"].items()
    }
    ordering = {}
    for inputs in INPUTS:
        if part := parts.get(f"ordering-{inputs}"):
            from karat.realize.ordering.ordering_model import OrderingModel

            ordering[inputs] = OrderingModel.stored(part)
    fergus = stored_fergus(parts["fergus"]) if "fergus" in parts else None
    if fergus is None and not ordering:
        raise damaged(store.name, "it has no part that this Karat knows")
    return RealizerModel(fergus, ordering, store.about["treebank"], store.arrays["seen"])
