"""A meta-evaluation as one value: which metric agrees with the humans, how surely, at which level.

An `Experiment` holds every setting, prints itself whole, and can be saved as TOML and run again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from karat.errors import InputError, quoted
from karat.evalset.formats.directory import read_toml, toml_string
from karat.evalset.loading import parse_options
from karat.meta.agreement import OVER
from karat.meta.scores import SYSTEM_SCORES
from karat.meta.views import LEVELS, check_behind
from karat.metrics.base import Metric
from karat.metrics.given import SET, ExternalScores
from karat.metrics.names import metric
from karat.settings import check_seed, check_trials
from karat.stats.correlation import STATISTICS
from karat.stats.resampling import SEED
from karat.stats.significance import CORRECTIONS, SIGNIFICANCE_LEVEL

MetricName: TypeAlias = str | Metric  # a metric, or its name


ONLY_IF_GIVEN = ("judgements", "model_judges")  # settings that are stated only where they are given
CHOICES: dict[str, Iterable[str]] = {
    "over": OVER,
    "normalise": ("none", "z"),
    "correction": CORRECTIONS,
    "system_scores": SYSTEM_SCORES,
}
"""Setting -> the values that it can have."""


@dataclass(frozen=True)
class Experiment:
    """Settings of a meta-evaluation. No dimensions or no references means all of them."""

    evalset: str  # a folder, a file, or the name of a known set
    metrics: tuple[MetricName, ...]
    dimensions: tuple[str, ...] = ()
    levels: tuple[str, ...] = ("system", "segment", "item")
    statistics: tuple[str, ...] = ("pearson", "tau-b")
    normalise: str = "none"  # none, or z: each judge's scores on a scale of their own first
    exclude: tuple[str, ...] = ()  # systems that are left out
    references: tuple[int, ...] = ()  # the numbers of the references that are used, from 1
    over: str = "both"  # the units of the bootstrap: segments, systems or both
    resamples: int = 1000
    trials: int = 1000  # of the permutation test between metrics; 0 for none
    correction: str = "none"  # of the p-values for many comparisons: none, holm or bh
    level: float = SIGNIFICANCE_LEVEL  # metrics are told apart at p of at most this
    seed: int = SEED
    read_as: str = ""  # the format of the set; found from its content if it is empty
    reader_options: tuple[str, ...] = ()  # options of the format's reader, as NAME=VALUE
    p_values: bool = False  # True to give each correlation its two-sided p-value
    system_scores: str = "judged"  # outputs that metric scores of systems are of: judged or all
    judgements: tuple[str, ...] = ()  # files of judgements that are added to the set
    model_judges: tuple[str, ...] = ()  # names of judges that are models

    def __post_init__(self) -> None:
        for level in self.levels:
            LEVELS[level]  # refuses unknown names
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise InputError(f"{name} {quoted(value)}: expected one of {', '.join(choices)}")
        for name in ("resamples", "trials"):
            check_trials(name, getattr(self, name))
        check_seed(self.seed)
        if not self.metrics or not self.levels or not self.statistics:
            raise InputError("an experiment needs at least one metric, level and statistic")
        if any(number < 1 for number in self.references):
            raise InputError("references are numbered from 1")
        if not 0 < self.level < 1:
            raise InputError(f"level={self.level}: expected a number between 0 and 1")
        parse_options(self.reader_options)
        for statistic in self.statistics:
            check_behind(STATISTICS[statistic], self.levels)
        for name in ("dimensions", "levels", "statistics", "exclude", "references"):
            values = getattr(self, name)
            for value in values:
                if values.count(value) > 1:
                    raise InputError(f"{name}: {quoted(value)} is named twice")

    def __str__(self) -> str:
        return "".join(self.toml())

    def toml(self) -> Iterator[str]:
        """The lines of a TOML file that reads back as this experiment."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is False or (field.name in ONLY_IF_GIVEN and not value):
                continue  # files state only what an experiment asks for
            items = ", ".join(map(_toml, value)) if isinstance(value, tuple) else ""
            yield f"{field.name} = {f'[{items}]' if isinstance(value, tuple) else _toml(value)}\n"


