"""Meta-evaluation: PERM-BOTH against mt-metrics-eval, Kendall against scipy, tie calibration.

A checkout of Google's repository on PYTHONPATH is measured directly (the package with this name on
package indexes is a different one). Without it, a plain version of the same loop in
`plain_permutation.py` is measured instead, and the row is marked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.stats
from corpus import DATA, Corpus
from plain_permutation import share_beyond
from plan import Plan
from table import Row, duration
from timing import seconds, take_turns

import karat as kt
from karat.meta.agreement import perm_both
from karat.stats.correlation import calibrate, tau_b
from karat.stats.exchanges import Permutation

SYSTEMS, SEGMENTS, TRIALS = 15, 1000, 1000
POINTS = 1_000_000
GROUPS, MEMBERS = 1000, 46  # 1,035,000 pairs


def _scores() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Human scores and two metrics of similar quality."""
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


def _check(karat: Permutation, peer: tuple[float, float]) -> str:
    """Check that both tests agree: equal differences, and p-values within random error."""
    delta, share = peer
    error = np.sqrt((share * (1 - share) + karat.share * (1 - karat.share)) / TRIALS)
    if abs(karat.delta - delta) > 1e-9 or abs(karat.share - share) > 4 * error + 2 / TRIALS:
        raise RuntimeError(f"the tests disagree: {karat} and {peer}")
    return f"differences equal, shares of trials beyond {karat.share:.3f} and {share:.3f}"


def perm(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """PERM-BOTH, Pearson over all cells."""
    scores = _scores()
    name, peer = _peer(*scores)
    note = _check(perm_both(*scores, trials=TRIALS), peer())
    karat_time = take_turns({"karat": lambda: perm_both(*scores, trials=TRIALS)}, plan.rounds)[
        "karat"
    ]
    peer_time = take_turns({"peer": peer}, plan.peer_rounds)["peer"]
    yield Row(
        f"PERM-BOTH, {SYSTEMS} systems x {SEGMENTS:,}, {TRIALS:,} trials, segment Pearson",
        duration(karat_time),
        f"{name} {duration(peer_time)}",
        peer_time / karat_time,
        "x faster",
        at_least=20,
        note=note,
    )


def perm_tau(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """PERM-BOTH, tau-b over all cells, with and without ties, against a loop over kendalltau.

    The loop does a part of the trials; its time is scaled.
    """
    smooth = _scores()
    for name, scores in (("", smooth), (", with ties", [np.round(x, 1) for x in smooth])):

        def loop(trials: int = TRIALS // 20, scores: Any = scores) -> tuple[float, float]:
            return share_beyond(*scores, trials, scipy.stats.kendalltau)

        def karat(data: Any = scores) -> Permutation:
            return perm_both(*data, "tau-b", trials=TRIALS)

        took = take_turns({"karat": karat}, plan.rounds, time.process_time)["karat"]
        peer_time = 20 * take_turns({"peer": loop}, 1, time.process_time)["peer"]
        apart = abs(karat().delta - loop(1)[0])
        yield Row(
            f"PERM-BOTH, {SYSTEMS} systems x {SEGMENTS:,}, {TRIALS:,} trials, segment tau-b{name}",
            duration(took),
            f"kendalltau in a loop {duration(peer_time)}",
            peer_time / took,
            "x faster",
            at_least=15,
            note=f"processor time; differences apart by {apart:.0e}",
        )


TED = "bleu chrf ter rouge1 rougeL gtm:e=2 aev wer"


def ted(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """`karat meta ted-zhen` with eight metrics and all defaults, on one thread and on two."""
    if not (DATA / "mt-ted-zhen").exists():
        print("ted: no mt-ted-zhen in KARAT_DATA, left out", file=sys.stderr)
        return
    evalset = kt.load_evalset(DATA / "mt-ted-zhen")
    experiment = kt.Experiment("ted-zhen", tuple(TED.split()))

    def run(threads: int) -> Any:
        return kt.meta_evaluate(experiment, evalset, threads=threads)

    took = seconds(lambda: run(1), time.process_time)
    one_thread, two_threads = take_turns(
        {str(n): lambda n=n: run(n) for n in (1, 2)}, plan.peer_rounds
    ).values()
    is_same = run(1).rows == run(2).rows
    yield Row(
        "karat meta ted-zhen, 8 metrics, defaults, two threads against one",
        f"{duration(one_thread)} and {duration(two_threads)}",
        "",
        two_threads / one_thread,
        "x",
        at_most=0.55,
        note=f"processor time {duration(took)}; rows are {'the same' if is_same else 'DIFFERENT'}",
    )


def kendall(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Kendall with ties on many points, and tie calibration over many pairs."""
    rng = np.random.default_rng(20)
    h = rng.integers(0, 10, POINTS).astype(float)
    m = np.round(h + 3 * rng.normal(size=POINTS), 2)
    tenth = POINTS // 10
    best = take_turns(
        {
            "karat": lambda: tau_b(h, m),
            "few": lambda: tau_b(h[:tenth], m[:tenth]),
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
        note=f"apart by {apart:.0e}; {tenth:,} points took {duration(best['few'])}",
    )
    human = rng.integers(0, 6, (GROUPS, MEMBERS)).astype(float)
    metric = human + 3 * rng.normal(size=human.shape)
    took = take_turns({"karat": lambda: calibrate(human, metric)}, plan.rounds)["karat"]
    pairs = calibrate(human, metric).pairs
    yield Row(f"acc_eq tie calibration, {pairs:,} pairs", duration(took), "", took, " s", at_most=3)
