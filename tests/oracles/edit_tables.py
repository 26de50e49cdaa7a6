"""Edit alignments by the textbook table, with the tie order that Karat documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

Tokens = Sequence[Hashable]
Operation = tuple[str, int, int]


class Costs(NamedTuple):
    """What each operation costs."""

    insertion: int
    deletion: int
    substitution: int


UNIT = Costs(1, 1, 1)
ACCURACY = Costs(3, 3, 4)


def table(reference: Tokens, result: Tokens, costs: Costs) -> list[list[int]]:
    """D[i][j]: the least cost of turning i reference tokens into j result tokens."""
    d = [[j * costs.insertion for j in range(len(result) + 1)]]
    for i, r in enumerate(reference, 1):
        row = [i * costs.deletion]
        for j, c in enumerate(result, 1):
            diagonal = d[i - 1][j - 1] + (0 if r == c else costs.substitution)
            row.append(min(diagonal, d[i - 1][j] + costs.deletion, row[-1] + costs.insertion))
        d.append(row)
    return d


def script(reference: Tokens, result: Tokens, costs: Costs) -> list[Operation]:
    """Operations in order; back from the ends: the diagonal, else insertion, else deletion."""
    d, operations = table(reference, result, costs), []
    i, j = len(reference), len(result)
    while i or j:
        equal = i > 0 and j > 0 and reference[i - 1] == result[j - 1]
        step = 0 if equal else costs.substitution
        if i and j and d[i][j] == d[i - 1][j - 1] + step:
            i, j = i - 1, j - 1
            operations.append(("keep" if equal else "substitute", i, j))
        elif j and d[i][j] == d[i][j - 1] + costs.insertion:
            j -= 1
            operations.append(("insert", i, j))
        else:
            i -= 1
            operations.append(("delete", i, j))
    return operations[::-1]


class Counts(NamedTuple):
    """What a script comes to; moves are among the insertions and deletions."""

    substitutions: int
    insertions: int
    deletions: int
    moves: int


def counts(reference: Tokens, result: Tokens, costs: Costs) -> Counts:
    """S, I, D and M of the alignment."""
    operations = script(reference, result, costs)
    inserted = Counter(result[j] for kind, _, j in operations if kind == "insert")
    deleted = Counter(reference[i] for kind, i, _ in operations if kind == "delete")
    return Counts(
        sum(kind == "substitute" for kind, _, _ in operations),
        inserted.total(),
        deleted.total(),
        (inserted & deleted).total(),
    )
