"""The plane, against cells scored from text, lines really refitted and all ways of dealing."""

from __future__ import annotations

from functools import cache
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import plane_loops
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta import plane as p
from karat.meta import plane_study
from karat.meta.agreement import weighted_means
from karat.meta.plane_study import Region, predicted
from karat.meta.scores import score_evalset
from karat.stats.correlation import pearson as pearson_statistic
from karat.stats.resampling import bootstrap_indices

SEEDS = st.integers(0, 2**32)
SOME = [0, 3, 10, 14, 27, 33, 43]  # cells
FAMILY = kt.AEv()


@cache
def judged(seed: int = 1, systems: int = 5, segments: int = 9) -> p.PlaneData:
    evalset = small_set(seed, systems, segments)
    return p.plane_data(score_evalset(evalset, FAMILY), FAMILY, "quality")


def scores(seed: int, systems: int, values: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Human scores and seven cells, coarse, so that there are ties; one cell is constant."""
    rng = np.random.default_rng(seed)
    human = rng.permutation(np.arange(systems) // 2 + rng.integers(0, values, systems)) / 3
    human[0] += 1 / 7
    cells = rng.integers(0, values, (7, systems)) / 10
    cells[3] = 0.1
    cells[4, 1:] = 0.2  # all but one are equal
    return human, cells


# ------------------------------------------------------------------------------------- cells


@pytest.mark.parametrize("over", p.OVER)
def test_cells_are_scored_as_the_drawn_text_is(over: str) -> None:
    evalset = small_set(1)
    human = evalset.human("quality")
    resamples = judged().view.resample(pearson_statistic, over, 4, 9)
    ((systems, segments),) = bootstrap_indices(human.shape, over, 4, 9)
    for d, (s, t) in enumerate(zip(systems.tolist(), segments.tolist(), strict=True)):
        for k in SOME:
            expected = plane_loops.cell_r(evalset, human, s, t, *p.CELLS[k])
            assert resamples[k, d] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_whole_plane_is_scored_as_the_text_is() -> None:
    evalset = small_set(1)
    human = evalset.human("quality")
    fit = p.fit_plane(judged(), "quality", resamples=0)
    assert tuple(plane_loops.CELLS) == p.CELLS
    for k, cell in enumerate(p.CELLS):
        expected = plane_loops.cell_r(evalset, human, range(5), range(9), *cell)
        assert fit.r[k] == pytest.approx(expected, abs=1e-9)
        assert fit.row(cell).r2 == pytest.approx(expected**2, abs=1e-9)
    assert fit.table(fit.r)[0].tolist() == fit.r[33:].tolist()


@pytest.mark.parametrize(
    "setting", [{"stem": "porter", "stop": "en"}, {"refs": "average"}, {"stop_scope": "unigrams"}]
)
def test_shorter_orders_come_from_longer_ones(setting: dict[str, str]) -> None:
    evalset = small_set(2, missing=0)
    metric = kt.AEv(**setting)
    rows = score_evalset(evalset, metric).rows[metric].sum(axis=1)
    cell_rows = p.cell_scores(metric, rows)
    references = [list(group) for group in evalset.references]
    for k in SOME:
        alpha, n = p.CELLS[k]
        for s, texts in enumerate(evalset.systems.values()):
            expected = kt.AEv(alpha=alpha, n=n, **setting).corpus(list(texts), references).value
            assert cell_rows[k, s] == pytest.approx(expected)


@given(seed=SEEDS)
def test_correlations_leave_systems_without_human_scores_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human, cells = scores(seed, 6)
    draws = np.where(rng.random((4, 6)) < 0.7, human, np.nan)
    r = p.correlations(draws, np.repeat(cells[:, None], 4, axis=1))
    for k, metric in enumerate(cells.tolist()):
        for d, counted in enumerate((~np.isnan(draws)).astype(int).tolist()):
            expected = plane_loops.weighted_r(human.tolist(), metric, counted)
            assert r[k, d] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_equal_human_scores_have_no_correlation_whatever_their_mean_rounds_to() -> None:
    human = np.array([[0.1, 0.1, 0.1, np.nan], [0.1, 0.1, 0.1, 0.7]])
    cells = np.tile(np.arange(4.0), (1, 2, 1))
    assert np.isnan(p.correlations(human, cells)).tolist() == [[True, False]]


# ------------------------------------------------------------------------------ left-out systems


@given(seed=SEEDS, systems=st.integers(3, 8))
def test_press_is_that_of_refitting_without_each_system(seed: int, systems: int) -> None:
    human, cells = scores(seed, systems)
    if len(set(human.tolist())) < 2:
        return
    q2 = p.leave_one_out_r2(np.append(human, np.nan), np.hstack([cells, np.ones((7, 1))]))
    for value, metric in zip(q2, cells.tolist(), strict=True):
        expected = plane_loops.left_out(human.tolist(), metric)
        assert value == pytest.approx(expected, abs=1e-6, rel=1e-6, nan_ok=True)


def test_a_system_that_makes_the_line_alone_is_not_predicted_by_it() -> None:
    human, metric = np.array([1.0, 2.0, 9.0]), np.array([[0.0, 0.0, 0.5]])
    q2 = p.leave_one_out_r2(human, metric)[0]
    assert q2 == pytest.approx(plane_loops.left_out(human.tolist(), metric[0].tolist()))
    assert q2 < 0.5  # that system adds 0 to PRESS if its own line may predict it


@given(seed=SEEDS, systems=st.integers(3, 7))
def test_nested_picking_is_that_of_loops(seed: int, systems: int) -> None:
    human, cells = scores(seed, systems)
    if len(set(human.tolist())) < 2:
        return
    expected = plane_loops.picking(human.tolist(), cells.tolist())
    assert p.leave_one_out_pick_r2(human, cells) == pytest.approx(expected, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_test_of_the_maximum_deals_in_all_ways(seed: int) -> None:
    human, cells = scores(seed, 5)
    test = p.maximum_test(human, cells, 10, seed)
    assert test == (pytest.approx(plane_loops.maximum_test(human.tolist(), cells.tolist())), 120)


def test_many_systems_are_dealt_at_random() -> None:
    human, cells = scores(3, 8)
    exact = plane_loops.maximum_test(human[:6].tolist(), cells[:, :6].tolist())
    share, number = p.maximum_test(human, cells, 2000, 1)
    assert number == 2000
    assert (share, number) == p.maximum_test(human, cells, 2000, 1)
    assert 0 < share <= 1
    assert 0 < exact <= 1
    perfect = np.vstack([cells, human])
    assert p.maximum_test(human, perfect, 2000, 1)[0] < 0.01


# -------------------------------------------------------------------------------------- the fit


def test_a_perfect_metric_explains_everything() -> None:
    human, cells = scores(1, 7)
    cells[2] = 3 * human + 1
    r = p.correlations(human[None], cells[:, None])[:, 0]
    assert r[2] == pytest.approx(1)
    assert p.best_cell(r[:, None])[0] == 2
    assert p.leave_one_out_r2(human, cells)[2] == pytest.approx(1)
    assert p.maximum_test(human, cells, 0, 0)[0] <= 2 * 2 / 5040 * 24


def test_the_order_of_systems_does_not_matter() -> None:
    evalset = small_set(4)
    turned = evalset.select(systems=list(evalset.systems)[::-1])
    first, other = (
        p.fit_plane(
            p.plane_data(score_evalset(e, FAMILY), FAMILY, "quality"), "quality", resamples=0
        )
        for e in (evalset, turned)
    )
    assert other.systems == first.systems[::-1]
    for a, b in ((first.r, other.r), (first.q2, other.q2)):
        assert np.allclose(a, b, atol=1e-9, equal_nan=True)
    assert first.picking == pytest.approx(other.picking)
    assert (first.p, first.pick, first.maximum) == (
        pytest.approx(other.p),
        other.pick,
        other.maximum,
    )


def test_the_same_seed_gives_the_same_plane() -> None:
    fits = [p.fit_plane(judged(), "quality", resamples=30, seed=s) for s in (1, 1, 2)]
    assert np.array_equal(fits[0].draws, fits[1].draws, equal_nan=True)
    assert not np.array_equal(fits[0].draws, fits[2].draws, equal_nan=True)
    halves = [plane_study.split_halves(judged(), 20, s) for s in (1, 1, 2)]
    assert halves[0] == halves[1] != halves[2]


def test_wins_and_intervals_are_those_of_the_draws() -> None:
    fit = p.fit_plane(judged(), "quality", resamples=41)
    won = np.zeros(44)
    for draw in fit.draws.T:
        has_score = [(round(r, 9), -k) for k, r in enumerate(draw) if r > 0]
        if has_score:
            won[-max(has_score)[1]] += 1
    assert fit.wins.tolist() == (won / 41).tolist()
    low, high = fit.intervals
    values = sorted(x for x in (fit.draws[7] ** 2).tolist() if x == x)  # noqa: PLR0124
    cut = int(len(values) * 0.025)
    assert (low[7], high[7]) == (values[cut], values[-cut - 1])
    assert fit.pick is not None
    good = np.where(fit.r > 0, np.nan_to_num(fit.q2, nan=-np.inf), -np.inf)
    assert fit.row(fit.pick).q2 == good.max()


def test_without_resamples_nothing_is_said_of_them() -> None:
    fit = p.fit_plane(judged(), "quality", resamples=0)
    assert np.isnan(fit.wins).all()
    assert np.isnan(fit.intervals).all()
    region_verdict = plane_study.verdict(fit, predicted("mt", "fluency"))
    assert region_verdict.words == "undecided"
    assert np.isnan(region_verdict.low)


def test_outputs_that_are_all_alike_have_no_plane_and_no_error() -> None:
    evalset = kt.make_evalset(
        "same",
        {name: ["a b c d e"] * 3 for name in "xyz"},
        references=["a b c d e"] * 3,
        dimensions=["q"],
        judgements=[(s, str(j), "me", "q", v) for s, v in zip("xyz", count()) for j in (1, 2, 3)],
    )
    data = p.plane_data(score_evalset(evalset, FAMILY), FAMILY, "q")
    fit = p.fit_plane(data, "q", resamples=5)
    assert np.isnan(fit.r).all()
    assert (fit.pick, fit.maximum, fit.p) == (None, None, 1)
    assert np.isnan(fit.q2).all()


@pytest.mark.parametrize(
    ("systems", "value", "message"),
    [
        (2, None, "quality: 2 systems with human scores: a plane needs at least 3"),
        (1, None, "quality: 1 system with human scores: a plane needs at least 3"),
        (4, lambda *_: 3.0, "quality: all systems have the same human score"),
    ],
)
def test_what_has_no_plane_says_so(systems: int, value: object, message: str) -> None:
    evalset = small_set(1, systems, value=value)  # type: ignore[arg-type]
    data = p.plane_data(score_evalset(evalset, FAMILY), FAMILY, "quality")
    with pytest.raises(InputError, match=message):
        p.fit_plane(data, "quality")


def test_bad_settings_are_refused() -> None:
    scored = score_evalset(small_set(1), FAMILY)
    with pytest.raises(InputError, match="small has no dimension 'taste'"):
        p.plane_data(scored, FAMILY, "taste")
    empty = p.plane_data(scored, FAMILY, "unjudged")
    with pytest.raises(InputError, match="unjudged: 0 systems with human scores"):
        p.fit_plane(empty, "unjudged")
    with pytest.raises(InputError, match="over='words': expected one of both, segments, systems"):
        p.fit_plane(judged(), "quality", over="words")
    for metric in (kt.AEv(n=2), kt.AEv(refs="best"), kt.AEv(weights=(1, 0, 0, 0))):
        with pytest.raises(InputError, match="a plane needs n=4, equal weights and refs=all"):
            p.check_family(metric)


# ------------------------------------------------------------------------- halves and verdicts


@pytest.mark.parametrize("systems", [4, 6])  # halves of two have R^2 of 1 but for rounding
def test_halves_are_those_of_loops(systems: int) -> None:
    data = judged(6, systems, 12)
    halves = plane_study.split_halves(data, 15, 3)
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(15):
        first = rng.permutation(systems) < systems // 2
        half = rng.permutation(12) < 6
        counts = np.stack([half, ~half]).astype(float)
        human, cells = weighted_means(data.judged, counts), data.cell_scores(counts)
        for position, custom in ((0, first), (1, ~first)):
            k = plane_loops.best(
                human[position][custom].tolist(), cells[:, position, custom].tolist()
            )
            other = [
                pearson(
                    human[1 - position][~custom].tolist(), cells[c, 1 - position, ~custom].tolist()
                )
                for c in range(44)
            ]
            if k is not None and not np.isnan(other).all():
                squared = [max(r, 0) ** 2 if r == r else 0.0 for r in other]  # noqa: PLR0124
                pairs.append((squared[k], squared[43]))
    assert halves.splits == len(pairs)
    assert halves.loses == pytest.approx(sum(a < b - 1e-12 for a, b in pairs) / len(pairs))
    ties = sum(abs(a - b) < 1e-12 for a, b in pairs) / len(pairs)
    assert halves.ties == pytest.approx(ties)
    assert halves.pick_r2 == pytest.approx(sum(a for a, _ in pairs) / len(pairs))
    assert halves.bleu == pytest.approx(sum(b for _, b in pairs) / len(pairs))


def test_three_systems_have_no_halves() -> None:
    halves = plane_study.split_halves(judged(1, 3), 10)
    assert halves.splits == 0
    assert np.isnan(halves[1:]).all()


def test_a_verdict_compares_the_region_with_the_rest() -> None:
    fit = p.fit_plane(judged(), "quality", resamples=25)
    region = Region(0.0, 0.3, 3, 4)
    region_verdict = plane_study.verdict(fit, region)
    inside = [k for k, (a, n) in enumerate(p.CELLS) if a < 0.35 and n >= 3]
    assert len(inside) == 8
    outside = [k for k in range(44) if k not in inside]

    def mean(r: np.ndarray, cells: list[int]) -> float:
        return float(np.mean([max(r[k], 0) ** 2 if r[k] == r[k] else 0.0 for k in cells]))

    assert region_verdict.inside == pytest.approx(mean(fit.r, inside))
    assert region_verdict.outside == pytest.approx(mean(fit.r, outside))
    gaps = sorted(mean(d, inside) - mean(d, outside) for d in fit.draws.T)
    assert (region_verdict.low, region_verdict.high) == (
        pytest.approx(gaps[0]),
        pytest.approx(gaps[-1]),
    )
    for low, high, words in ((0.1, 0.2, "holds"), (-0.2, -0.1, "fails"), (-1, 1, "undecided")):
        assert region_verdict._replace(low=low, high=high, enough_systems=True).words == words


def test_progress_is_told() -> None:
    reports: list[tuple[int, int, str]] = []
    p.fit_plane(judged(), "quality", resamples=7, progress=lambda *x: reports.append(x))
    plane_study.split_halves(judged(), 3, progress=lambda *x: reports.append(x))
    assert reports[0] == (7, 7, "resampling")
    assert reports[-1] == (3, 3, "splitting into halves")
