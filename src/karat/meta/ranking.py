"""Which of several metrics agrees better with humans: PERM-BOTH between all, ranks in clusters."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.meta.levels import Agreement, level
from karat.meta.perm_both import measures
from karat.progress import Progress, silent
from karat.stats.correlation import Statistic, statistic
from karat.stats.resampling import SEED
from karat.stats.significance.multiple import CORRECTIONS, clusters
from karat.stats.significance.permutation import (
    Permutation,
    perm_both_many,
    perm_both_pearson,
    perm_both_system_pearson,
)
from karat.stats.trials import check_trials

Floats = NDArray[np.float64]
FAST = {
    ("pearson", "segment"): perm_both_pearson,
    ("pearson", "system"): perm_both_system_pearson,
}


def better(
    human: Floats,
    first: Floats,
    second: Floats,
    by: Statistic | str = "pearson",
    at: str = "segment",
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Permutation:
    """PERM-BOTH of "the first metric agrees better with humans than the second"."""
    chosen = statistic(by)
    level(at)  # refuses what is none
    check_trials("trials", trials, 1)
    if not chosen.tested:
        raise InputError(
            f"{chosen.name} has no such test, which exchanges standardised scores: "
            "choose another statistic"
        )
    fast = FAST.get((chosen.name, at))
    if fast:
        return fast(human, first, second, trials, seed, progress)
    return perm_both_many(human, first, second, measures(chosen, at), trials, seed, progress)


class Ranked(NamedTuple):
    """A metric in the ranking."""

    metric: str
    agreement: Agreement
    rank: int | None  # None where the agreement is undefined


class Ranking(NamedTuple):
    """Metrics, best first, and p[i, j], i < j, of "the i-th is better than the j-th"."""

    rows: list[Ranked]
    p_values: Floats  # corrected


def ranking(
    human: Floats,
    metrics: Mapping[str, Floats],
    by: Statistic | str = "pearson",
    at: str = "segment",
    alpha: float = 0.05,
    correction: str = "none",
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Ranking:
    """Rank metrics by agreement; those that cannot be told apart share a rank (see `clusters`).

    Metrics whose agreement is undefined come last, without a rank. Equal values keep their order.
    """
    if correction not in CORRECTIONS:
        raise InputError(
            f"correction {quoted(correction)}: expected one of {', '.join(CORRECTIONS)}"
        )
    found = {name: level(at)(human, m, by) for name, m in metrics.items()}
    defined = [name for name in found if not np.isnan(found[name].value)]
    order = sorted(defined, key=lambda name: -statistic(by).sign * found[name].value)
    p_values = np.full((len(order), len(order)), np.nan)
    pairs = list(combinations(range(len(order)), 2))
    for done, (i, j) in enumerate(pairs, 1):
        first, second = metrics[order[i]], metrics[order[j]]
        p_values[i, j] = better(human, first, second, by, at, trials, seed).p
        progress(done, len(pairs), "comparing metrics")
    p_values = CORRECTIONS[correction](p_values)
    rows = [
        Ranked(name, found[name], rank)
        for name, rank in zip(order, clusters(p_values, alpha), strict=True)
    ]
    rows += [Ranked(name, found[name], None) for name in found if name not in defined]
    return Ranking(rows, p_values)
