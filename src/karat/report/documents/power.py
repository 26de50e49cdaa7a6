"""The reports of `power`: what a pilot can show, how many units and raters are needed."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from karat.meta.rater_plan import RATER_PLAN_COLUMNS, RaterPlan
from karat.power_analysis import POWER_COLUMNS, PowerAnalysis, PowerRow
from karat.report.charts.models import Point, XYChart
from karat.report.model import (
    MAX_SENTENCES,
    Block,
    Document,
    Figure,
    Table,
    format_count,
    metric_label,
    score_digits,
)


def power_document(analysis: PowerAnalysis) -> Document:
    """Return the answer, a curve of power by units, and the table."""
    curves = [row for row in analysis.rows if row.deviation > 0][:MAX_SENTENCES]
    points = [
        Point(units, 100 * power, group=f"{metric_label(row.metric)} {row.system}")
        for row in curves
        for units, power in analysis.curve(row)
    ]
    title = f"Power of comparisons with {analysis.baseline}"
    unit = f"{analysis.inference.unit}s"
    figure_title = f"Power by number of {unit}"
    chart = XYChart(figure_title, unit, "power (%)", points, kind="curves", whole_x=True)
    caption = (
        "Probability of finding the difference that matters; without one, of finding the smallest "
        "difference that the pilot can show."
    )
    table = Table("rows", title, list(POWER_COLUMNS), analysis.rows, group="metric")
    blocks: list[Block] = [Figure(figure_title, chart, caption), table] if points else [table]
    corrected = f"corrected for {analysis.n_tests} tests" if analysis.n_tests > 1 else "one test"
    level = f"Power {100 * analysis.power:g}% at the level .05, {corrected}"
    return Document(
        title,
        blocks,
        answer=tuple(power_answer(analysis)),
        basis=f"{level}, by {analysis.inference.unit}.",
    )


def power_answer(analysis: PowerAnalysis) -> Iterator[str]:
    """Yield a sentence for each system and metric; the most demanding ones first."""
    rows = sorted(analysis.rows, key=lambda row: -(row.units_needed or 0))
    for row in rows[:MAX_SENTENCES]:
        yield _row_sentence(row, analysis)
    if (n_more := len(rows) - MAX_SENTENCES) > 0:
        yield f"The table has {format_count(n_more, 'more comparison')}."


def _row_sentence(row: PowerRow, analysis: PowerAnalysis) -> str:
    digits, unit = score_digits(row.metric), analysis.inference.unit
    label, m = f"{row.system} against {analysis.baseline}", metric_label(row.metric)
    count = format_count(row.units, unit)
    if row.deviation == 0 and not isnan(row.detectable):
        return f"{label}: all {unit}s of the pilot differ by the same amount, so it cannot plan."
    if row.difference is None:
        if isnan(row.detectable):
            return f"{label}: {count} are too few to decide anything by {m}."
        return (
            f"{label}: {count} can detect a {m} difference of {row.detectable:.{digits}f} or more."
        )
    if row.units_needed is None:
        return f"{label}: no number of {unit}s shows a {m} difference of {row.difference:g}."
    needed, pilot = format_count(row.units_needed, unit), f"the pilot has {row.units:,}"
    return f"{label}: a {m} difference of {row.difference:g} needs {needed}; {pilot}."


STABLE = 0.9
"""The stable ranking probability that the answer looks for."""


def rater_plan_document(plan: RaterPlan) -> Document:
    """Return the cheapest stable design, curves by items, and the table."""
    title = f"Ratings of {plan.name}: {plan.dimension}"
    points = [
        Point(row.items, row.stable, group=f"{row.raters} raters, {row.overlap} per item")
        for row in plan.rows
    ]
    axes = "items", "stable ranking probability"
    chart = XYChart("Stability by number of items", *axes, points, kind="curves", whole_x=True)
    table = Table("rows", "Designs", RATER_PLAN_COLUMNS, plan.rows, open=True)
    basis = (
        "Stable: another study, with other items and raters, orders every pair of systems alike "
        "that differs significantly. A study where nothing is significant is stable, too."
    )
    return Document(
        title,
        [Figure(chart.title, chart, "Lines end at the most items."), table],
        answer=(_plan_sentence(plan),),
        basis=basis,
        signatures={"plan": plan.signature},
    )


def _plan_sentence(plan: RaterPlan) -> str:
    stable = [row for row in plan.rows if row.stable >= STABLE]
    if not stable:
        best = max(plan.rows, key=lambda row: row.stable)
        return (
            f"No design has a stable ranking probability of {STABLE}; the best is {best.stable:.2f}"
            f" with {format_count(best.items, 'item')} and {format_count(best.raters, 'rater')}, "
            f"{best.overlap} per item."
        )
    row = min(stable, key=lambda row: (row.ratings, -row.significant))
    little = " Most pairs do not: the ranking is stable because the study decides little."
    return (
        f"{format_count(row.items, 'item')} and {format_count(row.raters, 'rater')}, {row.overlap} "
        f"per item ({format_count(row.ratings, 'rating')}), have a stable ranking probability of "
        f"{row.stable:.2f}; {row.significant:.0%} of the pairs of systems differ significantly."
        + little
        * (row.significant < 0.5)
    )
