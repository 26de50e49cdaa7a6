"""The full report of a meta-evaluation: one page of tables, charts and examples.

It has agreement and systems, scatter plots, the plane, reliability over pseudo-documents, the
outputs on which the first metric and the humans differ most, with their grids, and the
experiment that makes it all again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Chart, Curve, Curves, Knot, Line, Point, Scatter
from karat.report.documents.grids import grid_figures
from karat.report.documents.metas import meta_document
from karat.report.documents.planes import plane_chart, plane_notes
from karat.report.documents.scores import decimals
from karat.report.model.cells import several
from karat.report.model.table import Cell, Column, Decimals, Document, Figure, Link, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.meta.experiment import MetaEvaluation
    from karat.meta.plane.fit import PlaneFit
    from karat.meta.pseudo_documents import Reliability
    from karat.metrics.base import Metric

    Floats = NDArray[np.float64]

MOST_SCATTERS = 12
_APART = (
    Column("dimension", "Dimension", readers="programs"),
    Column("heading", "What", readers="people"),
    Column("system", "System"),
    Column("segment", "Segment"),
    Column("human", "Humans", align="right", help="The human score, more being better."),
    Column("score", "Metric", align="right", help="The metric's score, more being better."),
    Column("gap", "Gap", 2, align="right", signed=True, help="Metric's minus humans' percentile."),
    Column("text", "Text", wrap=True, readers="people"),
    Column("output", "Output", readers="programs"),
    Column("reference", "Reference", readers="programs"),
    Column("grid", "Grid", help="The bitext grid, below.", readers="people"),
)


class Extras(NamedTuple):
    """What the full report shows besides the agreement."""

    planes: Sequence[PlaneFit] = ()
    reliability: Sequence[tuple[str, Sequence[Reliability]]] = ()
    """By dimension."""
    examples: int = 3
    """Outputs on which metric and humans disagree most, for each dimension and direction."""
    without: Sequence[str] = ()
    """Why a dimension has no plane."""


def meta_charts(result: MetaEvaluation, extras: Extras) -> list[Chart]:
    """All charts of the report, for the page or for files."""
    curves = [_curves(name, found) for name, found in extras.reliability]
    planes = [plane_chart(fit, None) for fit in extras.planes]
    return [*_scatters(result), *planes, *curves]


def _left_out(result: MetaEvaluation) -> list[str]:
    """What to say if there are more pairs of dimension and metric than scatter plots."""
    pairs = len(result.experiment.dimensions) * len(result.scored.metrics)
    if pairs <= MOST_SCATTERS:
        return []
    return [
        f"Scatter plots: the first {MOST_SCATTERS} of {pairs} pairs of dimension and metric; "
        "choose fewer with --dimension and --metric to see the others."
    ]


def meta_report(result: MetaEvaluation, extras: Extras, command: str) -> Document:
    """The full report."""
    plain = meta_document(result, command)
    apart = [
        row for d in result.experiment.dimensions for row in _apart(result, d, extras.examples)
    ]
    return replace(
        plain,
        blocks=(
            plain.blocks[0],
            _systems(result),
            *map(chart_figure, meta_charts(result, extras)),
            *([_apart_table(result, apart)] if apart else []),
            *(figure for one in apart for figure in _grids(result, one)),
            *plain.blocks[1:],
        ),
        notes=(
            *plain.notes,
            *_left_out(result),
            *extras.without,
            *(note for fit in extras.planes for note in plane_notes(fit)),
        ),
        appendix={"Experiment (karat meta --experiment FILE)": str(result.experiment)},
    )


# ------------------------------------------------------------------------------------- systems


def _systems(result: MetaEvaluation) -> Table:
    """Every system's scores with intervals: human means and corpus scores."""
    given = [*_columns_of_people(result), *_columns_of_metrics(result)]
    columns = [Column("system", "System")]
    rows: list[dict[str, Cell]] = [{"system": name} for name in result.evalset.systems]
    for key, title, values, digits in given:
        columns.append(Column(f"{key}_shown", title, align="right", readers="people"))
        columns += [Column(f"{key}{end}", title, readers="programs") for end in _ENDS]
        for row, ends in zip(rows, values.T.tolist(), strict=True):
            row |= {f"{key}{end}": x for end, x in zip(_ENDS, ends, strict=True)}
            row[f"{key}_shown"] = _shown(ends, digits)
    resamples = several(result.experiment.resamples, "bootstrap resample")
    intervals = f"In brackets: 95% intervals from {resamples} of segments."
    scales = (
        "Human scores are turned so that more is better; metrics are on their own scales, on all "
        "outputs."
    )
    notes = (intervals, scales) if result.experiment.resamples else (scales,)
    return Table("systems", "Systems", tuple(columns), tuple(rows), notes=(" ".join(notes),))


