"""`pem`: PEM as a metric like any other; the candidates are paraphrases of the references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.errors import MetricError
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.paraphrase.pem.bags import TargetBags
from karat.paraphrase.pem.features import FORMS, pair_features
from karat.paraphrase.pem.metric_features import (
    MetricColumns,
    MetricFeature,
    embedding_features,
    feature_files,
    feature_notes,
)
from karat.paraphrase.pem.model import BUNDLED, PEM, model_place
from karat.settings import setting
from karat.storage.store import file_stamp
from karat.text.tokens import Recipe

_PARTS = ("pem", "pivot_f1", "fluency", "target_f1")


def model_digest(name: str) -> str:
    """Return eight digits that differ with the model, and with scores that its features read."""
    return _mapped_model(name).digest


def opened_model(name: str) -> PEM:
    """Return the model of a file, mapped once for as long as the file does not change."""
    model = _mapped_model(name)
    if model.combination is None:
        raise MetricError(
            f"{model.name} was trained without judgements, so it has no PEM score: train a model "
            "with karat paraphrase train --judged SET or --combine mean, or use pivot_f1"
        )
    return model


def _mapped_model(name: str) -> PEM:
    place = model_place(name)
    stamp = file_stamp(place)
    return _opened(place, stamp) if stamp else PEM.open(place)  # which says what is wrong


@lru_cache(maxsize=4)
def _opened(path: str, _stamp: tuple[int, int]) -> PEM:
    return PEM.open(path)


@dataclass(frozen=True)
class PEMMetric(Metric):
    """PEM (Liu, Dahlmeier and Ng 2010): quality of a paraphrase, 1 to 5; mean over segments.

    The candidates are the paraphrases, the references the originals. Several references: the one
    with the best score, the first of equals. A row is [PEM, its three parts, 1], and the rows of
    the embedding models among the features, which have notes on texts that they cut.
    """

    name: ClassVar[str] = "pem"
    full_scale: ClassVar[float] = 5.0
    score_range: ClassVar[str] = "1 to 5"
    digests: ClassVar[Any] = MappingProxyType({"model": model_digest})

    model: str = setting(
        BUNDLED,
        "the file of a model of karat paraphrase train; bundled and bundled-paper are small ones",
    )

    def input_files(self) -> list[str]:
        """Return the file of the model, and those of the metrics that are its features."""
        return [model_place(self.model), *feature_files(opened_model(self.model).metrics)]

    def method(self, references: int | None) -> str:
        """Return the signature without the digest of scores that features read: runs differ."""
        model = _mapped_model(self.model)
        return self.signature(references).replace(f"@{model.digest}|", f"@{model.own_digest}|")

    def columns(self) -> tuple[str, ...]:
        return (*_PARTS, "segments", *(name for names in self._columns.values() for name in names))

    @property
    def _columns(self) -> dict[MetricFeature, list[str]]:
        """The columns of the embedding models among the features, numbered from 1."""
        found = enumerate(embedding_features(opened_model(self.model).metrics), 1)
        return {one: [f"model{k}_{name}" for name in one.metric.columns()] for k, one in found}

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        model = opened_model(self.model)
        yield from TargetBags(model.language.recipe, FORMS[model.form].order).overlaps()
        yield from MetricColumns(model.metrics).overlaps()

    @property
    def slow(self) -> bool:
        """True if a feature of the model is."""
        return MetricColumns(opened_model(self.model).metrics).slow

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        model = opened_model(self.model)
        found = pair_features(model.pivots, model.language, pairs, model.form, model.metrics)
        value = model.combine(found)
        own = [found.statistics[model.metrics.index(one)] for one in self._columns]
        rows = np.column_stack([value, *found.parts, np.ones(len(value)), *own])
        return rows[pairs.best(value)]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        value, *parts = (rows[:, :4] / np.maximum(rows[:, 4:5], 1)).T
        return {"value": value, **dict(zip(_PARTS[1:], parts, strict=True))}

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        ends = np.cumsum([5, *map(len, self._columns.values())])
        totals = [row[start:end] for start, end in pairwise(ends.tolist())]
        notes = feature_notes([*self._columns], totals)
        return (*notes, *opened_model(self.model).cautions)
