"""The report of `nuggets score`: scores of runs, and the classifiers that guessed."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from karat.nuggets.prediction.intervals import UNKNOWN_ERROR
from karat.nuggets.report.matrix import questions_figure
from karat.nuggets.results.notes import percentage
from karat.nuggets.results.scoring import score_name
from karat.report.charts.models import ChartRow, RowChart, intervals_figure
from karat.report.model import (
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    format_count,
    format_interval,
    format_signed,
    join_names,
    sentence_case,
)
from karat.results import Column, LazyRows, number, people_column
from karat.stats.significance import MIN_DECIDING_UNITS, SIGNIFICANCE_LEVEL, UNDECIDED

if TYPE_CHECKING:
    from karat.nuggets.prediction.thresholds import ModelRow
    from karat.nuggets.results.changes import NuggetChanges
    from karat.nuggets.results.scoring import NuggetScoring, RunRow


DIGITS = 3
MAX_NAMED = 3
"""Number of runs that a sentence names; more are counted."""


def score_answer(scoring: NuggetScoring) -> tuple[str, ...]:
    """Return which run leads, and whether its lead is decided."""
    if not scoring.rows or not scoring.nuggets.key.questions:
        return ()
    best, name = scoring.rows[scoring.ranked[0]], score_name(scoring)
    score = _score(best, scoring.scale)
    if any(row.labelled > 0 for row in scoring.rows):
        return _answer_by_labels(scoring, best, score)
    if len(scoring.rows) == 1:
        share = ""
        if scoring.scale == "F" and not isnan(best.V):
            share = f" and carries {percentage(best.V)} of the vital nuggets"
        return (f"{best.run} has {name} {score}{share}.",)
    nearest, *further = scoring.differences
    undecided = [row.run for row in further if row.verdict == UNDECIDED]
    rest = join_names(undecided) if undecided else ""
    if len(undecided) > MAX_NAMED:
        rest = f"{len(undecided):,} other runs"
    if nearest.delta == 0:
        also = f"; the lead of {best.run} over {rest} is not decided" if rest else ""
        return (f"{best.run} and {nearest.run} lead with the same {name}, {score}{also}.",)
    verdict = "is decided" + f"; that over {rest} is not" * bool(rest)
    if nearest.verdict == UNDECIDED:
        verdict = "is not decided" + f", nor is that over {rest}" * bool(rest)
    low, high = nearest.low, nearest.high
    ends = None if low is None or high is None else (-high, -low)
    lead = f"{nearest.run} ({_difference_text(-nearest.delta, ends, nearest.p)})"
    return (f"{best.run} leads: {name} {score}; its lead over {lead} {verdict}.",)


def _answer_by_labels(scoring: NuggetScoring, best: RunRow, score: str) -> tuple[str, ...]:
    """Return the score of the best run by a model's labels, and whether people checked them."""
    checked = scoring.model_labels.checked if scoring.model_labels else 0
    basis = "from a model's labels; no person checked them."
    if checked:
        basis = f"from a model's labels; people checked {checked:,} of them."
    if len(scoring.rows) == 1:
        return (f"{best.run} has {score_name(scoring)} {score}, {basis}",)
    note = " Differences between runs are not tested."
    if all(row.low is not None for row in scoring.differences):
        note = ""
    tied = [row.run for row in scoring.differences if row.delta == 0]
    if tied:
        runs = join_names([best.run, *tied]) if len(tied) < MAX_NAMED else f"{len(tied) + 1:,} runs"
        return (f"{runs} share the highest {score_name(scoring)}, {score}, {basis}{note}",)
    return (f"{best.run} has the highest {score_name(scoring)}, {score}, {basis}{note}",)


def _score(row: RunRow, scale: str) -> str:
    """Return a run's score, with its interval for wrong guesses unless that is a point."""
    value, low, high = (
        (row.macro, row.f_low, row.f_high) if scale == "F" else (row.A, row.low, row.high)
    )
    text = f"{value:.{DIGITS}f}"
    if low is None or high is None or high - low < 10**-DIGITS:
        return text
    return f"{text} {format_interval(low, high, DIGITS)}"


def _difference_text(delta: float, ends: tuple[float, float] | None, p: float | None) -> str:
    """Return a difference as text, with its interval `ends` and p where they are given."""
    interval = f" {format_interval(*ends, DIGITS)}" if ends else ""
    return f"{format_signed(delta, DIGITS)}{interval}{'' if p is None else f', {p_text(p)}'}"


