"""The outputs of an evaluation set scored by metrics: rows of statistics beside human scores.

Human scores (`EvalSet.human`) and metric scores are oriented so that higher is better. A cell
without an output has no row: its statistics are 0 and its score is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.arithmetic import exact_product, exact_sum
from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.scoring import (
    Keep,
    compute_statistics,
    inputs_from_set,
    load_metrics,
    make_systems,
)

Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """An evaluation set and the statistics of its outputs: systems x segments x columns."""

    evalset: EvalSet
    rows: Mapping[Metric, Floats]
    present: Flags  # True for cells with an output
    threads: int | None = None  # to score joined documents
    system_scores: str = "judged"  # outputs behind the metric score of a system: judged or all

    def signature(self, metric: Metric) -> str:
        """Return the metric's signature on this set."""
        return metric.signature(references_of(self.evalset))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics in their order."""
        return tuple(self.rows)

    def segments(self, metric: Metric) -> Floats:
        """Return systems x segments: the score of every output by `metric.of_segments()`.

        Higher is better; a missing output has NaN.
        """
        rows = self.rows[metric]
        values = metric.of_segments().measure(rows.reshape(-1, rows.shape[2]))["value"]
        return np.where(self.present, metric.sign * values.reshape(self.present.shape), np.nan)

    def segment_scores(self) -> dict[Metric, Floats]:
        """Return the scores of all outputs by each metric that scores segments."""
        return {m.of_segments(): self.segments(m) for m in self.metrics}

    def known_rows(self, metric: Metric) -> Floats:
        """Return the statistics of the outputs that have a score, NaN elsewhere."""
        has_score = self.present if metric.reads_texts else ~np.isnan(self.segments(metric))
        return np.where(has_score[:, :, None], self.rows[metric], np.nan)

    def judged(self, human: Floats) -> Floats:
        """Return human scores, NaN where there is no output."""
        return np.where(self.present, human, np.nan)

    def corpus(self, metric: Metric, counts: Floats, is_counted: Flags) -> Floats:
        """Return draws x systems: corpus scores, each segment counted `counts` times.

        Only cells that are `is_counted` and have an output count; a system without any has NaN.
        """
        is_used = is_counted & self.present
        sums = weighted_sums(counts, self.rows[metric] * is_used[:, :, None])
        return _score_sums(metric, sums, exact_product(counts, is_used.T))

    def documents(self, metric: Metric, segments: Sequence[Ints], is_counted: Flags) -> Floats:
        """Return systems x documents: corpus scores of the segments of each document."""
        is_used = is_counted & self.present
        rows = self.rows[metric] * is_used[:, :, None]
        sums = np.stack([exact_sum(rows[:, columns], axis=1) for columns in segments], axis=1)
        number = np.stack([is_used[:, columns].sum(axis=1) for columns in segments], axis=1)
        return _score_sums(metric.of_documents(), sums, number)

    def notes(self) -> Iterator[str]:
        """Yield notes of the metrics on these scores."""
        for metric, rows in self.rows.items():
            yield from metric.remarks()
            total = exact_sum(rows.reshape(-1, rows.shape[2]), axis=0)
            if not metric.reads_texts:
                yield from (f"{metric}, all systems: {note}." for note in metric.notes(total))


def weighted_sums(counts: Floats, rows: Floats) -> Floats:
    """Return draws x systems x columns: exact sums, each segment counted `counts` times."""
    systems, segments, columns = rows.shape
    flat = rows.swapaxes(0, 1).reshape(segments, systems * columns)
    return exact_product(counts, flat).reshape(len(counts), systems, columns)


def _score_sums(metric: Metric, sums: Floats, number: NDArray[Any]) -> Floats:
    """Return the scores of sums of statistics, higher being better; NaN for sums of no rows."""
    values = metric.measure(sums.reshape(-1, sums.shape[2]))["value"].reshape(sums.shape[:2])
    return np.where(number > 0, metric.sign * values, np.nan)


def score_evalset(
    evalset: EvalSet,
    metrics: Sequence[str | Metric] | str | Metric,
    *,
    against: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress = silent,
) -> ScoredSet:
    """Score all outputs of a set by all metrics in one pass over the text.

    `against` are the dimensions that the metrics are compared with; a metric that is made from
    their judgements is refused.
    """
    present = outputs_present(evalset)
    filled = make_systems(evalset.filled_outputs())
    independent_metrics = independent(metrics, evalset)
    inputs = inputs_from_set(evalset, filled, independent_metrics, threads, progress)
    check_independent(inputs.metrics, evalset, against)
    if any(m.reads_texts for m in inputs.metrics):
        evalset.check_texts()
    stats = compute_statistics(inputs, Keep(rows=True), threads, progress)
    rows = {
        m: np.stack([stats[name, m].row_table for name in inputs.systems]) for m in inputs.metrics
    }
    marked = {m: r * present[:, :, None] for m, r in rows.items()}
    return ScoredSet(evalset, marked, present, threads)


def independent(metrics: Sequence[str | Metric] | str | Metric, evalset: EvalSet) -> list[Metric]:
    """Return metrics by name; raise for metrics that are computed from human scores."""
    loaded = load_metrics(metrics, evalset)
    for m in loaded:
        if m.uses_human_scores:
            problem = "it is made from human scores, so that its agreement with them means nothing"
            raise InputError(f"{m}: {problem}: leave it out")
    return loaded


def check_independent(
    metrics: Sequence[Metric], evalset: EvalSet, dimensions: Sequence[str]
) -> None:
    """Raise if a metric is made from judgements of the dimensions that it is compared with."""
    for m in metrics:
        m.check_independent(evalset, dimensions)


def outputs_present(evalset: EvalSet) -> Flags:
    """Return systems x segments: True where there is an output.

    In a set without any texts, outputs are those with a judgement or a score.
    """
    if evalset.has_texts:
        texts_by_system = evalset.systems.values()
        return np.array([[text is not None for text in texts] for texts in texts_by_system])
    rows = evalset.judgements
    present = np.zeros((len(evalset.systems), len(evalset)), bool)
    present[rows.system, rows.segment] = True
    for read_scores in evalset.offered.values():
        scores = read_scores()
        for index, system in enumerate(evalset.systems):
            if system in scores.systems:
                present[index] |= ~np.isnan(scores.segment_scores(system, evalset.segments, 0))
    return present


def references_of(evalset: EvalSet) -> int | None:
    """Return the number of references of every segment; None if that varies."""
    numbers = {len(group) for group in evalset.references}
    return numbers.pop() if len(numbers) == 1 else None


def with_references(evalset: EvalSet, numbers: Sequence[int]) -> EvalSet:
    """Return a set with some references, numbered from 1; without numbers, with all of them.

    Raise if a segment has none of them.
    """
    if not numbers:
        return evalset
    if any(number < 1 for number in numbers):
        raise InputError("references are numbered from 1")
    for number in numbers:
        if list(numbers).count(number) > 1:
            raise InputError(f"references: {number} is named twice")
    chosen = evalset.select(references=[number - 1 for number in numbers])
    for segment, group in zip(chosen.segments, chosen.references, strict=True):
        if not group:
            raise InputError(f"segment {segment} has none of the references that were chosen")
    return chosen
