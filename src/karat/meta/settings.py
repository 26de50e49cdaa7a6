"""Settings of meta-evaluations, studies of reliability, fits and planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.errors import InputError
from karat.headings import ADVANCED, INPUT, TESTS
from karat.score_settings import GROUPINGS, SEGMENT
from karat.settings import (
    MAX_TRIALS,
    NamedTexts,
    Settings,
    normalise_setting,
    resamples_setting,
    seed_setting,
    setting,
)
from karat.stats.alternative_annotator import EPSILONS, NUMBERS, SIMILARITIES
from karat.stats.raters import RATERS, THESE
from karat.stats.significance import CORRECTIONS, SIGNIFICANCE_LEVEL
from karat.tables.options import named_texts_setting

if TYPE_CHECKING:
    from karat.meta.plane_study import Grouping
    from karat.metrics.base import Metric


OVER = {
    "both": "other systems on other segments",
    "segments": "the same systems on other segments",
    "systems": "other systems on the same segments",
}
"""Choices of resampled units -> the evaluations to which the intervals generalize."""


def _over_setting() -> Any:
    return setting(
        "both",
        "Units that the bootstrap resamples.",
        choices=OVER,
        option="--over",
        heading=TESTS,
    )


def weights_setting() -> Any:
    """Return the setting `weights` of several experiments."""
    return setting(
        (),
        "Weights of several SETs, such as 2,1,1. Default: equal weights.",
        items=float,
        option="--weights",
        heading=INPUT,
        metavar="NUMBERS",
    )


def _trials_setting(default: int, help: str, option: str, low: int = 0) -> Any:
    return setting(default, help, low=low, high=MAX_TRIALS, option=option, heading=TESTS)


def _statistics_setting(default: tuple[str, ...], remark: str = "") -> Any:
    return setting(
        default,
        f"Statistic: {{names}}. Repeat for several.{remark} Default: {' '.join(default)}.",
        items=str,
        registry="statistics",
        distinct=True,
        option="-s --statistic",
        metavar="NAME",
    )


@dataclass(frozen=True)
class MetaSettings(Settings):
    """Settings of a meta-evaluation. No dimensions or no references means all of them."""

    evalset: str = setting(help="A folder, a file, or the name of a known set.", kind=str)
    metrics: tuple[str | Metric, ...] = setting(help="Metrics to rank.", kind=tuple)
    dimensions: tuple[str, ...] = setting((), "Dimensions.", items=str, distinct=True)
    levels: tuple[str, ...] = setting(
        ("system", "segment", "item"),
        "Level of the correlation: {names}. Repeat for several. Default: system segment item.",
        items=str,
        registry="levels",
        distinct=True,
        option="-l --level",
        metavar="LEVEL",
    )
    statistics: tuple[str, ...] = _statistics_setting(("pearson", "tau-b"))
    normalise: str = normalise_setting()
    exclude: tuple[str, ...] = setting((), "Systems to leave out.", items=str, distinct=True)
    references: tuple[int, ...] = setting(
        (), "Numbers of the references to use, from 1.", items=int, low=1, distinct=True
    )
    over: str = _over_setting()
    resamples: int = resamples_setting()
    trials: int = _trials_setting(
        1000, "Number of trials of the permutation test between metrics; 0 for no test.", "--trials"
    )
    correction: str = setting(
        "none",
        "Correction of p-values for the number of comparisons.",
        choices=CORRECTIONS,
        option="--correction",
        heading=TESTS,
    )
    level: float = setting(
        SIGNIFICANCE_LEVEL, "Largest p at which two metrics differ.", above=0, below=1
    )
    seed: int = seed_setting()
    read_as: str = setting("", "Format of the set; empty to detect it.")
    reader_options: tuple[str, ...] = setting(
        (), "Options of the reader, as NAME=VALUE.", items=str
    )
    p_values: bool = setting(
        False,
        "Add a two-sided p-value to every correlation.",
        option="--p-values",
        heading=TESTS,
    )
    raters: str = setting(
        THESE,
        "With -o page.html: intervals of systems' human scores are for the raters who rated "
        "(these), or for raters in general (any).",
        choices=RATERS,
        option="--raters",
        heading=ADVANCED,
    )
    system_scores: str = setting(
        "judged",
        "Outputs that the metric score of a system is computed from.",
        choices=("judged", "all"),
        option="--system-scores",
        heading=ADVANCED,
    )
    judgements: tuple[str, ...] = setting((), "Files of judgements to add.", items=str)
    model_judges: tuple[str, ...] = setting((), "Judges that are models.", items=str)


@dataclass(frozen=True)
class ReliabilitySettings(Settings):
    """Settings of a study of reliability."""

    evalset: str
    metrics: tuple[str, ...]
    dimensions: tuple[str, ...]
    lengths: tuple[int, ...] = setting(
        (),
        "Numbers of segments per pseudo-document, such as 1,2,5 or 1-25. Default: 1-25, as long as "
        "each system has 4 documents.",
        items=int,
        distinct=True,
        option="--lengths",
        metavar="N,N,…",
    )
    references: tuple[int | None, ...] = setting(
        (),
        "Numbers of references per segment, such as 1,2,3. Default: all references.",
        items=int,
        distinct=True,
        null_items=True,  # None: the number of references varies
        option="--reference-counts reference_counts",
        metavar="N,N,…",
    )
    statistics: tuple[str, ...] = _statistics_setting(
        ("pearson", "spearman"),
        " Statistics that compare systems, such as spa, are not allowed.",
    )
    documents: str = setting(
        "summed",
        "Score a document by the summed statistics of its segments, or as one text.",
        choices=("summed", "joined"),
        option="--documents",
    )
    normalise: str = normalise_setting()
    repeats: int = _trials_setting(
        100, "Number of times that segments are shuffled.", "--repeats", low=1
    )
    shuffles_per_combination: int = setting(
        1, "Shuffles on which each combination of references is scored.", low=1
    )
    combinations: int = _trials_setting(
        20, "Maximum number of reference combinations.", "--combinations", low=1
    )
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        from karat.stats.correlation import statistic

        super().__post_init__()
        if not self.statistics:
            raise InputError("no statistic was given: at least one is needed")
        for name in self.statistics:
            if statistic(name).of_segments is not None:
                raise InputError(f"{name} compares systems, not pseudo-documents: choose another")
        if self.shuffles_per_combination > self.repeats:
            raise InputError(
                f"shuffles_per_combination={self.shuffles_per_combination}: there are only "
                f"{self.repeats} shuffles (repeats)"
            )


@dataclass(frozen=True)
class FitSettings(Settings):
    """Settings of a fit of human scores."""

    metrics: tuple[str, ...]
    dimensions: tuple[str, ...]
    level: str = setting(
        "segment",
        "Level of the scores: single outputs (segment) or systems.",
        choices=("segment", "system"),
        option="-l --level",
    )
    normalise: str = normalise_setting()
    exclude: tuple[str, ...] = setting((), "Systems to leave out.", items=str)


PHENOMENA = {
    "number": "critical",
    "negation": "critical",
    "name": "critical",
    "omission": "major",
    "addition": "major",
    "truncation": "major",
    "word order": "major",
    "repetition": "minor",
    "casing": "minor",
    "punctuation": "minor",
}
"""Errors that `make_challenge` plants -> their severity."""


@dataclass(frozen=True)
class ChallengeSettings(Settings):
    """Settings of a study of what metrics notice."""

    columns: NamedTexts = named_texts_setting(  # noqa: RUF009 - a field
        "--column columns",
        "Column of a role, such as good=human. Roles: reference (several are separated by commas), "
        "good, bad, phenomenon, severity, source, id (the item; pairs of one item are not "
        "independent) and applies (false for pairs to leave out).",
        "ROLE=COLUMN",
    )


@dataclass(frozen=True)
class PlantingSettings(Settings):
    """Settings of planted errors."""

    lang: str = setting(
        "en",
        "Language of the texts, as a code such as de or zh. Rules for negation, number words and "
        "names depend on it.",
        option="--lang",
        metavar="CODE",
    )
    system: str | None = setting(
        None,
        "System whose outputs are the good texts. Default: the second reference of each segment, "
        "or its reference if there is one.",
        kind=str,
        option="--system",
        metavar="NAME",
    )
    phenomena: tuple[str, ...] = setting(
        (),
        f"Phenomenon to plant: {', '.join(PHENOMENA)}. Repeat for several. Default: all.",
        items=str,
        choices=PHENOMENA,
        distinct=True,
        option="--phenomenon phenomena",
        metavar="NAME",
    )
    seed: int = seed_setting()


@dataclass(frozen=True)
class JudgeCheckSettings(Settings):
    """Settings of the check of a judge."""

    dimensions: tuple[str, ...] = setting(
        (),
        "Dimension to check, such as fluency. Repeat for several. Default: all that both rated.",
        items=str,
        distinct=True,
        option="-d --dimension dimensions",
        metavar="NAME",
    )
    judges: tuple[str, ...] = setting(
        (),
        "Judge to check. Repeat for several. Default: the models that judged SET.",
        items=str,
        distinct=True,
        option="-J --judge judges",
        metavar="JUDGE",
    )
    annotators: str = setting(
        "crowd",
        "The people: the better they are, the more a judge may be worse (epsilon: "
        f"{', '.join(f'{kind} {epsilon:g}' for kind, epsilon in EPSILONS.items())}).",
        choices=EPSILONS,
        option="--annotators",
        heading=TESTS,
    )
    epsilon: float | None = setting(
        None,
        "Largest amount by which a judge may be worse than a person, 0 to 1. Default: that of "
        "--annotators.",
        kind=float,
        low=0,
        high=1,
        option="--epsilon",
        metavar="X",
        heading=TESTS,
    )
    similarity: str = setting(
        NUMBERS,
        "Compare ratings as numbers, by root mean square distance, or as labels, by equality.",
        choices=SIMILARITIES,
        option="--similarity",
        heading=TESTS,
    )
    units: str | None = setting(
        None,
        "Unit of intervals and tests, which is what was sampled. Default: the documents or "
        "questions that are known, else segments.",
        kind=str,
        choices=(SEGMENT, *GROUPINGS),
        option="--unit",
        heading=TESTS,
        show_default=False,
    )
    family: tuple[str, ...] = setting(
        (),
        "System of the judge's own family. Repeat for several.",
        items=str,
        distinct=True,
        option="--family",
        metavar="SYSTEM",
    )
    shuffles: int = _trials_setting(
        200, "Number of shuffled judges that take the same test.", "--shuffles", low=20
    )
    seed: int = seed_setting()

    @property
    def allowance(self) -> float:
        """Epsilon: how much worse than a person a judge may be."""
        return EPSILONS[self.annotators] if self.epsilon is None else self.epsilon


def _counts_setting(default: tuple[int, ...], help: str, option: str, low: int = 1) -> Any:
    return setting(
        default,
        help,
        items=int,
        low=low,
        high=1_000_000,
        distinct=True,
        option=option,
        heading=TESTS,
        metavar="N,N,…",
    )


@dataclass(frozen=True)
class RaterPlanSettings(Settings):
    """Settings of a plan for raters."""

    dimension: str
    raters: tuple[int, ...] = _counts_setting(
        (3, 5, 10), "Numbers of raters of a study. Default: 3,5,10.", "--raters"
    )
    items: tuple[int, ...] = _counts_setting(
        (),
        "Numbers of items of a study. Default: half of those of SET, as many, and twice as many.",
        "--items",
        low=2,
    )
    overlap: tuple[int, ...] = _counts_setting(
        (1, 2, 3), "Numbers of raters of each item. Default: 1,2,3.", "--overlap"
    )
    trials: int = setting(500, "Number of simulated pairs of studies.", low=20, high=MAX_TRIALS)
    seed: int = seed_setting()


@dataclass(frozen=True)
class SpanSettings(Settings):
    """Settings of the agreement of spans."""

    severity_credit: float = setting(
        0.5,
        "Credit for a character that the reference marks with another severity, 0 to 1.",
        low=0,
        high=1,
        option="--severity-credit",
    )
    edges: int = setting(
        3,
        "Characters by which edges of spans may differ in the tolerant F.",
        low=0,
        high=100,
        option="--edges",
        metavar="N",
    )


@dataclass(frozen=True)
class PlaneSettings(Settings):
    """Settings of a study of the AEv plane."""

    compare_with: tuple[str | Metric, ...] = setting(
        (),
        "Other metric to show, such as bleu or rouge1. Repeat for several.",
        option="--compare-with",
        metavar="METRIC",
    )
    by: str | Grouping | None = setting(  # noqa: RUF009 - a field
        None,
        "Also fit groups of segments: `groups` of the set, or `lengths:parts=N` for N groups by "
        "reference length.",
        kind=str,
        option="--by",
        metavar="GROUPING",
    )
    over: str = _over_setting()
    resamples: int = resamples_setting()
    splits: int = _trials_setting(
        200,
        "Number of random splits into halves that test the choice on the other half.",
        "--splits",
    )
    seed: int = seed_setting()
    normalise: str = normalise_setting()
