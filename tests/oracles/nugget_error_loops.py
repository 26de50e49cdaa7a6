"""Errors of guessed scores, in plain loops over lists of numbers.

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


def best(answer: Answer) -> list[float]:
    """Of each nugget."""
    return [max(row[j] for row in answer) for j in range(len(answer[0]))]


def share(answer: Answer) -> float:
    """A."""
    return math.fsum(best(answer)) / len(answer[0])


def f(answer: Answer, question: Question, run: int, beta: float) -> float | None:
    """F of one answer; None without any weight."""
    got = best(answer)
    recall_precision_f = f_beta(
        got, question.weights, 100 * math.fsum(got), question.lengths[run], beta
    )
    return None if recall_precision_f is None else recall_precision_f[2]


def f_micro(answers: dict[int, Answer], questions: list[Question], run: int, beta: float) -> float:
    """F of the sums over a run's answers to questions with weights."""
    got, weights, allowed, length = [], [], 0.0, 0
    for q, answer in answers.items():
        if sum(questions[q].weights):
            answer_values = best(answer)
            got += answer_values
            weights += questions[q].weights
            allowed += 100 * math.fsum(answer_values)
            length += questions[q].lengths[run]
    recall_precision_f = f_beta(got, weights, allowed, length, beta)
    return math.nan if recall_precision_f is None else recall_precision_f[2]


def taken_apart(table: list[list[float]]) -> tuple[float, float, float]:
    """Bias, between and within of errors: runs by questions."""
    means = [math.fsum(row) / len(row) for row in table]
    squares = math.fsum(
        (error - mean) ** 2 for row, mean in zip(table, means, strict=True) for error in row
    )
    within = squares / sum(len(row) - 1 for row in table)
    chance = math.fsum(within / len(row) for row in table) / len(table)
    bias, spread = spread_of(means)
    return bias, max(0.0, spread - chance), within


def spread_of(means: list[float]) -> tuple[float, float]:
    """The mean over runs, and the variance between them."""
    bias = math.fsum(means) / len(means)
    return bias, math.fsum((mean - bias) ** 2 for mean in means) / (len(means) - 1)
