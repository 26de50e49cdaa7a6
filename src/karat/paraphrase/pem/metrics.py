"""The metrics `pem` and `pivot_f1` (the adequacy of PEM); the references are the originals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, MetricError
from karat.metrics.base import Metric
from karat.metrics.bertscore import BERTScore
from karat.metrics.cosine import Cosine
from karat.metrics.pairs import Pairs
from karat.paraphrase.pem.combination import COPIES
from karat.paraphrase.pem.features import (
    MAX_ORDER,
    MetricFeature,
    PivotBags,
    PivotSettings,
    f1,
    feature_files,
    feature_notes,
    share,
)
from karat.paraphrase.pem.model import BUNDLED, KIND, PEM, model_path
from karat.paraphrase.table.phrase_table import PhraseTable, table_digest
from karat.settings import setting
from karat.storage.store import file_stamp, stored_kind
from karat.text.tokens import Recipe

_BAG_SIDES = ("common", "candidate", "reference")


T = TypeVar("T")


def _mapped_once(open_file: Callable[[str], T]) -> Callable[[str], T]:
    """Return a function that opens each file once, as long as the file does not change."""
    opened = lru_cache(maxsize=16)(lambda path, stamp: open_file(path))
    return wraps(open_file)(lambda path: opened(path, file_stamp(path)))


@_mapped_once
def open_table(path: str) -> PhraseTable:
    """Return the table of a file."""
    if stored_kind(path) != KIND:
        return PhraseTable.open(path)
    pivots = PEM.open(path).pivots
    if len(pivots) != 1:
        raise MetricError(
            f"{path} has {len(pivots)} pivot languages ({', '.join(pivots)}), and pivot_f1 needs "
            "exactly one: train a model with one"
        )
    return next(iter(pivots.values()))


@dataclass(frozen=True)
class PivotF1(Metric):
    """F1 of pivot-language n-grams (Liu, Dahlmeier and Ng 2010): same meaning in other words.

    Text is tokenised by the recipe of the phrase table. A corpus score is that of the summed
    weights. Several references: the one with the best score, the first of equals.
    """

    name: ClassVar[str] = "pivot_f1"
    digests: ClassVar[Any] = MappingProxyType({"table": table_digest})

    table: str | None = setting(
        None,
        "the file of a phrase table, or of a paraphrase model with one pivot; needed",
        kind=str,
    )
    order: int = setting(4, "the longest n-grams", low=1, high=MAX_ORDER)
    edge: float = setting(
        0.1, "translations must be more probable; the best is always kept", low=0, high=1
    )
    ngram: float = setting(0.01, "n-grams must weigh more", low=0, high=1)
    renormalise: bool = setting(False, "let the translations that are kept share all probability")

    def input_files(self) -> list[str]:
        """Return the file of the table."""
        return [] if self.table is None else [self.table]

    def columns(self) -> tuple[str, ...]:
        return tuple(f"{part}{n}" for n in range(1, self.order + 1) for part in _BAG_SIDES)

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        if self.table is None:
            raise MetricError(
                "pivot_f1 needs a phrase table: write pivot_f1:table=FILE "
                "(a model that karat paraphrase train made has one)"
            )
        rules = PivotSettings(self.order, self.edge, self.ngram, self.renormalise)
        stats = PivotBags(open_table(self.table), rules).rows(pairs)
        return stats[pairs.best(f1(stats.sum(axis=1)))].reshape(-1, 3 * self.order)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        stats = rows.reshape(-1, self.order, 3)
        total = stats.sum(axis=1)
        common, candidate, reference = total.T
        parts = {"precision": share(common, candidate), "recall": share(common, reference)}
        orders = {f"order{n}": column for n, column in enumerate(f1(stats).T, 1)}
        return {"value": f1(total), **parts, **orders}


_PEM_PARTS = ("pem", "pivot_f1", "fluency", "target_f1")


def open_model(name: str) -> PEM:
    """Return the model of a file; raise if it has no score."""
    model = _open_mapped(name)
    if model.combination is None:
        raise MetricError(
            f"{model.name} was trained without judgements, so it has no PEM score: train a model "
            "with karat paraphrase train --judged SET or --combine mean, or use pivot_f1"
        )
    return model


_open_mapped = _mapped_once(PEM.open)


@dataclass(frozen=True)
class PEMMetric(Metric):
    """PEM (Liu, Dahlmeier and Ng 2010): quality of a paraphrase, 1 to 5; mean over segments.

    The candidates are the paraphrases, the references the originals. Several references: the one
    with the best score, the first of equals. A row is [PEM, its three parts, 1], or zeros if the
    segment has no score, followed by the statistics of embedding models among the features, for
    their notes on truncated texts.
    """

    name: ClassVar[str] = "pem"
    full_scale: ClassVar[float] = 5.0
    score_range: ClassVar[str] = "1 to 5"
    digests: ClassVar[Any] = MappingProxyType({"model": lambda name: _open_mapped(name).digest})

    model: str = setting(
        BUNDLED,
        "the file of a model of karat paraphrase train; bundled and bundled-paper are small ones",
    )
    copies: str | None = setting(
        None,
        "worth of a copy of the original: good (5), bad (2) or ignore (none: as in the model)",
        kind=str,
        choices=COPIES,
    )

    def __post_init__(self) -> None:
        """Leave out a choice that is the model's own, so that one metric has one name."""
        super().__post_init__()
        if self.copies is not None:
            try:
                own_choice = _open_mapped(self.model).copies
            except (InputError, OSError):  # reported when the model is used
                return
            if self.copies == own_choice:
                object.__setattr__(self, "copies", None)

    @property
    def pem(self) -> PEM:
        """The model, with the choice of what copies are worth."""
        return open_model(self.model).with_copies(self.copies)

    def _full(self, name: str) -> str:
        """Return a setting with its digest; the worth of copies is always stated."""
        if name == "copies":
            return _open_mapped(self.model).with_copies(self.copies).copies
        return super()._full(name)

    def input_files(self) -> list[str]:
        """Return the files of the model and of the metrics among its features."""
        return [model_path(self.model), *feature_files(open_model(self.model).metrics)]

    def method(self, references: int | None) -> str:
        """Return the signature without the digest of score files, which differ between runs."""
        model = _open_mapped(self.model)
        return self.signature(references).replace(f"@{model.digest},", f"@{model.own_digest},")

    def columns(self) -> tuple[str, ...]:
        model_columns = (name for names in self._columns.values() for name in names)
        return (*_PEM_PARTS, "segments", *model_columns)

    @property
    def _columns(self) -> dict[MetricFeature, list[str]]:
        """Columns of the embedding models among the features, numbered from 1."""
        metrics = open_model(self.model).metrics
        embedding = [f for f in metrics if isinstance(f.metric, Cosine | BERTScore)]
        return {
            feature: [f"model{k}_{name}" for name in feature.metric.columns()]
            for k, feature in enumerate(embedding, 1)
        }

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        yield from open_model(self.model).feature_counter.overlaps()

    @property
    def slow(self) -> bool:
        """True if a feature of the model is slow."""
        return any(feature.metric.slow for feature in open_model(self.model).metrics)

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        model = self.pem
        features, metric_stats = model.feature_counter.extract(pairs)
        value = model.combine(features)
        has_score = ~np.isnan(value)
        model_stats = [metric_stats[model.metrics.index(feature)] for feature in self._columns]
        rows = np.column_stack([value, *features.parts, np.ones(len(value)), *model_stats])
        rows[~has_score] = 0.0
        return rows[pairs.best(np.where(has_score, value, -np.inf))]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        counts = np.where(rows[:, 4:5] > 0, rows[:, 4:5], np.nan)
        value, *parts = (rows[:, :4] / counts).T
        return {"value": value, **dict(zip(_PEM_PARTS[1:], parts, strict=True))}

    def has_score(self, rows: NDArray[Any]) -> Flags:
        """Return which segments have a score: copies may have none."""
        return np.asarray(rows[:, 4] > 0)

    def without_scores(self, rows: NDArray[Any], left_out: Flags) -> NDArray[Any]:
        """Return the rows as if some segments had no score."""
        return np.asarray(np.where(left_out[:, None], 0, rows))

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        ends = np.cumsum([5, *map(len, self._columns.values())])
        totals = [row[start:end] for start, end in pairwise(ends.tolist())]
        notes = feature_notes([*self._columns], totals)
        return (*notes, *open_model(self.model).cautions)
