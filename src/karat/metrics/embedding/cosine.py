"""`cosine`: cosine of the sentence embeddings of a candidate and its reference.

    score = mean over segments of  a . b / (|a| |b|)

Several references: the one with the highest cosine, the first of equals. A text of white space
alone, or one that the model has no vector for, scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.errors import MetricError
from karat.metrics.base import Metric
from karat.metrics.embedding.loading import LOADERS, embedder_digest, embedder_files
from karat.metrics.embedding.vectors import Vectors, cosines, load_vectors
from karat.metrics.outputs import SegmentNames
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.tokens import CASES


@dataclass(frozen=True)
class Cosine(Metric):
    """Cosine of sentence embeddings; mean over segments."""

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
            ways = "cosine:model=FOLDER or cosine:model=wordllama"
            raise MetricError(f"cosine needs an embedding model: write {ways}")
        found = load_vectors(self.model, self.loader, self.batch)
        if self.dim is not None and self.dim > found.dim:
            has = f"the vectors of the model have {found.dim} numbers"
            raise MetricError(f"{self}: {has}; give dim of at most that, or leave it out")
        return found

    def input_files(self) -> list[str]:
        """Return the files of the model."""
        return [] if self.model is None else embedder_files(self.model)

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Refuse a model that cannot be loaded, before any work."""
        _ = self.vectors

    def columns(self) -> tuple[str, ...]:
        """The sum of cosines, the number of segments, and of those with a text that was cut."""
        return "cosine", "segments", "cut"

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """The highest cosine of each segment."""
        vectors = self.vectors
        sides = (side.views(self.case).strings() for side in (pairs.candidates, pairs.references))
        mine, theirs = map(vectors.of, sides)
        of_pairs = pairs.spread(mine.vectors)[:, : self.dim]
        value = cosines(of_pairs, theirs.vectors[:, : self.dim])
        cut = pairs.spread(mine.cut) | theirs.cut
        rows = np.column_stack([value, np.ones(len(value)), cut])
        return rows[pairs.best(value)]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """The mean."""
        return {"value": rows[:, 0] / np.maximum(rows[:, 1], 1)}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return how many segments have a text of which only the beginning counts."""
        cut = int(row[2])
        if not cut:
            return ()
        texts = f"{cut:,} of {int(row[1]):,} segments {'has' if cut == 1 else 'have'} a text"
        most = f"longer than the model takes ({self.vectors.embedder.longest:,} tokens)"
        return (f"{texts} {most}: only its beginning counts",)
