"""Cosine similarity of sentence embeddings; the vectors of recent texts are cached in memory.

Nothing is stored on disk: a static model makes thousands of vectors a second, and scores of a slow
model can be saved once and read by the metric `given`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arithmetic import product
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted
from karat.metrics.base import Metric
from karat.metrics.embedders import (
    LOADERS,
    Embedded,
    Embedder,
    embedder_digest,
    embedder_files,
    explain_errors,
    load_embedder,
)
from karat.metrics.pairs import Pairs, SegmentNames
from karat.metrics.recent import RecentValues
from karat.settings import setting
from karat.text.tokens import CASES

MAX_CACHED_BYTES = 1 << 27
"""Bytes of cached vectors and texts."""
_TEXTS = 256  # texts embedded in one call
_CHARACTERS = 1 << 16  # characters in one call, with texts padded to the longest

Vector = tuple[NDArray[np.float32], bool]
"""The vector of a text, and whether the text was truncated."""


class Vectors:
    """The vectors of one model, with a cache."""

    def __init__(
        self, name: str, embedder: Embedder, batch: int = 1, cache_bytes: int = MAX_CACHED_BYTES
    ) -> None:
        self.name, self.embedder, self._batch = name, embedder, batch
        self._recent = RecentValues[str, Vector](cache_bytes, _cached_bytes)
        self.dim = 0  # until it is known
        self.dim = int(self._embed(["a"]).vectors.shape[1])

    def of(self, texts: Sequence[str]) -> Embedded:
        """Return a vector for each text; zeros for a text of only white space."""
        distinct = dict.fromkeys(texts)
        vector_of = self._recent.of(distinct)
        missing = [text for text in distinct if text not in vector_of]
        for block in _blocks([text for text in missing if text.strip()]):
            vectors, cut = self._embed(block)
            vectors_and_cuts = zip(vectors, cut.tolist(), strict=True)
            vector_of |= dict(zip(block, vectors_and_cuts, strict=True))
        self._recent.keep({text: vector_of[text] for text in missing if text in vector_of})
        nothing = np.zeros(self.dim, np.float32), False
        rows = [vector_of.get(text, nothing) for text in texts]
        vectors = np.array([row for row, _ in rows], np.float32).reshape(len(texts), self.dim)
        return Embedded(vectors, np.array([cut for _, cut in rows], np.bool_))

    def _embed(self, texts: list[str]) -> Embedded:
        try:
            for text in texts:
                text.encode("utf-8")
        except UnicodeEncodeError as error:
            problem = f"the text {quoted(error.object)} has a lone surrogate"
            raise InputError(f"{self.name}: {problem}; remove it") from error
        # Numbers that overflow are rejected below, and need no warning.
        with explain_errors(self.name, "the model failed"), np.errstate(all="ignore"):
            embedded = self.embedder.embed(texts, self._batch)
        shape = embedded.vectors.shape
        if len(shape) != 2 or shape[0] != len(texts) or not shape[1]:
            problem = f"it gave numbers of shape {shape} for {len(texts)} texts"
            raise InputError(f"{self.name}: {problem}; expected a vector for each")
        if self.dim and shape[1] != self.dim:
            problem = f"it gave {shape[1]} numbers for one text and {self.dim} for another"
            raise InputError(f"{self.name}: {problem}; expected vectors of one length")
        with np.errstate(over="ignore"):
            vectors = embedded.vectors.astype(np.float32)
        if not np.isfinite(vectors).all():
            raise InputError(f"{self.name}: it gave numbers that are not finite: is it damaged?")
        return Embedded(vectors, embedded.cut)


def _cached_bytes(text: str, vector: Vector) -> int:
    return vector[0].nbytes + 4 * len(text) + 256  # with Python's overhead


def _blocks(texts: list[str]) -> Iterator[list[str]]:
    """Yield blocks of texts of similar length whose tokens fit into memory."""
    block: list[str] = []
    for text in sorted(texts, key=len):
        if block and (len(block) == _TEXTS or (len(block) + 1) * len(text) > _CHARACTERS):
            yield block
            block = []
        block.append(text)
    if block:
        yield block


def cosines(first: NDArray[np.float32], second: NDArray[np.float32]) -> Floats:
    """Return the cosine of each pair of rows; 0 if a vector is 0.

    Numbers are added in order, so equal vectors have a cosine of exactly 1.
    """
    a, b = first.astype(np.float64), second.astype(np.float64)
    both, of_a, of_b = (
        product(x[:, None, :], y[:, :, None])[:, 0, 0] for x, y in ((a, b), (a, a), (b, b))
    )
    length = np.sqrt(of_a * of_b)
    value = np.divide(both, length, out=np.zeros(len(a)), where=length > 0)
    return np.clip(value, -1.0, 1.0)


@lru_cache(maxsize=4)
def _shared_vectors(name: str, embedder: Embedder, batch: int) -> Vectors:
    """Return the vectors of a model, shared by all metrics of this process."""
    return Vectors(name, embedder, batch)


@dataclass(frozen=True)
class Cosine(Metric):
    """Cosine of sentence embeddings; mean over segments.

        score = mean over segments of  a . b / (|a| |b|)

    Several references: the one with the highest cosine, the first of equals. A text of white space
    alone, or one that the model has no vector for, scores 0.
    """

    name: ClassVar[str] = "cosine"
    title: ClassVar[str] = "Cosine of embeddings"
    score_range: ClassVar[str] = "-1 to 1"
    bounded: ClassVar[bool] = False
    slow: ClassVar[bool] = True
    digests: ClassVar[Any] = MappingProxyType({"model": embedder_digest})

    model: str | None = setting(
        None,
        "Folder of an embedding model, or wordllama, which comes with its package; needed.",
        kind=str,
        place=True,
    )
    loader: str = setting("auto", "Library that loads the folder.", choices=LOADERS)
    case: str = setting("mixed", "Capitals: mixed (the model sees them) or lower.", choices=CASES)
    dim: int | None = setting(
        None,
        "Numbers of each vector that count (none: all), for models that were trained to be cut.",
        kind=int,
        low=1,
    )
    batch: int = setting(
        1,
        "Texts that a neural model takes at once; above 1 is faster on a GPU, but last digits then "
        "depend on the other texts.",
        low=1,
        high=4096,
    )

    @property
    def vectors(self) -> Vectors:
        """The model, loaded."""
        if self.model is None:
            examples = "cosine:model=FOLDER or cosine:model=wordllama"
            raise MetricError(f"cosine needs an embedding model: write {examples}")
        embedder = load_embedder(self.model, self.loader)
        vectors = _shared_vectors(f"model {self.model}", embedder, self.batch)
        if self.dim is not None and self.dim > vectors.dim:
            finding = f"the vectors of the model have {vectors.dim} numbers"
            raise MetricError(f"{self}: {finding}; give dim of at most that, or leave it out")
        return vectors

    def input_files(self) -> list[str]:
        """Return the files of the model."""
        return [] if self.model is None else embedder_files(self.model)

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if the model cannot be loaded, before any work."""
        _ = self.vectors

    def columns(self) -> tuple[str, ...]:
        """Return the columns: sum of cosines, number of segments, number of truncated segments."""
        return "cosine", "segments", "cut"

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return the highest cosine of each segment."""
        vectors = self.vectors
        sides = (side.views(self.case).strings() for side in (pairs.candidates, pairs.references))
        candidates, references = map(vectors.of, sides)
        of_pairs = pairs.spread(candidates.vectors)[:, : self.dim]
        value = cosines(of_pairs, references.vectors[:, : self.dim])
        cut = pairs.spread(candidates.cut) | references.cut
        rows = np.column_stack([value, np.ones(len(value)), cut])
        return rows[pairs.best(value)]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the mean cosine."""
        return {"value": rows[:, 0] / np.maximum(rows[:, 1], 1)}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on segments with a truncated text."""
        cut = int(row[2])
        if not cut:
            return ()
        texts = f"{cut:,} of {int(row[1]):,} segments {'has' if cut == 1 else 'have'} a text"
        most = f"longer than the model takes ({self.vectors.embedder.longest:,} tokens)"
        return (f"{texts} {most}: only its beginning counts",)
