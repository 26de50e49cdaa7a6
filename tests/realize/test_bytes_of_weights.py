"""Weights in bytes: close to what they were, and the same when it is done again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.realize.symbols import from_bytes, to_bytes


@given(st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=40), st.integers(1, 4))
def test_weights_are_close_and_stay(values: list[float], width: int) -> None:
    weights = np.array(values[: len(values) // width * width], dtype=np.float32)
    again = from_bytes(*to_bytes(weights, width), width)
    largest = np.abs(weights.reshape(-1, width)).max(axis=1).repeat(width)
    assert (np.abs(again - weights) <= largest / 127 + 1e-28).all()
    np.testing.assert_array_equal(from_bytes(*to_bytes(again, width), width), again)


def test_what_does_not_fit_is_refused() -> None:
    values, exponents = to_bytes(np.ones(6, dtype=np.float32), 3)
    with pytest.raises(ValueError, match="reshape"):
        from_bytes(values, exponents[:1], 3)
    with pytest.raises(ValueError, match="wrong type"):
        from_bytes(values, exponents.astype(np.int32), 3)  # type: ignore[arg-type]


def test_exponents_out_of_range_are_refused():
    with pytest.raises(ValueError, match="out of range"):
        from_bytes(np.array([1], np.int8), np.array([127], np.int8), 1)
