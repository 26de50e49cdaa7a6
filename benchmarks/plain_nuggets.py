"""Nuggeteer's classifier in plain Python, as a baseline for Karat.

Two versions: `as_it_reads` splits every response into n-grams for every nugget, as in the formula;
`tuned` makes the n-grams of a response once and looks each up in a table of the question. Both give
the same scores as Karat, on words cut by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import log

Gram = tuple[str, ...]
Question = tuple[Sequence[str], Sequence[str]]
"""The descriptions of its nuggets, and the responses."""

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Lower-case runs of letters and digits."""
    return _WORD.findall(text.lower())


def grams(text: list[str], n: int) -> Iterator[Gram]:
    """All n-grams of lengths 1 to n."""
    for k in range(1, n + 1):
        for i in range(len(text) - k + 1):
            yield tuple(text[i : i + k])


def idf_of(questions: Sequence[Question]) -> defaultdict[str, float]:
    """log((N + 1) / (c + 1/2)) over the responses."""
    counts: Counter[str] = Counter()
    total = 0
    for _, responses in questions:
        for response in responses:
            counts.update(set(words(response)))
            total += 1
    unseen = log((total + 1) / 0.5)
    idf = {word: log((total + 1) / (count + 0.5)) for word, count in counts.items()}
    return defaultdict(lambda: unseen, idf)


def as_it_reads(questions: Sequence[Question], n: int) -> list[float]:
    """Every response by every nugget."""
    idf = idf_of(questions)
    scores = []
    for descriptions, responses in questions:
        keys = [set(grams(words(text), n)) for text in descriptions]
        for response in responses:
            tokens = words(response)
            for key in keys:
                score = 0.0
                for gram in grams(tokens, n):
                    if gram in key:
                        have = sum(gram in other for other in keys)
                        score += sum(idf[word] for word in gram) * (1 - have / len(keys))
                scores.append(score)
    return scores


def tuned(questions: Sequence[Question], n: int) -> list[float]:
    """One look-up for every n-gram of a response."""
    idf = idf_of(questions)
    scores: list[float] = []
    for descriptions, responses in questions:
        places: defaultdict[Gram, list[int]] = defaultdict(list)
        for g, text in enumerate(descriptions):
            for gram in set(grams(words(text), n)):
                places[gram].append(g)
        size = len(descriptions)
        values = {
            gram: sum(idf[word] for word in gram) * (1 - len(holders) / size)
            for gram, holders in places.items()
        }
        for response in responses:
            row = [0.0] * size
            for gram in grams(words(response), n):
                if gram in values:
                    for g in places[gram]:
                        row[g] += values[gram]
            scores += row
    return scores
