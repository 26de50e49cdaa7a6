"""Several answers to each question: pass@k, variance components, and tests of right and wrong.

A question is the unit: it has `answers` answers, `correct` of which are right. Functions of both
are computed for each question, and the score is their mean, so questions weigh equally.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, comb, fsum, sqrt
from typing import NamedTuple

from karat.arrays import ArrayLike, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.stats.distributions import incomplete_beta

# ------------------------------------------------------------------------- pass@k, pass^k


def pass_at_k(correct: ArrayLike, answers: ArrayLike, k: int) -> Floats:
    """Return for each question the probability that at least one of k answers is right.

    The k answers are drawn from the n = `answers` of the question, c = `correct` of them right,
    without replacement (Chen et al. 2021):

        pass@k = 1 - C(n - c, k) / C(n, k)

    It is computed as the probability that the first right answer is the i-th, summed over i up to
    k, which loses no digits where n is large and pass@k small. The score of a system is the mean.
    """
    right, total = _check_counts(correct, answers, k)
    none_so_far, value = np.ones(len(right)), np.zeros(len(right))
    for draw in range(k):
        left = total - draw
        value += none_so_far * np.minimum(right / left, 1.0)
        none_so_far *= np.maximum(left - right, 0) / left
    return np.minimum(value, 1.0)


def pass_all_k(correct: ArrayLike, answers: ArrayLike, k: int) -> Floats:
    """Return for each question the probability that all of k answers are right.

    With n = `answers`, c = `correct` of them right, drawn without replacement (Yao et al. 2024):

        pass^k = C(c, k) / C(n, k)
    """
    right, total = _check_counts(correct, answers, k)
    value = np.ones(len(right))
    for draw in range(k):
        value *= np.maximum(right - draw, 0) / (total - draw)
    return value


def _check_counts(correct: ArrayLike, answers: ArrayLike, k: int) -> tuple[Ints, Ints]:
    """Return the counts as arrays; raise if they are no counts, or k is too large."""
    right, total = (_whole_numbers(counts) for counts in (correct, answers))
    if len(right) != len(total) or not len(right):
        raise InputError(
            f"{len(right):,} numbers of right answers and {len(total):,} numbers of answers: "
            "expected one of each for every question"
        )
    wrong = np.flatnonzero((right < 0) | (right > total))
    if len(wrong):
        question = int(wrong[0])
        raise InputError(
            f"question {question + 1:,}: {right[question]:,} of {total[question]:,} answers are "
            "right: expected 0 to all of them"
        )
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k={quoted(k)}: expected a whole number, 1 or more")
    fewest = int(total.argmin())
    if k > total[fewest]:
        raise InputError(
            f"k={k}: question {fewest + 1:,} has {total[fewest]:,} answers; give at most "
            "the smallest number of answers"
        )
    return right, total


def _whole_numbers(counts: ArrayLike) -> Ints:
    numbers = np.asarray(counts)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iub":
        raise InputError(f"counts {quoted(counts)}: expected a list of whole numbers")
    return numbers.astype(np.int64)


# ---------------------------------------------------------------- components of variance


class AnswerVariance(NamedTuple):
    """Variance of scores between questions, and between the answers of one question."""

    between: float
    within: float
    questions: int
    answers: float
    """Answers per question: their harmonic mean, on which the error of the score depends."""

    @property
    def error(self) -> float:
        """The standard error of the mean over questions: sqrt(s_b^2 / n + s_w^2 / (n k))."""
        return sqrt(self.variance_with(self.questions, self.answers))

    @property
    def consistency(self) -> float:
        """The share of the variance that is between questions, s_b^2 / (s_b^2 + s_w^2).

        It is 1 if all answers of a question score alike, and if no scores differ.
        """
        total = self.between + self.within
        return self.between / total if total > 0 else 1.0

    def variance_with(self, questions: float, answers: float) -> float:
        """Return the variance of the score with n questions of k answers each.

        var = s_b^2 / n + s_w^2 / (n k)
        """
        return self.between / questions + self.within / (questions * answers)

    def questions_to_narrow(self, factor: float = 2) -> int:
        """Return how many more questions make intervals `factor` times narrower.

        The variance is proportional to 1 / n, so n (factor^2 - 1) more are needed.
        """
        return ceil(self.questions * (factor * factor - 1))

    def answers_to_narrow(self, factor: float = 2) -> int | None:
        """Return how many more answers to each question make intervals `factor` times narrower.

        With the target variance v = var / factor^2, k + K = s_w^2 / (n v - s_b^2). None if no
        number is enough: the variance between questions alone is too large.
        """
        target = self.variance_with(self.questions, self.answers) / (factor * factor)
        left = self.questions * target - self.between
        if self.between + self.within == 0:
            return 0
        if left <= 1e-12 * self.between:
            return None
        needed = self.within / left - self.answers
        return max(0, ceil(needed - 1e-9 * self.answers))


def answer_variance(scores: ArrayLike, questions: Sequence[object]) -> AnswerVariance:
    """Return the components of variance of the scores of answers.

    `questions` has the question of each answer. Numbers of answers may differ. With y_ij the score
    of answer j to question i, k_i answers to each of n questions, N answers in all, and K the
    harmonic mean of the k_i:

        s_w^2 = sum (y_ij - mean of i)^2 / (N - n)
        s_b^2 = variance of the means of questions - s_w^2 / K, or 0 if that is below 0

    Where s_b^2 is above 0, s_b^2 / n + s_w^2 / (n K) is therefore the squared standard error of
    the mean over questions. With equal k_i these are the components of the one-way analysis of
    variance.
    """
    values = np.asarray(scores, np.float64)
    if values.ndim != 1 or len(values) != len(questions):
        raise InputError(
            f"{values.size:,} scores and {len(questions):,} questions: expected one question for "
            "each score"
        )
    if not np.isfinite(values).all():
        raise InputError("a score is missing: components of variance need all scores")
    numbers = {question: i for i, question in enumerate(dict.fromkeys(questions))}
    codes = np.array([numbers[question] for question in questions], np.int64)
    n = len(numbers)
    if n < 2:
        raise InputError(f"{n} question: components of variance need two questions or more")
    if len(values) == n:
        raise InputError(
            "every question has one answer: the variance between answers needs questions with two "
            "or more"
        )
    counts = np.bincount(codes)
    groups = np.split(values[np.argsort(codes, kind="stable")], np.cumsum(counts)[:-1])
    means = np.array([fsum(group) for group in groups]) / counts
    within = fsum((values - means[codes]) ** 2) / (len(values) - n)
    answers = n / fsum(1 / counts)
    spread = fsum((means - fsum(means) / n) ** 2) / (n - 1)
    return AnswerVariance(max(0.0, spread - within / answers), within, n, answers)


# ------------------------------------------------------------------------- right and wrong


def mcnemar(first_only: int, second_only: int) -> float:
    """Return McNemar's exact two-sided p for two systems on the same questions.

    `first_only` questions are right for the first system alone, b, `second_only` for the second, c.
    If both are equally good, b is binomial with b + c trials of probability 1/2:

        p = min(1, 2 P(X <= min(b, c)))
    """
    _check_counts_of_outcomes("questions", first_only, second_only)
    fewer = int(min(first_only, second_only))
    trials = int(first_only) + int(second_only)
    if trials <= _EXACT_TRIALS:
        outcomes = sum(comb(trials, i) for i in range(fewer + 1))
        return min(1.0, float(Fraction(2 * outcomes, 2**trials)))
    return min(1.0, 2 * incomplete_beta(trials - fewer, fewer + 1, 0.5))


_EXACT_TRIALS = 1000
"""Up to this number binomial coefficients are added; beyond, the incomplete beta function."""


class Proportion(NamedTuple):
    """A share of right answers and its interval."""

    value: float
    low: float
    high: float


def clopper_pearson(correct: int, answers: int, level: float = 0.95) -> Proportion:
    """Return a share with its exact interval (Clopper and Pearson 1934).

    With a = (1 - level) / 2, c right of n:

        low  = quantile a of Beta(c, n - c + 1), 0 for c = 0
        high = quantile 1 - a of Beta(c + 1, n - c), 1 for c = n

    It covers the true share with at least the level, usually with more.
    """
    return _beta_interval(correct, answers, level, (0, 1), (1, 0))


def jeffreys(correct: int, answers: int, level: float = 0.95) -> Proportion:
    """Return a share with Jeffreys' interval: quantiles of Beta(c + 1/2, n - c + 1/2).

    The lower end is 0 for c = 0, the upper end 1 for c = n (Brown, Cai and DasGupta 2001). It
    covers the true share with the level on average, and is shorter than the exact interval.
    """
    return _beta_interval(correct, answers, level, (0.5, 0.5), (0.5, 0.5))


def _beta_interval(
    correct: int,
    answers: int,
    level: float,
    low_prior: tuple[float, float],
    high_prior: tuple[float, float],
) -> Proportion:
    """Return quantiles of Beta(c + a, n - c + b), with a and b for either end."""
    _check_counts_of_outcomes("answers", correct, answers - correct)
    if not answers:
        raise InputError("no answers: a share needs one or more")
    if not 0 < level < 1:
        raise InputError(f"level={quoted(level)}: expected a number between 0 and 1")
    wrong, tail = answers - correct, (1 - level) / 2
    low = beta_quantile(tail, correct + low_prior[0], wrong + low_prior[1]) if correct else 0.0
    high = 1.0
    if wrong:  # the mirror image is exact near 1
        high = 1 - beta_quantile(tail, wrong + high_prior[1], correct + high_prior[0])
    return Proportion(correct / answers, low, high)


def _check_counts_of_outcomes(noun: str, *counts: int) -> None:
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"{quoted(count)} {noun}: expected a whole number, 0 or more")


def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the x with I_x(a, b) = share, for a and b above 0, by bisection."""
    return _bisect(lambda x: incomplete_beta(a, b, x), share)


def _bisect(rising: Callable[[float], float], value: float) -> float:
    """Return the point between 0 and 1 at which a rising function has a value."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if rising(middle) < value else (low, middle)
