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

from karat.meta.full_report import MOST_SCATTERS
from karat.meta.ranking import FEWEST_RANKED
from karat.meta.reliability import single_segments_note
from karat.metrics.differing import differing_words
from karat.report.charts.models import Chart, Curves, HeatMap, Line, Point, Scatter, chart_figure
from karat.report.documents.meta import meta_document, statistic_label
from karat.report.documents.planes import plane_chart
from karat.report.documents.reliability import SHUFFLED, reliability_charts
from karat.report.documents.scores import decimals
from karat.report.model import (
    Case,
    Cell,
    Column,
    Decimals,
    Document,
    Examples,
    Gallery,
    Passage,
    Table,
    columns,
    listing,
    metric_label,
    sentence_case,
    several,
)
from karat.report.segment.document import grid_figures

if TYPE_CHECKING:
    from karat.meta.full_report import Disagreement, MetaReport, SystemScatter, SystemScore
    from karat.meta.ranking import MetaRow
    from karat.metrics.base import Metric
    from karat.metrics.gtm import Explanation

_GAP = "Percentile by the metric minus percentile by humans, as shares."
_APART = (
    Column("dimension", "Dimension", readers="programs"),
    Column("heading", "Heading", readers="people"),
    *columns(system="System", segment="Segment"),
    Column("human", "Humans", align="right", help="The human score; higher is better."),
    Column("score", "Metric", align="right", help="The metric's score; higher is better."),
    Column("gap", "Gap", 2, align="right", signed=True, help=_GAP),
    Column("text", "Text", wrap=True, readers="people"),
    *columns("programs", output="Output", reference="Reference"),
)


def report_document(report: MetaReport, command: str) -> Document:
    """Return the full report of a meta-evaluation."""
    plain = meta_document(report.evaluation, command)
    pictures = tuple(block for block in plain.blocks if not isinstance(block, Table))
    tables = tuple(block for block in plain.blocks if isinstance(block, Table))
    return replace(
        plain,
        blocks=(*pictures, *_galleries(report), *_examples(report), *tables, _systems(report)),
        notes=report.notes,
        appendix={"Experiment (karat meta --experiment FILE)": str(report.evaluation.experiment)},
    )


def meta_charts(report: MetaReport) -> list[Chart]:
    """Return all charts of the report, for files."""
    planes = [plane_chart(fit, None) for fit in report.planes]
    return [*map(_scatter, report.scatters), *planes, *_curves(report)]


def _curves(report: MetaReport) -> list[Curves]:
    metrics = report.evaluation.scored.metrics
    caption = f"{SHUFFLED} {single_segments_note(metrics)}".rstrip()
    return reliability_charts(report.reliability, caption)


# ------------------------------------------------------------------------------------- systems


def _systems(report: MetaReport) -> Table:
    """Every system's scores with intervals: human means and corpus scores."""
    digits = {str(m): 1 if m.full_scale > 10 else 3 for m in report.evaluation.scored.metrics}
    shown = {"system": Column("system", "System")}
    rows: dict[str, dict[str, Cell]] = {}
    for one in report.systems:
        key = f"{one.source}_{one.name}"
        keys = key, f"{key}_low", f"{key}_high"
        shown[f"{key}_shown"] = Column(f"{key}_shown", one.name, align="right", readers="people")
        shown |= {k: Column(k, one.name, readers="programs") for k in keys}
        row = rows.setdefault(one.system, {"system": one.system})
        row |= dict(zip(keys, one[3:], strict=True))
        row[f"{key}_shown"] = _shown(one, 2 if one.source == "human" else digits[one.name])
    resamples = report.evaluation.experiment.resamples
    scales = "metrics are on their own scales, on all outputs."
    scales = f"Human scores are oriented so that higher is better; {scales}"
    if resamples:
        drawn = several(resamples, "bootstrap resample")
        scales = f"In brackets: 95% intervals from {drawn} of segments. {scales}"
    cells = tuple(rows.values())
    return Table("systems", "Systems", tuple(shown.values()), cells, notes=(scales,))


def _shown(one: SystemScore | MetaRow, digits: int) -> str | None:
    """The value with its interval, None where it is undefined."""
    if math.isnan(one.value):
        return None
    value, low, high = (f"{x:.{digits}f}" for x in (one.value, one.low, one.high))
    return value if math.isnan(one.low) else f"{value} [{low}, {high}]"


# -------------------------------------------------------------------------------------- charts


def _galleries(report: MetaReport) -> Iterator[Gallery]:
    """Yield scatter plots, planes and reliability as small multiples."""
    points = len(report.evaluation.evalset.systems)
    few = points < FEWEST_RANKED
    for dimension, plots in groupby(report.scatters, lambda one: "" if few else one.dimension):
        own = list(plots)
        title = f"Systems by {dimension or 'human'} and metric scores"
        title += f": {several(points, 'system')}, too few to rank metrics" if few else ""
        caption = f"One point per system, {own[0].scored_on}. Higher is better on both axes"
        rates = list(dict.fromkeys(metric_label(x.metric) for x in own if x.metric.sign < 0))
        caption += f" ({listing(rates)} negated)." if rates else "."
        caption += _plots_missing(report, own, few)
        later = own[0] is not report.scatters[0]
        yield _gallery(title, map(_scatter, own), caption, few or later)
    if report.planes:
        p = listing([f"{fit.name} {fit.p:.3f}" for fit in report.planes])
        caption = f"{plane_chart(report.planes[0], None).caption} p of the largest R^2: {p}."
        if few:
            caption += f" {points} systems are too few to tell cells apart."
        planes = (plane_chart(fit, None) for fit in report.planes)
        yield _gallery("Evaluation planes: R^2 of AEv(alpha, N)", planes, caption, few)
    if curves := _curves(report):
        yield _gallery("Reliability by text length", curves, curves[0].caption)


