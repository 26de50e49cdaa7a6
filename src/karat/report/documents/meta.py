"""The report of `meta`: metrics ranked by their agreement with human scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isclose
from typing import TYPE_CHECKING, TypeAlias

from karat.evalset.judgements import raters_unnamed
from karat.meta.averages import AverageRow, RankAverage, TaskRow
from karat.meta.evaluation import MetaEvaluation, Ranking
from karat.meta.ranking import FEWEST_RANKED, Leader, MetaRow, by_mean_rank, leaders
from karat.meta.views import OF_SYSTEMS
from karat.report.charts.models import (
    Change,
    Forest,
    Interval,
    RankCell,
    RankColumn,
    RankMap,
    intervals_figure,
)
from karat.report.model import (
    Block,
    Cell,
    Column,
    Document,
    Figure,
    Gallery,
    Table,
    clear_labels,
    columns,
    listing,
    metric_label,
    several,
    signed,
    span,
)
from karat.stats.significance import UNDECIDED, WORSE

if TYPE_CHECKING:
    from karat.meta.averages import AverageRow, RankAverage
    from karat.meta.evaluation import Ranking
    from karat.meta.ranking import MetaRow


MOST_TOLD = 4
"""Dimensions that have a sentence each; more are counted."""
MOST_TIED = 4
"""Tied metrics that a sentence names; more are counted."""
_FINEST = ("segment", "item", "by-system", "document", "document-joined")
"""Levels that lead the answer, in this order."""
_STATISTICS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "r2": "R^2",
    "rmse": "RMSE",
    "spa": "SPA",
}


def statistic_label(name: str) -> str:
    """Return the usual name of a statistic."""
    return _STATISTICS.get(name, name)


def row_labels(result: Ranking) -> dict[str, str]:
    """Return the label of each metric by its names in rows: segments may have another name."""
    names = result.metric_names
    labels = clear_labels(names)
    return {name: labels[metric] for metric in names for name in names[metric]}


def meta_answer(result: Ranking) -> tuple[str, ...]:
    """Return which metrics agree best, by the first statistic, and where systems are too few."""
    labels, found = row_labels(result), leaders(result.rows)
    first = [one for one in found if one.statistic == result.experiment.statistics[0]]
    if not first:
        return tuple(_undefined(result.rows))
    enough = [one for one in first if not one.has_few_points]
    told = list(_by_level(_fine(enough), found, labels))
    told += _by_level([one for one in enough if one.level in OF_SYSTEMS], found, labels)
    return (*told, *_too_few([one for one in first if one.has_few_points]))


def _undefined(rows: Sequence[MetaRow]) -> Iterator[str]:
    """Yield that no agreement is defined, and the reason if it is the same for all metrics."""
    if rows:
        names = dict.fromkeys(row.dimension for row in rows)
        dimensions = listing([_scores(name) for name in names], MOST_TOLD)
        level = [row for row in rows if row.level == rows[0].level]
        reasons = {row.note.removeprefix("undefined: ") for row in level}
        reason = f": {reasons.pop()}" if len(reasons) == 1 and reasons != {""} else ""
        yield f"The agreement of metrics with {dimensions} is undefined{reason}."


def _fine(enough: Sequence[Leader]) -> list[Leader]:
    """Return the leaders of the finest level that was asked for, other than systems."""
    levels = dict.fromkeys(one.level for one in enough if one.level not in OF_SYSTEMS)
    chosen = next((level for level in (*_FINEST, *levels) if level in levels), None)
    return [one for one in enough if one.level == chosen]


def _by_level(
    some: Sequence[Leader], every: Sequence[Leader], labels: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each dimension, or one that counts them where they are many."""
    of_systems = any(one.level in OF_SYSTEMS for one in some)
    if len(some) > (2 if of_systems else MOST_TOLD) and all(one.tested for one in some):
        yield _counted(some, labels)
        return
    for one in some:
        if len(one.rows) == 1:
            yield _alone(one, labels)
        elif len(some) <= MOST_TOLD:
            yield _best(one, every, labels)


def _alone(one: Leader, labels: Mapping[str, str]) -> str:
    """Return the agreement of the only metric."""
    name = statistic_label(one.statistic)
    what = f"{labels[one.best.metric]} and {_scores(one.dimension)} {_at(one)}"
    return f"{what}: {name} {_value(one)}."


