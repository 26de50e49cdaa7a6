"""`kt.estimate`: estimates of sets, units, draws, warnings, and input that is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.estimation.evalset_samples import make_sample
from karat.estimation.planning import draw_systematically, inclusion_probabilities, plan_units
from karat.estimation.samples import JudgeValues
from karat.estimation.system_estimates import (
    difference_prediction,
    estimate_difference,
    estimate_system,
    labels_to_halve,
    predict,
)
from karat.evalset.additions import has_ratings

SEGMENTS = 40


def a_set(
    labelled: Sequence[int] = range(0, 40, 2),
    *,
    systems: int = 2,
    groups: Sequence[str] | None = None,
    dimension: kt.Dimension | None = None,
    scores: Any = None,
    seed: int = 0,
    draws: Any = None,
) -> kt.EvalSet:
    """A set of made-up labels, and scores of a judge that sees half of what people see."""
    rng = np.random.default_rng(seed)
    names = [f"s{k}" for k in range(systems)]
    truth = 3 + 0.5 * rng.normal(size=(systems, SEGMENTS)) + 0.3 * np.arange(systems)[:, None]
    judge = truth + 0.4 * rng.normal(size=truth.shape) if scores is None else scores
    rows = [
        (name, str(i + 1), "ann", "quality", float(truth[k, i]))
        for k, name in enumerate(names)
        for i in labelled
    ]
    texts = {name: [f"{name} says {i}" for i in range(SEGMENTS)] for name in names}
    evalset = kt.make_evalset(
        "made-up",
        texts,
        references=[f"it says {i}" for i in range(SEGMENTS)],
        judgements=rows,
        dimensions=[dimension or kt.Dimension("quality")],
        groups=groups,
        draws=draws,
    )
    return evalset.with_scores("judge", {n: list(judge[k]) for k, n in enumerate(names)})


# ------------------------------------------------------------------------------ worked values


def test_one_judge_is_ppi_by_hand() -> None:
    evalset = a_set()
    estimates = kt.estimate(evalset, judges="judge")
    y, f = (
        evalset.human("quality"),
        np.array([evalset.offered["judge"]().in_order[s] for s in evalset.systems]),
    )
    has_score = ~np.isnan(y[0])
    yc = y[:, has_score] - y[:, has_score].mean(axis=1, keepdims=True)
    fc = f[:, has_score] - f[:, has_score].mean(axis=1, keepdims=True)
    factor = (yc * fc).sum() / (fc * fc).sum()
    for k, row in enumerate(estimates.rows):
        expected = factor * f[k].mean() + (y[k, has_score] - factor * f[k, has_score]).mean()
        assert row.estimate == pytest.approx(expected)
        assert row.people == pytest.approx(y[k, has_score].mean())
        assert row.low < row.estimate < row.high
        assert (row.labels, row.units, row.form) == (20, 40, "student")
        assert row.ratio == pytest.approx((row.high - row.low) / (row.people_high - row.people_low))
    assert estimates.judges[0].r == pytest.approx(
        (yc * fc).sum() / math.sqrt((fc**2).sum() * (yc**2).sum())
    )


def test_a_judge_that_knows_everything_leaves_little_to_doubt() -> None:
    rng = np.random.default_rng(0)
    truth = 3 + 0.5 * rng.normal(size=(2, SEGMENTS)) + 0.3 * np.arange(2)[:, None]
    estimates = kt.estimate(a_set(scores=truth), judges="judge")
    assert [row.estimate for row in estimates.rows] == pytest.approx(truth.mean(axis=1))
    assert max(row.high - row.low for row in estimates.rows) < 1e-6


def test_the_estimate_is_right_for_a_judge_that_favours_a_system() -> None:
    """A judge that adds 5 to one system changes no estimate."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(2, SEGMENTS))
    fair = kt.estimate(a_set(scores=scores), judges="judge")
    biased = kt.estimate(a_set(scores=scores + np.array([[0.0], [5.0]])), judges="judge")
    for row, other in zip(fair.rows, biased.rows, strict=True):
        assert row[:7] == pytest.approx(other[:7])


