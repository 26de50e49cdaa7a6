"""The reports of `judge check` and `judge spans`: verdicts on judges, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from statistics import median
from typing import Any

from karat.meta.judge_check_results import (
    ANNOTATOR_COLUMNS,
    BIAS_COLUMNS,
    CHECK_COLUMNS,
    MEASURE_COLUMNS,
    SYSTEM_ERROR_COLUMNS,
    JudgeCheck,
    JudgeCheckRow,
    SystemErrorRow,
)
from karat.meta.span_agreement import SPAN_COLUMNS, SpanComparison, SpanRow
from karat.report.charts.models import ChartRow, intervals_figure
from karat.report.model import (
    MAX_SENTENCES,
    WARNING,
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    format_count,
    format_interval,
    format_signed,
)
from karat.results import Column

_BASIS = (
    "The alternative annotator test asks for each person: is the judge at least as close to the "
    "other people as this person is, minus ε? It is passed with a winning rate ω of one half or "
    "more; a judge that does not pass is worse, or the items are too few to show that it is not. "
    "Control judges see no item: if one of them passes, passing is no evidence."
)


def check_answer(check: JudgeCheck) -> Iterator[str]:
    """Yield the verdict on each judge, and the biases that were detected."""
    for row in check.rows[:MAX_SENTENCES]:
        yield _verdict_sentence(row)
    if (more := len(check.rows) - MAX_SENTENCES) > 0:
        yield f"The table has {more} more."
    for bias in [bias for bias in check.biases if bias.flagged][:MAX_SENTENCES]:
        size = f"{format_signed(bias.value, 3)} {format_interval(bias.low, bias.high, 3)}"
        yield f"{bias.judge}, {bias.dimension}: bias by {bias.bias}, {size} ({bias.meaning})."


def _verdict_sentence(row: JudgeCheckRow) -> str:
    subject = f"{row.dimension}: {row.judge}"
    n_won = round(row.winning_rate * row.annotators)
    rate = (
        f"it is shown to be as good as {n_won} of {row.annotators} annotators (ε {row.epsilon:g})"
    )
    if row.is_passed:
        return f"{subject} passes the alternative annotator test: {rate}; the control judges fail."
    reason = " and ".join(row.passing_controls)
    if not reason:
        return f"{subject} does not pass the alternative annotator test: {rate}."
    advice = "use a smaller --epsilon, or have people rate more of the rare values"
    return f"{subject}: this test cannot tell, since {reason}; {advice}."


def _system_figures(check: JudgeCheck) -> Iterator[Figure]:
    groups: dict[tuple[str, str], list[SystemErrorRow]] = {}
    for row in check.systems:
        groups.setdefault((row.judge, row.dimension), []).append(row)
    for (judge, dimension), rows in groups.items():
        if len(rows) < 2:
            continue
        ordered = sorted(rows, key=lambda row: -row.error)
        bars = [ChartRow(row.system, row.error, row.low, row.high) for row in ordered]
        yield intervals_figure(f"{dimension}: {judge} minus people", "mean error", bars)


def _blocks(check: JudgeCheck) -> Iterator[Block]:
    yield Table(
        "rows", "May the judge replace people?", CHECK_COLUMNS, check.rows, "heading", open=True
    )
    figures = tuple(_system_figures(check))
    if len(figures) == 1:
        yield figures[0]
    elif figures:
        yield Gallery("Judge minus people", figures, "Mean errors with 95% intervals.")
    tables: Sequence[tuple[str, str, Sequence[Column], Sequence[Any]]] = (
        ("biases", "Biases", BIAS_COLUMNS, check.biases),
        ("agreement", "Agreement with people", MEASURE_COLUMNS, check.agreement),
        ("systems", "Errors by system", SYSTEM_ERROR_COLUMNS, check.systems),
        ("annotators", "Test against each annotator", ANNOTATOR_COLUMNS, check.annotators),
    )
    for key, title, columns, rows in tables:
        if rows:
            yield Table(key, title, columns, rows, "heading")


def judge_check_document(check: JudgeCheck) -> Document:
    """Return the verdicts, the errors by system as a chart, and all tables."""
    judges = list(dict.fromkeys(row.judge for row in check.rows))
    title = (
        f"{judges[0]} as a judge of {check.name}" if len(judges) == 1 else f"Judges of {check.name}"
    )
    warnings = tuple(f"{WARNING} {warning}" for warning in check.warnings)
    return Document(
        title,
        tuple(_blocks(check)),
        answer=tuple(check_answer(check)),
        basis=_BASIS,
        notes=(*warnings, *check.notes),
    )


def span_document(comparison: SpanComparison) -> Document:
    """Return how far each judge agrees with other people on spans, and every two judges."""
    blocks: list[Block] = [
        Table("rows", "Each judge and the other people", SPAN_COLUMNS, comparison.rows, open=True)
    ]
    if len(comparison.pairs) > 1:
        blocks.append(Table("pairs", "Every two judges", SPAN_COLUMNS, comparison.pairs))
    edges = f"{comparison.settings['edges']} characters"
    return Document(
        "Marked spans",
        blocks,
        answer=tuple(_span_answer(comparison)),
        basis=(
            "Micro averages by characters: credit 1 for a character that the reference marks with "
            f"the same severity, {comparison.settings['severity_credit']:g} with another one. In "
            f'"F, edges", edges may differ by {edges}.'
        ),
        signatures={"spans": comparison.signature},
    )


def _span_answer(comparison: SpanComparison) -> Iterator[str]:
    models = [row for row in comparison.rows if row.judge in comparison.models]
    people = [row for row in comparison.rows if row.judge not in comparison.models]
    for row in models[:MAX_SENTENCES]:
        yield f"{row.judge} and people: {_span_values(row)}."
    if len(people) == 2:
        yield f"{people[0].judge} and {people[1].judge}: {_span_values(people[0])}."
    elif people:
        values = [row.f for row in people if not isnan(row.f)]
        if values:
            ends = f"{min(values):.3f} to {max(values):.3f}, median {median(values):.3f}"
            yield f"F of a person with the other people: {ends} ({len(values)} people)."


def _span_values(row: SpanRow) -> str:
    outputs = f"in {format_count(row.outputs, 'output')}"
    if isnan(row.f):
        marked = f"{row.marked:,} and {row.reference_marked:,} characters"
        return f"F is undefined, because they marked {marked} {outputs}"
    ends = "" if isnan(row.f_low) else f" {format_interval(row.f_low, row.f_high, 3)}"
    values = f"precision {row.precision:.3f}, recall {row.recall:.3f}"
    return f"F {row.f:.3f}{ends}, {values}, {outputs}"
