"""Settings of word alignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.paraphrase.align.links import RULES
from karat.text.tokens import check_choice

MODELS = {
    "fertility": "an HMM with jumps by word, fertilities, a null word and leave-one-out counts",
    "hmm": "the HMM of Liang, Taskar and Klein (2006)",
}
AGREEMENTS = {
    "min": "the smaller of what the two directions expect",
    "root": "the square root of the product of what both directions expect",
    "product": "the product, as in the paper",
}
DECODINGS = {
    "posterior": "links in which both directions believe with at least `threshold` on average",
    **{rule: f"each direction's best links, joined: {text}" for rule, text in RULES.items()},
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "fertility": {"model1": 4, "hmm": 4, "agreement": "min", "threshold": 0.4, "prefix": 4},
    "hmm": {"model1": 5, "hmm": 5, "agreement": "root", "threshold": 0.5, "prefix": 0},
}
MOST = 1000
"""Iterations of model 1, and of the HMM."""
_WITH_FERTILITY = 2  # of the last iterations of the HMM
_OF_MODEL: Any = None  # the default is the model's


class Iteration(NamedTuple):
    """One step of training: model 1 or the HMM, with fertilities or without."""

    what: str
    hmm: bool
    fertility: bool = False
    counts_fertility: bool = False
    """True if the next step takes fertilities."""


@dataclass(frozen=True)
class Aligner:
    """Settings of word alignment.

    Iterations of model 1 and of the HMM, agreement, decoding, the longest sentences, the model, and
    how many characters of a word are looked at (0: all). What is None is the model's default, also
    after `dataclasses.replace` has given another model; `resolved` fills it in.
    """

    model1: int = _OF_MODEL
    hmm: int = _OF_MODEL
    agreement: str = _OF_MODEL
    decoding: str = "posterior"
    threshold: float = _OF_MODEL
    longest: int = 200
    model: str = "fertility"
    prefix: int = _OF_MODEL

    def __post_init__(self) -> None:
        check_choice("model", self.model, MODELS)
        check_choice("decoding", self.decoding, DECODINGS)
        if self.agreement is not None:
            check_choice("agreement", self.agreement, AGREEMENTS)
        for name, value in (("model1", self.model1), ("hmm", self.hmm)):
            if value is not None and not 0 <= value <= MOST:
                raise InputError(f"{name}={value}: expected 0 to {MOST:,} iterations")
        if self.model1 == 0 and self.hmm == 0:
            raise InputError("model1=0 and hmm=0: expected at least one iteration of either")
        self._check_threshold()
        if self.longest < 1:
            raise InputError(f"longest={self.longest}: expected at least one word")
        if self.prefix is not None and self.prefix < 0:
            raise InputError(f"prefix={self.prefix}: expected 0 (whole words) or more characters")

    def _check_threshold(self) -> None:
        if self.threshold is None:
            return
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected more than 0 and at most 1")
        if self.decoding != "posterior":
            told = f"decoding={self.decoding} has no threshold"
            raise InputError(
                f"threshold={self.threshold}: {told}; leave it out, or use decoding=posterior"
            )

    def resolved(self) -> Aligner:
        """Return the settings with the model's defaults for what is not given and has a use."""
        defaults = dict(_DEFAULTS[self.model])
        if self.decoding != "posterior":
            del defaults["threshold"]
        return replace(self, **{k: v for k, v in defaults.items() if getattr(self, k) is None})

    @property
    def least(self) -> float:
        """The threshold that the kernel is given, whether its rule looks at it or not."""
        default: float = _DEFAULTS[self.model]["threshold"]
        return default if self.threshold is None else self.threshold

    def iterations(self) -> Iterator[Iteration]:
        """Yield what each iteration does."""
        how, fertilities = self.resolved(), self.fertilities
        for k in range(1, how.model1 + 1):
            counts = fertilities >= how.hmm > 0 and k == how.model1
            yield Iteration(f"model 1, iteration {k} of {how.model1}", False, False, counts)
        for k in range(1, how.hmm + 1):
            left = how.hmm - k
            fertility, counts = left < fertilities, left <= fertilities > 0
            yield Iteration(f"HMM, iteration {k} of {how.hmm}", True, fertility, counts)

    @property
    def fertilities(self) -> int:
        """The number of iterations with fertilities; they need one before that counts them."""
        how = self.resolved()
        most = how.hmm if how.model1 else how.hmm - 1
        return max(min(_WITH_FERTILITY, most), 0) if self.model == "fertility" else 0

    def __str__(self) -> str:
        how = self.resolved()
        links = f">={how.threshold:g}" if how.decoding == "posterior" else ""
        links = f"{how.agreement},{how.decoding}{links},longest={how.longest}"
        prefix = f",prefix={how.prefix}" if how.prefix else ""
        return f"{how.model}-joint:model1={how.model1},hmm={how.hmm},{links}{prefix}"
