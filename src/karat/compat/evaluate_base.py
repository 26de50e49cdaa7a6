"""Base classes of the modules for HF `evaluate`.

A module takes predictions, each with one reference or a list of them. Results have the names of
`evaluate`'s own modules, and a signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, ClassVar

import datasets
import evaluate

from karat.metrics.names import METRICS


class KaratModule(evaluate.Metric):  # type: ignore[misc, unused-ignore]
    """A module that scores predictions by the metric `metric_name` of Karat.

    Its arguments are the settings of the metric; its docstring is its description.
    """

    metric_name: ClassVar[str] = ""

    def _info(self) -> Any:
        text = datasets.Value("string")
        kinds = (datasets.Sequence(text), text)
        return evaluate.MetricInfo(
            description=self.__doc__,
            citation="",
            inputs_description="references: a str or a list of str for each prediction",
            features=[datasets.Features({"predictions": text, "references": k}) for k in kinds],
        )

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Any], **settings: Any
    ) -> dict[str, Any]:
        metric = METRICS[self.metric_name](**settings)
        score = metric.corpus(list(predictions), groups(references))
        return {"score": score.value, **score.parts, "signature": score.signature}


class SacrebleuModule(KaratModule):
    """A module with the arguments and results of one that wraps sacreBLEU."""

    fields: ClassVar[tuple[str, ...]] = ()
    """Attributes of sacreBLEU's score to return."""

    _metric: Any = None
    """Makes the metric with sacreBLEU's interface."""

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Any], **settings: Any
    ) -> dict[str, Any]:
        metric = self._metric(**settings)
        score = metric.corpus_score(predictions, list(zip_longest(*groups(references))))
        signature = f"{score.name}|{metric.get_signature()}"
        return {name: getattr(score, name) for name in self.fields} | {"signature": signature}


def groups(references: Sequence[str | Sequence[str]]) -> list[list[str]]:
    """Return the references of each prediction as a list."""
    return [[text] if isinstance(text, str) else list(text) for text in references]
