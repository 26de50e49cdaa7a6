"""Agreement of people with differences in metrics: curves from judged collections.

`data/gains.json` has, for each metric and kind of task, the distribution of the slope b of a new
collection. The probability that people prefer the system with the better score is

    p(d) = mean over b of 1 / (1 + exp(-b d / s))

for a difference d and the typical difference s. `karat.meta.gains` has the model and fits it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from karat.arithmetic import sigmoid
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.score_settings import TASK_KINDS

MIN_COLLECTIONS = 3
"""Collections of a kind of task without which no percentage is shown."""


class AgreementShare(NamedTuple):
    """The share of pairs of systems in which people agree with a difference."""

    share: float
    low: float  # 90% band of the share in a new test set
    high: float


class GainCurve(NamedTuple):
    """Agreement of people with differences in a metric, for one kind of task."""

    metric: str
    kind: str
    collections: int
    typical_gain: float
    largest_gain: float  # larger differences count as this one
    slopes: tuple[float, ...]  # equally probable slopes
    low: float  # 5% and 95% quantiles of the slope
    high: float
    is_reliable: bool  # passed the evaluation of docs/lab/gains.md

    @property
    def has_percentages(self) -> bool:
        """Whether percentages are shown."""
        return self.is_reliable and self.collections >= MIN_COLLECTIONS

    def agreement(self, gain: float) -> AgreementShare:
        """Return the share of pairs in which people agree with a difference of this size."""
        size = min(abs(gain), self.largest_gain) / self.typical_gain
        shares = [float(sigmoid(slope * size)) for slope in self.slopes]
        ends = (float(sigmoid(slope * size)) for slope in (self.low, self.high))
        return AgreementShare(math.fsum(shares) / len(shares), *ends)


class GainRow(NamedTuple):
    """The difference of a system from the baseline, and how often people agree with it.

    Without a percentage, agreement and its band are None.
    """

    system: str
    metric: Metric
    delta: float
    kind: str
    collections: int
    agreement: float | None = None
    low: float | None = None
    high: float | None = None
    is_beyond: bool = False  # larger than all of the collections: counts as the largest of them


def check_kind(kind: str | None) -> None:
    """Require a known kind of task, or None."""
    if kind is not None and kind not in TASK_KINDS:
        expected = ", ".join(TASK_KINDS)
        raise InputError(f"kind {quoted(kind)}: expected one of {expected}")


@lru_cache(maxsize=1)
def gain_data() -> dict[str, Any]:
    """Return the contents of `data/gains.json`, by metric."""
    text = (resources.files("karat") / "data" / "gains.json").read_text("utf-8")
    metrics: dict[str, Any] = json.loads(text)["metrics"]
    return metrics


def gain_curve(metric: str, kind: str) -> GainCurve | None:
    """Return the curve of a metric, by its name with settings; None if there is none."""
    values = gain_data().get(metric)
    if values is None:
        return None
    curve = values["curves"][kind]
    return GainCurve(
        metric,
        kind,
        curve["collections"],
        values["typical_gain"],
        curve["largest_gain"],
        tuple(curve["slopes"]),
        curve["band"][0],
        curve["band"][1],
        values["is_reliable"],
    )


def gain_rows(
    deltas: Iterable[tuple[str, Metric, float | None]], kind: str | None
) -> tuple[GainRow, ...]:
    """Return a row for each difference, if the kind of task is known and the metric has a curve."""
    rows = []
    for system, metric, delta in deltas if kind else ():
        curve = gain_curve(str(metric), str(kind))
        if curve is None or not delta or math.isnan(delta):
            continue
        row = GainRow(system, metric, delta, curve.kind, curve.collections)
        if curve.has_percentages:
            share, low, high = curve.agreement(delta)
            row = row._replace(
                agreement=share, low=low, high=high, is_beyond=abs(delta) > curve.largest_gain
            )
        rows.append(row)
    return tuple(rows)
