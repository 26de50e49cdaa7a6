"""Phrase pairs with their counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PhraseCounts:
    """Pairs of phrases, each once, and how often they were seen; by source phrase, then pivot."""

    source_ids: NDArray[np.int32]
    source_offsets: NDArray[np.int64]
    pivot_ids: NDArray[np.int32]
    pivot_offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
