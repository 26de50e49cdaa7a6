"""BLEU with sacreBLEU's arguments and results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from karat.compat.sacrebleu.metrics.base import (
    SacreMetric,
    SacreScore,
    Signature,
    Streams,
    WrongChoice,
    cached_metric,
    drop_in_name,
    sacrelogger,
)
from karat.compat.sacrebleu.tokenizers import PACKAGED, TOKENIZERS, BaseTokenizer
from karat.errors import quoted

if TYPE_CHECKING:
    from karat.metrics import ngram


__all__ = ["BLEU", "MAX_NGRAM_ORDER", "BLEUScore", "BLEUSignature", "my_log", "sacrelogger"]

MAX_NGRAM_ORDER = 4
"""The longest n-grams by default."""


class BLEUScore(SacreScore):
    """A BLEU score and its parts."""

    def __init__(
        self,
        score: float,
        counts: list[Any],
        totals: list[Any],
        precisions: list[float],
        bp: float,
        sys_len: int,
        ref_len: int,
    ) -> None:
        super().__init__("BLEU", score)
        self.counts, self.totals, self.precisions = counts, totals, precisions
        self.bp, self.sys_len, self.ref_len = bp, sys_len, ref_len
        self.prec_str = "/".join(f"{p:.1f}" for p in precisions)
        self.ratio = sys_len / ref_len if ref_len else 0
        self._verbose = (
            f"{self.prec_str} (BP = {bp:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {sys_len:d} ref_len = {ref_len:d})"
        )


class BLEUSignature(Signature):
    """The settings of a BLEU metric."""

    _abbreviations: ClassVar[dict[str, str]] = {"eff": "e", "smooth": "s"}

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        default = SacreBLEU.SMOOTH_DEFAULTS[args["smooth_method"]]
        value = default if args["smooth_value"] is None else args["smooth_value"]
        amount = "" if default is None else f"[{value:.2f}]"
        self.info |= {
            "case": "lc" if args["lowercase"] else "mixed",
            "eff": "yes" if args["effective_order"] else "no",
            "tok": args["tokenizer_signature"],
            "smooth": f"{args['smooth_method']}{amount}",
        }


@drop_in_name("BLEU")
class SacreBLEU(SacreMetric[BLEUScore]):
    """BLEU of hypotheses against references."""

    SMOOTH_DEFAULTS: ClassVar[dict[str, float | None]] = {
        "none": None,
        "floor": 0.1,
        "add-k": 1,
        "exp": None,
    }
    TOKENIZER_DEFAULT = "13a"
    TOKENIZERS: ClassVar[tuple[str, ...]] = (
        *("none", "zh", "13a", "intl", "char", "ja-mecab", "ko-mecab"),
        *("spm", "flores101", "flores200", "spBLEU-1K"),
    )
    _OF_LANGUAGE: ClassVar[dict[str, str]] = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
    _SIGNATURE_TYPE: ClassVar[type[Signature]] = BLEUSignature

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = MAX_NGRAM_ORDER,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Streams | None = None,
    ) -> None:
        self.lowercase, self.trg_lang = lowercase, trg_lang
        self.smooth_method, self.smooth_value = smooth_method, smooth_value
        self.max_ngram_order, self.effective_order = max_ngram_order, effective_order
        tokenizer = tokenize or self._OF_LANGUAGE.get(trg_lang, self.TOKENIZER_DEFAULT)
        self._tok = "flores101" if tokenizer == "spm" else tokenizer
        super().__init__()
        self._prepare(references)

    def _check_settings(self) -> None:
        check_smoothing(self.smooth_method)
        if self._tok in PACKAGED:
            TOKENIZERS[self._tok]()  # raises an error if its package or its model is missing
        super()._check_settings()

    @property
    def tokenizer(self) -> BaseTokenizer:
        """The tokenizer with this name."""
        return TOKENIZERS[self._tok]()

    def _karat(self) -> ngram.BLEU:
        case = "lower" if self.lowercase else "mixed"
        smoothing = self.smooth_method, self.smooth_value, bool(self.effective_order)
        metric: ngram.BLEU = cached_metric(
            "bleu", self.max_ngram_order, self._tok, case, *smoothing
        )
        return metric

    def sentence_score(self, hypothesis: str, references: Sequence[str]) -> BLEUScore:
        """Return the score of one sentence against its references."""
        from karat.compat.one_segment import pairs_of

        texts, metric = self._take_sentence(hypothesis, references), self._karat()
        pairs = pairs_of([metric], hypothesis, texts)
        length = len(pairs.candidates.tokens(metric.recipe).ids)
        ends = pairs.references.tokens(metric.recipe).offsets.tolist()
        reference_lengths = [end - start for start, end in pairwise(ends)]
        closest = min(reference_lengths, key=lambda other: (abs(other - length), other))
        counts = pairs.matches(metric.recipe, metric.n).clipped[0].tolist()
        totals = [max(length - n, 0) for n in range(metric.n)]
        return self._score([length, closest, *counts, *totals])

    def _score(self, sums: list[Any]) -> BLEUScore:
        length, closest, *numbers = sums
        n = self.max_ngram_order
        smoothing = self.smooth_method, self.smooth_value, self.effective_order
        return self.compute_bleu(numbers[:n], numbers[n:], length, closest, *smoothing, n)

    def _value(self, sums: list[Any]) -> float:
        return self._smoothed_value(sums, self.smooth_value)

    def _exchanged_value(self, sums: list[Any]) -> float:
        amount = self.smooth_value
        if amount is not None and self.smooth_method == "add-k":
            amount = math.floor(amount)  # sacreBLEU adds it to an array of whole numbers
        return self._smoothed_value(sums, amount)

    def _smoothed_value(self, sums: list[Any], amount: float | None) -> float:
        n = self.max_ngram_order
        correct, total = sums[2 : 2 + n], sums[2 + n :]
        bp = _brevity_penalty(int(sums[0]), int(sums[1]))
        smoothing = self.smooth_method, amount, self.effective_order
        return _smoothed_bleu(correct, total, bp, *smoothing)[0]

    @staticmethod
    def compute_bleu(
        correct: Sequence[int],
        total: Sequence[int],
        sys_len: int,
        ref_len: int,
        smooth_method: str = "none",
        smooth_value: float | None = None,
        effective_order: bool = False,
        max_ngram_order: int = MAX_NGRAM_ORDER,
    ) -> BLEUScore:
        """Return the score for matches and totals of each order and both lengths."""
        check_smoothing(smooth_method)
        correct, total = [*correct[:max_ngram_order]], [*total[:max_ngram_order]]
        bp = _brevity_penalty(sys_len, ref_len)
        smoothing = smooth_method, smooth_value, effective_order
        score, precisions = _smoothed_bleu(correct, total, bp, *smoothing)
        return BLEUScore(score, correct, total, precisions, bp, sys_len, ref_len)

    @property
    def tokenizer_signature(self) -> str:
        """The name of the tokenizer in signatures."""
        from karat.metrics.signatures import written_tokenizer
        from karat.text.tokens import tokenizer_origin

        return written_tokenizer(self._tok) or f"spm-{tokenizer_origin(self._tok)}"


BLEU = SacreBLEU


def _smoothed_bleu(
    correct: list[Any],
    total: list[Any],
    bp: float,
    smooth_method: str,
    smooth_value: float | None,
    effective_order: bool,
) -> tuple[float, list[Any]]:
    """Return BLEU and its precisions by sacreBLEU's operations, in its order.

    As in sacreBLEU, `add-k` adds to the numbers of matches and n-grams in place.
    """
    precisions = [0.0] * len(correct)
    if not any(correct):
        return 0.0, precisions
    amount: Any = SacreBLEU.SMOOTH_DEFAULTS[smooth_method] if smooth_value is None else smooth_value
    order, halved = len(correct), 1.0
    for n in range(len(correct)):
        if smooth_method == "add-k" and n:
            correct[n], total[n] = correct[n] + amount, total[n] + amount
        if total[n] == 0:
            break
        if effective_order:
            order = n + 1
        if correct[n] != 0:
            precisions[n] = 100.0 * correct[n] / total[n]
        elif smooth_method == "exp":
            halved *= 2
            precisions[n] = 100.0 / (halved * total[n])
        elif smooth_method == "floor":
            precisions[n] = 100.0 * amount / total[n]
    mean = sum([my_log(p) for p in precisions[:order]]) / order
    return bp * math.exp(mean), precisions


def check_smoothing(method: str) -> None:
    """Raise an error for an unknown smoothing method."""
    if method not in SacreBLEU.SMOOTH_DEFAULTS:
        close = get_close_matches(str(method), SacreBLEU.SMOOTH_DEFAULTS, 1)
        advice = f"did you mean {close[0]}?" if close else "expected exp, floor, add-k or none"
        raise WrongChoice(f"smooth_method={quoted(method)}: {advice}")


def my_log(num: float) -> float:
    """Return the logarithm of a number, and a very small number for 0."""
    return -9999999999 if num == 0.0 else math.log(num)


def _brevity_penalty(length: int, closest: int) -> float:
    """Return the penalty for outputs that are shorter than the references."""
    if length >= closest:
        return 1.0
    return math.exp(1 - closest / length) if length > 0 else 0.0
