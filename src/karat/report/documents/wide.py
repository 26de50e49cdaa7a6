"""Wide tables for papers: a row for each system, a column for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from karat.comparison import CompareRow, Comparison
from karat.metrics.base import Metric
from karat.report.answers.comparisons import comparison_answer, comparison_basis, decision_rule, few
from karat.report.documents import scores
from karat.report.model.cells import number_text
from karat.report.model.table import Cell, Column, Decimals, Document, Table
from karat.scoring import ScoreRow, WideScores
from karat.stats.significance import BETTER, WORSE

MARKS = {BETTER: "†", WORSE: "‡"}
"""Marks of systems that are better and worse than the baseline."""
ARROWS = {1: "↑", -1: "↓"}

_Row = ScoreRow | CompareRow
_Rows = Mapping[tuple[str, Metric], _Row]


def wide_document(wide: WideScores, command: str) -> Document:
    """Return the scores of systems by metrics, with intervals and marks where there are any.

    Programs get numbers in columns of their own, people one text for each number.
    """
    results = wide.results
    rows: _Rows = {(row.system, row.metric): row for row in results.rows}
    systems = list(dict.fromkeys(system for system, _ in rows))
    metrics = list(dict.fromkeys(m for _, m in rows))
    intervals, tested = bool(results.resamples), isinstance(results, Comparison)
    columns = [scores.SYSTEM]
    for m in metrics:
        columns += _columns(m, intervals, tested)
    best = scores.emphasis([(row.metric, row.score.value) for row in results.rows])
    winners = {results.rows[at][:2] for at, _ in best}
    stressed = {(i, _shown(m)) for i, s in enumerate(systems) for m in metrics if (s, m) in winners}
    cells = tuple(_cells(system, metrics, rows) for system in systems)
    marked = frozenset(stressed)
    table = Table("rows", "Scores", tuple(columns), cells, emphasis=marked, open=True)
    told = replace(results, values={}).notes  # nothing about wins, which are not shown
    notes = (*(_legend(results) if isinstance(results, Comparison) else ()), *told)
    title = f"Comparison with {results.baseline}" if isinstance(results, Comparison) else "Scores"
    document = Document(title, (table,), command, results.signatures, notes)
    if isinstance(results, Comparison):
        told = comparison_answer(results)
        document = replace(document, answer=told, basis=comparison_basis(results))
    return scores.with_form(document, results.form)


def _shown(m: Metric) -> str:
    return f"{m} shown"


def _columns(m: Metric, intervals: bool, tested: bool) -> list[Column]:
    better = "higher" if m.sign > 0 else "lower"
    told = f"Score by {m}; {better} is better."
    found = [Column(_shown(m), f"{m} {ARROWS[m.sign]}", None, "right", told, readers="people")]
    if intervals:
        told = f"95% bootstrap interval of {m}."
        found.append(Column(f"{m} interval", "95%", None, "right", told, readers="people"))
    names = ["", *([" low", " high"] if intervals else [])]
    names += [" delta", " p", " verdict"] if tested else []
    return [*found, *(Column(f"{m}{name}", f"{m}{name}", readers="programs") for name in names)]


def _cells(system: str, metrics: Sequence[Metric], rows: _Rows) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"system": system}
    for m in metrics:
        row = rows.get((system, m))
        if row is None:
            continue
        cells[str(m)] = row.score.value
        cells[_shown(m)] = _text(m, row.score.value) + _mark(row)
        if row.low is not None and row.high is not None:
            cells |= {f"{m} low": row.low, f"{m} high": row.high}
            cells[f"{m} interval"] = f"[{_text(m, row.low)}, {_text(m, row.high)}]"
        if isinstance(row, CompareRow):
            cells |= {f"{m} delta": row.delta, f"{m} p": row.p, f"{m} verdict": row.verdict}
    return cells


def _text(m: Metric, value: float) -> str:
    shown = scores.decimals(m, value)
    return number_text(shown, scores.SCORE) if isinstance(shown, Decimals) else ""


def _mark(row: _Row) -> str:
    """Return the mark of a system whose verdict is better or worse."""
    verdict = row.verdict if isinstance(row, CompareRow) else None
    return MARKS.get(verdict or "", "")


def _legend(comparison: Comparison) -> tuple[str, ...]:
    best = "Bold: the best of each column."
    if few(comparison):
        return (best,)
    marks = f"{MARKS[BETTER]} better and {MARKS[WORSE]} worse than {comparison.baseline}"
    return (f"{marks} ({decision_rule(comparison)}). {best}",)
