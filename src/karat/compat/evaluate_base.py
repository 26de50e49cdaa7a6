"""The base of the modules for HF `evaluate`: what they take, and how it is scored.

A module takes predictions and, for each, one reference or a list of them. Results have the names
that `evaluate` gives them, and a signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import datasets
import evaluate

from karat.compat.sacrebleu.metrics.base import Metric, ScoreT
from karat.metrics.names import METRICS


class KaratModule(evaluate.Metric):  # type: ignore[misc, unused-ignore]
    """A module that scores predictions against one or several references each."""

    title = ""
    """One sentence about the metric."""

    def _info(self) -> Any:
        text = datasets.Value("string")
        kinds = (datasets.Sequence(text), text)
        return evaluate.MetricInfo(
            description=self.title,
            citation="",
            inputs_description="references: a str or a list of str for each prediction",
            features=[datasets.Features({"predictions": text, "references": k}) for k in kinds],
        )


def groups(references: Sequence[str | Sequence[str]]) -> list[list[str]]:
    """Return the references of each prediction as a list."""
    return [[text] if isinstance(text, str) else list(text) for text in references]


def sacrebleu_score(
    metric: Metric[ScoreT], predictions: Sequence[str], references: Sequence[Any]
) -> tuple[ScoreT, str]:
    """Return the score of a metric with sacreBLEU's interface, and its signature."""
    streams = list(zip_longest(*groups(references)))
    score = metric.corpus_score(predictions, streams)
    return score, f"{score.name}|{metric.get_signature()}"


def karat_score(
    name: str, predictions: Sequence[str], references: Sequence[Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the score of a metric of Karat: `score`, its parts and `signature`."""
    score = METRICS[name](**settings).corpus(list(predictions), groups(references))
    return {"score": score.value, **score.parts, "signature": score.signature}
