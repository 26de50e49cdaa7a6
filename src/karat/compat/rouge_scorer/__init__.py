"""rouge-score's scorer, counted by Karat's kernel.

from karat.compat import rouge_scorer

rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True).score(target, prediction)
"""

from karat.compat.rouge_scorer import scoring, tokenizers
from karat.compat.rouge_scorer.scorer import RougeScorer

__all__ = ["RougeScorer", "scoring", "tokenizers"]
