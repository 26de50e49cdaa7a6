"""The accessor of data frames: `df.karat.score(…)`, `.compare(…)`, `.segments(…)`.

`import karat.pandas` or `import karat.polars` registers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.api.scores import compare, score
from karat.comparison import Comparison
from karat.metrics.base import Metric
from karat.scoring import Scoring

Metrics = Sequence[str | Metric] | str | Metric


class KaratAccessor:
    """Scores of a data frame's rows and systems; columns are named as for `karat.score`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def score(self, metrics: Metrics = ("bleu",), **how: Any) -> Scoring:
        """Score the systems of the frame, as `karat.score` does."""
        return score(self._frame, metrics=metrics, **how)

    def compare(self, metrics: Metrics = ("bleu",), **how: Any) -> Comparison:
        """Compare the systems of the frame, as `karat.compare` does."""
        return compare(self._frame, metrics=metrics, **how)

    def segments(self, metrics: Metrics = ("bleu",), **how: Any) -> Any:
        """Return the frame with a column for the scores of its rows by each metric."""
        return score(self._frame, metrics=metrics, segments=True, **how).join()
