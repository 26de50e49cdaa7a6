"""The n-gram family AEv for HF `evaluate`: arguments are the settings of `karat metrics aev`."""

from collections.abc import Sequence
from typing import Any

from karat.compat import evaluate_base as base


class Aev(base.KaratModule):
    """The n-gram family AEv: the score, its parts and its signature."""

    title = "The n-gram family AEv, by Karat."

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Any], **settings: Any
    ) -> dict[str, Any]:
        return base.karat_score("aev", predictions, references, settings)
