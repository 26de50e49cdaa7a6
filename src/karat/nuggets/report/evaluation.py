"""The reports of `nuggets tune` and `nuggets evaluate`: classifiers against assessors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from karat.arithmetic import SLACK
from karat.nuggets.report.scores import AGREEMENT, DIGITS, MODELS, difference_row, models_table
from karat.nuggets.results.evaluation import runs_outside
from karat.nuggets.results.notes import percentage
from karat.report.charts.models import (
    ChartLine,
    ChartRow,
    Point,
    RowChart,
    XYChart,
    chart_figure,
    intervals_figure,
)
from karat.report.model import (
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    format_count,
    format_interval,
    format_signed,
)
from karat.results import Column, number

if TYPE_CHECKING:
    from karat.nuggets.results.agreement import NuggetAgreement
    from karat.nuggets.results.evaluation import Contest, NuggetEvaluation
    from karat.nuggets.results.tuning import NuggetTuning, SettingRow


CALIBRATED, PAPER = "the calibrated classifier", "the paper's classifier"
_LEFT = {"system": "run", "institution": "institution", "question": "question"}
"""Name of the unit that is left out."""


def evaluation_answer(evaluation: NuggetEvaluation) -> tuple[str, ...]:
    """Return which classifier agrees best with assessors, and how well both rank runs."""
    contest = evaluation.contest
    taus = {CALIBRATED: contest.calibrated_tau, PAPER: contest.paper_tau}
    ranks = [f"{name} {tau_b:.2f}" for name, tau_b in taus.items() if not isnan(tau_b)]
    ranking = f"Rank correlation of run scores with assessors (tau-b): {', '.join(ranks)}."
    return (_contest(contest), *([ranking] if len(evaluation.runs) > 2 and ranks else []))


def _contest(contest: Contest) -> str:
    """State which classifier agrees better with assessors, and whether that is decided."""
    scores = [
        (CALIBRATED, f"{contest.calibrated:.{DIGITS}f}"),
        (PAPER, f"{contest.paper:.{DIGITS}f}"),
    ]
    if contest.difference == 0:
        return f"Both classifiers agree equally well with assessors: F {scores[1][1]}."
    sign = 1 if contest.difference > 0 else -1
    (first, first_f), (second, second_f) = scores[::sign]
    difference = format_signed(sign * contest.difference, DIGITS)
    if contest.low is not None and contest.high is not None:
        low, high = sorted((sign * contest.low, sign * contest.high))
        difference += f" {format_interval(low, high, DIGITS)}"
    if contest.is_decided:
        return (
            f"{first.capitalize()} agrees better with assessors: F {first_f}, {second} "
            f"{second_f}; the difference ({difference}) is decided."
        )
    return (
        f"It is undecided which classifier agrees better with assessors: F of {first} {first_f}, "
        f"of {second} {second_f}, difference {difference}."
    )


def evaluation_basis(evaluation: NuggetEvaluation) -> str:
    """Return the basis of the answer: the cross-validation and the interval."""
    pool, model = evaluation.tuning.cells.pool, evaluation.contest.paper_model
    form = "" if model is None else f" and the threshold model {model}"
    return (
        f"{format_count(len(pool.questions), 'question')}, "
        f"{format_count(len(pool.runs), 'judged run')}; "
        f"cross-validated, one {_LEFT[evaluation.tuning.by]} left out at a time. The paper's "
        f"classifier has its best setting{form}, chosen by this F. A difference is "
        "decided where its 95% interval (jackknife over questions) excludes zero."
    )


def tuning_answer(tuning: NuggetTuning) -> tuple[str, ...]:
    """Return the best setting and the likeliest threshold model."""
    best = tuning.rows[0]
    setting = f"n={best.n}, weight={best.weight}, stem={best.stem}, stop={best.stop}"
    n_equal = sum(row.f == best.f for row in tuning.rows) - 1
    shared = f" ({format_count(n_equal, 'other setting')} with the same F)" if n_equal else ""
    sentences = [
        f"The best of {len(tuning.rows)} settings is {setting}: F {best.f:.{DIGITS}f}{shared}."
    ]
    if n_equal == len(tuning.rows) - 1:
        sentences = [f"All {len(tuning.rows)} settings have the same F, {best.f:.{DIGITS}f}."]
    likely = next((model for model in tuning.models if model.likeliest), None)
    if likely is not None:
        f = f", F {likely.f:.{DIGITS}f}" if likely.f is not None else ""
        sentences.append(f"The likeliest threshold model is {likely.model} ({likely.name}{f}).")
        coin = next((model for model in tuning.models if model.model == "coin"), None)
        if coin is not None and coin.log10 >= likely.log10:
            sentences.append(
                "A coin is at least as likely: thresholds explain none of the judgements."
            )
    return tuple(sentences)


def tuning_basis(tuning: NuggetTuning) -> str:
    """Return how the settings were cross-validated."""
    return (
        f"Cross-validated, one {_LEFT[tuning.tuning.by]} left out at a time. The F of the best of "
        f"{len(tuning.rows)} settings is optimistic: it was chosen by this F."
    )


def agreement_answer(agreement: NuggetAgreement) -> tuple[str, ...]:
    """Return how far the judgements agree, and whether they rank runs alike."""
    all_runs = agreement.rows[0]
    kappa = "" if all_runs.kappa is None else f", kappa {all_runs.kappa:.2f}"
    f = ""
    if all_runs.f is not None:
        f = f", F {all_runs.f:.{DIGITS}f}"
        if all_runs.f_low is not None and all_runs.f_high is not None:
            f += f" {format_interval(all_runs.f_low, all_runs.f_high, DIGITS)}"
    sentence = (
        f"Both judgements agree on whether a response carries a nugget on "
        f"{percentage(all_runs.equal, 1)} of {format_count(all_runs.pairs, 'pair')}{kappa}{f}."
    )
    return (sentence, *_order(agreement))


def _order(agreement: NuggetAgreement) -> list[str]:
    score = next((row for row in agreement.scores if row.average == "macro"), None)
    if score is None or not score.pairs:
        return []
    if not score.swaps:
        if score.tau_b >= 1 - SLACK:
            return ["They order the runs by F in the same way."]
        return ["By F they order no pair of runs the other way round, but tie different pairs."]
    of = format_count(score.pairs, "pair")
    return [f"By F they order {score.swaps:,} of {of} of runs the other way round."]


_SETTINGS = (
    Column("stem", "Stem", help="Stemmer."),
    number("n", "n", help="Length of the longest n-grams, in words."),
    Column("weight", "Weight", help="Weight of an n-gram: the sum of idf, or 1."),
    Column("stop", "Stop", help="List of stop words that are left out."),
    *AGREEMENT,
    number("threshold", "Threshold", 3, help="Threshold with the best F on all judged pairs."),
)
_TRIED = (MODELS[0], MODELS[-1], *AGREEMENT)
MAX_DRAWN = 8
"""Number of settings that are drawn."""
_METHOD = Column("what", "Method", field="method")
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
    """Return a table of the 24 settings, the best F first."""
    stress = frozenset({(0, "f")})
    return Table(key, "The paper's classifier", _SETTINGS, trials, emphasis=stress)


def tuning_document(tuning: NuggetTuning) -> Document:
    """Return the report of the 24 settings and the threshold models."""
    models = models_table(tuning.models, _TRIED)
    best = [
        ChartRow(f"n={row.n} {row.weight}, stem {row.stem}, stop {row.stop}", row.f)
        for row in tuning.rows[:MAX_DRAWN]
    ]
    blocks: tuple[Block, ...] = (
        intervals_figure(f"The {len(best)} best settings", "F of decisions", best),
        replace(_settings("rows", tuning.rows), open=True),
        replace(models, open=True),
    )
    answer, basis = tuning_answer(tuning), tuning_basis(tuning)
    return Document(f"Tuning on {tuning.name}", blocks, answer=answer, basis=basis)


def evaluation_document(evaluation: NuggetEvaluation) -> Document:
    """Return the report of classifiers and baselines side by side, with charts."""
    best = evaluation.tuning.best.classifier
    micro = [row for row in evaluation.run_scores if row.average == "micro"]
    blocks: tuple[Block, ...] = (
        *_decisions(evaluation),
        Table("rows", "Agreement with assessors", _ROWS, evaluation.rows, open=True),
        _run_scatter(
            "Official and guessed scores",
            ("official A", "guessed A"),
            [Point(r.official, r.guessed, r.run, "", r.low, r.high) for r in evaluation.runs],
            _caption(runs_outside(evaluation.runs)),
            f"tau_b {evaluation.rows[0].tau_b:.3f}",
        ),
        _run_scatter(  # the paper's Figure 5
            "Official and guessed F",
            ("official F, micro", "guessed F, micro"),
            [Point(row.official, row.guessed, row.run, "", row.low, row.high) for row in micro],
            _caption(runs_outside(micro)),
        ),
        _threshold_curves(
            "tau_b against the threshold",
            "tau_b of runs",
            [
                (replace(best, n=row.n).summary, row.threshold, row.tau_b)
                for row in evaluation.share_curves
            ],
            "One threshold for all nuggets; n-grams of up to 1, 2 and 3 words.",
        ),
        _threshold_curves(
            "tau_b of official F against the threshold",
            "tau_b of runs' F, micro",
            [  # the paper's Figure 6
                (f"n={row.n} stem={row.stem}", row.threshold, row.tau_b) for row in evaluation.curve
            ],
            "One threshold for all nuggets; idf and all words, n-grams of up to n words.",
        ),
        Table("scores", "Official F", _SCORES, evaluation.scores, group="average"),
        Table("judgements", "Decisions", JUDGED, evaluation.judgements),
        _settings("settings", evaluation.trials),
        models_table(evaluation.models, _TRIED),
        Table("swaps", "Rank swaps", SWAPPED, evaluation.swaps, readers="programs"),
        Table("runs", "F of runs", _RUNS, evaluation.run_scores, readers="programs"),
        Table("curve", "Thresholds", _CURVE, evaluation.curve, readers="programs"),
    )
    title = f"Nugget scores against assessors: {evaluation.name}"
    answer, basis = evaluation_answer(evaluation), evaluation_basis(evaluation)
    return Document(title, blocks, answer=answer, basis=basis)


def _decisions(evaluation: NuggetEvaluation) -> list[Gallery]:
    """Return a chart of F of each classifier's decisions minus F of the calibrated one."""
    base, *compared = evaluation.judgements
    rows = []
    for row in compared:
        if row.difference is not None and row.difference_low is not None:
            ends = row.difference_low, row.difference_high
            rows.append(difference_row(row.method, row.difference, *ends, row.verdict))
    if not rows:
        return []
    title = "Agreement of decisions with assessors"
    caption = (
        f"F minus that of the calibrated classifier ({base.f:.3f}). Dots: differences; lines: 95% "
        "intervals. Filled: decided."
    )
    chart = RowChart(title, base.method, rows, "difference")
    return [Gallery(title, (Figure("Differences from the calibrated", chart),), caption)]


