"""Realiser models: trained on a treebank, stored in one file that is mapped.

A file can have the paper's realiser, ordering models for several kinds of input, completion and
inflection; each is a part, whose name prefixes the names of its arrays. Equal arrays, such as those
of the language model, are stored once. Arrays that compress to less than half are packed, except
for the language model, which is mapped.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

from karat import __version__
from karat.arrays import NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.completer import COMPLETED, Completer, check_features, train_completer
from karat.realize.content import SLOTS, name_classes
from karat.realize.fergus import ORDER, Fergus
from karat.realize.inflection import Inflection, LemmaRealizer
from karat.realize.input_trees import (
    INPUTS,
    REALIZERS,
    InputTrees,
    Realizer,
    check_labels,
    check_lemmas,
    check_type,
    input_trees,
    parse_input_kinds,
    to_names,
    without_lemma,
)
from karat.realize.ordering import OrderingModel, train_ordering
from karat.realize.treebank import MISSING, Treebank, read_treebank
from karat.results import Result
from karat.settings import check_count
from karat.storage import schema
from karat.storage.output import FilePath, as_path
from karat.storage.store import (
    ModelStore,
    content_digest,
    damaged,
    read_store,
    with_prefix,
    without_prefix,
    write_store,
)

KIND, VERSION = "realiser", 4
MODELS = ("fergus", "ordering", "all")
"""Models that can be trained."""
ORDERED_INPUTS = ("words", "all")
"""The kinds of input `both`."""
INPUT_NAMES = {
    "words": "words",
    "all": "words, tags, relations",
    "relations": "words, relations",
    "lemmas": "lemmas",
}
"""Kind of input -> its name in lists."""
INPUT_PHRASES = {
    "words": "words alone",
    "all": "words with tags and relations",
    "lemmas": "lemmas",
}
"""Kind of input -> its name within a sentence."""
MIN_PACKED_BYTES = 1 << 16
"""Smaller arrays are not packed."""

Fingerprints = NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class RealizerResult(Result):
    """Flat rows, with the name of the input file."""

    name: str
    rows: tuple[Any, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    signature: str = ""


def fingerprints(trees: InputTrees) -> Fingerprints:
    """Return a 64-bit hash of every tree's sentence, in lower case.

    A model stores these to recognise its training sentences without storing text.
    """
    sentences = trees.reference_sentences()
    texts = (sentence.lower().encode("utf-8", "surrogatepass") for sentence in sentences)
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class RealizerModel:
    """Realisers that were trained together; `ordering` has one for each kind of input."""

    fergus: Fergus | None
    ordering: Mapping[str, Any] = field(default_factory=dict)
    treebank: Mapping[str, int] = field(default_factory=dict)
    seen_sentences: Fingerprints = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    """Fingerprints of the sentences of the training treebank."""
    inflection: Inflection | None = None
    """Forms of lemmas, if the model takes lemmas."""
    completion: Mapping[str, Completer] = field(default_factory=dict)
    """Kind of input -> the completer of its content words."""
    stored_digest: str = ""
    """Digest of the model's file; empty if it has none."""

    @cached_property
    def digest(self) -> str:
        """Digest of the model's file, or of the file it would be saved to, for signatures."""
        return self.stored_digest or content_digest(KIND, VERSION, *self._stored())

    def realizers(self, inputs: str, realizer: str | None = None) -> list[Realizer]:
        """Return the realizers for one kind of input, from the simplest to the best.

        `realizer` is `fergus` (with its baselines) or `ordering`; None for both.
        """
        if realizer is not None and realizer not in REALIZERS:
            raise InputError(f"realizer={quoted(realizer)}: expected {' or '.join(REALIZERS)}")
        if inputs == "lemmas":
            if realizer == "fergus":
                raise InputError(
                    "inputs=lemmas: the supertags order words: give --inputs words or all, or "
                    "--realizer ordering"
                )
            return [self.lemma_realizer()]
        fergus = self.fergus
        by_name: dict[str, list[Realizer]] = {
            "fergus": [] if fergus is None else [*fergus.baselines, fergus],
            "ordering": [self.ordering[inputs]] if inputs in self.ordering else [],
        }
        return by_name[realizer] if realizer else by_name["fergus"] + by_name["ordering"]

    def best(self, inputs: str, realizer: str | None = None) -> Realizer:
        """Return the realizer that writes sentences for one kind of input; raise without any.

        `realizer` is `fergus` or `ordering`; None for the ordering model if there is one for these
        inputs, else FERGUS.
        """
        realizers = self.realizers(inputs, realizer)
        if realizers:
            return realizers[-1]
        if realizer == "fergus":
            return self.require_fergus()
        if realizer == "ordering":
            raise InputError(
                f"the model has no ordering model for {INPUT_PHRASES[inputs]}: train it with "
                f"--realizer all --inputs {self.training_inputs(inputs)}, or give --realizer fergus"
            )
        raise InputError(
            f"the model was not trained for inputs={inputs}: train it with --inputs {inputs}, "
            f"or both"
        )

    def realizer_name(self, inputs: str, realizer: str | None = None) -> str:
        """Return the name of the realizer that `best` returns: `fergus` or `ordering`."""
        return realizer or ("ordering" if inputs in self.ordering else "fergus")

    def require_fergus(self) -> Fergus:
        """Return the paper's realiser; raise if the model has none."""
        if self.fergus is None:
            raise InputError("the model has no supertags: train it with --realizer fergus or all")
        return self.fergus

    def lemma_realizer(self) -> LemmaRealizer:
        """Return the realiser of lemmas; raise if the model has none."""
        if self.inflection is None or "lemmas" not in self.ordering:
            raise InputError(
                "the model was not trained for inputs=lemmas: train it with --inputs lemmas"
            )
        return LemmaRealizer(self.inflection, self.ordering["lemmas"])

    def completes(self, inputs: str) -> bool:
        """Return whether the model completes content words of one kind of input."""
        return _completion_input(inputs) in self.completion

    def completer(self, inputs: str, slots: Sequence[str] = SLOTS) -> Completer:
        """Return the completer of one kind of input; raise if the model has none."""
        kind = _completion_input(inputs)
        if kind not in COMPLETED:
            raise InputError(
                f"inputs={quoted(inputs)}: relations are needed to choose where to insert "
                f"{name_classes(slots)}: give --inputs all, relations or lemmas"
            )
        if kind not in self.completion:
            inputs_option = "--inputs all,lemmas " if inputs == "lemmas" else ""
            raise InputError(
                f"the model does not insert words from inputs={inputs}: train it with "
                f"{inputs_option}--complete-from {kind}"
            )
        return self.completion[kind]

    def fallback_notes(
        self, inputs: str, realizer: str | None, *, completed: bool = False
    ) -> tuple[str, ...]:
        """Return a note on why the supertags are used for these inputs, unless the user chose them.

        The user chose them by `realizer`, or by a model without any ordering model.
        """
        if realizer is not None or inputs in self.ordering or not self.ordering:
            return ()
        phrase, train = INPUT_PHRASES[inputs], f"train with --inputs {self.training_inputs(inputs)}"
        if completed:
            return (
                f"The supertags order the completed trees, because the model has no ordering model "
                f"for {phrase}: {train}.",
            )
        other = next(iter(self.ordering))
        has_lemmas = "lemmas" in {*self.ordering} - {other}
        more = " The model also has lemmas: if the trees have lemmas, give --inputs lemmas."
        return (
            f"The supertags write the sentences, because the ordering model is for "
            f"{INPUT_PHRASES[other]} and not for {phrase}: {train}, or give --inputs {other}."
            f"{more if has_lemmas else ''}",
        )

    def training_inputs(self, more: str) -> str:
        """Return the value of `--inputs` that trains these ordering models and one more."""
        kinds = tuple(kind for kind in INPUTS if kind in {*self.ordering, more})
        return "both" if kinds == ORDERED_INPUTS else ",".join(kinds)

    def language_model(self, inputs: str, realizer: str | None = None) -> LanguageModel:
        """Return the language model that goes with the realizer for these inputs."""
        if self.fergus is not None and realizer != "ordering":
            return self.fergus.lm
        model: LanguageModel = self.ordering[inputs].language_model
        return model

    def count_seen(self, trees: InputTrees) -> int:
        """Return the number of sentences that were in the training treebank."""
        return int(np.isin(fingerprints(trees), self.seen_sentences).sum())

    def contents(self) -> str:
        """Return the names of the realisers."""
        fergus = ["baselines", "supertags"] if self.fergus is not None else []
        ordering = [f"ordering model ({INPUT_NAMES[inputs]})" for inputs in self.ordering]
        completion = [f"completion ({INPUT_NAMES[inputs]})" for inputs in self.completion]
        forms = ["inflection"] * (self.inflection is not None)
        return ", ".join(fergus + ordering + completion + forms)

    def save(self, path: FilePath) -> None:
        """Write all parts to one file."""
        about, arrays = self._stored()
        large = {n: a for n, a in arrays.items() if a.nbytes > MIN_PACKED_BYTES and ".lm_" not in n}
        # Pack arrays that compress well enough to be worth the time for unpacking.
        packed = [n for n, a in large.items() if 2 * len(zlib.compress(a.tobytes(), 1)) < a.nbytes]
        write_store(path, KIND, VERSION, about, arrays, packed=packed)

    def _stored(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the description and the arrays of the model's file, without duplicates."""
        parts = {f"ordering-{inputs}": model.parts() for inputs, model in self.ordering.items()}
        parts |= {f"completion-{inputs}": part.parts() for inputs, part in self.completion.items()}
        if self.fergus is not None:
            parts["fergus"] = self.fergus.parts()
        if self.inflection is not None:
            parts["inflection"] = self.inflection.parts()
        arrays: dict[str, Any] = {}
        for name, (_, part_arrays) in parts.items():
            arrays |= with_prefix(f"{name}.", part_arrays)
        first_names: dict[tuple[str, bytes], str] = {}
        duplicates, distinct = {}, {}
        for name, array in (arrays | {"seen": self.seen_sentences}).items():
            key = array.dtype.str, sha256(array.tobytes()).digest()
            if first_names.setdefault(key, name) != name:
                duplicates[name] = first_names[key]
            else:
                distinct[name] = array
        descriptions = {name: description for name, (description, _) in parts.items()}
        about = {"karat": __version__, "treebank": dict(self.treebank), "parts": descriptions}
        return about | {"same": duplicates}, distinct


def _completion_input(inputs: str) -> str:
    """Return the kind of input of the completer: lemmas are inflected first."""
    return "all" if inputs == "lemmas" else inputs


def train_realizer(
    treebank: Treebank,
    realizer: str = "all",
    *,
    inputs: str = "words",
    complete_from: Sequence[str] = (),
    lm_order: int = ORDER,
    progress: Progress = silent,
) -> RealizerModel:
    """Train a realiser on a treebank.

    Args:
        treebank: as `read_treebank` returns it.
        realizer: `fergus`, `ordering` or `all`.
        inputs: inputs of the ordering model, comma-separated: `words`, `all` (with UPOS tags and
            relations), `lemmas` (with UPOS and XPOS tags, features and relations), which also
            learns inflection; `both` is `words,all`.
        complete_from: inputs to train the insertion of function words and punctuation from: `all`
            (words with UPOS tags, features and relations), `relations` (words with relations).
        lm_order: order of the LP Chooser's language model.
        progress: function that is called with the progress.
    """
    check_type("treebank", treebank, Treebank)
    check_count("lm_order", lm_order, 1)
    kinds, completed = check_training(realizer, inputs, complete_from)
    if "lemmas" in kinds:
        check_labels(treebank, "lemmas")
        check_lemmas(treebank)
    for kind in completed:
        check_features(treebank, kind)
    fergus, ordering, inflection = None, {}, None
    if realizer in ("fergus", "all"):
        fergus = Fergus.train(treebank, order=lm_order, progress=progress)
    if realizer in ("ordering", "all"):
        for kind in kinds:
            ordering[kind] = train_ordering(treebank, kind, progress=progress)
    completion = {kind: train_completer(treebank, kind, progress=progress) for kind in completed}
    if "lemmas" in ordering:
        inflection = Inflection.train(treebank, progress=progress)
    sizes = {"sentences": len(treebank), "words": len(treebank.words)}
    sentence_fingerprints = np.unique(fingerprints(input_trees(treebank)))
    return RealizerModel(fergus, ordering, sizes, sentence_fingerprints, inflection, completion)


def input_kinds(inputs: str) -> tuple[str, ...]:
    """Return the kinds of input in a comma-separated list; `both` is two."""
    names = parse_input_kinds(inputs, (*INPUTS, "both"))
    expanded = {kind for name in names for kind in (ORDERED_INPUTS if name == "both" else (name,))}
    return tuple(kind for kind in INPUTS if kind in expanded)


def check_training(
    realizer: str, inputs: str, complete_from: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the inputs of the ordering model and of completion; raise if they do not fit."""
    if not isinstance(realizer, str) or realizer not in MODELS:
        raise InputError(f"realizer={quoted(realizer)}: expected one of {', '.join(MODELS)}")
    kinds, completed = input_kinds(inputs), to_names("complete_from", complete_from)
    for kind in completed:
        if kind not in COMPLETED:
            allowed = ", ".join(COMPLETED)
            raise InputError(f"complete_from={quoted(kind)}: expected some of {allowed}")
    if completed and realizer == "ordering" and "all" not in kinds:
        raise InputError(
            "--complete-from needs a realizer for words with tags and relations: give --inputs "
            "all, with others or alone, or --realizer fergus or all"
        )
    return kinds, tuple(kind for kind in COMPLETED if kind in completed)


class TrainedRealizer(NamedTuple):
    """A trained model on disk; `seconds` is processor time."""

    output: str
    models: str
    sentences: int
    seconds: float
    megabytes: float


@dataclass(frozen=True, eq=False, repr=False)
class RealizerTraining(RealizerResult):
    """The trained model, in one row."""

    rows: tuple[TrainedRealizer, ...]


def train_realizer_file(
    treebank: FilePath,
    output: FilePath,
    realizer: str = "all",
    *,
    inputs: str = "words",
    complete_from: Sequence[str] = (),
    lm_order: int = ORDER,
    progress: Progress = silent,
) -> RealizerTraining:
    """Train a model on the treebank in a file, and save it; see `train_realizer`."""
    begin = time.process_time()
    check_training(realizer, inputs, complete_from)  # before anything is read
    settings: dict[str, Any] = {"inputs": inputs, "lm_order": lm_order}
    if completed := to_names("complete_from", complete_from):
        settings["complete_from"] = ",".join(completed)
    bank = read_treebank(treebank)
    model = train_realizer(bank, realizer, **settings, progress=progress)
    model.save(output)
    size = os.path.getsize(output) / 1e6 if os.path.isfile(output) else 0.0
    seconds = time.process_time() - begin
    row = TrainedRealizer(str(output), model.contents(), len(bank), seconds, size)
    notes: tuple[str, ...] = ()
    # The word "_" is its own lemma.
    lacking = without_lemma(bank)[0] & np.array([word != MISSING for word in bank.words])
    if "lemmas" in model.ordering and lacking.any():
        n_lacking, first = int(lacking.sum()), bank.word_place(int(lacking.argmax()))
        words = "1 word has" if n_lacking == 1 else f"{n_lacking:,} words have"
        finding = f"{words} no lemma ({first}{'' if n_lacking == 1 else ' is the first'})"
        notes = (f"{finding}: give lemmas in the third column.",)
    return RealizerTraining(bank.name, (row,), {"realizer": realizer, **settings}, notes)


_ABOUT = schema.record(
    {
        "parts": schema.mapping_of(schema.mapping_of(schema.anything), 1),
        "same": schema.mapping_of(schema.text),
        "treebank": schema.mapping_of(schema.integer(0)),
    }
)
"""Schema of a model's description; its parts have their own schemas."""


def open_realizer(path: FilePath) -> RealizerModel:
    """Open a trained realiser.

    Args:
        path: file that `RealizerModel.save` wrote.
    """
    store = read_store(as_path("path", path), KIND, VERSION)
    try:
        schema.check_fields(store.about, _ABOUT)
        for name, other in store.about["same"].items():
            if other in store.arrays:
                store.arrays[name] = store.arrays[other]
        schema.check_arrays(store.arrays, {"seen": schema.ModelLayout("uint64", "sentences")})
    except ValueError as error:
        raise damaged(store.name, str(error)) from error
    parts = {
        name: ModelStore(store.name, about, without_prefix(f"{name}.", store.arrays))
        for name, about in store.about["parts"].items()
    }

    def load_kinds(prefix: str, kinds: Sequence[str], load: Callable[[ModelStore], Any]) -> Any:
        return {kind: load(parts[prefix + kind]) for kind in kinds if prefix + kind in parts}

    ordering = load_kinds("ordering-", INPUTS, OrderingModel.from_store)
    completion = load_kinds("completion-", COMPLETED, Completer.from_store)
    fergus = Fergus.from_store(parts["fergus"]) if "fergus" in parts else None
    if fergus is None and not ordering:
        raise damaged(store.name, "it has no part that this Karat knows")
    inflection = Inflection.from_store(parts["inflection"]) if "inflection" in parts else None
    return RealizerModel(
        fergus,
        ordering,
        store.about["treebank"],
        store.arrays["seen"],
        inflection,
        completion,
        stored_digest=store.digest,
    )
