"""The report of `meta`: metrics ranked by their agreement with human scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import isclose

from karat.evalset.judgements import raters_unnamed
from karat.meta.averages import (
    AVERAGE_COLUMNS,
    TASK_COLUMNS,
    AverageRow,
    AverageTest,
    RankAverage,
    TaskRow,
)
from karat.meta.evaluation import MetaEvaluation, Ranking
from karat.meta.ranking import (
    META_COLUMNS,
    MIN_RANKED,
    Leader,
    MetaRow,
    MetricTest,
    by_mean_rank,
    format_delta,
    leaders,
)
from karat.meta.views import OF_SYSTEMS
from karat.report.charts.models import (
    CellChart,
    ChartRow,
    RankHead,
    RowChart,
    intervals_figure,
)
from karat.report.model import (
    MAX_SENTENCES,
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    clear_labels,
    data_table,
    format_count,
    format_interval,
    format_signed,
    join_names,
    metric_label,
)
from karat.results import people_column
from karat.stats.significance import UNDECIDED, WORSE

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
    statistic = result.experiment.statistics[0]
    first = [leader for leader in all_leaders if leader.statistic == statistic]
    if not first:
        if not result.rows:
            return ()
        names = dict.fromkeys(row.dimension for row in result.rows)
        dimensions = join_names([_dimension_name(name) for name in names], MAX_SENTENCES)
        level = [row for row in result.rows if row.level == result.rows[0].level]
        reasons = {row.note.removeprefix("undefined: ") for row in level}
        reason = f": {reasons.pop()}" if len(reasons) == 1 and reasons != {""} else ""
        return (f"The agreement of metrics with {dimensions} is undefined{reason}.",)
    enough = [leader for leader in first if not leader.has_few_points]
    levels = dict.fromkeys(leader.level for leader in enough if leader.level not in OF_SYSTEMS)
    finest = next((level for level in (*_LEVELS_BY_FINENESS, *levels) if level in levels), None)
    at_finest = [leader for leader in enough if leader.level == finest]
    of_systems = [leader for leader in enough if leader.level in OF_SYSTEMS]
    sentences = [
        *_level_sentences(at_finest, all_leaders, labels, MAX_SENTENCES),
        *_level_sentences(of_systems, all_leaders, labels, most=2),
    ]
    # one sentence for the first level of systems, one for the first of other points
    unranked = [leader for leader in reversed(first) if leader.has_few_points]
    for leader in {leader.unit: leader for leader in unranked}.values():
        verb = "is" if leader.best.points == 1 else "are"
        count = format_count(leader.best.points, leader.unit)
        sentences.append(f"{count} {verb} too few to rank metrics at {leader.level} level.")
    return tuple(sentences)


def _level_sentences(
    level_leaders: Sequence[Leader],
    all_leaders: Sequence[Leader],
    labels: Mapping[str, str],
    most: int,
) -> Iterator[str]:
    """Yield a sentence for each dimension, or one that counts them where they are many."""
    if len(level_leaders) > most and all(leader.tested for leader in level_leaders):
        yield _most_first_ranks_sentence(level_leaders, labels)
        return
    for leader in level_leaders:
        if len(leader.rows) == 1:
            subject = f"{labels[leader.best.metric]} and {_dimension_at_level(leader)}"
            yield f"{subject}: {statistic_label(leader.statistic)} {_value_text(leader)}."
        elif len(level_leaders) <= MAX_SENTENCES:
            yield _best_metric_sentence(leader, all_leaders, labels)


def _best_metric_sentence(
    leader: Leader, all_leaders: Sequence[Leader], labels: Mapping[str, str]
) -> str:
    name, best = statistic_label(leader.statistic), labels[leader.best.metric]
    value, scope = f"{name} {_value_text(leader)}", _dimension_at_level(leader)
    if not leader.tested:
        most = "highest" if leader.sign > 0 else "lowest"
        sentence = f"{best} has the {most} {name} with {scope}, {_value_text(leader)}"
        return f"{sentence}; differences between metrics were not tested."
    other_ranks = [
        f"rank {row.rank} by {statistic_label(other.statistic)}"
        for other in all_leaders
        if (other.dimension, other.level) == (leader.dimension, leader.level)
        for row in other.rows
        if labels[row.metric] == best and row.rank and row.rank > 1
    ]
    doubt = f"; but {best} has {join_names(other_ranks)}" if other_ranks else ""
    if len(leader.tied) + 1 == len(leader.rows):
        both = "both metrics" if len(leader.rows) == 2 else f"all {len(leader.rows)} metrics"
        sentence = f"No metric stands out for {scope}: {both} are tied"
        if all(isclose(row.value, leader.best.value, abs_tol=1e-9) for row in leader.tied):
            return f"{sentence}, with the same {name}, {leader.best.value:.3f}."
        return f"{sentence}; the highest is {best}, {value}{doubt}."
    second = leader.rows[1]
    lead = _lead_clause(second, labels[second.metric])
    if leader.tied:
        lead = f"tied with {join_names([labels[row.metric] for row in leader.tied], MAX_TIED)}"
    return f"{best} agrees best with {scope}: {value}, {lead}{doubt}."


def _lead_clause(row: MetaRow | AverageRow, name: str) -> str:
    """Return the lead of the best metric: the next one, the difference and its interval."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "alone at rank 1"
    by, ends = "", ""
    if not math.isnan(row.delta_low):
        zero = row.delta_low <= 0 <= row.delta_high
        by = " by the permutation test" * zero
        ends = f" {format_interval(row.delta_low, row.delta_high, 3)}{', includes 0' * zero}"
    return f"alone at rank 1{by}; next is {name} (difference {format_signed(row.delta, 3)}{ends})"


