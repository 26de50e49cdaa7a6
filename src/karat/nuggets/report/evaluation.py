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
SWAPS = (
    number("swaps", "Swaps", help="Pairs of runs in another order than the official one."),
    number("pairs", "of", help="Pairs of runs with different official scores."),
    number("swap_median", "Median", 3, help="Official difference of swapped runs."),
    number("swap_largest", "Largest", 3, help="Official difference of swapped runs."),
    number("swaps_far", "≥ 0.1", help="Swaps of runs that differ by 0.1 or more."),
)
_SCORES = (
    Column("average", "Average"),
    Column("what", "What"),
    number("threshold", "Threshold", 3, help="Chosen in hindsight."),
    *AGREEMENT[3:],
    *SWAPS,
)
SWAPPED = (
    Column("what", "What"),
    Column("average", "Average"),
    Column("better", "Better"),
    Column("worse", "Worse"),
    number("official", "Official", 3),
    number("guessed", "Guessed", 3, signed=True),
)
JUDGED = (
    Column("what", "What"),
    *AGREEMENT[:3],
    number("low", "F low", 3, help="Lower end of the 95% interval of F, over questions."),
    number("high", "F high", 3, help="Upper end of the 95% interval of F, over questions."),
)
_RUNS = (
    Column("run", "Run"),
    Column("average", "Average"),
    *(number(key, key.capitalize(), 3) for key in ("official", "guessed", "low", "high")),
)
_CURVE = (
    Column("stem", "Stem"),
    number("n", "n"),
    number("threshold", "Threshold", 3),
    number("tau_b", "tau_b", 3),
)


def _settings(key: str, trials: Sequence[SettingRow]) -> Table:
    """The 24 settings, the best F first."""
    stress = frozenset({(0, "f")})
    return Table(key, "The paper's classifier", _SETTINGS, records(trials), emphasis=stress)


def tuning_document(found: NuggetTuning, command: str = "") -> Document:
    """Return the report of the 24 settings and the threshold models."""
    blocks = _settings("rows", found.rows), models_table(found.models, _TRIED)
    return Document(f"Tuning on {found.name}", blocks, command, {}, notes=found.notes)


def evaluation_document(found: NuggetEvaluation, command: str = "") -> Document:
    """Return the report of classifiers and baselines side by side, with charts."""
    curves = Curves(
        "tau_b against the threshold",
        "threshold of the paper's classifier",
        "tau_b of runs",
        [Curve(name, [Knot(*point) for point in points]) for name, points in found.found.curves],
        caption="One threshold for all nuggets; n-grams of up to 1, 2 and 3 words.",
    )
    blocks = (
        Table("rows", "Agreement with assessors", _ROWS, records(found.rows)),
        Table("scores", "Official F", _SCORES, records(found.scores), group="average"),
        Table("judgements", "Decisions", JUDGED, records(found.judgements)),
        _settings("settings", found.trials),
        models_table(found.models, _TRIED),
        chart_figure(_scatter(found)),
        chart_figure(_f_scatter(found)),
        chart_figure(curves),
        chart_figure(_six_curves(found)),
        Table("swaps", "Rank swaps", SWAPPED, records(found.swaps), readers="programs"),
        Table("runs", "F of runs", _RUNS, records(found.run_scores), readers="programs"),
        Table("curve", "Thresholds", _CURVE, records(found.curve), readers="programs"),
    )
    title = f"Nugget scores against assessors: {found.name}"
    return Document(title, blocks, command, {}, notes=found.notes)


def _scatter(found: NuggetEvaluation) -> Scatter:
    return Scatter(
        "Official and guessed scores",
        "official A",
        "guessed A",
        [Point(one.official, one.guessed, one.run, "", one.low, one.high) for one in found.runs],
        line=Line(1.0, 0.0),
        note=f"tau_b {found.rows[0].tau_b:.3f}",
        caption=_caption(found.outside),
    )


def _caption(outside: tuple[int, int] | None) -> str:
    """Return the caption of a scatter plot of runs, given how many scores lie outside the bars."""
    points = (
        "One point a run, guessed by the calibrated classifier; the line is where both are equal."
    )
    if outside is None:
        return points
    missed, known = outside
    return (
        f"{points} Bars: 95% intervals, from the errors on the other runs; the official score of "
        f"{missed} of {known} runs lies outside."
    )


def _f_scatter(found: NuggetEvaluation) -> Scatter:
    """The paper's Figure 5: micro F."""
    rows = [row for row in found.run_scores if row.average == "micro"]
    return Scatter(
        "Official and guessed F",
        "official F, micro",
        "guessed F, micro",
        [Point(row.official, row.guessed, row.run, "", row.low, row.high) for row in rows],
        line=Line(1.0, 0.0),
        caption=_caption(found.f_outside),
    )


def _six_curves(found: NuggetEvaluation) -> Curves:
    """The paper's Figure 6."""
    kinds = dict.fromkeys((row.stem, row.n) for row in found.curve)
    return Curves(
        "tau_b of official F against the threshold",
        "threshold of the paper's classifier",
        "tau_b of runs' F, micro",
        [
            Curve(
                f"n={n} stem={stem}",
                [Knot(row.threshold, row.tau_b) for row in found.curve if row[:2] == (stem, n)],
            )
            for stem, n in kinds
        ],
        caption="One threshold for all nuggets; idf and all words, n-grams of up to n words.",
    )
