"""Estimates of human scores as a metric, for `score`, `compare` and `gate`.

score = sum of predictions / outputs + sum of residuals / labels
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError, quoted
from karat.estimation.estimate_results import notes_of
from karat.estimation.estimates import MIN_LABELS, check_judges
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import Sample, judge_values
from karat.estimation.system_estimates import predict
from karat.evalset.draws import SEGMENT
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.settings import setting, to_text
from karat.stats.population import Prediction, unit_shares

if TYPE_CHECKING:
    from karat.metrics.pairs import Pairs, SegmentNames


COLUMNS = ("prediction", "outputs", "residual", "labels")


class OutputStatistics(NamedTuple):
    """The rows of all outputs of a set, on the scale that people were given."""

    sample: Sample
    table: Floats  # systems x segments x columns
    notes: tuple[str, ...]
    segment_indices: Mapping[str, int]


def output_statistics(
    evalset: EvalSet,
    dimension: str,
    judges: Sequence[str],
    unit: str,
    threads: int | None,
    progress: Progress,
) -> OutputStatistics:
    """Return the rows of all outputs of a set; raise if its labels do not allow estimates."""
    values = judge_values(evalset, judges, dimension, threads, progress)
    sample = make_sample(evalset, dimension, values, unit)
    _check_sample(sample)
    check_judges(sample)
    prediction = predict(sample)
    missing = [(judge.missing, "") for judge in values]
    notes = (
        *notes_of(sample, (), missing, prediction, False),
        "Intervals from resampled segments are for new segments like those of the set.",
    )
    table = np.stack(list(_system_rows(sample, prediction)))
    return OutputStatistics(sample, table, notes, {name: i for i, name in enumerate(sample.units)})


def _check_sample(sample: Sample) -> None:
    if sample.unit != SEGMENT:
        raise InputError(
            f"{sample.name}: {sample.unit}s of segments were drawn for labelling, and resamples of "
            "segments would promise too much: use karat estimate, or unit=segment if segments were "
            "drawn one by one"
        )
    if sample.compared and sample.partly is not None and sample.partly.any():
        raise InputError(
            f"{sample.name}: people compared only some pairs of systems on "
            f"{int(sample.partly.any(axis=0).sum()):,} segments, and resamples of segments would "
            "promise too much: use karat estimate, or compare all pairs of these segments"
        )
    for system, n in zip(sample.systems, sample.is_labelled.sum(axis=1).tolist(), strict=True):
        if n < MIN_LABELS:
            labels = "no labels" if not n else "1 label" if n == 1 else f"{n} labels"
            raise InputError(
                f"{sample.name}: system {quoted(system)} has {labels} for "
                f"{quoted(sample.dimension)}: label at least {MIN_LABELS} segments, or leave it out"
            )


def _system_rows(sample: Sample, prediction: Prediction | None) -> Iterator[Floats]:
    """Yield the rows of each system."""
    for system in range(len(sample.systems)):
        units = sample.labelled(system)
        share = unit_shares(units, sample.design_of(system), sample.population(system))
        guess = (
            np.zeros(len(sample.units)) if prediction is None else prediction.all_outputs[system]
        )
        residual = sample.y[system, units] - guess[units]
        mean = fsum((share * residual).tolist())
        rows = np.zeros((len(guess), len(COLUMNS)))
        rows[:, 0] = guess + mean
        rows[:, 1] = 1
        rows[units, 3] = share * len(units)
        rows[units, 2] = rows[units, 3] * (residual - mean)
        rows[:, [0, 2]] *= sample.scale.sign
        yield rows + 0.0  # no negative zeros


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
    set_rows: ClassVar[OutputStatistics | None] = None  # rows of the set; None if no set is scored

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
        settings = self._dimension(evalset), self._judges(evalset), self.unit
        metric = copy.copy(self)
        metric.__dict__["set_rows"] = rows = output_statistics(
            evalset, *settings, threads, progress
        )
        digest = rows.sample.digest
        if self.digest not in (None, digest):
            problem = f"labels and judges of {evalset.name} have the digest {digest}"
            raise MetricError(f"{self}: {problem}: they are not those of the signature")
        return (metric,)

    def _dimension(self, evalset: EvalSet) -> str:
        names = evalset.chosen_dimensions(() if self.dimension is None else (self.dimension,))
        if len(names) > 1:
            problem = f"{evalset.name} has the dimensions {', '.join(names)}"
            raise InputError(f"{self}: {problem}: name one, as in estimate:dimension={names[0]}")
        return names[0]

    def _judges(self, evalset: EvalSet) -> Sequence[str]:
        """Return the names of judges; a judge of the set may have a + in its name."""
        if self.judge is None:
            return evalset.model_judges
        if self.judge in (*evalset.model_judges, *evalset.offered):
            return (self.judge,)
        return re.split(r"\+(?=[^+])", self.judge)  # chrf++ is one name

    def _without_set(self) -> InputError:
        problem = "human scores are estimated from those of an evaluation set, and none is scored"
        return InputError(f"{self}: {problem}: name one with --set")

    @property
    def sign(self) -> int:
        """1 if higher values of the dimension are better, -1 if lower ones are."""
        return 1 if self.set_rows is None else self.set_rows.sample.scale.sign

    def remarks(self) -> tuple[str, ...]:
        """Return notes on the labels, the judges and the assumptions."""
        notes = () if self.set_rows is None else self.set_rows.notes
        return tuple(f"{self}: {note}" for note in notes)

    # --------------------------------------------------------------------------------- its rows

    def columns(self) -> tuple[str, ...]:
        """Return the names of the sums: predictions, outputs, residuals of labels, and labels."""
        return COLUMNS

    def rows(self, pairs: Pairs) -> Floats:
        """Return the row of each segment."""
        if self.set_rows is None:
            raise self._without_set()
        sample, set_table, _, index_of = self.set_rows
        outputs, ids = pairs.outputs, pairs.outputs.segments()
        table = np.zeros((outputs.count, len(COLUMNS)))
        for system, places in outputs.by_system():
            if system not in sample.systems:
                raise InputError(f"{sample.name} has no system {quoted(system)}: score the set")
            segments = [ids[i] for i in places.tolist()]
            for segment in segments:
                if str(segment) not in index_of:
                    problem = f"{sample.name} has no segment {quoted(segment)}"
                    raise InputError(f"{problem}: score the set")
            indices = [index_of[str(segment)] for segment in segments]
            table[places] = set_table[sample.systems.index(system), indices]
        return table

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the mean prediction plus the mean residual of labels; NaN without outputs.

        For one segment that is its label, or its prediction if it has no label.
        """
        predicted, outputs, residual, labels = np.asarray(rows, np.float64).T
        value = np.divide(predicted, outputs, out=np.full(len(rows), np.nan), where=outputs > 0)
        value += np.divide(residual, labels, out=np.zeros(len(rows)), where=labels > 0)
        return {"value": value, "outputs": outputs, "labels": labels}

    def check_outputs(self, systems: Sequence[str], segments: SegmentNames) -> None:
        """Raise if the outputs are not those of a set."""
        if self.set_rows is None:
            raise self._without_set()

    # -------------------------------------------------------------------------------- its names

    def method(self, references: int | None) -> str:
        """Return the signature without the digest of labels, which differs between runs."""
        return self.signature(references).replace(f",digest={self._full('digest')}", "")

    def _full(self, name: str) -> str:
        """Return a setting for signatures, with the values that were found in the set."""
        set_rows = self.set_rows
        if set_rows is None or name == "unit":
            return super()._full(name)
        judges = "+".join(set_rows.sample.judges) or None
        sample = set_rows.sample
        values = {"dimension": sample.dimension, "judge": judges, "digest": sample.digest}
        return to_text(values[name])
