"""Differences of `estimate` together: how often any of several equal systems is called different.

    python experiments/estimate_families.py [--trials 400]

Systems have labels of one distribution: a part that the segment has in common, and a part of its
own. All segments are labelled and taken as a sample of new ones. A trial is wrong if any verdict is
better or worse, and it contradicts itself if an interval excludes 0 where p is not below .05, or
the other way round. Shares have their standard errors. Draws use numpy's default generator with
seed 2026.
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from karat.estimation.estimates import estimate_sample
from karat.estimation.samples import LabelScale, Sample
from karat.stats.population import Design

SEED = 2026
SETTINGS = {"population": "new", "seed": 1}


def draw_labels(
    rng: np.random.Generator, kind: str, systems: int, units: int
) -> NDArray[np.float64]:
    """Return labels, systems x units."""
    values = rng.normal(size=units) + rng.normal(size=(systems, units))
    if kind == "skewed":  # numbers of errors
        return np.asarray(-np.floor(np.exp(values)), np.float64)
    if kind == "ceiling":  # 1 to 5, mostly 5
        return np.clip(np.round(5.5 + values), 1, 5)
    return values


def as_sample(y: NDArray[np.float64], kind: str) -> Sample:
    """Return a sample in which every unit is labelled."""
    systems, units = y.shape
    nothing = np.zeros((systems, units, 0))
    return Sample(
        *("made-up", "quality", tuple(f"s{k}" for k in range(systems))),
        *(tuple(map(str, range(units))), "segment", y, nothing, nothing),
        *(np.ones(y.shape, np.bool_), (), Design.simple(np.ones(units))),
        LabelScale(1.0, 5.0) if kind == "ceiling" else LabelScale(None, None),
    )


def run(kind: str, systems: int, units: int, baseline: str | None, trials: int) -> str:
    """Return the row of a cell."""
    rng = np.random.default_rng(SEED)
    wrong, contradictions = {"simultaneous": 0, "none": 0}, 0
    levels = []
    for _ in range(trials):
        sample = as_sample(draw_labels(rng, kind, systems, units), kind)
        for correction in wrong:
            settings = {**SETTINGS, "correction": correction}
            rows = estimate_sample(sample, [], baseline, 0, settings).differences
            wrong[correction] += any(row.verdict in ("better", "worse") for row in rows)
            contradictions += any((row.low > 0 or row.high < 0) != (row.p < 0.05) for row in rows)
            if correction == "simultaneous":
                levels.append(rows[0].confidence)
    shares = {name: count / trials for name, count in wrong.items()}
    errors = {name: sqrt(share * (1 - share) / trials) for name, share in shares.items()}
    cells = [f"{shares[name]:.3f} ± {errors[name]:.3f}" for name in wrong]
    level = f"{float(np.mean(levels)):.4f}"
    columns = kind, systems, units, baseline or "best", *cells, level, contradictions
    return f"| {' | '.join(map(str, columns))} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=400)
    trials = parser.parse_args().trials
    names = "labels", "systems", "segments", "baseline", "wrong", "not corrected", "level"
    print(f"| {' | '.join((*names, 'contradictions'))} |\n|{'---|' * 8}")
    for kind in ("normal", "skewed", "ceiling"):
        for systems, units in ((3, 12), (5, 20), (5, 50), (10, 50)):
            for baseline in ("s0", None):
                print(run(kind, systems, units, baseline, trials), flush=True)


if __name__ == "__main__":
    main()
