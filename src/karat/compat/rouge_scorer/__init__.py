"""rouge-score's scorer, counted by Karat's kernel: ROUGE-N, ROUGE-L and ROUGE-Lsum of one text.

from karat.compat import rouge_scorer

rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=True).score(target, prediction)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from karat.compat.rouge_scorer import scoring, tokenizers
from karat.compat.rouge_scorer.scoring import BaseScorer, RougeTextScore, fmeasure
from karat.compat.rouge_scorer.tokenizers import DefaultTokenizer
from karat.errors import InputError, MissingExtra, quoted

if TYPE_CHECKING:
    from karat.metrics.rouge import Rouge

__all__ = ["RougeScorer", "lcs_ind", "rouge_scorer", "scoring", "tokenizers"]

_BATCH = 1000  # texts scored at once

rouge_scorer = sys.modules[__name__]
"""rouge-score's module of this name, so that `from karat.compat.rouge_scorer import rouge_scorer`
works, with `rouge_score` replaced by `karat.compat.rouge_scorer`."""
sys.modules[f"{__name__}.rouge_scorer"] = rouge_scorer


class RougeScorer(BaseScorer):
    """Scores of a prediction against one target or the best of several.

    `tokenizer` has a method `tokenize(text)`; without one, tokens are lower-cased runs of a-z and
    0-9, stemmed if `use_stemmer`. With `split_summaries`, NLTK finds the sentences of ROUGE-Lsum.
    """

    def __init__(
        self,
        rouge_types: Sequence[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Any = None,
    ) -> None:
        self.rouge_types = rouge_types
        self._tokenizer = tokenizer or DefaultTokenizer(use_stemmer)
        self._split_summaries = split_summaries

    def score(self, target: str, prediction: str) -> dict[str, RougeTextScore]:
        """Return the scores of each type against one target."""
        return self.score_multi([target], prediction)

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, RougeTextScore]:
        """Return the scores of each type against the target with the best F."""
        if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
            raise InputError(f"targets is {type(targets).__name__}, expected a list of str")
        texts = list(targets)
        if not texts:
            raise InputError("targets is empty: at least one is needed")
        for name, text in (("prediction", prediction), *(("target", text) for text in texts)):
            if not isinstance(text, str):
                raise InputError(f"{name} is {type(text).__name__}, expected str")
        scores = self._scores(texts, prediction)
        return {  # the first of equal ones
            name: max(rows, key=lambda score: score.fmeasure) for name, rows in scores.items()
        }

    def score_all(
        self, targets: Sequence[str], predictions: Sequence[str]
    ) -> list[dict[str, RougeTextScore]]:
        """Return the scores of many predictions, each against its target; faster than one by one.

        rouge-score has no such method.
        """
        if len(targets) != len(predictions):
            counts = f"{len(targets):,} targets and {len(predictions):,} predictions"
            raise InputError(f"{counts}: they must be equal")
        rows: list[dict[str, RougeTextScore]] = []
        for start in range(0, len(targets), _BATCH):
            batch = slice(start, start + _BATCH)
            scores = self._scores(targets[batch], predictions[batch])
            rows += [{name: scores[name][i] for name in scores} for i in range(len(targets[batch]))]
        return rows

    def _scores(
        self, targets: Sequence[str], prediction: str | Sequence[str]
    ) -> dict[str, list[RougeTextScore]]:
        """Return the scores of each type for one prediction, or for one prediction per target."""
        names = list(dict.fromkeys(self.rouge_types))
        split = [name for name in names if self._split_summaries and name == "rougeLsum"]
        scores = self._counted([name for name in names if name not in split], targets, prediction)
        if split:
            sentences: str | list[str] = (
                _sentences(prediction)
                if isinstance(prediction, str)
                else [*map(_sentences, prediction)]
            )
            scores |= self._counted(split, [*map(_sentences, targets)], sentences)
        return {name: scores[name] for name in names}

    def _counted(
        self, names: list[str], targets: Sequence[str], prediction: str | Sequence[str]
    ) -> dict[str, list[RougeTextScore]]:
        if not names:
            return {}
        from karat.compat.one_segment import pairs_of

        is_default = type(self._tokenizer) is DefaultTokenizer
        metrics = _metrics(tuple(names), self._tokenizer.stem if is_default else "none")
        tokenize = None if is_default else self._tokenizer.tokenize
        pairs = pairs_of(metrics, prediction, targets, tokenize)
        scores: dict[str, list[RougeTextScore]] = {}
        for name, metric in zip(names, metrics, strict=True):
            counts = zip(*(column.tolist() for column in metric.hits(pairs)), strict=False)
            shares = [(hits / max(c, 1), hits / max(t, 1)) for hits, c, t in counts]
            scores[name] = [RougeTextScore(p, r, fmeasure(p, r)) for p, r in shares]
        return scores


def lcs_ind(ref: Sequence[Any], can: Sequence[Any]) -> list[int]:
    """Return the positions in `ref` of a longest common subsequence, the one of rouge-score."""
    lengths = [[0] * (len(can) + 1)]
    for token in ref:
        above, row = lengths[-1], [0]
        for j, other in enumerate(can):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        lengths.append(row)
    positions, i, j = [], len(ref), len(can)
    while i and j:
        if ref[i - 1] == can[j - 1]:
            i, j = i - 1, j - 1
            positions.append(i)
        elif lengths[i][j - 1] > lengths[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return positions[::-1]


@lru_cache(maxsize=32)
def _metrics(names: tuple[str, ...], stem: str) -> tuple[Rouge, ...]:
    """Return the metrics of rouge types."""
    from karat.metrics.rouge import RougeL, RougeLsum, RougeN

    metrics: list[Rouge] = []
    for name in names:
        if name in ("rougeL", "rougeLsum"):
            metrics.append((RougeL if name == "rougeL" else RougeLsum)(stem=stem))
        elif re.fullmatch("rouge[1-9]", name):
            metrics.append(RougeN(n=int(name[5:]), stem=stem))
        else:
            expected = "expected rouge1 to rouge9, rougeL or rougeLsum"
            raise InputError(f"rouge type {quoted(name)}: {expected}")
    return tuple(metrics)


def _sentences(text: str) -> str:
    """Return the sentences that NLTK finds, one per line."""
    try:
        import nltk
    except ImportError as error:
        requirement = "split_summaries needs the package nltk and its data punkt_tab"
        raise MissingExtra(f"{requirement}: pip install nltk") from error
    try:
        return "\n".join(nltk.sent_tokenize(text))
    except LookupError as error:
        advice = "run nltk.download('punkt_tab'), or put a line feed between sentences yourself"
        raise InputError(f"split_summaries: NLTK has no data punkt_tab here; {advice}") from error
