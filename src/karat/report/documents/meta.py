"""The report of `meta`: metrics ranked by their agreement with human scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isclose
from typing import TypeAlias

from karat.evalset.judgements import raters_unnamed
from karat.meta.averages import AverageRow, RankAverage, TaskRow
from karat.meta.evaluation import MetaEvaluation, Ranking
from karat.meta.ranking import FEWEST_RANKED, Leader, MetaRow, by_mean_rank, leaders
from karat.meta.views import OF_SYSTEMS
from karat.report.charts.models import (
    ChartInterval,
    Forest,
    ForestChange,
    RankCell,
    RankColumn,
    RankMap,
    intervals_figure,
)
from karat.report.model import (
    Block,
    Column,
    Document,
    Figure,
    Gallery,
    Table,
    clear_labels,
    columns,
    format_count,
    format_interval,
    format_signed,
    join_names,
    metric_label,
    number,
    people_column,
)
from karat.stats.significance import UNDECIDED, WORSE

MAX_SENTENCES = 4
"""Dimensions that have a sentence each; more are counted."""
MAX_TIED = 4
"""Tied metrics that a sentence names; more are counted."""
_LEVELS_BY_FINENESS = ("segment", "item", "by-system", "document", "document-joined")
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
    labels, all_leaders = row_labels(result), leaders(result.rows)
    first = [
        leader for leader in all_leaders if leader.statistic == result.experiment.statistics[0]
    ]
    if not first:
        return tuple(_undefined_sentence(result.rows))
    enough = [leader for leader in first if not leader.has_few_points]
    sentences = list(_level_sentences(_finest_leaders(enough), all_leaders, labels))
    sentences += _level_sentences(
        [leader for leader in enough if leader.level in OF_SYSTEMS], all_leaders, labels
    )
    return (*sentences, *_too_few_sentences([leader for leader in first if leader.has_few_points]))


def _undefined_sentence(rows: Sequence[MetaRow]) -> Iterator[str]:
    """State that no agreement is defined, with the reason if all metrics share it."""
    if rows:
        names = dict.fromkeys(row.dimension for row in rows)
        dimensions = join_names([_dimension_name(name) for name in names], MAX_SENTENCES)
        level = [row for row in rows if row.level == rows[0].level]
        reasons = {row.note.removeprefix("undefined: ") for row in level}
        reason = f": {reasons.pop()}" if len(reasons) == 1 and reasons != {""} else ""
        yield f"The agreement of metrics with {dimensions} is undefined{reason}."


def _finest_leaders(enough: Sequence[Leader]) -> list[Leader]:
    """Return the leaders of the finest level that was asked for, other than systems."""
    levels = dict.fromkeys(leader.level for leader in enough if leader.level not in OF_SYSTEMS)
    chosen = next((level for level in (*_LEVELS_BY_FINENESS, *levels) if level in levels), None)
    return [leader for leader in enough if leader.level == chosen]


def _level_sentences(
    level_leaders: Sequence[Leader], all_leaders: Sequence[Leader], labels: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each dimension, or one that counts them where they are many."""
    of_systems = any(leader.level in OF_SYSTEMS for leader in level_leaders)
    if len(level_leaders) > (2 if of_systems else MAX_SENTENCES) and all(
        leader.tested for leader in level_leaders
    ):
        yield _count_sentence(level_leaders, labels)
        return
    for leader in level_leaders:
        if len(leader.rows) == 1:
            yield _single_metric_sentence(leader, labels)
        elif len(level_leaders) <= MAX_SENTENCES:
            yield _best_metric_sentence(leader, all_leaders, labels)


def _single_metric_sentence(leader: Leader, labels: Mapping[str, str]) -> str:
    """Return the agreement of the only metric."""
    name = statistic_label(leader.statistic)
    subject = f"{labels[leader.best.metric]} and {_scope(leader)}"
    return f"{subject}: {name} {_value_text(leader)}."


