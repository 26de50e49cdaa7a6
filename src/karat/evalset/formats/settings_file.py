"""`karat.toml`: what a set is called, what was judged, and how its text files are to be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import InputError, MissingExtra, quoted
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, number, read_text

FILE = "karat.toml"


@dataclass(frozen=True)
class Settings:
    """The content of a `karat.toml`."""

    name: str
    description: str = ""
    licence: str = ""
    optional_references: bool = False
    """An empty line in a reference file means that there is no such reference."""
    optional_outputs: bool = False
    """An empty line in a system's file means that the system has no output there."""
    escapes: bool = False
    r"""`\n`, `\r`, `\\` and `\e` (nothing: an empty text that is there) are read as such."""
    systems: tuple[str, ...] | None = None
    """The systems in their order; without it, those of the files, by name."""
    dimensions: tuple[Dimension, ...] = ()


_KINDS = {
    **dict.fromkeys(("name", "description", "licence"), str),
    **dict.fromkeys(("optional-references", "optional-outputs", "escapes"), bool),
    **dict.fromkeys(("systems", "dimension"), list),
}
_OF_DIMENSION = {"name": str, "better": str, "low": float, "high": float, "guideline": str}
_WORDS = {str: "a string", bool: "true or false", list: "an array", float: "a number"}


def read_settings(path: Path, reading: Reading) -> Settings:
    """Return the settings of a set, checked."""
    found = read_toml(read_text(path), str(path))
    _check(found, _KINDS, str(path), reading)
    reading.check()
    dimensions = [_dimension(item, path, reading) for item in found.get("dimension", [])]
    systems = found.get("systems")
    for name in systems or []:
        if not isinstance(name, str):
            reading.problem(path, f"found {quoted(name)} among the systems, expected a string")
    reading.check()
    plain = {key.replace("-", "_"): found[key] for key in found if _KINDS[key] is not list}
    return Settings(
        **{"name": path.resolve().parent.name, **plain},
        systems=None if systems is None else tuple(systems),
        dimensions=tuple(item for item in dimensions if item is not None),
    )


def read_toml(text: str, name: str) -> dict[str, Any]:
    """Return what a TOML text says, by Python's own parser; Python 3.10 has none."""
    from importlib import import_module

    for parser in ("tomllib", "tomli"):
        try:
            found: dict[str, Any] = import_module(parser).loads(text)
            return found
        except ImportError:
            continue
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}: not valid TOML: {error}") from error
    needs = "needs the package tomli: pip install tomli"
    raise MissingExtra(f"reading {FILE} with Python 3.10 {needs}")


def _check(
    found: Mapping[str, Any], kinds: Mapping[str, type], where: str, reading: Reading
) -> None:
    for key, value in found.items():
        if key not in kinds:
            reading.problem(where, f"found the key {quoted(key)}, expected {', '.join(kinds)}")
            continue
        good = number(value) is not None if kinds[key] is float else isinstance(value, kinds[key])
        if not good or (kinds[key] is float and isinstance(value, str)):
            reading.problem(where, f"found {key} = {quoted(value)}, expected {_WORDS[kinds[key]]}")


def _dimension(item: object, path: Path, reading: Reading) -> Dimension | None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        told = f"found the dimension {quoted(item)}, expected [[dimension]] with a name"
        reading.problem(path, told)
        return None
    before = len(reading.problems)
    _check(item, _OF_DIMENSION, f"{path}, dimension {item['name']}", reading)
    if len(reading.problems) > before:
        return None
    try:
        return Dimension(**item)
    except InputError as error:
        reading.problem(path, str(error))
        return None


def settings_text(settings: Settings) -> Iterable[str]:
    """Return the lines of a `karat.toml` that reads back as these settings."""
    yield f"name = {toml_string(settings.name)}\n"
    for key in ("description", "licence"):
        if text := getattr(settings, key):
            yield f"{key} = {toml_string(text)}\n"
    for key in ("optional-references", "optional-outputs", "escapes"):
        if getattr(settings, key.replace("-", "_")):
            yield f"{key} = true\n"
    if settings.systems is not None:
        yield f"systems = [{', '.join(map(toml_string, settings.systems))}]\n"
    for dimension in settings.dimensions:
        yield f"\n[[dimension]]\nname = {toml_string(dimension.name)}\n"
        yield f"better = {toml_string(dimension.better)}\n"
        for key in ("low", "high"):
            if (end := getattr(dimension, key)) is not None:
                yield f"{key} = {end!r}\n"
        if dimension.guideline:
            yield f"guideline = {toml_string(dimension.guideline)}\n"


def toml_string(text: str) -> str:
    """Return a TOML string: JSON's spelling, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