def _most_first_ranks_sentence(level_leaders: Sequence[Leader], labels: Mapping[str, str]) -> str:
    """Return which metrics have rank 1 in most dimensions."""
    first = [labels[row.metric] for leader in level_leaders for row in (leader.best, *leader.tied)]
    most, total = max(map(first.count, first)), len(level_leaders)
    names = [name for name in dict.fromkeys(first) if first.count(name) == most]
    verb = "has" if len(names) == 1 else "have"
    dimensions = f"all {total} dimensions" if most == total else f"{most} of {total} dimensions"
    by = f"at {level_leaders[0].level} level by {statistic_label(level_leaders[0].statistic)}"
    unsure = sum(leader.uncertain for leader in level_leaders)
    count = "all of them" if unsure == total else f"{unsure} of them"
    doubt = f"; in {count} the interval of the highest value includes 0" if unsure else ""
    return f"{join_names(names)} {verb} rank 1 in {dimensions} {by}{doubt}."


def _dimension_name(dimension: str) -> str:
    """Return the dimension's name; matrices have human scores without one."""
    return "human scores" if dimension == "human" else dimension


def _dimension_at_level(leader: Leader) -> str:
    return f"{_dimension_name(leader.dimension)} at {leader.level} level"


def _value_text(leader: Leader) -> str:
    row, zero = leader.best, " (includes 0)" * leader.uncertain
    ends = "" if math.isnan(row.low) else f" {format_interval(row.low, row.high, 3)}{zero}"
    return f"{row.value:.3f}{ends}"


