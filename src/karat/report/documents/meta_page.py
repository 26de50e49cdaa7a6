"""The full report of a meta-evaluation: one page of tables, charts and examples.

It has agreement and systems, scatter plots, the plane, reliability over pseudo-documents, the
outputs on which the first metric and the humans differ most, with their grids, and the
experiment that makes it all again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from karat.meta.full_report import MAX_SCATTERS
from karat.meta.ranking import MIN_RANKED
from karat.meta.reliability import single_segments_note
from karat.metrics.differing import differing_words
from karat.report.charts.models import (
    CellChart,
    Chart,
    ChartLine,
    Point,
    XYChart,
    chart_figure,
)
from karat.report.documents.meta import meta_document, statistic_label
from karat.report.documents.planes import plane_chart
from karat.report.documents.reliability import SHUFFLED, reliability_charts
from karat.report.model import (
    Document,
    ExampleCase,
    Examples,
    Gallery,
    Table,
    TextPassage,
    format_count,
    join_names,
    metric_label,
    score_digits,
    sentence_case,
)
from karat.report.segment.document import grid_figures
from karat.results import Cell, Column, number, people_column, program_columns
from karat.scoring import metric_digits

if TYPE_CHECKING:
    from karat.meta.full_report import Disagreement, MetaReport, SystemScatter, SystemScore
    from karat.meta.ranking import MetaRow

_GAP = "Percentile by the metric minus percentile by humans, as shares."


def report_document(report: MetaReport) -> Document:
    """Return the full report of a meta-evaluation."""
    plain = meta_document(report.evaluation)
    pictures = [block for block in plain.blocks if not isinstance(block, Table)]
    pictures += [*_chart_galleries(report), *_disagreement_blocks(report)]
    return replace(
        plain,
        blocks=(*pictures, *plain.tables, _systems_table(report)),
        signatures=report.evaluation.signatures,
        appendix={"Experiment (karat meta --experiment FILE)": str(report.evaluation.experiment)},
    )


def meta_charts(report: MetaReport) -> list[Chart]:
    """Return all charts of the report, for files."""
    planes = [plane_chart(fit, None) for fit in report.planes]
    return [*map(_scatter, report.scatters), *planes, *_reliability_curves(report)]


def _reliability_curves(report: MetaReport) -> list[XYChart]:
    metrics = report.evaluation.scored.metrics
    caption = f"{SHUFFLED} {single_segments_note(metrics)}".rstrip()
    return reliability_charts(report.reliability, caption)


# ------------------------------------------------------------------------------------- systems


def _systems_table(report: MetaReport) -> Table:
    """Return every system's human means and corpus scores, with intervals."""
    digits = {str(m): score_digits(m) for m in report.evaluation.scored.metrics}
    columns_by_key = {"system": Column("system", "System")}
    rows: dict[str, dict[str, Cell]] = {}
    for score in report.systems:
        key = f"{score.source}_{score.name}"
        keys = key, f"{key}_low", f"{key}_high"
        text_key = f"{key}_value_text"
        columns_by_key[text_key] = number(text_key, score.name, readers="people")
        columns_by_key |= {k: Column(k, score.name, readers="programs") for k in keys}
        row = rows.setdefault(score.system, {"system": score.system})
        row |= dict(zip(keys, score[3:], strict=True))
        row[text_key] = _value_text(score, 2 if score.source == "human" else digits[score.name])
    resamples = report.evaluation.experiment.resamples
    scales = "metrics are on their own scales, on all outputs."
    scales = f"Human scores are oriented so that higher is better; {scales}"
    if resamples:
        resample_count = format_count(resamples, "bootstrap resample")
        scales = f"In brackets: 95% intervals from {resample_count} of segments. {scales}"
    notes = (scales, *_rater_notes(report))
    cells = tuple(rows.values())
    return Table("systems", "Systems", tuple(columns_by_key.values()), cells, notes=notes)


def _rater_notes(report: MetaReport) -> Iterator[str]:
    """Yield whom the intervals of human scores are for, where several raters are known."""
    shares = []
    for row in report.rater_shares:
        raters = f"{row.fewest}" if row.fewest == row.most else f"{row.fewest} to {row.most}"
        part = "cannot be told from noise" if math.isnan(row.share) else f"{100 * row.share:.0f}%"
        shares.append(f"{row.dimension} {part} ({raters} raters)")
    listed = join_names(shares) if shares else ""
    if report.any_raters:
        yield (
            "Intervals of human scores are for new segments and raters in general, with Student's "
            "t and Satterthwaite's degrees of freedom; there is none where fewer than two raters "
            "are known." + (f" Share of raters in their variance: {listed}." if listed else "")
        )
    elif listed:
        yield (
            "Intervals of human scores are for these raters. For raters in general (--raters any), "
            f"this would be the share of raters in the variance: {listed}."
        )


def _value_text(row: SystemScore | MetaRow, digits: int) -> str | None:
    """Return the value with its interval, None if it is undefined."""
    if math.isnan(row.value):
        return None
    value, low, high = (f"{x:.{digits}f}" for x in (row.value, row.low, row.high))
    return value if math.isnan(row.low) else f"{value} [{low}, {high}]"


# -------------------------------------------------------------------------------------- charts


