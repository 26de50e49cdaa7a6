"""Estimates at the ceiling of a scale with a judge that is wrong in a cluster: what intervals hold.

    [KARAT_DATA=…] python experiments/estimates_ceiling.py [--draws 2000] [ROW]...

Most labels are 5 of 5. The judge sees the labels with noise, but it rates some of the 5s of one
system 1 or 2. A sample may hold none of these outputs; the judge's mean is then too low, and the
sample does not show it. Each draw labels some units at random and estimates as `karat estimate`
does. Held: the share of draws in which the 95% interval holds the mean over all units, with its
standard error sqrt(p (1 - p) / draws). Average: the interval of the bounded form that takes an
average prediction for an output that was not seen. In use: it takes the mean of the most extreme
predictions, 1 / n of them. Difference: of this system and the next, with the form in use. Width:
over that by people alone, the mean over draws.

Rows: SHARE-WRONG-LABELS, such as 90-3-20: 90% of the labels are 5, 3% of the outputs of the system
are rated low, 20 of 100 units are labelled (or 40 of 400); and summeval-WRONG, labels of SummEval
consistency, 20 of 100 documents, the system M1 (94% of its labels are 5).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np
from estimates import SEED, forgotten, full_sample, holds
from numpy.typing import NDArray

from karat.estimation import system_estimates
from karat.estimation.samples import LabelScale, Sample
from karat.estimation.system_estimates import (
    difference_prediction,
    estimate_difference,
    estimate_system,
    predict,
)
from karat.stats.estimates import MeanInterval
from karat.stats.population import Design

Floats = NDArray[np.float64]
SYSTEMS, NOISE = 8, 0.5
POPULATION = {20: 100, 40: 400}
COLUMNS = ("people alone", "average", "in use", "difference")
extreme_predictions = system_estimates._extremes


def average_predictions(guess: Floats, guesses: Floats, sizes: Floats) -> tuple[float, float]:
    """Return the average prediction, in place of the most extreme ones."""
    mean = float(guess.mean())
    return mean, mean


def judged(labels: Floats, system: int, wrong: int, rng: np.random.Generator) -> Floats:
    """Return a judge's values: labels with noise, some 5s of a system rated 1 or 2."""
    values = np.clip(labels + NOISE * rng.normal(size=labels.shape), 1, 5)
    cluster = rng.permutation(np.flatnonzero(labels[system] == 5))[:wrong]
    values[system, cluster] = rng.integers(1, 3, len(cluster))
    return values


def simulated(top: float, wrong: float, units: int) -> Sample:
    """Return a set of eight systems; the judge is wrong on the first one."""
    rng = np.random.default_rng(1)
    shape = SYSTEMS, units
    y = np.where(rng.random(shape) < top, 5.0, rng.integers(1, 5, shape))
    values = judged(y, 0, round(wrong * units), rng)[:, :, None]
    names = tuple(f"s{k}" for k in range(SYSTEMS))
    about = "simulated", "quality", names, tuple(map(str, range(units))), "segment"
    has_output, design = np.ones(shape, bool), Design.simple(np.ones(units))
    return Sample(*about, y, values, values, has_output, ("judge",), design, LabelScale(1.0, 5.0))


def summeval(wrong: float) -> tuple[Sample, int]:
    """Return SummEval consistency with such a judge, and the system that it is wrong on."""
    full = full_sample("summeval", "consistency", ["chrf"])
    system = full.systems.index("M1")
    rng = np.random.default_rng(1)
    values = judged(full.y, system, round(wrong * len(full.units)), rng)[:, :, None]
    return replace(full, x=values, all_values=values), system


def intervals(sample: Sample, system: int) -> list[MeanInterval]:
    """Return the intervals of all columns."""
    prediction = predict(sample)
    people, used = (estimate_system(sample, system, p, True).interval for p in (None, prediction))
    system_estimates._extremes = average_predictions
    average = estimate_system(sample, system, prediction, True).interval
    system_estimates._extremes = extreme_predictions
    by_difference = difference_prediction(sample, prediction)
    pair = system, (system + 1) % len(sample.systems)
    difference = estimate_difference(sample, pair, by_difference, True)
    assert difference is not None
    return [people, average, used, difference.intervals.interval()]


def line(name: str, full: Sample, system: int, labels: int, draws: int) -> str:
    """Return a row as Markdown."""
    means = full.y.mean(axis=1)
    gap = means[system] - means[(system + 1) % len(means)]
    truths = [*[float(means[system])] * 3, float(gap)]
    rng, held, widths = np.random.default_rng(SEED), [], []
    for _ in range(draws):
        sample = forgotten(full, rng.permutation(len(full.units))[:labels])
        columns = intervals(sample, system)
        held.append([holds(*pair) for pair in zip(columns, truths, strict=True)])
        widths.append([interval.width for interval in columns[:3]])
    shares = np.mean(held, axis=0).tolist()
    cells = [f"{share:.3f} ± {sqrt(share * (1 - share) / draws):.3f}" for share in shares]
    people, average, used = np.mean(widths, axis=0).tolist()
    return f"| {name} | {' | '.join(cells)} | {average / people:.3f} | {used / people:.3f} |"


def cell(top: int, wrong: int, labels: int) -> tuple[Sample, int]:
    """Return a simulated set and the system that the judge is wrong on."""
    return simulated(top / 100, wrong / 100, POPULATION[labels]), 0


ROWS: dict[str, tuple[Callable[[], tuple[Sample, int]], int]] = {
    f"{top}-{wrong}-{labels}": (partial(cell, top, wrong, labels), labels)
    for labels in POPULATION
    for top in (90, 97)
    for wrong in (0, 3, 6)
}
ROWS |= {f"summeval-{wrong}": (partial(summeval, wrong / 100), 20) for wrong in (0, 3, 6)}


def main() -> None:
    """Print the rows that were asked for, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW")
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    print(f"| row | {' | '.join(COLUMNS)} | width, average | width, in use |")
    print("|---|---|---|---|---|---|---|")
    for name in options.rows or ROWS:
        make, labels = ROWS[name]
        print(line(name, *make(), labels, options.draws), flush=True)


if __name__ == "__main__":
    main()
