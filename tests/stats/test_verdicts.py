"""The significance rule: p, interval and number of units together decide."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.stats.significance import (
    MIN_DECIDING_UNITS,
    SIGNIFICANCE_LEVEL,
    clusters,
    interval_verdict,
    is_significant,
    separates_ranks,
    verdict,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("p", "ends", "sign", "decision"),
    [
        (0.01, (0.1, 2.0), 1, "better"),
        (0.01, (0.1, 2.0), -1, "worse"),
        (0.01, (-2.0, -0.1), -1, "better"),
        (0.01, (-2.0, -0.1), 1, "worse"),
        (0.01, (-0.1, 2.0), 1, "undecided"),  # p alone does not decide
        (0.05, (0.1, 2.0), 1, "undecided"),  # nor does the interval
        (0.01, (0.0, 2.0), 1, "undecided"),
        (0.01, (-2.0, 0.0), 1, "undecided"),
        (0.01, (0.0, 0.0), 1, "undecided"),
        (0.01, (NAN, 2.0), 1, "undecided"),
        (0.01, (0.1, NAN), 1, "undecided"),
        (0.01, (NAN, NAN), 1, "undecided"),
        (NAN, (0.1, 2.0), 1, "undecided"),
    ],
)
def test_p_and_interval_decide_together(
    p: float, ends: tuple[float, float], sign: int, decision: str
) -> None:
    assert verdict(p, ends, 80, sign) == decision


def test_few_units_never_decide() -> None:
    assert verdict(0.0, (0.1, 2.0), MIN_DECIDING_UNITS - 1) == "undecided"
    assert verdict(0.0, (0.1, 2.0), MIN_DECIDING_UNITS) == "better"


def test_the_fewest_units_are_those_of_which_a_sign_test_can_be_significant() -> None:
    assert is_significant(2 / 2**MIN_DECIDING_UNITS)
    assert not is_significant(2 / 2 ** (MIN_DECIDING_UNITS - 1))


def test_an_interval_without_a_test_decides_by_its_ends() -> None:
    assert interval_verdict((0.1, 2.0)) == "better"
    assert interval_verdict((-2.0, -0.1)) == "worse"
    for ends in [(-0.1, 0.1), (0.0, 1.0), (-1.0, 0.0), (NAN, -1.0), (1.0, NAN)]:
        assert interval_verdict(ends) == "undecided"


def test_ranks_are_separated_at_the_level_too() -> None:
    assert separates_ranks(SIGNIFICANCE_LEVEL, SIGNIFICANCE_LEVEL)
    assert not separates_ranks(0.051, SIGNIFICANCE_LEVEL)
    assert not separates_ranks(NAN, SIGNIFICANCE_LEVEL)
    square = np.full((2, 2), SIGNIFICANCE_LEVEL)
    assert clusters(square) == [1, 2]


def test_the_level_has_one_home() -> None:
    """No other module compares a p-value with 0.05 or has a level of its own."""
    copies = re.compile(
        r"\bp(_value)? *[<>]=? *0?\.05\b|\b(significan\w*|level|sure\w*).* = 0?\.05$"
    )
    source = Path(karat.__file__).parent
    lines = (
        (path, line)
        for path in source.rglob("*.py")
        if path.name != "significance.py"
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    assert [f"{path}: {line}" for path, line in lines if copies.search(line.lower())] == []
