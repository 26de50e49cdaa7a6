"""What a report of scores says about the classifier that guessed, and about the other one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.nuggets.report.evaluation import AGREEMENT, about_idf, models_table
from karat.nuggets.report.scores import run_row
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.guess.guesses import GuessRule, Nuggeteer
    from karat.nuggets.guess.model_labels import ModelJudge
    from karat.nuggets.intervals.intervals import Errors
    from karat.nuggets.results.scoring import Scored, Scoring

_TITLES = {"calibrated": "calibrated", "paper": "the paper's"}
_NAMES = _TITLES | {"calibrated": "the calibrated"}
_CLASSIFIERS = (
    Column("classifier", "Classifier"),
    Column("guesses", "Guesses", help="Whether it decided what nobody has judged."),
    *AGREEMENT,
    Column(
        "covered",
        "Inside",
        3,
        align="right",
        help="Share of judged runs whose A lies in the 95% interval from the errors on the others.",
    ),
)
_BOTH = (
    Column("run", "Run"),
    Column("classifier", "Classifier"),
    Column("micro", "F micro", 3, align="right"),
    Column("macro", "F macro", 3, align="right"),
    Column("f_low", "F low", 3, align="right"),
    Column("f_high", "F high", 3, align="right"),
    Column("A", "A", 3, align="right"),
    Column("low", "Low", 3, align="right"),
    Column("high", "High", 3, align="right"),
    Column("V", "V", 3, align="right"),
    Column("W", "W", 3, align="right"),
)


def with_classifiers(document: Document, scoring: Scoring, rule: GuessRule) -> Document:
    """The report of scores, with what is to be said about guesses, if there are any."""
    if (found := scoring.guesses) is None:
        return document
    tables: list[Table] = []
    scored = scoring.scored
    if found.beside is not None and scoring.beside is not None:
        both = ((found, scored), (found.beside, scoring.beside))
        tables = [*_agreement(found), _side_by_side(both)]
    paper = found.paper or (found.beside.paper if found.beside else None)
    if paper is not None and paper.models:
        tables.append(models_table(paper.models))
    notes = (*document.notes, *about_guesses(scoring, rule))
    first, *rest = document.blocks
    return replace(document, blocks=(first, *tables, *rest), notes=notes)


def _agreement(found: Nuggeteer) -> list[Table]:
    """How both agree with assessors, if that could be measured."""
    rows: list[Row] = [
        {
            "classifier": _TITLES[one.classifier],
            "guesses": "yes" if one is found else "no",
            **one.agreement._asdict(),
            "covered": one.covered,
        }
        for one in (found, found.beside)
        if one is not None and one.agreement is not None
    ]
    title = "Classifiers, on judged runs that they had not seen"
    return [Table("classifiers", title, _CLASSIFIERS, rows)] if rows else []


def _side_by_side(both: Sequence[tuple[Nuggeteer, Sequence[Scored]]]) -> Table:
    """Every run as each classifier has it scored."""
    rows: list[Row] = [
        {**run_row(one), "classifier": _TITLES[found.classifier]}
        for pair in zip(*(some for _, some in both), strict=True)
        for (found, _), one in zip(both, pair, strict=True)
    ]
    return Table("side_by_side", "Both classifiers side by side", _BOTH, rows, group="run")


def about_guesses(scoring: Scoring, rule: GuessRule) -> list[str]:
    """What the guesses rest on: the classifier and its intervals, who won, where idf is from."""
    if (found := scoring.guesses) is None:
        return []
    guesses = _paper(found, rule) if found.classifier == "paper" else _calibrated(found)
    told = [f"{guesses} {_intervals(found, scoring)}"]
    if rule.classifier == "auto":
        told.append(_contest(found))
    told += [_model(one) for one in found.heard.models] if found.heard else []
    if rule.classifier != "calibrated" or rule.idf.name != "pooled":
        told.append(about_idf(rule.idf))
    return told


def _model(judge: ModelJudge) -> str:
    """Say how a model agrees with people, and whether guesses use its labels."""
    from karat.nuggets.guess.model_labels import FEWEST, FEWEST_OF_A_KIND

    name, beside = judge.name or "the model without a name", judge.agreement
    if not judge.used:
        return (
            f"Guesses do not use the labels of {name}: people judged {beside.units:,} of its "
            f"{judge.labels:,} pairs, too few to tell how wrong it is (it takes {FEWEST}, "
            f"{FEWEST_OF_A_KIND} of them carried and {FEWEST_OF_A_KIND} not)."
        )
    return (
        f"Guesses use the {judge.labels:,} labels of {name}, which agrees with people on "
        f"{100 * beside.equal:.0f}% of {beside.units:,} pairs (kappa {beside.value:.2f})."
    )


def _intervals(found: Nuggeteer, scoring: Scoring) -> str:
    """What the ends of intervals are, if there are any."""
    from karat.nuggets.guess.guesses import few_runs

    if found.classifier == "paper" and not any(one.intervals for one in scoring.scored):
        return "It has no intervals: two runs, judged on two questions, would tell how wrong it is."
    which = "questions like these" if scoring.general else "these questions"
    ends = f"Low and high: 95% intervals of A and of F macro on {which}"
    errors = found.errors(scoring.how).share
    if found.classifier == "calibrated" and few_runs(errors):
        return f"{ends}. {_base_rate(found, errors)}"
    return f"{ends}, from its errors on judged runs it had not seen."


def _base_rate(found: Nuggeteer, errors: Errors | None) -> str:
    """Explain intervals that do not come from measured errors alone."""
    judged = int((found.labels >= 0).sum())
    if not judged:
        return (
            "They come without judgements, so they allow for an unknown base rate of carried "
            "nuggets: this set may differ from those that the classifier learned from as much as "
            "one question from another. Judgements on a few questions make them narrower."
        )
    if errors is None:
        return (
            "There are too few judgements to measure its errors, so they allow for an uncertain "
            "base rate of carried nuggets, which is learned from the "
            f"{judged:,} judged pair{'s' * (judged != 1)}."
        )
    return (
        f"Its errors were measured on {errors.runs} judged runs alone; where it is narrower, the "
        "interval is one that allows for an unknown base rate of carried nuggets."
    )


def _calibrated(found: Nuggeteer) -> str:
    if found.learned:
        return f"Guesses: a calibrated classifier that learned from {found.learned:,} judged pairs."
    judged, yes = int((found.labels >= 0).sum()), int((found.labels > 0).sum())
    return (
        "Guesses: the built-in classifier, for lack of judgements to learn from (it takes 100 "
        f"judged pairs, 20 of them carried and 20 not; there are {judged}, {yes} and "
        f"{judged - yes})."
    )


def _paper(found: Nuggeteer, rule: GuessRule) -> str:
    return f"Guesses: the paper's classifier, {rule.paper}; {_thresholds(found, rule)}."


def _thresholds(found: Nuggeteer, rule: GuessRule) -> str:
    from karat.nuggets.guess.paper.thresholds import BEST_F, MODELS

    if rule.paper.threshold is not None:
        return f"threshold {rule.paper.threshold:g}, as given"
    model = found.paper.thresholds.model if found.paper else BEST_F
    name = MODELS.get(model, "the threshold with the best F")
    why = ", the likeliest model" if rule.paper.thresholds == "auto" else ""
    return f"{name}{why}, learned from {found.learned:,} judged pairs"


def _contest(found: Nuggeteer) -> str:
    """Who won, and by what."""
    other = found.beside
    if other is None or found.agreement is None or other.agreement is None:
        return "auto: there are too few judgements of different runs for a contest of classifiers."
    mine, theirs = found.agreement.f, other.agreement.f
    chosen = "so the former guesses" if mine > theirs else "they are equal, and the former guesses"
    return (
        f"auto: on judged runs that it had not seen, {_NAMES[found.classifier]} classifier has F "
        f"{mine:.3f}, {_NAMES[other.classifier]} {theirs:.3f}; {chosen}."
    )
