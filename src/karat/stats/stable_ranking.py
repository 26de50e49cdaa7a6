"""Stable ranking probability: would raters of another study rank the systems alike?

A study has N items, R raters and k raters for each item, who rate the outputs of all systems of the
item. Its rating of system s, item i and rater r is, up to what the systems have in common,

    y_sir = theta_s + u_si + v_sr + e_sir        with the variances s_u^2, s_v^2 and s_e^2

u is the item's difficulty for a system, v a rater's taste for it, and e the rest. The score of a
system is its mean. Two systems differ significantly if a paired t-test of the means of items has a
p below .05. A ranking is stable if another study with other items and raters orders every pair that
differs significantly alike; the stable ranking probability is that of two simulated studies
(Riley, Deutsch, Foster and Ratnakar 2024). It is 1 if nothing is significant, so the share of
significant pairs belongs to it.

**Components** come from differences of two systems in cells (item and rater) that both have:
`stats/raters.py` splits the variance of their mean into items, raters and the rest, which have
twice the variances s^2 over the numbers of items, raters and cells. Components are means over
pairs of systems. Observed differences are larger than true ones, because they contain noise; so
theta is drawn towards the mean by sqrt(1 - E / V), where V is the mean square of the differences
and E the mean of their error variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.stats.distributions import student_quantile
from karat.stats.raters import Ratings, merge_ratings, rater_spread
from karat.stats.significance import SIGNIFICANCE_LEVEL


class RatingComponents(NamedTuple):
    """Scores of systems, and standard deviations of what a study adds to them."""

    systems: Floats
    """Theta of each system."""
    item: float
    rater: float
    rest: float


class StudyDesign(NamedTuple):
    """Items, raters, and raters of each item; every rater of an item rates all of its outputs."""

    items: int
    raters: int
    overlap: int

    def ratings(self, n_systems: int) -> int:
        """Return the number of ratings of some systems."""
        return self.items * self.overlap * n_systems


class RankingStability(NamedTuple):
    """Results of two simulated studies of a design, as shares of the trials or pairs."""

    stable: float
    """Stable ranking probability."""
    error: float
    """Its standard error."""
    significant: float
    """Mean share of pairs of systems that differ significantly."""


def rating_components(tables: Sequence[Floats]) -> RatingComponents | None:
    """Return the components of ratings, tables of items x raters by system; NaN if not rated.

    None if no two systems have an item with two common raters, so that items and noise cannot be
    told apart.
    """
    variances, squares, errors = [], [], []
    for first, second in combinations(tables, 2):
        differences = first - second
        item, rater = np.nonzero(~np.isnan(differences))
        per_item = np.bincount(item)
        if len(np.unique(item)) < 2 or per_item.max() < 2 or len(np.unique(rater)) < 2:
            continue
        weight = 1 / (per_item[item] * len(np.unique(item)))
        ratings = merge_ratings(Ratings(item, rater, differences[item, rater], weight))
        spread = rater_spread(ratings)
        if not spread.separates_items:
            continue
        by_item, by_rater = (np.bincount(codes, ratings.weight) for codes in ratings[:2])
        shares = [float((w * w).sum()) for w in (by_item, by_rater, ratings.weight)]
        variances.append([part / share for part, share in zip(spread.parts, shares, strict=True)])
        squares.append(ratings.mean**2)
        errors.append(spread.parts.total)
    if not variances:
        return None
    item_sd, rater_sd, rest_sd = np.sqrt(np.mean(variances, axis=0) / 2).tolist()
    observed, error = float(np.mean(squares)), float(np.mean(errors))
    shrinkage = sqrt(max(0.0, 1 - error / observed)) if observed > 0 else 0.0
    means = np.array([_mean_of_items(table) for table in tables])
    return RatingComponents(shrinkage * (means - means.mean()), item_sd, rater_sd, rest_sd)


def _mean_of_items(table: Floats) -> float:
    rated = table[~np.isnan(table).all(axis=1)]
    return float(np.nanmean(rated, axis=1).mean())


def ranking_stability(
    components: RatingComponents, design: StudyDesign, trials: int, seed: int
) -> RankingStability:
    """Simulate pairs of studies and return how often the second confirms the first."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(components.systems), 1)
    critical = student_quantile(SIGNIFICANCE_LEVEL / 2, design.items - 1)
    n_stable, significant = 0, 0.0
    for _ in range(trials):
        ratings = _study(components, design, rng)
        gaps = ratings[first] - ratings[second]
        differences = gaps.mean(axis=1)
        squares = ((gaps - differences[:, None]) ** 2).sum(axis=1)
        errors = np.sqrt(squares / (design.items * (design.items - 1)))
        is_significant = np.abs(differences) > critical * errors
        again = _study(components, design, rng).mean(axis=1)
        confirmed = differences * (again[first] - again[second]) > 0
        n_stable += bool((confirmed | ~is_significant).all())
        significant += float(is_significant.mean())
    share = n_stable / trials
    return RankingStability(share, sqrt(share * (1 - share) / trials), significant / trials)


def _study(components: RatingComponents, design: StudyDesign, rng: Any) -> Floats:
    """Return the mean rating of each system and item, with the tastes of the item's raters."""
    n_systems, n = len(components.systems), design.items
    tastes = rng.normal(0, 1, (n_systems, design.raters)) * components.rater
    turns = rng.permutation(n)[:, None] * design.overlap + np.arange(design.overlap)
    spread = sqrt(components.item**2 + components.rest**2 / design.overlap)
    noise = rng.normal(0, 1, (n_systems, n)) * spread
    shared = tastes[:, turns % design.raters].mean(axis=2)
    ratings: Floats = components.systems[:, None] + shared + noise
    return ratings
