"""The hook for engines: statistics of any batch of a table, and what comes of all of them.

    import karat as kt

    parts = [kt.arrow.sums(batch, ["bleu", "chrf"], by="system") for batch in batches]
    kt.arrow.merge(parts).score()

The functions are pure: a batch may be measured anywhere, twice, in any order. Engines find them by
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from karat.arrow.batches import speaks_arrow, table_batches
from karat.arrow.columns import Columns
from karat.arrow.merged import Merged
from karat.arrow.statistics import Measure, Statistics
from karat.arrow.tables import Table, read_table, rows_table, sums_table
from karat.errors import InputError
from karat.metrics.base import Metric
from karat.metrics.names import metric
from karat.scoring import as_metrics
from karat.stats.buckets import as_buckets

Metrics = Sequence[str | Metric] | str | Metric


def stats(
    batch: Any,
    metrics: Metrics = ("bleu",),
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    threads: int | None = 1,
) -> Table:
    """Return the statistics of every row of a table, in its order.

    `batch` is anything that speaks Arrow's PyCapsule protocol. `candidate` and `reference` name
    the columns of texts (a reference may be a list of texts, or several columns may be named;
    several candidates are several systems), `by` the column of systems and `id` that of the
    segments' ids.
    """
    chosen = as_metrics(metrics)
    columns = Columns.of(candidate, reference, by, id).with_scores(chosen)
    measure = Measure(tuple(chosen), keep=True)
    return rows_table(chosen, list(measure.parts(table_batches(batch, columns), threads)))


def sums(
    batch: Any,
    metrics: Metrics = ("bleu",),
    *,
    candidate: str | Sequence[str] = "candidate",
    reference: str | Sequence[str] = "reference",
    by: str | None = None,
    id: str | None = None,
    buckets: int | None = None,
    threads: int | None = 1,
) -> Table:
    """Return exact sums of the statistics of a table, by system, in a small table.

    With `buckets` sums are also by bucket of ids, so that intervals and paired tests can be made of
    them; scores need none. The other arguments are those of `stats`.
    """
    chosen = as_metrics(metrics)
    columns = Columns.of(candidate, reference, by, id).with_scores(chosen)
    if buckets is not None and id is None:
        raise InputError("buckets are made of ids: name the column that has them (id=)")
    measure = Measure(tuple(chosen), as_buckets(0, buckets))
    found = Statistics(chosen, measure.buckets)
    for part in measure.parts(table_batches(batch, columns), threads):
        found += part
    return sums_table(found)


def merge(tables: Any) -> Merged:
    """Add up tables of `sums`, or of `stats`, of all parts of a data set.

    `tables` is one table, or several in any order, each part once, made by one version of Karat.
    The result scores and compares as `karat.score` and `karat.compare` do; it is a table of sums
    itself, to be merged again.
    """
    given: Iterable[Any] = [tables] if speaks_arrow(tables) else tables
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"tables is {type(tables).__name__}, expected tables of karat.arrow.sums")
    found: dict[str, Statistics] = {}
    for number, table in enumerate(given, 1):
        for signature, buckets, part in read_table(table, f"table {number}"):
            own = found.setdefault(signature, Statistics([metric(signature)], buckets))
            if own.buckets != buckets:
                both = " and ".join(str(n or "no") for n in (own.buckets, buckets))
                raise InputError(f"table {number}: {both} buckets cannot be merged")
            if own.rows and own.keeps != (part.kept is not None):
                told = "tables of sums and of single rows (karat.arrow.stats)"
                raise InputError(f"table {number}: {told} cannot be merged: make all in one way")
            own += part
    return Merged.of(list(found.values()))