def meta_basis(result: Ranking) -> str:
    """Return the basis of the answer: the set, its judges, intervals and tests."""
    experiment, parts = result.experiment, []
    if isinstance(result, MetaEvaluation):
        systems, segments, outputs, judges = result.size
        counts = format_count(systems, "system"), format_count(segments, "segment")
        size = f"{', '.join(counts)}, {format_count(outputs, 'judged output')}"
        judge_names = [name for name in judges if name]
        if raters_unnamed(judge_names):
            size += "; the raters are not named"
        elif judge_names:
            size += f" by {format_count(len(judge_names), 'judge')}"
            size += f" ({judge_names[0]})" if len(judge_names) == 1 else ""
        parts.append(f"{size}.")
    if experiment.resamples:
        over = "systems and segments" if experiment.over == "both" else experiment.over
        parts.append(f"In brackets: 95% bootstrap intervals over {over}.")
    if result.tests:
        corrected = "uncorrected" if experiment.correction == "none" else experiment.correction
        parts.append(
            "Tied metrics have the same rank: they do not differ significantly (PERM-BOTH, "
            f"{experiment.trials:,} trials, p <= {experiment.level:g}, {corrected})."
        )
    unranked = {leader.unit == "system" for leader in leaders(result.rows) if leader.has_few_points}
    if True in unranked:
        parts.append(f"Ranks at system level need {MIN_RANKED} systems or more.")
    if False in unranked:
        parts.append(f"Ranks at other levels need {MIN_RANKED} points or more.")
    return " ".join(parts)


def average_answer(result: RankAverage) -> tuple[str, ...]:
    """Return which metric has the highest average over all tasks."""
    rows = [row for row in result.rows if not math.isnan(row.value)]
    if not rows:
        return ()
    tasks = format_count(len({row[:4] for row in result.tasks}), "task")
    best, next_rows = rows[0], rows[1:]
    ends = "" if math.isnan(best.low) else format_interval(best.low, best.high, 3)
    name, value = metric_label(best.metric), f"{best.value:.3f} {ends}".rstrip()
    if not next_rows:
        return (f"{name} has the average {value} over {tasks}.",)
    sentence = f"{name} has the highest average over {tasks}, {value}"
    if best.rank is None:
        return (f"{sentence}; differences between metrics were not tested.",)
    lead = _lead_clause(next_rows[0], metric_label(next_rows[0].metric))
    if tied := [metric_label(row.metric) for row in next_rows if row.rank == 1]:
        lead = f"tied with {join_names(tied, MAX_TIED)}"
    return (f"{sentence}, {lead}.",)


MAX_PANEL_COLUMNS = 6
"""Columns of one panel; beyond that, each statistic has its own panel."""
MAX_OPEN_PANELS = 6
"""Panels of differences that a page shows unfolded."""
_RANKS = (
    "In each cell: rank and value. Metrics with the same rank in a column do not differ "
    "significantly; two with different ranks need not differ significantly either."
)
_SHORT = {"pearson": "r", "spearman": "rho"}


def rank_galleries(result: Ranking) -> list[Gallery]:
    """Return ranks and values, a panel for each dimension.

    Levels with too few points to rank metrics are folded up, and have values alone.
    """
    all_leaders = leaders(result.rows)
    enough = [leader for leader in all_leaders if not leader.has_few_points]
    galleries = []
    if enough:
        title, caption = "Agreement with human scores by level", "Columns: levels and statistics."
        if result.tests:
            title, caption = "Ranks of metrics", f"{_RANKS} {caption} Rows: by mean rank."
        galleries.append(Gallery(title, _rank_panels(enough, result), caption))
    for unit, level in (("system", "system level"), ("point", "other levels")):
        few_points = [leader for leader in all_leaders if leader.has_few_points]
        unranked = [leader for leader in few_points if leader.unit == unit]
        if unranked:
            count = format_count(min(leader.best.points for leader in unranked), unit)
            title = f"{level.capitalize()}: {count} are too few to rank metrics"
            caption = f"Values without ranks: with so few {unit}s almost any order may be chance."
            panels = _rank_panels(unranked, result, f"{level}: ", ranked=False)
            galleries.append(Gallery(title, panels, caption, folded=True))
    return galleries


