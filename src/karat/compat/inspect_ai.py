"""A scorer for inspect_ai: `Task(…, scorer=karat_scorer("chrf"))`.

A sample is scored by its output against its targets. Its statistics go into the log, so that the
score of all samples is computed from their sum, as everywhere in Karat.
"""

from __future__ import annotations

import math
from typing import Any

# inspect_ai reads the annotations of scorers and metrics at run time.
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from karat.arithmetic import joined_sums, partial_sums
from karat.arrays import NDArray, np
from karat.errors import InputError, quoted
from karat.metrics import base
from karat.metrics.names import metric as metric_named


@metric(scores="unreduced")  # type: ignore[misc, untyped-decorator, unused-ignore]
def corpus() -> Metric:
    """Return the metric that scores all samples of `karat_scorer` together, in all epochs."""

    def of_samples(scores: list[SampleScore]) -> float:
        if not scores:
            return math.nan
        scored_by = _metric_of(scores)
        rows = np.array([_statistics(scored_by, score) for score in scores])
        return scored_by.score(joined_sums([partial_sums(rows)])).value

    return of_samples


@scorer(metrics=[corpus()])  # type: ignore[misc, untyped-decorator, unused-ignore]
def karat_scorer(metric: str = "chrf") -> Scorer:
    """Return a scorer of outputs against targets by any metric of Karat that reads texts.

    metric: the metric's name and settings, as in `karat score -m` ("bleu:tok=char")
    """
    scored_by = metric_named(metric)
    if not scored_by.reads_texts:
        raise InputError(f"{metric}: karat_scorer takes metrics that read texts, such as chrf")

    async def score(state: TaskState, target: Target) -> Score:
        output, targets = state.output.completion, list(target)
        if scored_by.needs_references and not any(targets):
            return Score.unscored(
                reason="scoring_failed", answer=output, explanation="The sample has no target."
            )
        row = scored_by.stats([output], [targets] if any(targets) else None)[0]
        metadata = {"metric": str(scored_by), "statistics": row.tolist()}
        value = _segment_score(scored_by, row)
        signature = scored_by.signature(len(targets))
        return Score(value=value, answer=output, explanation=signature, metadata=metadata)

    return score


def _segment_score(scored_by: base.Metric, row: NDArray[Any]) -> float:
    return float(scored_by.of_segments().measure(row[None, :])["value"][0])


def _metric_of(scores: list[SampleScore]) -> base.Metric:
    """Return the metric of all samples; raise InputError if they have different ones."""
    names = {str((sample.score.metadata or {}).get("metric", "")) for sample in scores}
    if len(names) > 1 or "" in names:
        raise InputError("corpus: expected scores of one karat_scorer; use it in no other scorer")
    return metric_named(names.pop())


def _statistics(scored_by: base.Metric, sample: SampleScore) -> NDArray[Any]:
    """Return the statistics of a sample; raise InputError if they do not give its score."""
    metadata, value = sample.score.metadata or {}, sample.score.as_float()
    row = np.array(metadata["statistics"])
    recomputed = _segment_score(scored_by, row)
    if not math.isclose(recomputed, value, rel_tol=1e-9, abs_tol=1e-9):
        raise InputError(
            f"corpus: sample {quoted(str(sample.sample_id))} has the score {value:g}, but its "
            f"statistics give {recomputed:g}: it was edited, or is a mean of epochs "
            "(use Epochs(n, reducer=[]) with grouped metrics)"
        )
    return row
