"""Pictures of a meta-evaluation: ranks and values in all settings, differences from the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from karat.meta.averages import RankAverage, TaskRow
from karat.meta.evaluation import Ranking
from karat.meta.ranking import Leader, MetaRow, by_mean_rank, leaders
from karat.report.answers.metas import row_labels, statistic_label
from karat.report.charts.forest import Change, Forest
from karat.report.charts.ranks import RankCell, RankColumn, RankMap
from karat.report.model.cells import several
from karat.report.model.phrases import clear_labels, signed, span
from karat.report.model.table import Figure, Gallery
from karat.stats.significance import UNDECIDED, WORSE

MOST_COLUMNS = 6
"""Settings of one panel; where there are more, each statistic has a panel of its own."""
MOST_OPEN = 6
"""Panels of differences that a page shows at once; it folds up more."""
_RANKS = (
    "In each cell: rank and value. Metrics with the same rank in a column do not differ "
    "significantly; two with different ranks need not differ significantly either."
)
_Setting: TypeAlias = tuple[str, str, Sequence[MetaRow] | Sequence[TaskRow]]
"""A level, a statistic and the rows of all metrics."""
_SHORT = {"pearson": "r", "spearman": "rho"}


def rank_galleries(result: Ranking) -> list[Gallery]:
    """Return ranks and values, a panel for each dimension.

    Levels with too few points to rank metrics are folded up, and have values alone.
    """
    labels, found = row_labels(result), leaders(result.rows)
    enough = [one if len(one.rows) > 1 else _unranked(one) for one in found if not one.few]
    galleries = []
    if enough:
        title, caption = "Agreement with human scores by level", "Columns: levels and statistics."
        if result.tests:
            title, caption = "Ranks of metrics", f"{_RANKS} {caption} Rows: by mean rank."
        galleries.append(Gallery(title, _panels(enough, labels, result.terms), caption))
    for unit, level in (("system", "system level"), ("point", "other levels")):
        if few := [one for one in found if one.few and one.unit == unit]:
            count = several(min(one.best.points for one in few), unit)
            title = f"{level.capitalize()}: {count} are too few to rank metrics"
            why = f"Values without ranks: with so few {unit}s almost any order may be chance."
            panels = _panels(map(_unranked, few), labels, result.terms, f"{level}: ")
            galleries.append(Gallery(title, panels, why, folded=True))
    return galleries


def _unranked(one: Leader) -> Leader:
    return one._replace(rows=tuple(row._replace(rank=None) for row in one.rows))


def _panels(
    some: Iterable[Leader], labels: Mapping[str, str], terms: Mapping[str, str], before: str = ""
) -> tuple[Figure, ...]:
    """Return a panel for each dimension, or for each dimension and statistic."""
    named = [
        one._replace(rows=tuple(row._replace(metric=labels[row.metric]) for row in one.rows))
        for one in some
    ]
    metrics = list(dict.fromkeys(row.metric for one in named for row in one.rows))
    order = by_mean_rank([one.rows for one in named], metrics)
    charts = []
    for dimension, run in groupby(named, lambda one: one.dimension):
        own = list(run)
        if len(own) <= MOST_COLUMNS:
            charts.append(_rank_map(f"{before}{dimension}", own, order, terms))
            continue
        for name in dict.fromkeys(one.statistic for one in own):
            title = f"{before}{dimension}, {statistic_label(name)}"
            some = [one for one in own if one.statistic == name]
            charts.append(_rank_map(title, some, order, terms))
    return tuple(Figure(chart.title, chart) for chart in charts)


def _rank_map(
    title: str, settings: Sequence[Leader], metrics: Sequence[str], terms: Mapping[str, str]
) -> RankMap:
    rows = [(one.level, one.statistic, one.rows) for one in settings]
    return _map(title, rows, metrics, terms)


def _map(
    title: str, settings: Iterable[_Setting], metrics: Sequence[str], terms: Mapping[str, str]
) -> RankMap:
    columns, found = [], []
    for level, statistic, rows in settings:
        names = level, _SHORT.get(statistic, statistic)
        columns.append(RankColumn(*names, *(terms.get(x, "") for x in (level, statistic))))
        found.append({row.metric: row for row in rows if row.value == row.value})
    cells = [[_cell(own.get(metric)) for own in found] for metric in metrics]
    return RankMap(title, metrics, columns, cells)


def _cell(row: MetaRow | TaskRow | None) -> RankCell | None:
    if row is None:
        return None
    rank = "not ranked" if row.rank is None else f"rank {row.rank}"
    ends = f" {span(row.low, row.high, 3)}" if row.low == row.low else ""
    value = f"{statistic_label(row.statistic)} {row.value:.3f}{ends}"
    told = f"{row.metric}, {row.dimension}, {row.level} level: {value}, {rank}"
    return RankCell(row.value, row.rank, told)


def task_gallery(result: RankAverage) -> Gallery:
    """Return ranks and values in all tasks, a panel for each set and dimension."""
    labels = clear_labels(row.metric for row in result.rows)
    panels: dict[tuple[str, str], dict[tuple[str, str], list[TaskRow]]] = {}
    for row in result.tasks:
        tasks = panels.setdefault((row.set, row.dimension), {})
        own = tasks.setdefault((row.level, row.statistic), [])
        own.append(row._replace(metric=labels[row.metric]))
    terms = {name: text for one in result.results for name, text in one.terms.items()}
    figures = []
    for place, tasks in panels.items():
        settings = [(*name, rows) for name, rows in tasks.items()]
        chart = _map(", ".join(place), settings, list(labels.values()), terms)
        figures.append(Figure(chart.title, chart))
    return Gallery("Ranks in the tasks", tuple(figures), _RANKS)


# --------------------------------------------------------------------------------- differences


def difference_galleries(result: Ranking) -> list[Gallery]:
    """Return the difference of each metric from the best one, a panel for each setting."""
    labels = row_labels(result)
    level = result.experiment.level
    tests = (test for test in result.tests if test.separates(level))
    separated = {(*test[:3], test.better, test.worse) for test in tests}
    panels = [
        panel
        for one in leaders(result.rows)
        if not one.few and result.experiment.resamples
        for panel in _forest(one, labels, separated)
    ]
    if not panels:
        return []
    caption = "Dots: the metric's value minus the best metric's; lines: 95% bootstrap intervals."
    if result.tests:
        caption += " ▼: significantly lower than the best metric by the permutation test."
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    folded = len(figures) > MOST_OPEN
    return [Gallery("Differences from the best metric", figures, caption, folded)]


def _forest(
    one: Leader,
    labels: Mapping[str, str],
    separated: set[tuple[str, str, str, str, str]],
) -> Iterator[Forest]:
    best, sign = one.best.metric, one.sign
    changes = []
    for row in one.rows[1:]:
        if row.delta is None or row.delta_low is None or row.delta_high is None:
            continue
        low, high = sorted((sign * row.delta_low, sign * row.delta_high))
        verdict = WORSE if (*one[:3], best, row.metric) in separated else UNDECIDED
        told = signed(row.delta, 3), verdict
        changes.append(Change(labels[row.metric], sign * row.delta, low, high, *told))
    if changes:
        title = f"{one.dimension}, {one.level} level, {statistic_label(one.statistic)}"
        yield Forest(title, labels[best], changes)
