"""Judges of an evaluation set by name: models that judged it, scores that came with it, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError, MetricError, quoted
from karat.evalset.sets import EvalSet
from karat.meta.scores import outputs_present, score_evalset
from karat.metrics.base import Metric
from karat.metrics.given import Given
from karat.metrics.names import metric
from karat.progress import Progress

LEAST_KNOWN = 0.5
"""The share of outputs that a judge must have a value for."""


class JudgeValues(NamedTuple):
    """A judge's value of every output, systems x segments, and how many it lacked."""

    name: str
    values: Floats
    missing: int
    signature: str


def judge_values(
    evalset: EvalSet,
    judges: Sequence[str | Metric],
    dimension: str,
    threads: int | None,
    progress: Progress,
) -> list[JudgeValues]:
    """Return the values of judges, more being better, in the order in which they are named."""
    names = [str(one) for one in judges]
    check_names(names)
    found = [_model(evalset, one, dimension) for one in judges]
    wanted = [_as_metric(evalset, one) for one, own in zip(judges, found, strict=True) if not own]
    scored = iter(_scored(evalset, wanted, threads, progress)) if wanted else iter(())
    present = outputs_present(evalset)
    filled = []
    for name, own in zip(names, found, strict=True):
        given = (own or next(scored))._replace(name=name)
        filled.append(fill_missing(evalset.name, given, present))
    return filled


def check_names(names: Sequence[str]) -> None:
    """Refuse a judge that is named twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"judge {quoted(name)} is named twice: name it once")


def _model(evalset: EvalSet, judge: str | Metric, dimension: str) -> JudgeValues | None:
    """Return the ratings of a model that judged the set, if it did."""
    if not isinstance(judge, str) or judge not in evalset.model_judges:
        return None
    values = evalset.rated_by(judge, dimension)
    if np.isnan(values).all():
        told = f"{evalset.name}: the model {quoted(judge)} has judged nothing for {dimension}"
        raise InputError(f"{told}: run karat judge ratings, or name another judge")
    return JudgeValues(judge, values, 0, f"judge:{judge}")


def _as_metric(evalset: EvalSet, judge: str | Metric) -> Metric:
    if isinstance(judge, str) and judge in evalset.offered:
        return Given(metric=judge)
    try:
        return metric(judge)
    except MetricError as error:
        told = f"{evalset.name} has no model and no scores of that name"
        raise InputError(f"judge {quoted(judge)}: {told}; as a metric: {error}") from error


def _scored(
    evalset: EvalSet, metrics: Sequence[Metric], threads: int | None, progress: Progress
) -> Iterator[JudgeValues]:
    scored = score_evalset(evalset, metrics, threads=threads, progress=progress)
    if len(scored.metrics) != len(metrics):
        raise InputError("a pattern names several judges: name each of them")
    for one in scored.metrics:
        yield JudgeValues(str(one), scored.segments(one), 0, scored.signature(one))


def fill_missing(whose: str, given: JudgeValues, present: Flags) -> JudgeValues:
    """Return the values with the judge's mean for a system in place of those that are missing.

    Any value that does not depend on the labels keeps estimates right; the mean adds no spread.
    `whose` is the name of the set.
    """
    name, values = given.name, given.values.copy()
    lacking = np.isnan(values) & present
    if lacking.sum() > (1 - LEAST_KNOWN) * present.sum():
        raise InputError(
            f"judge {quoted(name)} has no value for {int(lacking.sum()):,} of "
            f"{int(present.sum()):,} outputs of {whose}: expected one for at least half"
        )
    if np.isinf(values).any() or (np.abs(values[present & ~lacking]) > 1e100).any():
        raise InputError(f"judge {quoted(name)}: values must be finite and below 1e100")
    for own, absent in zip(values, lacking, strict=True):
        own[absent] = np.nanmean(own) if not np.isnan(own).all() else np.nanmean(given.values)
    known = np.where(np.isnan(values), 0.0, values)
    return given._replace(values=known, missing=int(lacking.sum()))
