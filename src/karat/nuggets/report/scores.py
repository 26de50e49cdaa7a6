"""The report of `nuggets score`: what runs are worth, and the classifiers that guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from karat.report.charts.figures import intervals_figure
from karat.report.charts.models import Interval
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.results.agreements import ModelRow
    from karat.nuggets.results.scoring import NuggetScoring, RunRow

number = partial(Column, align="right")
"""A column of numbers."""

AGREEMENT = (
    number("precision", "P", 3, help="Of decisions, against assessors."),
    number("recall", "R", 3, help="Of decisions, against assessors."),
    number("f", "F", 3, help="Of decisions, against assessors."),
    number("tau_b", "tau_b", 3, help="Kendall's tau-b of runs' scores."),
    number("r_squared", "R^2", 3, help="Of runs' scores."),
    number("rmse", "RMSE", 3, help="Of runs' scores."),
)
MODELS = (
    Column("model", "Model"),
    Column("name", "Name", readers="people"),
    number("log10", "log10 P(Data|Model)", 1),
)
SHARES = (
    number("A", "A", 3, help="Share of all nuggets, half for partial support."),
    number("low", "Low", 3, help="Lower end of the 95% interval of A."),
    number("high", "High", 3, help="Upper end of the 95% interval of A."),
    number("V", "V", 3, help="The same of vital nuggets."),
    number("W", "W", 3, help="The same, okay nuggets weighing half."),
)
_STRICT = "Partial support does not count."
_RUNS = (
    Column("run", "Run"),
    number("micro", "F micro", 3, help="F of sums over questions."),
    number("macro", "F macro", 3, help="Mean of F over questions."),
    number("f_low", "F low", 3, help="Lower end of the 95% interval of F macro."),
    number("f_high", "F high", 3, help="Upper end of the 95% interval of F macro."),
    number("micro_low", "F micro low", 3, readers="programs"),
    number("micro_high", "F micro high", 3, readers="programs"),
    number("recall", "Recall", 3, help="Mean over questions."),
    number("precision", "Precision", 3, help="Mean over answers that have one."),
    *SHARES,
    *(number(f"{key}_strict", f"{key} strict", 3, help=_STRICT) for key in "AVW"),
    number("questions", "Questions", readers="programs"),
    number("known", "Known", 3, help="Share of decisions that were judged."),
    number("guessed", "Guessed", 3, help="Share of decisions that are guesses."),
    number("undecided", "Open", 3, help="Share that nothing decides: no credit."),
)
_PAIRS = ("responses", "judged", "undecided")
_QUESTIONS = (
    Column("run", "Run"),
    Column("question", "Question"),
    *(number(key, key.capitalize(), 3) for key in ("f", "recall", "precision")),
    number("vital_returned", "Vital", help="Vital nuggets returned."),
    number("vital", "of", help="Vital nuggets in the key."),
    number("okay_returned", "Okay", help="Okay nuggets returned."),
    number("okay", "of", help="Okay nuggets in the key."),
    number("length", "Length", help="Characters, white space not counted."),
    number("allowance", "Allowance", 0, help="100 for every nugget returned."),
    *(number(key, key, 3, readers="programs") for key in "AVW"),
    *(number(key, key.capitalize(), readers="programs") for key in _PAIRS),
)
_NUGGETS = (
    Column("heading", "Question", readers="people"),
    Column("run", "Run", readers="programs"),
    Column("question", "Question", readers="programs"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance"),
    number("support", "Support", 1, help="1, 0.5 in part, 0; none if undecided."),
    Column("by", "By", help="What decided: a judgement or a guess."),
    number("response", "Response", help="The first that carries it, from 1."),
    Column("evidence", "Evidence", wrap=True, help="Words of that response that speak for it."),
    Column("description", "Description", wrap=True),
)
_POURPRE = (
    Column("run", "Run"),
    number("count_micro", "Count micro", 3, help="Every word weighs 1."),
    number("count_macro", "Count macro", 3, help="Every word weighs 1."),
    number("idf_micro", "idf micro", 3, help="Words weigh their idf."),
    number("idf_macro", "idf macro", 3, help="Words weigh their idf."),
)
_INSIDE = "Share of judged runs whose A lies in the 95% interval from the errors on the others."
_CLASSIFIERS = (
    Column("classifier", "Classifier"),
    Column("guesses", "Guesses", help="Whether it decided what nobody has judged."),
    *AGREEMENT,
    number("covered", "Inside", 3, help=_INSIDE),
)
_ENDS = {"f_low", "f_high", "low", "high"}
_BOTH = (
    _RUNS[0],
    _CLASSIFIERS[0],
    *(replace(c, help="") for c in _RUNS if c.key in {*_ENDS, "micro", "macro", "A", "V", "W"}),
)


def records(rows: Sequence[Any]) -> list[Row]:
    """Return flat rows as a table has them."""
    return [row._asdict() for row in rows]


def score_document(found: NuggetScoring, command: str = "") -> Document:
    """Return the report of runs, their answers and, if asked for, every nugget."""
    from karat.nuggets.scores.official import NAME

    seen = "Classifiers, on judged runs that they had not seen"
    both = [{**row._asdict(), "classifier": name} for name, row in found.side_by_side]
    tables = [
        Table("rows", "Runs", without_ends(_RUNS, found.rows), records(found.rows)),
        Table("pourpre", "Pourpre: F by words of descriptions", _POURPRE, records(found.pourpre)),
        Table("classifiers", seen, _CLASSIFIERS, records(found.classifiers)),
        Table("side_by_side", "Both classifiers side by side", _BOTH, both, group="run"),
        models_table(found.models, MODELS),
        Table("questions", "Questions", _QUESTIONS, records(found.questions), group="run"),
    ]
    tables = [table for table in tables if table.rows or table.key in ("rows", "questions")]
    if found.details:
        tables.append(Table("nuggets", "Nuggets", _NUGGETS, _nuggets(found), group="heading"))
    f = (Interval(row.run, row.macro, row.f_low, row.f_high) for row in found.rows)
    chart = intervals_figure("F of runs", "F, macro", f)
    signed = zip(("pourpre-count", "pourpre-idf"), found.by_words, strict=False)
    signatures = {NAME: found.signature, **{name: how.signature for name, (how, _) in signed}}
    title = f"Nuggets of {found.nuggets.name}"
    return Document(title, (tables[0], chart, *tables[1:]), command, signatures, found.notes)


def _nuggets(found: NuggetScoring) -> list[Row]:
    questions = found.nuggets.key.questions.items()
    texts = {id: f"{id}: {question.text}" if question.text else id for id, question in questions}
    return [
        {**row._asdict(), "heading": f"{row.run}, question {texts[row.question]}"}
        for row in found.decisions
    ]


def models_table(models: Sequence[ModelRow], columns: tuple[Column, ...]) -> Table:
    """Return the paper's Table 4; the likeliest model is marked."""
    marked = frozenset((k, "log10") for k, model in enumerate(models) if model.likeliest)
    title = "Thresholds, by marginal likelihood"
    return Table("models", title, columns, records(models), emphasis=marked)


def without_ends(columns: Sequence[Column], rows: Sequence[RunRow]) -> tuple[Column, ...]:
    """Return the columns; people are not shown the ends of intervals if there is none."""
    if any(row.low is not None for row in rows):
        return tuple(columns)
    return tuple(replace(c, readers="programs") if c.key in _ENDS else c for c in columns)
