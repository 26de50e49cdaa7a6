"""Scores and signatures as sacreBLEU prints them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.arrays import Floats

_SHARED = ("version", "nrefs", "bs", "ar", "seed", "test", "lang", "origlang", "subset")
"""The fields that every signature has, most of them empty."""

_SHORT = {"version": "v", "nrefs": "#", "test": "t", "lang": "l", "subset": "S", "origlang": "o"}
_SHORT |= {"seed": "rs", "case": "c"}


class Score:
    """A name, a value, and what a bootstrap says about it."""

    def __init__(self, name: str, score: float) -> None:
        self.name, self.score = name, score
        self._mean = self._ci = -1.0
        self._verbose = ""

    def format(
        self, width: int = 2, score_only: bool = False, signature: str = "", is_json: bool = False
    ) -> str:
        """Return the score as text, or as JSON with the fields of the signature."""
        plain, confidence = f"{self.score:.{width}f}", self._confidence(width)
        told = f"{plain} ({confidence})" if confidence else plain
        if score_only:
            return told
        if is_json:
            return json.dumps(self._fields(width, signature), indent=1, ensure_ascii=False)
        name = f"{self.name}|{signature}" if signature else self.name
        return f"{name} = {told} {self._verbose}".rstrip()

    def _confidence(self, width: int) -> str:
        return f"μ = {self._mean:.{width}f} ± {self._ci:.{width}f}" if self._mean > 0 else ""

    def _fields(self, width: int, signature: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "score": round_to(self.score, width)}
        found["signature"] = signature
        if self._mean > 0:
            found["confidence_mean"] = round_to(self._mean, width)
            found["confidence_var"] = round_to(self._ci, width)
            found["confidence"] = self._confidence(width)
        if self._verbose:
            found["verbose_score"] = self._verbose
        for field in signature.split("|") if signature else []:
            key, _, value = field.partition(":")
            found[key] = value
        return found

    def estimate_ci(self, scores: Sequence[Score]) -> None:
        """Keep the mean of resampled scores and half the width of their central 95%."""
        from karat.arrays import np

        self.take_resamples(np.array([score.score for score in scores], dtype=float))

    def take_resamples(self, values: Floats) -> None:
        """Keep the mean of resampled values and half the width of their central 95%."""
        from karat.stats.resampling import interval

        low, high = interval(values)
        self._mean, self._ci = float(values.mean()), (high - low) / 2

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return self.format()


def round_to(value: float, width: int) -> float:
    """Return the number that is printed with so many decimals."""
    return float(f"{value:.{width}f}")


class Signature:
    """The settings of a metric by name, written as `nrefs:1|case:mixed|…`."""

    def __init__(self, info: Mapping[str, Any], short: Mapping[str, str]) -> None:
        self.info: dict[str, Any] = {**dict.fromkeys(_SHARED), **info}
        self._abbr = {**_SHORT, **short}

    def format(self, short: bool = False) -> str:
        """Return all fields that have a value, the version last."""
        names = [*(name for name in self.info if name != "version"), "version"]
        found = {name: self.info[name] for name in names if self.info[name] is not None}
        written = {True: "yes", False: "no"}
        return "|".join(
            f"{self._abbr.get(name, name) if short else name}"
            f":{written[value] if isinstance(value, bool) else value}"
            for name, value in found.items()
        )

    def update(self, key: str, value: Any) -> None:
        """Set a field."""
        self.info[key] = value

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return self.format()
