"""The paraphraser's search by listing everything: all ways to cut a sentence and to rewrite it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import log10
from typing import NamedTuple

Rewrites = Mapping[str, Mapping[str, int]]
Words = tuple[str, ...]


class Derivation(NamedTuple):
    """What is written, log10 of the rewrites' probabilities, and how many words have changed."""

    words: Words
    log10_p: float
    changes: int


def changed(a: Words, b: Words) -> int:
    """The words that either has more of than the other: the larger number."""
    left_counts, right_counts = Counter(a), Counter(b)
    return max((left_counts - right_counts).total(), (right_counts - left_counts).total())


def derivations(rewrites: Rewrites, words: Words) -> Iterator[Derivation]:
    """All ways to keep words and to rewrite phrases."""
    if not words:
        yield Derivation((), 0.0, 0)
        return
    for rest in derivations(rewrites, words[1:]):
        yield rest._replace(words=(words[0], *rest.words))
    for n in range(1, len(words) + 1):
        phrase_rewrites = rewrites.get(" ".join(words[:n]), {})
        for text, count in phrase_rewrites.items():
            new = tuple(text.split())
            p = log10(count / sum(phrase_rewrites.values()))
            for rest in derivations(rewrites, words[n:]):
                changes = changed(words[:n], new) + rest.changes
                yield Derivation((*new, *rest.words), p + rest.log10_p, changes)


def ranked(
    rewrites: Rewrites,
    sentence: str,
    lm: Callable[[str], float],
    weight: float,
    classes: int,
) -> dict[int, dict[Words, float]]:
    """For each class of changed words what may be written, with the best score of any way to it."""
    original = tuple(sentence.split())
    word = -lm(sentence) / (len(original) + 1)
    scores_by_class: dict[int, dict[Words, float]] = {}
    for derivation in derivations(rewrites, original):
        score = (
            lm(" ".join(derivation.words))
            + weight * derivation.log10_p
            + len(derivation.words) * word
        )
        best = scores_by_class.setdefault(min(derivation.changes, classes), {})
        best[derivation.words] = max(score, best.get(derivation.words, score))
    return scores_by_class


def outputs(scores_by_class: dict[int, dict[Words, float]], original: str) -> set[Words]:
    """All that may be written, but the original."""
    return {words for best in scores_by_class.values() for words in best} - {
        tuple(original.split())
    }
