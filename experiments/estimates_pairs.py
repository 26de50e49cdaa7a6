"""Estimates from pairwise human comparisons: coverage of intervals for several sampling designs.

    python experiments/estimates_pairs.py [--draws 2000] [ROW]...

A simulated set has 4 systems and 200 segments. People prefer the output with the higher utility
(segments share a difficulty, so that pairs of a segment are not independent) and judge outputs with
close utilities as tied; a judge sees utilities with noise. Every draw judges some pairs at random
and estimates as `karat estimate` does. Held: the share of draws in which the 95% interval contains
the share of comparisons won over all pairs of all segments. The columns are the same as in
`estimates.py`.

Rows: segments (all 6 pairs of 50 segments), one (one pair of each of the 200 segments), two (two
pairs of 100 segments), some (each pair of each segment with probability 0.3), many (the same with
0.9), unequal (each pair with probability 0.5 if it has the first system, else 0.15), sparse (each
pair with probability 0.08). The suffix -differences selects differences of two systems, and
-ratings shares treated as ratings: an output counts as judged after one of its pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from estimates import SEED, Coverage, outcomes
from numpy.typing import NDArray

import karat as kt
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import JudgeValues, Sample
from karat.evalset.judgements import JudgedPair, win_shares

SYSTEMS, SEGMENTS = 4, 200
PAIRS = [*combinations(range(SYSTEMS), 2)]
Chosen = NDArray[np.bool_]
"""Segments x pairs: whether a pair is judged."""


def simulated(seed: int = 1) -> tuple[kt.EvalSet, JudgeValues]:
    """Return a set with all pairs judged, and a judge."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(SYSTEMS, SEGMENTS)) * (0.5 + rng.random(SEGMENTS))
    utility = quality + np.array([0.0, 0.2, 0.3, 0.9])[:, None]
    texts = {f"s{k}": [f"{k} {i}" for i in range(SEGMENTS)] for k in range(SYSTEMS)}
    plain = kt.make_evalset("simulated", texts, dimensions=[kt.Dimension("win", low=0, high=1)])
    pairs = tuple(
        JudgedPair(
            f"s{a}", str(i + 1), "ann", "win", _share(utility[a, i] - utility[b, i]), f"s{b}"
        )
        for i in range(SEGMENTS)
        for a, b in PAIRS
    )
    values = utility + rng.normal(size=utility.shape)
    return replace(plain, pairs=pairs), JudgeValues("judge", values, 0, "")


def _share(gap: float) -> float:
    return 0.5 if abs(gap) < 0.2 else float(gap > 0)


def chosen_sample(full: kt.EvalSet, judge: JudgeValues, chosen: Chosen) -> Sample:
    """Return the sample in which only some pairs are judged."""
    return make_sample(judged(full, chosen), "win", [judge], unit="segment")


def judged(full: kt.EvalSet, chosen: Chosen) -> kt.EvalSet:
    """Return the set with some of its pairs."""
    candidates = zip(full.pairs, chosen.ravel().tolist(), strict=True)
    pairs = tuple(pair for pair, good in candidates if good)
    return replace(full, pairs=pairs)


def ratings_sample(full: kt.EvalSet, judge: JudgeValues, chosen: Chosen) -> Sample:
    """Return the sample in which shares of comparisons won are taken as ratings."""
    pairs = judged(full, chosen).pairs
    shares = [share for _, share in win_shares(("", pair) for pair in pairs)]
    rated_set = replace(full, pairs=()).with_judgements(shares)
    return make_sample(rated_set, "win", [judge], unit="segment")


def _all_pairs(rng: np.random.Generator) -> Chosen:
    chosen = np.zeros((SEGMENTS, len(PAIRS)), bool)
    chosen[rng.permutation(SEGMENTS)[:50]] = True
    return chosen


def _some_pairs(segments: int, pairs: int) -> Callable[[np.random.Generator], Chosen]:
    def draw(rng: np.random.Generator) -> Chosen:
        chosen = np.zeros((SEGMENTS, len(PAIRS)), bool)
        for i in rng.permutation(SEGMENTS)[:segments]:
            chosen[i, rng.permutation(len(PAIRS))[:pairs]] = True
        return chosen

    return draw


def _by_pair(first: float, rest: float) -> Callable[[np.random.Generator], Chosen]:
    chance = np.array([first if 0 in pair else rest for pair in PAIRS])
    return lambda rng: rng.random((SEGMENTS, len(PAIRS))) < chance


ROWS: dict[str, Callable[[np.random.Generator], Chosen]] = {
    "segments": _all_pairs,
    "one": _some_pairs(SEGMENTS, 1),
    "two": _some_pairs(100, 2),
    "some": _by_pair(0.3, 0.3),
    "many": _by_pair(0.9, 0.9),
    "unequal": _by_pair(0.5, 0.15),
    "sparse": _by_pair(0.08, 0.08),
}


def row(name: str, draws: int) -> Coverage:
    """Return a row of the table."""
    design, _, form = name.partition("-")
    make = ratings_sample if form == "ratings" else chosen_sample
    full, judge = simulated()
    complete = chosen_sample(full, judge, np.ones((SEGMENTS, len(PAIRS)), bool))

    def samples() -> Iterator[Sample]:
        rng = np.random.default_rng(SEED)
        for _ in range(draws):
            yield make(full, judge, ROWS[design](rng))

    return outcomes(complete, samples(), form == "differences")


def main() -> None:
    """Print the requested rows, or all."""
    names = [f"{name}{end}" for end in ("", "-differences", "-ratings") for name in ROWS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*names, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    print("| row | held, people alone | held, with the judge | width over people alone |")
    print("|---|---|---|---|")
    for name in options.rows or names:
        print(row(name, options.draws).line(name), flush=True)


if __name__ == "__main__":
    main()