@dataclass(frozen=True)
class MetaStudy:
    """Several experiments whose metrics are averaged: sets, language pairs, levels, statistics."""

    experiments: tuple[Experiment, ...]
    weights: tuple[float, ...] = ()  # one number an experiment; all count the same if it is empty

    def __post_init__(self) -> None:
        if not self.experiments:
            raise InputError("a study needs at least one experiment")
        if len(self.experiments) > 1 and any(e.p_values for e in self.experiments):
            raise InputError("p_values: averages over several sets have none; leave it out")
        check_weights(self.weights, len(self.experiments))
        sets: dict[str, tuple[str, tuple[str, ...]]] = {}  # file of scores -> its only set
        for experiment in self.experiments:
            set_and_options = experiment.evalset, experiment.reader_options
            for scores in map(metric, experiment.metrics):
                path = scores.file if isinstance(scores, ExternalScores) else None
                if path is None or SET in path:
                    continue
                if sets.setdefault(path, set_and_options) != set_and_options:
                    raise InputError(
                        f"{scores}: a file has scores of one set, and there are several: name a "
                        f"file for each, as in given:file=scores/{SET}.tsv, where {SET} is the "
                        "name of the set"
                    )

    def __str__(self) -> str:
        return "".join(self.toml())

    def toml(self) -> Iterator[str]:
        """The lines of a TOML file that reads back as this study."""
        if len(self.experiments) == 1:
            yield from self.experiments[0].toml()
            return
        yield f"weights = [{', '.join(map(_toml, self.weights))}]\n"
        for experiment in self.experiments:
            yield "\n[[experiment]]\n"
            yield from experiment.toml()


def check_weights(weights: Sequence[float], number: int) -> tuple[float, ...]:
    """Return a weight for each of some experiments, with the sum 1; refuse what are none."""
    if weights and len(weights) != number:
        raise InputError(f"found {len(weights)} weights, expected one for each of {number} sets")
    if any(not 0 <= w < math.inf for w in weights) or (weights and not sum(weights)):
        raise InputError("weights: expected numbers that are not negative, one of them above 0")
    numbers = weights or (1.0,) * number
    return tuple(w / sum(numbers) for w in numbers)


def _toml(value: MetricName | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return toml_string(str(value)) if isinstance(value, MetricName) else repr(value)


def read_experiment(text: str, name: str = "experiment") -> Experiment:
    """Read an experiment from TOML.

    Args:
        text: the TOML.
        name: name of the file, for errors.
    """
    return _experiment(read_toml(text, name), name)


def read_study(text: str, name: str = "study") -> MetaStudy:
    """Read a study from TOML: `[[experiment]]` tables and `weights`, or one experiment.

    Args:
        text: the TOML.
        name: name of the file, for errors.
    """
    content = read_toml(text, name)
    if "experiment" not in content:
        return MetaStudy((_experiment(content, name),))
    several, weights = content.pop("experiment"), content.pop("weights", [])
    if content:
        expected = "expected weights and [[experiment]] tables"
        raise InputError(f"{name}: found the key {quoted(next(iter(content)))}, {expected}")
    if not isinstance(several, list) or not all(isinstance(table, dict) for table in several):
        raise InputError(f"{name}: found experiment = {quoted(several)}, expected tables")
    experiments = [
        _experiment(table, f"{name}, experiment {k}") for k, table in enumerate(several, 1)
    ]
    typed_weights = _typed(name, "weights", weights, "tuple[float, ...]")
    try:
        return MetaStudy(tuple(experiments), typed_weights)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _experiment(content: dict[str, Any], name: str) -> Experiment:
    """An experiment from the content of a file, or of a part of it."""
    fields_by_name = {field.name: field for field in fields(Experiment)}
    for key, value in content.items():
        if key not in fields_by_name:
            expected = f"expected {', '.join(fields_by_name)}"
            raise InputError(f"{name}: found the key {quoted(key)}, {expected}")
        content[key] = _typed(name, key, value, str(fields_by_name[key].type))
    missing = [key for key in ("evalset", "metrics") if key not in content]
    if missing:
        raise InputError(f"{name}: {missing[0]} is missing: an experiment needs it")
    try:
        return Experiment(**content)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a string"),
    "MetricName": (str, "a string"),
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
