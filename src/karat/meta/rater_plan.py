"""`plan_raters`: how many raters and items a study needs for a stable ranking of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError, short
from karat.evalset.judgements import raters_unnamed
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.settings import RaterPlanSettings
from karat.results import Result, number
from karat.stats.stable_ranking import (
    RatingComponents,
    StudyDesign,
    ranking_stability,
    rating_components,
)

MAX_STUDY_RATINGS = 10_000_000
"""The largest number of ratings in a simulated study; two studies are in memory at a time."""


class RaterPlanRow(NamedTuple):
    """A design of a study, and how stable its ranking is."""

    items: int
    raters: int
    overlap: int
    ratings: int
    stable: float
    error: float
    significant: float


RATER_PLAN_COLUMNS = (
    number("items", "Items", help="Segments that are rated."),
    number("raters", "Raters"),
    number("overlap", "Per item", help="Raters of each item; they rate all of its outputs."),
    number("ratings", "Ratings", help="Ratings in all: items, raters of each, and systems."),
    number("stable", "Stable", 3, "Stable ranking probability."),
    number("error", "SE", 3, "Standard error of the simulation."),
    number("significant", "Significant", 3, "Share of pairs of systems that differ significantly."),
)


@dataclass(frozen=True, eq=False, repr=False)
class RaterPlan(Result):
    """The stable ranking probability of several designs of a study."""

    name: str
    dimension: str
    rows: tuple[RaterPlanRow, ...]
    components: RatingComponents
    n_raters: int
    settings: Mapping[str, object]
    signature: str

    @property
    def notes(self) -> tuple[str, ...]:
        """The components of the ratings, and what is assumed."""
        parts = self.components
        return (
            f"Standard deviations: items of a system {parts.item:.3g}, taste of a rater for a "
            f"system {parts.rater:.3g}, rest {parts.rest:.3g}; from {self.n_raters:,} raters of "
            f"{self.dimension}.",
            "Simulated studies have normal ratings, other items and other raters like those of the "
            "set, and raters who rate all outputs of an item.",
        )


def plan_raters(
    evalset: SetSource,
    dimension: str,
    *,
    raters: Sequence[int] = RaterPlanSettings.raters,
    items: Sequence[int] = RaterPlanSettings.items,
    overlap: Sequence[int] = RaterPlanSettings.overlap,
    trials: int = RaterPlanSettings.trials,
    seed: int = RaterPlanSettings.seed,
) -> RaterPlan:
    """Return the stable ranking probability of studies, by raters, items and overlap.

    It is the probability that another study with other items and raters orders every pair of
    systems alike that differs significantly (Riley et al. 2024). Variances are those of the set,
    where at least two raters rated the same outputs of two systems.

    Args:
        evalset: a set with ratings by named people: its name or path, the path of a table, a frame.
        dimension: the dimension that was rated.
        raters: numbers of raters of a study.
        items: numbers of items; by default half as many as in the set, as many, and twice as many.
        overlap: numbers of raters for each item.
        trials, seed: of the simulation of pairs of studies.
    """
    options = RaterPlanSettings(
        dimension, tuple(raters), tuple(items), tuple(overlap), trials, seed
    )
    loaded = as_evalset(evalset)
    loaded.chosen_dimensions([dimension])
    tables, n_raters = _rating_tables(loaded, dimension)
    components = rating_components(tables)
    if components is None:
        raise InputError(
            f"{loaded.name}: the noise of raters of {short(dimension)} is unknown: expected at "
            "least two segments where two raters rated the same outputs of two systems"
        )
    n = int(sum(1 for item in zip(*tables, strict=True) if not np.isnan(item).all()))
    n_items = options.items or tuple(sorted({max(2, n // 2), n, 2 * n}))
    designs = _designs(options, n_items, len(tables))
    rows = [
        RaterPlanRow(
            *design,
            design.ratings(len(tables)),
            *ranking_stability(components, design, trials, seed),
        )
        for design in designs
    ]
    return RaterPlan(
        loaded.name,
        dimension,
        tuple(rows),
        components,
        n_raters,
        {
            "dimension": dimension,
            "items": n_items,
            "raters": options.raters,
            "overlap": options.overlap,
            "trials": trials,
            "seed": seed,
        },
        f"stable-ranking|{loaded.signature}|dimension={dimension}|trials={trials}|seed={seed}",
    )


def _designs(
    options: RaterPlanSettings, n_items: Sequence[int], n_systems: int
) -> list[StudyDesign]:
    """Return the designs with no more raters of an item than raters of the study."""
    designs = [
        StudyDesign(*numbers)
        for numbers in product(n_items, options.raters, options.overlap)
        if numbers[2] <= numbers[1]
    ]
    if not designs:
        raise InputError("every overlap is larger than the number of raters: use fewer per item")
    largest = max(designs, key=lambda design: design.ratings(n_systems))
    if (ratings := largest.ratings(n_systems)) > MAX_STUDY_RATINGS:
        raise InputError(
            f"a study of {largest.items:,} items with {largest.overlap:,} raters each has "
            f"{ratings:,} ratings of {n_systems:,} systems, expected at most "
            f"{MAX_STUDY_RATINGS:,}: plan fewer items or a smaller overlap"
        )
    return designs


def _rating_tables(evalset: EvalSet, dimension: str) -> tuple[list[Floats], int]:
    """Return the ratings of each rated system, items x raters, and the number of raters."""
    rows = evalset.ratings(dimension)
    if raters_unnamed(rows.judges):
        raise InputError(
            f"{evalset.name}: the raters of {short(dimension)} are not named: expected the ratings "
            "of each person, not their means"
        )
    tables = np.full((len(evalset.systems), len(evalset), len(rows.judges)), np.nan)
    tables[rows.system, rows.segment, rows.judge] = rows.value
    rated = [table for table in tables if not np.isnan(table).all()]
    if len(rated) < 2:
        raise InputError(
            f"{evalset.name}: people rated {len(rated)} system in {short(dimension)}: expected at "
            "least two to rank"
        )
    return rated, len(rows.judges)
