"""Settings of `estimate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.headings import INPUT
from karat.score_settings import correction_setting
from karat.settings import Settings, normalise_setting, seed_setting, setting
from karat.stats.raters import RATERS, THESE

if TYPE_CHECKING:
    from karat.metrics.base import Metric

POPULATIONS = {
    "set": "the segments of the set",
    "new": "new segments like those of the set",
}
UNITS = ("auto", "segment", "group")


@dataclass(frozen=True)
class EstimateSettings(Settings):
    """Settings of `karat.estimate`."""

    dimension: str | None = setting(
        None,
        "Dimension that people judged, such as fluency.",
        kind=str,
        option="-d --dimension",
        metavar="NAME",
    )
    judges: tuple[str | Metric, ...] = setting(
        (),
        "Judge: a model that judged the set, scores that come with it, or a metric (see `karat "
        "metrics`). Repeat for several. Default: the models that judged it.",
        option="-J --judge",
        metavar="JUDGE",
    )
    population: str = setting(
        "set",
        "Estimate scores for the segments of SET (set), or for new segments like them (new).",
        choices=POPULATIONS,
        option="--population",
    )
    raters: str = setting(
        THESE,
        "Intervals and tests are for the raters who rated (these), or for raters in general, with "
        "the differences between raters (any).",
        choices=RATERS,
        option="--raters",
    )
    baseline: str | None = setting(
        None,
        "System to compare the others with. Default: the one with the best estimate.",
        kind=str,
        option="--baseline",
        metavar="NAME",
    )
    next: int = setting(
        0,
        "Draw N units to label next (see --plan).",
        low=0,
        option="--next",
        metavar="N",
        show_default=False,
    )
    unit: str = setting(
        "auto",
        "Unit that was drawn: a segment, or a group of them (a document). Default: detected.",
        choices=UNITS,
        option="--unit",
        heading=INPUT,
        show_default=False,
    )
    correction: str = correction_setting()
    seed: int = seed_setting()
    normalise: str = normalise_setting()
