"""Columns of a table by role, the kinds of values in them, and texts read from Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from karat import _kernel
from karat.arrays import Ints, np
from karat.errors import InputError, quoted
from karat.evalset.reading import USUAL_COLUMNS, list_columns, missing_column
from karat.metrics.base import Metric
from karat.score_settings import SEGMENT
from karat.text.references import GroupedReferences, starts_of
from karat.text.segments import STRIDE, Segments


@dataclass(frozen=True)
class Columns:
    """Names of the columns by role: candidates, references, systems, ids, units, slices, scores.

    A column of references holds texts or lists of texts; several columns are several references.
    Several columns of candidates are several systems, each named by its column (a wide table).
    Without a column of candidates, all texts are empty, for metrics that read none.
    """

    candidate: tuple[str, ...] = ("candidate",)
    reference: tuple[str, ...] = ("reference",)
    by: str | None = None
    id: str | None = None
    rows_are_segments: bool = False  # True if row numbers, from 0, are the ids of segments
    scores: tuple[str, ...] = ()  # columns of given scores
    system: str | None = None  # the system of all rows, if each file is a system
    skip_missing: bool = False  # True to leave out rows without a candidate or a reference
    empty_is_missing: bool = False  # True if an empty cell is no text, as in CSV and TSV
    unit: str | None = None  # the units of intervals and tests; None: each id is one
    slice: str | None = None  # the slices of a comparison

    def with_scores(self, metrics: Iterable[Metric]) -> Columns:
        """Add the columns of given scores."""
        metrics = tuple(metrics)
        if reading := next((m for m in metrics if m.reads_set), None):
            raise InputError(
                f"{reading} reads a column of sources or contexts, which tables that are streamed "
                "do not have: score it without an engine, --rows, --shards and --slice, so that "
                "the table is read whole"
            )
        columns = tuple(dict.fromkeys(column for m in metrics for column in m.table_columns()))
        if columns and self.wide:
            raise InputError(
                f"column {quoted(columns[0])} has one score per row, and a wide table has several "
                "systems: make it long, with a column of systems (by)"
            )
        return replace(self, scores=columns)

    def with_units(self, units: str | None, existing: Sequence[str] = ()) -> Columns:
        """Add the column of units, unless each segment is one; `existing` are all columns."""
        if units in (None, self.id) or (units == SEGMENT and units not in existing):
            return self
        if units in (*self.candidate, *self.reference):
            reason = "a text cannot be the label of a unit"
            raise InputError(f"column {quoted(units)} is named as text and as unit: {reason}")
        return replace(self, unit=units)

    @classmethod
    def from_names(
        cls,
        candidate: str | Sequence[str] = "candidate",
        reference: str | Sequence[str] = "reference",
        by: str | None = None,
        id: str | None = None,
    ) -> Columns:
        """Return the columns by their names, checked."""
        candidates, references = (
            tuple(names) if isinstance(names, list | tuple) else (names,)
            for names in (candidate, reference)
        )
        for role, columns in (("candidates", candidates), ("references", references)):
            if not columns:
                raise InputError(f"no column of {role} was named: at least one is needed")
        for column in (*candidates, *references, by, id):
            if column is not None and not isinstance(column, str):
                kind = type(column).__name__
                raise InputError(f"a column is named by {kind} {quoted(column)}, expected a str")
        for column in candidates:
            if column in references:
                raise InputError(
                    f"column {quoted(column)} is named as candidate and as reference: a text "
                    "scored against itself is meaningless"
                )
        for columns, role in ((candidates, "systems"), (references, "references")):
            for column in columns:
                if columns.count(column) > 1:
                    raise InputError(
                        f"column {quoted(column)} is named twice: it would be two {role}"
                    )
        if by is not None and len(candidates) > 1:
            raise InputError(
                f"{len(candidates)} columns of candidates and a column of systems "
                f"({quoted(by)}) were named: a table has one or the other; leave one of them out"
            )
        if by is not None and by in (*candidates, *references):
            reason = "a text cannot be the name of a system"
            raise InputError(f"column {quoted(by)} is named as text and as system (by): {reason}")
        return cls(candidates, references, by, id)

    @property
    def wide(self) -> bool:
        """True if several columns hold candidates, one for each system."""
        return len(self.candidate) > 1

    @property
    def names(self) -> list[str]:
        """All columns, without duplicates."""
        keys = (self.by, self.id, self.unit, self.slice)
        columns = (*self.candidate, *self.reference, *keys, *self.scores)
        return list(dict.fromkeys(name for name in columns if name is not None))

    def column_indices(self, name: str, columns: Sequence[str]) -> dict[str, int]:
        """Return the index of each column in a table called `name`."""
        indices = {}
        for column in self.names:
            if column not in columns:
                raise missing_column(name, column, columns)
            if list(columns).count(column) > 1:
                raise InputError(f"{name} has two columns {quoted(column)}: rename one of them")
            indices[column] = list(columns).index(column)
        return indices


SKIP_MISSING = (
    "skip rows without a candidate or a reference (--skip-missing, in Python skip_missing=True)"
)
"""Advice for rows without a text."""


def has_usual_column(names: Sequence[str], role: str = "reference") -> bool:
    """Return whether a column has a usual name for a role."""
    return any(name.lower() in USUAL_COLUMNS[role] for name in names)


def texts_column(table: str, names: Sequence[str], metrics: Sequence[Metric]) -> str | None:
    """Return the detected column of candidates; None if it is unclear and no metric needs one."""
    reads_texts = not metrics or any(metric.reads_texts for metric in metrics)
    usual = [name for name in names if name.lower() in USUAL_COLUMNS["candidate"]]
    return usual_column(table, names, "candidate") if reads_texts or len(usual) == 1 else None


def usual_column(table: str, names: Sequence[str], role: str) -> str:
    """Return the only column with a usual name for a role."""
    matches = [name for name in names if name.lower() in USUAL_COLUMNS[role]]
    if len(matches) == 1:
        return matches[0]
    if len(matches) > 1 and len({*matches}) == 1:
        raise InputError(
            f"{table} has {len(matches)} columns {quoted(matches[0])}: rename one of them"
        )
    if matches:
        problem = f"any of {', '.join(matches)} may be the column of {role}s"
    else:
        problem = f"no column has a usual name for {role}s (it has {list_columns(names)})"
    option = f"--{role} COLUMN, in Python {role}="
    raise InputError(f"{table}: {problem}: name the right one ({option})")


_SINGLE = {
    "n": "nulls", "b": "truth values", "z": "bytes", "Z": "bytes", "vz": "bytes",
    "e": "floats", "f": "floats", "g": "floats", "u": "text", "U": "text", "vu": "text",
    "json": "JSON values", "+s": "structures",
}  # fmt: skip
_LISTS = ("+l", "+L", "+vl", "+vL", "+w")


def kind_of(format: str) -> str:
    """Return the kind of a column in words, from its Arrow format and nested formats."""
    head, _, inner = format.partition(" ")
    if head.startswith(_LISTS):
        return f"lists of {kind_of(inner)}"
    if inner:  # a dictionary: the kind of its values counts
        return kind_of(inner)
    if head in "cCsSiIlL":
        return "whole numbers"
    is_time = head[:1] == "t"
    return _SINGLE.get(head, "dates or times" if is_time else "other values")


TEXT = ("text",)
TEXTS = ("text", "lists of text")
KEYS = ("text", "whole numbers", "truth values")
NUMBERS = ("floats", "whole numbers", "text", "JSON values")


def check_kind(name: str, column: str, format: str, kinds: Sequence[str]) -> str:
    """Return the kind of a column; raise if it is not one of `kinds`."""
    kind = kind_of(format)
    if kind not in kinds:
        expected = " or ".join(kinds)
        raise InputError(f"{name}: column {quoted(column)} holds {kind}, expected {expected}")
    return kind


class ColumnTexts(Segments):
    """The texts of a column, one per row, read in place."""

    def __init__(self, views: _kernel.Views, name: str) -> None:
        self._views, self.name = views, name

    def __len__(self) -> int:
        return len(self._views)

    def sizes(self) -> Ints:
        return _kernel.view_sizes(self._views, STRIDE)

    def views(self, start: int, stop: int) -> _kernel.Views:
        return self._views.slice(start, stop)

    def strings(self, indices: Sequence[int]) -> list[str]:
        return [self._views.slice(i, i + 1).strings()[0] for i in indices]


class ColumnReferences(GroupedReferences):
    """References from a column of lists of texts."""

    def __init__(self, views: _kernel.Views, starts: Ints, name: str) -> None:
        self._name, self._starts = name, starts
        self._texts = ColumnTexts(views, name)

    def sizes(self) -> Ints:
        text_sizes = _kernel.view_sizes(self._texts.views(0, len(self._texts)), 1)
        return np.asarray(np.diff(starts_of(text_sizes)[self._cuts()]))

    def views(self, start: int, stop: int) -> tuple[_kernel.Views, Ints]:
        first, last = int(self._starts[start]), int(self._starts[stop])
        return self._texts.views(first, last), self._starts[start : stop + 1] - first

    def strings(self, indices: Sequence[int]) -> list[list[str]]:
        cuts = [(int(self._starts[i]), int(self._starts[i + 1])) for i in indices]
        return [self._texts.views(*cut).strings() for cut in cuts]
