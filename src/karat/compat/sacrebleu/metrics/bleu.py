"""BLEU with sacreBLEU's arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from karat.compat.sacrebleu.metrics.base import (
    SacreMetric,
    SacreScore,
    Streams,
    cached_metric,
    drop_in_name,
)

if TYPE_CHECKING:
    from karat.arrays import NDArray
    from karat.metrics import ngram


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
    _SHORT: ClassVar[dict[str, str]] = {"eff": "e", "smooth": "s"}

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: str | None = None,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        max_ngram_order: int = 4,
        effective_order: bool = False,
        trg_lang: str = "",
        references: Streams | None = None,
    ) -> None:
        self.lowercase, self.trg_lang = lowercase, trg_lang
        self.smooth_method, self.smooth_value = smooth_method, smooth_value
        self.max_ngram_order, self.effective_order = max_ngram_order, effective_order
        tokenizer = tokenize or self._OF_LANGUAGE.get(trg_lang, self.TOKENIZER_DEFAULT)
        self._tok = "flores101" if tokenizer == "spm" else tokenizer
        super().__init__(references)

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
        return _score_counts(metric, counts, totals, length, closest)

    def _score(self, row: NDArray[Any]) -> BLEUScore:
        metric = self._karat()
        length, closest, *numbers = row.tolist()
        return _score_counts(metric, numbers[: metric.n], numbers[metric.n :], length, closest)

    @staticmethod
    def compute_bleu(
        correct: Sequence[int],
        total: Sequence[int],
        sys_len: int,
        ref_len: int,
        smooth_method: str = "none",
        smooth_value: float | None = None,
        effective_order: bool = False,
        max_ngram_order: int = 4,
    ) -> BLEUScore:
        """Return the score for matches and totals of each order and both lengths."""
        smoothing = smooth_method, smooth_value, bool(effective_order)
        tok = SacreBLEU.TOKENIZER_DEFAULT
        metric = cached_metric("bleu", max_ngram_order, tok, "mixed", *smoothing)
        orders = slice(max_ngram_order)
        return _score_counts(metric, [*correct[orders]], [*total[orders]], sys_len, ref_len)

    @property
    def tokenizer_signature(self) -> str:
        """The name of the tokenizer in signatures."""
        from karat.metrics.signatures import written_tokenizer
        from karat.text.tokens import tokenizer_origin

        return written_tokenizer(self._tok) or f"spm-{tokenizer_origin(self._tok)}"

    def _info(self) -> dict[str, Any]:
        default = self.SMOOTH_DEFAULTS[self.smooth_method]
        value = default if self.smooth_value is None else self.smooth_value
        amount = "" if default is None else f"[{value:.2f}]"
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": self.tokenizer_signature,
            "smooth": f"{self.smooth_method}{amount}",
        }


BLEU = SacreBLEU


def _score_counts(
    metric: ngram.BLEU, counts: list[Any], totals: list[Any], length: int, closest: int
) -> BLEUScore:
    """Return the score of one row: `ngram.BLEU.measure` in plain Python, which is faster here.

    As in sacreBLEU, counts and totals include the amount that add-k adds.
    """
    from karat.arithmetic import exp, log

    amount, shares, halved = metric.smoothed_by or 0.0, [], 1
    bp = 1.0 if length >= closest else exp(1 - closest / length) if length else 0.0
    for n in range(metric.n) if any(counts) else ():
        if metric.smooth == "add-k" and n:
            counts[n], totals[n] = counts[n] + amount, totals[n] + amount
        if not totals[n]:
            break
        halved *= 1 if counts[n] else 2
        unmatched = {"exp": 1 / halved, "floor": amount}.get(metric.smooth, 0.0)
        shares.append((counts[n] or unmatched) / totals[n])
    order = len(shares) or 1 if metric.eff else metric.n
    product = 0.0
    if len(shares) >= order and min(shares[:order]) > 0:
        product = exp(sum(map(log, shares[:order])) / order)
    precisions = [100 * share for share in shares] + [0.0] * (metric.n - len(shares))
    return BLEUScore(100 * bp * product, counts, totals, precisions, bp, length, closest)
