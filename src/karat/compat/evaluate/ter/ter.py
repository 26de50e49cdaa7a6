"""Translation edit rate for HF `evaluate`, with the arguments and results of its module `ter`."""

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Ter(base.SacrebleuModule):
    """Translation edit rate as sacreBLEU computes it, by Karat."""

    fields = ("score", "num_edits", "ref_length")

    def _metric(
        self,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> sacrebleu.TER:
        return sacrebleu.TER(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
