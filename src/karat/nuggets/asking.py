"""What to ask an assessor next: the undecided pairs whose answers would tell most about the score.

A run has a nugget if any of its responses carries it. Let p be the probability that one of them
does, q that no other response of the run does, and w what the nugget weighs in the run's recall.
Having the nugget or not adds v = w^2 r (1 - r) to the variance of that recall, r = 1 - (1 - p) q;
an answer "yes" leaves none of it, a "no" leaves w^2 q (1 - q), so that on average it takes

    v - (1 - p) w^2 q (1 - q)  =  w^2 p (1 - p) q^2

off. A response that several runs submitted is worth the sum over them, and is asked about once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.nuggets.judgements import Judgements
from karat.nuggets.keys import Nugget, Question
from karat.nuggets.runs import Response, Run
from karat.nuggets.sets import NuggetSet
from karat.progress import Progress, silent

Floats = NDArray[np.float64]

Probabilities: TypeAlias = Callable[[Question, Sequence[Response]], Floats]
"""From a question and responses to the probability that each response carries each nugget.

This is where a classifier is plugged in.
"""

OKAY = 0.1
"""What an okay nugget weighs beside a vital one: it adds to the allowance alone."""


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
    nuggets: NuggetSet,
    probabilities: Probabilities,
    *,
    likely: float | None = None,
    progress: Progress = silent,
) -> list[Ask]:
    """The undecided pairs, the most useful first; of equals in the order of the key.

    With `likely`, instead those whose probability is at least that, the most probable first within
    each question: a low threshold for correcting guesses.
    """
    found: list[Ask] = []
    for done, question in enumerate(nuggets.key.questions.values(), 1):
        asks = _of_question(nuggets, question, probabilities)
        if likely is not None:
            asks = sorted((ask for ask in asks if ask.p >= likely), key=lambda ask: -ask.p)
        found += asks
        progress(done, len(nuggets.key), "looking for pairs")
    return found if likely is not None else sorted(found, key=lambda ask: -ask.use)


def _of_question(nuggets: NuggetSet, question: Question, probabilities: Probabilities) -> list[Ask]:
    """Each pair once, in the order of the runs, their responses and the key."""
    found: dict[tuple[str, str], Ask] = {}
    for run in nuggets.runs.values():
        for ask in _of_run(run, question, nuggets.judgements, probabilities):
            place = ask.response.normal, ask.nugget.id
            first = found.get(place)
            found[place] = ask if first is None else first._replace(use=first.use + ask.use)
    return list(found.values())


def _of_run(
    run: Run, question: Question, judgements: Judgements, probabilities: Probabilities
) -> list[Ask]:
    """The pairs of one run that nobody judged."""
    responses = _distinct(run.responses(question.id))
    if not responses:
        return []
    p = _checked(probabilities(question, responses), question, len(responses))
    known = _known(question, responses, judgements)
    # In F, support in part is support.
    decided = np.where(np.isnan(known), p, (known > 0).astype(np.float64))
    use = weight(question) ** 2 * p * (1 - p) * none_of_the_others(decided) ** 2
    return [
        Ask(question, question.nuggets[j], responses[i], run.tag, float(p[i, j]), float(use[i, j]))
        for i, j in np.argwhere(np.isnan(known)).tolist()
    ]


def _distinct(responses: Sequence[Response]) -> list[Response]:
    """The same words once; none at all carry nothing, and are not asked about."""
    found: dict[str, Response] = {}
    for response in responses:
        found.setdefault(response.normal, response)
    found.pop("", None)
    return list(found.values())


def _known(question: Question, responses: Sequence[Response], judgements: Judgements) -> Floats:
    """Responses by nuggets: what was judged, else NaN."""
    texts = [response.normal for response in responses]
    table = judgements.known
    return np.array(
        [[table.get((question.id, n.id, text), np.nan) for n in question.nuggets] for text in texts]
    )


def _checked(p: Floats, question: Question, responses: int) -> Floats:
    found = np.asarray(p, dtype=np.float64)
    shape = responses, len(question.nuggets)
    if found.shape != shape or not ((found >= 0) & (found <= 1)).all():
        raise InputError(
            f"found probabilities of the shape {found.shape} for question {question.id}, expected "
            f"{shape}, responses by nuggets, each from 0 to 1"
        )
    return found


def none_of_the_others(p: Floats) -> Floats:
    """q: for each row the product of 1 - p over the other rows."""
    without = np.ones((len(p) + 1, *p.shape[1:]))
    before, after = without.copy(), without
    np.cumprod(1 - p, axis=0, out=before[1:])
    np.cumprod(1 - p[::-1], axis=0, out=after[1:])
    product: Floats = before[:-1] * after[-2::-1]
    return product


def weight(question: Question) -> Floats:
    """w: what each nugget adds to recall; nothing where no nugget is vital, and nothing scored."""
    vital = np.array([nugget.vital for nugget in question.nuggets], dtype=np.bool_)
    if not vital.any():
        return np.zeros(len(vital))
    return np.where(vital, 1.0, OKAY) / int(vital.sum())