def sample(evalset: kt.EvalSet, **more: Any) -> Any:
    scores = evalset.offered["judge"]()
    values = np.array([scores.in_order[name] for name in evalset.systems])
    return make_sample(evalset, "quality", [JudgeValues("judge", values, 0, "")], **more)


def test_scores_where_less_is_better_are_mirrored() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(2, SEGMENTS))
    more = kt.estimate(a_set(scores=scores), judges="judge")
    less = kt.estimate(
        a_set(scores=scores, dimension=kt.Dimension("quality", better="lower")), judges="judge"
    )
    assert [row.estimate for row in less.rows] == pytest.approx([row.estimate for row in more.rows])
    assert [row.low for row in less.rows] == pytest.approx([row.low for row in more.rows])
    assert less.better == "lower"
    assert less.differences[0].baseline != more.differences[0].baseline


def test_several_judges_are_narrower_than_one() -> None:
    rng = np.random.default_rng(0)
    truth = 3 + 0.5 * rng.normal(size=(2, SEGMENTS)) + 0.3 * np.arange(2)[:, None]
    evalset = a_set()
    for name in ("second", "third"):
        scores = truth + 0.4 * rng.normal(size=truth.shape)
        evalset = evalset.with_scores(
            name, {s: list(scores[k]) for k, s in enumerate(evalset.systems)}
        )
    estimates = kt.estimate(evalset, judges="judge")
    three = kt.estimate(evalset, judges=["judge", "second", "third"])
    widths = [sum(row.high - row.low for row in result.rows) for result in (estimates, three)]
    assert widths[1] < widths[0]
    assert [worth.judge for worth in three.judges] == ["judge", "second", "third"]


def test_new_segments_are_less_certain_than_these() -> None:
    set_estimates, new = (
        kt.estimate(a_set(), judges="judge", population=p) for p in ("set", "new")
    )
    for row, other in zip(set_estimates.rows, new.rows, strict=True):
        assert row.estimate == other.estimate
        assert other.high - other.low > (row.high - row.low) * math.sqrt(2) * 0.99
    assert new.rows[0].more is None  # three times 20 more are not there


def test_differences_on_new_segments_have_the_spread_of_the_judge() -> None:
    """SE^2 = s^2(Y - lambda f) / n + lambda^2 Var(f) / N, f being the difference of two values."""
    sample_of_set = sample(a_set())
    guess = difference_prediction(sample_of_set, predict(sample_of_set))
    assert guess is not None
    difference = estimate_difference(sample_of_set, (0, 1), guess, finite=False)
    assert difference is not None
    f = guess.units[0, ::2] - guess.units[1, ::2]
    y = sample_of_set.y[0, ::2] - sample_of_set.y[1, ::2]
    square = (y - f).var(ddof=1) / 20 + f.var(ddof=1) / 40
    assert difference.intervals.error == pytest.approx(math.sqrt(square))


def test_labels_that_halve_the_width() -> None:
    system_estimate = estimate_system(sample(a_set()), 0, None, True)
    more = labels_to_halve(system_estimate, True)
    assert more == 12  # 1 / (1/40 + (1/20 - 1/40) / 4) - 20
    widest = (1 / 20 - 1 / 40) / 4
    assert 1 / (20 + more) - 1 / 40 <= widest < 1 / (19 + more) - 1 / 40


def test_people_alone_without_a_judge() -> None:
    estimates = kt.estimate(a_set(), covariates="none")
    assert all(row.ratio == 1 and row.estimate == row.people for row in estimates.rows)
    assert "No judge was named: estimates are those of people alone." in estimates.notes


def test_all_labelled_is_exact_and_nothing_is_tested() -> None:
    estimates = kt.estimate(a_set(range(SEGMENTS), systems=3), judges="judge")
    for row in estimates.rows:
        assert row.low == row.high == pytest.approx(row.people)
        assert row.form == "exact"
    assert {(difference.verdict, difference.form) for difference in estimates.differences} == {
        ("not tested", "exact")
    }
    assert all(math.isnan(difference.p) for difference in estimates.differences)
    best = estimates.ranked[0]
    assert estimates.summary == (
        "Every segment of these systems is labelled, so nothing was estimated or tested: "
        f"{best.system} has the best mean, {best.estimate:.2f}. To ask about new segments like "
        "these, use --population new."
    )
    assert not any("estimate" in note or "interval" in note for note in estimates.notes)
    assert "than people do" not in estimates.render("text")  # nor is the bias of the judge tested


