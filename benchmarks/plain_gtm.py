"""GTM's greedy search in plain Python, as a baseline for Karat.

Two versions: `as_it_reads` follows the definition literally, `tuned` is optimised for Python. Both
give exactly the results of GTM 1.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

Tokens = Sequence[str]


def as_it_reads(candidate: Tokens, references: Sequence[Tokens], e: float) -> float:
    """Every run at every hit; the longest first, of equals the last; what does not conflict."""
    columns = _with_barriers(references)
    runs = []
    for i in range(len(candidate)):
        for j in range(len(columns)):
            length = 0
            while i + length < len(candidate) and candidate[i + length] == columns[j + length]:
                length += 1
                runs.append((length, i * len(columns) + j, i, j))
    rows: set[int] = set()
    used: set[int] = set()
    lengths = []
    for length, _, i, j in sorted(runs, reverse=True):
        candidate_places, reference_places = set(range(i, i + length)), set(range(j, j + length))
        if not candidate_places & rows and not reference_places & used:
            rows |= candidate_places
            used |= reference_places
            lengths.append(length)
    return _size(lengths, candidate, references, e)


def tuned(candidate: Tokens, references: Sequence[Tokens], e: float) -> float:
    """The same with an index of the references' words, and slices instead of sets."""
    columns = _with_barriers(references)
    width = len(columns)
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    for j, word in enumerate(columns):
        places[word].append(j)
    runs = []
    for i, word in enumerate(candidate):
        for j in places.get(word, ()):
            length = 1
            runs.append((length, i * width + j))
            while i + length < len(candidate) and candidate[i + length] == columns[j + length]:
                length += 1
                runs.append((length, i * width + j))
    runs.sort(reverse=True)
    row_used, column_used = [False] * len(candidate), [False] * width
    lengths = []
    for length, start in runs:
        i, j = divmod(start, width)
        if not any(row_used[i : i + length]) and not any(column_used[j : j + length]):
            row_used[i : i + length] = column_used[j : j + length] = [True] * length
            lengths.append(length)
    return _size(lengths, candidate, references, e)


def _with_barriers(references: Sequence[Tokens]) -> list[str | None]:
    columns: list[str | None] = []
    for reference in references:
        columns += [*reference, None]
    return columns


def _size(
    lengths: Sequence[int], candidate: Tokens, references: Sequence[Tokens], e: float
) -> float:
    """The cap, then the size; the lengths come in descending order."""
    left = min(len(candidate), sum(map(len, references)) / len(references))
    total = 0.0
    for length in lengths:
        counted = min(length, left)
        total += counted**e
        left -= counted
    return float(total ** (1 / e))
