"""Settings of word alignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from karat.errors import InputError
from karat.paraphrase.align.links import RULES
from karat.text.recipe import check_choice

AGREEMENTS = {
    "root": "the square root of the product of what both directions expect",
    "product": "the product, as in the paper",
}
DECODINGS = {
    "posterior": "links in which both directions believe with at least `threshold` on average",
    **{rule: f"each direction's best links, joined: {text}" for rule, text in RULES.items()},
}


@dataclass(frozen=True)
class Aligner:
    """Settings of word alignment: iterations, agreement, decoding, and the longest sentences."""

    model1: int = 5
    hmm: int = 5
    agreement: str = "root"
    decoding: str = "posterior"
    threshold: float = 0.5
    longest: int = 200

    def __post_init__(self) -> None:
        check_choice("agreement", self.agreement, AGREEMENTS)
        check_choice("decoding", self.decoding, DECODINGS)
        for name in ("model1", "hmm"):
            if getattr(self, name) < 0:
                raise InputError(f"{name}={getattr(self, name)}: expected at least 0 iterations")
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected more than 0 and at most 1")
        if self.longest < 1:
            raise InputError(f"longest={self.longest}: expected at least one word")

    def iterations(self) -> Iterator[tuple[bool, str]]:
        """Yield for each iteration whether it is the HMM's, and its name."""
        for name, hmm, times in (("model 1", False, self.model1), ("HMM", True, self.hmm)):
            for iteration in range(1, times + 1):
                yield hmm, f"{name}, iteration {iteration} of {times}"

    def __str__(self) -> str:
        how = f"{self.agreement},{self.decoding}"
        how += f">={self.threshold:g}" if self.decoding == "posterior" else ""
        return f"hmm-joint:model1={self.model1},hmm={self.hmm},{how},longest={self.longest}"