# --------------------------------------------------------------------------------- differences


def test_differences_use_segments_that_both_have() -> None:
    estimate_result = kt.estimate(a_set(systems=3), judges="judge", baseline="s0")
    assert [
        (difference.system, difference.baseline) for difference in estimate_result.differences
    ] == [("s1", "s0"), ("s2", "s0")]
    estimates = {row.system: row.estimate for row in estimate_result.rows}
    for difference in estimate_result.differences:
        assert difference.low < difference.delta < difference.high
        assert difference.delta == pytest.approx(
            estimates[difference.system] - estimates["s0"], abs=0.15
        )
    assert estimate_result.differences[1].verdict == "better"


def test_a_baseline_that_the_data_chose_counts_all_pairs() -> None:
    estimates = kt.estimate(a_set(systems=4), judges="judge", baseline="s3")
    chosen = kt.estimate(a_set(systems=4), judges="judge")
    assert {difference.baseline for difference in chosen.differences} == {"s3"}
    pairs = zip(estimates.differences, chosen.differences, strict=True)
    assert all(other.p >= difference.p for difference, other in pairs)
    smallest = min(difference.p for difference in estimates.differences)
    assert min(difference.p for difference in chosen.differences) == pytest.approx(
        2 * smallest
    )  # 6 pairs, not 3


def test_a_difference_is_that_of_the_outputs_that_both_have() -> None:
    """s1 has outputs for the 20 easiest of 60 segments only: that does not make it better."""
    easy = np.arange(60) % 3 == 0
    value = np.where(easy, 5.0, 1.0) + 0.01 * np.arange(60)
    texts = {"s0": ["x"] * 60, "s1": ["y" if segment else None for segment in easy]}
    rows = [("s0", str(i + 1), "ann", "q", value[i]) for i in range(0, 60, 2)]
    rows += [("s1", str(i + 1), "ann", "q", value[i] + 0.5) for i in range(60) if easy[i]]
    evalset = kt.make_evalset("m", texts, judgements=rows, dimensions=[kt.Dimension("q")])
    judge = {
        "s0": value.tolist(),
        "s1": [v if e else None for v, e in zip(value, easy, strict=True)],
    }
    estimates = kt.estimate(evalset.with_scores("judge", judge), judges="judge", baseline="s0")
    assert estimates.differences[0].delta == pytest.approx(0.5)


def test_differences_on_new_segments_allow_for_the_judges_sample() -> None:
    """SE^2 = s^2(d - g) / n + s^2(g) / N, for differences as for scores."""
    evalset = a_set()
    sample_of_set = sample(evalset)
    guess = difference_prediction(sample_of_set, predict(sample_of_set))
    assert guess is not None
    units = sample_of_set.labelled(0)
    d, g = (part[1, units] - part[0, units] for part in (sample_of_set.y, guess.units))
    error = estimate_difference(sample_of_set, (1, 0), guess, False).intervals.error  # type: ignore[union-attr]
    assert error**2 == pytest.approx((d - g).var(ddof=1) / 20 + g.var(ddof=1) / SEGMENTS)


# ------------------------------------------------------------------------------------ units


def test_documents_of_which_some_segments_are_labelled_are_not_known() -> None:
    groups = [f"d{i // 2}" for i in range(SEGMENTS)]
    estimates = kt.estimate(a_set(groups=groups), judges="judge", unit="group")
    assert {row.form for row in estimates.rows} == {"student"}
    assert all(row.low < row.estimate < row.high for row in estimates.rows)
    assert estimates.notes[0].startswith("Only some segments of 20 groups are labelled")


