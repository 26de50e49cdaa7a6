"""Longest common subsequences by the textbook table, and the union-LCS of ROUGE-Lsum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

Tokens = Sequence[Hashable]


def lcs_table(reference: Tokens, candidate: Tokens) -> list[list[int]]:
    """T[i][j]: the LCS length of the first i and the first j tokens."""
    table = [[0] * (len(candidate) + 1) for _ in range(len(reference) + 1)]
    for i, r in enumerate(reference, 1):
        for j, c in enumerate(candidate, 1):
            if r == c:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table


def lcs_length(reference: Tokens, candidate: Tokens) -> int:
    """The length of the longest common subsequence."""
    return lcs_table(reference, candidate)[-1][-1]


def lcs_positions(reference: Tokens, candidate: Tokens) -> set[int]:
    """Where one LCS stands in the reference, read back from the end as rouge-score does."""
    table = lcs_table(reference, candidate)
    i, j = len(reference), len(candidate)
    positions: set[int] = set()
    while i > 0 and j > 0:
        if reference[i - 1] == candidate[j - 1]:
            positions.add(i - 1)
            i, j = i - 1, j - 1
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return positions


def summary_hits(references: Sequence[Tokens], candidates: Sequence[Tokens]) -> int:
    """Union-LCS over sentences; no token counts more often than it stands in either text."""
    left_c = Counter(token for sentence in candidates for token in sentence)
    left_r = Counter(token for sentence in references for token in sentence)
    hits = 0
    for sentence in references:
        union = set().union(*(lcs_positions(sentence, other) for other in candidates))
        for i in sorted(union):
            if left_c[sentence[i]] > 0 and left_r[sentence[i]] > 0:
                hits += 1
                left_c[sentence[i]] -= 1
                left_r[sentence[i]] -= 1
    return hits
