"""The reports of `nuggets tune` and `nuggets evaluate`: classifiers against assessors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.nuggets.report.agreement_answers import (
    evaluation_answer,
    evaluation_basis,
    tuning_answer,
    tuning_basis,
)
from karat.nuggets.report.scores import AGREEMENT, MODELS, models_table, number, records
from karat.report.charts.models import (
    Change,
    Curve,
    Curves,
    Forest,
    Interval,
    Knot,
    Line,
    Point,
    Scatter,
    chart_figure,
    intervals_figure,
)
from karat.report.model import Block, Column, Document, Figure, Gallery, Table, signed

if TYPE_CHECKING:
    from karat.nuggets.guess.agreement import JudgementAgreement
    from karat.nuggets.results.agreements import SettingRow
    from karat.nuggets.results.evaluation import NuggetEvaluation, NuggetTuning

_SETTINGS = (
    Column("stem", "Stem", help="Stemmer."),
    number("n", "n", help="Length of the longest n-grams, in words."),
    Column("weight", "Weight", help="Weight of an n-gram: the sum of idf, or 1."),
    Column("stop", "Stop", help="List of stop words that are left out."),
    *AGREEMENT,
    number("threshold", "Threshold", 3, help="Threshold with the best F on all judged pairs."),
)
_TRIED = (MODELS[0], MODELS[-1], *AGREEMENT)
MOST_DRAWN = 8
"""Settings that are drawn."""
_METHOD = Column("what", "Method")
_AVERAGE = Column("average", "Average", help="micro: F of sums over questions; macro: mean of F.")
_ROWS = (_METHOD, *AGREEMENT)
SWAPS = (
    number("swaps", "Swaps", help="Pairs of runs in another order than by official F."),
    number("pairs", "of", help="Pairs of runs with different official F."),
    number("swap_median", "Median", 3, help="Median official difference of swapped runs."),
    number("swap_largest", "Largest", 3, help="Largest official difference of swapped runs."),
    number("swaps_far", "≥ 0.1", help="Swaps of runs that differ by 0.1 or more."),
)
_SCORES = (
    _AVERAGE,
    _METHOD,
    number("threshold", "Threshold", 3, help="Chosen in hindsight, by the best tau_b here."),
    *AGREEMENT[3:],
    *(replace(column, detail=column.key.startswith("swap_")) for column in SWAPS),
)
SWAPPED = (
    _METHOD,
    _AVERAGE,
    Column("better", "Higher run", help="The run with the higher official score."),
    Column("worse", "Lower run", help="The run with the lower official score."),
    number("official", "Official", 3, help="Difference of their official scores."),
    number("guessed", "Guessed", 3, signed=True, help="Difference of their guessed scores."),
)
_FROM = "Lower end of the difference's 95% interval, over questions."
_TO = "Upper end of the difference's 95% interval, over questions."
JUDGED = (
    _METHOD,
    *AGREEMENT[:3],
    number("low", "F low", 3, help="Lower end of the 95% interval of F, over questions."),
    number("high", "F high", 3, help="Upper end of the 95% interval of F, over questions."),
    number("difference", "Difference", 3, help="F minus that of the calibrated.", signed=True),
    number("difference_low", "From", 3, help=_FROM, signed=True),
    number("difference_high", "To", 3, help=_TO, signed=True),
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
    models = models_table(found.models, _TRIED)
    best = [
        Interval(f"n={row.n} {row.weight}, stem {row.stem}, stop {row.stop}", row.f)
        for row in found.rows[:MOST_DRAWN]
    ]
    blocks: tuple[Block, ...] = (
        intervals_figure(f"The {len(best)} best settings", "F of decisions", best),
        replace(_settings("rows", found.rows), open=True),
        replace(models, open=True),
    )
    told = tuning_answer(found), tuning_basis(found)
    return Document(f"Tuning on {found.name}", blocks, command, {}, found.notes, {}, *told)


def evaluation_document(found: NuggetEvaluation, command: str = "") -> Document:
    """Return the report of classifiers and baselines side by side, with charts."""
    curves = Curves(
        "tau_b against the threshold",
        "threshold of the paper's classifier",
        "tau_b of runs",
        [Curve(name, [Knot(*point) for point in points]) for name, points in found.found.curves],
        caption="One threshold for all nuggets; n-grams of up to 1, 2 and 3 words.",
    )
    blocks: tuple[Block, ...] = (
        *_decisions(found),
        Table("rows", "Agreement with assessors", _ROWS, records(found.rows), open=True),
        chart_figure(_scatter(found)),
        chart_figure(_f_scatter(found)),
        chart_figure(curves),
        chart_figure(_six_curves(found)),
        Table("scores", "Official F", _SCORES, records(found.scores), group="average"),
        Table("judgements", "Decisions", JUDGED, records(found.judgements)),
        _settings("settings", found.trials),
        models_table(found.models, _TRIED),
        Table("swaps", "Rank swaps", SWAPPED, records(found.swaps), readers="programs"),
        Table("runs", "F of runs", _RUNS, records(found.run_scores), readers="programs"),
        Table("curve", "Thresholds", _CURVE, records(found.curve), readers="programs"),
    )
    title = f"Nugget scores against assessors: {found.name}"
    told = evaluation_answer(found), evaluation_basis(found)
    return Document(title, blocks, command, {}, found.notes, {}, *told)


def _decisions(found: NuggetEvaluation) -> list[Gallery]:
    """F of each classifier's decisions, compared with the calibrated one."""
    base, *others = found.judgements
    changes = [_change(row) for row in others if row.difference_low is not None]
    if not changes:
        return []
    title = "Agreement of decisions with assessors"
    caption = (
        f"F minus that of the calibrated classifier ({base.f:.3f}). Dots: differences; lines: 95% "
        "intervals. Filled: decided."
    )
    figure = Figure("Differences from the calibrated", Forest(title, base.what, changes))
    return [Gallery(title, (figure,), caption)]


def _change(row: JudgementAgreement) -> Change:
    value, low, high = (
        float("nan") if x is None else x
        for x in (row.difference, row.difference_low, row.difference_high)
    )
    return Change(row.what, value, low, high, signed(value, 3), row.verdict)


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
        "One point for each run, guessed by the calibrated classifier; on the line both are equal."
    )
    if outside is None:
        return points
    missed, known = outside
    return (
        f"{points} Bars: 95% intervals, from the errors on the other runs. The official scores of "
        f"{missed} of {known} runs lie outside."
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