def test_documents_that_were_labelled_as_wholes_are_the_units() -> None:
    groups = [f"d{i // 2}" for i in range(SEGMENTS)]
    unsplit = [i for i in range(SEGMENTS) if (i // 2) % 2 == 0][:20]
    estimates = kt.estimate(a_set(unsplit, groups=groups), judges="judge")
    assert estimates.unit == "group"
    assert (estimates.rows[0].labels, estimates.rows[0].units) == (10, 20)
    assert estimates.notes[0].startswith("Unit: groups of segments (documents or questions)")


def test_segments_that_were_drawn_singly_are_the_units() -> None:
    groups = [f"d{i // 2}" for i in range(SEGMENTS)]
    rng = np.random.default_rng(1)
    estimates = kt.estimate(a_set(sorted(rng.permutation(40)[:20].tolist()), groups=groups))
    assert estimates.unit == "segment"


def test_labels_that_crowd_into_few_documents_make_them_the_units() -> None:
    groups = [f"d{i // 4}" for i in range(SEGMENTS)]
    crowded = [i for i in range(SEGMENTS) if i % 4 < 3][:18]
    with pytest.raises(kt.InputError, match=r"no system has 10 labelled groups"):
        kt.estimate(a_set(crowded, groups=groups))


def test_the_unit_can_be_named() -> None:
    groups = [f"d{i // 2}" for i in range(SEGMENTS)]
    assert kt.estimate(a_set(groups=groups), unit="group").unit == "group"
    with pytest.raises(kt.InputError, match="made-up has no groups of segments"):
        kt.estimate(a_set(), unit="group")


def test_segments_of_one_document_count_together() -> None:
    """The mean over documents by their sizes, from documents that were labelled as wholes."""
    groups = ["a"] * 3 + [f"d{i}" for i in range(SEGMENTS - 3)]
    labelled = [*range(20)]
    evalset = a_set(labelled, groups=groups)
    estimates = kt.estimate(evalset, unit="group")
    human = evalset.human("quality")[:, :20]
    assert [row.people for row in estimates.rows] == pytest.approx(human.mean(axis=1))
    assert estimates.rows[0].labels == 18


# ------------------------------------------------------------------------------------ draws


def make_draws(labelled: Sequence[int], probability: float | None, **more: Any) -> list[kt.Draw]:
    return [kt.Draw(str(i + 1), probability, **more) for i in labelled]


def test_known_probabilities_weight_labels() -> None:
    often, seldom = range(0, 20, 2), range(20, 40, 2)
    draws = [*make_draws(often, 0.9), *make_draws(seldom, 0.3)]
    estimates = kt.estimate(a_set([*often, *seldom], draws=draws))
    human = a_set([*often, *seldom]).human("quality")
    weights = np.array([1 / 0.9] * 10 + [1 / 0.3] * 10)
    means = [float((h[~np.isnan(h)] * weights).sum() / weights.sum()) for h in human]
    assert [row.people for row in estimates.rows] == pytest.approx(means)
    assert not any("taken as drawn at random" in note for note in estimates.notes)


def test_labels_that_were_chosen_are_left_out() -> None:
    draws = [*make_draws(range(0, 20), 0.5), *make_draws(range(20, 25), None, reason="useful")]
    with_them = kt.estimate(a_set([*range(25)], draws=draws))
    without = kt.estimate(a_set([*range(20)], draws=draws[:20]))
    assert with_them.rows == without.rows
    assert with_them.notes[0] == (
        "5 labelled segments were not drawn at random and left out: their labels do not "
        "represent the others."
    )


def test_a_plan_keeps_what_was_not_drawn_at_random() -> None:
    draws = [*make_draws(range(0, 20), 0.5), *make_draws(range(20, 25), None, reason="useful")]
    planned = kt.estimate(a_set([*range(25)], draws=draws), next=3)
    again = kt.estimate(a_set([*range(25)], draws=planned.draws))
    assert again.rows == planned.rows


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (kt.Draw("x", 0.5), r"draws\[0\]: a draw of segment 'x', which is not in the set"),
        (kt.Draw("1", 0.0), r"draws\[0\]: found the probability 0.0, expected a number above 0"),
    ],
)
def test_draws_that_cannot_be_draws_are_refused(draw: kt.Draw, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(), draws=[draw])


