"""`draw_units`: units drawn at random, what is recorded of them, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.estimation.planning import draw_units


def test_units_are_drawn_once_and_in_order() -> None:
    units = draw_units("demo", 5)
    numbers = [int(draw.unit) for draw in units.rows]
    assert numbers == sorted(set(numbers))
    assert {draw.probability for draw in units.rows} == {5 / 12}
    assert units.rows == draw_units("demo", 5).rows
    assert units.rows != draw_units("demo", 5, seed=1).rows


def test_all_units_are_as_likely() -> None:
    counts = Counter(d.unit for seed in range(400) for d in draw_units("demo", 3, seed=seed).rows)
    assert len(counts) == 12
    assert min(counts.values()) > 70
    assert max(counts.values()) < 135  # 100 expected each


def test_what_was_drawn_goes_with_the_set(tmp_path: Path, output: Callable[..., str]) -> None:
    plan = tmp_path / "draws.tsv"
    output("data", "draw", "demo", "4", "--plan", str(plan))
    evalset = kt.load_evalset("demo", draws=plan).draws
    assert evalset == draw_units("demo", 4).rows


def test_groups_are_drawn_as_wholes() -> None:
    evalset = kt.make_evalset("g", {"a": ["x"] * 6}, groups=["d1", "d1", "d2", "d2", "d3", "d3"])
    (row,) = draw_units(evalset, 1, "group").rows
    assert (row.of, row.probability) == ("group", 1 / 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (("demo", 13), "13 segments: expected 1 to 12"),
        (("demo", 0), "0 segments: expected 1 to 12"),
        (("demo", 3, "word"), "unit 'word': expected segment or group"),
        (("demo-paraphrases", 3, "group"), "demo-paraphrases has no groups of segments"),
        (("demo-labels", 3), "demo-labels has draws already"),
    ],
)
def test_what_cannot_be_drawn_is_refused(data: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        draw_units(*data)
