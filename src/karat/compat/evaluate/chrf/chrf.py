"""chrF for HF `evaluate`, with the arguments and results of its module `chrf`."""

from collections.abc import Sequence
from typing import Any

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Chrf(base.KaratModule):
    """chrF and chrF++ as sacreBLEU computes them."""

    title = "chrF and chrF++ as sacreBLEU computes them, by Karat."

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> dict[str, Any]:
        metric = sacrebleu.CHRF(char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
        chrf, signature = base.sacrebleu_score(metric, predictions, references)
        names = ("score", "char_order", "word_order", "beta")
        return {name: getattr(chrf, name) for name in names} | {"signature": signature}