def _rank_panels(
    panel_leaders: Sequence[Leader], result: Ranking, prefix: str = "", *, ranked: bool = True
) -> tuple[Figure, ...]:
    """Return a panel for each dimension; ranks only if `ranked`, and of two metrics or more."""
    labels, labelled = row_labels(result), []
    for leader in panel_leaders:
        rows = [row._replace(metric=labels[row.metric]) for row in leader.rows]
        if not ranked or len(rows) == 1:
            rows = [row._replace(rank=None) for row in rows]
        labelled.append(leader._replace(rows=tuple(rows)))
    metrics = list(dict.fromkeys(row.metric for leader in labelled for row in leader.rows))
    order = by_mean_rank([leader.rows for leader in labelled], metrics)
    panels: dict[str, list[Leader]] = {}
    for dimension, run in groupby(labelled, lambda leader: leader.dimension):
        dimension_leaders = list(run)
        is_narrow = len(dimension_leaders) <= MAX_PANEL_COLUMNS
        for leader in dimension_leaders:
            part = "" if is_narrow else f", {statistic_label(leader.statistic)}"
            panels.setdefault(f"{prefix}{dimension}{part}", []).append(leader)
    return tuple(
        _rank_figure(title, [leader[1:4] for leader in settings], order, result.terms)
        for title, settings in panels.items()
    )


def _rank_figure(
    title: str,
    settings: Iterable[tuple[str, str, Sequence[MetaRow] | Sequence[TaskRow]]],
    metrics: Sequence[str],
    terms: Mapping[str, str],
) -> Figure:
    """Return ranks in settings: each a level, a statistic and the rows of all metrics."""
    heads, names, rows_by_metric = [], [], []
    for level, statistic, rows in settings:
        heads.append(RankHead(level, terms.get(level, ""), terms.get(statistic, "")))
        names.append(_SHORT.get(statistic, statistic))
        rows_by_metric.append({row.metric: row for row in rows if not math.isnan(row.value)})
    cells = [[rows.get(metric) for rows in rows_by_metric] for metric in metrics]
    chart = CellChart(
        title,
        "",
        "",
        metrics,
        names,
        [[row and row.value for row in rows] for rows in cells],
        narrow=True,
        ranks=[[row and row.rank for row in rows] for rows in cells],
        heads=heads,
        stories=[[_rank_story(row) if row else "" for row in rows] for rows in cells],
    )
    return Figure(title, chart)


def _rank_story(row: MetaRow | TaskRow) -> str:
    rank = "not ranked" if row.rank is None else f"rank {row.rank}"
    ends = "" if math.isnan(row.low) else f" {format_interval(row.low, row.high, 3)}"
    value = f"{statistic_label(row.statistic)} {row.value:.3f}{ends}"
    return f"{row.metric}, {row.dimension}, {row.level} level: {value}, {rank}"


def task_gallery(result: RankAverage) -> Gallery:
    """Return ranks and values in all tasks, a panel for each set and dimension."""
    labels = clear_labels(row.metric for row in result.rows)
    panels: dict[tuple[str, str], dict[tuple[str, str], list[TaskRow]]] = {}
    for row in result.tasks:
        tasks = panels.setdefault((row.set, row.dimension), {})
        task_rows = tasks.setdefault((row.level, row.statistic), [])
        task_rows.append(row._replace(metric=labels[row.metric]))
    terms = {name: text for set_result in result.results for name, text in set_result.terms.items()}
    metrics = list(labels.values())
    figures = []
    for place, tasks in panels.items():
        settings = [(*name, rows) for name, rows in tasks.items()]
        figures.append(_rank_figure(", ".join(place), settings, metrics, terms))
    return Gallery("Ranks in the tasks", tuple(figures), _RANKS)


