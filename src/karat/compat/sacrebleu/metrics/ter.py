"""Translation edit rate with sacreBLEU's arguments and results."""

from __future__ import annotations

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


class TERScore(SacreScore):
    """An edit rate: edits divided by words of the references."""

    def __init__(self, score: float, num_edits: float, ref_length: float) -> None:
        super().__init__("TER", score)
        self.num_edits, self.ref_length = num_edits, ref_length


@drop_in_name("TER")
class SacreTER(SacreMetric[TERScore]):
    """Translation edit rate of hypotheses against references."""

    tokenizer_signature = "tercom"
    _SHORT: ClassVar[dict[str, str]] = {"tok": "t", "norm": "nr", "punct": "pn", "asian": "as"}

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
        super().__init__(references)

    def _karat(self) -> Any:
        switches = bool(self.normalized), bool(self.no_punct), bool(self.asian_support)
        return cached_metric("ter", *switches, "mixed" if self.case_sensitive else "lower")

    def _score(self, row: NDArray[Any]) -> TERScore:
        value = float(self._karat().measure(row[None, :])["value"][0])
        edits, tokens, _ = row.tolist()
        return TERScore(value, round(edits), tokens)

    def _info(self) -> dict[str, Any]:
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": self.tokenizer_signature,
            "norm": bool(self.normalized),
            "punct": not self.no_punct,
            "asian": bool(self.asian_support),
        }


TER = SacreTER
