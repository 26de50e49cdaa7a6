"""Language models as their formulas read: n-grams as tuples of words, in plain dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

Gram = tuple[str, ...]
BOS, EOS, UNK = "<s>", "</s>", "<unk>"


def known_words(sentences: Sequence[Sequence[str]], size: int | None, least: int) -> list[str]:
    """The most frequent words, the first in the text first among equals."""
    counts = Counter(word for sentence in sentences for word in sentence)
    first = {word: at for at, word in enumerate(counts)}
    ranked = sorted(counts, key=lambda word: (-counts[word], first[word]))
    return [word for word in ranked[:size] if counts[word] >= least]


def count(sentences: Iterable[Sequence[str]], order: int) -> Counter[Gram]:
    """All n-grams of the sentences between <s> and </s>; <s> alone is none."""
    counts: Counter[Gram] = Counter()
    for sentence in sentences:
        words = (BOS, *sentence, EOS)
        for n in range(1, order + 1):
            counts.update(words[i : i + n] for i in range(len(words) - n + 1))
    del counts[(BOS,)]
    return counts


class KneserNey:
    """Modified Kneser-Ney, interpolated; `least[n - 1]` is the smallest count that is kept."""

    def __init__(self, counts: Counter[Gram], vocabulary: Sequence[str], least: Sequence[int]):
        self.counts, self.vocabulary, self.least = counts, [*vocabulary, UNK, EOS], least
        self.order = len(least)
        left = Counter(gram[1:] for gram in counts)
        self.a = {g: self.adjusted(g, left) for g in counts}
        self.D = [self.discounts(n) for n in range(1, self.order + 1)]
        self.p = cache(self._p)

    def adjusted(self, gram: Gram, left: Counter[Gram]) -> int:
        if len(gram) == self.order or gram[0] == BOS:
            return self.counts[gram]
        return left[gram]

    def discounts(self, n: int) -> tuple[float, ...]:
        t = [sum(a == k for g, a in self.a.items() if len(g) == n) for k in range(5)]
        if not (t[1] and t[2] and t[3]):
            return (0.5, 1.0, 1.5)
        Y = t[1] / (t[1] + 2 * t[2])
        D = tuple(k - (k + 1) * Y * t[k + 1] / t[k] for k in (1, 2, 3))
        return D if min(D) > 0 else (0.5, 1.0, 1.5)

    def removed_mass(self, gram: Gram) -> float:
        """What a count gives away: its discount, or all of it where the n-gram is left out."""
        a = self.a[gram]
        is_in_model = self.counts[gram] >= self.least[len(gram) - 1]
        return self.D[len(gram) - 1][min(a, 3) - 1] if is_in_model else a

    def _p(self, word: str, history: Gram) -> float:
        history = history[max(0, len(history) - self.order + 1) :]
        followers = [(*history, x) for x in self.vocabulary if (*history, x) in self.a]
        lower = 1 / len(self.vocabulary) if not history else self.p(word, history[1:])
        if not followers:
            return lower
        total = sum(self.a[g] for g in followers)
        gamma = sum(self.removed_mass(g) for g in followers) / total
        gram = (*history, word)
        discounted_count = self.a[gram] - self.removed_mass(gram) if gram in self.a else 0
        return discounted_count / total + gamma * lower


class Katz:
    """Back-off with Good-Turing discounts."""

    def __init__(self, counts: Counter[Gram], vocabulary: Sequence[str], least: Sequence[int]):
        self.counts, self.vocabulary, self.least = counts, [*vocabulary, UNK, EOS], least
        self.order = len(least)
        self.p = cache(self._p)
        self.d = [self.good_turing(n) for n in range(1, self.order + 1)]

    def good_turing(self, n: int) -> dict[int, float]:
        k = 0 if n == 1 else 7
        t = Counter(c for g, c in self.counts.items() if len(g) == n)
        d = {}
        for r in range(1, k + 1):
            d[r] = 1.0
            if t[1] and t[r]:
                A, share = (k + 1) * t[k + 1] / t[1], (r + 1) * t[r + 1] / (r * t[r])
                if A < 1 and share <= 1 and 0 < (share - A) / (1 - A) <= 1:
                    d[r] = (share - A) / (1 - A)
        return d

    def mass(self, gram: Gram) -> float:
        r = self.counts[gram]
        return self.d[len(gram) - 1].get(r, 1.0) * r if r >= self.least[len(gram) - 1] else 0.0

    def _p(self, word: str, history: Gram) -> float:
        history = history[max(0, len(history) - self.order + 1) :]
        followers = [x for x in self.vocabulary if (*history, x) in self.counts]
        kept_followers = [x for x in followers if self.mass((*history, x))]
        if not kept_followers:
            return self.p(word, history[1:])
        total = sum(self.counts[(*history, x)] for x in followers)
        mass = sum(self.mass((*history, x)) for x in kept_followers)
        if len(kept_followers) == len(self.vocabulary) and history:
            return self.mass((*history, word)) / mass
        if mass > total - 1e-9:
            total += 1
        left = 1 - mass / total
        word_p = self.mass((*history, word)) / total if word in kept_followers else 0.0
        if not history:
            return self.unigram(word, word_p, left)
        if word_p:
            return word_p
        return (
            left
            / (1 - sum(self.p(x, history[1:]) for x in kept_followers))
            * self.p(word, history[1:])
        )

    def unigram(self, word: str, word_p: float, left: float) -> float:
        if self.counts[(UNK,)]:
            return word_p + left / len(self.vocabulary)
        return left if word == UNK else word_p


def backed_off(
    logs: Mapping[Gram, tuple[float, float]], word: str, history: Gram
) -> tuple[float, int]:
    """log10 p and the length of the n-gram found, from the lines of an ARPA file."""
    if (*history, word) in logs:
        return logs[(*history, word)][0], len(history) + 1
    backoff = logs[history][1] if history in logs else 0.0
    p, length = backed_off(logs, word, history[1:])
    return backoff + p, length
