"""The reports of `nuggets tune` and `nuggets evaluate`: classifiers against assessors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.nuggets.report.scores import AGREEMENT, MODELS, models_table, number, records
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Curve, Curves, Knot, Line, Point, Scatter
from karat.report.model.table import Column, Document, Table

if TYPE_CHECKING:
    from karat.nuggets.results.agreements import SettingRow
    from karat.nuggets.results.evaluation import NuggetEvaluation, NuggetTuning

_SETTINGS = (
    Column("stem", "Stem"),
    number("n", "n", help="The longest n-grams."),
    Column("weight", "Weight"),
    Column("stop", "Stop"),
    *AGREEMENT,
    number("threshold", "Threshold", 3, help="The best on all judged pairs."),
)
_TRIED = (MODELS[0], MODELS[-1], *AGREEMENT)
_ROWS = (Column("what", "What"), *AGREEMENT)


def _settings(key: str, trials: Sequence[SettingRow]) -> Table:
    """The 24 settings, the best F first."""
    stress = frozenset({(0, "f")})
    return Table(key, "The paper's classifier", _SETTINGS, records(trials), emphasis=stress)


def tuning_document(found: NuggetTuning, command: str = "") -> Document:
    """Return the report of the 24 settings and the threshold models."""
    blocks = _settings("rows", found.rows), models_table(found.models, _TRIED)
    return Document(f"Tuning on {found.name}", blocks, command, {}, notes=found.notes)


def evaluation_document(found: NuggetEvaluation, command: str = "") -> Document:
    """Return the report of classifiers and baselines side by side, with two charts."""
    curves = Curves(
        "tau_b against the threshold",
        "threshold of the paper's classifier",
        "tau_b of runs",
        [Curve(name, [Knot(*point) for point in points]) for name, points in found.found.curves],
        caption="One threshold for all nuggets; n-grams of up to 1, 2 and 3 words.",
    )
    blocks = (
        Table("rows", "Agreement with assessors", _ROWS, records(found.rows)),
        _settings("settings", found.trials),
        models_table(found.models, _TRIED),
        chart_figure(_scatter(found)),
        chart_figure(curves),
    )
    title = f"Nugget scores against assessors: {found.name}"
    return Document(title, blocks, command, {}, notes=found.notes)


def _scatter(found: NuggetEvaluation) -> Scatter:
    bars = ""
    if found.outside is not None:
        missed, known = found.outside
        bars = (
            " Bars: 95% intervals, from the errors on the other runs; the official score of "
            f"{missed} of {known} runs lies outside."
        )
    return Scatter(
        "Official and guessed scores",
        "official A",
        "guessed A",
        [Point(one.official, one.guessed, one.run, "", one.low, one.high) for one in found.runs],
        line=Line(1.0, 0.0),
        note=f"tau_b {found.rows[0].tau_b:.3f}",
        caption="One point a run, guessed by the calibrated classifier; the line is where both are "
        f"equal.{bars}",
    )
