"""Answer metrics and repeated answers, slow and obvious."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from statistics import fmean, variance

ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
ARTICLES = {"a", "an", "the"}


def is_word_character(char: str) -> bool:
    """Whether `\\w` of Python matches it."""
    return char.isalnum() or char == "_"


def squad_words(text: str) -> list[str]:
    """Words as SQuAD normalises them: an article is a whole run of word characters."""
    kept = "".join(char for char in text.lower() if char not in ASCII_PUNCTUATION)
    runs: list[str] = []  # runs of word characters and of others
    for char in kept:
        if runs and is_word_character(runs[-1][-1]) == is_word_character(char):
            runs[-1] += char
        else:
            runs.append(char)
    return "".join(" " if run in ARTICLES else run for run in runs).split()


def references_that_count(references: list[str]) -> list[list[str]]:
    """The words of references; those without words only if there are no others."""
    words = [squad_words(reference) for reference in references]
    return [w for w in words if w] or [[]]


def exact_match(candidate: str, references: list[str]) -> int:
    words = squad_words(candidate)
    return int(any(words == reference for reference in references_that_count(references)))


def word_f1(candidate: str, references: list[str]) -> float:
    words = squad_words(candidate)
    return max(_f1(words, reference) for reference in references_that_count(references))


def _f1(words: list[str], reference: list[str]) -> float:
    if not words or not reference:
        return float(words == reference)
    left, common = Counter(reference), 0
    for word in words:
        if left[word] > 0:
            left[word] -= 1
            common += 1
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(reference)
    return (2 * precision * recall) / (precision + recall)


def contains(candidate: str, references: list[str]) -> int:
    """Whether the words of a reference are a run of the candidate's, by joined strings."""
    words = squad_words(candidate)
    padded = " " + " ".join(words) + " "
    return int(
        any(
            f" {' '.join(reference)} " in padded if reference else not words
            for reference in references_that_count(references)
        )
    )


# ------------------------------------------------------------------------- repeated answers


def pass_at_k(correct: int, answers: int, k: int) -> Fraction:
    return 1 - Fraction(comb(answers - correct, k), comb(answers, k))


def pass_all_k(correct: int, answers: int, k: int) -> Fraction:
    return Fraction(comb(correct, k), comb(answers, k))


def share_of_draws(correct: int, answers: int, k: int, needed: int) -> Fraction:
    """The share of all draws of k answers that have at least `needed` right ones."""
    outcomes = [i < correct for i in range(answers)]
    draws = list(combinations(outcomes, k))
    return Fraction(sum(sum(draw) >= needed for draw in draws), len(draws))


def components(groups: list[list[float]]) -> tuple[float, float]:
    """Variance between and within groups of one size, by one-way analysis of variance."""
    size = len(groups[0])
    within = fmean(variance(group) for group in groups)
    between_squares = size * variance([fmean(group) for group in groups])
    return max(0.0, (between_squares - within) / size), within


def mcnemar(first_only: int, second_only: int) -> Fraction:
    """Twice the probability of as few or fewer, at most 1, by the whole distribution."""
    trials = first_only + second_only
    chances = [Fraction(comb(trials, i), 2**trials) for i in range(trials + 1)]
    tail = sum(chances[: min(first_only, second_only) + 1], Fraction(0))
    return min(Fraction(1), 2 * tail)
