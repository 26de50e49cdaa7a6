"""Variance of means of crossed ratings: every rating, effect and pair one by one."""

from __future__ import annotations

from itertools import product

import numpy as np

Cell = tuple[int, int]  # a unit and a rater
Weights = dict[Cell, float]  # they add up to 1


def weights_of(table: np.ndarray, items: list[int]) -> Weights:
    """Items weigh the same, and so do the raters of an item."""
    weights = {}
    for i in items:
        raters = [r for r in range(table.shape[1]) if not np.isnan(table[i, r])]
        for r in raters:
            weights[i, r] = 1 / len(raters) / len(items)
    return weights


def key(cell: Cell, kind: str) -> object:
    """The item, the rater, or the rating that an effect belongs to."""
    return {"item": cell[0], "rater": cell[1], "rest": cell}[kind]


def residual_of_effect(weights: Weights, cell: Cell, kind: str, effect: object) -> float:
    """By how much one effect of 1 moves w (y - T) of a cell."""
    shift = sum(w for c, w in weights.items() if key(c, kind) == effect)
    return weights[cell] * ((key(cell, kind) == effect) - shift)


def sums_of_products(
    first: dict[Cell, float], second: dict[Cell, float]
) -> tuple[float, float, float]:
    """Products of sums by item, by rater and by cell."""
    sums = []
    for kind in ("item", "rater", "rest"):
        keys = {key(c, kind) for c in (*first, *second)}
        sums.append(
            sum(
                sum(t for c, t in first.items() if key(c, kind) == k)
                * sum(t for c, t in second.items() if key(c, kind) == k)
                for k in keys
            )
        )
    return sums[0], sums[1], sums[2]


def expected(first: Weights, second: Weights) -> np.ndarray:
    """Expected sums of products for a covariance of 1 of items, of raters and of the rest."""
    columns = []
    for kind in ("item", "rater", "rest"):
        effects = {key(c, kind) for c in first} & {key(c, kind) for c in second}
        totals = np.zeros(3)
        for effect in effects:
            totals += sums_of_products(
                {c: residual_of_effect(first, c, kind, effect) for c in first},
                {c: residual_of_effect(second, c, kind, effect) for c in second},
            )
        # Effects of cells that only one of the systems has move nothing of the other.
        columns.append(totals)
    return np.array(columns).T


def covariance(
    tables: tuple[np.ndarray, np.ndarray], items: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Components of items, raters and the rest, and what one of each adds to the covariance."""
    weights = [weights_of(table, items) for table in tables]
    residuals = []
    for table, of_cell in zip(tables, weights, strict=True):
        mean = sum(w * table[c] for c, w in of_cell.items())
        residuals.append({c: w * (table[c] - mean) for c, w in of_cell.items()})
    components = np.linalg.solve(expected(*weights), np.array(sums_of_products(*residuals)))
    reach = np.zeros(3)
    for (a, w), (b, v) in product(weights[0].items(), weights[1].items()):
        reach += [w * v * (key(a, k) == key(b, k)) for k in ("item", "rater", "rest")]
    return components, reach
