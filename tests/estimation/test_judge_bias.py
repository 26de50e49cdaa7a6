"""The bias of judges: who is rated higher or lower than people do, beside the other systems."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest

from karat.estimation.samples import LabelScale, Sample
from karat.estimation.system_estimates import judge_bias, predict
from karat.stats.estimates import MeanInterval
from karat.stats.population import Design

UNITS = 40
LEVELS = np.array([1.0, 2.0, 3.0, 6.0])


def biases_of(judge: Any, y: Any, has_score: Any = True) -> list[MeanInterval]:
    """The biases of a judge for systems x units."""
    y = np.where(has_score, y, np.nan)
    values = np.asarray(judge, float)[:, :, None]
    names = tuple(f"s{k}" for k in range(len(y)))
    about = "made-up", "quality", names, tuple(map(str, range(y.shape[1]))), "segment"
    is_present = np.ones(y.shape, bool)
    design = Design.simple(np.ones(y.shape[1]))
    sample = Sample(*about, y, values, values, is_present, ("judge",), design, LabelScale())
    return list(judge_bias(sample, predict(sample), False))


def labels(systems: int = 4) -> Any:
    rng = np.random.default_rng(5)
    return LEVELS[:systems, None] + 0.3 * rng.normal(size=(systems, UNITS))


def noise() -> Any:
    """Noise that is 0 on average for every system, so that it is no bias."""
    rng = np.random.default_rng(6)
    half = rng.normal(size=(4, UNITS // 2))
    return np.concatenate([half, -half], axis=1)


@pytest.mark.parametrize("scale", [0.1, 1.0, 25.0])
def test_a_judge_on_another_scale_has_no_bias(scale: float) -> None:
    for bias in biases_of(7 + scale * labels(), labels()):
        assert bias[:3] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_an_imprecise_judge_has_no_bias_either() -> None:
    """lambda is far below 1 here, and lambda f - Y would be lower for good systems."""
    for bias in biases_of(labels() + 3 * noise(), labels()):
        assert bias.mean == pytest.approx(0.0, abs=1e-9)
        assert bias.low < 0 < bias.high


def test_a_favoured_system_stands_out() -> None:
    """Means 1, 2, 3 and 6 are judged 1, 2, 5 and 6: the line is 3 + 57 / 69 (f - 3.5)."""
    y = np.repeat(LEVELS[:, None], UNITS, axis=1) + 0.2 * noise()
    f = y + np.array([0.0, 0.0, 2.0, 0.0])[:, None]
    slope = (-2 * -2.5 + -1 * -1.5 + 0 * 1.5 + 3 * 2.5) / (2.5**2 + 1.5**2 + 1.5**2 + 2.5**2)
    expected = [slope * (a - 3.5) - (b - 3) for a, b in zip([1, 2, 5, 6], LEVELS, strict=True)]
    biases = biases_of(f, y)
    assert [bias.mean for bias in biases] == pytest.approx(expected)
    assert biases[2].low > 0
    assert biases[3].high < 0  # what favours one system counts against others


def test_a_judge_that_turns_systems_round_is_as_if_it_saw_none() -> None:
    y = labels()
    biases = biases_of(-2 * LEVELS[:, None] + (y - y.mean(axis=1, keepdims=True)), y)
    centred = y.mean(axis=1) - y.mean()
    assert [bias.mean for bias in biases] == pytest.approx((-centred).tolist())


def test_two_systems_tell_no_bias() -> None:
    assert all(isnan(bias.mean) for bias in biases_of(labels(2), labels(2)))


def test_units_of_one_system_alone_do_not_count() -> None:
    has_score = np.ones((4, UNITS), bool)
    has_score[1:, 30:] = False
    y = labels()
    y[0, 30:] += 50
    for bias in biases_of(labels(), y, has_score):
        assert bias.mean == pytest.approx(0.0, abs=1e-9)