def _best(one: Leader, every: Sequence[Leader], labels: Mapping[str, str]) -> str:
    name, best = statistic_label(one.statistic), labels[one.best.metric]
    value = f"{name} {_value(one)}"
    if not one.tested:
        most = "highest" if one.sign > 0 else "lowest"
        told = (
            f"{best} has the {most} {name} with {_scores(one.dimension)} {_at(one)}, {_value(one)}"
        )
        return f"{told}; differences between metrics were not tested."
    doubt = _elsewhere(one, every, labels)
    if len(one.tied) + 1 == len(one.rows):
        both = "both metrics" if len(one.rows) == 2 else f"all {len(one.rows)} metrics"
        told = f"No metric stands out for {_scores(one.dimension)} {_at(one)}: {both} are tied"
        if all(isclose(row.value, one.best.value, abs_tol=1e-9) for row in one.tied):
            return f"{told}, with the same {name}, {one.best.value:.3f}."
        return f"{told}; the highest is {best}, {value}{doubt}."
    with_whom = listing([labels[row.metric] for row in one.tied], MOST_TIED) if one.tied else ""
    second = one.rows[1]
    how = f"tied with {with_whom}" if with_whom else _lead(second, labels[second.metric])
    return f"{best} agrees best with {_scores(one.dimension)} {_at(one)}: {value}, {how}{doubt}."


def _lead(row: MetaRow | AverageRow, name: str) -> str:
    """Return the lead of the best metric: the next one, the difference and its interval."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "alone at rank 1"
    by, ends = "", ""
    if row.delta_low == row.delta_low:
        zero = row.delta_low <= 0 <= row.delta_high
        by = " by the permutation test" * zero
        ends = f" {span(row.delta_low, row.delta_high, 3)}{', includes 0' * zero}"
    return f"alone at rank 1{by}; next is {name} (difference {signed(row.delta, 3)}{ends})"


def _elsewhere(one: Leader, every: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return the best metric's rank by other statistics, where that is not the first."""
    ranks = []
    for other in every:
        if (other.dimension, other.level) == (one.dimension, one.level):
            own = [row for row in other.rows if labels[row.metric] == labels[one.best.metric]]
            ranks += [(other.statistic, row.rank) for row in own if row.rank and row.rank > 1]
    told = [f"rank {rank} by {statistic_label(name)}" for name, rank in ranks]
    return f"; but {labels[one.best.metric]} has {listing(told)}" if told else ""


