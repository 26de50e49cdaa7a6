"""Weights in half bytes: close to what they were, and the same when it is done again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.realize.half_bytes_of_weights import from_half_bytes, to_half_bytes


@given(st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=40), st.integers(1, 4))
def test_weights_are_close_and_stay(values: list[float], width: int) -> None:
    weights = np.array(values[: len(values) // width * width], dtype=np.float32)
    again = from_half_bytes(*to_half_bytes(weights, width), width)
    largest = np.abs(weights.reshape(-1, width)).max(axis=1).repeat(width)
    assert (np.abs(again - weights) <= largest / 7.01 * 0.5 * 2**0.5 * 1.001 + 1e-14).all()
    np.testing.assert_array_equal(from_half_bytes(*to_half_bytes(again, width), width), again)


def test_two_weights_share_a_byte() -> None:
    found, exponents = to_half_bytes(np.arange(-7, 8, dtype=np.float32), 15)
    assert (len(found), exponents.tolist()) == (8, [0])
    np.testing.assert_array_equal(from_half_bytes(found, exponents, 15), np.arange(-7, 8))


def test_what_does_not_fit_is_refused() -> None:
    found, exponents = to_half_bytes(np.ones(6, dtype=np.float32), 3)
    with pytest.raises(ValueError, match="3 bytes for 3 weights"):
        from_half_bytes(found, exponents[:1], 3)
    with pytest.raises(ValueError, match="wrong type"):
        from_half_bytes(found, exponents.astype(np.int32), 3)  # type: ignore[arg-type]
