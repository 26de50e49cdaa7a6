"""The General Text Matcher for HF `evaluate`: arguments are the settings of `karat metrics gtm`."""

from collections.abc import Sequence
from typing import Any

from karat.compat import evaluate_base as base


class Gtm(base.KaratModule):
    """The General Text Matcher: the score, its parts and its signature."""

    title = "The General Text Matcher, by Karat."

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Any], **settings: Any
    ) -> dict[str, Any]:
        return base.karat_score("gtm", predictions, references, settings)
