"""A meta-evaluation as one value: which metric agrees with the humans, how surely, at which level.

An `Experiment` holds every setting, prints itself whole, and can be saved as TOML and run again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.evalset.formats.settings_file import toml_parser, toml_string
from karat.evalset.loading import as_options, load_evalset
from karat.evalset.sets import EvalSet
from karat.meta.bootstrap import OVER, percentiles
from karat.meta.levels import Agreement
from karat.meta.ranking import better
from karat.meta.scores import Scored, score_evalset
from karat.meta.views import VIEWS, View, check_behind, check_level, view
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.stats.correlation import ALL_STATISTICS, Statistic, statistic
from karat.stats.resampling import SEED
from karat.stats.significance.multiple import CORRECTIONS, clusters
from karat.stats.trials import check_trials

Floats = NDArray[np.float64]


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
    """What the bootstrap draws anew: segments, systems or both."""
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

    def __post_init__(self) -> None:
        _check_names("level", self.levels, VIEWS)
        _check_names("statistic", self.statistics, ALL_STATISTICS)
        _check_names("over", (self.over,), OVER)
        _check_names("normalise", (self.normalise,), ("none", "z"))
        _check_names("correction", (self.correction,), CORRECTIONS)
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
        for name in self.statistics:
            check_behind(statistic(name), self.levels)
        for name in ("dimensions", "levels", "statistics", "exclude", "references"):
            _check_once(name, getattr(self, name))

    def __str__(self) -> str:
        return "".join(self.toml())

    def toml(self) -> Iterator[str]:
        """The lines of a TOML file that reads back as this experiment."""
        for field in fields(self):
            value = getattr(self, field.name)
            items = ", ".join(map(_toml, value)) if isinstance(value, tuple) else ""
            yield f"{field.name} = {f'[{items}]' if isinstance(value, tuple) else _toml(value)}\n"


def _toml(value: str | float) -> str:
    return toml_string(value) if isinstance(value, str) else repr(value)


def _check_names(what: str, names: tuple[str, ...], known: Any) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{what} {quoted(name)}: expected one of {', '.join(known)}")


def _check_once(what: str, names: tuple[Any, ...]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{what}: {quoted(name)} is named twice")


def read_experiment(text: str, name: str = "experiment") -> Experiment:
    """An experiment from TOML; every mistake is named."""
    try:
        found: dict[str, Any] = toml_parser().loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not valid TOML: {error}") from error
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
}


def _typed(name: str, key: str, value: Any, kind: str) -> Any:
    """A value of the type that its field has."""
    many = kind.startswith("tuple")
    inner, words = _KINDS[kind.removeprefix("tuple[").split(",")[0]]
    items = value if many and isinstance(value, list) else [value]
    good = all(isinstance(x, inner) and not isinstance(x, bool) for x in items)
    if not good or (many and not isinstance(value, list)):
        expected = f"an array, each of its items {words}" if many else words
        raise InputError(f"{name}: found {key} = {quoted(value)}, expected {expected}")
    return tuple(value) if many else value


# ---------------------------------------------------------------------------------- running it


class MetaRow(NamedTuple):
    """One metric's agreement with one dimension, by one statistic at one level."""

    dimension: str
    level: str
    statistic: str
    metric: Metric
    agreement: Agreement
    low: float
    high: float
    undefined: int
    """Resamples in which the statistic is undefined."""
    rank: int | None
    """Metrics of one rank cannot be told apart; None where that was not tested."""


class Test(NamedTuple):
    """Whether one metric agrees better with the humans than another."""

    dimension: str
    level: str
    statistic: str
    better: Metric
    worse: Metric
    delta: float
    p: float
    """Corrected, if that was asked for."""


@dataclass(frozen=True, eq=False)
class MetaEvaluation:
    """The results of an experiment, and what they were made from."""

    experiment: Experiment
    scored: Scored
    rows: tuple[MetaRow, ...]
    tests: tuple[Test, ...]

    @property
    def evalset(self) -> EvalSet:
        """What was evaluated: without the systems that were left out."""
        return self.scored.evalset


def prepare(experiment: Experiment, progress: Progress = silent) -> EvalSet:
    """The evaluation set of an experiment, with what it leaves out left out."""
    how = as_options(experiment.reader_options)
    read_as = experiment.read_as or None
    return narrowed(load_evalset(experiment.evalset, read_as, progress=progress, **how), experiment)