def test_labels_without_a_draw_are_refused() -> None:
    with pytest.raises(
        kt.InputError, match=r"10 labelled segments are not among the draws \(the first is '21'\)"
    ):
        kt.estimate(a_set([*range(30)], draws=make_draws(range(20), 0.5)))


def test_draws_of_other_units_are_refused() -> None:
    groups = [f"d{i // 2}" for i in range(SEGMENTS)]
    with pytest.raises(kt.InputError, match="--unit group: the draws are of segments"):
        kt.estimate(
            a_set([*range(20)], groups=groups, draws=make_draws(range(20), 0.5)), unit="group"
        )


# --------------------------------------------------------------------------------- what next


def test_planned_units_have_no_label_and_known_probabilities() -> None:
    estimates = kt.estimate(a_set(), judges="judge", next=6)
    labelled = {str(i + 1) for i in range(0, 40, 2)}
    assert len(estimates.planned) == 6
    assert not labelled & {unit.unit for unit in estimates.planned}
    assert all(0 < unit.probability <= 1 for unit in estimates.planned)
    assert {draw.round for draw in estimates.draws} == {1, 2}
    assert {draw.reason for draw in estimates.draws if draw.round == 1} == {"assumed random"}
    assert kt.estimate(a_set(), judges="judge", next=6).planned == estimates.planned
    assert kt.estimate(a_set(), judges="judge", next=6, seed=1).planned != estimates.planned


def test_units_are_drawn_with_their_probabilities() -> None:
    share = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    chance = inclusion_probabilities(share, 2)
    assert chance.sum() == pytest.approx(2)
    assert chance == pytest.approx([0.1, 0.2, 0.3, 0.4, 1.0])
    rng, counts = np.random.default_rng(0), np.zeros(5)
    for _ in range(4000):
        order = rng.permutation(5)
        places = order[draw_systematically(chance[order], float(rng.random()))]
        assert len(set(places.tolist())) == 2
        counts[places] += 1
    assert counts / 4000 == pytest.approx(chance, abs=0.03)


def test_a_second_round_goes_on_from_the_first() -> None:
    """Labels for the planned units, with the draws that the plan wrote."""
    first = a_set()
    planned = kt.estimate(first, judges="judge", next=8)
    more = [int(unit.unit) - 1 for unit in planned.planned]
    second = a_set([*range(0, 40, 2), *more], draws=planned.draws)
    estimates = kt.estimate(second, judges="judge")
    assert estimates.rows[0].labels == 28
    assert sum(r.high - r.low for r in estimates.rows) < sum(r.high - r.low for r in planned.rows)


def test_a_plan_keeps_all_earlier_draws() -> None:
    """Units that were drawn and not labelled stay drawn, with reasons; none is drawn again."""
    first = kt.estimate(a_set(), judges="judge", next=8)
    subset = [int(unit.unit) - 1 for unit in first.planned[:5]]
    second = a_set([*range(0, 40, 2), *subset], draws=first.draws)
    estimates = kt.estimate(second, judges="judge", next=12)  # all that is left
    assert estimates.draws[: len(first.draws)] == first.draws
    assert {draw.round for draw in estimates.draws[len(first.draws) :]} == {3}
    assert not {unit.unit for unit in estimates.planned} & {unit.unit for unit in first.planned}
    assert len({draw.unit for draw in estimates.draws}) == 40


def test_more_units_than_there_are_cannot_be_planned() -> None:
    with pytest.raises(kt.InputError, match=r"--next 21: 20 segments are neither labelled nor"):
        kt.estimate(a_set(), next=21)


def test_usefulness_prefers_units_with_larger_errors() -> None:
    rng = np.random.default_rng(2)
    scores = np.tile(np.arange(SEGMENTS, dtype=float), (2, 1))
    sample_of_set = sample(a_set(scores=scores))
    sample_of_set.y[:, 30:] += 8 * rng.normal(size=(2, 10))
    planned = plan_units(sample_of_set, predict(sample_of_set), 20, 0)  # all that have no label
    assert {unit.probability for unit in planned} == {1.0}
    subset = [plan_units(sample_of_set, predict(sample_of_set), 6, seed) for seed in range(30)]
    late = [unit for plan in subset for unit in plan if int(unit.unit) > 30]
    assert {unit.reason for unit in late} == {"useful"}


