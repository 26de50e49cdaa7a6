"""The public names of `karat.compat`, one line each; see `karat.exports`."""

from karat.compat import bert_score as bert_score
from karat.compat import rouge_scorer as rouge_scorer
from karat.compat import sacrebleu as sacrebleu
from karat.compat.evaluate_modules import evaluate_path as evaluate_path

__all__: list[str]
