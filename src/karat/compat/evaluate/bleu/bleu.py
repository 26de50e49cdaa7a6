"""BLEU for HF `evaluate`, with the arguments and results of its module `sacrebleu`."""

from collections.abc import Sequence
from typing import Any

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Bleu(base.KaratModule):
    """BLEU as sacreBLEU computes it."""

    title = "BLEU as sacreBLEU computes it, by Karat."

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        force: bool = False,
        lowercase: bool = False,
        tokenize: str | None = None,
        use_effective_order: bool = False,
    ) -> dict[str, Any]:
        metric = sacrebleu.BLEU(
            lowercase=lowercase,
            force=force,
            tokenize=tokenize,
            smooth_method=smooth_method,
            smooth_value=smooth_value,
            effective_order=use_effective_order,
        )
        bleu, signature = base.sacrebleu_score(metric, predictions, references)
        names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        return {name: getattr(bleu, name) for name in names} | {"signature": signature}
