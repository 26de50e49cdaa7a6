"""The reports of `nuggets tune` and `nuggets evaluate`: classifiers against assessors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Curve, Curves, Knot, Line, Point, Scatter
from karat.report.model.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.guess.agreement import Agreement
    from karat.nuggets.guess.evaluation import Baseline, Evaluation
    from karat.nuggets.guess.paper.thresholds import Model
    from karat.nuggets.guess.paper.tuning import ModelTrial, Trial, Tuning
    from karat.nuggets.scores.idf_sources import IdfSource

AGREEMENT = (
    Column("precision", "P", 3, align="right", help="Of decisions, against assessors."),
    Column("recall", "R", 3, align="right", help="Of decisions, against assessors."),
    Column("f", "F", 3, align="right", help="Of decisions, against assessors."),
    Column("tau_b", "tau_b", 3, align="right", help="Kendall's tau-b of runs' scores."),
    Column("r_squared", "R^2", 3, align="right", help="Of runs' scores."),
    Column("rmse", "RMSE", 3, align="right", help="Of runs' scores."),
)
_SETTINGS = (
    Column("stem", "Stem"),
    Column("n", "n", align="right", help="The longest n-grams."),
    Column("weight", "Weight"),
    Column("stop", "Stop"),
    *AGREEMENT,
    Column("threshold", "Threshold", 3, align="right", help="The best on all judged pairs."),
)
_MODELS = (
    Column("model", "Model"),
    Column("name", "Name", readers="people"),
    Column("log10", "log10 P(Data|Model)", 1, align="right"),
)
_TRIED = (_MODELS[0], _MODELS[-1], *AGREEMENT)
_ROWS = (Column("what", "What"), *AGREEMENT)
_BY = {
    "system": "each run in turn was left out; others' judgements on the same nuggets are known, "
    "which lowers the error and ranks a run by how much it resembles the others",
    "institution": "all runs of one house were left out together",
    "question": "each question in turn was left out: nothing was known of its nuggets",
}


def _numbers(found: Agreement) -> dict[str, Cell]:
    return dict(found._asdict())


def settings_table(trials: Sequence[Trial]) -> Table:
    """The 24 settings, the best F first."""
    ordered = sorted(trials, key=lambda trial: -trial.agreement.f)
    rows: list[Row] = [
        {
            "stem": trial.classifier.stem,
            "n": trial.classifier.n,
            "weight": trial.classifier.weight,
            "stop": trial.classifier.stop,
            **_numbers(trial.agreement),
            "threshold": trial.threshold,
        }
        for trial in ordered
    ]
    stress = frozenset({(0, "f")})
    return Table("settings", "The paper's classifier", _SETTINGS, rows, emphasis=stress)


def models_table(models: Sequence[Model]) -> Table:
    """The paper's Table 4; the likeliest model is marked."""
    return _models(models, [{} for _ in models], _MODELS)


def tried_models_table(tried: Sequence[ModelTrial]) -> Table:
    """The same with the agreement of each model in cross-validation."""
    more = [_numbers(one.agreement) if one.agreement else {} for one in tried]
    return _models([one.model for one in tried], more, _TRIED)


def _models(
    models: Sequence[Model], more: Sequence[dict[str, Cell]], columns: tuple[Column, ...]
) -> Table:
    from karat.nuggets.guess.paper.thresholds import MODELS, likeliest_model

    first = likeliest_model(models)
    rows: list[Row] = [
        {"model": model.name, "name": MODELS[model.name], "log10": model.log10, **numbers}
        for model, numbers in zip(models, more, strict=True)
    ]
    marked = frozenset((k, "log10") for k, model in enumerate(models) if model.name == first)
    return Table("models", "Thresholds, by marginal likelihood", columns, rows, emphasis=marked)


def tune_document(
    name: str, found: Tuning, command: str, *, corrected: bool = False, strict: bool = False
) -> Document:
    """The 24 settings and the threshold models."""
    table = settings_table(found.trials)
    rows = Table("rows", table.title, table.columns, table.rows, emphasis=table.emphasis)
    models = tried_models_table(found.models)
    notes = (
        f"Cross-validated: {_BY[found.by]}.",
        *_houses(found.left_out),
        "Settings: one threshold, with the best F on the other folds, and runs' scores from "
        f"decisions. Threshold models: of {found.how.shown_whole}, and runs' scores from "
        f"probabilities{_NO_OWN if found.by == 'question' else ''}.",
        *_judgements(corrected, strict),
        about_idf(found.idf),
    )
    return Document(f"Tuning on {name}", (rows, models), command, {}, notes=notes)


_CORRECTED = (
    "Official judgements are corrected: a response carries a nugget if an identical one, of any "
    "run, was judged to."
)


def _judgements(corrected: bool, strict: bool) -> list[str]:
    """What official judgements are, where they are not taken as they stand."""
    return [_CORRECTED] * corrected + ["Partial support is none (strict)."] * strict


_NO_OWN = "; nuggets of a question that is left out have only the global threshold"


