"""BLEU for HF `evaluate`, with the arguments and results of its module `sacrebleu`."""

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Bleu(base.SacrebleuModule):
    """BLEU as sacreBLEU computes it, by Karat."""

    fields = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")

    def _metric(
        self,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        force: bool = False,
        lowercase: bool = False,
        tokenize: str | None = None,
        use_effective_order: bool = False,
    ) -> sacrebleu.BLEU:
        smoothing = smooth_method, smooth_value
        return sacrebleu.BLEU(
            lowercase, force, tokenize, *smoothing, effective_order=use_effective_order
        )
