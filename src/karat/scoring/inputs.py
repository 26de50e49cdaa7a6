"""Everything that is scored: systems, references and metrics, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.metrics.names import metric
from karat.metrics.pairs import SegmentNames
from karat.progress import Progress, silent
from karat.text.references import (
    GivenReferences,
    NoReferences,
    References,
    as_references,
    check_aligned,
)
from karat.text.segments import Segments, Strings, Texts, as_segments

Systems: TypeAlias = "Mapping[str, Texts] | Texts"
"""Systems by name; or the candidates of one, which is then called `candidate`."""


class Inputs(NamedTuple):
    """Everything that is scored: systems, references, metrics and the ids of segments."""

    systems: Mapping[str, Segments]
    references: References
    metrics: Sequence[Metric]
    segments: SegmentNames

    @property
    def outputs(self) -> int:
        """The number of outputs of all systems."""
        return len(self.systems) * self.segments.count


def as_inputs(
    systems: Systems | EvalSet | str,
    references: GivenReferences | None,
    metrics: Sequence[str | Metric] | str | Metric,
    threads: int | None = None,
    progress: Progress = silent,
) -> Inputs:
    """Return the systems, references and metrics to score, from an evaluation set if one is given.

    References may be missing where no metric reads them.
    """
    if references is None and isinstance(systems, str | os.PathLike):
        from karat.evalset.loading import load_evalset

        systems = load_evalset(systems)
    if isinstance(systems, EvalSet):
        if references is not None:
            raise InputError("an evaluation set brings its own references: leave references out")
        given = inputs_of_set(systems, {}, metrics, threads, progress)
        ids = systems.given_ids()
        texts = systems.outputs().items()
        named_texts = {
            name: Strings(outputs, f"system {name}", ids, systems.groups) for name, outputs in texts
        }
        return given._replace(systems=as_systems(named_texts))
    chosen, named = metrics_of_set(metrics, None), as_systems(systems)
    first = next(iter(named.values()))
    if references is not None:
        refs = as_references(references, len(first), first.name)
    elif any(m.reads_texts for m in chosen):
        raise InputError("no references were given: they are needed unless systems is an EvalSet")
    else:
        refs = NoReferences(len(first))
    return Inputs(named, refs, chosen, SegmentNames(len(first)))


def inputs_of_set(
    evalset: EvalSet,
    systems: Mapping[str, Segments],
    metrics: Sequence[str | Metric] | str | Metric,
    threads: int | None = None,
    progress: Progress = silent,
) -> Inputs:
    """Return the outputs of a set's systems that are scored."""
    chosen = metrics_of_set(metrics, evalset, threads, progress)
    if any(m.reads_texts for m in chosen) or all(evalset.references):
        refs = as_references(evalset.given_references(), len(evalset))
    else:
        refs = NoReferences(len(evalset))
    names = SegmentNames(len(evalset), evalset.segments, evalset.left_out)
    return Inputs(systems, refs, chosen, names)


def as_systems(systems: Systems) -> dict[str, Segments]:
    """Systems by name, checked to be aligned."""
    given = systems if isinstance(systems, Mapping) else {"candidate": systems}
    if not given:
        raise InputError("no system was given: at least one is needed")
    named = {name: as_segments(texts, f"system {name}") for name, texts in given.items()}
    check_aligned(list(named.values()))
    return named


def metrics_of_set(
    metrics: Sequence[str | Metric] | str | Metric,
    evalset: EvalSet | None,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[Metric]:
    """Metrics by name, each once, with what they take from a set; None: texts are scored."""
    named = _named(metrics)
    return _each_once([m for one in named for m in one.for_evalset(evalset, threads, progress)])


def as_metrics(metrics: Sequence[str | Metric] | str | Metric) -> list[Metric]:
    """Metrics by name, each once."""
    return _each_once(_named(metrics))


def _named(metrics: Sequence[str | Metric] | str | Metric) -> list[Metric]:
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not given:
        raise InputError("no metric was given: at least one is needed")
    return list(map(metric, given))


def _each_once(named: Sequence[Metric]) -> list[Metric]:
    chosen: dict[Metric, Metric] = {}
    for m in named:
        before = chosen.get(m, m)
        if before.full_name() != m.full_name():
            raise InputError(f"{m} is given twice, with other scores: use another name for one")
        chosen[m] = before.claiming(m.claims)
    return list(chosen.values())
