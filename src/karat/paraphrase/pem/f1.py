"""F1 of two bags from statistics that add up: the weight in common, and the weight of each bag.

precision = common / paraphrase        recall = common / original
F1 = 2 precision recall / (precision + recall) = 2 common / (paraphrase + original)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """part / whole; 0/0 is 0."""
    found: Floats = np.divide(
        part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0
    )
    return found


def f1(stats: NDArray[Any]) -> Floats:
    """F1 from (common, paraphrase, original) in the last axis; 0 where both bags are empty."""
    return share(2.0 * stats[..., 0], stats[..., 1] + stats[..., 2])


def pooled_f1(stats: NDArray[Any], order: int | None = None) -> Floats:
    """F1 of all orders (the last axis but one) up to `order` in one bag, as the paper has it."""
    return f1(stats[..., :order, :].sum(axis=-2))
