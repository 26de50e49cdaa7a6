"""The answer of scores: which system scores highest, if there are several."""

from __future__ import annotations

from collections.abc import Sequence

from karat.metrics.base import Metric
from karat.report.model.phrases import listing, metric_label
from karat.scoring import ScoreRow, Scoring


def scoring_answer(scoring: Scoring) -> tuple[str, ...]:
    """Name the system with the best score by each metric; nothing of a single system."""
    by_metric: dict[Metric, list[ScoreRow]] = {}
    for row in scoring.rows:
        by_metric.setdefault(row.metric, []).append(row)
    if not by_metric or len({row.system for row in scoring.rows}) < 2:
        return ()
    leads: dict[str, list[Metric]] = {}
    for m, rows in by_metric.items():
        leads.setdefault(_best(m, rows), []).append(m)
    return (_led(leads, len(by_metric)), "Differences are not tested: use karat compare.")


def _best(m: Metric, rows: Sequence[ScoreRow]) -> str:
    """The systems with the best score, all of them where several have it."""
    top = max(m.sign * row.score.value for row in rows)
    return listing([row.system for row in rows if m.sign * row.score.value == top])


def _led(leads: dict[str, list[Metric]], metrics: int) -> str:
    if len(leads) == 1:
        (system,) = leads
        by = metric_label(leads[system][0])
        if metrics > 1:
            by = "both metrics" if metrics == 2 else f"all {metrics} metrics"
        return f"Best by {by}: {system}."
    told = (f"{system} by {listing([metric_label(m) for m in ms])}" for system, ms in leads.items())
    return f"Best: {'; '.join(told)}."
