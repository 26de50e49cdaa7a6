"""The experiment with crossed ratings: its truth, its overlaps and its rows."""

from __future__ import annotations

import numpy as np
import pytest
import raters


@pytest.mark.parametrize("kind", raters.KINDS)
def test_the_truth_is_the_mean_of_many_ratings(kind: str) -> None:
    rng = np.random.default_rng(0)
    values = raters.simulate(raters.KINDS[kind], np.ones((2, 300, 300), np.bool_), rng)
    for mean, rated in zip(raters.KINDS[kind].means, values, strict=True):
        spread = float(rated.mean(axis=0).std() / 300**0.5 + rated.mean(axis=1).std() / 300**0.5)
        assert abs(rated.mean() - raters.KINDS[kind].truth(mean)) < 3 * spread


def test_many_ratings_are_ties() -> None:
    rng = np.random.default_rng(0)
    values = raters.simulate(raters.KINDS["ties"], np.ones((2, 100, 100), np.bool_), rng)
    assert 0.3 < (values == 5).mean() < 0.5


def test_overlaps_have_raters_as_they_say() -> None:
    rng = np.random.default_rng(0)
    shares = {name: make(40, 5, rng) for name, make in raters.OVERLAPS.items()}
    counts = {name: rated.sum(axis=2) for name, rated in shares.items()}
    assert (counts["full"] == 5).all()
    assert (counts["two"] == 2).all()
    assert (counts["one"] == 1).all()
    assert (counts["apart"] == 1).all()
    assert not (shares["apart"][0] & shares["apart"][1]).any()
    assert counts["uneven"].min() >= 1
    by_rater = shares["uneven"][0].sum(axis=0)
    assert by_rater[0] < by_rater[-1]


def test_rows_have_standard_errors() -> None:
    held = raters.coverage(raters.KINDS["100"], "full", 3, 10, 20)
    assert held.shape == (4,)
    assert (held > 0.3).all()
