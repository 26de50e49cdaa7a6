"""chrF for HF `evaluate`, with the arguments and results of its module `chrf`."""

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Chrf(base.SacrebleuModule):
    """chrF and chrF++ as sacreBLEU computes them, by Karat."""

    fields = ("score", "char_order", "word_order", "beta")
    _metric = sacrebleu.CHRF
