"""The report of `meta` on several sets: metrics ranked by their averages over tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.answers.metas import average_answer, average_basis
from karat.report.charts.figures import intervals_figure
from karat.report.charts.models import Interval
from karat.report.documents.metas import RANK_HELP, delta_shown
from karat.report.documents.rankings import task_gallery
from karat.report.model.phrases import metric_label
from karat.report.model.table import Column, Document, Table, columns

if TYPE_CHECKING:
    from karat.meta.averages import RankAverage

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
_AVERAGE_TESTS = columns(better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High")


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
