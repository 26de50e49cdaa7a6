"""The quick exponentials and logarithms of inner loops: within one unit in the last place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from karat import _kernel
from karat.arithmetic import exp, log, quick_exp, quick_log


def _units(values: np.ndarray, exact: np.ndarray) -> float:
    """The largest error, in units in the last place of the exact values (to half a unit)."""
    return float((np.abs(values - exact) / np.spacing(np.abs(exact))).max())


def test_quick_exponentials() -> None:
    x = np.concatenate([np.linspace(-744, 709.7, 50_001), np.linspace(-1, 1, 50_001)])
    assert _units(quick_exp(x), exp(x)) <= 1
    assert [quick_exp(float(item)) for item in x[::997]] == quick_exp(x)[::997].tolist()
    assert quick_exp(np.array([0.0, -800.0, 800.0, -math.inf, math.inf])).tolist() == [
        *(1, 0, math.inf, 0, math.inf)
    ]
    assert math.isnan(quick_exp(math.nan))


def test_quick_logarithms() -> None:
    x = np.concatenate([exp(np.linspace(-740, 709, 50_001)), np.linspace(0.5, 2, 50_001)])
    x = x[x != 1]
    assert _units(quick_log(x), log(x)) <= 1
    ends = quick_log(np.array([1.0, 0.0, math.inf, 5e-324]))
    assert ends.tolist() == [0, -math.inf, math.inf, log(5e-324)]
    assert math.isnan(quick_log(-1.0))


def test_exponentials_of_floats_are_nearly_those_of_doubles_rounded() -> None:
    x = np.linspace(-103, 88.7, 100_001).astype(np.float32)
    values = _kernel.exp_of_float(x.astype(np.float64))
    exact = exp(x.astype(np.float64))
    unit = np.spacing(exact.astype(np.float32)).astype(np.float64)
    assert (np.abs(values - exact) / unit).max() < 0.51
    ends = _kernel.exp_of_float(np.array([0.0, -200.0, 89.0, -math.inf, math.inf]))
    assert ends.tolist() == [1, 0, math.inf, 0, math.inf]
    assert math.isnan(_kernel.exp_of_float(math.nan))


@pytest.mark.parametrize("exponent", [math.inf, -math.inf, 1e308, -1e308])
def test_powers_beyond_all_numbers(exponent: float) -> None:
    assert _kernel.power(10.0, exponent) == (math.inf if exponent > 0 else 0)
    assert _kernel.power(0.1, exponent) == (0 if exponent > 0 else math.inf)
