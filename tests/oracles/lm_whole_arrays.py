"""Language models as whole arrays in memory: n-grams are numbered in the order of the text.

Training sorts n-grams and estimates them batch by batch, in files where memory is short. Here are
the same formulas over all n-grams at once; every bit must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.arithmetic import log, quick_log
from karat.lm.smoothing import FALLBACK, discounts, good_turing, gt_max
from karat.lm.tables import ZERO, Logs, make_tables

Array = NDArray[Any]
UNK, BOS, EOS = 0, 1, 2


class Level(NamedTuple):
    """The n-grams of one length: numbers of suffixes and contexts, first words, counts."""

    suffixes: Array
    firsts: Array
    contexts: Array
    counts: Array


def count(sentences: Sequence[Sequence[int]], words: int, order: int) -> tuple[Array, list[Level]]:
    """The counts of words, and the levels of longer n-grams."""
    singles = np.zeros(words, np.int64)
    numbers: list[dict[tuple[int, ...], int]] = [{} for _ in range(order + 1)]
    rows: list[list[list[int]]] = [[] for _ in range(order + 1)]
    numbers[1] = {(word,): word for word in range(words)}
    for sentence in sentences:
        text = (BOS, *sentence, EOS)
        for end in range(1, len(text) + 1):
            singles[text[end - 1]] += 1
            for n in range(2, min(order, end) + 1):
                gram = text[end - n : end]
                at = numbers[n].setdefault(gram, len(rows[n]))
                if at == len(rows[n]):
                    below = numbers[n - 1]
                    rows[n].append([below[gram[1:]], gram[0], below[gram[:-1]], 0])
                rows[n][at][3] += 1
    return singles, [
        Level(*np.array(rows[n], np.int64).reshape(-1, 4).T) for n in range(2, order + 1)
    ]


def train(
    sentences: Sequence[Sequence[int]], words: int, smoothing: str, least: Sequence[int]
) -> dict[str, Array]:
    """The arrays of a model, but those of its vocabulary."""
    singles, levels = count(sentences, words, len(least))
    keep = [np.ones(words, np.bool_)]
    keep += [level.counts >= k for level, k in zip(levels, least[1:], strict=True)]
    p, weights = {"kneser-ney": kneser_ney, "katz": katz}[smoothing](singles, levels, keep)
    logs, backoffs = [_logs(values) for values in p], [_logs(values) for values in weights]
    logs[0][BOS] = ZERO
    level_logs = []
    for n, level in enumerate(levels, 1):
        is_kept, number = keep[n], np.cumsum(keep[n - 1]) - 1
        suffixes, contexts = (number[ids[is_kept]] for ids in (level.suffixes, level.contexts))
        columns = suffixes.astype(np.uint32), level.firsts[is_kept].astype(np.int32)
        level_logs.append(
            Logs(*columns, contexts.astype(np.uint32), logs[n][is_kept], backoffs[n][is_kept])
        )
    return make_tables(logs[0], backoffs[0], level_logs)


def _logs(values: Array) -> Array:
    return np.maximum(quick_log(values) / log(10), ZERO).astype(np.float32)


def kneser_ney(
    singles: Array, levels: list[Level], keep: list[Array]
) -> tuple[list[Array], list[Array]]:
    """p and gamma of all lengths."""
    p: list[Array] = []
    gammas: list[Array] = []
    for n in range(1, len(levels) + 2):
        counts = singles if n == 1 else levels[n - 2].counts
        if n <= len(levels):
            preceding = np.bincount(levels[n - 1].suffixes, minlength=len(counts))
            begins = False if n == 1 else levels[n - 2].firsts == BOS
            counts = np.where(begins, counts, preceding)
        a = counts.astype(np.float64)
        if n == 1:
            a[BOS] = 0
        D = discounts(np.bincount(np.minimum(a, 5).astype(np.int64), minlength=6).tolist())
        discount = np.array([0.0, *(D or FALLBACK)])[np.minimum(a, 3).astype(np.int64)]
        removed_mass = np.where(keep[n - 1], discount, a)
        if n == 1:
            p.append((a - removed_mass + removed_mass.sum() * (1 / (len(a) - 1))) / a.sum())
            p[0][BOS] = 0
            continue
        h, below = levels[n - 2].contexts, len(p[-1])
        total = np.bincount(h, a, below)
        gamma = np.where(total > 0, np.bincount(h, removed_mass, below) / np.maximum(total, 1), 1.0)
        p.append((a - removed_mass) / total[h] + gamma[h] * p[-1][levels[n - 2].suffixes])
        gammas.append(gamma)
    return p, [*gammas, np.ones(len(p[-1]))]


def katz(singles: Array, levels: list[Level], keep: list[Array]) -> tuple[list[Array], list[Array]]:
    """p and alpha of all lengths."""
    words = singles.copy()
    words[BOS] = 0
    total = words.sum() + 1  # single words are not discounted, so nothing is left
    p = [words / total]
    left = 1 - p[0].sum()
    if words[UNK]:
        p[0] += left / (len(words) - 1)
        p[0][BOS] = 0
    else:
        p[0][UNK] = left
    alphas = []
    for n, level in enumerate(levels, 2):
        h, is_kept, below = level.contexts, keep[n - 1], len(p[-1])
        counts_of_counts = np.bincount(np.minimum(level.counts, 9), minlength=10).tolist()
        r = level.counts * good_turing(counts_of_counts, gt_max(n))[np.minimum(level.counts, 8)]
        many = np.bincount(h, is_kept, below)
        kept_mass = np.bincount(h, np.where(is_kept, r, 0.0), below)
        c = np.bincount(h, level.counts, below)
        c += (many > 0) & (kept_mass > c - 1e-9)
        everything = many == len(words) - 1
        c = np.where(everything, kept_mass, c)
        lower = np.bincount(h, np.where(is_kept, p[-1][level.suffixes], 0.0), below)
        remains = np.where(many > 0, 1 - kept_mass / np.maximum(c, 1), 1.0)
        room = np.where(many > 0, 1 - lower, 1.0)
        alphas.append(np.where(everything, 1.0, remains / np.maximum(room, 1e-300)))
        p.append(np.where(is_kept, r, 0.0) / c[h])
    return p, [*alphas, np.ones(len(p[-1]))]
