"""Grids of choices in forms: columns `QUESTION [ITEM]`, `QUESTION [ITEM - SYSTEM]` and so on.

Rows are people. The parts of a name are its question, the texts in brackets, and their parts; which
part is the dimension, the item or the system is decided by the values that the part has in all
columns, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from karat.errors import InputError, quoted, short
from karat.tables.names import compact, is_in, is_model, scale_in_name
from karat.tables.roles import RatingColumn

_GRID = re.compile(r"(?P<question>.+?)\s*\[(?P<item>.+)\]")
_SEPARATORS = (" - ", " – ", " — ", " | ", "|", " / ", "/", ", ", "; ", ": ", ":", "_", "-", " ")
_ITEM = re.compile(
    r"(?:item|text|segment|sentence|question|example|sample|satz|beispiel|frage|texte|phrase|"
    r"exemple|texto|frase|ejemplo|q|s|t|no|nr|n)?[\s._#-]*\d{1,5}",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"(?:system|model|modell|bot|engine|variant|version|syst[eè]me|mod[eè]le|sistema|modelo)"
    r"[\s._#-]*\w{1,12}|[A-Z]",
    re.IGNORECASE,
)


def grid_columns(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the parts of the names of columns with brackets: the question, then each bracket.

    A scale in brackets, as in `Fluency [1-5]`, is no item.
    """
    parts: dict[str, tuple[str, ...]] = {}
    for name in columns:
        if match := _GRID.fullmatch(name.strip()):
            brackets = [part.strip() for part in re.split(r"\]\s*\[", match["item"])]
            parts[name] = (match["question"].strip(" :?"), *brackets)
    scaled = [name for name in parts if scale_in_name(name).low is not None]
    questions = [part[0] for part in parts.values()]
    if len(scaled) == len(parts) and len({*questions}) == len(questions):
        return {}
    return parts


def grid_ratings(columns: Sequence[str], table: str) -> tuple[RatingColumn, ...]:
    """Return the columns of ratings of a grid; refuse names with several readings."""
    names = grid_columns(columns)
    if not names:
        return ()
    size = max(map(len, names.values()))
    names = {name: parts for name, parts in names.items() if len(parts) == size}
    if size == 2:
        names = _split(names)
        size = len(next(iter(names.values())))
    roles = _roles_of_parts(list(names.values()), size)
    if roles is None:
        first = next(iter(names))
        raise InputError(
            f"{table}: the parts of column {quoted(first)} may be items or systems: "
            + " or ".join(
                f"--column 'score={_pattern(first, names[first], r)}'"
                for r in (("dimension", "id", "system"), ("dimension", "system", "id"))
            )  # fmt: skip
        )
    return tuple(RatingColumn(name, **_labels(roles, parts)) for name, parts in names.items())


def _labels(roles: Sequence[str], parts: Sequence[str]) -> dict[str, Any]:
    return {role: part for role, part in zip(roles, parts, strict=True) if role}


def _pattern(name: str, parts: Sequence[str], roles: Sequence[str]) -> str:
    at, pattern = 0, ""
    for part, role in zip(parts, roles, strict=True):
        start = name.index(part, at)
        pattern += name[at:start] + f"{{{role}}}"
        at = start + len(part)
    return short(pattern + name[at:])


def _split(names: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Split brackets such as `Item 1 - System A` at the separator that gives all combinations."""
    for separator in _SEPARATORS:
        pairs = [parts[1].split(separator) for parts in names.values()]
        if not all(len(pair) == 2 and all(p.strip() for p in pair) for pair in pairs):
            continue
        firsts, lasts = ([part.strip() for part in side] for side in zip(*pairs, strict=True))
        if len({*firsts}) > 1 and len({*lasts}) > 1 and len({*firsts}) * len({*lasts}) <= 2 * len(
            {*zip(firsts, lasts, strict=True)}
        ):  # fmt: skip
            split = zip(names.items(), firsts, lasts, strict=True)
            return {name: (parts[0], first, last) for (name, parts), first, last in split}
    return names


def _roles_of_parts(names: Sequence[tuple[str, ...]], size: int) -> tuple[str, ...] | None:
    """Return the role of each part: dimension, id, system or none; None if two are possible."""
    values = [dict.fromkeys(parts[at] for parts in names) for at in range(size)]
    roles = ["" for _ in range(size)]
    for at, labels in enumerate(values):
        if "dimension" not in roles and all(is_in("dimensions", label) for label in labels):
            roles[at] = "dimension"
    for role, is_such in (("id", _is_item), ("system", _is_system)):
        alike = [
            at for at, labels in enumerate(values) if not roles[at] and all(map(is_such, labels))
        ]
        if len(alike) == 1:
            roles[alike[0]] = role
    if not roles[0]:
        is_constant = len(values[0]) == 1
        if is_constant or "dimension" not in roles:
            roles[0] = "dimension"
    unknown = [at for at in range(size) if not roles[at]]
    missing = [role for role in ("id", "system", "dimension") if role not in roles]
    if len(unknown) == 1 and missing and ("id" in missing or len(missing) == 1):
        roles[unknown[0]] = missing[0]
        unknown = []
    if unknown or "id" not in roles:
        return None if size > 2 else ("dimension", "id")
    return tuple(roles)


def _is_item(label: str) -> bool:
    return _ITEM.fullmatch(label) is not None


def _is_system(label: str) -> bool:
    if is_model(label) and not compact(label).isdigit():
        return True
    return _SYSTEM.fullmatch(label) is not None