def narrowed(evalset: EvalSet, experiment: Experiment) -> EvalSet:
    """The systems and references that an experiment uses; what it asks for must be there."""
    chosen = evalset.without(*experiment.exclude) if experiment.exclude else evalset
    if experiment.references:
        chosen = chosen.select(references=[number - 1 for number in experiment.references])
        for segment, group in zip(chosen.segments, chosen.references, strict=True):
            if not group:
                raise InputError(f"segment {segment} has none of the references that were chosen")
    chosen.chosen_dimensions(experiment.dimensions)
    for level in experiment.levels:
        check_level(level, chosen)
    return chosen


def meta_evaluate(
    experiment: Experiment,
    evalset: EvalSet | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> MetaEvaluation:
    """Run an experiment; the set is loaded by its name if it is not given."""
    given = prepare(experiment, progress) if evalset is None else narrowed(evalset, experiment)
    scored = score_evalset(given, experiment.metrics, threads=threads, progress=progress)
    named = replace(experiment, dimensions=given.chosen_dimensions(experiment.dimensions))
    rows: list[MetaRow] = []
    tests: list[Test] = []
    for dimension in named.dimensions:
        human = given.human(dimension, named.normalise)
        for level in named.levels:
            seen = view(level, scored, human)
            for name in named.statistics:
                place = _Place(dimension, level, statistic(name))
                found, compared = _compare(named, seen, place, progress)
                rows += found
                tests += compared
    return MetaEvaluation(named, scored, tuple(rows), tuple(tests))


class _Place(NamedTuple):
    """Where in the experiment we are."""

    dimension: str
    level: str
    by: Statistic

    @property
    def names(self) -> tuple[str, str, str]:
        return self.dimension, self.level, self.by.name


def _compare(
    experiment: Experiment, seen: View, place: _Place, progress: Progress
) -> tuple[list[MetaRow], list[Test]]:
    """All metrics by one statistic at one level, the best first."""
    by = place.by
    found = {m: seen.agreement(m, by) for m in seen.metrics}
    draws = _draws(experiment, seen, by, progress)
    known = [m for m in found if not math.isnan(found[m].value)]
    order = sorted(known, key=lambda m: -by.sign * found[m].value)
    tests = _tests(experiment, seen, place, order, progress)
    ranks = _ranks(order, tests, experiment.level)
    rows = []
    for m in [*order, *(m for m in found if m not in known)]:
        ends = percentiles(draws[m]) if m in draws else (math.nan, math.nan, 0)
        rows.append(MetaRow(*place.names, m, found[m], *ends, ranks.get(m)))
    return rows, tests


def _draws(
    experiment: Experiment, seen: View, by: Statistic, progress: Progress
) -> dict[Metric, Floats]:
    if not experiment.resamples:
        return {}
    n, seed = experiment.resamples, experiment.seed
    return dict(zip(seen.metrics, seen.draws(by, experiment.over, n, seed, progress), strict=True))


def _tests(
    experiment: Experiment, seen: View, place: _Place, order: list[Metric], progress: Progress
) -> list[Test]:
    """PERM-BOTH between all pairs, better against worse; none for what depends on the scale."""
    if not experiment.trials or not place.by.tested:
        return []
    pairs = list(combinations(order, 2))
    found = []
    for number, (one, other) in enumerate(pairs):

        def within(done: int, total: int, what: str, number: int = number) -> None:
            progress(number * total + done, len(pairs) * total, "comparing metrics")

        how = place.by, seen.at, experiment.trials, experiment.seed, within
        found.append(better(seen.human, seen.metrics[one], seen.metrics[other], *how))
    p = CORRECTIONS[experiment.correction]([test.p for test in found])
    return [
        Test(*place.names, one, other, test.delta, float(corrected))
        for (one, other), test, corrected in zip(pairs, found, p, strict=True)
    ]


def _ranks(order: list[Metric], tests: list[Test], level: float) -> dict[Metric, int]:
    """Ranks by clusters of metrics that cannot be told apart."""
    if not tests:
        return {order[0]: 1} if len(order) == 1 else {}
    p = np.full((len(order), len(order)), np.nan)
    for test in tests:
        p[order.index(test.better), order.index(test.worse)] = test.p
    return dict(zip(order, clusters(p, level), strict=True))
