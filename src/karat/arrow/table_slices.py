"""Slices of a table: a column with the label of each row's slice, or bands of length.

The table is read once more for them. Slices belong to ids, so they do not depend on the order of
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from karat.arrays import np
from karat.arrow.batches import RowRange, TableBatch
from karat.errors import InputError, quoted
from karat.score_settings import LENGTH
from karat.slices import Slices, first_reference_lengths

SlicesOfIds: TypeAlias = "Callable[[Sequence[Any]], Slices]"
"""From ids to their slices."""


def read_slices(ranges: Iterable[RowRange], column: str | None) -> SlicesOfIds:
    """Read the slice of each id from a column; None: by the length of the first reference."""
    return _read_lengths(ranges) if column is None else _read_labels(ranges, column)


def _read_labels(ranges: Iterable[RowRange], column: str) -> SlicesOfIds:
    label_of: dict[Any, str] = {}
    labels: dict[str, None] = {}
    for rows in ranges:
        batch = rows.read()
        if batch.slices is None:
            raise ValueError(f"the column {column} was not read")
        names, codes = batch.slices
        labels |= dict.fromkeys(names)
        Slices.check_number(column, len(labels))
        for id, code in zip(_ids(batch), codes.tolist(), strict=True):
            label = label_of.setdefault(id, names[code])
            if label != names[code]:
                both = f"{quoted(label)} and {quoted(names[code])}"
                raise InputError(
                    f"id {quoted(str(id))} is in the slices {both} (column {quoted(column)}): an "
                    "id must be in the same slice in all its rows"
                )
    return lambda ids: Slices.from_labels(column, [label_of[id] for id in ids])


def _read_lengths(ranges: Iterable[RowRange]) -> SlicesOfIds:
    """Read the length of the first reference of each id; the shortest, if its rows differ."""
    size_of: dict[Any, tuple[int, int]] = {}
    for rows in ranges:
        batch = rows.read()
        words, characters = first_reference_lengths(batch.references)
        sizes = zip(words.tolist(), characters.tolist(), strict=True)
        for id, size in zip(_ids(batch), sizes, strict=True):
            size_of[id] = min(size, size_of.get(id, size))

    def slices(ids: Sequence[Any]) -> Slices:
        words, characters = np.array([size_of[id] for id in ids], np.int64).reshape(-1, 2).T
        return Slices.from_lengths(words, characters)

    return slices


def _ids(batch: TableBatch) -> list[Any]:
    if batch.ids is None:
        raise InputError(f"slices by {LENGTH} or a column need the ids of segments (--id COLUMN)")
    return [*np.asarray(batch.ids.listed(), object).tolist()]