def _chart_galleries(report: MetaReport) -> Iterator[Gallery]:
    n_systems = len(report.evaluation.evalset.systems)
    has_few_systems = n_systems < MIN_RANKED
    systems = format_count(n_systems, "system")
    by_dimension = groupby(report.scatters, lambda plot: "" if has_few_systems else plot.dimension)
    for dimension, run in by_dimension:
        plots = list(run)
        title = f"Systems by {dimension or 'human'} and metric scores"
        title += f": {systems}, too few to rank metrics" if has_few_systems else ""
        caption = f"One point per system, {plots[0].scored_on}. Higher is better on both axes"
        rates = dict.fromkeys(metric_label(x.metric) for x in plots if x.metric.sign < 0)
        caption += f" ({join_names(list(rates))} negated)." if rates else "."
        caption += _missing_plots_note(report, plots, has_few_systems)
        folded = has_few_systems or plots[0] is not report.scatters[0]
        yield _narrow_gallery(title, map(_scatter, plots), caption, folded)
    if report.planes:
        planes = [plane_chart(fit, None) for fit in report.planes]
        p = join_names([f"{fit.name} {fit.p:.3f}" for fit in report.planes])
        caption = f"{planes[0].caption} p of the largest R^2: {p}."
        if has_few_systems:
            caption += f" {n_systems} systems are too few to tell cells apart."
        title = "Evaluation planes: R^2 of AEv(alpha, N)"
        yield _narrow_gallery(title, planes, caption, has_few_systems)
    if curves := _reliability_curves(report):
        yield _narrow_gallery("Reliability by text length", curves, curves[0].caption)


def _missing_plots_note(report: MetaReport, plots: Sequence[SystemScatter], in_one: bool) -> str:
    """Return how many plots a gallery leaves out, and which dimensions have none."""
    dimensions = report.evaluation.experiment.dimensions
    n_plots = len(report.evaluation.scored.metrics) * (len(dimensions) if in_one else 1)
    parts = [f"{len(plots)} of {n_plots} plots are shown"] if len(plots) < n_plots else []
    plotted = {plot.dimension for plot in report.scatters}
    without = [name for name in dimensions if name not in plotted]
    if without and plots[-1] is report.scatters[-1]:
        parts.append(f"{join_names(without)} {'has' if len(without) == 1 else 'have'} none")
    if not parts:
        return ""
    most = f"a page has at most {MAX_SCATTERS}; choose fewer with --dimension and --metric"
    return f" {sentence_case(' and '.join(parts))}: {most}."


def _narrow_gallery(
    title: str, charts: Iterable[XYChart | CellChart], caption: str, folded: bool = False
) -> Gallery:
    narrow = [replace(chart, narrow=True, caption="") for chart in charts]
    return Gallery(title, tuple(map(chart_figure, narrow)), caption, folded)


def _scatter(scatter: SystemScatter) -> XYChart:
    metric, row, label = scatter.metric, scatter.agreement, metric_label(scatter.metric)
    note = ""
    if row:
        note = f"{statistic_label(row.statistic)} {_value_text(row, 2) or 'undefined'}"
    negated = "" if metric.sign > 0 else f" {metric} is negated, as in the tables: more is better."
    return XYChart(
        f"{scatter.dimension} and {label}",
        label if metric.sign > 0 else f"-{label}",
        scatter.dimension,
        [Point(*point) for point in scatter.points],
        None if scatter.line is None else ChartLine(*scatter.line),
        note,
        f"One point per system, {scatter.scored_on}.{negated}",
    )


# --------------------------------------------------------------------- largest disagreements


def _disagreement_blocks(report: MetaReport) -> list[Examples | Gallery]:
    disagreements, metric = report.disagreements, report.evaluation.scored.metrics[0]
    if not disagreements:
        return []
    label = metric_label(metric)
    cases, figures = [], []
    for row in disagreements:
        matching, many = row.matching, len(row.references)
        nearest = matching.nearest
        reference_name = "reference" if many == 1 else f"reference {nearest + 1} of {many}"
        points = f"percentiles differ by {100 * abs(row.gap):.0f} points"
        facts = f"{label} {row.score:.3g}, {row.dimension} {row.human:.3g}; {points}"
        passages = (
            TextPassage(reference_name, row.references[nearest]),
            TextPassage("output", row.output, differing_words(row.output, row.references)),
        )
        tags = {"dimension": row.dimension, "direction": _direction_label(row, label)}
        name = f"{row.system}, segment {row.segment}"
        figures.append(grid_figures(matching, f"{row.dimension}: {name}")[0])
        cases.append(ExampleCase(name, facts, passages, tags, figures[-1].title))
    title = f"Largest disagreements between {label} and human scores"
    table_columns = (
        *program_columns("dimension"),
        people_column(
            "heading", "Heading", lambda row: f"{row.dimension}: {_direction_label(row, label)}"
        ),
        Column("system", "System"),
        Column("segment", "Segment"),
        number("human", "Humans", 2, "The human score; higher is better."),
        number("score", "Metric", metric_digits(metric), "The metric's score; higher is better."),
        number("gap", "Gap", 2, _GAP, signed=True),
        people_column(
            "text",
            "Text",
            lambda row: f"reference: {row.references[0]}\noutput: {row.output}",
            wrap=True,
        ),
        *program_columns("output"),
        Column("reference", "Reference", readers="programs", value=lambda row: row.references[0]),
    )
    table = Table("disagreements", title, table_columns, disagreements, group="heading")
    switches = {"dimension": "Dimension", "direction": "Show"}
    caption = "Words of the output that match words of the references."
    return [
        Examples(title, tuple(cases), table, switches),
        Gallery("Bitext grids of these outputs", tuple(figures), caption, folded=True, wide=True),
    ]


def _direction_label(disagreement: Disagreement, label: str) -> str:
    return f"{label} ranks it higher" if disagreement.gap > 0 else "humans rank it higher"