def _counted(some: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return which metrics have rank 1 in most dimensions."""
    first = [labels[row.metric] for one in some for row in (one.best, *one.tied)]
    most = max(map(first.count, first))
    names = [name for name in dict.fromkeys(first) if first.count(name) == most]
    whole = len(some)
    where = f"all {whole} dimensions" if most == whole else f"{most} of {whole} dimensions"
    verb = "has" if len(names) == 1 else "have"
    by = f"{_at(some[0])} by {statistic_label(some[0].statistic)}"
    unsure = sum(one.uncertain for one in some)
    them = "all of them" if unsure == whole else f"{unsure} of them"
    doubt = f"; in {them} the interval of the highest value includes 0" if unsure else ""
    return f"{listing(names)} {verb} rank 1 in {where} {by}{doubt}."


def _too_few(few: Sequence[Leader]) -> Iterator[str]:
    """Yield a sentence for the first level of systems, and for the first of other points."""
    for one in {one.unit: one for one in reversed(few)}.values():
        verb = "is" if one.best.points == 1 else "are"
        yield f"{several(one.best.points, one.unit)} {verb} too few to rank metrics {_at(one)}."


def _scores(dimension: str) -> str:
    """Return the dimension; matrices have none, but human scores."""
    return "human scores" if dimension == "human" else dimension


def _at(one: Leader) -> str:
    return f"at {one.level} level"


def _value(one: Leader) -> str:
    """Return the best value with its interval, and whether zero is in it."""
    row, zero = one.best, " (includes 0)" * one.uncertain
    ends = f" {span(row.low, row.high, 3)}{zero}" if row.low == row.low else ""
    return f"{row.value:.3f}{ends}"


def meta_basis(result: Ranking) -> str:
    """Return what the answer rests on: the set, its judges, intervals and tests."""
    asked = result.experiment
    parts = [_size(result)] if isinstance(result, MetaEvaluation) else []
    if asked.resamples:
        over = "systems and segments" if asked.over == "both" else asked.over
        parts.append(f"In brackets: 95% bootstrap intervals over {over}.")
    if result.tests:
        corrected = "uncorrected" if asked.correction == "none" else asked.correction
        parts.append(
            "Tied metrics have the same rank: they do not differ significantly (PERM-BOTH, "
            f"{asked.trials:,} trials, p <= {asked.level:g}, {corrected})."
        )
    few = [one for one in leaders(result.rows) if one.has_few_points]
    if any(one.unit == "system" for one in few):
        parts.append(f"Ranks at system level need {FEWEST_RANKED} systems or more.")
    if any(one.unit != "system" for one in few):
        parts.append(f"Ranks at other levels need {FEWEST_RANKED} points or more.")
    return " ".join(parts)


def _size(result: MetaEvaluation) -> str:
    systems, segments, outputs, judges = result.size
    counts = several(systems, "system"), several(segments, "segment")
    told = f"{', '.join(counts)}, {several(outputs, 'judged output')}"
    named = [name for name in judges if name]
    if raters_unnamed(named):
        return f"{told}; the raters are not named."
    if not named:
        return f"{told}."
    who = several(len(named), "judge")
    return f"{told} by {who}." if len(named) > 1 else f"{told} by {who} ({named[0]})."


# ----------------------------------------------------------------------------------- averages


def average_answer(result: RankAverage) -> tuple[str, ...]:
    """Return which metric has the highest average over all tasks."""
    rows = [row for row in result.rows if row.value == row.value]
    if not rows:
        return ()
    tasks = several(len({row[:4] for row in result.tasks}), "task")
    best, others = rows[0], rows[1:]
    ends = span(best.low, best.high, 3) if best.low == best.low else ""
    value = f"{best.value:.3f} {ends}".rstrip()
    name = metric_label(best.metric)
    if not others:
        return (f"{name} has the average {value} over {tasks}.",)
    told = f"{name} has the highest average over {tasks}, {value}"
    tied = [metric_label(row.metric) for row in others if row.rank == 1]
    if best.rank is None:
        return (f"{told}; differences between metrics were not tested.",)
    lead = _lead(others[0], metric_label(others[0].metric))
    return (f"{told}, {f'tied with {listing(tied, MOST_TIED)}' if tied else lead}.",)


def average_basis(result: RankAverage) -> str:
    """Return what the averages are over."""
    sets = list(dict.fromkeys(one.name for one in result.results))
    told = f"Sets: {listing(sets)}."
    if result.tests:
        told += " Tied metrics have the same rank: they do not differ significantly."
    return told


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
    enough = [
        one if len(one.rows) > 1 else _unranked(one) for one in found if not one.has_few_points
    ]
    galleries = []
    if enough:
        title, caption = "Agreement with human scores by level", "Columns: levels and statistics."
        if result.tests:
            title, caption = "Ranks of metrics", f"{_RANKS} {caption} Rows: by mean rank."
        galleries.append(Gallery(title, _panels(enough, labels, result.terms), caption))
    for unit, level in (("system", "system level"), ("point", "other levels")):
        if few := [one for one in found if one.has_few_points and one.unit == unit]:
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
        if not one.has_few_points and result.experiment.resamples
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


Places: TypeAlias = "dict[tuple[str, str, str], list[MetaRow]]"
"""Rows by dimension, level and statistic."""

RANK_HELP = "Metrics with the same rank do not differ significantly."
_META = (
    Column("heading", "Heading", readers="people"),
    *columns("programs", dimension="Dimension", level="Level", statistic="Statistic"),
    Column("rank", "Rank", align="right", help=RANK_HELP),
    Column("metric", "Metric", help="The metric's name; its full signature is below.", filter=True),
    Column("value", "Value", 3, "right", "The statistic; higher is better (for rmse, lower)."),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% bootstrap interval."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% bootstrap interval."),
    Column(
        "delta_shown",
        "Delta",
        align="right",
        help="Value minus the best metric's.",
        readers="people",
    ),
    *columns("programs", points="Points", groups="Groups"),
    *columns("programs", left_out="Left out", undefined="Undefined"),
    Column("note", "", wrap=True),
    *columns("programs", delta="Delta", delta_low="Delta, low", delta_high="Delta, high"),
)
_P = Column(
    "p", "p", 4, align="right", help="p of no correlation, two-sided; see below.", positive=True
)
_META_TESTS = (
    *columns(dimension="Dimension", level="Level", statistic="Statistic"),
    *columns(better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High"),
)


def meta_document(result: Ranking, command: str) -> Document:
    """Return the metrics ranked, by dimension, level and statistic."""
    tested = tuple(test._asdict() for test in result.tests)
    tests = Table("tests", "Tests", _META_TESTS, tested, readers="programs")
    title = f"Agreement of metrics with human scores on {result.name}"
    places: Places = {}
    for row in result.rows:
        places.setdefault(row[:3], []).append(row)
    blocks: tuple[Block, ...] = (
        *rank_galleries(result),
        *difference_galleries(result),
        _table(places, result),
        tests,
    )
    told = meta_answer(result), meta_basis(result)
    return Document(title, blocks, command, result.signatures, result.notes, {}, *told)


def _table(places: Places, result: Ranking) -> Table:
    """One row for each metric, grouped by dimension, level and statistic."""
    after = 1 + [column.key for column in _META].index("high")
    with_p = (_P,) if result.experiment.p_values else ()
    every = (*_META[:after], *with_p, *_META[after:])
    meant = "; ".join(f"{name}: {text}" for name, text in result.terms.items())
    every = tuple(replace(c, help=f"{c.help} {meant}.") if c.key == "value" else c for c in every)
    rows: list[dict[str, Cell]] = [
        {
            "heading": f"{', '.join(place)}: {_counts(mine)}",
            "delta_shown": delta_shown(row),
            **row._asdict(),
        }
        for place, mine in places.items()
        for row in mine
    ]
    empty = {key for key in ("note", "delta_shown") if not any(row[key] for row in rows)}
    shown = tuple(c for c in every if c.key not in empty)
    return Table("rows", "Agreement with human scores", shown, tuple(rows), group="heading")


def delta_shown(row: MetaRow | AverageRow) -> str | None:
    """The difference to the best metric with its interval; None where there is none."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return None
    if math.isnan(row.delta_low):
        return f"{row.delta:+.3f}"
    return f"{row.delta:+.3f} [{row.delta_low:+.3f}, {row.delta_high:+.3f}]"


def _counts(rows: Sequence[MetaRow]) -> str:
    """Points, and how many groups count of how many."""
    first = rows[0]
    total = first.groups + first.left_out
    points = several(first.points, "point")
    if total < 2:
        return points
    used = [row.groups for row in rows]
    low, high = min(used), max(used)
    some = f"{low:,} of " if low == high else f"{low:,} to {high:,} of "
    return f"{points}, {some if low < total else ''}{total:,} groups"


_AVERAGES = (
    Column("rank", "Rank", align="right", help=RANK_HELP),
    Column("metric", "Metric", help="The metric's name; its full signature stands below."),
    Column("value", "Value", 3, "right", "Weighted mean of the metric's values in all tasks."),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% bootstrap interval."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% bootstrap interval."),
    Column(
        "delta_shown",
        "Delta",
        align="right",
        help="Value minus the best metric's.",
        readers="people",
    ),
    *columns("programs", delta="Delta", delta_low="Delta, low", delta_high="Delta, high"),
    Column("place", "Place", 2, "right", "Weighted mean of the metric's places in all tasks."),
    *columns("programs", place_low="Place, low", place_high="Place, high"),
    Column("mean_rank", "Mean rank", 2, "right", "Weighted mean of the metric's ranks in tasks."),
    *columns("programs", undefined="Undefined"),
    Column("note", "", wrap=True),
)
_TASKS = (
    Column("heading", "Task", readers="people"),
    *columns("programs", set="Set", dimension="Dimension", level="Level", statistic="Statistic"),
    *columns("programs", weight="Weight"),
    Column("rank", "Rank", align="right", help=RANK_HELP),
    Column("metric", "Metric"),
    Column("value", "Value", 3, "right", "The statistic of the task; more is better."),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% bootstrap interval."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% bootstrap interval."),
    Column("place", "Place", 1, "right", "Where the metric stands in the task, from 1."),
)
_AVERAGE_TESTS = columns(
    better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High"
)


def average_document(result: RankAverage, command: str) -> Document:
    """Return the averages, and the tasks that they are of."""
    names = list(dict.fromkeys(one.name for one in result.results))
    title = f"Agreement of metrics with human scores on {', '.join(names)}"
    rows = tuple({**row._asdict(), "delta_shown": delta_shown(row)} for row in result.rows)
    shown = tuple(c for c in _AVERAGES if c.key != "note" or any(row["note"] for row in rows))
    tasks = tuple(
        {**row._asdict(), "heading": f"{', '.join(row[:4])}: weight {row.weight:.3g}"}
        for row in result.tasks
    )
    tests = tuple(test._asdict() for test in result.tests)
    items = (Interval(metric_label(r.metric), r.value, r.low, r.high) for r in result.rows)
    blocks = (
        intervals_figure("Averages over all tasks", "mean over tasks", items),
        task_gallery(result),
        Table("rows", "Averages over all tasks", shown, rows),
        Table("tasks", "Tasks", _TASKS, tasks, group="heading"),
        Table("tests", "Tests", _AVERAGE_TESTS, tests, readers="programs"),
    )
    told = average_answer(result), average_basis(result)
    return Document(title, blocks, command, result.signatures, result.notes, {}, *told)