def _best_metric_sentence(
    leader: Leader, all_leaders: Sequence[Leader], labels: Mapping[str, str]
) -> str:
    name, best = statistic_label(leader.statistic), labels[leader.best.metric]
    value = f"{name} {_value_text(leader)}"
    if not leader.tested:
        most = "highest" if leader.sign > 0 else "lowest"
        sentence = f"{best} has the {most} {name} with {_scope(leader)}, {_value_text(leader)}"
        return f"{sentence}; differences between metrics were not tested."
    doubt = _other_ranks_clause(leader, all_leaders, labels)
    if len(leader.tied) + 1 == len(leader.rows):
        both = "both metrics" if len(leader.rows) == 2 else f"all {len(leader.rows)} metrics"
        sentence = f"No metric stands out for {_scope(leader)}: {both} are tied"
        if all(isclose(row.value, leader.best.value, abs_tol=1e-9) for row in leader.tied):
            return f"{sentence}, with the same {name}, {leader.best.value:.3f}."
        return f"{sentence}; the highest is {best}, {value}{doubt}."
    with_whom = (
        join_names([labels[row.metric] for row in leader.tied], MAX_TIED) if leader.tied else ""
    )
    second = leader.rows[1]
    lead_clause = (
        f"tied with {with_whom}" if with_whom else _lead_clause(second, labels[second.metric])
    )
    return f"{best} agrees best with {_scope(leader)}: {value}, {lead_clause}{doubt}."


def _lead_clause(row: MetaRow | AverageRow, name: str) -> str:
    """Return the lead of the best metric: the next one, the difference and its interval."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "alone at rank 1"
    by, ends = "", ""
    if row.delta_low == row.delta_low:
        zero = row.delta_low <= 0 <= row.delta_high
        by = " by the permutation test" * zero
        ends = f" {format_interval(row.delta_low, row.delta_high, 3)}{', includes 0' * zero}"
    return f"alone at rank 1{by}; next is {name} (difference {format_signed(row.delta, 3)}{ends})"


def _other_ranks_clause(
    leader: Leader, all_leaders: Sequence[Leader], labels: Mapping[str, str]
) -> str:
    """Return the best metric's rank by other statistics, where that is not the first."""
    ranks = []
    for other_leader in all_leaders:
        if (other_leader.dimension, other_leader.level) == (leader.dimension, leader.level):
            metric_rows = [
                row for row in other_leader.rows if labels[row.metric] == labels[leader.best.metric]
            ]
            ranks += [
                (other_leader.statistic, row.rank)
                for row in metric_rows
                if row.rank and row.rank > 1
            ]
    rank_phrases = [f"rank {rank} by {statistic_label(name)}" for name, rank in ranks]
    return (
        f"; but {labels[leader.best.metric]} has {join_names(rank_phrases)}" if rank_phrases else ""
    )


