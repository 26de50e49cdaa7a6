"""ROUGE for HF `evaluate`, with the arguments and results of its module `rouge`."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from karat.compat import evaluate_base as base
from karat.compat import rouge_scorer


class EvaluateRouge(base.KaratModule):
    """ROUGE as rouge-score computes it, by Karat."""

    def _compute(  # type: ignore[override]
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        rouge_types: Sequence[str] | None = None,
        use_aggregator: bool = True,
        use_stemmer: bool = False,
        tokenizer: Callable[[str], list[str]] | None = None,
    ) -> dict[str, Any]:
        names = list(rouge_types or ("rouge1", "rouge2", "rougeL", "rougeLsum"))
        cutter = SimpleNamespace(tokenize=tokenizer) if tokenizer else None
        scorer = rouge_scorer.RougeScorer(names, use_stemmer, tokenizer=cutter)
        pairs = zip(predictions, base.groups(references), strict=True)
        scores = [scorer.score_multi(group, text) for text, group in pairs]
        values = {name: [score[name].fmeasure for score in scores] for name in names}
        if not use_aggregator:
            return dict(values)
        return {name: sum(fmeasures) / len(fmeasures) for name, fmeasures in values.items()}
