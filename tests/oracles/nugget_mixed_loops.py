"""Errors of scores of which a part is guessed, in plain loops over lists of numbers.

An answer is responses by nuggets; a run has an answer for each question, of no responses if it gave
none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from oracles.nugget_loops import f_beta

Answer = list[list[float]]


class Question(NamedTuple):
    """What a question counts."""

    weights: list[float]
    lengths: list[int]
    """Of each run's answer."""


def spread(question: int) -> int:
    """floor(8 x) mod 8 of x = question (sqrt(5) - 1) / 2, in whole numbers."""
    return (math.isqrt(320 * question * question) - 8 * question) // 2 % 8


def scattered(question: int, cell: int) -> int:
    """The three first bits of splitmix64."""
    x = (question * 2**32 + cell + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x // 2**30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x // 2**27) * 0x94D049BB133111EB % 2**64
    return (x ^ x // 2**31) // 2**61


def hidden(question: int, cell: int, questions: int, pairs: int, step: int) -> bool:
    """Whether a mask hides the pair with this number in its answer; parts in eighths."""
    answer, pair = spread(question), scattered(question, cell)
    return (answer + step) % 8 < questions and (pair + 3 * step) % 8 < pairs


def mixed(guess: Answer, told: Answer, q: int, part: tuple[int, int], step: int) -> Answer:
    """Guesses where the mask hides, else what was judged."""
    wide = len(told[0]) if told else 0
    return [
        [guess[i][j] if hidden(q, i * wide + j, *part, step) else told[i][j] for j in range(wide)]
        for i in range(len(told))
    ]


def best(answer: Answer) -> list[float]:
    """Of each nugget."""
    return [max(row[j] for row in answer) for j in range(len(answer[0]))]


def share(answer: Answer) -> float:
    """A."""
    return math.fsum(best(answer)) / len(answer[0])


def f(answer: Answer, question: Question, run: int, beta: float) -> float | None:
    """F of one answer; None without any weight."""
    got = best(answer)
    found = f_beta(got, question.weights, 100 * math.fsum(got), question.lengths[run], beta)
    return None if found is None else found[2]


def f_micro(answers: dict[int, Answer], questions: list[Question], run: int, beta: float) -> float:
    """F of the sums over a run's answers to questions with weights."""
    got, weights, allowed, length = [], [], 0.0, 0
    for q, answer in answers.items():
        if sum(questions[q].weights):
            mine = best(answer)
            got += mine
            weights += questions[q].weights
            allowed += 100 * math.fsum(mine)
            length += questions[q].lengths[run]
    found = f_beta(got, weights, allowed, length, beta)
    return math.nan if found is None else found[2]


def taken_apart(tables: list[list[list[float]]]) -> tuple[float, float, float]:
    """Bias, between and within of errors: masks by runs by questions."""
    runs = len(tables[0])
    means = [[math.fsum(row) / len(row) for row in table] for table in tables]
    squares = math.fsum(
        (error - mean) ** 2
        for table, some in zip(tables, means, strict=True)
        for row, mean in zip(table, some, strict=True)
        for error in row
    )
    within = squares / sum(len(row) - 1 for table in tables for row in table)
    chance = math.fsum(within / len(row) for row in tables[0]) / runs
    bias, spread = spread_of(means)
    return bias, max(0.0, spread - chance), within


def spread_of(means: list[list[float]]) -> tuple[float, float]:
    """The mean of masks by runs; variance between runs, and of a mask's mean."""
    each = [math.fsum(some) / len(some) for some in means]
    bias = math.fsum(each) / len(each)
    between = [
        math.fsum((mean - middle) ** 2 for mean in some) / (len(some) - 1)
        for some, middle in zip(means, each, strict=True)
    ]
    masks = math.fsum((middle - bias) ** 2 for middle in each) / len(each)
    return bias, math.fsum(between) / len(between) + masks
