"""Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah 2024).

Humans and metric each have a p-value for "system i is better than system j", from a paired
permutation test over segments. SPA = 1 - mean over i < j of |p_human - p_metric|: a metric is
right to be unsure where humans are. A corpus score is no mean of segment scores, so a test of it
exchanges rows of statistics between two systems and scores the two sums again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.settings import SEED
from karat.stats.exchanges import (
    Exchanges,
    Permutation,
    Words,
    chosen_sums,
    drawn_words,
    masks,
    no_exchange,
)

ScoreSums = Callable[[Floats], Floats]  # sums of statistics, a row each -> scores
_ROUNDING = 1e-10  # of a score: sums of statistics here are rounded at every step


class SoftAccuracy(NamedTuple):
    """The accuracy, and the segments it is of."""

    value: float  # NaN for fewer than two systems or no segment that all systems have
    segments: int
    left_out: int  # segments on which a score is missing


def pairwise_p_values(
    scores: Floats, trials: int = 1000, seed: int = SEED, progress: Progress = silent
) -> Floats:
    """p[i, j] for "system i scores above j", of systems x segments: the share of trials in which
    exchanging segments at random gives at least the real difference. The diagonal is NaN.
    """
    systems, segments = scores.shape
    reached = np.zeros((systems, systems))
    for words in drawn_words((1, segments), trials, seed, progress):
        reached += times_reached(scores, sign_sums(scores, words))
    p = reached / trials
    np.fill_diagonal(p, np.nan)
    return p


def sign_sums(scores: Floats, words: Words) -> Floats:
    """Systems x trials: sums of scores, those of the chosen segments taken off."""
    chosen = chosen_sums(words, scores.T[None].copy())
    return np.ascontiguousarray((scores.sum(axis=1) - 2 * chosen).T)


def times_reached(scores: Floats, sums: Floats) -> Ints:
    """Systems x systems: the trials in which the first is ahead by at least the real difference."""
    totals = scores.sum(axis=1)
    slack = SLACK * float(np.abs(scores).sum()) if scores.size else 0.0  # rounding is no difference
    return _kernel.reached(sums, totals[:, None] - totals[None, :] - slack)


def corpus_p_values(
    rows: Floats,
    score: ScoreSums,
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Floats:
    """Return p[i, j] for "the corpus score of system i is above that of j"; the diagonal is NaN.

    `rows` are the statistics, systems x segments x columns. p is the share of trials in which
    exchanging segments of the two at random gives at least the real difference. Where scores are
    means, these are the p-values of `pairwise_p_values`.
    """
    systems, segments, width = rows.shape
    totals = rows.sum(axis=1)
    values = score(totals)
    slack = _ROUNDING * float(np.abs(values).max(initial=0.0))  # rounding is no difference
    reached = np.zeros((systems, systems))
    flat = np.ascontiguousarray(rows.swapaxes(0, 1)).reshape(1, segments, -1)
    for words in drawn_words((1, segments), trials, seed, progress):
        chosen = chosen_sums(words, flat).reshape(-1, systems, width)
        for i in range(systems - 1):
            later = slice(i + 1, systems)
            moved = chosen[:, later] - chosen[:, i : i + 1]
            both = np.stack([totals[i] + moved, totals[later] - moved])
            first_scores, second_scores = score(both.reshape(-1, width)).reshape(both.shape[:3])
            real = values[i] - values[later]
            reached[i, later] += (first_scores - second_scores >= real - slack).sum(axis=0)
            reached[later, i] += (first_scores - second_scores <= real + slack).sum(axis=0)
    p = reached / trials
    np.fill_diagonal(p, np.nan)
    return p


def agreement_of_p_values(human: Floats, metric: Floats) -> float:
    """1 - mean |p_human - p_metric| over pairs i < j."""
    above = np.triu_indices(len(human), 1)
    if not len(above[0]):
        return float("nan")
    return float(1 - np.abs(human - metric)[above].mean())


def whole_segments(unknown: Flags) -> tuple[Flags, Flags]:
    """The systems that have any score, and the segments on which all of those have one."""
    has_scores = np.asarray(~unknown.all(axis=1))
    return has_scores, np.asarray(~unknown[has_scores].any(axis=0) & has_scores.any())


def soft_pairwise_accuracy(
    human: Floats,
    metric: Floats,
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
    score: ScoreSums | None = None,
) -> SoftAccuracy:
    """SPA of two systems x segments matrices, on the segments that have all scores.

    Systems without any score take no part.

    A system's metric score is the mean of its segments' scores; with `score` it is the score of the
    sum of their statistics, which `metric` then holds: systems x segments x columns.
    """
    if human.shape != metric.shape[:2]:
        shapes = f"human scores have the shape {human.shape} and metric scores {metric.shape}"
        raise InputError(f"{shapes}: expected the same")
    missing = np.isnan(metric) if score is None else np.isnan(metric).any(axis=2)
    has_scores, is_complete = whole_segments(np.isnan(human) | missing)
    human, metric = human[has_scores], metric[has_scores]
    n_segments, left_out = int(is_complete.sum()), int((~is_complete).sum())
    if not n_segments:
        return SoftAccuracy(float("nan"), 0, left_out)
    p_human = pairwise_p_values(human[:, is_complete], trials, seed, progress)
    p_metric = (
        pairwise_p_values(metric[:, is_complete], trials, seed, progress)
        if score is None
        else corpus_p_values(metric[:, is_complete], score, trials, seed, progress)
    )
    return SoftAccuracy(agreement_of_p_values(p_human, p_metric), n_segments, left_out)


_PAIRWISE_TRIALS = 1000  # of the p-values between systems
_AT_A_TIME = 16  # trials between two reports


def exchange_soft(human: Floats, first: Floats, second: Floats, tried: Exchanges) -> Permutation:
    """Test that the first metric has the higher accuracy; NaN at the same cells in all three."""
    has_scores, is_complete = whole_segments(np.isnan(human))
    h, a, b = (x[has_scores][:, is_complete] for x in (human, first, second))
    if len(h) < 2 or not is_complete.any():
        return tried.undefined()
    inner = np.concatenate([*drawn_words((1, h.shape[1]), _PAIRWISE_TRIALS, SEED)], axis=1)
    sums = sign_sums(a, inner) + sign_sums(b, inner)
    p_human = times_reached(h, sign_sums(h, inner)) / _PAIRWISE_TRIALS

    def accuracy(scores: Floats, trial_sums: Floats) -> float:
        return agreement_of_p_values(p_human, times_reached(scores, trial_sums) / _PAIRWISE_TRIALS)

    def differences(words: Words) -> Floats:
        gaps = []
        for mask in masks(words, human.shape):
            exchanged = mask[has_scores][:, is_complete]
            first_exchanged, second_exchanged = np.where(exchanged, b, a), np.where(exchanged, a, b)
            first_sums = sign_sums(first_exchanged, inner)
            gaps.append(
                accuracy(first_exchanged, first_sums)
                - accuracy(second_exchanged, sums - first_sums)
            )
        return np.array(gaps)

    delta = float(differences(no_exchange(human.shape))[0])
    return tried.test(delta, differences, _AT_A_TIME)
