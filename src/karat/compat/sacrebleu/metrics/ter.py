"""Translation edit rate with sacreBLEU's arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from karat.compat.sacrebleu.metrics.base import (
    SacreMetric,
    SacreScore,
    Signature,
    Streams,
    cached_metric,
    drop_in_name,
)
from karat.compat.sacrebleu.tokenizers import TercomTokenizer


class TERScore(SacreScore):
    """An edit rate: edits divided by words of the references."""

    def __init__(self, score: float, num_edits: float, ref_length: float) -> None:
        super().__init__("TER", score)
        self.num_edits, self.ref_length = int(num_edits), ref_length


class TERSignature(Signature):
    """The settings of a TER metric."""

    _abbreviations: ClassVar[dict[str, str]] = {
        "tok": "t",
        "norm": "nr",
        "punct": "pn",
        "asian": "as",
    }

    def __init__(self, args: Mapping[str, Any]) -> None:
        super().__init__(args)
        self.info |= {
            "case": "mixed" if args["case_sensitive"] else "lc",
            "tok": args["tokenizer_signature"],
            "norm": bool(args["normalized"]),
            "punct": not args["no_punct"],
            "asian": bool(args["asian_support"]),
        }


@drop_in_name("TER")
class SacreTER(SacreMetric[TERScore]):
    """Translation edit rate of hypotheses against references."""

    _columns: ClassVar[int | None] = 2
    _SIGNATURE_TYPE: ClassVar[type[Signature]] = TERSignature

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        references: Streams | None = None,
    ) -> None:
        self.normalized, self.no_punct = normalized, no_punct
        self.asian_support, self.case_sensitive = asian_support, case_sensitive
        self.tokenizer_signature = self.tokenizer.signature()
        super().__init__()
        self._prepare(references)

    @property
    def tokenizer(self) -> TercomTokenizer:
        """The tokenizer with these settings."""
        switches = self.normalized, self.no_punct, self.asian_support
        return TercomTokenizer(*switches, self.case_sensitive)

    def _karat(self) -> Any:
        switches = bool(self.normalized), bool(self.no_punct), bool(self.asian_support)
        return cached_metric("ter", *switches, "mixed" if self.case_sensitive else "lower")

    def _score(self, sums: list[Any]) -> TERScore:
        return TERScore(self._value(sums), *sums)

    def _value(self, sums: list[Any]) -> Any:
        edits, length = sums
        rate = edits / length if length > 0 else 1.0 if edits > 0 else 0.0
        return 100 * rate


TER = SacreTER
