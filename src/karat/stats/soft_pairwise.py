"""Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah 2024).

Humans and metric each have a p-value for "system i is better than system j", from a paired
permutation test over segments. SPA = 1 - mean over i < j of |p_human - p_metric|, which rewards a
metric for being unsure where humans are. A corpus score is not a mean of segment scores, so its
test exchanges rows of statistics between two systems and scores the two sums again.
"""

from __future__ import annotations

from collections.abc import Callable

from karat import _kernel
from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
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

ScoreSums = Callable[[Floats], Floats]  # from sums of statistics, one per row, to scores
TRIALS = 1000  # trials of the p-values between systems
_ROUNDING = 1e-10  # relative error of a score: sums of statistics here are rounded at every step


def pairwise_p_values(scores: Floats, trials: int = TRIALS, seed: int = SEED) -> Floats:
    """Return p[i, j] for "system i scores above j", from systems x segments; the diagonal is NaN.

    p is the share of trials in which random exchanges of segments give at least the real
    difference.
    """
    systems, segments = scores.shape
    reached = np.zeros((systems, systems))
    for words in drawn_words((1, segments), trials, seed):
        reached += times_reached(scores, sign_sums(scores, words))
    p = reached / trials
    np.fill_diagonal(p, np.nan)
    return p


def sign_sums(scores: Floats, words: Words) -> Floats:
    """Return systems x trials: sums of scores in which chosen segments have the opposite sign."""
    chosen = chosen_sums(words, scores.T[None].copy())
    return np.ascontiguousarray((scores.sum(axis=1) - 2 * chosen).T)


def times_reached(scores: Floats, sums: Floats) -> Ints:
    """Return systems x systems: trials in which the first leads by at least the real difference."""
    totals = scores.sum(axis=1)
    slack = SLACK * float(np.abs(scores).sum()) if scores.size else 0.0  # ignore rounding
    return _kernel.reached(sums, totals[:, None] - totals[None, :] - slack)


def corpus_p_values(
    rows: Floats, score: ScoreSums, trials: int = TRIALS, seed: int = SEED
) -> Floats:
    """Return p[i, j] for "the corpus score of system i is above that of j"; the diagonal is NaN.

    `rows` are the statistics, systems x segments x columns. p is the share of trials in which
    random exchanges of segments between the two give at least the real difference. If scores are
    means, the result is that of `pairwise_p_values`.
    """
    systems, segments, width = rows.shape
    totals = rows.sum(axis=1)
    values = score(totals)
    slack = _ROUNDING * float(np.abs(values).max(initial=0.0))
    reached = np.zeros((systems, systems))
    flat = np.ascontiguousarray(rows.swapaxes(0, 1)).reshape(1, segments, -1)
    for words in drawn_words((1, segments), trials, seed):
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
    """Return 1 - mean |p_human - p_metric| over pairs i < j."""
    above = np.triu_indices(len(human), 1)
    if not len(above[0]):
        return float("nan")
    return float(1 - np.abs(human - metric)[above].mean())


def complete_segments(is_missing: Flags) -> tuple[Flags, Flags]:
    """Return the systems that have any score, and the segments scored for all of these."""
    has_scores = np.asarray(~is_missing.all(axis=1))
    return has_scores, np.asarray(~is_missing[has_scores].any(axis=0) & has_scores.any())


def soft_pairwise_accuracy(human: Floats, metric: Floats, score: ScoreSums | None = None) -> float:
    """Return SPA of two systems x segments matrices, on the segments that have all scores.

    Systems without any score are left out. The result is NaN for fewer than two systems, or if no
    segment is complete. A system's metric score is the mean of its segments' scores; with `score`
    it is the score of the sum of their statistics, which `metric` then holds: systems x segments x
    columns.
    """
    if human.shape != metric.shape[:2]:
        shapes = f"human scores have the shape {human.shape} and metric scores {metric.shape}"
        raise InputError(f"{shapes}: expected the same")
    missing = np.isnan(metric) if score is None else np.isnan(metric).any(axis=2)
    has_scores, is_complete = complete_segments(np.isnan(human) | missing)
    if not is_complete.any():
        return float("nan")
    human, metric = (x[has_scores][:, is_complete] for x in (human, metric))
    p_metric = pairwise_p_values(metric) if score is None else corpus_p_values(metric, score)
    return agreement_of_p_values(pairwise_p_values(human), p_metric)


_AT_A_TIME = 16  # trials between two reports


def exchange_soft(
    human: Floats, first: Floats, second: Floats, exchanges: Exchanges
) -> Permutation:
    """Test whether the first metric has the higher SPA; NaN must be at the same cells in all."""
    has_scores, is_complete = complete_segments(np.isnan(human))
    h, a, b = (x[has_scores][:, is_complete] for x in (human, first, second))
    if len(h) < 2 or not is_complete.any():
        return exchanges.undefined()
    inner = np.concatenate([*drawn_words((1, h.shape[1]), TRIALS, SEED)], axis=1)
    sums = sign_sums(a, inner) + sign_sums(b, inner)
    p_human = times_reached(h, sign_sums(h, inner)) / TRIALS

    def accuracy(scores: Floats, trial_sums: Floats) -> float:
        return agreement_of_p_values(p_human, times_reached(scores, trial_sums) / TRIALS)

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
    return exchanges.test(delta, differences, _AT_A_TIME)
