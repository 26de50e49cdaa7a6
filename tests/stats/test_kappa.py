"""Cohen's kappa against a loop, and where it is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.stats.judges import cohen_kappa

label = st.sampled_from([0.0, 0.5, 1.0, math.nan])


@given(st.lists(st.tuples(label, label), max_size=12))
def test_kappa_is_agreement_beyond_chance(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array([pair[k] for pair in pairs], dtype=float) for k in (0, 1))
    kappa = cohen_kappa(first, second)
    selected = [pair for pair in pairs if not any(map(math.isnan, pair))]
    assert kappa.units == len(selected)
    if len({value for pair in selected for value in pair}) < 2:
        assert math.isnan(kappa.value)
        assert kappa.reason
        return
    n = len(selected)
    equal = sum(a == b for a, b in selected) / n
    chance = sum(a == b for a, _ in selected for _, b in selected) / n**2
    assert kappa.equal == pytest.approx(equal)
    assert kappa.value == pytest.approx((equal - chance) / (1 - chance))


def test_an_example_by_hand() -> None:
    """20 and 15 times both say yes and no, 5 and 10 times they differ: Cohen's 1960 form."""
    first = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    assert cohen_kappa(first, second).value == pytest.approx(0.4)


def test_tables_of_different_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="2 and 3 labels"):
        cohen_kappa(np.zeros(2), np.zeros(3))
