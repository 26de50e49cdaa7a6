"""chrF and chrF++ with sacreBLEU's arguments and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from karat.compat.sacrebleu.metrics.base import (
    SacreMetric,
    SacreScore,
    Signature,
    Streams,
    cached_metric,
)

_TINY = 1e-16


class CHRFScore(SacreScore):
    """A chrF score, named with beta and a plus for each word order."""

    def __init__(self, score: float, char_order: int, word_order: int, beta: float) -> None:
        super().__init__(f"chrF{beta}" + "+" * word_order, score)
        self.char_order, self.word_order, self.beta = char_order, word_order, beta


class CHRFSignature(Signature):
    """The settings of a chrF metric."""

    _abbreviations: ClassVar[dict[str, str]] = {"eff": "e", "space": "s"}

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        self.info |= {
            "case": "lc" if args["lowercase"] else "mixed",
            "eff": "no" if args["eps_smoothing"] else "yes",
            "nc": args["char_order"],
            "nw": args["word_order"],
            "space": "yes" if args["whitespace"] else "no",
        }


class CHRF(SacreMetric[CHRFScore]):
    """chrF of hypotheses against references; with `word_order=2` it is chrF++."""

    CHAR_ORDER, WORD_ORDER, BETA = 6, 0, 2
    _SIGNATURE_TYPE: ClassVar[type[Signature]] = CHRFSignature

    def __init__(
        self,
        char_order: int = CHAR_ORDER,
        word_order: int = WORD_ORDER,
        beta: float = BETA,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
        references: Streams | None = None,
    ) -> None:
        self.char_order, self.word_order, self.beta = char_order, word_order, beta
        self.lowercase, self.whitespace = lowercase, whitespace
        self.eps_smoothing = eps_smoothing
        super().__init__()
        self._prepare(references)

    @property
    def order(self) -> int:
        """The number of orders of characters and words."""
        return self.char_order + self.word_order

    def _karat(self) -> Any:
        case = "lower" if self.lowercase else "mixed"
        switches = bool(self.whitespace), bool(self.eps_smoothing)
        return cached_metric("chrf", self.char_order, self.word_order, self.beta, case, *switches)

    def _score(self, sums: list[Any]) -> CHRFScore:
        return CHRFScore(self._value(sums), self.char_order, self.word_order, self.beta)

    def _value(self, sums: list[Any]) -> Any:
        return self._mean_f(sums) if self.eps_smoothing else self._effective_f(sums)

    def _triples(self, sums: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the n-grams of candidate and reference, and the matches, of each order."""
        return zip(sums[0::3], sums[1::3], sums[2::3], strict=True)

    def _effective_f(self, sums: list[Any]) -> Any:
        """Return F of the mean precision and recall over the orders that both texts reach."""
        precision, recall, orders = 0.0, 0.0, 0
        for candidates, references, matches in self._triples(sums):
            if candidates > 0 and references > 0:
                precision += matches / candidates
                recall += matches / references
                orders += 1
        if orders:
            precision, recall = precision / orders, recall / orders
        if not precision + recall:
            return 0.0
        factor = self.beta**2
        numerator = (1 + factor) * precision * recall
        return 100 * (numerator / (factor * precision + recall))

    def _mean_f(self, sums: list[Any]) -> Any:
        """Return the mean F of all orders, where undefined values are 1e-16."""
        total, factor = 0.0, self.beta**2
        for candidates, references, matches in self._triples(sums):
            precision = matches / candidates if candidates > 0 else _TINY
            recall = matches / references if references > 0 else _TINY
            below = factor * precision + recall
            total += (1 + factor) * precision * recall / below if below > 0 else _TINY
        return 100 * total / self.order
