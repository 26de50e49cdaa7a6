"""The full report of a meta-evaluation on one set, as data: `karat meta SET -o page.html`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.sets import EvalSet
from karat.meta.disagreements import Disagreement, disagreements
from karat.meta.documents.reliability import ReliabilityRow, fitting_lengths, reliability
from karat.meta.evaluation import MetaEvaluation, meta_evaluate
from karat.meta.experiment import Experiment
from karat.meta.plane.fit import FEWEST_SYSTEMS, PlaneFit, fit_plane, judged
from karat.meta.ranking import MetaRow
from karat.meta.scores import score_evalset
from karat.meta.system_scores import (
    MOST_SCATTERS,
    SystemScatter,
    SystemScore,
    scatters,
    system_scores,
)
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.correlation import statistic

SHUFFLES = 50
"""Repetitions of the reliability curves."""


@dataclass(frozen=True, eq=False, repr=False)
class MetaReport(Result):
    """A meta-evaluation with its systems, planes, reliability and examples."""

    evaluation: MetaEvaluation
    systems: tuple[SystemScore, ...]
    scatters: tuple[SystemScatter, ...]
    planes: tuple[PlaneFit, ...]
    reliability: tuple[ReliabilityRow, ...]
    disagreements: tuple[Disagreement, ...]
    remarks: tuple[str, ...] = ()
    """Sentences on parts that are not shown."""

    @property
    def rows(self) -> tuple[MetaRow, ...]:
        """The agreement of all metrics."""
        return self.evaluation.rows

    @property
    def settings(self) -> dict[str, object]:
        """Every setting of the experiment, and the shuffles of the reliability curves."""
        return {**self.evaluation.settings, "shuffles": SHUFFLES}

    @property
    def signature(self) -> str:
        """The signatures of all metrics and of the data, a line each."""
        return self.evaluation.signature

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the agreement, on what is not shown, and on the planes."""
        planes = (note for fit in self.planes for note in fit.notes)
        return (*self.evaluation.notes, *self.remarks, *planes)


def meta_report(
    experiment: Experiment,
    evalset: EvalSet | GivenPath | None = None,
    *,
    examples: int = 3,
    threads: int | None = None,
    progress: Progress = silent,
) -> MetaReport:
    """Run an experiment and collect everything that its report shows.

    Args:
        experiment: the experiment.
        evalset: its set, if it is loaded already.
        examples: number of disagreements for each dimension and direction.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    result = meta_evaluate(experiment, evalset, threads=threads, progress=progress)
    remarks: list[str] = []
    asked = result.experiment
    pairs = len(asked.dimensions) * len(result.scored.metrics)
    if pairs > MOST_SCATTERS:
        remarks.append(
            f"Scatter plots: the first {MOST_SCATTERS} of {pairs} pairs of dimension and metric; "
            "choose fewer with --dimension and --metric to see the others."
        )
    planes = tuple(_planes(result, remarks, progress))
    return MetaReport(
        *(result, tuple(system_scores(result)), tuple(scatters(result)), planes),
        _reliability(result, progress),
        tuple(disagreements(result, asked.dimensions, examples)),
        tuple(remarks),
    )


def _planes(result: MetaEvaluation, remarks: list[str], progress: Progress) -> Iterator[PlaneFit]:
    """Yield the planes of all dimensions that have enough systems; say where there is none."""
    asked, family = result.experiment, AEv()
    scored = score_evalset(result.evalset, family, progress=progress)
    how: dict[str, Any] = {name: getattr(asked, name) for name in ("resamples", "over", "seed")}
    for dimension in asked.dimensions:
        known = judged(scored, family, dimension, asked.normalise)
        if (known.known.sum(axis=1) > 0).sum() < FEWEST_SYSTEMS:
            continue
        try:
            yield fit_plane(known, dimension, **how, progress=progress)
        except InputError as error:  # constant human scores: the other parts still say so
            remarks.append(f"No plane for {error}.")


def _reliability(result: MetaEvaluation, progress: Progress) -> tuple[ReliabilityRow, ...]:
    """Return the reliability in all dimensions by the first statistic of points, if segments do."""
    asked = result.experiment
    lengths = fitting_lengths(len(result.evalset))
    by = next((s for s in asked.statistics if statistic(s).behind is None), "pearson")
    if len(lengths) < 2:
        return ()
    return reliability(
        result.scored,
        asked.dimensions,
        lengths=lengths,
        statistics=[by],
        normalise=asked.normalise,
        repeats=SHUFFLES,
        seed=asked.seed,
        progress=progress,
    ).rows