def difference_galleries(result: Ranking) -> list[Gallery]:
    """Return the difference of each metric from the best one, a panel for each setting."""
    labels = row_labels(result)
    tests = (test for test in result.tests if test.separates(result.experiment.level))
    separated = {(*test[:3], test.better, test.worse) for test in tests}
    figures = []
    for leader in leaders(result.rows) if result.experiment.resamples else ():
        if leader.has_few_points:
            continue
        best, sign, rows = leader.best.metric, leader.sign, []
        for row in leader.rows[1:]:
            if row.delta is None or row.delta_low is None or row.delta_high is None:
                continue
            low, high = sorted((sign * row.delta_low, sign * row.delta_high))
            verdict = WORSE if (*leader[:3], best, row.metric) in separated else UNDECIDED
            texts = format_signed(row.delta, 3), verdict
            rows.append(ChartRow(labels[row.metric], sign * row.delta, low, high, *texts))
        if rows:
            title = f"{leader.dimension}, {leader.level} level, {statistic_label(leader.statistic)}"
            figures.append(Figure(title, RowChart(title, labels[best], rows, "difference")))
    if not figures:
        return []
    caption = "Dots: the metric's value minus the best metric's; lines: 95% bootstrap intervals."
    if result.tests:
        caption += " ▼: significantly lower than the best metric by the permutation test."
    folded = len(figures) > MAX_OPEN_PANELS
    return [Gallery("Differences from the best metric", tuple(figures), caption, folded)]


def meta_document(result: Ranking) -> Document:
    """Return the metrics ranked, by dimension, level and statistic."""
    title = f"Agreement of metrics with human scores on {result.name}"
    places: dict[tuple[str, str, str], list[MetaRow]] = {}  # dimension, level and statistic
    for row in result.rows:
        places.setdefault(row[:3], []).append(row)
    headings = {}
    for place, setting_rows in places.items():
        first, used = setting_rows[0], [row.groups for row in setting_rows]
        counts, total = format_count(first.points, "point"), first.groups + first.left_out
        if total > 1:
            low, high = min(used), max(used)
            used_groups = f"{low:,} of " if low == high else f"{low:,} to {high:,} of "
            counts += f", {used_groups if low < total else ''}{total:,} groups"
        headings[place] = f"{', '.join(place)}: {counts}"
    rows = [row for setting_rows in places.values() for row in setting_rows]
    unused = set() if result.experiment.p_values else {"p"}
    unused |= set() if any(row.note for row in rows) else {"note"}
    unused |= set() if any(map(format_delta, rows)) else {"delta_shown"}
    terms = "; ".join(f"{name}: {text}" for name, text in result.terms.items())
    columns = [people_column("heading", "Heading", lambda row: headings[row[:3]])]
    for column in META_COLUMNS:
        if column.key not in unused:
            is_value = column.key == "value"
            columns.append(replace(column, help=f"{column.help} {terms}.") if is_value else column)
    blocks: tuple[Block, ...] = (
        *rank_galleries(result),
        *difference_galleries(result),
        Table("rows", "Agreement with human scores", columns, rows, group="heading"),
        data_table("tests", MetricTest._fields, result.tests),
    )
    return Document(title, blocks, answer=meta_answer(result), basis=meta_basis(result))


def average_document(result: RankAverage) -> Document:
    """Return the averages and their tasks."""
    names = list(dict.fromkeys(set_result.name for set_result in result.results))
    title = f"Agreement of metrics with human scores on {', '.join(names)}"
    has_notes = any(row.note for row in result.rows)
    used_columns = [column for column in AVERAGE_COLUMNS if column.key != "note" or has_notes]
    items = [ChartRow(metric_label(r.metric), r.value, r.low, r.high) for r in result.rows]
    blocks = (
        intervals_figure("Averages over all tasks", "mean over tasks", items),
        task_gallery(result),
        Table("rows", "Averages over all tasks", used_columns, result.rows),
        Table("tasks", "Tasks", TASK_COLUMNS, result.tasks, group="heading"),
        data_table("tests", AverageTest._fields, result.tests),
    )
    basis = f"Sets: {join_names(names)}."
    if result.tests:
        basis += " Tied metrics have the same rank: they do not differ significantly."
    return Document(title, blocks, answer=average_answer(result), basis=basis)