_ENDS = ("", "_low", "_high")
_Given = tuple[str, str, "Floats", int]


def _shown(ends: Sequence[float], digits: int) -> Cell:
    value, low, high = (f"{x:.{digits}f}" for x in ends)
    if math.isnan(ends[0]):
        return None
    return value if math.isnan(ends[1]) else f"{value} [{low}, {high}]"


def _columns_of_people(result: MetaEvaluation) -> Iterator[_Given]:
    from karat.meta.scores import human_means

    counts = _drawn(result)
    for dimension in result.experiment.dimensions:
        human = result.evalset.human(dimension, result.experiment.normalise)
        yield f"human_{dimension}", dimension, _with_ends(human_means(human, counts)), 2


def _columns_of_metrics(result: MetaEvaluation) -> Iterator[_Given]:
    counts, scored = _drawn(result), result.scored
    for metric in scored.metrics:
        values = metric.sign * scored.corpus(metric, counts, scored.present)
        yield f"metric_{metric}", str(metric), _with_ends(values), 1 if metric.full_scale > 1 else 3


def _drawn(result: MetaEvaluation) -> Floats:
    """All segments once, then how often each is drawn in each resample."""
    import numpy as np

    from karat import _kernel

    n = len(result.evalset)
    rng = np.random.default_rng(result.experiment.seed)
    drawn = _kernel.tally(rng.integers(0, n, size=(result.experiment.resamples, n)), n)
    return np.vstack([np.ones((1, n)), drawn])


def _with_ends(values: Floats) -> Floats:
    """The score of every system, and the ends of its interval."""
    import numpy as np

    ends = np.full((2, values.shape[1]), np.nan)
    some = ~np.isnan(values[1:]).all(axis=0)  # numpy warns of systems that nobody judged
    ends[:, some] = np.nanquantile(values[1:, some], [0.025, 0.975], axis=0, method="inverted_cdf")
    return np.vstack([values[:1], ends])


# -------------------------------------------------------------------------------------- charts


def _scatters(result: MetaEvaluation) -> Iterator[Scatter]:
    """Human against metric scores of systems, a chart for each dimension and metric.

    The points are those of the level of systems: judged outputs, more being better on both axes.
    """
    from karat.meta.views import view

    names = list(result.evalset.systems)
    pairs = [(d, m) for d in result.experiment.dimensions for m in result.scored.metrics]
    for dimension, metric in pairs[:MOST_SCATTERS]:
        human = result.evalset.human(dimension, result.experiment.normalise)
        seen = view("system", result.scored, human)
        people, machine = seen.human[:, 0].tolist(), seen.metrics[metric][:, 0].tolist()
        points = [Point(*point) for point in zip(machine, people, names, strict=True)]
        yield Scatter(
            f"{dimension} and {metric}",
            str(metric) if metric.sign > 0 else f"-{metric}",
            dimension,
            points,
            line=_line(points),
            note=_said(result, dimension, metric),
            caption=f"One point a system, on its judged outputs.{_negated(metric)}",
        )


def _negated(metric: Metric) -> str:
    return "" if metric.sign > 0 else f" {metric} is negated, as in the tables: more is better."


def _line(points: Sequence[Point]) -> Line | None:
    """The least-squares line, where there is one."""
    known = [p for p in points if math.isfinite(p.x) and math.isfinite(p.y)]
    n = len(known)
    if n < 3:
        return None
    x, y = sum(p.x for p in known) / n, sum(p.y for p in known) / n
    spread = sum((p.x - x) * (p.x - x) for p in known)
    if spread <= 0:
        return None
    slope = sum((p.x - x) * (p.y - y) for p in known) / spread
    return Line(slope, y - slope * x)


def _said(result: MetaEvaluation, dimension: str, metric: Metric) -> str:
    """The correlation over systems with its interval, if it was asked for."""
    for row in result.rows:
        if (row.dimension, row.level, row.metric) == (dimension, "system", metric):
            value = row.agreement.value
            if math.isnan(value):
                return f"{row.statistic} undefined"
            if math.isnan(row.low):
                return f"{row.statistic} {value:.2f}"
            return f"{row.statistic} {value:.2f} [{row.low:.2f}, {row.high:.2f}]"
    return ""


