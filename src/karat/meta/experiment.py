"""A meta-evaluation as one value: which metric agrees with the humans, how surely, at which level.

An `Experiment` holds every setting, prints itself whole, and can be saved as TOML and run again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from karat.errors import InputError, quoted
from karat.evalset.formats.directory import read_toml, toml_string
from karat.evalset.loading import parse_options
from karat.meta.settings import MetaSettings, weights_setting
from karat.meta.views import check_behind
from karat.metrics.base import Metric
from karat.metrics.given import SET, ExternalScores
from karat.metrics.names import metric
from karat.settings import Settings
from karat.stats.correlation import STATISTICS
from karat.stats.raters import THESE

MetricName: TypeAlias = str | Metric  # a metric, or its name


ONLY_IF_GIVEN: Mapping[str, object] = {"judgements": (), "model_judges": (), "raters": THESE}
"""Settings that are stated only where they differ from these defaults."""


@dataclass(frozen=True)
class Experiment(MetaSettings):
    """Settings of a meta-evaluation, which can be saved as TOML and run again."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.metrics:
            if not isinstance(name, MetricName):
                raise InputError(f"metrics: found {quoted(name)}, expected the name of a metric")
        if not self.metrics or not self.levels or not self.statistics:
            raise InputError("an experiment needs at least one metric, level and statistic")
        parse_options(self.reader_options)
        for statistic in self.statistics:
            check_behind(STATISTICS[statistic], self.levels)

    def __str__(self) -> str:
        return "".join(self.toml())

    def toml(self) -> Iterator[str]:
        """The lines of a TOML file that reads back as this experiment."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is False or ONLY_IF_GIVEN.get(field.name) == value:
                continue  # files state only what an experiment asks for
            items = ", ".join(map(_toml, value)) if isinstance(value, tuple) else ""
            yield f"{field.name} = {f'[{items}]' if isinstance(value, tuple) else _toml(value)}\n"


@dataclass(frozen=True)
class MetaStudy(Settings):
    """Several experiments whose metrics are averaged: sets, language pairs, levels, statistics."""

    experiments: tuple[Experiment, ...]
    weights: tuple[float, ...] = weights_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
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
    try:
        return MetaStudy(tuple(experiments), weights)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _experiment(content: dict[str, Any], name: str) -> Experiment:
    """An experiment from the content of a file, or of a part of it."""
    names = [field.name for field in fields(Experiment)]
    for key in content:
        if key not in names:
            expected = f"expected {', '.join(names)}"
            raise InputError(f"{name}: found the key {quoted(key)}, {expected}")
    missing = [key for key in ("evalset", "metrics") if key not in content]
    if missing:
        raise InputError(f"{name}: {missing[0]} is missing: an experiment needs it")
    try:
        return Experiment(**content)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
