"""What to ask an assessor next: the undecided pairs whose answers would tell most about the score.

A guess with probability p adds w^2 p (1 - p) to the variance of a run's score, w being what the
nugget weighs there; a pair that several runs submitted is worth the sum. So the pair with the
largest sum narrows the interval most, and the same words are asked about once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.keys import Nugget, Question
from karat.nuggets.runs import Response
from karat.nuggets.sets import NuggetSet

Probabilities: TypeAlias = Callable[[Question, Sequence[Response]], NDArray[np.float64]]
"""From a question and responses to the probability that each response carries each nugget."""


class Ask(NamedTuple):
    """A response and a nugget that nobody has judged."""

    question: Question
    nugget: Nugget
    response: Response
    run: str
    """The first run that submitted it."""
    p: float
    use: float
    """How much the answer would take off the variance of the runs' scores."""


def queue(
    nuggets: NuggetSet, probabilities: Probabilities, *, likely: float | None = None
) -> list[Ask]:
    """The undecided pairs, the most useful first; of equals in the order of the key.

    With `likely`, instead those whose probability is at least that, the most probable first within
    each question: a low threshold for correcting guesses.
    """
    found: dict[tuple[str, str, str], Ask] = {}
    for question in nuggets.key.questions.values():
        for ask in _asks(nuggets, question, probabilities):
            place = question.id, ask.nugget.id, ask.response.normal
            first = found.get(place)
            found[place] = ask if first is None else first._replace(use=first.use + ask.use)
    if likely is None:
        return sorted(found.values(), key=lambda ask: -ask.use)
    order = {id: place for place, id in enumerate(nuggets.key.questions)}
    kept = [ask for ask in found.values() if ask.p >= likely]
    return sorted(kept, key=lambda ask: (order[ask.question.id], -ask.p))


def _asks(nuggets: NuggetSet, question: Question, probabilities: Probabilities) -> list[Ask]:
    known = nuggets.judgements.known
    weight = _weight(question)
    asks = []
    for run in nuggets.runs.values():
        responses = run.responses(question.id)
        if not responses:
            continue
        p = probabilities(question, responses)
        for i, response in enumerate(responses):
            for j, nugget in enumerate(question.nuggets):
                if (question.id, nugget.id, response.normal) not in known:
                    use = float(weight[j] ** 2 * p[i, j] * (1 - p[i, j]))
                    asks.append(Ask(question, nugget, response, run.tag, float(p[i, j]), use))
    return asks


def _weight(question: Question) -> NDArray[np.float64]:
    """What each nugget adds to recall; an okay one counts for its allowance alone, a tenth."""
    vital = np.array([nugget.vital for nugget in question.nuggets])
    return np.where(vital, 1.0, 0.1) / max(int(vital.sum()), 1)
