"""The answer of scores: which system scores highest, if there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.metrics.base import Metric
from karat.report.model.phrases import listing, metric_label
from karat.scoring import ScoreRow, Scoring


def scoring_answer(scoring: Scoring) -> tuple[str, ...]:
    """Name the systems with the best score by each metric; nothing for a single system."""
    by_metric: dict[Metric, list[ScoreRow]] = {}
    for row in scoring.rows:
        by_metric.setdefault(row.metric, []).append(row)
    if not by_metric or len({row.system for row in scoring.rows}) < 2:
        return ()
    leads: dict[tuple[str, ...], list[Metric]] = {}
    ties: list[Metric] = []
    for m, rows in by_metric.items():
        best = scoring.best_systems(m)
        if len(best) == len(rows):
            ties.append(m)
        elif best:
            leads.setdefault(best, []).append(m)
    sentences = [_led(leads, len(by_metric))] if leads else []
    if ties:
        sentences.append(f"All systems have the same score by {_metrics(ties, len(by_metric))}.")
    if not sentences:
        return ()
    if len({(scoring.skipped or {}).get(row.system, 0) for row in scoring.rows}) > 1:
        sentences.append("Systems are scored on different rows, since some were skipped.")
    return (*sentences, "Differences are not tested: use karat compare.")


def _led(leads: Mapping[tuple[str, ...], Sequence[Metric]], metrics: int) -> str:
    if len(leads) == 1:
        ((systems, by),) = leads.items()
        return f"Best by {_metrics(by, metrics)}: {listing(systems)}."
    parts = (f"{listing(systems)} by {_metrics(by, metrics)}" for systems, by in leads.items())
    return f"Best: {'; '.join(parts)}."


def _metrics(chosen: Sequence[Metric], whole: int) -> str:
    """Name metrics, or say that they are all that there are."""
    if len(chosen) == whole > 1:
        return "both metrics" if whole == 2 else f"all {whole} metrics"
    return listing([metric_label(m) for m in chosen])