def _curves(dimension: str, found: Sequence[Reliability]) -> Curves:
    """Agreement over pseudo-documents by their length, one curve a metric."""
    by = found[0].statistic
    metrics = dict.fromkeys(one.metric for one in found)
    curves = []
    for metric in metrics:
        mine = [one for one in found if one.metric == metric and one.statistic == by]
        curves.append(Curve(str(metric), [Knot(one.length, one.mean, *one.ends) for one in mine]))
    return Curves(
        f"Reliability: {dimension}, {by}",
        "segments in a pseudo-document",
        f"{by} with {dimension}",
        curves,
        caption="Segments are shuffled and cut into documents; bands hold 95% of the shuffles.",
    )


# --------------------------------------------------------------------- largest disagreements


class _Part(NamedTuple):
    """An output on which the first metric and the humans differ."""

    dimension: str
    system: int
    segment: int
    human: float
    score: float
    gap: float


def _apart(result: MetaEvaluation, dimension: str, count: int) -> list[_Part]:
    """The outputs with the largest difference of percentiles, in both directions."""
    import numpy as np

    metric = result.scored.metrics[0]
    human = result.evalset.human(dimension, result.experiment.normalise)
    score = result.scored.segments(metric)
    by_metric, by_people = _percentiles(score, human), _percentiles(human, score)
    if not (_differ(by_metric) and _differ(by_people)):
        return []  # equal scores rank nothing
    gaps = by_metric - by_people
    chosen: list[list[int]] = []
    for sign in (1, -1):
        found = np.argwhere(sign * gaps > 0)  # a NaN is not
        chosen += sorted(found.tolist(), key=lambda at: -abs(gaps[at[0], at[1]]))[:count]
    return [
        _Part(dimension, i, j, float(human[i, j]), float(score[i, j]), float(gaps[i, j]))
        for i, j in chosen
    ]


def _differ(percentiles: Floats) -> bool:
    import numpy as np

    known = percentiles[~np.isnan(percentiles)]
    return bool((known != known[:1]).any())


def _percentiles(scores: Floats, beside: Floats) -> Floats:
    """The share of outputs below each, ties half, among those that both have."""
    import numpy as np

    known = ~np.isnan(scores) & ~np.isnan(beside)
    values = np.sort(scores[known])
    found = np.full(scores.shape, np.nan)
    left, right = (np.searchsorted(values, scores[known], side=s) for s in ("left", "right"))
    found[known] = (left + right) / 2 / max(len(values), 1)
    return found


def _name(result: MetaEvaluation, one: _Part) -> str:
    system = list(result.evalset.systems)[one.system]
    return f"{one.dimension}: {system}, segment {result.evalset.segments[one.segment]}"


def _apart_table(result: MetaEvaluation, parts: Sequence[_Part]) -> Table:
    metric = result.scored.metrics[0]
    title = f"Largest disagreements between {metric.of_segments()} and human scores"
    rows = tuple(_part_row(result, one) for one in parts)
    return Table("disagreements", title, _APART, rows, group="heading")


def _part_row(result: MetaEvaluation, one: _Part) -> dict[str, Cell]:
    evalset, metric = result.evalset, result.scored.metrics[0]
    system = list(evalset.systems)[one.system]
    output = evalset.systems[system][one.segment] or ""
    reference = evalset.references[one.segment][0]
    higher = "ranked higher by the metric" if one.gap > 0 else "ranked higher by the humans"
    return {
        "dimension": one.dimension,
        "heading": f"{one.dimension}: {higher}",
        "system": system,
        "segment": evalset.segments[one.segment],
        "human": Decimals(one.human, 2),
        "score": decimals(metric, one.score),
        "gap": one.gap,
        "text": f"reference: {reference}\noutput: {output}",
        "output": output,
        "reference": reference,
        "grid": Link("grid", f"{_name(result, one)}: matching"),
    }


def _grids(result: MetaEvaluation, one: _Part) -> list[Figure]:
    """The bitext grid of one output."""
    from karat.metrics.matching import GTM

    evalset = result.evalset
    output = evalset.systems[list(evalset.systems)[one.system]][one.segment] or ""
    found = GTM(e=2, tok="13a").explain(output, evalset.references[one.segment][:3])
    return grid_figures(found, _name(result, one))[:1]
