"""The report of `paraphrase evaluate`: the paper's tables and scatter plots for a judged set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Point, Scatter
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from karat.paraphrase.pem.evaluation import Correlation
    from karat.paraphrase.pem.judged_pairs import Judged
    from karat.paraphrase.pem.study import Study

    Floats = NDArray[np.float64]

_MOST_POINTS = 1500  # more dots than that are one blot

_NUMBERS = (
    Column("rows", "n", align="right", help="Paraphrases that have both."),
    Column("pearson", "Pearson", 3, align="right", help="Over paraphrases."),
    Column("spearman", "Spearman", 3, align="right", help="Over paraphrases."),
    Column("systems", "Systems", align="right"),
    Column("pearson_systems", "r systems", 3, align="right", help="Pearson's r of systems' means."),
)
_BETTER = (
    Column("first", "First"),
    Column("second", "Second"),
    Column("r_first", "r first", 3, align="right"),
    Column("r_second", "r second", 3, align="right"),
    Column("difference", "Difference", 3, align="right", signed=True),
    Column("low", "Low", 3, align="right", signed=True, help="95%, bootstrap over originals."),
    Column("high", "High", 3, align="right", signed=True, help="95%, bootstrap over originals."),
    Column("p", "p", 3, align="right", help="How often the first was not better."),
)


def evaluation_document(
    judged: Judged, found: Study, command: str, signature: str, bundled: bool
) -> Document:
    """Tables where the set has what they need, and the scatter plots."""
    blocks = [
        _table("rows", "Against human judgement", "Metric", "Human", found.against),
        Table(
            "better", "Do pivot languages help?", _BETTER, [one._asdict() for one in found.better]
        ),
        _table("parts", "The parts of PEM alone", "Part", "Human", found.parts),
        _table("inter_judge", "Between judges", "Judge", "Judge 2", found.inter_judge),
        _table("criteria", "Criteria and overall quality", "Criterion", "With", found.criteria),
    ]
    figures = [chart_figure(chart) for chart in evaluation_charts(judged, found.predicted)]
    return Document(
        f"Paraphrase quality: {judged.evalset.name}",
        (*(table for table in blocks if table.rows), *figures),
        command,
        {"pem": signature},
        notes=_notes(judged, found, bundled),
    )


def _notes(judged: Judged, found: Study, bundled: bool) -> tuple[str, ...]:
    notes = [
        f"Cross-validated in {found.folds} folds by original: no regression has seen an original "
        "that it is tested on, and its settings were searched inside the training part.",
        "The others are the same regression with the pivot features replaced by what their names "
        "say.",
    ]
    if not judged.real.all():
        notes.append(
            "The scores of controls are fixed and easy to tell, which raises all correlations that "
            "include them."
        )
    if bundled:
        notes.append(
            "The pivot languages and the language model are those of the small bundled model, for "
            "trying out only: train them on your own text with karat paraphrase train."
        )
    return tuple(notes)


def _table(key: str, title: str, first: str, second: str, found: Sequence[Correlation]) -> Table:
    columns = (Column("first", first), Column("second", second), *_NUMBERS)
    rows: list[Row] = [one._asdict() for one in found]
    return Table(key, title, columns, rows)


def evaluation_charts(judged: Judged, predicted: Floats) -> list[Scatter]:
    """The paper's Figures 4, 5 and 3."""
    charts = [_sentences(judged, predicted)]
    systems = _systems(judged, predicted)
    if len(systems.points) > 1:
        charts.append(systems)
    high = _dissimilarity(judged)
    if high.points:
        charts.append(high)
    return charts


def _sentences(judged: Judged, predicted: Floats) -> Scatter:
    step = max(1, -(-len(judged) // _MOST_POINTS))
    rows = range(0, len(judged), step)
    points = [Point(float(judged.human[i]), float(predicted[i]), judged.systems[i]) for i in rows]
    caption = f"{len(points):,} of {len(judged):,} paraphrases." if step > 1 else ""
    return Scatter(
        "PEM and human scores of paraphrases", "human", "PEM", tuple(points), caption=caption
    )


def _systems(judged: Judged, predicted: Floats) -> Scatter:
    points = []
    for name in dict.fromkeys(judged.systems):
        own = [i for i, system in enumerate(judged.systems) if system == name]
        points.append(Point(float(judged.human[own].mean()), float(predicted[own].mean()), name))
    return Scatter("PEM and human scores of systems", "human", "PEM", tuple(points))


def _dissimilarity(judged: Judged) -> Scatter:
    from karat.paraphrase.pem.evaluation import CRITERIA, HIGH

    title = "Dissimilarity and overall quality of adequate, fluent paraphrases"
    points: tuple[Point, ...] = ()
    if set(CRITERIA) <= set(judged.evalset.dimensions):
        adequacy, fluency, other = (judged.values(name) for name in CRITERIA)
        rows = ((adequacy >= HIGH) & (fluency >= HIGH)).nonzero()[0].tolist()
        points = tuple(
            Point(float(other[i]), float(judged.human[i]), judged.systems[i]) for i in rows
        )
    return Scatter(title, "dissimilarity", "overall", points)
