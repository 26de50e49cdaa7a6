"""GTM's greedy search in plain Python: what Karat is measured against.

Twice: as the rule reads (look at every cell of the grid), and by a programmer who first makes an
index of the references' words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

Hits = Callable[[Sequence[str], Sequence["str | None"]], Iterable[tuple[int, int]]]


def greedy_size(
    candidate: Sequence[str], references: Sequence[Sequence[str]], e: float, hits: Hits
) -> float:
    """Every run at every hit, the longest first, what does not conflict; then the cap."""
    columns: list[str | None] = []
    for reference in references:
        columns += [*reference, None]  # a barrier
    runs = _runs(candidate, columns, hits)
    width = len(columns)
    runs.sort(key=lambda run: (run[0], run[1] * width + run[2]), reverse=True)
    row_free, column_free = [True] * len(candidate), [True] * width
    left = min(len(candidate), sum(map(len, references)) / len(references))
    total = 0.0
    for length, i, j in runs:
        if all(row_free[i : i + length]) and all(column_free[j : j + length]):
            row_free[i : i + length] = column_free[j : j + length] = [False] * length
            kept = min(length, left)
            total += kept**e
            left -= kept
    return float(total ** (1 / e))


def every_cell(
    candidate: Sequence[str], columns: Sequence[str | None]
) -> Iterable[tuple[int, int]]:
    """The hits, by the definition."""
    return (
        (i, j)
        for i in range(len(candidate))
        for j in range(len(columns))
        if candidate[i] == columns[j]
    )


def by_word(candidate: Sequence[str], columns: Sequence[str | None]) -> Iterable[tuple[int, int]]:
    """The hits, through an index."""
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    for j, word in enumerate(columns):
        places[word].append(j)
    return ((i, j) for i, word in enumerate(candidate) for j in places.get(word, ()))


def _runs(
    candidate: Sequence[str], columns: Sequence[str | None], hits: Hits
) -> list[tuple[int, int, int]]:
    runs = []
    for i, j in hits(candidate, columns):
        length = 1
        runs.append((length, i, j))
        while i + length < len(candidate) and candidate[i + length] == columns[j + length]:
            length += 1
            runs.append((length, i, j))
    return runs
