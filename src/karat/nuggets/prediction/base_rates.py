"""The base rate of an unjudged set: random effects of sets, questions and runs.

On a new set a classifier says yes too often or too rarely: on the whole set, on a question, and for
a run. On the logit scale these are shifts of its guesses p:

    logit P(run r carries a nugget of question q) = logit p + s + u_q + v_r
    s ~ N(0, Q),    u_q ~ N(0, Q),    v_r ~ N(0, R)

Q and R are learned on judged sets. The variance between sets cannot be learned from few sets (two
have one degree of freedom). The prior is that sets differ as much as questions do: prior knowledge
of the base rate of a new set is worth one judged question (a unit-information prior). The mean
shift of the guesses of one run on m questions has the variance

    S + Q / m + R + D / I,    I = sum of p (1 - p),    S = Q without judgements,

where D is the dispersion of single pairs (1 if they are independent). The ends of an interval are
the scores with all guesses shifted down and up by t times the root of that variance; t is
Student's, with the degrees of freedom of the sum of all terms (Welch and Satterthwaite).

Judged pairs inform about s, even if they are too few to train a classifier or to measure its
errors. The mean and the variance S of s are then given by

    sum over questions of  w_q sum of (y - p at s)  =  s / Q,    1 / S = 1 / Q + sum of w_q i_q

with i_q the sum of p (1 - p) over the judged pairs of a question, and w_q such that each question
counts by 1 / (D / i_q + Q), all of them together by 1 / (1 / sum + R / judged runs).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import NamedTuple

from karat.arithmetic import logit, sigmoid
from karat.arrays import Flags, Floats, Ints, np
from karat.nuggets.prediction.intervals import NOISE, RunIntervals, ScoreInterval, welch_freedom
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import (
    OfficialSettings,
    RunAnswers,
    jackknife_pseudo_values,
    nugget_weights,
    run_answers,
)
from karat.nuggets.sets.keys_and_runs import Question, Run
from karat.stats.distributions import student_quantile

_FARTHEST = 20.0  # a shift beyond which every probability is 0 or 1
_STEPS = 60
_LEVEL = 0.95


class ShiftVariances(NamedTuple):
    """Variances of shifts."""

    question: float  # Q, of a question; without judgements also of a set
    run: float  # R, of a run
    dispersion: float  # D, of single pairs, relative to independent ones
    question_freedom: float  # the degrees of freedom of Q
    run_freedom: float  # the degrees of freedom of R


PRIOR_SPREAD = ShiftVariances(0.45, 0.038, 1.3, 37, 61)
"""Learned on REALSumm and TREC RAG 2024 together (`experiments/nuggets_base_rates.py`)."""


class SetShift(NamedTuple):
    """Mean and variance of the shift s of a set."""

    mean: float
    variance: float  # S


def learn_shift(
    logits: Floats, yes: Flags, question: Ints, run: Ints, spread: ShiftVariances
) -> SetShift:
    """Learn the shift of a set from its judged pairs; without any, return the prior.

    `question` and `run` are the question and the run of each pair.
    """
    if not len(logits):
        return SetShift(0.0, spread.question)
    p = sigmoid(logits)
    information = np.bincount(question, p * (1 - p))
    weight = 1 / (spread.dispersion + information * spread.question)
    precision = float((weight * information).sum())
    weight /= 1 + precision * spread.run / len(np.unique(run))
    variance = 1 / (1 / spread.question + float((weight * information).sum()))
    return SetShift(_solve(logits, yes, weight[question], spread.question), variance)


def _solve(logits: Floats, yes: Flags, weight: Floats, variance: float) -> float:
    """Solve sum of weight (yes - p at s) = s / variance by bisection: the left side decreases."""
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_STEPS):
        s = (low + high) / 2
        excess = float((weight * (yes - sigmoid(logits + s))).sum()) - s / variance
        low, high = (s, high) if excess > 0 else (low, s)
    return (low + high) / 2


def max_shift(
    set_shift: SetShift, spread: ShiftVariances, questions: float, information: float
) -> float:
    """Return the largest plausible shift of a run's guesses, up or down; 0 without guesses.

    `questions` is m and `information` is I; both are infinite for questions in general.
    """
    if not questions or not information:
        return 0.0
    parts = [
        (set_shift.variance + spread.question / questions, spread.question_freedom),
        (spread.run, spread.run_freedom),
        (spread.dispersion / information, np.inf),
    ]
    t = student_quantile((1 - _LEVEL) / 2, welch_freedom(parts))
    return t * sqrt(sum(variance for variance, _ in parts))


class GuessCounts(NamedTuple):
    """Guesses in the score of a run."""

    questions: float  # m: guessed questions, which may be fractional
    information: float  # I


class PredictedRun(NamedTuple):
    """A run, the decisions on it, and the probabilities of its pairs."""

    questions: Sequence[Question]
    run: Run
    decisions: Mapping[str, AnswerDecisions]
    official_settings: OfficialSettings
    probabilities: Mapping[str, Floats]
    judged_in_run: Mapping[str, Flags]  # pairs that were judged in the run itself

    def with_uncertain_borrowed_judgements(self) -> PredictedRun:
        """Return the run with judgements of other runs as nearly certain guesses."""
        decisions, probabilities = {}, {}
        for id, answer in ((q.id, self.decisions[q.id]) for q in self.questions):
            likely = np.clip(answer.values, NOISE, 1 - NOISE)
            decisions[id] = replace(answer, is_judged=answer.is_judged & self.judged_in_run[id])
            probabilities[id] = np.where(answer.is_judged, likely, self.probabilities[id])
        return self._replace(decisions=decisions, probabilities=probabilities)

    def answers_at_shift(self, shift: float) -> RunAnswers:
        """Return the expected answers with the logits of all guesses shifted."""
        shifted = {id: sigmoid(logit(p) + shift) for id, p in self.probabilities.items()}
        return run_answers(
            self.questions, self.run, self.decisions, self.official_settings, shifted
        )[0]

    def count_guesses(self, weighted: bool) -> GuessCounts:
        """Count guessed questions, and the information of guesses: p (1 - p), summed over nuggets.

        A question counts by the share of its nuggets that are open: guessed, and not certain to be
        carried by judged responses. With `weighted`, only nuggets with a weight count.
        """
        guessed_questions, information = 0.0, 0.0
        for question in self.questions:
            answer = self.decisions[question.id]
            selected = (
                nugget_weights(question, self.official_settings.weights) > 0
                if weighted
                else slice(None)
            )
            values = np.where(answer.is_judged, answer.values, self.probabilities[question.id])
            p = values.max(axis=0, initial=0.0)[selected]
            is_open = (1 - answer.is_judged).max(axis=0, initial=0)[selected] * (1 - p) > 0
            if len(p):
                guessed_questions += float(is_open.mean())
                information += float((p * (1 - p))[is_open].sum())
        return GuessCounts(guessed_questions, information)


def shifted_intervals(
    predicted: PredictedRun, set_shift: SetShift, spread: ShiftVariances, general: bool
) -> RunIntervals:
    """Return intervals of A and F; None for F if too few questions have one."""
    run, beta = predicted.with_uncertain_borrowed_judgements(), predicted.official_settings.beta
    expected = run.answers_at_shift(set_shift.mean)

    def shift_interval(score_index: int, questions: float, information: float) -> ScoreInterval:
        """Return the interval from shifting guesses down and up; arguments as in `max_shift`."""
        half_width = max_shift(set_shift, spread, questions, information)
        low, high = (
            run.answers_at_shift(set_shift.mean + shift).scores(beta)[score_index]
            for shift in (-half_width, half_width)
        )
        return ScoreInterval(expected.scores(beta)[score_index], low, high)

    def interval(score_index: int, question_scores: Callable[[], Floats]) -> ScoreInterval:
        """Return the interval on these questions; if `general`, with their sampling error.

        `score_index` is 0 for A, 1 for macro F and 2 for micro F.
        """
        counts = run.count_guesses(weighted=score_index > 0)
        on_these_questions = shift_interval(score_index, *counts)
        if not general:
            return on_these_questions
        in_general = shift_interval(score_index, inf, inf)
        return on_these_questions.joined(_add_sampling_error(in_general, question_scores()))

    share = interval(0, lambda: expected.share)
    has_weight = expected.official_stats.total > 0
    if has_weight.sum() < 1 + general:
        return RunIntervals(share, None, None)
    macro = interval(1, lambda: expected.official_stats.f(beta)[has_weight])
    return RunIntervals(
        share, macro, interval(2, lambda: jackknife_pseudo_values(expected.official_stats, beta))
    )


def _add_sampling_error(interval: ScoreInterval, values: Floats) -> ScoreInterval:
    """Widen an interval by the sampling error of questions; `values` are their scores."""
    sampling = student_quantile(0.025, len(values) - 1) * sqrt(values.var(ddof=1) / len(values))
    below, above = interval.score - interval.low, interval.high - interval.score
    low = interval.score - sqrt(below * below + sampling * sampling)
    high = interval.score + sqrt(above * above + sampling * sampling)
    return ScoreInterval(interval.score, max(0.0, low), min(1.0, high))