# ---------------------------------------------------------------------------------- warnings


def test_the_first_segments_are_no_random_ones() -> None:
    estimates = kt.estimate(a_set(range(20)), judges="judge")
    assert "Warning: the labelled segments are the first 20 of the set." in " ".join(
        estimates.notes
    )


def test_a_judge_that_sees_labelled_segments_as_better_is_a_warning() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(2, SEGMENTS))
    scores[:, ::2] += 5
    estimates = kt.estimate(a_set(scores=scores), judges="judge")
    assert any(
        "judge rates the labelled segments higher than the others" in n for n in estimates.notes
    )


def test_a_useless_judge_is_said_to_be_one() -> None:
    rng = np.random.default_rng(5)
    estimates = kt.estimate(a_set(scores=rng.normal(size=(2, SEGMENTS))), judges="judge")
    assert sum("almost nothing" in sentence for sentence in estimates.document().answer) == 1
    assert not any("almost nothing" in note for note in estimates.notes)


def test_a_scale_at_its_end_has_bounded_intervals() -> None:
    rows = [
        (name, str(i), "ann", "quality", 5.0 if i % 7 else 4.0)
        for name in ("a", "b")
        for i in range(1, 31)
    ]
    texts = {name: [f"{name} {i}" for i in range(100)] for name in ("a", "b")}
    scale = kt.Dimension("quality", low=1, high=5)
    evalset = kt.make_evalset("top", texts, judgements=rows, dimensions=[scale])
    estimates = kt.estimate(evalset)
    assert {row.form for row in estimates.rows} == {"bounded"}
    assert all(row.high <= 5 and row.low < 4.8 for row in estimates.rows)
    message = "For 2 of 2 systems, at least a quarter of the labels are at one end of the scale"
    assert any(note.startswith(message) for note in estimates.notes)
    free = kt.make_evalset("top", texts, judgements=rows, dimensions=["quality"])
    assert {row.form for row in kt.estimate(free).rows} == {"student"}


def test_equal_labels_on_an_unknown_scale_have_no_interval() -> None:
    rows = [("a", str(i), "ann", "quality", 5.0) for i in range(1, 31)]
    evalset = kt.make_evalset("top", {"a": ["x"] * 100}, judgements=rows, dimensions=["quality"])
    (row,) = kt.estimate(evalset).rows
    assert row.people == 5.0
    assert math.isnan(row.low)
    assert row.form == "none"


def test_equal_labels_within_a_known_scale_have_a_bounded_interval() -> None:
    rows = [("a", str(i), "ann", "quality", 3.0) for i in range(1, 31)]
    scale = kt.Dimension("quality", low=1, high=5)
    evalset = kt.make_evalset("same", {"a": ["x"] * 100}, judgements=rows, dimensions=[scale])
    estimates = kt.estimate(evalset)
    (row,) = estimates.rows
    assert row.form == "bounded"
    assert 2.5 < row.low < 3 < row.high < 3.5
    assert not any("No interval" in note for note in estimates.notes)


def test_ten_labels_of_both_systems_are_needed_for_a_difference() -> None:
    """s0 and s1 have 12 labels each, on segments of their own but for two."""
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in ("s0", "s1")}
    rows = [("s0", str(i), "ann", "q", 1 + 0.01 * i) for i in range(1, 13)]
    rows += [("s1", str(i), "ann", "q", 4 + 0.02 * i) for i in range(11, 23)]
    estimates = kt.estimate(kt.make_evalset("few", texts, judgements=rows, dimensions=["q"]))
    assert estimates.differences == ()
    assert estimates.document().answer[1] == (
        "No system was compared: too few segments are labelled for two systems."
    )


