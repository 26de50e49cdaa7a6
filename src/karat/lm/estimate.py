"""From counts to a model: what is too rare is left out, the rest gets its logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from karat.arithmetic import log, quick_log
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.lm.counting import BOS, NgramCounts
from karat.lm.katz import gt_min, katz
from karat.lm.kneser_ney import kneser_ney
from karat.lm.tables import ZERO, Logs, make_tables
from karat.text.recipe import check_choice

SMOOTHING = {"kneser-ney": kneser_ney, "katz": katz}
"""Name -> from counts, and which n-grams are kept, to estimates."""


def check_min_counts(order: int, smoothing: str, given: Sequence[int] | None) -> tuple[int, ...]:
    """Return the smallest count of the n-grams that are kept, for each length: never falling.

    So the n-grams within a kept n-gram are kept too. The default keeps all with Kneser-Ney; with
    Katz it is SRILM's.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    if given is None:
        return tuple(gt_min(n) if smoothing == "katz" else 1 for n in range(1, order + 1))
    found = tuple(given)
    shown = ",".join(map(str, found))
    if len(found) != order or found[:1] != (1,):
        raise InputError(
            f"min_counts={shown}: expected {order} numbers, one for each length, the first of them "
            f"1 (for rare words, limit the vocabulary)"
        )
    if any(low > high for low, high in pairwise(found)):
        raise InputError(f"min_counts={shown}: expected numbers that do not fall")
    return found


def estimate(
    counted: NgramCounts, smoothing: str, min_counts: Sequence[int]
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Return the arrays of a model, and notes on them."""
    keep = [np.ones(len(counted.words), np.bool_)]
    keep += [one.counts >= least for one, least in zip(counted.levels, min_counts[1:], strict=True)]
    p, backoff, notes = SMOOTHING[smoothing](counted, keep)
    logs = [_logs(found) for found in p]
    weights = [_logs(found) for found in backoff]
    logs[0][BOS] = ZERO
    levels = []
    for n, level in enumerate(counted.levels, 1):
        here, number = keep[n], (np.cumsum(keep[n - 1]) - 1).astype(np.uint32)  # among the kept
        suffixes, contexts = number[level.suffixes[here]], number[level.contexts[here]]
        ids = suffixes, level.firsts[here], contexts
        levels.append(Logs(*ids, logs[n][here], weights[n][here]))
    return make_tables(logs[0], weights[0], levels), notes


def _logs(values: Floats) -> NDArray[np.float32]:
    return np.maximum(quick_log(values) / log(10), ZERO).astype(np.float32)
