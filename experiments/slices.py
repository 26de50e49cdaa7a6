"""Tests of slices: how often any of them calls one of two equal systems better or worse.

    python experiments/slices.py [--trials N]

Prints Markdown. Every trial draws documents of three segments of synthetic text with replacement
(`experiments/significance.py`), exchanges the systems document by document, and compares them by
BLEU and chrF within slices. Slices hold whole documents or cut through them. The seed is 2026.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from math import sqrt

import numpy as np
from significance import text_rows

import karat as kt
from karat.scoring import SystemStats
from karat.slices import Slices, compare_slices
from karat.stats.units import Units

SEED, SEGMENTS = 2026, 3
METRICS = ("bleu", "chrf")
CELLS = (
    ("3 of equal size, whole documents", 60, (1, 1, 1), False),
    ("3 of equal size, across documents", 60, (1, 1, 1), True),
    ("70%, 20%, 10%, whole documents", 120, (7, 2, 1), False),
    ("10 of equal size, whole documents", 200, (1,) * 10, False),
    ("10 of equal size, across documents", 200, (1,) * 10, True),
)
"""Slices, documents, relative sizes of slices, and whether they cut through documents."""


def any_verdict(
    documents: int, sizes: tuple[int, ...], across: bool, rng: np.random.Generator
) -> dict[str, bool]:
    """Whether any slice has a verdict in a trial, by correction."""
    drawn = rng.integers(0, len(text_rows("exchangeable", METRICS[0])[0]), size=documents)
    swapped = rng.integers(2, size=documents).astype(bool)
    stats = {}
    for name in METRICS:
        pair = [rows[drawn, :SEGMENTS] for rows in text_rows("exchangeable", name)]
        for system, rows, other in (("A", *pair), ("B", *pair[::-1])):
            chosen = np.where(swapped[:, None, None], other, rows)
            table = chosen.reshape(documents * SEGMENTS, -1).astype(np.int64)
            stats[system, kt.metric(name)] = SystemStats(table.sum(axis=0), (table,), None)
    codes = np.repeat(np.arange(documents, dtype=np.int32), SEGMENTS)
    units = Units("document", list(map(str, range(documents))), codes)
    shares = np.array(sizes) / sum(sizes)
    labels = rng.choice(len(sizes), size=documents * SEGMENTS if across else documents, p=shares)
    slices = Slices.from_labels("slice", (labels if across else labels[codes]).tolist())
    return {
        correction: any(
            row.verdict in ("better", "worse")
            for row in compare_slices(stats, slices, "A", units, correction)
        )
        for correction in ("simultaneous", "none")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print("| slices | documents | any verdict, simultaneous | any verdict, none |")
    print("|---|---:|---:|---:|")
    for name, documents, sizes, across in CELLS:
        rng = np.random.default_rng(SEED)
        verdicts = [any_verdict(documents, sizes, across, rng) for _ in range(trials)]
        cells = []
        for correction in ("simultaneous", "none"):
            share = sum(trial[correction] for trial in verdicts) / trials
            error = sqrt(share * (1 - share) / trials)
            cells.append(f"{share:.1%} ± {error:.1%}")
        print(f"| {name} | {documents} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
