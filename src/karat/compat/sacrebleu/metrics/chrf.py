"""chrF and chrF++ with sacreBLEU's arguments and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from karat.compat.sacrebleu.metrics.base import SacreMetric, SacreScore, Streams, cached_metric

if TYPE_CHECKING:
    from karat.arrays import NDArray


class CHRFScore(SacreScore):
    """A chrF score, named with beta and a plus for each word order."""

    def __init__(self, score: float, char_order: int, word_order: int, beta: float) -> None:
        super().__init__(f"chrF{beta}" + "+" * word_order, score)
        self.char_order, self.word_order, self.beta = char_order, word_order, beta


class CHRF(SacreMetric[CHRFScore]):
    """chrF of hypotheses against references; with `word_order=2` it is chrF++."""

    CHAR_ORDER, WORD_ORDER, BETA = 6, 0, 2
    _SHORT: ClassVar[dict[str, str]] = {"eff": "e", "space": "s"}

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
        super().__init__(references)

    @property
    def order(self) -> int:
        """The number of orders of characters and words."""
        return self.char_order + self.word_order

    def _karat(self) -> Any:
        case = "lower" if self.lowercase else "mixed"
        switches = bool(self.whitespace), bool(self.eps_smoothing)
        return cached_metric("chrf", self.char_order, self.word_order, self.beta, case, *switches)

    def _score(self, row: NDArray[Any]) -> CHRFScore:
        value = float(self._karat().measure(row[None, :])["value"][0])
        return CHRFScore(value, self.char_order, self.word_order, self.beta)

    def _info(self) -> dict[str, Any]:
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "no" if self.eps_smoothing else "yes",
            "nc": self.char_order,
            "nw": self.word_order,
            "space": "yes" if self.whitespace else "no",
        }
