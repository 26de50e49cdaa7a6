"""Decisions: verdicts by hand, the numbers of `compare`, identical runs, few items."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.gating.decisions import (
    FAIL,
    PASS,
    UNDECIDED,
    GateRow,
    PairedItems,
    decide,
    describe_row,
    items_to_decide,
)
from karat.gating.items import MeasuredItems
from karat.stats.units import Units

REFERENCES = [f"the cat number {i} sat on the mat of house {i % 7}" for i in range(60)]
BETTER = [text if i % 3 else text.replace("cat", "dog") for i, text in enumerate(REFERENCES)]
WORSE = [text if i % 2 else "a dog" for i, text in enumerate(BETTER)]


def paired(metric: str, run: list[str], baseline: list[str]) -> PairedItems:
    m = kt.metric(metric)
    rows = (m.stats(texts, REFERENCES) for texts in (run, baseline))
    return PairedItems(MeasuredItems(m, m.signature(), next(rows)), next(rows))


def decide_one(metric: str, run: list[str], baseline: list[str], drop: float = 0.0) -> GateRow:
    pair = paired(metric, run, baseline)
    return decide([pair], {metric: drop}, "simultaneous")[0]


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter", "rougeL"])
def test_identical_runs_pass(metric: str) -> None:
    row = decide_one(metric, BETTER, BETTER)
    assert (row.verdict, row.delta, row.low, row.high) == (PASS, 0, 0, 0)


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_a_loss_fails_whatever_the_direction(metric: str) -> None:
    lost, gained = decide_one(metric, WORSE, BETTER), decide_one(metric, BETTER, WORSE)
    assert (lost.verdict, gained.verdict) == (FAIL, PASS)
    assert lost.delta < 0 < gained.delta == -lost.delta
    assert lost.high < 0 < gained.low


def test_the_numbers_are_those_of_compare() -> None:
    compared = kt.compare({"old": BETTER, "new": WORSE}, REFERENCES, "bleu")["new", "bleu"]
    row = decide_one("bleu", WORSE, BETTER)
    assert (row.delta, row.low, row.high) == (
        compared.delta,
        compared.delta_low,
        compared.delta_high,
    )
    turned = kt.compare({"old": BETTER, "new": WORSE}, REFERENCES, "ter")["new", "ter"]
    row = decide_one("ter", WORSE, BETTER)  # lower is better: a loss is negative
    assert (row.delta, row.low, row.high) == (
        -turned.delta,
        -turned.delta_high,
        -turned.delta_low,
    )


@pytest.mark.parametrize("metric", ["chrf", "bleu"])
def test_units_are_those_of_compare(metric: str) -> None:
    labels = [f"house {i // 4}" for i in range(60)]
    units = Units.from_labels("house", labels)
    compared = kt.compare({"old": BETTER, "new": WORSE}, REFERENCES, metric, units=labels)
    expected = compared["new", metric]
    row = decide([paired(metric, WORSE, BETTER)], {}, "none", units)[0]
    assert (row.delta, row.low, row.high) == (
        expected.delta,
        expected.delta_low,
        expected.delta_high,
    )
    assert (row.low, row.high) != decide_one(metric, WORSE, BETTER)[5:7]


def test_the_limits_decide() -> None:
    """The three outcomes, at the ends of one interval."""
    row = decide_one("chrf", WORSE, BETTER)
    assert row.low < row.delta < row.high < 0
    for drop, verdict in [
        (-row.high * 0.999, FAIL),
        (-row.high, UNDECIDED),  # u < -t is not u <= -t
        (-row.low * 0.999, UNDECIDED),
        (-row.low, PASS),
        (-row.low * 1.001, PASS),
    ]:
        assert decide_one("chrf", WORSE, BETTER, drop).verdict == verdict


def test_items_needed_are_items_whatever_the_units() -> None:
    """Of pairs of equal items, the number of pairs is that of single items."""
    changed = [*BETTER[:3], *("a dog and a cat" for _ in BETTER[3:5]), *BETTER[5:]]
    changed[0], changed[9] = REFERENCES[0], REFERENCES[9]
    pair = paired("chrf", changed, BETTER)
    twice = PairedItems(
        pair.run._replace(rows=np.repeat(pair.run.rows, 2, axis=0)),
        np.repeat(pair.baseline, 2, axis=0),
    )
    units = Units.from_labels("pair", [i // 2 for i in range(120)])
    single = decide([pair], {}, "none")[0]
    row = decide([twice], {}, "none", units)[0]
    assert (row.low, row.high) == pytest.approx((single.low, single.high))
    assert single.decided_by is not None
    assert row.decided_by == 2 * single.decided_by


@pytest.mark.parametrize(
    ("delta", "low", "high", "drop", "items"),
    [
        (-1.0, -3.0, 1.0, 0.0, 400),  # half width 2, distance 1: four times as many
        (1.0, -1.0, 3.0, 0.0, 400),
        (-1.0, -3.0, 1.0, 3.0, 101),  # nearly decided: at least one more
        (-2.0, -3.0, 0.0, 1.5, 1600),  # the upper half, 2, decides a fail
        (0.5, -0.5, 2.5, 0.0, 400),  # the lower half, 1, decides a pass
        (-1.0, -3.0, 1.0, 1.0, None),  # exactly at the limit
    ],
)
def test_the_number_of_items_that_would_decide(
    delta: float, low: float, high: float, drop: float, items: int | None
) -> None:
    assert items_to_decide(100, delta, low, high, drop) == items


def test_more_items_decide_as_was_estimated() -> None:
    """The same items as often as the estimate says, and half more: now it is decided."""
    changed = [*BETTER[:3], *("a dog and a cat" for _ in BETTER[3:5]), *BETTER[5:]]
    changed[0], changed[9] = REFERENCES[0], REFERENCES[9]
    pair = paired("chrf", changed, BETTER)
    row = decide([pair], {}, "none")[0]
    assert row.verdict == UNDECIDED
    assert row.decided_by is not None
    times = math.ceil(1.5 * row.decided_by / 60)
    many = PairedItems(
        pair.run._replace(rows=np.tile(pair.run.rows, (times, 1))),
        np.tile(pair.baseline, (times, 1)),
    )
    assert decide([many], {}, "none")[0].verdict != UNDECIDED


def test_several_metrics_are_corrected() -> None:
    pairs = [paired(name, WORSE, BETTER) for name in ("chrf", "bleu", "rougeL")]
    alone = decide(pairs, {}, "none")
    both = decide(pairs, {}, "simultaneous")
    assert all(b.low <= a.low and a.high <= b.high for a, b in zip(alone, both, strict=True))
    assert any(b.low < a.low for a, b in zip(alone, both, strict=True))


def test_sentences_say_what_was_decided() -> None:
    m = kt.metric("chrf")
    row = GateRow(m, FAIL, 60.0, 62.5, -2.5, -3.5, -1.25, 1.0, None)
    assert describe_row(row) == (
        "chrf went from 62.50 to 60.00 (-2.50, 95% interval -3.50 to -1.25): this is a loss of "
        "more than 1.00"
    )
    row = row._replace(verdict=UNDECIDED, high=0.5, max_drop=0.0, decided_by=1234)
    assert describe_row(row).endswith(
        "(-2.50, 95% interval -3.50 to +0.50): these items cannot tell whether this is a loss; "
        "about 1,234 items like these would decide (an estimate)"
    )
    assert describe_row(row._replace(verdict=PASS)).endswith(": a loss is ruled out")


def test_one_item_is_too_few() -> None:
    m = kt.metric("chrf")
    rows = m.stats(["a b"], ["a c"])
    with pytest.raises(kt.InputError, match="1 item has a score: a gate needs at least two"):
        decide([PairedItems(MeasuredItems(m, "", rows), rows)], {}, "none")


def test_a_loss_of_two_items_is_undecided(tmp_path: Path) -> None:
    """Both items lost, which is too few to be certain."""
    right, path = ["a b c d", "e f g h"], tmp_path / "b"
    kt.write_baseline(right, right, baseline=path)
    assert kt.gate(["a b c x", "e f y h"], right, baseline=path).undecided


@pytest.mark.parametrize("items", [2, 5, 6])
@pytest.mark.parametrize("change", [-1, 1, 0])
def test_few_items_that_differ_all_alike_are_undecided(items: int, change: int) -> None:
    """Their interval has no width, whatever other items would do."""
    m = kt.metric("rougeL")
    less, more = ["a b x x"] * items, ["a b x x y y"] * items
    runs = {-1: (more, less), 1: (less, more), 0: (less, less)}[change]
    after, before = (m.stats(texts, ["a b"] * items) for texts in runs)
    row = decide([PairedItems(MeasuredItems(m, "", after), before)], {}, "none")[0]
    if items < 6:
        assert (row.verdict, row.low, row.high, row.decided_by) == (UNDECIDED, *[row.delta] * 2, 6)
        assert describe_row(row).endswith("this is a loss; at least 6 are needed to decide")
    else:
        assert row.verdict == (FAIL if change < 0 else PASS)


@pytest.mark.parametrize(("correction", "needed"), [("simultaneous", 7), ("none", 6)])
def test_as_many_units_are_needed_as_by_compare(correction: str, needed: int) -> None:
    """Six units decide one test, seven decide two together; units are not items."""
    texts = [f"the cat number {i} sat on the mat" for i in range(14)]
    worse = [text.replace("cat", "dog" if i % 3 else "x") for i, text in enumerate(texts)]
    pairs = []
    for m in map(kt.metric, ("chrf", "rougeL")):
        after, before = m.stats(worse, texts), m.stats(texts, texts)
        pairs.append(PairedItems(MeasuredItems(m, m.signature(), after), before))
    for count in (needed - 1, needed):
        units = Units.from_labels("document", [i % count for i in range(14)])
        for row in decide(pairs, {}, correction, units):
            assert row.verdict == (UNDECIDED if count < needed else FAIL)
            assert row.too_few == (count < needed)
            if row.too_few:  # items of `needed` documents
                assert row.decided_by == math.ceil(needed * 14 / count)


def test_intervals_stay_within_the_possible_differences() -> None:
    m = kt.metric("em")
    right, wrong = (m.stats(texts, ["a"] * 4) for texts in (["a"] * 4, ["a", "x", "x", "x"]))
    (rise,) = decide([PairedItems(MeasuredItems(m, "", right), wrong)], {}, "none")
    (fall,) = decide([PairedItems(MeasuredItems(m, "", wrong), right)], {}, "none")
    assert (rise.delta, rise.high) == (0.75, 1.0)
    assert (fall.delta, fall.low) == (-0.75, -1.0)


def test_a_sentence_shows_the_side_of_0() -> None:
    row = decide_one("chrf", WORSE, BETTER)._replace(delta=-2.5, high=-0.0004)
    assert "(-2.5000, 95% interval" in describe_row(row)
    assert "to -0.0004)" in describe_row(row)