def p_text(p: float) -> str:
    """Return p in running text."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def score_basis(scoring: NuggetScoring) -> str:
    """Return the basis of the answer: questions, guesses, intervals and the test."""
    count = len(scoring.nuggets.key.questions)
    parts = [f"{format_count(count, 'question')}, {format_count(len(scoring.rows), 'run')}."]
    best_rows = [scoring.rows[k] for k in scoring.ranked[:2]]
    parts += _guessed(best_rows) + _labelled(scoring, best_rows)
    if scoring.differences:
        questions = len(scoring.scored[0].by_question(scoring.scale))
        has_interval = [row.low is not None for row in scoring.differences]
        parts += _rules(questions, has_interval, best_rows, scoring.untested_reason)
        count = len(scoring.differences)
        if count > 1 and questions > 1:
            parts.append(f"Each of the {count:,} differences is tested on its own.")
    return " ".join(parts)


def _guessed(rows: Sequence[RunRow]) -> list[str]:
    """Return a sentence on the largest share of guessed nuggets of some runs; empty if it is 0."""
    most = max((row.guessed for row in rows if not isnan(row.guessed)), default=0.0)
    if not most:
        return []
    share = percentage(most)
    if len(rows) > 1 and not share.startswith("under"):
        share = f"up to {most:.0%}"  # an upper bound may be rounded to 100%
    names = join_names([row.run for row in rows])
    return [sentence_case(f"{share} of the nuggets of {names} rest on a classifier's guesses.")]


def _labelled(scoring: NuggetScoring, rows: Sequence[RunRow]) -> list[str]:
    """Return a sentence on the largest share of labelled nuggets; empty if it is 0."""
    most = max((row.labelled for row in rows if not isnan(row.labelled)), default=0.0)
    if not scoring.model_labels or not most:
        return []
    names, share = join_names([row.run for row in rows]), percentage(most)
    if len(rows) > 1 and not share.startswith("under"):
        share = f"up to {most:.0%}"
    labels = f"labels of {scoring.model_labels.name}"
    return [sentence_case(f"{share} of the nuggets of {names} rest on {labels}.")]


def _rules(
    questions: int, has_interval: Sequence[bool], rows: Sequence[RunRow], untested_reason: str
) -> Iterator[str]:
    """Yield the rules by which differences are decided, with and without an interval."""
    if questions < 2:
        yield "One question is too few for a test."
        return
    if any(has_interval):
        has_guesses = any(row.guessed > 0 for row in rows)
        allowance = " and allows for wrong guesses" if has_guesses else ""
        yield (
            f"A difference is decided if p < {SIGNIFICANCE_LEVEL}, that is, if its 95% interval, "
            f"which is over questions{allowance}, excludes zero."
        )
        if questions < MIN_DECIDING_UNITS:
            yield (
                f"{questions:,} questions are too few to decide: at least {MIN_DECIDING_UNITS} are "
                "needed."
            )
    if not all(has_interval) and untested_reason != UNKNOWN_ERROR:
        yield f"A difference that rests on labels is not tested: {untested_reason}."
    elif not all(has_interval):
        yield (
            "A difference that rests on guesses has no interval and no p, and is not decided, if "
            "it is unknown how wrong they may be: this classifier needs at least two runs judged "
            "on two questions."
        )


# ---------------------------------------------------------------------------------- two versions


def changes_answer(changes: NuggetChanges) -> tuple[str, ...]:
    """Return the vital nuggets that a new version lost and gained, and whether F changed."""
    old, new = (row.run for row in changes.scoring.rows)
    counts = {row.change: row for row in changes.counts}
    lost, gained = counts["lost"], counts["gained"]
    if not any((lost.vital, lost.okay, gained.vital, gained.okay)):
        return (f"{new} carries the same nuggets as {old}.",)
    has_vital_changes = any(row.vital for row in changes.counts)
    kind, n_lost, n_gained = (
        ("vital nugget", lost.vital, gained.vital)
        if has_vital_changes
        else ("nugget", lost.okay, gained.okay)
    )
    moved = f"{new} lost {format_count(n_lost, kind)} that {old} carries and gained {n_gained:,}"
    test = next((test for test in changes.tests if test.questions), None)
    if test is None:
        return (f"{moved}.",)
    name = f"F({changes.scoring.official_settings.beta:g})" if test.score == "F" else test.score
    ends = None if test.low is None or test.high is None else (test.low, test.high)
    change = f"{name} {_difference_text(test.delta, ends, None if isnan(test.p) else test.p)}"
    if test.questions < 2:
        return (f"{moved}: {change} on one question, too few for a test.",)
    if test.low is None and changes.scoring.model_labels:
        checked = changes.scoring.model_labels.checked
        by = f"people checked {checked:,} of them" if checked else "no person checked them"
        return (f"{moved}: {change}, from a model's labels; {by}, and the change is not tested.",)
    verdicts = {"better": "an improvement", "worse": "a loss"}
    return (f"{moved}: {change}: {verdicts.get(test.verdict, 'no decided change')}.",)


def changes_basis(changes: NuggetChanges) -> str:
    """Return the basis of the answer."""
    rows = changes.scoring.rows
    tested = next((candidate for candidate in changes.tests if candidate.questions), None)
    count = tested.questions if tested else len(changes.questions)
    parts = [f"{format_count(count, 'question')}.", *_guessed(rows)]
    parts += _labelled(changes.scoring, rows)
    if tested and tested.questions > 1:
        parts += _rules(tested.questions, [tested.low is not None], rows, tested.untested_reason)
    return " ".join(parts)


FEW = 12
"""Largest number of runs whose table a page does not fold."""
MAX_DRAWN = 15
"""Number of runs that are drawn besides the best one."""

_P = "Precision: share of the yes decisions that are yes for assessors."
_R = "Recall: share of the assessors' yes that are decided yes."
_TAU = "Kendall's tau-b: rank correlation of the runs' scores with those of assessors."
_R2 = "Squared correlation of the runs' scores with those of assessors."
_RMSE = "Root mean squared error of the runs' scores."
AGREEMENT = (
    number("precision", "P", 3, help=_P, detail=True),
    number("recall", "R", 3, help=_R, detail=True),
    number("f", "F", 3, help="F of decisions: harmonic mean of P and R."),
    number("tau_b", "tau_b", 3, help=_TAU),
    number("r_squared", "R^2", 3, help=_R2, detail=True),
    number("rmse", "RMSE", 3, help=_RMSE),
)
MODELS = (
    Column("model", "Model", help="Unit that has a threshold of its own."),
    Column("name", "Name", readers="people"),
    number("log10", "log10 P(Data|Model)", 1, help="Marginal likelihood; higher is likelier."),
)
SHARES = (
    number("A", "A", 3, help="Mean share of all nuggets; partial support counts half."),
    number("low", "Low", 3, help="Lower end of the 95% interval of A."),
    number("high", "High", 3, help="Upper end of the 95% interval of A."),
    number("V", "V", 3, help="Mean share of the vital nuggets; partial support counts half."),
    number("W", "W", 3, help="Mean weighted share: a vital nugget counts 1, an okay one half."),
)
F_BETA = (
    "F(beta) combines recall of vital nuggets with precision by length; beta weighs recall, 3 by "
    "default."
)
_STRICT = "The same where partial support does not count."
_FIRST = {"run", "macro", "f_low", "f_high", "guessed", "labelled"}
"""Columns that a page shows at first."""
_RUNS = (
    Column("run", "Run"),
    number("micro", "F micro", 3, help="F(beta) of nuggets and lengths summed over questions."),
    number("macro", "F macro", 3, help=f"Mean over questions of F(beta). {F_BETA}"),
    number("f_low", "F low", 3, help="Lower end of the 95% interval of F macro."),
    number("f_high", "F high", 3, help="Upper end of the 95% interval of F macro."),
    number("micro_low", "F micro low", 3, readers="programs"),
    number("micro_high", "F micro high", 3, readers="programs"),
    number("recall", "Recall", 3, help="Mean recall of vital nuggets over questions."),
    number("precision", "Precision", 3, help="Mean over answers: allowed length / length."),
    *SHARES,
    *(number(f"{key}_strict", f"{key} strict", 3, help=_STRICT) for key in "AVW"),
    number("questions", "Questions", readers="programs"),
    number(
        "known", "Known", 3, field="known_share", help="Share of nuggets that judgements decide."
    ),
    number("guessed", "Guessed", 3, help="Share of nuggets that rest on a classifier's guesses."),
    number("labelled", "Labelled", 3, help="Share of nuggets that rest on a model's labels."),
    number("undecided", "Open", 3, help="Share of nuggets not judged or guessed: no credit."),
)
_DIFFERENCES = (
    Column("run", "Run"),
    Column("best", "Best", readers="programs"),
    Column("score", "Score", readers="programs"),
    number("delta", "Difference", 3, signed=True, help="Score minus that of the best run."),
    number("low", "From", 3, signed=True, help="Lower end of the difference's 95% interval."),
    number("high", "To", 3, signed=True, help="Upper end of the difference's 95% interval."),
    number("p", "p", 4, help="p of the difference; it agrees with the interval.", positive=True),
    Column("verdict", "Verdict", help="Worse where interval and p decide, else undecided."),
)
_PAIRS = ("responses", "judged", "undecided")
_QUESTIONS = (
    Column("run", "Run"),
    Column("question", "Question"),
    *(number(key, key.capitalize(), 3) for key in ("f", "recall", "precision")),
    number("vital_returned", "Vital", help="Vital nuggets that the answer carries."),
    number("vital", "of", help="Nuggets in the key, vital or okay."),
    number("okay_returned", "Okay", help="Okay nuggets that the answer carries.", detail=True),
    number("okay", "of", help="Nuggets in the key, vital or okay.", detail=True),
    number("length", "Length", help="Characters, white space not counted.", detail=True),
    number("allowance", "Allowance", 0, help="100 characters for every nugget.", detail=True),
    *(number(key, key, 3, readers="programs") for key in "AVW"),
    *(number(key, key.capitalize(), readers="programs") for key in _PAIRS),
)
CONTRADICTION = Column(
    "contradiction",
    "Contradiction",
    wrap=True,
    help="Number, name or negation that differs from the nugget, so its guess was lowered.",
)
_NUGGETS = (
    Column("run", "Run", readers="programs"),
    Column("question", "Question", readers="programs"),
    Column("nugget", "Nugget"),
    Column("importance", "Importance"),
    number("support", "Support", 1, help="1 carried, 0.5 in part, 0 not; none if undecided."),
    Column("by", "By", help="Source of the decision: a judgement, a guess, a label or nothing."),
    number("p", "p", 3, help="If guessed: highest probability of a response to carry it."),
    number("response", "Response", help="Number of the first response that carries it, from 1."),
    Column("evidence", "Evidence", wrap=True, help="Words that the response and nugget share."),
    CONTRADICTION,
    Column("description", "Description", wrap=True),
)
_POURPRE = (
    Column("run", "Run"),
    number("count_micro", "Count micro", 3, help="Every word weighs 1."),
    number("count_macro", "Count macro", 3, help="Every word weighs 1."),
    number("idf_micro", "idf micro", 3, help="Words weigh their idf."),
    number("idf_macro", "idf macro", 3, help="Words weigh their idf."),
)
_CORRECTED = (
    Column("run", "Run"),
    number("f_by_labels", "F by labels", 3, help="F macro by the model's labels as they are."),
    number("f_corrected", "F corrected", 3, help="Median F macro, given the labels' error."),
    number("f_low", "F low", 3, help="Lower end of the 95% interval of F macro."),
    number("f_high", "F high", 3, help="Upper end of the 95% interval of F macro."),
    number("A_by_labels", "A by labels", 3, help="A by the model's labels as they are."),
    number("A_corrected", "A corrected", 3, help="Median A, given the labels' error."),
    number("low", "Low", 3, help="Lower end of the 95% interval of A."),
    number("high", "High", 3, help="Upper end of the 95% interval of A."),
)
_ENDS = {"f_low", "f_high", "low", "high"}


def score_document(scoring: NuggetScoring) -> Document:
    """Return the report of runs, their answers and, if requested, every nugget."""
    from karat.nuggets.scores.official import NAME

    words = zip(("pourpre-count", "pourpre-idf"), scoring.by_words, strict=False)
    signatures = {NAME: scoring.signature}
    key = scoring.nuggets.key.digest
    signatures |= {name: f"{pourpre.signature}|key={key}" for name, (pourpre, _) in words}
    runs, *tables = _tables(scoring)
    pictures: list[Block] = [*_difference_figures(scoring)]
    if len(scoring.rows) == 1 or any(row.f_low is not None for row in scoring.rows):
        pictures.append(_intervals(scoring))
    if scoring.rows and scoring.nuggets.key.questions:
        pictures.insert(1, questions_figure(scoring))
    at = min(1, len(pictures)) if runs.open else len(pictures)
    blocks = [*pictures[:at], runs, *pictures[at:], *tables]
    title = f"Nuggets of {scoring.nuggets.name}"
    answer, basis = score_answer(scoring), score_basis(scoring)
    return Document(title, blocks, signatures=signatures, answer=answer, basis=basis)


def _tables(scoring: NuggetScoring) -> list[Table]:
    columns = hide(_RUNS, {"guessed" if scoring.model_labels else "labelled"})
    runs = tuple(
        replace(c, detail=c.key not in _FIRST) for c in without_ends(columns, scoring.rows)
    )
    differences = scoring.differences
    best = f"Differences from {differences[0].best}" if differences else ""
    tables = [
        Table("rows", "Runs", runs, scoring.rows, open=len(scoring.rows) <= FEW),
        Table("corrected", "Corrected for the labels' error", _CORRECTED, scoring.corrected_scores),
        Table("differences", best, _DIFFERENCES, differences),
        Table("pourpre", "Pourpre: F by words of descriptions", _POURPRE, scoring.pourpre),
        models_table(scoring.models, MODELS),
        Table("questions", "Questions", _QUESTIONS, scoring.questions, group="run"),
    ]
    if scoring.details:
        questions = scoring.nuggets.key.questions
        titles = {id: f"{id}: {q.text}" if q.text else id for id, q in questions.items()}
        heading = people_column(
            "heading", "Question", lambda row: f"{row.run}, question {titles[row.question]}"
        )
        any_guessed = any(row.guessed > 0 for row in scoring.rows)
        hidden = () if any_guessed else ("p",)
        if scoring.predictions is None or not scoring.predictions.contradictions:
            hidden = (*hidden, CONTRADICTION.key)
        columns = (heading, *hide(_NUGGETS, hidden))
        # Computed on demand: pages do not show this table.
        count = len(scoring.rows) * sum(len(question.nuggets) for question in questions.values())
        rows = LazyRows([(count, lambda number: scoring.decisions[number])])
        tables.append(Table("nuggets", "Nuggets", columns, rows, group="heading"))
    return [table for table in tables if table.rows or table.key in ("rows", "questions")]


def _difference_figures(scoring: NuggetScoring) -> list[Gallery]:
    """Return a chart of the runs nearest to the best one, if differences have intervals."""
    rows = [
        difference_row(row.run, row.delta, row.low, row.high, row.verdict)
        for row in scoring.differences[:MAX_DRAWN]
    ]
    rows = rows if any(row.low is not None for row in rows) else []
    if not rows:
        return []
    best, n_runs = scoring.differences[0].best, len(scoring.differences)
    more = f" The {len(rows)} nearest of {n_runs} runs." if len(rows) < n_runs else ""
    caption = f"Dots: differences; lines: 95% intervals. Filled and red: decided.{more}"
    return [difference_gallery(f"Runs by {score_name(scoring)}", best, rows, caption)]


def difference_row(
    label: str, delta: float, low: float | None, high: float | None, verdict: str
) -> ChartRow:
    """Return a difference for a chart."""
    return ChartRow(label, delta, low, high, format_signed(delta, 3), verdict)


def difference_gallery(title: str, base: str, rows: Sequence[ChartRow], caption: str) -> Gallery:
    """Return differences from a run as a picture."""
    chart = RowChart(title, base, rows, "difference")
    return Gallery(title, (Figure(f"Differences from {base}", chart),), caption)


def _intervals(scoring: NuggetScoring) -> Figure:
    """Return a chart of F of the runs, the best first."""
    rows = (scoring.rows[k] for k in scoring.ranked)
    items = (ChartRow(row.run, row.macro, row.f_low, row.f_high) for row in rows)
    return intervals_figure("F of runs", "F macro, 95% intervals", items)


def models_table(models: Sequence[ModelRow], columns: tuple[Column, ...]) -> Table:
    """Return the paper's Table 4; the likeliest model is marked."""
    marked = frozenset((k, "log10") for k, model in enumerate(models) if model.likeliest)
    title = "Thresholds, by marginal likelihood"
    return Table("models", title, columns, models, emphasis=marked)


def without_ends(columns: Sequence[Column], rows: Sequence[RunRow]) -> tuple[Column, ...]:
    """Return the columns; without intervals, their ends are hidden from people."""
    has_intervals = any(row.low is not None for row in rows)
    return tuple(columns) if has_intervals else hide(columns, _ENDS)


def hide(columns: Sequence[Column], keys: Container[str]) -> tuple[Column, ...]:
    """Return the columns, of which some are hidden from people."""
    return tuple(replace(c, readers="programs") if c.key in keys else c for c in columns)
