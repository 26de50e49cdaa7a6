"""Estimates of human scores as a metric, for `score`, `compare` and `gate`.

The statistics are those of `karat.estimation.estimate_rows`:

    score = sum of predictions / outputs + sum of residuals / labels
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError
from karat.estimation.estimate_rows import COLUMNS, Asked, EstimateRows, estimate_rows
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.settings import setting, to_text

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.metrics.pairs import Pairs, SegmentNames

_UNITS = {
    "auto": "as the set says, or as the labels look",
    "segment": "segments were drawn one by one",
}


@dataclass(frozen=True)
class HumanEstimate(Metric):
    """Human scores of an evaluation set, estimated from some labels and from judges (PPI++)."""

    name: ClassVar[str] = "estimate"
    title: ClassVar[str] = "Estimated human scores"
    score_range: ClassVar[str] = "that of the dimension"
    bounded: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False
    uses_human_scores: ClassVar[bool] = True
    found: ClassVar[EstimateRows | None] = None
    """The rows of a set; None where no set is scored."""

    dimension: str | None = setting(
        None, "Dimension that people judged; it may be left out if there is one.", kind=str
    )
    judge: str | None = setting(
        None,
        "Judge: a model that judged the set, scores that come with it, or a metric; + joins "
        "several (none: the models that judged the set).",
        kind=str,
    )
    unit: str = setting("auto", "Unit that was drawn for labelling.", choices=_UNITS)
    digest: str | None = setting(
        None,
        "Digest of labels and judges' values, as signatures have it; others are refused.",
        kind=str,
        compare=False,
    )

    # ---------------------------------------------------------------------------------- its set

    def for_evalset(
        self, evalset: EvalSet | None, threads: int | None = None, progress: Progress = silent
    ) -> Sequence[Metric]:
        """Return this metric with the labels and judges of a set."""
        if evalset is None:
            raise self._without_set()
        asked = Asked(self._dimension(evalset), self._judges(evalset), self.unit)
        made = copy.copy(self)
        made.__dict__["found"] = rows = estimate_rows(evalset, asked, threads, progress)
        if self.digest not in (None, rows.digest):
            told = f"labels and judges of {evalset.name} have the digest {rows.digest}"
            raise MetricError(f"{self}: {told}: they are not those of the signature")
        return (made,)

    def _dimension(self, evalset: EvalSet) -> str:
        names = evalset.chosen_dimensions(() if self.dimension is None else (self.dimension,))
        if len(names) > 1:
            every = f"{evalset.name} has the dimensions {', '.join(names)}"
            raise InputError(f"{self}: {every}: name one, as in estimate:dimension={names[0]}")
        return names[0]

    def _judges(self, evalset: EvalSet) -> Sequence[str]:
        """Return the names of judges; a judge of the set may have a + in its name."""
        if self.judge is None:
            return evalset.model_judges
        if self.judge in (*evalset.model_judges, *evalset.offered):
            return (self.judge,)
        return re.split(r"\+(?=[^+])", self.judge)  # chrf++ is one name

    def _without_set(self) -> InputError:
        told = "human scores are estimated from those of an evaluation set, and none is scored"
        return InputError(f"{self}: {told}: name one with --set")

    @property
    def sign(self) -> int:
        """1 if higher values of the dimension are better, -1 if lower ones are."""
        return 1 if self.found is None else self.found.sign

    def remarks(self) -> tuple[str, ...]:
        """Return what is taken for granted, and where labels or judges do not do."""
        notes = () if self.found is None else self.found.notes
        return tuple(f"{self}: {note}" for note in notes)

    # --------------------------------------------------------------------------------- its rows

    def columns(self) -> tuple[str, ...]:
        """The sums of predictions, outputs, residuals of labels, and labels."""
        return COLUMNS

    def rows(self, pairs: Pairs) -> Floats:
        """The row of each segment."""
        if self.found is None:
            raise self._without_set()
        outputs, ids = pairs.outputs, pairs.outputs.segments()
        made = np.zeros((outputs.count, len(COLUMNS)))
        for system, places in outputs.by_system():
            made[places] = self.found.of(system, [ids[i] for i in places.tolist()])
        return made

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """The mean prediction, corrected by the mean residual of labels; NaN without outputs.

        Of one segment that is people's value, or the prediction where there is no label.
        """
        predicted, outputs, residual, labels = np.asarray(rows, np.float64).T
        value = np.divide(predicted, outputs, out=np.full(len(rows), np.nan), where=outputs > 0)
        value += np.divide(residual, labels, out=np.zeros(len(rows)), where=labels > 0)
        return {"value": value, "outputs": outputs, "labels": labels}

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Refuse outputs that are not those of a set."""
        if self.found is None:
            raise self._without_set()

    # -------------------------------------------------------------------------------- its names

    def method(self, references: int | None) -> str:
        """Return the signature without the digest of labels: every run has its own."""
        return self.signature(references).replace(f",digest={self._full('digest')}", "")

    def _full(self, name: str) -> str:
        """Return a setting as signatures have it: with what was found in the set."""
        found = self.found
        if found is None or name == "unit":
            return super()._full(name)
        judges = "+".join(found.sample.judges) or None
        own = {"dimension": found.sample.dimension, "judge": judges, "digest": found.digest}
        return to_text(own[name])