# --------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dimension": "fluency"}, "made-up has no dimension 'fluency'"),
        ({"judges": "nonsense"}, "nonsense"),
        ({"judges": ["judge", "judge"]}, "judge 'judge' is named twice"),
        ({"baseline": "s9"}, "made-up has no system 's9'"),
        ({"population": "all"}, "population='all' is not one of set, new"),
        ({"correction": "x"}, "correction='x' is not one of simultaneous, none"),
        ({"unit": "word"}, "unit='word' is not one of auto, segment, group"),
        ({"next": -1}, "next=-1"),
        ({"exclude": ["s7"]}, "made-up has no system 's7'"),
        ({"strict": True}, "setting 'strict' of estimate: expected one of population, "),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(), **arguments)


def test_few_labels_are_refused() -> None:
    message = (
        r"made-up: no system has 10 labelled segments for 'quality' \(the most is 9\): label at"
    )
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(range(9)))


def test_systems_with_few_labels_are_left_out() -> None:
    full = a_set(systems=3)
    rows = [row for row in full.judgements if row.system != "s2" or int(row.segment) < 10]
    texts = {name: list(map(str, single)) for name, single in full.systems.items()}
    evalset = kt.make_evalset("part", texts, judgements=rows, dimensions=["quality"])
    estimates = kt.estimate(evalset)
    assert [row.system for row in estimates.rows] == ["s0", "s1"]
    assert "Left out, with fewer than 10 labelled segments: s2." in estimates.notes


def test_a_constant_judge_is_refused() -> None:
    message = "judge 'judge' gives every output the same value: it cannot help; leave it out"
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(scores=np.full((2, SEGMENTS), 3.0)), judges="judge")


def test_missing_values_of_a_judge_are_filled_and_counted() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, SEGMENTS))
    scores[0, :3] = np.nan
    estimates = kt.estimate(a_set(scores=scores), judges="judge")
    assert estimates.judges[0].missing == 3
    assert any("judge has no value for 3 outputs" in note for note in estimates.notes)
    scores[:, :30] = np.nan
    with pytest.raises(kt.InputError, match=r"has no value for 60 of 80 outputs of made-up"):
        kt.estimate(a_set(scores=scores), judges="judge")


def test_models_are_judges_and_no_people() -> None:
    evalset = a_set()
    rows = [tuple(row) for row in evalset.judgements]
    rng = np.random.default_rng(0)
    message = [
        (name, segment, "gpt", "quality", float(rng.integers(1, 6)))
        for name in evalset.systems
        for segment in evalset.segments
    ]
    texts = {name: list(map(str, single)) for name, single in evalset.systems.items()}
    new_set = kt.make_evalset(
        "both",
        texts,
        judgements=[*rows, *message],
        dimensions=["quality"],
        judge_kinds={"gpt": "model"},
    )
    estimates = kt.estimate(new_set)
    assert [worth.judge for worth in estimates.judges] == ["gpt"]
    assert [row.people for row in estimates.rows] == [
        row.people for row in kt.estimate(evalset).rows
    ]
    assert estimates.rows[0].labels == 20


def test_the_result_goes_anywhere() -> None:
    estimates = kt.estimate("demo-labels", judges="chrf")
    assert estimates.signature.startswith(
        "estimate:population=set,unit=auto,correction=simultaneous"
    )
    assert "judges=chrf" in estimates.signature
    assert estimates.settings["judges"] == ("chrf",)
    again = kt.estimate("demo-labels", judges="chrf")
    assert again.rows == estimates.rows


def test_the_help_promises_no_more_than_holds(output: Callable[..., str]) -> None:
    text = " ".join(output("estimate", "--help").split())
    assert "right even if" not in text
    assert (
        "if segments were drawn at random for labelling, the estimate is right on average" in text
    )


def test_summeval_is_labelled_whole(karat_data: Path) -> None:
    """M22 leads by 0.02, and nothing is said on whether that is chance."""
    estimates = kt.estimate("summeval", "coherence")
    assert estimates.summary == (
        "Every segment of these systems is labelled, so nothing was estimated or tested: M22 has "
        "the best mean, 4.18. To ask about new segments like these, use --population new."
    )
    assert {difference.verdict for difference in estimates.differences} == {"not tested"}
    new = kt.estimate("summeval", "coherence", population="new")
    assert "nothing was estimated" not in new.summary
    assert {difference.verdict for difference in new.differences} == {"undecided", "worse"}


