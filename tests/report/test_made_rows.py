"""Rows that are made when they are looked at: the same as a list of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from karat.results import LazyRows

Row = dict[str, int]


def rows(*sizes: int) -> LazyRows[Row]:
    def maker(part: int) -> Callable[[int], Row]:
        return lambda i: {"part": part, "row": i}

    return LazyRows([(size, maker(part)) for part, size in enumerate(sizes)])


@pytest.mark.parametrize("sizes", [(), (0,), (3,), (2, 0, 3), (0, 1), (1, 0)], ids=str)
def test_rows_are_those_of_a_list(sizes: tuple[int, ...]) -> None:
    listed: list[Row] = [{"part": p, "row": i} for p, n in enumerate(sizes) for i in range(n)]
    lazy_rows = rows(*sizes)
    assert len(lazy_rows) == len(listed)
    assert list(lazy_rows) == listed
    assert lazy_rows[1:4] == listed[1:4]
    assert lazy_rows[::-1] == listed[::-1]


def test_a_row_that_is_not_there() -> None:
    for index in (-1, 5):
        with pytest.raises(IndexError):
            rows(2, 3)[index]


def test_no_row_is_made_before_it_is_looked_at() -> None:
    indices: list[int] = []

    def make(i: int) -> Row:
        indices.append(i)
        return {"row": i}

    lazy_rows = LazyRows([(1_000_000, make)])
    assert lazy_rows[7] == {"row": 7}
    assert indices == [7]
