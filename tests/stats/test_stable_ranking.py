"""Stable ranking probability: components of simulated ratings, and limits that are known."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats

import karat as kt
from karat.stats.stable_ranking import (
    RatingComponents,
    StudyDesign,
    ranking_stability,
    rating_components,
)


def simulated(
    rng: np.random.Generator, theta: list[float], item: float, rater: float, rest: float
) -> list[np.ndarray[Any, Any]]:
    """Ratings of 400 items by 40 raters; each item has two of them."""
    tables = []
    cells = np.stack([rng.permutation(40)[:2] for _ in range(400)])
    for mean in theta:
        values = mean + rng.normal(0, item, (400, 1)) + rng.normal(0, rater, 40)
        values = values + rng.normal(0, rest, (400, 40))
        table = np.full((400, 40), np.nan)
        np.put_along_axis(table, cells, np.take_along_axis(values, cells, axis=1), axis=1)
        tables.append(table)
    return tables


def test_components_are_those_of_the_simulation() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(10):
        components = rating_components(simulated(rng, [0, 0.5, 1], 0.5, 0.3, 0.8))
        assert components is not None
        found.append((components.item**2, components.rater**2, components.rest**2))
    assert np.mean(found, axis=0) == pytest.approx([0.25, 0.09, 0.64], rel=0.12)


def test_noise_does_not_spread_the_systems() -> None:
    rng = np.random.default_rng(1)
    widths = []
    for _ in range(10):
        components = rating_components(simulated(rng, [0, 0, 0], 0.5, 0.3, 0.8))
        assert components is not None
        widths.append(float(np.ptp(components.systems)))
    assert np.median(widths) < 0.05


def test_items_need_two_raters() -> None:
    rng = np.random.default_rng(2)
    tables = simulated(rng, [0, 1], 0.5, 0.3, 0.8)
    for table in tables:
        table[:, 20:] = np.nan
        first = np.argmax(~np.isnan(table), axis=1)
        keep = np.zeros(table.shape, bool)
        keep[np.arange(400), first] = True
        table[~keep] = np.nan
    assert rating_components(tables) is None


def test_two_systems_have_the_probability_of_two_studies() -> None:
    """Without raters' tastes, the difference of a study is normal, and its test is Student's."""
    components = RatingComponents(np.array([0.0, 0.1]), 0.6, 0.0, 0.8)
    result = ranking_stability(components, StudyDesign(40, 4, 2), 4000, 0)
    error = sqrt(2 * (0.36 + 0.64 / 2) / 40)
    shift, critical = 0.1 / error, scipy.stats.t.ppf(0.975, 39)
    above, below = (
        scipy.stats.nct.sf(critical, 39, shift),
        scipy.stats.nct.cdf(-critical, 39, shift),
    )
    again = scipy.stats.norm.cdf(shift)
    assert result.significant == pytest.approx(above + below, abs=0.02)
    expected = 1 - above * (1 - again) - below * again
    assert result.stable == pytest.approx(expected, abs=0.01)


def test_few_raters_make_significant_rankings_unstable() -> None:
    """More items do not help: tastes of three raters decide."""
    components = RatingComponents(np.zeros(4), 0.3, 0.5, 0.5)
    few = ranking_stability(components, StudyDesign(200, 3, 1), 200, 0)
    many = ranking_stability(components, StudyDesign(200, 100, 1), 200, 0)
    assert few.stable < 0.4 < many.stable
    assert few.significant > 0.5


def test_equal_ratings_are_stable() -> None:
    components = RatingComponents(np.array([0.0, 1.0, 2.0]), 0.0, 0.0, 0.0)
    assert ranking_stability(components, StudyDesign(5, 2, 1), 20, 0) == (1.0, 0.0, 1.0)


def test_the_plan_has_a_row_for_each_design() -> None:
    plan = kt.plan_raters(
        "demo", "adequacy", raters=[2, 4], items=[6, 12], overlap=[1, 3], trials=50
    )
    designs = [(row.items, row.raters, row.overlap) for row in plan.rows]
    assert designs == [(6, 2, 1), (6, 4, 1), (6, 4, 3), (12, 2, 1), (12, 4, 1), (12, 4, 3)]
    assert [row.ratings for row in plan.rows] == [24, 24, 72, 48, 48, 144]
    again = kt.plan_raters(
        "demo", "adequacy", raters=[2, 4], items=[6, 12], overlap=[1, 3], trials=50
    )
    assert again.rows == plan.rows
    assert "stable ranking probability" in plan.summary


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("power", "--set", "demo", "--raters", "3"), "need --ratings NAME: add it"),
        (("power", "--set", "demo", "--ratings", "x"), "demo has no dimension 'x'"),
        (("power", "--set", "demo", "--ratings", "adequacy", "-m", "bleu"), "use --set alone"),
        (("power", "atlas.txt", "-r", "ref1.txt", "--ratings", "x"), "use --set alone"),
        (
            ("power", "--set", "demo", "--ratings", "adequacy", "--raters", "2", "--overlap", "3"),
            "every overlap is larger than the number of raters",
        ),
        (
            ("power", "--set", "demo", "--ratings", "errors"),
            "the noise of raters of errors is unknown",
        ),
    ],
)
def test_bad_input(run_karat: Any, folder: Any, arguments: tuple[str, ...], message: str) -> None:
    done = run_karat(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
