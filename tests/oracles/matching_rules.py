"""GTM by its definitions: all runs at all hits, the greedy rule, and every matching there is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

Tokens = Sequence[Hashable]


class Run(NamedTuple):
    """A diagonal of hits from (row, column) on; columns count barriers."""

    row: int
    column: int
    length: int


class _Barrier:
    """Equal to nothing but itself."""


def concatenated(references: Sequence[Tokens]) -> list[object]:
    """The references one after the other, a barrier after each."""
    columns: list[object] = []
    for reference in references:
        columns += [*reference, _Barrier()]
    return columns


def all_runs(candidate: Tokens, columns: Sequence[object]) -> list[Run]:
    """Every run at every hit, of every length."""
    runs = []
    for i in range(len(candidate)):
        for j in range(len(columns)):
            length = 0
            while (
                i + length < len(candidate)
                and j + length < len(columns)
                and candidate[i + length] == columns[j + length]
            ):
                length += 1
                runs.append(Run(i, j, length))
    return runs


def greedy_runs(candidate: Tokens, references: Sequence[Tokens]) -> list[Run]:
    """GTM 1.4: the longest first, of equals the largest row * W + column; what fits is taken."""
    columns = concatenated(references)
    order = sorted(
        all_runs(candidate, columns),
        key=lambda run: (run.length, run.row * len(columns) + run.column),
        reverse=True,
    )
    matching: list[Run] = []
    rows: set[int] = set()
    used: set[int] = set()
    for run in order:
        run_rows = set(range(run.row, run.row + run.length))
        run_columns = set(range(run.column, run.column + run.length))
        if not (run_rows & rows or run_columns & used):
            matching.append(run)
            rows |= run_rows
            used |= run_columns
    return matching


def cap(candidate: Tokens, references: Sequence[Tokens], whole_hits: bool = False) -> float:
    """How many hits may count; whole hits alone in the paper."""
    most = min(len(candidate), sum(map(len, references)) / len(references))
    return most // 1 if whole_hits else most


def capped_sum(lengths: Iterable[float], limit: float, e: float) -> float:
    """The sum of length^e, the shortest runs given up first."""
    left, total = limit, 0.0
    for length in sorted(lengths, reverse=True):
        counted_length = min(length, left)
        if counted_length <= 0:
            break
        total += counted_length**e
        left -= counted_length
    return total


def greedy_sum(
    candidate: Tokens, references: Sequence[Tokens], e: float, whole_hits: bool = False
) -> float:
    """The capped sum of the greedy matching."""
    lengths = [run.length for run in greedy_runs(candidate, references)]
    return capped_sum(lengths, cap(candidate, references, whole_hits), e)


def best_sum(
    candidate: Tokens, references: Sequence[Tokens], e: float, whole_hits: bool = False
) -> float:
    """The largest capped sum of all matchings there are: each row takes a free column or none."""
    columns = concatenated(references)
    limit = cap(candidate, references, whole_hits)
    visited: set[tuple[int, frozenset[int], int, tuple[int, ...]]] = set()

    def best(row: int, used: frozenset[int], last: int, lengths: tuple[int, ...]) -> float:
        """`last` is the column of the row before (-2: none), whose run is the last of `lengths`."""
        if row == len(candidate):
            return capped_sum(lengths, limit, e)
        key = (row, used, last, tuple(sorted(lengths[:-1])) + lengths[-1:])
        if key in visited:  # met before with the same outcome, so it cannot be better now
            return 0.0
        visited.add(key)
        best_value = best(row + 1, used, -2, lengths)
        for j, word in enumerate(columns):
            if word == candidate[row] and j not in used:
                grown = (*lengths[:-1], lengths[-1] + 1) if j == last + 1 else (*lengths, 1)
                best_value = max(best_value, best(row + 1, used | {j}, j, grown))
        return best_value

    return best(0, frozenset(), -2, ())


def f_measure(
    size: float, candidate_length: float, reference_length: float, alpha: float = 0.5
) -> float:
    """P R / (alpha R + (1 - alpha) P).

    P = size / candidate_length and R = size / reference_length.
    """
    p = size / candidate_length if candidate_length else 0.0
    r = size / reference_length if reference_length else 0.0
    below = alpha * r + (1 - alpha) * p
    return p * r / below if below else 0.0
