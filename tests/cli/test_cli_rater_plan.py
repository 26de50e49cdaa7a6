"""`karat power --ratings`: a plan for raters, on the command line."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]


def write_ratings(path: Path, n_segments: int) -> None:
    rng = random.Random(1)
    rows = [
        f"{system},s{segment},{judge},q,{rng.randint(1, 5)}"
        for system in "AB"
        for segment in range(n_segments)
        for judge in ("ann", "bob")
    ]
    path.write_text("\n".join(["system,segment,judge,dimension,value", *rows]), "utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--power", ".9"], "--power plans metrics, --ratings plans ratings: drop one"),
        (["--difference", "3"], "--difference plans metrics, --ratings plans ratings"),
        (["--unit", "document"], "--unit plans metrics, --ratings plans ratings"),
        (["-m", "bleu"], "use --set alone, without -m"),
        (["--overlap", "6", "--raters", "5"], "every overlap is larger than the number of raters"),
        (
            ["--raters", "1000000", "--items", "1000000", "--overlap", "1000"],
            "a study of 1,000,000 items with 1,000 raters each has 2,000,000,000 ratings of 2 "
            "systems, expected at most 10,000,000",
        ),
    ],
)
def test_bad_options(run_karat: Called, folder: Path, arguments: list[str], message: str) -> None:
    write_ratings(folder / "ratings.csv", 12)
    done = run_karat("power", "--set", "ratings.csv", "--ratings", "q", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_one_segment_is_too_few(run_karat: Called, folder: Path) -> None:
    write_ratings(folder / "ratings.csv", 1)
    done = run_karat("power", "--set", "ratings.csv", "--ratings", "q")
    assert done.returncode == 2
    assert "expected at least two segments where two raters rated the same outputs" in done.stderr


def test_a_study_that_decides_little_is_called_so(run_karat: Called, folder: Path) -> None:
    write_ratings(folder / "ratings.csv", 12)
    arguments = ["--items", "4", "--raters", "2", "--overlap", "1"]
    done = run_karat("power", "--set", "ratings.csv", "--ratings", "q", *arguments)
    assert "the ranking is stable because the study decides little." in " ".join(
        done.stdout.split()
    )
