"""Length of outputs, a baseline: do ratings or other scores follow the length of a text?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.metrics.base import Metric
from karat.settings import setting

if TYPE_CHECKING:
    from karat.metrics.pairs import Pairs

UNITS = {"words": "words between white space", "characters": "characters"}


@dataclass(frozen=True)
class Length(Metric):
    """Mean length of the outputs; references are not needed.

    A longer output counts as the higher score, which does not mean that it is better.
    """

    name: ClassVar[str] = "length"
    title: ClassVar[str] = "Length"
    needs_references: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    score_range: ClassVar[str] = "0 and above"

    unit: str = setting("words", "Unit of length.", choices=UNITS)

    def check_direction(self) -> None:
        raise InputError("length: longer outputs are neither better nor worse: use another metric")

    def remarks(self) -> tuple[str, ...]:
        return ("Length: a longer output has the higher score, and is not better for it",)

    def columns(self) -> tuple[str, ...]:
        return ("length", "segments")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        texts = pairs.candidates.views("mixed").strings()
        words = self.unit == "words"
        lengths = [len(text.split()) if words else len(text) for text in texts]
        return np.column_stack([np.array(lengths, np.int64), np.ones(len(lengths), np.int64)])

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the mean length: sum of lengths / number of segments."""
        length, segments = (rows[:, k].astype(np.float64) for k in range(2))
        return {"value": length / np.maximum(segments, 1), "segments": segments}
