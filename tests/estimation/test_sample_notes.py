"""Notes of estimates: each is given where it holds, and not where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import karat as kt
from karat.estimation.estimate_results import Estimate
from karat.evalset.judgements import JudgedPair

SEGMENTS = 40
SPREAD = [*range(0, SEGMENTS, 2)]
"""Labelled segments that are neither the first nor the last of the set."""
Make = Callable[[], Estimate]


def estimated(
    labelled: Sequence[int] = SPREAD,
    value: Callable[[int], float] = lambda i: 2.0 + i % 3,
    judge: Callable[[int], float | None] | None = lambda i: 2.0 + i % 3 + 0.1 * (i % 7),
    scale: bool = True,
    draws: Sequence[kt.Draw] | None = None,
    groups: Sequence[str] | None = None,
    only_a: Sequence[int] | None = None,
) -> Estimate:
    """Estimate two systems with the same labels and the same values of the judge."""
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in ("a", "b")}
    rows = [
        (name, str(i + 1), "ann", "quality", value(i))
        for name in ("a", "b")
        for i in (only_a if only_a is not None and name == "a" else labelled)
    ]
    dimension = kt.Dimension("quality", low=1, high=5) if scale else kt.Dimension("quality")
    evalset = kt.make_evalset(
        "notes", texts, judgements=rows, dimensions=[dimension], groups=groups, draws=draws
    )
    if judge is None:
        return kt.estimate(evalset, covariates="none")
    scores = {name: [judge(i) for i in range(SEGMENTS)] for name in texts}
    return kt.estimate(evalset.with_scores("metric", scores), judges="metric")


def compared(part: bool) -> Estimate:
    """Comparisons of three systems on every other segment: all pairs, or two of three."""
    names, rng = ("a", "b", "c"), np.random.default_rng(1)
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in names}
    plain = kt.make_evalset("pairs", texts, dimensions=[kt.Dimension("win", low=0, high=1)])
    pairs = tuple(
        JudgedPair(first, str(i + 1), "ann", "win", float(rng.integers(2)), second)
        for i in SPREAD
        for k, (first, second) in enumerate(combinations(names, 2))
        if not part or (i // 2 + k) % 3
    )
    return kt.estimate(replace(plain, pairs=pairs))


def make_draws(units: Sequence[int], probability: float | None = 0.5) -> list[kt.Draw]:
    return [kt.Draw(str(i + 1), probability) for i in units]


GROUPS = [f"d{i // 2}" for i in range(SEGMENTS)]
WHOLE_GROUPS = [i for i in range(SEGMENTS) if (i // 2) % 2]
NOTES: dict[str, tuple[Make, Make]] = {
    "Labels are taken as drawn at random, 20 of 40 segments": (
        estimated,
        lambda: estimated(draws=make_draws(SPREAD)),
    ),
    "Labels are taken as drawn at random": (estimated, lambda: estimated(range(SEGMENTS))),
    "Warning: the labelled segments are the first 20": (lambda: estimated(range(20)), estimated),
    "Warning: the labelled segments are the last 20": (lambda: estimated(range(20, 40)), estimated),
    "Warning: the labelled segments are the first": (
        lambda: estimated(range(20)),
        lambda: estimated(range(20), draws=make_draws(range(20))),
    ),
    "metric rates the labelled segments higher": (
        lambda: estimated(judge=lambda i: i % 3 + 9.0 * (i % 2 == 0)),
        estimated,
    ),
    "metric rates the labelled segments lower": (
        lambda: estimated(judge=lambda i: i % 3 - 9.0 * (i % 2 == 0)),
        estimated,
    ),
    "People compared only some pairs of systems on 20 segments": (
        lambda: compared(True),
        lambda: compared(False),
    ),
    "Only some segments of 20 groups are labelled": (
        lambda: kt.estimate(*_grouped(SPREAD), unit="group"),
        lambda: kt.estimate(*_grouped(WHOLE_GROUPS), unit="group"),
    ),
    "Only some segments of": (
        lambda: kt.estimate(*_grouped(SPREAD), unit="group"),
        lambda: kt.estimate(*_grouped(SPREAD), unit="group", population="new"),
    ),
    "at least a quarter of the labels are at one end of the scale": (
        lambda: estimated(value=lambda i: 5.0 if i % 4 else 3.0),
        estimated,
    ),
    "the bounded form": (
        lambda: estimated(value=lambda i: 5.0 if i % 4 else 3.0),
        lambda: estimated(value=lambda i: 5.0 if i % 8 else 3.0, scale=False),
    ),
    "No interval for a, b: all labels are equal": (
        lambda: estimated(value=lambda i: 3.0, scale=False),
        lambda: estimated(scale=False),
    ),
    "No interval for": (
        lambda: estimated(value=lambda i: 3.0, scale=False),
        lambda: estimated(value=lambda i: 3.0),
    ),
    "metric has no value for 2 outputs": (
        lambda: estimated(judge=lambda i: None if i == 1 else 2.0 + i % 3),
        estimated,
    ),
    "No judge was named": (lambda: estimated(judge=None), estimated),
    "estimates are those of people alone": (
        lambda: estimated(judge=None),
        lambda: estimated(range(SEGMENTS), judge=None),
    ),
    "Warning: higher values of the judge go with lower labels": (
        lambda: estimated(judge=lambda i: -float(i % 3)),
        estimated,
    ),
    "Unit: groups of segments (documents or questions)": (
        lambda: estimated(WHOLE_GROUPS, groups=GROUPS),
        lambda: estimated(groups=GROUPS),
    ),
    "were not drawn at random and left out": (
        lambda: estimated(draws=[*make_draws(SPREAD[:15]), *make_draws(SPREAD[15:], None)]),
        lambda: estimated(draws=make_draws(SPREAD)),
    ),
    "drawn segments have no label": (
        lambda: estimated(draws=make_draws(range(SEGMENTS))),
        lambda: estimated(draws=make_draws(SPREAD)),
    ),
    "Left out, with fewer than 10 labelled segments: a": (
        lambda: estimated(only_a=SPREAD[:5]),
        estimated,
    ),
}


def _grouped(labelled: Sequence[int]) -> tuple[kt.EvalSet, str]:
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in ("a", "b")}
    rows = [
        (name, str(i + 1), "ann", "quality", 2.0 + (i * 7) % 3) for name in texts for i in labelled
    ]
    dimensions = [kt.Dimension("quality", low=1, high=5)]
    evalset = kt.make_evalset("g", texts, judgements=rows, dimensions=dimensions, groups=GROUPS)
    return evalset, "quality"


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_given_where_it_holds_and_not_where_it_does_not(note: str) -> None:
    holds, fails = NOTES[note]
    assert any(note in message for message in holds().notes)
    assert not any(note in message for message in fails().notes)
