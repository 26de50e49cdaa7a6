"""Ratings by people: coverage of intervals for raters in general, and what raters contribute.

    python experiments/raters.py [--trials 4000] [--cells full,two] [--ratings 100,ties]
    KARAT_DATA=… python experiments/raters.py --real

Simulated ratings of two systems: a latent score is the sum of a mean (the systems differ), an item
(shared by the systems), an item of the system, the severity of the rater, how much more the rater
likes the system, and noise, all normal. It is rounded to whole numbers from 0 to 100, or to 1 to 5
with 44% of ratings at 5. Truth is the expected rating, from the normal distribution.

Overlap: `full` (all raters rate all items), `two` (two raters for each item, drawn at random),
`uneven` (each rater rates some items, one nine times as many as another), `one` (one rater for each
item, in turn), `apart` (one rater for each output, so that the systems of an item have different
raters).

Each row prints the share of 95% intervals that hold the truth, with its standard error: of the
score of one system and of the difference, for raters in general; then the same of the intervals
that take the raters as fixed, as `--raters these` does. `--real` prints what raters contribute to
real scores. Numbers come from numpy's default generator with seed 2026.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from math import erfc, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import karat as kt
from karat.stats.distributions import student_tail
from karat.stats.raters import ANY, THESE, CrossedMean, crossed_mean

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SEED = 2026
RATERS = 3, 5, 10
ITEMS = 10, 20, 40, 100


class Ratings(NamedTuple):
    """How ratings arise: means of the systems, and standard deviations of what is added."""

    means: tuple[float, float]
    item: float
    item_of_system: float
    severity: float
    rater_of_system: float
    noise: float
    low: int
    high: int

    def truth(self, mean: float) -> float:
        """Return the expected rating, rounded and clipped."""
        parts = self[1:6]
        spread = sqrt(sum(part * part for part in parts))  # type: ignore[operator]
        cuts = (np.arange(self.low, self.high) + 0.5 - mean) / spread
        return self.low + sum(0.5 * erfc(cut / sqrt(2)) for cut in cuts.tolist())


KINDS = {
    "100": Ratings((70.0, 66.0), 12.0, 6.0, 8.0, 4.0, 10.0, 0, 100),
    "ties": Ratings((4.3, 4.1), 0.6, 0.4, 0.5, 0.25, 0.7, 1, 5),
}


def full(items: int, raters: int, rng: np.random.Generator) -> Flags:
    """All raters rate all items of both systems: systems x items x raters."""
    return np.ones((2, items, raters), np.bool_)


def two(items: int, raters: int, rng: np.random.Generator) -> Flags:
    """Return two raters for each item."""
    order = rng.permuted(np.tile(np.arange(raters), (items, 1)), axis=1)
    return np.broadcast_to(order < 2, (2, items, raters))


def uneven(items: int, raters: int, rng: np.random.Generator) -> Flags:
    """Return raters who rate 10% to 90% of the items, at least one for each item."""
    rated = rng.random((items, raters)) < np.linspace(0.1, 0.9, raters)
    rated[~rated.any(axis=1), -1] = True
    return np.broadcast_to(rated, (2, items, raters))


def one(items: int, raters: int, rng: np.random.Generator) -> Flags:
    """Return one rater for each item, in turn."""
    rated = np.arange(items)[:, None] % raters == np.arange(raters)
    return np.broadcast_to(rated, (2, items, raters))


def apart(items: int, raters: int, rng: np.random.Generator) -> Flags:
    """Return one rater for each output; the next rater has the output of the other system."""
    turns = [(np.arange(items) + k)[:, None] % raters == np.arange(raters) for k in range(2)]
    return np.stack(turns)


OVERLAPS = {"full": full, "two": two, "uneven": uneven, "one": one, "apart": apart}


def simulate(kind: Ratings, rated: Flags, rng: np.random.Generator) -> Floats:
    """Return ratings, systems x items x raters; NaN where there is none."""
    systems, items, raters = rated.shape
    latent = (
        np.array(kind.means)[:, None, None]
        + kind.item * rng.standard_normal((1, items, 1))
        + kind.item_of_system * rng.standard_normal((systems, items, 1))
        + kind.severity * rng.standard_normal((1, 1, raters))
        + kind.rater_of_system * rng.standard_normal((systems, 1, raters))
        + kind.noise * rng.standard_normal(rated.shape)
    )
    return np.where(rated, np.clip(np.floor(latent + 0.5), kind.low, kind.high), np.nan)


def holds(mean: CrossedMean, raters: str, truth: float) -> bool:
    """Return whether the 95% interval holds the truth."""
    error, freedom = (
        (mean.error_these, mean.freedom_these)
        if raters == THESE
        else (mean.error_any, mean.freedom_any)
    )
    if not error > 0:
        return mean.mean == truth
    return student_tail(abs(mean.mean - truth) / error, freedom) >= 0.025


def coverage(kind: Ratings, overlap: str, raters: int, items: int, trials: int) -> Floats:
    """Return the shares of intervals that hold: score and difference, any raters then these."""
    rng = np.random.default_rng([SEED, raters, items, list(OVERLAPS).index(overlap)])
    truths = kind.truth(kind.means[0]), kind.truth(kind.means[0]) - kind.truth(kind.means[1])
    held = np.zeros(4)
    for _ in range(trials):
        ratings = simulate(kind, OVERLAPS[overlap](items, raters, rng), rng)
        means = crossed_mean(ratings[0]), crossed_mean(ratings[0], ratings[1])
        held += [
            holds(m, who, t) for who in (ANY, THESE) for m, t in zip(means, truths, strict=True)
        ]
    return held / trials


def rows(kinds: list[str], overlaps: list[str], trials: int) -> Iterator[str]:
    """Yield the table of coverage."""
    yield (
        "| ratings | overlap | raters | items | score, any raters | difference, any raters | "
        "score, these | difference, these |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for kind in kinds:
        for overlap in overlaps:
            for raters in RATERS:
                for items in ITEMS:
                    shares = coverage(KINDS[kind], overlap, raters, items, trials).tolist()
                    cells = [f"{p:.3f} ± {sqrt(p * (1 - p) / trials):.3f}" for p in shares]
                    yield f"| {kind} | {overlap} | {raters} | {items} | {' | '.join(cells)} |"


def real_sets() -> Iterator[tuple[str, kt.EvalSet, str, str]]:
    """Yield the name, the set, the dimension and the unit of each row of real data."""
    believability = kt.load_evalset("believability")
    for dimension in believability.dimensions:
        yield f"believability, {dimension}", believability, dimension, "segment"
    folder = Path(os.environ["KARAT_DATA"]) / "mt-wmt23-ende"
    campaigns = ("ESA", "score"), ("MQM", "penalty")
    for protocol, dimension in campaigns:
        path = folder / "appraise" / f"240315rc5{protocol}.scores.csv"
        evalset = kt.load_evalset(path, "appraise", texts=str(folder))
        yield f"WMT23 en-de, {protocol} {dimension}", evalset, dimension, "group"
    yield "TED zh-en, mqm", kt.load_evalset("ted-zhen"), "mqm", "segment"


def contributions() -> Iterator[str]:
    """Yield the table of what raters contribute to real scores, for new units like these."""
    yield (
        "| set | systems | units | raters of a system | raters, scores | raters, differences | "
        "error any / these, scores | differences | decided, these | any |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, evalset, dimension, unit in real_sets():
        these, general = (
            kt.estimate(
                evalset,
                dimension,
                [],
                population="new",
                unit=unit,
                raters=raters,
                correction="none",
            )
            for raters in (THESE, ANY)
        )
        parts = [
            [row for row in general.contributions if (row.baseline is None) == is_score]
            for is_score in (True, False)
        ]
        raters = sorted(row.raters for row in parts[0])
        units = sorted(row.labels for row in general.rows)
        shares = [f"{np.mean([row.rater_share for row in rows]):.2f}" for rows in parts]
        ratios = [
            f"{np.mean([row.error_any / row.error_these for row in rows]):.1f}" for rows in parts
        ]
        decided = [
            f"{sum(d.verdict in ('better', 'worse') for d in e.differences)} of "
            f"{len(e.differences)}"
            for e in (these, general)
        ]
        spans = f"{units[0]}-{units[-1]}", f"{raters[0]}-{raters[-1]}"
        cells = (name, str(len(general.rows)), *spans, *shares, *ratios, *decided)
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--cells", default=",".join(OVERLAPS))
    parser.add_argument("--ratings", default=",".join(KINDS))
    parser.add_argument("--real", action="store_true")
    arguments = parser.parse_args()
    kinds, overlaps = arguments.ratings.split(","), arguments.cells.split(",")
    for line in contributions() if arguments.real else rows(kinds, overlaps, arguments.trials):
        print(line, flush=True)
