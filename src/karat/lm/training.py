"""Training: from text to a model, in memory or in a file, within the memory it is allowed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from karat import __version__, _kernel
from karat.arrays import NDArray, np
from karat.errors import InputError
from karat.lm.arpa import write_rows
from karat.lm.counting import Counted, Cutoff, count_text
from karat.lm.estimate import Estimated, check_min_counts, estimate
from karat.lm.memory import Memory, not_too_many
from karat.lm.scratch import Scratch
from karat.lm.signature import signature
from karat.lm.tables import KIND, VERSION, Rows, model_layouts
from karat.lm.token_batches import as_sources, check_recipe
from karat.progress import Progress, silent
from karat.results import Result
from karat.storage.arrays import FileArray, Stored
from karat.storage.digests import file_digest
from karat.storage.output import FilePath, check_writable
from karat.storage.store import store_digest, write_store
from karat.text.segments import Segments, Texts
from karat.text.tokens import Recipe
from karat.text.word_table import word_arrays, word_table

TrainingTexts: TypeAlias = "Texts | Sequence[os.PathLike[str]] | Sequence[Segments]"
"""Strings, a file, or several files."""


class Trained:
    """All n-grams of a text with their estimates, from which a model is made."""

    def __init__(
        self,
        about: dict[str, Any],
        counted: Counted,
        estimated: Estimated,
        scratch: Scratch,
        progress: Progress,
    ) -> None:
        self.about = about
        """The description of the model."""
        self._counted, self._estimated = counted, estimated
        self._scratch, self._progress = scratch, progress
        lengths = range(2, counted.order + 1)
        longer = [counted.ngrams.kept(n, self._least(n)) for n in lengths]
        self.counts = [len(counted.vocab), *longer]
        """The numbers of n-grams of one word, of two, …"""

    def _least(self, n: int) -> int:
        return int(self.about["min_counts"][n - 1])

    def _check(self) -> None:
        ngrams = self._counted.ngrams
        self._progress(ngrams.done, ngrams.total, "writing")

    def arrays(self) -> dict[str, Stored]:
        """Return the arrays of the model; large ones are in files."""
        with not_too_many("write ARPA text, raise min_counts, or train on less text"):
            for many in self.counts[1:]:
                _kernel.lm_table_slots(many)
        made = {"p": self._estimated.p, "backoff": self._estimated.backoff}
        found: dict[str, Stored] = {**made}
        room, ngrams = self._scratch.memory.tables, self._counted.ngrams
        for n in range(2, self._counted.order + 1):
            with self._scratch.writing():
                table = ngrams.table(n, self._least(n), room, self._check)
            self._check()
            if table is not None:
                room -= table.nbytes
            found[f"table_{n}"] = FileArray(*ngrams.table_file(n)) if table is None else table
        found |= word_arrays(self._counted.vocab, "words")
        return {name: found[name] for name in model_layouts(self._counted.order)}

    def mapped(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the model; large ones are mapped from unnamed files."""
        parts = self.arrays().items()
        return {name: one.mapped() if isinstance(one, FileArray) else one for name, one in parts}

    def save(self, path: FilePath) -> None:
        """Write the binary form."""
        write_store(path, KIND, VERSION, self.about, self.arrays())

    def write_arpa(self, path: FilePath) -> None:
        """Write ARPA text."""
        words = word_table(word_arrays(self._counted.vocab, "words"), "words")
        write_rows(path, words, self.counts, self._rows, self._progress)

    def _rows(self, n: int, most: int) -> Iterator[Rows]:
        """Yield the n-grams of one length, at most so many at a time."""
        if n == 1:
            p, backoff = self._estimated.p, self._estimated.backoff
            yield Rows(np.arange(len(p), dtype=np.int32)[:, None], p, backoff + np.float32(0))
            return
        with self._scratch.writing():
            rows = self._counted.ngrams.rows(n, self._least(n))
            while len((some := Rows(*rows.next(most))).p):
                yield some


@contextmanager
def trained(
    texts: TrainingTexts,
    order: int = 5,
    smoothing: str = "kneser-ney",
    *,
    tok: str = "13a",
    case: str = "mixed",
    stem: str = "none",
    min_counts: Sequence[int] | None = None,
    vocabulary: int | None = None,
    min_count: int = 1,
    memory: int | Memory | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Iterator[Trained]:
    """Train on texts; what is given is there until the end of the `with`."""
    recipe = Recipe(tok, case, stem)
    check_recipe(recipe)
    if not 1 <= order <= _kernel.MAX_ORDER:
        raise InputError(f"order={order}: expected 1 to {_kernel.MAX_ORDER}")
    if vocabulary is not None and vocabulary < 1:
        raise InputError(f"vocabulary={vocabulary}: expected at least 1 word")
    if min_count < 1:
        raise InputError(f"min_count={min_count}: expected at least 1")
    least = check_min_counts(order, smoothing, min_counts)
    about = {
        "order": order,
        "smoothing": smoothing,
        "recipe": {"tok": tok, "case": case, "stem": stem},
        "vocabulary": vocabulary,
        "min_count": min_count,
        "min_counts": list(least),
    }
    cutoff = Cutoff(vocabulary, min_count)
    with Scratch(memory if isinstance(memory, Memory) else Memory(memory)) as scratch:
        work: dict[str, Any] = {"threads": threads, "progress": progress}
        counted = count_text(as_sources(texts), order, recipe, cutoff, scratch, **work)
        found = estimate(counted, smoothing, least, scratch, progress)
        about |= {"notes": list(found.notes), "karat": __version__}
        yield Trained(about, counted, found, scratch, progress)


class NgramCount(NamedTuple):
    """The number of n-grams of one length in a model, and the smallest count of those kept."""

    length: int
    ngrams: int
    min_count: int


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel(Result):
    """A language model that was written to a file: how many n-grams it has of each length."""

    path: str
    rows: tuple[NgramCount, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def train_model(
    texts: TrainingTexts,
    path: FilePath,
    order: int = 5,
    *,
    arpa: bool = False,
    progress: Progress = silent,
    **settings: Any,
) -> TrainedModel:
    """Train a model, with the settings of `LanguageModel.train`, and write it to a file.

    ARPA text is written if `arpa` is set or the name ends in `.arpa` or `.arpa.gz`.
    """
    place = os.fspath(path)
    check_writable(place)
    with trained(texts, order, progress=progress, **settings) as made:
        if arpa or os.path.splitext(place.removesuffix(".gz"))[1] == ".arpa":
            made.write_arpa(place)
            digest = file_digest(place) if os.path.isfile(place) else ""
        else:
            made.save(place)
            digest = store_digest(place, KIND) if os.path.isfile(place) else ""
        counts = zip(made.counts, made.about["min_counts"], strict=True)
        rows = tuple(NgramCount(n, *found) for n, found in enumerate(counts, 1))
        notes = tuple(made.about["notes"])
        return TrainedModel(place, rows, made.about, notes, signature(made.about, digest))
