"""Studies of the plane: a pick tried on other halves, verdicts on predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import np
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.plane.cells import BLEU_CELL, CELLS
from karat.meta.plane.conclusions import study_notes
from karat.meta.plane.fit import (
    PlaneData,
    PlaneFit,
    PlaneRow,
    best_cell,
    correlations,
    fit_plane,
    intervals,
    judged,
)
from karat.meta.plane.predictions import Region
from karat.meta.scores import score_evalset
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.resampling import SEED
from karat.trials import check_trials

FEWEST_FOR_HALVES = 4


class Halves(NamedTuple):
    """A pick made on half of the systems and segments, tried on the other half.

    A cell that correlates negatively there, or not at all, has R^2 = 0. All is NaN if no half can
    be used: there are too few systems, or their human scores do not differ.
    """

    splits: int
    """Picks that were tried, two for each split where both halves can be used."""
    loses: float
    """The share in which BLEU's point has the larger R^2 on the other half."""
    ties: float
    kept: float
    """The pick's mean R^2 on the other half."""
    bleu: float
    """The mean R^2 of BLEU's point on the other half."""


def split_halves(
    judged: PlaneData, splits: int = 500, seed: int = SEED, progress: Progress = silent
) -> Halves:
    """Pick on a random half of systems and segments, look at the pick on the other half.

    Halves without a pick, or without two different systems to try it on, do not count; there may
    be none that does.
    """
    check_trials("splits", splits)
    rng = np.random.default_rng(seed)
    found: list[tuple[float, float]] = []
    for done in range(1, splits + 1 if len(judged.systems) >= FEWEST_FOR_HALVES else 1):
        found += _halves(judged, rng)
        progress(done, splits, "splitting into halves")
    if not found:
        return Halves(0, math.nan, math.nan, math.nan, math.nan)
    pick, bleu = (np.array(values) for values in zip(*found, strict=True))
    shares = (pick < bleu - SLACK).mean(), (np.abs(pick - bleu) <= SLACK).mean()
    return Halves(len(found), *map(float, (*shares, pick.mean(), bleu.mean())))


def _halves(judged: PlaneData, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    systems, segments = judged.human.shape
    chosen = rng.permutation(systems) < systems // 2
    half = (rng.permutation(segments) < segments // 2).astype(float)
    human, cells = judged.scores(np.stack([half, 1 - half]))
    for order, mine in (([0, 1], chosen), ([1, 0], ~chosen)):
        weights = np.stack([mine, ~mine]).astype(float)
        r = correlations(human[order], cells[:, order], weights)
        pick = int(best_cell(r[:, :1])[0])
        rest = np.nan_to_num(np.maximum(r[:, 1], 0.0)) ** 2
        if pick >= 0 and not np.isnan(r[:, 1]).all():
            yield float(rest[pick]), float(rest[CELLS.index(BLEU_CELL)])


class Verdict(NamedTuple):
    """The predicted region against the rest of the plane."""

    inside: float
    """Mean R^2 of its cells (a negative correlation counts as 0)."""
    outside: float
    low: float
    high: float
    """Ends of the 95% bootstrap interval of the difference."""

    @property
    def words(self) -> str:
        """`holds`, `fails` or `undecidable`."""
        if self.low > 0:
            return "holds"
        return "fails" if self.high < 0 else "undecidable"


def verdict(fit: PlaneFit, region: Region) -> Verdict:
    """Compare the cells of a region with the others, in the data and in resamples of them."""
    inside = np.array([region.holds(*cell) for cell in CELLS])
    value = np.nan_to_num(np.maximum(np.column_stack([fit.r, fit.draws]), 0.0)) ** 2
    a, b = value[inside].mean(axis=0), value[~inside].mean(axis=0)
    low, high = intervals((a - b)[None, 1:])
    return Verdict(float(a[0]), float(b[0]), float(low[0]), float(high[0]))


@dataclass(frozen=True, eq=False, repr=False)
class PlaneStudy(Result):
    """The planes of some dimensions of one evaluation set, and what becomes of their picks."""

    evalset: EvalSet
    metric: AEv
    region: Region | None
    """The paper's prediction, if one was asked for."""
    fits: tuple[PlaneFit, ...]
    verdicts: tuple[Verdict, ...]
    """One for each fit, if there is a region."""
    halves: tuple[Halves, ...]
    """One for each fit, if splits were asked for."""
    splits: int = 0

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """All cells of all dimensions, and whether the paper predicts them."""
        rows = (row for fit in self.fits for row in fit.rows)
        region = self.region
        if region is None:
            return tuple(rows)
        return tuple(row._replace(predicted=region.holds(row.alpha, row.n)) for row in rows)

    @property
    def settings(self) -> dict[str, object]:
        """The family, the dimensions, the prediction and how intervals were made."""
        dimensions = tuple(fit.dimension for fit in self.fits)
        how = self.fits[0].settings
        asked = {"region": self.region, "splits": self.splits}
        return {**how, "dimension": dimensions, **asked}

    @property
    def signature(self) -> str:
        """The signature of the family on this set."""
        return self.fits[0].signature

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what to take from the planes."""
        return tuple(study_notes(self))


def study_plane(
    evalset: EvalSet | GivenPath,
    metric: AEv | None = None,
    dimensions: Sequence[str] = (),
    *,
    region: Region | None = None,
    normalise: str = "none",
    over: str = "both",
    resamples: int = 1000,
    splits: int = 200,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> PlaneStudy:
    """Fit the plane of each dimension (all of them if none is named) of an evaluation set."""
    metric = AEv() if metric is None else metric
    evalset = as_evalset(evalset, progress)
    chosen = evalset.chosen_dimensions(dimensions)
    scored = score_evalset(evalset, metric, threads=threads, progress=progress)
    given = {d: judged(scored, metric, d, normalise) for d in chosen}
    fits = tuple(
        fit_plane(of, d, resamples=resamples, over=over, seed=seed, progress=progress)
        for d, of in given.items()
    )
    verdicts = tuple(verdict(fit, region) for fit in fits) if region else ()
    halves = (
        tuple(split_halves(of, splits, seed, progress) for of in given.values()) if splits else ()
    )
    return PlaneStudy(evalset, metric, region, fits, verdicts, halves, splits)
