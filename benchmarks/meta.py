"""Meta-evaluation: PERM-BOTH against mt-metrics-eval, Kendall against scipy, tie calibration.

A checkout of Google's repository on PYTHONPATH is measured itself (what package indexes offer under
its name is something else). Without it the same loop stands in, written plainly in
`plain_permutation.py`, and the row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.stats
from corpus import Corpus
from plain_permutation import share_beyond
from plan import Plan
from table import Row, duration
from timing import take_turns

from karat.meta.perm_both import perm_both
from karat.stats.correlation import tau_b
from karat.stats.significance.permutation import Permutation
from karat.stats.ties import calibrate

SYSTEMS, SEGMENTS, TRIALS = 15, 1000, 1000
POINTS = 1_000_000
GROUPS, MEMBERS = 1000, 46  # 1,035,000 pairs


def _scores() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Human scores and two metrics that are hard to tell apart."""
    rng = np.random.default_rng(20)
    human, noise, other = rng.normal(size=(3, SYSTEMS, SEGMENTS))
    return human, human + noise, human + 1.02 * other


def _peer(
    human: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[str, Callable[[], Any]]:
    """mt-metrics-eval's routine if it is there, else a loop; both give (difference, share)."""
    try:
        from mt_metrics_eval import stats
    except ImportError:
        return "scipy in a loop", lambda: share_beyond(human, first, second, TRIALS)
    gold = human.ravel().tolist()
    a, b = (stats.Correlation(SYSTEMS, gold, x.ravel().tolist()) for x in (first, second))

    def routine() -> tuple[float, float]:
        share, delta, _ = stats.PermutationSigDiff(b, a, scipy.stats.pearsonr, k=TRIALS)
        return delta, share

    return "mt-metrics-eval", routine


def _check(ours: Permutation, theirs: tuple[float, float]) -> str:
    """Both tests say the same: one difference, p-values apart by chance only."""
    delta, share = theirs
    error = np.sqrt((share * (1 - share) + ours.share * (1 - ours.share)) / TRIALS)
    if abs(ours.delta - delta) > 1e-9 or abs(ours.share - share) > 4 * error + 2 / TRIALS:
        raise RuntimeError(f"the tests disagree: {ours} and {theirs}")
    return f"differences equal, shares of trials beyond {ours.share:.3f} and {share:.3f}"


def perm(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """PERM-BOTH, Pearson over all cells."""
    scores = _scores()
    name, peer = _peer(*scores)
    note = _check(perm_both(*scores, trials=TRIALS), peer())
    ours = take_turns({"karat": lambda: perm_both(*scores, trials=TRIALS)}, plan.rounds)["karat"]
    theirs = take_turns({"peer": peer}, plan.peer_rounds)["peer"]
    yield Row(
        f"PERM-BOTH, {SYSTEMS} systems x {SEGMENTS:,}, {TRIALS:,} trials, segment Pearson",
        duration(ours),
        f"{name} {duration(theirs)}",
        theirs / ours,
        "x faster",
        at_least=20,
        note=note,
    )


def kendall(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Kendall with ties on many points, and tie calibration over many pairs."""
    rng = np.random.default_rng(20)
    h = rng.integers(0, 10, POINTS).astype(float)
    m = np.round(h + 3 * rng.normal(size=POINTS), 2)
    few = POINTS // 10
    best = take_turns(
        {
            "karat": lambda: tau_b(h, m),
            "few": lambda: tau_b(h[:few], m[:few]),
            "scipy": lambda: scipy.stats.kendalltau(h, m),
        },
        plan.peer_rounds,
    )
    apart = abs(tau_b(h, m) - scipy.stats.kendalltau(h, m)[0])
    yield Row(
        f"Kendall's tau-b with ties, {POINTS:,} points",
        duration(best["karat"]),
        f"scipy {duration(best['scipy'])}",
        best["karat"],
        " s",
        at_most=3,
        note=f"apart by {apart:.0e}; {few:,} points took {duration(best['few'])}",
    )
    human = rng.integers(0, 6, (GROUPS, MEMBERS)).astype(float)
    metric = human + 3 * rng.normal(size=human.shape)
    took = take_turns({"karat": lambda: calibrate(human, metric)}, plan.rounds)["karat"]
    pairs = calibrate(human, metric).pairs
    yield Row(f"acc_eq tie calibration, {pairs:,} pairs", duration(took), "", took, " s", at_most=3)
