"""Paths in nested records: `choices.0.message.content`, `/config.model` from the top of a document.

A number is a position in a list, -1 the last; `role=assistant` keeps the items of a list with that
member; `*` stands for all items. A key that contains dots is matched before its parts.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_DEEPEST = 6
MISSING: Any = type(
    "Missing", (), {"__repr__": lambda self: "MISSING", "__bool__": lambda self: False}
)()
"""The value of a path that a record does not have."""


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path; `MISSING` if there is none."""
    if not path:
        return value
    if isinstance(value, Mapping):
        parts = path.split(".")
        for size in range(len(parts), 0, -1):
            key = ".".join(parts[:size])
            if key in value:
                return value_at(value[key], ".".join(parts[size:]))
        return MISSING
    return _value_in_list(value, path) if isinstance(value, list | tuple) else MISSING


def _value_in_list(items: Sequence[Any], path: str) -> Any:
    step, _, rest = path.partition(".")
    name, equals, member = step.partition("=")
    if equals:
        return value_at(
            [x for x in items if isinstance(x, Mapping) and str(x.get(name)) == member], rest
        )
    if step == "*":
        values = [item for item in (value_at(x, rest) for x in items) if item is not MISSING]
        return values or MISSING
    if step.lstrip("-").isdigit() and -len(items) <= int(step) < len(items):
        return value_at(items[int(step)], rest)
    return MISSING


def first_value(value: Any, paths: Sequence[str], document: Any = None) -> Any:
    """Return the first value that is present at one of the paths; None if there is none."""
    for path in paths:
        is_absolute = path.startswith("/")
        item = value_at(document, path[1:]) if is_absolute else value_at(value, path)
        if item is not MISSING and item is not None and item != "":
            return item
    return None


def items_at(value: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path in which `*` stands for all items of a list or of an object."""
    head, star, rest = path.partition("*")
    inner = value_at(value, head.strip("."))
    if not star:
        if inner is not MISSING:
            yield inner
    elif isinstance(inner, list):
        for item in inner:
            yield from items_at(item, rest.strip("."))
    elif isinstance(inner, Mapping):
        for item in inner.values():
            yield from items_at(item, rest.strip("."))


def exploded(record: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each item of the list at a path; the item replaces the list.

    With `path#name`, the items are the members of an object, and their keys are in the column
    `name`. A record without items stays.
    """
    place, _, key_column = path.partition("#")
    items = value_at(record, place)
    if isinstance(items, Mapping):
        for key, item in items.items():
            yield {**with_value(record, place.split("."), item), key_column or "key": key}
    elif isinstance(items, list):
        for item in items:
            yield with_value(record, place.split("."), item)
    if not isinstance(items, Mapping | list) or not items:
        yield with_value(record, place.split("."), None)


def with_value(record: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy of a record with another value at a path of keys."""
    first, *rest = keys
    inner = record.get(first)
    if rest and isinstance(inner, Mapping):
        value = with_value(inner, rest, value)
    return {**record, first: value}


def flattened(record: Mapping[str, Any], depth: int = _DEEPEST) -> dict[str, Any]:
    """Return a record whose nested objects are columns with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping) and value and depth:
            inner = flattened(value, depth - 1)
            flat.update((f"{key}.{name}", item) for name, item in inner.items())
        else:
            flat[str(key)] = value
    return flat


def parsed_cell(value: Any) -> Any:
    """Return the value of a cell with JSON or a Python literal; other cells unchanged."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] in ("{", "[", '"') and text[-1:] in ("}", "]", '"'):
        for parse in (json.loads, ast.literal_eval):
            try:
                return parse(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    return value
