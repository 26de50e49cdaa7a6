"""Coverage of the intervals of `karat meta challenge`: paired accuracy and AUC.

    python experiments/challenge.py [--trials N]

Prints Markdown. Scores of good texts are normal, g = z, and scores of their bad versions are
b = r z + sqrt(1 - r^2) e - d, so that the paired accuracy is Phi(d / sqrt(2 - 2 r)) and the AUC
Phi(d / sqrt(2)). r is high for real metrics: the bad version is almost the same text. With three
pairs for each item, these share their good text. The intervals of Karat (`share_interval`) are
compared with percentiles of 400 bootstrap resamples of items. Standard errors are of the share of
trials. The seed is 2026.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Iterator
from math import erf, sqrt

import numpy as np

from karat.meta.challenge import area_under_curve, challenge_intervals

SEED, RESAMPLES = 2026, 400
CELLS = [
    (n, r, d, per_item)
    for n in (20, 50, 200, 500)
    for r, d in ((0.0, 0.0), (0.9, 0.2), (0.98, 0.2), (0.9, 1.0), (0.5, 2.5))
    for per_item in (1, 3)
    if per_item == 1 or n in (50, 200)
]
"""Items, correlation, difference, and pairs per item."""


def phi(x: float) -> float:
    """The normal distribution function."""
    return (1 + erf(x / sqrt(2))) / 2


def draw(
    cell: tuple[int, float, float, int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return good and bad scores of pairs and their items."""
    n, r, d, per_item = cell
    items = np.repeat(np.arange(n), per_item)
    good = rng.standard_normal(n)[items]
    bad = r * good + sqrt(1 - r * r) * rng.standard_normal(n * per_item) - d
    return good, bad, items


def bootstrap(
    good: np.ndarray, bad: np.ndarray, items: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[float, float]]:
    """Yield the percentile intervals of both numbers."""
    per_item = len(items) // (int(items.max()) + 1)
    shape = (-1, per_item)
    good, bad = good.reshape(shape), bad.reshape(shape)
    values = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(good), size=len(good))
        some_good, some_bad = good[drawn].ravel(), bad[drawn].ravel()
        values.append(((some_good > some_bad).mean(), area_under_curve(some_good, some_bad).auc))
    for column in np.array(values).T:
        low, high = np.quantile(column, [0.025, 0.975])
        yield low, high


def main() -> None:
    """Print a table of coverages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--bootstrap-trials", type=int, default=300)
    options = parser.parse_args()
    print(
        "| items | pairs each | r | accuracy | AUC | covers accuracy | covers AUC | width of AUC |"
    )
    print("|---|---|---|---|---|---|---|---|")
    totals = []
    for cell in CELLS:
        n, r, d, per_item = cell
        rng = np.random.default_rng([SEED, n, int(100 * r), int(100 * d), per_item])
        true = (phi(d / sqrt(2 - 2 * r)), phi(d / sqrt(2)))
        covered, widths, resampled = [], [], []
        for trial in range(options.trials):
            scores = draw(cell, rng)
            intervals = challenge_intervals(*scores)
            covered.append([i.low <= t <= i.high for i, t in zip(intervals, true, strict=True)])
            widths.append(intervals[1].high - intervals[1].low)
            if trial < options.bootstrap_trials:
                ends = bootstrap(*scores, rng)
                resampled.append(
                    [low <= t <= high for (low, high), t in zip(ends, true, strict=True)]
                )
        texts = []
        for k in range(2):
            share, boot = (np.mean([c[k] for c in cs]) for cs in (covered, resampled))
            error = sqrt(share * (1 - share) / options.trials)
            texts.append(f"{share:.3f} ± {error:.3f} (bootstrap {boot:.2f})")
        totals.append([np.mean([c[k] for c in covered]) for k in range(2)])
        shares = f"{true[0]:.3f} | {true[1]:.3f}"
        width = f"{np.mean(widths):.3f}"
        print(f"| {n} | {per_item} | {r} | {shares} | {texts[0]} | {texts[1]} | {width} |")
    lowest = [min(t[k] for t in totals) for k in range(2)]
    print(f"\nLowest coverage: accuracy {lowest[0]:.3f}, AUC {lowest[1]:.3f}")


if __name__ == "__main__":
    main()
