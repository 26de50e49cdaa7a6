"""Buckets: sums of rows by a hash of their ids, for tables with too many rows to keep.

Intervals and paired tests resample segments. If these are too many, they resample buckets: all
segments with the same splitmix64(id) mod the number of buckets. A bucket has the same segments for
every system, so differences stay paired. Only the number of segments decides whether buckets are
used, never the memory of a machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import carried, grouped_sums
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.score_settings import MAX_BUCKETS

BUCKETS = 4096
MAX_ROWS = 2_000_000  # with more outputs, buckets are kept instead of rows


def resolve_buckets(rows: int, requested: int | None) -> int | None:
    """Return the number of buckets for this number of rows; None if rows are kept.

    A request of 0 keeps any number of rows; without a request, the number of rows decides.
    """
    if requested is None:
        return BUCKETS if rows > MAX_ROWS else None
    if requested == 0:
        return None
    if not isinstance(requested, int) or not 2 <= requested <= MAX_BUCKETS:
        raise InputError(f"buckets={requested}: expected 2 to {MAX_BUCKETS:,}, or 0 for none")
    return requested


def check_filled(segments: int, buckets: int, system: str) -> None:
    """Raise if there are fewer segments than buckets: most buckets would be empty."""
    if segments < buckets:
        problem = f"system {system} has {segments:,} segments, fewer than the {buckets:,} buckets"
        advice = "ask for fewer (--buckets N), or for none, so that all rows are kept (--buckets 0)"
        raise InputError(f"{problem} that would be resampled: {advice}")


def bucket_of(hashes: Ints, buckets: int) -> NDArray[np.int32]:
    """Return the bucket of each hash."""
    remainders: NDArray[np.uint64] = hashes.view(np.uint64) % np.uint64(buckets)
    return remainders.astype(np.int32)


def bucket_of_ids(ids: Ints, buckets: int) -> NDArray[np.int32]:
    """Return the buckets of integer ids."""
    return bucket_of(_kernel.hash_ids(ids), buckets)


class CellSums(NamedTuple):
    """Exact sums of the rows in some cells, in the form of `arithmetic.grouped_sums`."""

    cells: Ints
    sums: Ints


def sum_cells(rows: NDArray[Any], cells: NDArray[np.int32]) -> CellSums:
    """Return the sums of the rows of each cell that occurs."""
    used, groups = np.unique(cells, return_inverse=True)
    return CellSums(used.astype(np.int64), grouped_sums(rows, groups.astype(np.int32), len(used)))


def add_cells(total: Ints | None, part: CellSums, cells: int) -> Ints:
    """Return the total plus some sums, in place if possible; None is an empty total."""
    columns = part.sums.shape[-1]
    if total is None:
        total = np.zeros((cells, *part.sums.shape[1:]), np.int64)
    if part.sums.ndim > total.ndim:  # the total has only whole numbers so far
        total = np.stack([total, *np.zeros((2, cells, columns), np.int64)], axis=1)
    if part.sums.ndim < total.ndim:
        total[part.cells, 0] += part.sums
    elif part.sums.ndim == 2:
        total[part.cells] += part.sums
    else:
        total[part.cells] = carried(total[part.cells] + part.sums)
    return total


def join_cells(parts: Sequence[CellSums], cells: int) -> Ints:
    """Return the sums of all cells from at least one part."""
    total = None
    for part in parts:
        total = add_cells(total, part, cells)
    if total is None:
        raise ValueError("no part")
    return total
