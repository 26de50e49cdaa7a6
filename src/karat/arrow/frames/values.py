"""Columns of Python values, as pandas and lists of dictionaries have them: texts, lists, numbers.

A list may be a list, a tuple or a numpy array. A missing value is None, NaN or pandas' NA.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

from karat import _kernel
from karat.arrays import Floats, Ints, np
from karat.arrow.batches import refusal
from karat.arrow.columns import kind_of
from karat.arrow.frames.frame import TABLE, Opened
from karat.errors import InputError, quoted
from karat.text.references import starts_of

_MISSING = ("NAType", "NaTType")  # of pandas, which need not be installed
_FORMATS: tuple[tuple[Any, str], ...] = (
    (str, "u"),
    (bool, "b"),
    (int, "l"),
    (float, "g"),
    (bytes, "z"),
    (dict, "+s"),
    ((datetime.date, datetime.time, datetime.timedelta), "tdD"),
)
"""Type of values -> the Arrow format of such a column."""

Place = Callable[[int], str]


def open_values(columns: dict[str, list[Any]], place: Place) -> Opened:
    """Return columns of values, all of one length, as a record batch."""
    formats = [_format(values) for values in columns.values()]
    return list(columns), formats, iter([ValueBatch(columns, place)])


class ValueBatch:
    """Rows of Python values, read as those of an Arrow record batch are; texts are not copied."""

    def __init__(self, columns: dict[str, list[Any]], place: Place) -> None:
        self._names, self._values, self._place = list(columns), list(columns.values()), place

    def __len__(self) -> int:
        return len(self._values[0])

    def texts(
        self, column: int, start: int, stop: int
    ) -> tuple[_kernel.Views, Ints | None, int, str]:
        """Return texts; of lists of texts also where each row's start. Others are refused."""
        values = self._values[column][start:stop]
        if _kernel.first_not_str(values) < 0:
            return _kernel.Views.from_strings(values, 0, len(values)), None, -1, ""
        groups = [value.tolist() if _is_array(value) else value for value in values]
        groups = [[value] if isinstance(value, str) else value for value in groups]
        texts = [text for group in groups if _is_list(group) for text in group]
        counts = [len(group) if _is_list(group) else 0 for group in groups]
        if 0 in counts or _kernel.first_not_str(texts) >= 0:
            row = next(i for i, group in enumerate(groups) if not _are_texts(group))
            return _kernel.Views.from_strings([], 0, 0), None, row, _described(values[row])
        return _kernel.Views.from_strings(texts, 0, len(texts)), starts_of(counts), -1, ""

    def integers(self, column: int, start: int, stop: int) -> tuple[Ints, int]:
        """Return whole numbers, and the first row that has none or -1; others are refused."""
        whole = (int, np.integer, np.bool_)
        values, missing = self._before_missing(column, start, stop)
        for row, value in enumerate(values):
            if not isinstance(value, whole):
                raise self._refusal(column, start + row, value, "a whole number")
            if not -(1 << 63) <= int(value) < 1 << 63:
                wanted = "a number of at most 64 bits, or a text"
                raise self._refusal(column, start + row, value, wanted)
        return np.array([int(value) for value in values], np.int64), missing

    def floats(self, column: int, start: int, stop: int) -> tuple[Floats, int]:
        """Return numbers, and the first row that has none or -1; others are refused."""
        values, missing = self._before_missing(column, start, stop)
        for row, value in enumerate(values):
            if not isinstance(value, int | float | np.number):
                raise self._refusal(column, start + row, value, "a number")
        return np.array([float(value) for value in values], np.float64), missing

    def _before_missing(self, column: int, start: int, stop: int) -> tuple[list[Any], int]:
        values = self._values[column][start:stop]
        missing = next((row for row, value in enumerate(values) if is_missing(value)), -1)
        return (values if missing < 0 else values[:missing]), missing

    def _refusal(self, column: int, row: int, value: object, wanted: str) -> InputError:
        place, why = self._place(row), _described(value)
        return refusal(f"{TABLE}, {place}", self._names[column], why, wanted)


def is_missing(value: object) -> bool:
    """Return whether a value stands for none."""
    nan = isinstance(value, float) and math.isnan(value)
    return value is None or nan or type(value).__name__ in _MISSING


def _format(values: Sequence[Any]) -> str:
    """Return the Arrow format that the first value shows; texts among lists are lists of one."""
    found = next((_one_format(value) for value in values if not is_missing(value)), "n")
    if found == "u" and _kernel.first_not_str(values) >= 0 and any(map(_is_list, values)):
        return "+l u"
    return found


def _one_format(value: Any) -> str:
    if _is_list(value):
        inner = next((_one_format(item) for item in value if not is_missing(item)), "u")
        return f"+l {inner}"
    if isinstance(value, np.generic) or _is_array(value):
        value = value.item()
    return next((format for kind, format in _FORMATS if isinstance(value, kind)), "other")


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) or (_is_array(value) and np.ndim(value) > 0)  # type: ignore[arg-type]


def _are_texts(value: Any) -> bool:
    return _is_list(value) and len(value) > 0 and _kernel.first_not_str(value) < 0


def _described(value: Any) -> str:
    """Return what a value is, for a message."""
    if is_missing(value):
        return "null"
    if _is_list(value) and not len(value):
        return "an empty list"
    if _is_list(value):
        others = (_described(item) for item in value if not isinstance(item, str))
        return f"a list that holds {next(others, 'texts')}"
    words = kind_of(_one_format(value)).removesuffix("s")
    return f"{quoted(value)} ({words})"
