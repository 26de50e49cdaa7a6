"""Word alignment by its definitions: every alignment of a sentence pair, one after the other.

Sentences are lists of word ids; tables are dictionaries from (source word, pivot word) to
(t(pivot | source), t(source | pivot)). Slow, and meant to be read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from math import sqrt

NULL = 1e-6
FAR = 5

Pair = tuple[Sequence[int], Sequence[int]]
Table = dict[tuple[int, int], tuple[float, float]]
Beliefs = list[list[float]]
Jumps = dict[int, float]


def uniform(corpus: Sequence[Pair]) -> Table:
    """Every pair of words that stands together, with the same weight."""
    return {(e, f): (1.0, 1.0) for es, fs in corpus for e in es for f in fs}


def even_jumps() -> Jumps:
    return dict.fromkeys(range(-FAR, FAR + 1), 1 / (2 * FAR + 1))


def bucket(jump: int) -> int:
    return max(-FAR, min(FAR, jump))


def emissions(table: Table, places: Sequence[int], words: Sequence[int], ahead: bool) -> Beliefs:
    """t(word | place) for each word and place; `ahead` if words are those of the pivot."""
    return [[table[e, f][0] if ahead else table[f, e][1] for e in places] for f in words]


# ----------------------------------------------------------------------------------- model 1


def model1_beliefs(rows: Beliefs) -> Beliefs:
    """P(a_j = i), for each word j a row over the places i."""
    beliefs = []
    for row in rows:
        weights = [(1 - NULL) / len(row) * t for t in row]
        beliefs.append([weight / (NULL + sum(weights)) for weight in weights])
    return beliefs


# --------------------------------------------------------------------------------------- HMM


def hmm_paths(rows: Beliefs, jumps: Jumps) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every alignment (0 is the null word, places count from 1) and its probability."""
    n = len(rows[0])
    for path in product(range(n + 1), repeat=len(rows)):
        at, probability = 0, 1.0
        for place, row in zip(path, rows, strict=True):
            if place == 0:
                probability *= NULL
                continue
            probability *= (1 - NULL) * jump(jumps, at, place, n) * row[place - 1]
            at = place
        yield path, probability * jump(jumps, at, n + 1, n)


def jump(jumps: Jumps, at: int, to: int, n: int) -> float:
    """The share of one jump among all that lead to a place 1 … n or out of the sentence."""
    return jumps[bucket(to - at)] / sum(jumps[bucket(k - at)] for k in range(1, n + 2))


def hmm_beliefs(rows: Beliefs, jumps: Jumps) -> Beliefs:
    n = len(rows[0])
    link_sums = [[0.0] * n for _ in rows]
    total = 0.0
    for path, probability in hmm_paths(rows, jumps):
        total += probability
        for j, place in enumerate(path):
            if place:
                link_sums[j][place - 1] += probability
    return [[value / total for value in row] for row in link_sums]


def count_jumps(rows: Beliefs, jumps: Jumps, jump_counts: Jumps, opportunities: Jumps) -> None:
    """Add what is expected of the jumps of one sentence pair."""
    n = len(rows[0])
    total = sum(probability for _, probability in hmm_paths(rows, jumps))
    for path, probability in hmm_paths(rows, jumps):
        at = 0
        for place in (*(place for place in path if place), n + 1):
            jump_counts[bucket(place - at)] += probability / total
            z = sum(jumps[bucket(k - at)] for k in range(1, n + 2))
            for k in range(1, n + 2):
                opportunities[bucket(k - at)] += probability / total / z
            at = place


def new_jumps(jump_counts: Jumps, opportunities: Jumps) -> Jumps:
    weights = {
        b: jump_counts[b] / opportunities[b] if opportunities[b] else 0.0 for b in jump_counts
    }
    total = sum(weights.values())
    return {b: 0.99 * w / total + 0.01 / (2 * FAR + 1) for b, w in weights.items()}


# ------------------------------------------------------------------------------ both together


def both_beliefs(
    pair: Pair, table: Table, hmm: bool, jumps: tuple[Jumps, Jumps]
) -> tuple[Beliefs, Beliefs]:
    """What each direction believes, both as source x pivot."""
    es, fs = pair
    ahead, back = emissions(table, es, fs, True), emissions(table, fs, es, False)
    if hmm:
        forward, backward = hmm_beliefs(ahead, jumps[0]), hmm_beliefs(back, jumps[1])
    else:
        forward, backward = model1_beliefs(ahead), model1_beliefs(back)
    return [list(column) for column in zip(*forward, strict=True)], backward


def agreed(agreement: str, forward: float, backward: float) -> float:
    """How far a link counts, of which the directions believe so much."""
    if agreement == "min":
        return min(forward, backward)
    both = forward * backward
    return sqrt(both) if agreement == "root" else both


def iterate(
    corpus: Sequence[Pair], table: Table, hmm: bool, jumps: tuple[Jumps, Jumps], agreement: str
) -> tuple[Table, tuple[Jumps, Jumps]]:
    """One E-step and one M-step."""
    counts: dict[tuple[int, int], float] = defaultdict(float)
    zeros = [dict.fromkeys(range(-FAR, FAR + 1), 0.0) for _ in range(4)]
    for es, fs in corpus:
        forward, backward = both_beliefs((es, fs), table, hmm, jumps)
        for i, e in enumerate(es):
            for j, f in enumerate(fs):
                counts[e, f] += agreed(agreement, forward[i][j], backward[i][j])
        if hmm:
            count_jumps(emissions(table, es, fs, True), jumps[0], zeros[0], zeros[1])
            count_jumps(emissions(table, fs, es, False), jumps[1], zeros[2], zeros[3])
    new = (new_jumps(zeros[0], zeros[1]), new_jumps(zeros[2], zeros[3])) if hmm else jumps
    return normalized(counts), new


def normalized(counts: dict[tuple[int, int], float]) -> Table:
    by_source: dict[int, float] = defaultdict(float)
    by_pivot: dict[int, float] = defaultdict(float)
    for (e, f), count in counts.items():
        by_source[e] += count
        by_pivot[f] += count
    return {(e, f): (c / by_source[e], c / by_pivot[f]) for (e, f), c in counts.items()}
