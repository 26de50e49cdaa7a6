"""How much is measured: everything, or a quick look."""

from __future__ import annotations

from typing import NamedTuple


class Plan(NamedTuple):
    """Sizes and rounds."""

    lines: int = 100_000
    rounds: int = 7  # of karat
    peer_lines: int = 10_000  # peers do a part; their time is scaled
    peer_rounds: int = 2
    start_rounds: int = 15
    large_lines: int = 5_000_000
    table_rows: int = 20_000_000
    lm_words: int = 12_000_000
    parallel_pairs: int = 100_000
    parallel_memory: float = 0.25  # GB


FULL = Plan()
QUICK = Plan(10_000, 3, 1_000, 1, 5, 500_000, 400_000, 2_000_000, 20_000, 0.125)
