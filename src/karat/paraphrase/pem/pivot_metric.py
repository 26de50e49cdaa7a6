"""`pivot_f1`: the adequacy of PEM as a metric of its own; the references are the originals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Floats, NDArray
from karat.errors import MetricError
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.paraphrase.pem.bags import MOST_ORDERS, PivotBags, PivotSettings, f1, share
from karat.paraphrase.table.phrase_table import PhraseTable, table_digest
from karat.settings import setting
from karat.storage.store import file_stamp, stored_kind

MODEL = "paraphrase model"
"""The kind of a stored `PEM`, which is loaded only where one is named."""

_PARTS = ("common", "candidate", "reference")


def opened(path: str) -> PhraseTable:
    """Return the table of a file, mapped once for as long as the file does not change."""
    stamp = file_stamp(path)
    return _opened(path, stamp) if stamp else PhraseTable.open(path)  # which says what is wrong


@lru_cache(maxsize=16)
def _opened(path: str, _stamp: tuple[int, int]) -> PhraseTable:
    if stored_kind(path) != MODEL:
        return PhraseTable.open(path)
    from karat.paraphrase.pem.model import PEM

    pivots = PEM.open(path).pivots
    if len(pivots) != 1:
        raise MetricError(
            f"{path} has {len(pivots)} pivot languages ({', '.join(pivots)}) and pivot_f1 takes "
            "one: train a model with one"
        )
    return next(iter(pivots.values()))


@dataclass(frozen=True)
class PivotF1(Metric):
    """F1 of pivot-language n-grams (Liu, Dahlmeier and Ng 2010): same meaning in other words.

    Text becomes words as the phrase table says. A corpus score is that of the summed weights.
    Several references: the one with the best score, the first of equals.
    """

    name: ClassVar[str] = "pivot_f1"
    digests: ClassVar[Any] = MappingProxyType({"table": table_digest})

    table: str | None = setting(
        None,
        "the file of a phrase table, or of a paraphrase model with one pivot; needed",
        kind=str,
    )
    order: int = setting(4, "the longest n-grams", low=1, high=MOST_ORDERS)
    edge: float = setting(
        0.1, "translations must be more probable; the best is always kept", low=0, high=1
    )
    ngram: float = setting(0.01, "n-grams must weigh more", low=0, high=1)
    renormalise: bool = setting(False, "let the translations that are kept share all probability")

    def input_files(self) -> list[str]:
        """Return the file of the table."""
        return [] if self.table is None else [self.table]

    def columns(self) -> tuple[str, ...]:
        return tuple(f"{part}{n}" for n in range(1, self.order + 1) for part in _PARTS)

    @property
    def bags(self) -> PivotBags:
        """The counter: the table, opened, and the settings."""
        if self.table is None:
            raise MetricError(
                "pivot_f1 needs a phrase table: write pivot_f1:table=FILE "
                "(a model that karat paraphrase train made has one)"
            )
        rules = PivotSettings(self.order, self.edge, self.ngram, self.renormalise)
        return PivotBags(opened(self.table), rules)

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        found = self.bags.rows(pairs)
        return found[pairs.best(f1(found.sum(axis=1)))].reshape(-1, 3 * self.order)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        stats = rows.reshape(-1, self.order, 3)
        total = stats.sum(axis=1)
        common, candidate, reference = total.T
        parts = {"precision": share(common, candidate), "recall": share(common, reference)}
        orders = {f"order{n}": column for n, column in enumerate(f1(stats).T, 1)}
        return {"value": f1(total), **parts, **orders}
