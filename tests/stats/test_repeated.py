"""Repeated answers: pass@k and pass^k, variance components, McNemar's test, intervals of shares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import answer_formulas as oracle
from scipy import stats as scipy_stats

from karat.errors import InputError
from karat.stats.repeated import (
    AnswerVariance,
    answer_variance,
    beta_quantile,
    clopper_pearson,
    jeffreys,
    mcnemar,
    pass_all_k,
    pass_at_k,
)


def test_the_mean_is_over_questions_not_over_pooled_answers() -> None:
    assert pass_at_k([4, 0], [4, 4], 2).mean() == 0.5
    assert pass_all_k([4, 0], [4, 4], 2).mean() == 0.5
    assert round(float(pass_at_k([4], [8], 2)[0]), 3) == 0.786
    assert round(float(pass_all_k([4], [8], 2)[0]), 3) == 0.214


@st.composite
def counts(draw: st.DrawFn, largest: int = 60) -> tuple[list[int], list[int], int]:
    """Right answers and answers of some questions, and a k that all have."""
    answers = draw(st.lists(st.integers(1, largest), min_size=1, max_size=6))
    correct = [draw(st.integers(0, n)) for n in answers]
    return correct, answers, draw(st.integers(1, min(answers)))


@given(counts())
def test_pass_k_by_binomial_coefficients(drawn: tuple[list[int], list[int], int]) -> None:
    correct, answers, k = drawn
    pairs = list(zip(correct, answers, strict=True))
    some = [float(oracle.pass_at_k(c, n, k)) for c, n in pairs]
    every = [float(oracle.pass_all_k(c, n, k)) for c, n in pairs]
    assert pass_at_k(correct, answers, k).tolist() == pytest.approx(some, rel=1e-12, abs=1e-300)
    assert pass_all_k(correct, answers, k).tolist() == pytest.approx(every, rel=1e-12, abs=1e-300)


@given(counts(largest=7))
def test_pass_k_by_all_draws(drawn: tuple[list[int], list[int], int]) -> None:
    correct, answers, k = drawn
    for c, n in zip(correct, answers, strict=True):
        assert oracle.pass_at_k(c, n, k) == oracle.share_of_draws(c, n, k, 1)
        assert oracle.pass_all_k(c, n, k) == oracle.share_of_draws(c, n, k, k)


def test_pass_k_with_many_answers() -> None:
    assert pass_at_k([1], [10**6], 1000)[0] == pytest.approx(1e-3, rel=1e-12)
    assert pass_at_k([10**6], [10**6], 5)[0] == 1
    exact = float(oracle.pass_all_k(5000, 10_000, 200))
    assert pass_all_k([5000], [10_000], 200)[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1], [2], 3), "k=3: question 1 has 2 answers; give at most the smallest number"),
        (([1, 1], [4, 2], 3), "k=3: question 2 has 2 answers"),
        (([1], [2], 0), "k=0: expected a whole number, 1 or more"),
        (([3], [2], 1), "question 1: 3 of 2 answers are right"),
        (([-1], [2], 1), "question 1: -1 of 2 answers"),
        (([1], [2, 3], 1), "1 numbers of right answers and 2 numbers of answers"),
        (([], [], 1), "0 numbers of right answers|expected a list of whole numbers"),
        (([0.5], [2], 1), "expected a list of whole numbers"),
    ],
)
def test_counts_that_cannot_be(arguments: tuple[list[int], list[int], int], sentence: str) -> None:
    for function in (pass_at_k, pass_all_k):
        with pytest.raises(InputError, match=sentence):
            function(*arguments)


# ---------------------------------------------------------------- components of variance


@given(
    st.integers(2, 5).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=2, max_size=8
        )
    )
)
def test_components_of_equal_numbers_are_those_of_anova(groups: list[list[float]]) -> None:
    scores = [score for group in groups for score in group]
    questions = [i for i, group in enumerate(groups) for _ in group]
    parts = answer_variance(scores, questions)
    assert (parts.between, parts.within) == pytest.approx(oracle.components(groups), abs=1e-9)
    assert parts.answers == pytest.approx(len(groups[0]))


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=2, max_size=8).filter(
        lambda groups: any(len(group) > 1 for group in groups)
    )
)
def test_the_error_is_that_of_the_means_of_questions(groups: list[list[float]]) -> None:
    scores = [score for group in groups for score in group]
    questions = [str(i) for i, group in enumerate(groups) for _ in group]
    parts = answer_variance(scores, questions)
    means = [float(np.mean(group)) for group in groups]
    of_means = float(np.std(means, ddof=1)) / math.sqrt(len(groups))
    if parts.between > 1e-9:
        assert parts.error == pytest.approx(of_means, rel=1e-6)
    else:  # answers differ more than the means of questions do
        assert parts.error >= of_means - 1e-6


def test_order_of_answers_does_not_matter() -> None:
    scores, questions = [0.1, 0.7, 0.2, 0.9, 0.4], ["a", "b", "a", "b", "c"]
    mixed = [4, 2, 0, 3, 1]
    again = answer_variance([scores[i] for i in mixed], [questions[i] for i in mixed])
    assert again == pytest.approx(answer_variance(scores, questions))


def test_components_on_average() -> None:
    """Estimates of 400 data sets with unequal numbers of answers, within 4 standard errors."""
    rng, drawn = np.random.default_rng(7), []
    sizes = np.array([1, 2, 3, 4, 10] * 6)
    questions = np.repeat(np.arange(30), sizes)
    for _ in range(400):
        scores = rng.normal(0, 2, 30)[questions] + rng.normal(0, 1, len(questions))
        parts = answer_variance(scores, questions.tolist())
        drawn.append((parts.between, parts.within))
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0, ddof=1) / 20
    assert np.all(np.abs(mean - [4, 1]) < 4 * error)


def test_advice_on_halving_the_width() -> None:
    parts = AnswerVariance(between=1.0, within=6.0, questions=10, answers=2)
    assert parts.error == pytest.approx(math.sqrt(1 / 10 + 6 / 20))
    assert parts.questions_to_narrow() == 30
    assert parts.answers_to_narrow() is None  # 1/10 is not below .4/4
    assert parts.consistency == pytest.approx(1 / 7)
    noisy = AnswerVariance(between=0.5, within=6.0, questions=10, answers=2)
    more = noisy.answers_to_narrow()
    assert more == 14  # 6 / (3.5/4 - .5) = 16
    assert noisy.variance_with(10, 2 + more) == pytest.approx(noisy.variance_with(10, 2) / 4)
    assert AnswerVariance(0.0, 3.0, 10, 5).answers_to_narrow() == 15
    assert AnswerVariance(0.0, 0.0, 10, 5).answers_to_narrow() == 0
    assert AnswerVariance(0.0, 0.0, 10, 5).consistency == 1


@given(st.floats(0, 10), st.floats(0, 10), st.integers(2, 500), st.floats(1, 50), st.floats(1.1, 5))
def test_advice_is_enough_and_not_more(
    between: float, within: float, questions: int, answers: float, factor: float
) -> None:
    parts = AnswerVariance(between, within, questions, answers)
    target = parts.variance_with(questions, answers) / factor**2
    n = questions + parts.questions_to_narrow(factor)
    assert parts.variance_with(n, answers) <= target * (1 + 1e-9)
    more = parts.answers_to_narrow(factor)
    if more is None:
        assert parts.variance_with(questions, 1e15) >= target * (1 - 1e-6)
    else:
        assert parts.variance_with(questions, answers + more) <= target * (1 + 1e-6) + 1e-300
        if more > 1 and more < 1e6:
            assert parts.variance_with(questions, answers + more - 1) > target


@pytest.mark.parametrize(
    ("scores", "questions", "sentence"),
    [
        ([1, 0], ["a", "b"], "every question has one answer"),
        ([1, 0], ["a", "a"], "1 question: components of variance need two questions"),
        ([1, 0], ["a"], "2 scores and 1 questions"),
        ([1, math.nan, 0], ["a", "a", "b"], "a score is missing"),
    ],
)
def test_too_little_for_components(
    scores: list[float], questions: list[str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        answer_variance(scores, questions)


# ------------------------------------------------------------------------- right and wrong


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar(first: int, second: int) -> None:
    p = mcnemar(first, second)
    assert p == float(oracle.mcnemar(first, second)) == mcnemar(second, first)
    if first + second:
        assert p == pytest.approx(scipy_stats.binomtest(first, first + second).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second"), [(500, 501), (450, 560), (40_000, 41_000), (480, 5000), (3000, 3000)]
)
def test_mcnemar_with_many_questions(first: int, second: int) -> None:
    expected = scipy_stats.binomtest(first, first + second).pvalue
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_mcnemar_worked() -> None:
    assert mcnemar(1, 9) == 22 / 1024
    assert mcnemar(0, 0) == 1
    assert mcnemar(np.int64(0), np.int64(5)) == 0.0625  # type: ignore[arg-type]
    for wrong in (-1, 0.5, True):
        with pytest.raises(InputError, match="questions: expected a whole number, 0 or more"):
            mcnemar(wrong, 3)  # type: ignore[arg-type]


@given(st.integers(1, 300), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_of_shares_are_scipys(answers: int, data: st.DataObject, level: float) -> None:
    correct = data.draw(st.integers(0, answers))
    exact = scipy_stats.binomtest(correct, answers).proportion_ci(level, method="exact")
    share = clopper_pearson(correct, answers, level)
    assert share == pytest.approx((correct / answers, exact.low, exact.high), abs=1e-9)
    tail = (1 - level) / 2
    ends = scipy_stats.beta(correct + 0.5, answers - correct + 0.5).ppf([tail, 1 - tail])
    low, high = (0.0 if correct == 0 else ends[0]), (1.0 if correct == answers else ends[1])
    assert jeffreys(correct, answers, level)[1:] == pytest.approx((low, high), abs=1e-9)


@given(st.integers(1, 200), st.data())
def test_intervals_are_mirrored_and_contain_the_share(answers: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, answers))
    for interval in (clopper_pearson, jeffreys):
        share, mirrored = interval(correct, answers), interval(answers - correct, answers)
        assert share.low <= share.value <= share.high
        assert (share.low, share.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


@pytest.mark.parametrize("answers", [5, 10, 20])
@pytest.mark.parametrize("truth", [0.02, 0.1, 0.5, 0.93])
def test_the_exact_interval_covers(answers: int, truth: float) -> None:
    """The probability of counts whose interval has the truth, added up, is 95% or more."""
    chances = scipy_stats.binom(answers, truth).pmf(np.arange(answers + 1))
    shares = [clopper_pearson(c, answers) for c in range(answers + 1)]
    covered = [share.low <= truth <= share.high for share in shares]
    assert chances[covered].sum() >= 0.95


def test_shares_that_cannot_be() -> None:
    with pytest.raises(InputError, match="no answers: a share needs one or more"):
        clopper_pearson(0, 0)
    with pytest.raises(InputError, match="-1 answers: expected a whole number"):
        jeffreys(3, 2)
    with pytest.raises(InputError, match="level=95: expected a number between 0 and 1"):
        jeffreys(1, 2, level=95)


@given(st.floats(0.1, 200), st.floats(0.1, 200), st.floats(0.001, 0.999))
def test_quantiles_of_beta(a: float, b: float, share: float) -> None:
    x = beta_quantile(share, a, b)
    assert scipy_stats.beta(a, b).cdf(x) == pytest.approx(share, abs=1e-9)
