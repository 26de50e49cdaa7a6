"""ROUGE as a baseline: an answer as a whole against the key's nuggets as one reference."""

from __future__ import annotations

import math
from typing import NamedTuple

from karat.metrics.names import metric
from karat.nuggets.sets.keys import Key
from karat.nuggets.sets.runs import Run

DEFAULT = "rouge1:stem=porter-nltk"
WITHOUT_STOP_WORDS = "rouge1:stem=porter-nltk,stop=en"
"""The paper's two variants, `default` and `stop`."""


class RougeScore(NamedTuple):
    """A run's mean over questions, and the score of each."""

    run: str
    value: float
    questions: dict[str, float]


def score_rouge(run: Run, key: Key, name: str = DEFAULT) -> RougeScore:
    """Score answers by any metric against all descriptions of all nuggets as one text.

    No response is an empty answer.
    """
    answers = ["\n".join(some.text for some in run.responses(id)) for id in key.questions]
    nuggets = (question.nuggets for question in key.questions.values())
    references = ["\n".join(text for n in some for text in n.descriptions) for some in nuggets]
    values = metric(name).segments(answers, references, threads=1).tolist()
    by_question = dict(zip(key.questions, values, strict=True))
    return RougeScore(run.tag, math.fsum(values) / len(values), by_question)
