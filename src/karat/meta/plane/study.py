"""Studies of the plane: a pick tried on other halves, verdicts on predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.plane.beside import BesideRow, lineups
from karat.meta.plane.cells import BLEU_CELL, CELLS
from karat.meta.plane.conclusions import ENOUGH_SYSTEMS, study_notes
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
from karat.meta.plane.groups import Grouping, grouped, parse_grouping
from karat.meta.plane.predictions import Region
from karat.meta.scores import score_evalset, with_references
from karat.metrics.base import Metric
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import check_trials, renamed
from karat.stats.resampling import SEED
from karat.stats.significance.verdicts import UNDECIDED

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
    enough_systems: bool = True
    """False if the systems are too few to tell cells apart."""

    @property
    def words(self) -> str:
        """`holds`, `fails` or `undecided`."""
        if not self.enough_systems:
            return UNDECIDED
        if self.low > 0:
            return "holds"
        return "fails" if self.high < 0 else UNDECIDED


def verdict(fit: PlaneFit, region: Region) -> Verdict:
    """Compare the cells of a region with the others, in the data and in resamples of them."""
    inside = np.array([region.holds(*cell) for cell in CELLS])
    value = np.nan_to_num(np.maximum(np.column_stack([fit.r, fit.draws]), 0.0)) ** 2
    a, b = value[inside].mean(axis=0), value[~inside].mean(axis=0)
    low, high = intervals((a - b)[None, 1:], (a - b)[:1])
    means = float(a[0]), float(b[0])
    return Verdict(*means, float(low[0]), float(high[0]), len(fit.systems) >= ENOUGH_SYSTEMS)


class GroupRow(NamedTuple):
    """The plane of a group of segments in one line; shares are between 0 and 1."""

    dimension: str
    group: str
    """Empty for all segments."""
    segments: int
    judgements: int
    maximum: str
    r2: float
    low: float
    high: float
    p: float
    pick: str
    picking: float
    bleu: float
    """The left-out share of BLEU's point."""
    prediction: str
    """`holds`, `fails`, `undecided`, or empty if none was asked for."""


def _in_line(fit: PlaneFit, found: Verdict | None) -> GroupRow:
    top, pick = fit.maximum, fit.pick
    row = fit.row(BLEU_CELL if top is None else top)
    return GroupRow(
        fit.dimension,
        fit.group,
        fit.segments,
        fit.judgements,
        maximum="" if top is None else str(top),
        r2=math.nan if top is None else row.r2,
        low=math.nan if top is None else row.low,
        high=math.nan if top is None else row.high,
        p=fit.p,
        pick="" if pick is None else str(pick),
        picking=fit.picking,
        bleu=fit.row(BLEU_CELL).q2,
        prediction="" if found is None else found.words,
    )


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
    by: str = ""
    """The grouping, if groups have planes of their own: after that of all segments."""
    asked_references: tuple[int, ...] = ()
    """The numbers of the references that were used; empty for all."""
    remarks: tuple[str, ...] = ()
    """Sentences on groups without a plane."""

    @property
    def beside(self) -> tuple[BesideRow, ...]:
        """Metrics beside the cells, of all planes."""
        return tuple(row for fit in self.fits for row in fit.beside)

    @property
    def groups(self) -> tuple[GroupRow, ...]:
        """All planes in a line each, if groups were asked for."""
        found = self.verdicts or (None,) * len(self.fits)
        return tuple(map(_in_line, self.fits, found)) if self.by else ()

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
        dimensions = tuple(dict.fromkeys(fit.dimension for fit in self.fits))
        how = self.fits[0].settings
        asked = {"region": self.region, "splits": self.splits}
        chosen = {"references": self.asked_references, "by": self.by}
        return {**how, "dimension": dimensions, **asked, **chosen}

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the family on this set and of the metrics beside it."""
        return self.fits[0].signatures

    @property
    def signature(self) -> str:
        """The signatures of the family on this set and of the metrics beside it, a line each."""
        return self.fits[0].signature

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what to take from the planes."""
        return tuple(study_notes(self))


@renamed(beside="compare_with")
def study_plane(
    evalset: EvalSet | GivenPath,
    metric: AEv | None = None,
    dimensions: Sequence[str] = (),
    *,
    references: Sequence[int] = (),
    compare_with: Sequence[str | Metric] = (),
    by: str | Grouping | None = None,
    region: Region | None = None,
    normalise: str = "none",
    over: str = "both",
    resamples: int = 1000,
    splits: int = 200,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> PlaneStudy:
    """Fit the AEv plane of each dimension of an evaluation set.

    Args:
        evalset: a set, or its name or path.
        metric: AEv, with any settings except alpha and n.
        dimensions: by default all.
        references: numbers of the references to use, from 1; by default all.
        compare_with: other metrics to show, such as `bleu`, with these references and with all.
        by: groups of segments with planes of their own: `groups` of the set, or `lengths:parts=N`
            for N groups by reference length.
        region: prediction of the paper (`predicted`), to be tested.
        splits: number of random splits that test the choice on the other half.
        normalise, over, resamples, seed: as in `Experiment`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    metric = AEv() if metric is None else metric
    evalset = as_evalset(evalset, progress)
    chosen = evalset.chosen_dimensions(dimensions)
    used = with_references(evalset, references)
    groups = grouped(used, by) if by is not None else {}
    others = lineups(evalset, compare_with, references, threads=threads, progress=progress)
    scored = score_evalset(used, metric, threads=threads, progress=progress)
    remarks: list[str] = []
    how = {"resamples": resamples, "over": over, "seed": seed, "progress": progress}
    pairs = [
        pair
        for d in chosen
        for pair in _planes(judged(scored, metric, d, normalise, others), d, groups, how, remarks)
    ]
    fits = tuple(fit for _, fit in pairs)
    verdicts = tuple(verdict(fit, region) for fit in fits) if region else ()
    halves = tuple(split_halves(of, splits, seed, progress) for of, _ in pairs) if splits else ()
    name = "" if by is None else str(parse_grouping(by))
    about = name, tuple(references), tuple(remarks)
    return PlaneStudy(used, metric, region, fits, verdicts, halves, splits, *about)


def _planes(
    whole: PlaneData,
    dimension: str,
    groups: Mapping[str, list[int]],
    how: dict[str, Any],
    remarks: list[str],
) -> Iterator[tuple[PlaneData, PlaneFit]]:
    """Yield the plane of all segments and those of groups; say of which groups there is none."""
    yield whole, fit_plane(whole, dimension, **how)
    for group, places in groups.items():
        part = whole.part(group, places)
        try:
            yield part, fit_plane(part, dimension, **how)
        except InputError as error:
            remarks.append(f"No plane for {error}.")