def about_idf(idf: IdfSource) -> str:
    """Where idf comes from."""
    from karat.nuggets.scores.idf_sources import NAMED, WORDFREQ

    language = f", language {idf.language}" if idf.name == WORDFREQ else ""
    texts = "standard input" if idf.name == "-" else idf.name
    return f"idf: {NAMED.get(idf.name, f'the texts of {texts}')}{language}."


def _houses(left_out: Sequence[Sequence[str]]) -> list[str]:
    """How runs were taken together."""
    several = [f"{', '.join(house)}" for house in left_out if len(house) > 1]
    if not left_out:
        return []
    together = f"; together: {'; '.join(several)}" if several else ""
    return [f"{len(left_out)} institutions{together}."]


def evaluation_document(name: str, found: Evaluation, command: str) -> Document:
    """Classifiers and baselines side by side, and two charts."""
    rows: list[Row] = [
        {"what": "calibrated classifier", **_numbers(found.calibrated.agreement)},
        {
            "what": f"paper's classifier, {found.best.classifier.shown}",
            **_numbers(found.best.agreement),
        },
        *_likeliest(found),
        *_alone(found),
        *({"what": b.name, **_over_runs(b)} for b in found.baselines),
    ]
    return Document(
        f"Nugget scores against assessors: {name}",
        (
            Table("rows", "Agreement with assessors", _ROWS, rows),
            settings_table(found.trials),
            tried_models_table(found.models),
            chart_figure(_scatter(found)),
            chart_figure(_threshold_chart(found)),
        ),
        command,
        {},
        notes=(
            f"Cross-validated: {_BY[found.by]}.",
            f"Chosen by F in this cross-validation: {_chosen(found)}.",
            *_known(found),
            "Pourpre is compared with official F, all others with A, the mean share of nuggets.",
            *_judgements(found.corrected, found.strict),
            about_idf(found.idf),
        ),
    )


def _likeliest(found: Evaluation) -> list[Row]:
    """The paper's classifier with the thresholds that the data favour, if they could be tried."""
    model, agreed = found.likeliest
    if agreed is None:
        return []
    return [{"what": f"the same, threshold model {model.name} (likeliest)", **_numbers(agreed)}]


def _alone(found: Evaluation) -> list[Row]:
    """How classifiers do where nothing is known: decisions alone, no scores of runs."""
    names = "calibrated classifier", "paper's classifier"
    return [
        {
            "what": f"{name}, {_ALONE}",
            "precision": agreed.precision,
            "recall": agreed.recall,
            "f": agreed.f,
        }
        for name, agreed in zip(names, found.alone or (), strict=False)
    ]


_ALONE = "guesses alone"


def _known(found: Evaluation) -> list[str]:
    if found.alone is None:
        return []
    return [
        f"Of {100 * found.known:.1f}% of the pairs an identical response, in another fold, was "
        f"judged, and that judgement counts; {_ALONE} are the others."
    ]


def _chosen(found: Evaluation) -> str:
    """Which classifier has the best F, or which share it."""
    model, likely = found.likeliest
    ways = {"best of 24 settings": found.best.agreement.f}
    if likely is not None:
        ways[f"threshold model {model.name}"] = likely.f
    calibrated, paper = found.calibrated.agreement.f, max(ways.values())
    if calibrated > paper:
        return "the calibrated classifier"
    best = " or ".join(way for way, f in ways.items() if f == paper)
    named = f"the paper's classifier, {best}"
    return named if paper > calibrated else f"none; the calibrated one and {named}, have the same F"


def _over_runs(baseline: Baseline) -> dict[str, Cell]:
    return {
        "tau_b": baseline.tau_b,
        "r_squared": baseline.r_squared,
        "rmse": baseline.rmse,
    }


def _scatter(found: Evaluation) -> Scatter:
    points = []
    for tag, official in found.official.items():
        ends = found.intervals[tag]
        bar = (ends.low, ends.high) if ends else (None, None)
        points.append(Point(official, found.guessed[tag], tag, "", *bar))
    tau = found.calibrated.agreement.tau_b
    return Scatter(
        "Official and guessed scores",
        "official A",
        "guessed A",
        points,
        line=Line(1.0, 0.0),
        note=f"tau_b {tau:.3f}",
        caption="One point a run, guessed by the calibrated classifier; the line is where both are "
        "equal." + _outside(found),
    )


def _outside(found: Evaluation) -> str:
    """What the bars are, and how often they miss."""
    known = [(ends, found.official[tag]) for tag, ends in found.intervals.items() if ends]
    missed = sum(not ends.low <= official <= ends.high for ends, official in known)
    if not known:
        return ""
    return (
        " Bars: 95% intervals, from the errors on the other runs; the official score of "
        f"{missed} of {len(known)} runs lies outside."
    )


def _threshold_chart(found: Evaluation) -> Curves:
    curves = [
        Curve(name, [Knot(threshold, tau) for threshold, tau in points])
        for name, points in found.curves
    ]
    return Curves(
        "tau_b against the threshold",
        "threshold of the paper's classifier",
        "tau_b of runs",
        curves,
        caption="One threshold for all nuggets; n-grams of up to 1, 2 and 3 words.",
    )