def _run_scatter(
    title: str, axes: tuple[str, str], points: Sequence[Point], caption: str, note: str = ""
) -> Figure:
    """Return a chart with one point for each run and the diagonal."""
    diagonal = ChartLine(1.0, 0.0)
    return chart_figure(XYChart(title, *axes, points, diagonal, note, caption))


def _caption(outside: tuple[int, int] | None) -> str:
    """Return the caption of a scatter plot of runs, given how many scores lie outside the bars."""
    points = (
        "One point for each run, guessed by the calibrated classifier; on the line both are equal."
    )
    if outside is None:
        return points
    missed, n_intervals = outside
    return (
        f"{points} Bars: 95% intervals, from the errors on the other runs. The official scores of "
        f"{missed} of {n_intervals} runs lie outside."
    )


def _threshold_curves(
    title: str, y_axis: str, places: Iterable[tuple[str, float, float]], caption: str
) -> Figure:
    points = [Point(x, y, "", name) for name, x, y in places]
    x_axis = "threshold of the paper's classifier"
    return chart_figure(XYChart(title, x_axis, y_axis, points, caption=caption, kind="curves"))


_PARTS = (("precision", "P", "Precision"), ("recall", "R", "Recall"), ("f", "F", "F"))
_LOW = "Lower end of the 95% interval of {}."
_HIGH = "Upper end of the 95% interval of {}."
_AGREEMENT_ROWS = (
    Column("run", "Run"),
    number("pairs", "Pairs", help="Pairs of response and nugget judged in both sets."),
    *(
        column
        for key, title, subject in _PARTS
        for column in (
            number(key, title, 3, help=f"{subject} of the other judgements.", detail=key != "f"),
            number(f"{key}_low", f"{title} low", 3, help=_LOW.format(title), detail=key != "f"),
            number(f"{key}_high", f"{title} high", 3, help=_HIGH.format(title), detail=key != "f"),
        )
    ),
    number("equal", "Equal", 3, help="Share of pairs with the same judgement in both."),
    number("kappa", "Kappa", 3, help="Cohen's kappa: agreement beyond chance."),
)
_AGREEMENT_RUNS = (
    Column("average", "Average"),
    Column("run", "Run"),
    number("official", "Official F", 3, help="F of the run by the official judgements."),
    number("other", "Other F", 3, help="F of the run by the other judgements."),
    number("difference", "Difference", 3, signed=True, help="Other F minus official F."),
    number("low", "From", 3, signed=True, help="Lower end of the difference's 95% interval."),
    number("high", "To", 3, signed=True, help="Upper end of the difference's 95% interval."),
)
_AGREEMENT_SCORES = (Column("average", "Average"), *AGREEMENT[3:], *SWAPS)


def agreement_document(agreement: NuggetAgreement) -> Document:
    """Return the report of agreement on pairs, and of the change of run scores."""
    scores = Table("scores", "Agreement of scores", _AGREEMENT_SCORES, agreement.scores)
    micro = [row for row in agreement.runs if row.average == "micro"]
    blocks: tuple[Table | Figure, ...] = (
        _run_scatter(
            "F from both judgements",
            ("official F, micro", "other F, micro"),
            [Point(row.official, row.other, row.run) for row in micro],
            "One point for each run; on the line both are equal.",
        ),
        Table("rows", "Judgements", _AGREEMENT_ROWS, agreement.rows, open=True),
        Table("runs", "Scores of runs", _AGREEMENT_RUNS, agreement.runs, group="average"),
        *([scores] if agreement.scores else []),
        Table("swaps", "Rank swaps", SWAPPED, agreement.swaps, readers="programs"),
    )
    title = f"Judgements against judgements: {agreement.name}"
    precision, pairs, *notes = agreement.notes
    answer = agreement_answer(agreement)
    return Document(title, blocks, notes=(precision, *notes), answer=answer, basis=pairs)
