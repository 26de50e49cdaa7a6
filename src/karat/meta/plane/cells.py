"""The points of the plane: alpha from recall to precision, orders of n-grams from 1 to 4."""

from __future__ import annotations

from typing import NamedTuple

ALPHAS = tuple(k / 10 for k in range(11))
ORDERS = (1, 2, 3, 4)


class PlaneCell(NamedTuple):
    """A point of the plane."""

    alpha: float
    n: int

    def __str__(self) -> str:
        return f"AEv({self.alpha:g},{self.n})"


CELLS = tuple(PlaneCell(alpha, n) for n in ORDERS for alpha in ALPHAS)
"""All points, in the order of every array of cells: by n, then by alpha."""
BLEU_CELL = PlaneCell(1.0, 4)
ROUGE_CELL = PlaneCell(0.0, 1)
AEV_CELL = PlaneCell(0.5, 4)
"""AEv's default."""
