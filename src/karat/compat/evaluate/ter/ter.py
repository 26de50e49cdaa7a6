"""Translation edit rate for HF `evaluate`, with the arguments and results of its module `ter`."""

from collections.abc import Sequence
from typing import Any

from karat.compat import evaluate_base as base
from karat.compat import sacrebleu


class Ter(base.KaratModule):
    """Translation edit rate as sacreBLEU computes it."""

    title = "Translation edit rate as sacreBLEU computes it, by Karat."

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> dict[str, Any]:
        metric = sacrebleu.TER(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        ter, signature = base.sacrebleu_score(metric, predictions, references)
        names = ("score", "num_edits", "ref_length")
        return {name: getattr(ter, name) for name in names} | {"signature": signature}
