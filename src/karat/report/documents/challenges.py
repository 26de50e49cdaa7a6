"""The report of `meta challenge`: what each metric notices, phenomenon by phenomenon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from karat.meta.challenge import (
    CHALLENGE_COLUMNS,
    CHANCE,
    MISSED,
    SEVERITY_COLUMNS,
    UNDECIDED,
    ChallengeResult,
    ChallengeRow,
)
from karat.meta.challenge_sets import BASE, CRITICAL, severity_rank
from karat.report.charts.models import CellChart, CellMark, chart_figure
from karat.report.model import (
    MAX_SENTENCES,
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    clear_labels,
    format_count,
    format_interval,
    join_names,
)

MIN_PAIRS = 10
"""Pairs that a phenomenon needs to be named as the weakest or strongest, if any has as many."""
_MARKS = {
    MISSED: ("○", "missed: no more pairs than by chance"),
    UNDECIDED: ("?", "undecided: too few pairs"),
}
_BASIS = (
    "Percentages: pairs whose good text scores higher than its bad version; ties are failures. "
    "AUC: all good against all bad scores of a phenomenon; 0.5 is chance. In brackets: 95% "
    "intervals over items."
)


class _Subject(NamedTuple):
    """The rows that the answer is about: errors, the critical ones if there are any."""

    errors: list[ChallengeRow]
    compared: list[ChallengeRow]
    """The rows of which the weakest and the strongest are named."""

    @classmethod
    def of_metric(cls, result: ChallengeResult, metric: str) -> _Subject:
        rows = [row for row in result.rows if row.metric == metric]
        rows = [row for row in rows if row.pairs >= MIN_PAIRS] or rows
        errors = [row for row in rows if row.severity != BASE] or rows
        critical = [row for row in errors if row.severity == CRITICAL]
        return cls(errors, sorted(critical or errors, key=lambda row: (row.auc, row.accuracy)))


def challenge_answer(result: ChallengeResult) -> tuple[str, ...]:
    """Return the phenomena that each metric notices least and best, and those it misses."""
    labels = clear_labels(row.metric for row in result.rows)
    sentences = []
    for metric, label in [*labels.items()][:MAX_SENTENCES]:
        subject = _Subject.of_metric(result, metric)
        worst, best = subject.compared[0], subject.compared[-1]
        is_missed = worst.verdict == MISSED
        verb = "misses" if is_missed else "is weakest on"
        sentence = f"{label} {verb} {worst.phenomenon}: {_values(worst)}"
        if best is not worst:
            sentence += f"; strongest on {best.phenomenon}: {_values(best)}"
        rows = [row for row in subject.errors if row.verdict == MISSED and row is not worst]
        if rows:
            missed = join_names([row.phenomenon for row in rows])
            sentence += f"; it {'also ' * is_missed}misses {missed}"
        sentences.append(f"{sentence}.")
    if len(labels) > 1 and (unnoticed := _missed_by_all(result)):
        sentences.append(f"Every metric misses {join_names(unnoticed)}.")
    return tuple(sentences)


def _values(row: ChallengeRow) -> str:
    ends = format_interval(row.auc_low, row.auc_high, 2)
    return f"{row.accuracy:.1%} of pairs, AUC {row.auc:.2f} {ends}"


def _missed_by_all(result: ChallengeResult) -> list[str]:
    is_missed: dict[str, bool] = {}
    for row in result.rows:
        is_missed[row.phenomenon] = is_missed.get(row.phenomenon, True) and row.verdict == MISSED
    return [phenomenon for phenomenon, missed in is_missed.items() if missed]


def _heat_maps(
    result: ChallengeResult,
    title: str,
    low: float,
    value: Callable[[ChallengeRow], float],
    *,
    sketched: bool = False,
) -> tuple[Figure, ...]:
    """Return a value by phenomenon and metric, a map for each severity; the least noticed first."""
    labels = clear_labels(row.metric for row in result.rows)
    severities = sorted({row.severity for row in result.rows}, key=lambda s: (severity_rank(s), s))
    figures = []
    for severity in severities:
        rows: dict[str, dict[str, ChallengeRow]] = {}
        for row in result.rows:
            if row.severity == severity:
                rows.setdefault(row.phenomenon, {})[row.metric] = row
        phenomena = sorted(rows, key=lambda name: _mean_auc([*rows[name].values()]))
        cells = [[rows[name].get(metric) for metric in labels] for name in phenomena]
        marks = [
            CellMark(i, j, *_MARKS[row.verdict])
            for i, cell_rows in enumerate(cells)
            for j, row in enumerate(cell_rows)
            if row and row.verdict in _MARKS
        ]
        chart = CellChart(
            f"{title}: {severity}" if severity else title,
            "phenomenon",
            "metric",
            phenomena,
            list(labels.values()),
            [[row and value(row) for row in cell_rows] for cell_rows in cells],
            marks=marks,
            low=low,
            high=1.0,
        )
        figures.append(chart_figure(chart) if sketched else Figure(chart.title, chart))
    return tuple(figures)


def _mean_auc(rows: Sequence[ChallengeRow]) -> float:
    return sum(row.auc for row in rows) / len(rows)


def challenge_document(result: ChallengeResult) -> Document:
    """Return heat maps of phenomena and metrics, and the tables behind them."""
    has_severities = any(row.severity for row in result.rows)
    columns = [c for c in CHALLENGE_COLUMNS if c.key != "severity" or has_severities]
    areas = _heat_maps(result, "AUC", CHANCE, lambda row: row.auc, sketched=True)
    accuracies = _heat_maps(result, "Paired accuracy", 0.0, lambda row: row.accuracy)
    order = "The least noticed phenomenon is first."
    blocks: list[Block] = [
        Gallery("What each metric notices", areas, f"Pale: little noticed. {order}", wide=True),
        Gallery("Paired accuracy", accuracies, order, folded=True, wide=True),
    ]
    blocks.append(Table("rows", "Phenomena", columns, result.rows, group="metric"))
    if has_severities:
        title = "Means over the phenomena of a severity"
        blocks.append(Table("severities", title, SEVERITY_COLUMNS, result.severities, open=True))
    title = f"What metrics notice in {result.name}"
    answer, basis = challenge_answer(result), challenge_basis(result)
    return Document(title, tuple(blocks), answer=answer, basis=basis)


def challenge_basis(result: ChallengeResult) -> str:
    """Return the size of the set, the scope of the answer and what its numbers are."""
    pairs: dict[str, int] = {}
    for row in result.rows:
        pairs[row.metric] = pairs.get(row.metric, 0) + row.pairs
    severities = dict.fromkeys((row.severity, row.phenomenon) for row in result.rows)
    n_phenomena = len(severities)
    subjects = f"{n_phenomena} phenomen{'on' if n_phenomena == 1 else 'a'}"
    counts = f"{format_count(max(pairs.values()), 'pair')}, {subjects}"
    subject = _Subject.of_metric(result, result.rows[0].metric)
    n_compared, scope = len(subject.compared), ""
    if 1 < n_compared < len(subject.errors):
        scope = f" Weakest and strongest: of the {n_compared} critical ones."
    elif n_compared < len(subject.errors):
        scope = " Named: the only critical one."
    elif len({row.pairs < MIN_PAIRS for row in result.rows}) == 2:
        scope = f" Weakest and strongest: of phenomena with {MIN_PAIRS} pairs or more."
    return f"{counts}.{scope} {_BASIS}"