def _count_sentence(level_leaders: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return which metrics have rank 1 in most dimensions."""
    first = [labels[row.metric] for leader in level_leaders for row in (leader.best, *leader.tied)]
    most = max(map(first.count, first))
    names = [name for name in dict.fromkeys(first) if first.count(name) == most]
    n_dimensions = len(level_leaders)
    dimension_count = (
        f"all {n_dimensions} dimensions"
        if most == n_dimensions
        else f"{most} of {n_dimensions} dimensions"
    )
    verb = "has" if len(names) == 1 else "have"
    by = f"{_level_phrase(level_leaders[0])} by {statistic_label(level_leaders[0].statistic)}"
    unsure = sum(leader.uncertain for leader in level_leaders)
    unsure_count = "all of them" if unsure == n_dimensions else f"{unsure} of them"
    doubt = f"; in {unsure_count} the interval of the highest value includes 0" if unsure else ""
    return f"{join_names(names)} {verb} rank 1 in {dimension_count} {by}{doubt}."


def _too_few_sentences(unranked: Sequence[Leader]) -> Iterator[str]:
    """Yield a sentence for the first level of systems, and for the first of other points."""
    for leader in {leader.unit: leader for leader in reversed(unranked)}.values():
        verb = "is" if leader.best.points == 1 else "are"
        count = format_count(leader.best.points, leader.unit)
        yield f"{count} {verb} too few to rank metrics {_level_phrase(leader)}."


def _dimension_name(dimension: str) -> str:
    """Return the dimension's name; matrices have human scores without one."""
    return "human scores" if dimension == "human" else dimension


def _scope(leader: Leader) -> str:
    return f"{_dimension_name(leader.dimension)} {_level_phrase(leader)}"


def _level_phrase(leader: Leader) -> str:
    return f"at {leader.level} level"


def _value_text(leader: Leader) -> str:
    row, zero = leader.best, " (includes 0)" * leader.uncertain
    ends = f" {format_interval(row.low, row.high, 3)}{zero}" if row.low == row.low else ""
    return f"{row.value:.3f}{ends}"


def meta_basis(result: Ranking) -> str:
    """Return what the answer rests on: the set, its judges, intervals and tests."""
    experiment = result.experiment
    parts = [_size_sentence(result)] if isinstance(result, MetaEvaluation) else []
    if experiment.resamples:
        over = "systems and segments" if experiment.over == "both" else experiment.over
        parts.append(f"In brackets: 95% bootstrap intervals over {over}.")
    if result.tests:
        corrected = "uncorrected" if experiment.correction == "none" else experiment.correction
        parts.append(
            "Tied metrics have the same rank: they do not differ significantly (PERM-BOTH, "
            f"{experiment.trials:,} trials, p <= {experiment.level:g}, {corrected})."
        )
    unranked = [leader for leader in leaders(result.rows) if leader.has_few_points]
    if any(leader.unit == "system" for leader in unranked):
        parts.append(f"Ranks at system level need {FEWEST_RANKED} systems or more.")
    if any(leader.unit != "system" for leader in unranked):
        parts.append(f"Ranks at other levels need {FEWEST_RANKED} points or more.")
    return " ".join(parts)


def _size_sentence(result: MetaEvaluation) -> str:
    systems, segments, outputs, judges = result.size
    counts = format_count(systems, "system"), format_count(segments, "segment")
    size = f"{', '.join(counts)}, {format_count(outputs, 'judged output')}"
    named_judges = [name for name in judges if name]
    if raters_unnamed(named_judges):
        return f"{size}; the raters are not named."
    if not named_judges:
        return f"{size}."
    who = format_count(len(named_judges), "judge")
    return f"{size} by {who}." if len(named_judges) > 1 else f"{size} by {who} ({named_judges[0]})."


# ----------------------------------------------------------------------------------- averages


def average_answer(result: RankAverage) -> tuple[str, ...]:
    """Return which metric has the highest average over all tasks."""
    rows = [row for row in result.rows if row.value == row.value]
    if not rows:
        return ()
    tasks = format_count(len({row[:4] for row in result.tasks}), "task")
    best, other_rows = rows[0], rows[1:]
    ends = format_interval(best.low, best.high, 3) if best.low == best.low else ""
    value = f"{best.value:.3f} {ends}".rstrip()
    name = metric_label(best.metric)
    if not other_rows:
        return (f"{name} has the average {value} over {tasks}.",)
    lead_sentence = f"{name} has the highest average over {tasks}, {value}"
    tied = [metric_label(row.metric) for row in other_rows if row.rank == 1]
    if best.rank is None:
        return (f"{lead_sentence}; differences between metrics were not tested.",)
    lead = _lead_clause(other_rows[0], metric_label(other_rows[0].metric))
    return (f"{lead_sentence}, {f'tied with {join_names(tied, MAX_TIED)}' if tied else lead}.",)


def average_basis(result: RankAverage) -> str:
    """Return what the averages are over."""
    sets = list(dict.fromkeys(result_of_set.name for result_of_set in result.results))
    basis = f"Sets: {join_names(sets)}."
    if result.tests:
        basis += " Tied metrics have the same rank: they do not differ significantly."
    return basis


MAX_PANEL_COLUMNS = 6
"""Columns of one panel; beyond that, each statistic has its own panel."""
MAX_OPEN_PANELS = 6
"""Panels of differences that a page shows unfolded."""
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
    labels, all_leaders = row_labels(result), leaders(result.rows)
    enough = [
        leader if len(leader.rows) > 1 else _without_ranks(leader)
        for leader in all_leaders
        if not leader.has_few_points
    ]
    galleries = []
    if enough:
        title, caption = "Agreement with human scores by level", "Columns: levels and statistics."
        if result.tests:
            title, caption = "Ranks of metrics", f"{_RANKS} {caption} Rows: by mean rank."
        galleries.append(Gallery(title, _rank_panels(enough, labels, result.terms), caption))
    for unit, level in (("system", "system level"), ("point", "other levels")):
        if few_points := [
            leader for leader in all_leaders if leader.has_few_points and leader.unit == unit
        ]:
            count = format_count(min(leader.best.points for leader in few_points), unit)
            title = f"{level.capitalize()}: {count} are too few to rank metrics"
            explanation = (
                f"Values without ranks: with so few {unit}s almost any order may be chance."
            )
            panels = _rank_panels(
                map(_without_ranks, few_points), labels, result.terms, f"{level}: "
            )
            galleries.append(Gallery(title, panels, explanation, folded=True))
    return galleries


def _without_ranks(leader: Leader) -> Leader:
    return leader._replace(rows=tuple(row._replace(rank=None) for row in leader.rows))


def _rank_panels(
    panel_leaders: Iterable[Leader],
    labels: Mapping[str, str],
    terms: Mapping[str, str],
    prefix: str = "",
) -> tuple[Figure, ...]:
    labelled = [
        leader._replace(rows=tuple(row._replace(metric=labels[row.metric]) for row in leader.rows))
        for leader in panel_leaders
    ]
    metrics = list(dict.fromkeys(row.metric for leader in labelled for row in leader.rows))
    order = by_mean_rank([leader.rows for leader in labelled], metrics)
    charts = []
    for dimension, run in groupby(labelled, lambda leader: leader.dimension):
        dimension_leaders = list(run)
        if len(dimension_leaders) <= MAX_PANEL_COLUMNS:
            charts.append(_rank_map(f"{prefix}{dimension}", dimension_leaders, order, terms))
            continue
        for name in dict.fromkeys(leader.statistic for leader in dimension_leaders):
            title = f"{prefix}{dimension}, {statistic_label(name)}"
            panel_leaders = [leader for leader in dimension_leaders if leader.statistic == name]
            charts.append(_rank_map(title, panel_leaders, order, terms))
    return tuple(Figure(chart.title, chart) for chart in charts)


def _rank_map(
    title: str, settings: Sequence[Leader], metrics: Sequence[str], terms: Mapping[str, str]
) -> RankMap:
    rows = [(leader.level, leader.statistic, leader.rows) for leader in settings]
    return _make_rank_map(title, rows, metrics, terms)


def _make_rank_map(
    title: str, settings: Iterable[_Setting], metrics: Sequence[str], terms: Mapping[str, str]
) -> RankMap:
    columns, rows_by_metric = [], []
    for level, statistic, rows in settings:
        names = level, _SHORT.get(statistic, statistic)
        columns.append(RankColumn(*names, *(terms.get(x, "") for x in (level, statistic))))
        rows_by_metric.append({row.metric: row for row in rows if row.value == row.value})
    cells = [
        [_make_rank_cell(by_metric.get(metric)) for by_metric in rows_by_metric]
        for metric in metrics
    ]
    return RankMap(title, metrics, columns, cells)


def _make_rank_cell(row: MetaRow | TaskRow | None) -> RankCell | None:
    if row is None:
        return None
    rank = "not ranked" if row.rank is None else f"rank {row.rank}"
    ends = f" {format_interval(row.low, row.high, 3)}" if row.low == row.low else ""
    value = f"{statistic_label(row.statistic)} {row.value:.3f}{ends}"
    cell_story = f"{row.metric}, {row.dimension}, {row.level} level: {value}, {rank}"
    return RankCell(row.value, row.rank, cell_story)


def task_gallery(result: RankAverage) -> Gallery:
    """Return ranks and values in all tasks, a panel for each set and dimension."""
    labels = clear_labels(row.metric for row in result.rows)
    panels: dict[tuple[str, str], dict[tuple[str, str], list[TaskRow]]] = {}
    for row in result.tasks:
        tasks = panels.setdefault((row.set, row.dimension), {})
        task_rows = tasks.setdefault((row.level, row.statistic), [])
        task_rows.append(row._replace(metric=labels[row.metric]))
    terms = {name: text for set_result in result.results for name, text in set_result.terms.items()}
    figures = []
    for place, tasks in panels.items():
        settings = [(*name, rows) for name, rows in tasks.items()]
        chart = _make_rank_map(", ".join(place), settings, list(labels.values()), terms)
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
        for leader in leaders(result.rows)
        if not leader.has_few_points and result.experiment.resamples
        for panel in _difference_forests(leader, labels, separated)
    ]
    if not panels:
        return []
    caption = "Dots: the metric's value minus the best metric's; lines: 95% bootstrap intervals."
    if result.tests:
        caption += " ▼: significantly lower than the best metric by the permutation test."
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    folded = len(figures) > MAX_OPEN_PANELS
    return [Gallery("Differences from the best metric", figures, caption, folded)]


