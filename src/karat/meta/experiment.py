"""A meta-evaluation as one value: which metric agrees with the humans, how surely, at which level.

An `Experiment` holds every setting, prints itself whole, and can be saved as TOML and run again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.formats.settings_file import read_toml, toml_string
from karat.evalset.loading import as_options
from karat.meta.bootstrap import OVER
from karat.meta.views import LEVELS, check_behind
from karat.stats.correlation import STATISTICS
from karat.stats.resampling import SEED
from karat.stats.significance.multiple import CORRECTIONS
from karat.trials import check_trials


@dataclass(frozen=True)
class Experiment:
    """A meta-evaluation, whole. An empty tuple of dimensions or references means all of them."""

    evalset: str
    """A folder, a file, or the name of a known set."""
    metrics: tuple[str, ...]
    dimensions: tuple[str, ...] = ()
    levels: tuple[str, ...] = ("system", "segment", "item")
    statistics: tuple[str, ...] = ("pearson", "tau-b")
    normalise: str = "none"
    """none, or z: each judge's scores on a scale of their own first."""
    exclude: tuple[str, ...] = ()
    """Systems that are left out."""
    references: tuple[int, ...] = ()
    """The numbers of the references that are used, from 1."""
    over: str = "both"
    """The units of the bootstrap: segments, systems or both."""
    resamples: int = 1000
    trials: int = 1000
    """Of the permutation test between metrics; 0 for none."""
    correction: str = "none"
    """Of the p-values for many comparisons: none, holm or bh."""
    level: float = 0.05
    """Metrics are told apart at p of at most this."""
    seed: int = SEED
    read_as: str = ""
    """The format of the set; found from its content if it is empty."""
    reader_options: tuple[str, ...] = ()
    """Options of the format's reader, as NAME=VALUE."""
    p_values: bool = False
    """True to give each correlation its two-sided p-value."""

    def __post_init__(self) -> None:
        for level in self.levels:
            LEVELS[level]  # refuses what is none
        chosen = [STATISTICS[name] for name in self.statistics]
        known = {"over": OVER, "normalise": ("none", "z"), "correction": CORRECTIONS}
        for what, names in known.items():
            if (name := getattr(self, what)) not in names:
                raise InputError(f"{what} {quoted(name)}: expected one of {', '.join(names)}")
        for name in ("resamples", "trials"):
            check_trials(name, getattr(self, name))
        if self.seed < 0:
            raise InputError(f"seed={self.seed}: expected 0 or more")
        if not self.metrics or not self.levels or not self.statistics:
            raise InputError("an experiment needs at least one metric, level and statistic")
        if any(number < 1 for number in self.references):
            raise InputError("references are numbered from 1")
        if not 0 < self.level < 1:
            raise InputError(f"level={self.level}: expected a number between 0 and 1")
        as_options(self.reader_options)
        for one in chosen:
            check_behind(one, self.levels)
        for name in ("dimensions", "levels", "statistics", "exclude", "references"):
            given = getattr(self, name)
            for one in given:
                if given.count(one) > 1:
                    raise InputError(f"{name}: {quoted(one)} is named twice")

    def __str__(self) -> str:
        return "".join(self.toml())

    def toml(self) -> Iterator[str]:
        """The lines of a TOML file that reads back as this experiment."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is False:
                continue  # files state only what an experiment asks for
            items = ", ".join(map(_toml, value)) if isinstance(value, tuple) else ""
            yield f"{field.name} = {f'[{items}]' if isinstance(value, tuple) else _toml(value)}\n"


def _toml(value: str | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return toml_string(value) if isinstance(value, str) else repr(value)


def read_experiment(text: str, name: str = "experiment") -> Experiment:
    """An experiment from TOML; every mistake is named."""
    found = read_toml(text, name)
    known = {field.name: field for field in fields(Experiment)}
    for key, value in found.items():
        if key not in known:
            raise InputError(f"{name}: found the key {quoted(key)}, expected {', '.join(known)}")
        found[key] = _typed(name, key, value, str(known[key].type))
    missing = [key for key in ("evalset", "metrics") if key not in found]
    if missing:
        raise InputError(f"{name}: {missing[0]} is missing: an experiment needs it")
    try:
        return Experiment(**found)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a string"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
}


def _typed(name: str, key: str, value: Any, kind: str) -> Any:
    """A value of the type that its field has."""
    many = kind.startswith("tuple")
    inner, words = _KINDS[kind.removeprefix("tuple[").split(",")[0]]
    items = value if many and isinstance(value, list) else [value]
    good = all(isinstance(x, inner) and (inner is bool or not isinstance(x, bool)) for x in items)
    if not good or (many and not isinstance(value, list)):
        expected = f"an array, each of its items {words}" if many else words
        raise InputError(f"{name}: found {key} = {quoted(value)}, expected {expected}")
    return tuple(value) if many else value
