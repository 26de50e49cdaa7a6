"""Weights in half bytes: close to what they were, and the same when it is done again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import _kernel
from karat.realize.symbols import from_half_bytes, to_half_bytes


@given(st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=40), st.integers(1, 4))
def test_weights_are_close_and_stay(values: list[float], width: int) -> None:
    weights = np.array(values[: len(values) // width * width], dtype=np.float32)
    again = from_half_bytes(*to_half_bytes(weights, width), width)
    largest = np.abs(weights.reshape(-1, width)).max(axis=1).repeat(width)
    assert (np.abs(again - weights) <= largest / 7.01 * 0.5 * 2**0.5 * 1.001 + 1e-14).all()
    np.testing.assert_array_equal(from_half_bytes(*to_half_bytes(again, width), width), again)


def test_two_weights_share_a_byte() -> None:
    values, exponents = to_half_bytes(np.arange(-7, 8, dtype=np.float32), 15)
    assert (len(values), exponents.tolist()) == (8, [0])
    np.testing.assert_array_equal(from_half_bytes(values, exponents, 15), np.arange(-7, 8))


@given(st.integers(0, 6), st.integers(1, 5), st.data())
def test_the_kernel_reads_what_is_written_here(rows: int, width: int, data: st.DataObject) -> None:
    levels = data.draw(st.lists(st.integers(0, 15), min_size=rows * width, max_size=rows * width))
    scales = data.draw(st.lists(st.floats(0, 9, width=32), min_size=rows, max_size=rows))
    even = [*levels, 0] if len(levels) % 2 else levels
    values = np.array([a + 16 * b for a, b in zip(even[::2], even[1::2], strict=True)], np.uint8)
    got = _kernel.from_half_bytes(values, np.array(scales, np.float32), width)
    expected = [np.float32(level - 7) * scales[i // width] for i, level in enumerate(levels)]
    np.testing.assert_array_equal(got, np.array(expected, np.float32))


def test_what_does_not_fit_is_refused() -> None:
    values, exponents = to_half_bytes(np.ones(6, dtype=np.float32), 3)
    with pytest.raises(ValueError, match="3 bytes for 3 weights"):
        from_half_bytes(values, exponents[:1], 3)
    with pytest.raises(ValueError, match="wrong type"):
        from_half_bytes(values, exponents.astype(np.int32), 3)  # type: ignore[arg-type]