def _difference_forests(
    leader: Leader, labels: Mapping[str, str], separated: set[tuple[str, str, str, str, str]]
) -> Iterator[Forest]:
    best, sign = leader.best.metric, leader.sign
    changes = []
    for row in leader.rows[1:]:
        if row.delta is None or row.delta_low is None or row.delta_high is None:
            continue
        low, high = sorted((sign * row.delta_low, sign * row.delta_high))
        verdict = WORSE if (*leader[:3], best, row.metric) in separated else UNDECIDED
        text_and_verdict = format_signed(row.delta, 3), verdict
        changes.append(
            ForestChange(labels[row.metric], sign * row.delta, low, high, *text_and_verdict)
        )
    if changes:
        title = f"{leader.dimension}, {leader.level} level, {statistic_label(leader.statistic)}"
        yield Forest(title, labels[best], changes)


_RANK = number("rank", "Rank", help="Metrics with the same rank do not differ significantly.")
_INTERVAL = (
    number("low", "Low", 3, "Lower end of the 95% bootstrap interval."),
    number("high", "High", 3, "Upper end of the 95% bootstrap interval."),
)


def format_delta(row: MetaRow | AverageRow) -> str | None:
    """The difference to the best metric with its interval; None where there is none."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return None
    if math.isnan(row.delta_low):
        return f"{row.delta:+.3f}"
    return f"{row.delta:+.3f} [{row.delta_low:+.3f}, {row.delta_high:+.3f}]"


_DELTA = people_column(
    "delta_shown",
    "Delta",
    format_delta,
    align="right",
    help="Value minus the best metric's.",
)
_META = (
    *columns("programs", dimension="Dimension", level="Level", statistic="Statistic"),
    _RANK,
    Column("metric", "Metric", help="The metric's name; its full signature is below.", filter=True),
    number("value", "Value", 3, "The statistic; higher is better (for rmse, lower)."),
    *_INTERVAL,
    number("p", "p", 4, "p of no correlation, two-sided; see below.", positive=True),
    _DELTA,
    *columns("programs", points="Points", groups="Groups"),
    *columns("programs", left_out="Left out", undefined="Undefined"),
    Column("note", "", wrap=True),
    *columns("programs", delta="Delta", delta_low="Delta, low", delta_high="Delta, high"),
)
_META_TESTS = (
    *columns(dimension="Dimension", level="Level", statistic="Statistic"),
    *columns(better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High"),
)


def meta_document(result: Ranking) -> Document:
    """Return the metrics ranked, by dimension, level and statistic."""
    title = f"Agreement of metrics with human scores on {result.name}"
    blocks: tuple[Block, ...] = (
        *rank_galleries(result),
        *difference_galleries(result),
        _ranking_table(result),
        Table("tests", "Tests", _META_TESTS, result.tests, readers="programs"),
    )
    return Document(title, blocks, answer=meta_answer(result), basis=meta_basis(result))


def _ranking_table(result: Ranking) -> Table:
    places: dict[tuple[str, str, str], list[MetaRow]] = {}  # dimension, level and statistic
    for row in result.rows:
        places.setdefault(row[:3], []).append(row)
    headings = {
        place: f"{', '.join(place)}: {_counts_text(rows)}" for place, rows in places.items()
    }
    rows = [row for setting_rows in places.values() for row in setting_rows]
    unused = set() if result.experiment.p_values else {"p"}
    unused |= set() if any(row.note for row in rows) else {"note"}
    unused |= set() if any(map(format_delta, rows)) else {"delta_shown"}
    terms = "; ".join(f"{name}: {text}" for name, text in result.terms.items())
    columns = [people_column("heading", "Heading", lambda row: headings[row[:3]])]
    for column in _META:
        if column.key not in unused:
            is_value = column.key == "value"
            columns.append(replace(column, help=f"{column.help} {terms}.") if is_value else column)
    return Table("rows", "Agreement with human scores", columns, rows, group="heading")


def _counts_text(rows: Sequence[MetaRow]) -> str:
    first = rows[0]
    total = first.groups + first.left_out
    points = format_count(first.points, "point")
    if total < 2:
        return points
    used = [row.groups for row in rows]
    low, high = min(used), max(used)
    used_groups = f"{low:,} of " if low == high else f"{low:,} to {high:,} of "
    return f"{points}, {used_groups if low < total else ''}{total:,} groups"


_AVERAGES = (
    _RANK,
    Column("metric", "Metric", help="The metric's name; its full signature stands below."),
    number("value", "Value", 3, "Weighted mean of the metric's values in all tasks."),
    *_INTERVAL,
    _DELTA,
    *columns("programs", delta="Delta", delta_low="Delta, low", delta_high="Delta, high"),
    number("place", "Place", 2, "Weighted mean of the metric's places in all tasks."),
    *columns("programs", place_low="Place, low", place_high="Place, high"),
    number("mean_rank", "Mean rank", 2, "Weighted mean of the metric's ranks in tasks."),
    *columns("programs", undefined="Undefined"),
    Column("note", "", wrap=True),
)
_TASKS = (
    people_column("heading", "Task", lambda row: f"{', '.join(row[:4])}: weight {row.weight:.3g}"),
    *columns("programs", set="Set", dimension="Dimension", level="Level", statistic="Statistic"),
    *columns("programs", weight="Weight"),
    _RANK,
    Column("metric", "Metric"),
    number("value", "Value", 3, "The statistic of the task; more is better."),
    *_INTERVAL,
    number("place", "Place", 1, "Where the metric stands in the task, from 1."),
)
_AVERAGE_TESTS = columns(
    better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High"
)


def average_document(result: RankAverage) -> Document:
    """Return the averages, and the tasks that they are of."""
    names = list(dict.fromkeys(set_result.name for set_result in result.results))
    title = f"Agreement of metrics with human scores on {', '.join(names)}"
    has_notes = any(row.note for row in result.rows)
    used_columns = [column for column in _AVERAGES if column.key != "note" or has_notes]
    items = (ChartInterval(metric_label(r.metric), r.value, r.low, r.high) for r in result.rows)
    blocks = (
        intervals_figure("Averages over all tasks", "mean over tasks", items),
        task_gallery(result),
        Table("rows", "Averages over all tasks", used_columns, result.rows),
        Table("tasks", "Tasks", _TASKS, result.tasks, group="heading"),
        Table("tests", "Tests", _AVERAGE_TESTS, result.tests, readers="programs"),
    )
    return Document(title, blocks, answer=average_answer(result), basis=average_basis(result))
