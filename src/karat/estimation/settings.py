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
SOURCE_LENGTH, RATIO, CONSENSUS = "source-length", "ratio", "consensus"
COVARIATES = {
    SOURCE_LENGTH: "characters of the source",
    "length": "characters of the output",
    RATIO: "logarithm of the length of the output over that of the source, each plus 1",
    "digits": "share of characters that are digits",
    "capitals": "share of words that begin with a capital",
    "rare": "share of words that occur in the outputs of no other segment",
    CONSENSUS: "mean chrF of the output to the outputs of the other systems",
}


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
    covariates: str = setting(
        "auto",
        "Covariates of the texts that make intervals narrower: all that the set allows (auto), "
        "none, or names joined by commas: " + ", ".join(COVARIATES) + ".",
        option="--covariates",
        metavar="NAMES",
    )
    seed: int = seed_setting()
    normalise: str = normalise_setting()
