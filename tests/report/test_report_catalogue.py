"""The catalogue of metrics says what scores can be, and scores keep to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from karat.metrics.names import METRICS, list_metrics

words = st.lists(st.sampled_from("abcde"), min_size=1, max_size=12)
NEEDS_A_FILE = {
    "bertscore",
    "cosine",
    "entail",
    "pem",
    "pivot_f1",
    "given",
    "estimate",
    "support",
}  # tested in tests/paraphrase and tests/metrics
BOUNDED = sorted(name for name in METRICS if METRICS[name].bounded if name not in NEEDS_A_FILE)
FREE = sorted(
    name
    for name in METRICS
    if not (METRICS[name].bounded or METRICS[name].score_range)
    if name not in NEEDS_A_FILE
)


SETTINGS = {"regex": "regex:pattern=a.*b"}
"""Metrics that need a setting."""


def score(name: str, candidate: list[str], reference: list[str]) -> float:
    """A metric's score of one segment; the reference is a tree, all words below the first."""
    if name == "number":  # of words only, the last of which is a number
        candidate, reference = [*candidate, "1"], [*reference, "1" * len(reference)]
    tree = kt.Tree(tuple(reference), (0, *[1] * (len(reference) - 1)))
    return (
        kt.metric(SETTINGS.get(name, name)).corpus([" ".join(candidate)], [tree], threads=1).value
    )


def heading(name: str) -> str:
    """The line above a metric's settings."""
    table = list_metrics(name).document().tables[0]
    return str(table.column("heading").cell(table.rows[0]))


@pytest.mark.parametrize("name", BOUNDED)
@settings(max_examples=25)
@given(candidate=words, reference=words)
def test_what_has_a_scale_keeps_to_it(name, candidate, reference):
    top = METRICS[name].full_scale
    assert f"(0 to {top:.0f})" in heading(name)
    assert 0 <= score(name, candidate, reference) <= top * (1 + 1e-12)


@pytest.mark.parametrize("name", FREE)
def test_what_may_leave_the_scale_says_so_and_does(name):
    value = score(name, ["x"] * 9, ["a", "b"])
    if METRICS[name]().sign > 0:
        assert f"{name} (up to 1, may be negative)" in heading(name)
        assert value < 0
    else:
        assert f"{name} (from 0, lower is better)" in heading(name)
        assert value > 100


@pytest.mark.parametrize("name", FREE)
@settings(max_examples=25)
@given(candidate=words, reference=words)
def test_the_end_that_is_named_holds(name, candidate, reference):
    cls = METRICS[name]()
    value = score(name, candidate, reference)
    assert value <= cls.full_scale + 1e-12 if cls.sign > 0 else value >= 0
    perfect = cls.full_scale if cls.sign > 0 else 0.0
    assert score(name, reference, reference) == pytest.approx(perfect)


def test_every_metric_is_one_or_the_other():
    assert {"bleu", "chrf", "gtm", "rougeL"} <= set(BOUNDED)
    assert {"ter", "wer", "generation_accuracy", "quality_accuracy"} <= set(FREE)
