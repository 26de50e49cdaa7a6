"""Calibration items from a file of JSON lines.

    {"outputs": ["A cat sat."], "value": {"ratings": {"quality": 6}}, "source": "…"}

`outputs` and `value`, the answer that is right, are needed; `source`, `references` and `nuggets`
(descriptions, whose ids are 1, 2 and so on) are shown as those of a set are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.reading import Reading, json_rows
from karat.studio.store.settings import Calibration

_NEEDED = ("outputs", "value")
_TEXTS = ("outputs", "references", "nuggets")
_KNOWN = (*_NEEDED, "source", "references", "nuggets")


def read_calibration(path: str | os.PathLike[str], task: str) -> tuple[Calibration, ...]:
    """Return the calibration items of a file, for the task of a project."""
    reading = Reading()
    found = []
    for place, row in json_rows(Path(path), reading):
        if told := next(_problems(row), ""):
            raise InputError(f"{place}: {told}")
        texts = {name: tuple(row.get(name, ())) for name in _TEXTS}
        found.append(Calibration(task, value=row["value"], source=row.get("source"), **texts))
    reading.check()
    if not found:
        raise InputError(f"{os.fspath(path)}: expected calibration items, one JSON object a line")
    return tuple(found)


def _problems(row: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the members of an object."""
    for name in _NEEDED:
        if name not in row:
            yield f"{name} is missing: expected {' and '.join(_NEEDED)}"
    for name, value in row.items():
        if name not in _KNOWN:
            yield f"found the name {quoted(name)}, expected {', '.join(_KNOWN)}"
        if name in _TEXTS and not _are_texts(value):
            yield f"found {name}={quoted(value)}, expected a list of texts"
    if not isinstance(row.get("value", {}), dict):
        yield f"found value={quoted(row['value'])}, expected an object, as answers are"
    if not isinstance(row.get("source", ""), str):
        yield f"found source={quoted(row['source'])}, expected a text"


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