def _plots_missing(report: MetaReport, plots: Sequence[SystemScatter], in_one: bool) -> str:
    """Return how many plots a gallery leaves out, and which dimensions have none."""
    metrics = len(report.evaluation.scored.metrics)
    dimensions = report.evaluation.experiment.dimensions
    whole = metrics * len(dimensions) if in_one else metrics
    shown = {plot.dimension for plot in report.scatters}
    is_last = plots[-1] is report.scatters[-1]
    without = [name for name in dimensions if name not in shown] if is_last else []
    parts = [f"{len(plots)} of {whole} plots are shown"] if len(plots) < whole else []
    if without:
        parts.append(f"{listing(without)} {'has' if len(without) == 1 else 'have'} none")
    if not parts:
        return ""
    most = f"a page has at most {MOST_SCATTERS}; choose fewer with --dimension and --metric"
    return f" {sentence_case(' and '.join(parts))}: {most}."


def _gallery(
    title: str, charts: Iterable[Scatter | HeatMap | Curves], caption: str, folded: bool = False
) -> Gallery:
    """Return narrow charts side by side, with one caption for all."""
    narrow = [replace(chart, narrow=True, caption="") for chart in charts]
    return Gallery(title, tuple(map(chart_figure, narrow)), caption, folded)


def _scatter(found: SystemScatter) -> Scatter:
    """Human against metric scores of systems, more being better on both axes."""
    metric, row = found.metric, found.agreement
    negated = "" if metric.sign > 0 else f" {metric} is negated, as in the tables: more is better."
    return Scatter(
        f"{found.dimension} and {metric_label(metric)}",
        metric_label(metric) if metric.sign > 0 else f"-{metric_label(metric)}",
        found.dimension,
        [Point(*point) for point in found.points],
        line=None if found.line is None else Line(*found.line),
        note=f"{statistic_label(row.statistic)} {_shown(row, 2) or 'undefined'}" if row else "",
        caption=f"One point per system, {found.scored_on}.{negated}",
    )


# --------------------------------------------------------------------- largest disagreements


def _examples(report: MetaReport) -> list[Examples | Gallery]:
    """Return the outputs as cards, and their grids, folded up."""
    found, metric = report.disagreements, report.evaluation.scored.metrics[0]
    if not found:
        return []
    label = metric_label(metric)
    matched = [one.matching for one in found]
    cases = tuple(_case(one, nearest, label) for one, nearest in zip(found, matched, strict=True))
    title = f"Largest disagreements between {label} and human scores"
    rows = tuple(_apart_row(one, metric) for one in found)
    table = Table("disagreements", title, _APART, rows, group="heading")
    named = {"dimension": "Dimension", "direction": "Show"}
    switches = {
        tag: words for tag, words in named.items() if len({case.tags[tag] for case in cases}) > 1
    }
    figures = (grid_figures(one, _name(at))[0] for at, one in zip(found, matched, strict=True))
    caption = "Words of the output that match words of the references."
    return [
        Examples(title, cases, table, switches),
        Gallery("Bitext grids of these outputs", tuple(figures), caption, folded=True, wide=True),
    ]


def _case(one: Disagreement, matched: Explanation, label: str) -> Case:
    reference, many = one.references[matched.nearest], len(one.references)
    which = "reference" if many == 1 else f"reference {matched.nearest + 1} of {many}"
    points = f"percentiles differ by {100 * abs(one.gap):.0f} points"
    return Case(
        f"{one.system}, segment {one.segment}",
        f"{label} {one.score:.3g}, {one.dimension} {one.human:.3g}; {points}",
        (
            Passage(which, reference),
            Passage("output", one.output, differing_words(one.output, one.references)),
        ),
        {"dimension": one.dimension, "direction": _direction(one, label)},
        f"{_name(one)}: matching",
    )


def _direction(one: Disagreement, label: str) -> str:
    """Return who ranks the output higher."""
    return f"{label} ranks it higher" if one.gap > 0 else "humans rank it higher"


def _apart_row(one: Disagreement, metric: Metric) -> dict[str, Cell]:
    reference = one.references[0]
    return {
        **one._asdict(),
        "heading": f"{one.dimension}: {_direction(one, metric_label(metric))}",
        "human": Decimals(one.human, 2),
        "score": decimals(metric, one.score),
        "text": f"reference: {reference}\noutput: {one.output}",
        "reference": reference,
    }


def _name(one: Disagreement) -> str:
    return f"{one.dimension}: {one.system}, segment {one.segment}"
