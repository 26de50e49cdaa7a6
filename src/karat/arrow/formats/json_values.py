"""Values of JSON as columns of a table: texts, lists of texts, whole numbers, or any JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.errors import quoted

TEXT, TEXTS, WHOLE, JSON = "a text", "a list of texts", "a whole number", "any JSON value"
"""Kinds of columns, as messages name them."""

FORMATS = {TEXT: "u", TEXTS: "+l", WHOLE: "l"}
"""Arrow's formats of the kinds that can be worked on."""

NEEDED = f"{TEXT}, {TEXTS} or {WHOLE}"
_WIDEST = 63  # bits of a whole number


def kind_of_value(value: object) -> str | None:
    """Return the kind of a value that can be worked on; None for others."""
    if type(value) is str:
        return TEXT
    if type(value) is list:
        return TEXTS if value and all(type(item) is str for item in value) else None
    if type(value) is int:
        return WHOLE if value.bit_length() <= _WIDEST else None
    return None


def described(value: object) -> str:
    """Return what a value is, for a message."""
    if kind := kind_of_value(value):
        return f"{kind} ({quoted(value)})" if kind != TEXTS else kind
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        others = (item for item in value if not isinstance(item, str))
        return f"a list that holds {described(next(others))}" if value else "an empty list"
    beyond = " beyond 64 bits" if isinstance(value, int) else ""
    return f"a number{beyond} ({quoted(value)})"


class JsonColumn(NamedTuple):
    """A column: its name, its kind, and whether values may be missing."""

    name: str
    kind: str
    nullable: bool

    def takes(self, value: object) -> bool:
        """Return whether a value belongs in this column."""
        if kind_of_value(value) == self.kind or self.kind == JSON:
            return True
        return value is None and self.nullable

    def add_to(self, table: _kernel.ArrowTable, values: Sequence[Any]) -> None:
        """Add this column with its values to a table."""
        if self.kind == TEXT:
            table.strings(self.name, list(values), self.nullable)
        elif self.kind == TEXTS:
            table.text_lists(self.name, list(values), self.nullable)
        elif self.kind == WHOLE:
            table.nullable_integers(self.name, list(values))
        else:
            written = [None if v is None else json.dumps(v, ensure_ascii=False) for v in values]
            table.strings(self.name, written, True, "arrow.json")
