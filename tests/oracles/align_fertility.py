"""The fertility model of word alignment by its definitions: every alignment, one after the other.

Sentences are lists of word ids; source and pivot words with the same id are equal words. Direction
0 generates pivot words from source words, direction 1 the reverse. Slow, and meant to be read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import exp, log, prod

from oracles.align_enumeration import Jumps, agreed, bucket, even_jumps, new_jumps

Pair = tuple[Sequence[int], Sequence[int]]
Matrix = list[list[float]]  # source x pivot
START = -1
P0, SPREAD, ALPHA, IDENTICAL, JUMPS, FERTILITY = 0.2, 0.2, 0.003, 1.0, 20.0, 0.5
SIZES = 8
ONE = 1 << 15


@dataclass
class Side:
    """What is known in one direction, of single words."""

    unigram: dict[int, float]
    null: dict[int, float]
    jumps: dict[int, Jumps] = field(default_factory=lambda: defaultdict(even_jumps))
    fertility: dict[int, list[float]] = field(default_factory=lambda: defaultdict(zeros))
    nu: list[float] = field(default_factory=list)


def zeros() -> list[float]:
    return [0.0] * SIZES


class Model:
    """A corpus, and what the iterations so far have learned from it."""

    def __init__(self, corpus: Sequence[Pair], agreement: str = "min") -> None:
        self.corpus, self.agreement = corpus, agreement
        texts = [Counter(w for pair in corpus for w in pair[side]) for side in (0, 1)]
        self.words = [set(text) for text in texts]
        unigrams = [{w: n / text.total() for w, n in text.items()} for text in texts]
        self.sides = [Side(unigrams[1], dict(unigrams[1])), Side(unigrams[0], dict(unigrams[0]))]
        self.last: list[tuple[Matrix, Matrix]] = []

    # ---------------------------------------------------------------------------- translation

    def counts(self, sentences: Sequence[int]) -> dict[tuple[int, int], float]:
        """C(e, f) of some sentences, from their last posteriors."""
        link_counts: dict[tuple[int, int], float] = defaultdict(float)
        for s in sentences:
            for i, e in enumerate(self.corpus[s][0]):
                for j, f in enumerate(self.corpus[s][1]):
                    link_counts[e, f] += agreed(
                        self.agreement, *(side[i][j] for side in self.last[s])
                    )
        return link_counts

    def translation(self, s: int, e: int, f: int, side: int) -> float:
        """t(f|e) or t(e|f) as sentence s sees it: from the counts of all others."""
        link_counts = self.counts([k for k in range(len(self.corpus)) if k != s])
        given_word = (e, f)[side]
        under = sum(count for pair, count in link_counts.items() if pair[side] == given_word)
        under += ALPHA * len(self.words[1 - side]) + IDENTICAL * (
            given_word in self.words[1 - side]
        )
        return (link_counts[e, f] + ALPHA + IDENTICAL * (e == f)) / under

    def emissions(self, s: int, side: int, fertility: bool) -> Matrix:
        """t / n of each generated word at each place, a row a word."""
        places, words = self.corpus[s][side], self.corpus[s][1 - side]
        if not self.last:
            return [[1.0] * len(places) for _ in words]
        return [
            [
                self.translation(s, *((e, f) if side == 0 else (f, e)), side)
                / self.sides[side].null[f]
                * (self.factor(s, side, i, j) if fertility else 1.0)
                for i, e in enumerate(places)
            ]
            for j, f in enumerate(words)
        ]

    # ------------------------------------------------------------------------------ fertility

    def trials(self, s: int, side: int, i: int) -> list[float]:
        """The last probabilities that place i generates each word."""
        matrix = self.last[s][side]
        return matrix[i] if side == 0 else [row[i] for row in matrix]

    def factor(self, s: int, side: int, i: int, j: int) -> float:
        """exp(weight E[log nu(phi + 1) / nu(phi)]) of place i without word j."""
        direction, places = self.sides[side], self.corpus[s][side]
        sentence_fertility = zeros()
        for k, word in enumerate(places):
            if word == places[i]:
                for phi, p in enumerate(poisson_binomial(self.trials(s, side, k))):
                    sentence_fertility[phi] += p
        counted = direction.fertility[places[i]]
        nu = [counted[phi] - sentence_fertility[phi] + direction.nu[phi] for phi in range(SIZES)]
        trials = self.trials(s, side, i)
        q = poisson_binomial([p for k, p in enumerate(trials) if k != j])
        return exp(FERTILITY * sum(p * log(nu[k + 1] / nu[k]) for k, p in enumerate(q) if p))

    # ------------------------------------------------------------------------------ iterations

    def beliefs(self, s: int, hmm: bool, fertility: bool) -> tuple[Matrix, Matrix]:
        """What each direction believes, both as source x pivot."""
        rows = []
        for side in (0, 1):
            table = self.emissions(s, side, fertility)
            rows.append(self.hmm_beliefs(s, side, table) if hmm else model1_beliefs(table))
        return [list(column) for column in zip(*rows[0], strict=True)], rows[1]

    def hmm_paths(self, s: int, side: int, rows: Matrix) -> Iterator[tuple[tuple[int, ...], float]]:
        """Every alignment (0 is the null word, places count from 1) and its probability."""
        n = len(rows[0])
        for path in product(range(n + 1), repeat=len(rows)):
            at, probability = 0, 1.0
            for place, row in zip(path, rows, strict=True):
                if place == 0:
                    probability *= P0
                    continue
                probability *= (1 - P0) * self.jump(s, side, at, place) * row[place - 1]
                at = place
            yield path, probability * self.jump(s, side, at, n + 1)

    def word_left(self, s: int, side: int, at: int) -> int:
        return self.corpus[s][side][at - 1] if at else START

    def jump(self, s: int, side: int, at: int, to: int) -> float:
        weights = self.sides[side].jumps[self.word_left(s, side, at)]
        ends = range(1, len(self.corpus[s][side]) + 2)
        return weights[bucket(to - at)] / sum(weights[bucket(k - at)] for k in ends)

    def hmm_beliefs(self, s: int, side: int, rows: Matrix) -> Matrix:
        link_sums, total = [[0.0] * len(row) for row in rows], 0.0
        for path, probability in self.hmm_paths(s, side, rows):
            total += probability
            for j, place in enumerate(path):
                if place:
                    link_sums[j][place - 1] += probability
        return [[value / total for value in row] for row in link_sums]

    def iterate(self, hmm: bool, fertility: bool, count_fertilities: bool) -> None:
        """One E-step and one M-step."""
        beliefs = [self.beliefs(s, hmm, fertility) for s in range(len(self.corpus))]
        for side in (0, 1):
            null = self.null_counts(side, beliefs)
            jumps = self.jump_counts(side, fertility) if hmm else None
            self.sides[side].null = null
            if jumps is not None:
                self.sides[side].jumps = jumps
        self.last = [(quantized(forward), quantized(backward)) for forward, backward in beliefs]
        if count_fertilities:
            for side in (0, 1):
                self.count_fertilities(side)

    def null_counts(self, side: int, beliefs: Sequence[tuple[Matrix, Matrix]]) -> dict[int, float]:
        """n(f) = (N(f) + spread N u(f)) / ((1 + spread) N)"""
        null_counts: dict[int, float] = defaultdict(float)
        for (es, fs), both in zip(self.corpus, beliefs, strict=True):
            for j, word in enumerate((fs, es)[side]):
                rows = [row[j] for row in both[0]] if side == 0 else both[1][j]
                null_counts[word] += 1 - sum(rows)
        total = sum(null_counts.values())
        return {
            word: (null_counts[word] + SPREAD * total * u) / ((1 + SPREAD) * total)
            for word, u in self.sides[side].unigram.items()
        }

    def jump_counts(self, side: int, fertility: bool) -> dict[int, Jumps]:
        """Weights of the jumps from each word."""
        jump_counts: dict[int, Jumps] = defaultdict(lambda: dict.fromkeys(even_jumps(), 0.0))
        opportunities: dict[int, Jumps] = defaultdict(lambda: dict.fromkeys(even_jumps(), 0.0))
        for s, pair in enumerate(self.corpus):
            paths = list(self.hmm_paths(s, side, self.emissions(s, side, fertility)))
            total, n = sum(p for _, p in paths), len(pair[side])
            for path, probability in paths:
                at = 0
                for place in (*(place for place in path if place), n + 1):
                    word, share = self.word_left(s, side, at), probability / total
                    jump_counts[word][bucket(place - at)] += share
                    for k in range(1, n + 2):
                        opportunities[word][bucket(k - at)] += share * self.reached(s, side, at)
                    at = place
        return self.smoothed(jump_counts, opportunities)

    def reached(self, s: int, side: int, at: int) -> float:
        """1 / Z(h)"""
        weights = self.sides[side].jumps[self.word_left(s, side, at)]
        return 1 / sum(weights[bucket(k - at)] for k in range(1, len(self.corpus[s][side]) + 2))

    def smoothed(
        self, jump_counts: dict[int, Jumps], opportunities: dict[int, Jumps]
    ) -> dict[int, Jumps]:
        """(counts_w(b) + K counts(b) / M) / (opportunities_w(b) + K opportunities(b) / M)"""
        buckets = list(even_jumps())
        total_counts = {b: sum(row[b] for row in jump_counts.values()) for b in buckets}
        total_opportunities = {b: sum(row[b] for row in opportunities.values()) for b in buckets}
        share = JUMPS / sum(total_counts.values())
        weights: dict[int, Jumps] = {}
        for word in {START, *(w for words in self.words for w in words)}:
            word_counts = {b: jump_counts[word][b] + share * total_counts[b] for b in buckets}
            weights[word] = new_jumps(
                word_counts,
                {b: opportunities[word][b] + share * total_opportunities[b] for b in buckets},
            )
        return weights

    def count_fertilities(self, side: int) -> None:
        """Fertilities of each word and of all, from the last posteriors."""
        direction = self.sides[side]
        direction.fertility = defaultdict(zeros)
        for s, pair in enumerate(self.corpus):
            for i, word in enumerate(pair[side]):
                for phi, p in enumerate(poisson_binomial(self.trials(s, side, i))):
                    direction.fertility[word][phi] += p
        sums = [sum(row[k] for row in direction.fertility.values()) + 2.0**-k for k in range(SIZES)]
        direction.nu = [count / sum(sums) for count in sums]


def model1_beliefs(rows: Matrix) -> Matrix:
    """P(a_j = i), for each word j a row over the places i."""
    beliefs = []
    for row in rows:
        weights = [(1 - P0) / len(row) * t for t in row]
        beliefs.append([weight / (P0 + sum(weights)) for weight in weights])
    return beliefs


def poisson_binomial(trials: Sequence[float]) -> list[float]:
    """The probabilities of 0, 1, ... successes: every outcome, one after the other."""
    probabilities = zeros()
    for outcome in product((0, 1), repeat=len(trials)):
        chances = (p if hit else 1 - p for p, hit in zip(trials, outcome, strict=True))
        probabilities[min(sum(outcome), SIZES - 1)] += prod(chances)
    return probabilities


def quantized(matrix: Matrix) -> Matrix:
    """Probabilities as multiples of 2^-15, as the kernel keeps them."""
    return [[int(p * ONE + 0.5) / ONE for p in row] for row in matrix]