def test_real_labels_of_wmt23(karat_data: Path) -> None:
    estimates = kt.estimate(karat_data / "mt-wmt23-ende", "mqm", "GEMBA-MQM")
    assert len(estimates.rows) == 12
    assert {row.labels for row in estimates.rows} == {460}
    assert sum(row.ratio for row in estimates.rows) / 12 < 0.95
    assert estimates.judges[0].r == pytest.approx(0.457, abs=0.01)


@pytest.mark.parametrize(
    ("value", "dimension", "message"),
    [
        (9.0, kt.Dimension("quality", low=1, high=5), "a label of 'quality' is 9, expected 1 to 5"),
        (9.0, kt.Dimension("quality", "lower", 0, 5), "is 9, expected 0 to 5: correct the label"),
        (1e308, kt.Dimension("quality"), r"is 1e\+308, expected -1e\+09 to 1e\+09"),
    ],
)
def test_labels_off_their_scale_are_refused(
    value: float, dimension: kt.Dimension, message: str
) -> None:
    rows = [
        ("s0", str(i), "ann", "quality", value if i == 3 else 2.0 + i % 3) for i in range(1, 15)
    ]
    texts = {"s0": [f"x {i}" for i in range(20)]}
    evalset = kt.make_evalset("made-up", texts, judgements=rows, dimensions=[dimension])
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(evalset)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (kt.Draw("zz", 0.5), "a draw of segment 'zz', which is not in the set"),
        (kt.Draw("1", 1.5), "found the probability 1.5"),
        (kt.Draw("1", 1e-320), "expected a number above 0 and at most 1"),
        (kt.Draw("1", 0.5, round=10**30), "expected a whole number from 1 to 1,000,000"),
    ],
)
def test_wrong_draws_are_refused(draw: kt.Draw, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(), draws=[*make_draws(range(2, 40, 2), 0.5), draw])


def test_drawn_units_without_a_label_are_told() -> None:
    estimates = kt.estimate(a_set(), draws=make_draws(range(0, 40), 0.9))
    assert estimates.notes[0].startswith(
        "Warning: 20 drawn segments have no label (the first is '2')"
    )


def test_a_table_of_labels_without_a_header_is_said_to_lack_it(tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("atlas\t1\tann\tquality\t3\n")
    assert has_ratings(labels)
    with pytest.raises(kt.InputError, match=r"line 1: found the columns atlas, 1, ann, quality, 3"):
        kt.load_evalset("demo-labels", judgements=labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judges": None}, "judges=None: expected names of judges or metrics"),
        ({"judges": 3}, "judges=3: expected names of judges or metrics"),
        ({"exclude": None}, "exclude=None: expected names of systems"),
        ({"dimension": 3}, "dimension=3 is int, expected a string"),
        ({"next": None}, "next=None is missing"),
        ({"next": 2.5}, "next=2.5 is float, expected a whole number"),
        ({"seed": "x"}, "seed='x' is str, expected a whole number"),
        ({"population": []}, r"population=\[\] is list, expected a string"),
        ({"draws": "draws.tsv"}, "draws='draws.tsv': expected a list of karat.Draw"),
        ({"draws": [1]}, "expected a list of karat.Draw"),
    ],
)
def test_arguments_of_wrong_types_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(), **arguments)


def test_groups_count_by_the_outputs_that_a_system_has() -> None:
    """Everything labelled, some outputs missing: the mean of the outputs that are there."""
    rng = np.random.default_rng(9)
    groups = [f"d{i // 3}" for i in range(SEGMENTS)]
    is_present = rng.random(SEGMENTS) < 0.7
    texts = {"a": [f"a {i}" if good else None for i, good in enumerate(is_present)]}
    values = rng.normal(size=SEGMENTS)
    rows = [
        ("a", str(i + 1), "ann", "quality", float(values[i])) for i in np.flatnonzero(is_present)
    ]
    evalset = kt.make_evalset("gaps", texts, groups=groups, judgements=rows, dimensions=["quality"])
    (row,) = kt.estimate(evalset, unit="group").rows
    assert row.people == pytest.approx(values[is_present].mean())
    assert row.form == "exact"
