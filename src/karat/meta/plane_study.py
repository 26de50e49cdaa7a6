"""A study of the evaluation plane: planes by dimension and group, and the paper's predictions."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import (
    ClassVar,
    NamedTuple,
    Protocol,
    runtime_checkable,
)

from karat.arithmetic import SLACK
from karat.arrays import np
from karat.errors import InputError, quoted
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.agreement import weighted_means
from karat.meta.plane import (
    BLEU_CELL,
    CELLS,
    ComparedRow,
    PlaneData,
    PlaneFit,
    PlaneRow,
    best_cell,
    correlations,
    fit_plane,
    format_percent,
    intervals,
    plane_data,
    score_compared_metrics,
)
from karat.meta.scores import score_evalset, with_references
from karat.meta.settings import PlaneSettings
from karat.metrics.base import Metric
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.registry import Registry
from karat.results import Result, SignedResult
from karat.settings import SEED, NamedSettings, check_trials, parse_settings, setting
from karat.stats.significance import UNDECIDED


class Region(NamedTuple):
    """A part of the plane: alphas and orders from and to, both ends included."""

    alpha_low: float
    alpha_high: float
    n_low: int
    n_high: int

    def holds(self, alpha: float, n: int) -> bool:
        """Return whether a cell lies in the region."""
        slack = 1e-9  # 0.1 * 3 is not 0.3
        wide = self.alpha_low - slack <= alpha <= self.alpha_high + slack
        return wide and self.n_low <= n <= self.n_high

    def __str__(self) -> str:
        orders = f"{self.n_low} to {self.n_high}" if self.n_low < self.n_high else str(self.n_low)
        return f"alpha {self.alpha_low:g} to {self.alpha_high:g}, n {orders}"


TASKS: Mapping[str, tuple[int, int, str]] = MappingProxyType(
    {
        "mt": (3, 4, "translations: faithful, hardly compact"),
        "paraphrase": (3, 4, "paraphrases: faithful, hardly compact"),
        "qa": (2, 3, "answers to questions"),
        "viewpoint-summary": (1, 2, "summaries from a viewpoint"),
        "summary": (1, 1, "generic summaries: compact"),
    }
)
"""Task -> the lowest and highest order n that the paper predicts, and a description."""

GUIDELINES: Mapping[str, tuple[float, float, str]] = MappingProxyType(
    {
        "adequacy": (0.0, 0.3, "is all of the meaning there?"),
        "coverage": (0.0, 0.3, "is the content there?"),
        "lenient": (0.0, 0.3, "is the answer there, whatever else is?"),
        "strict": (0.3, 0.7, "is the answer there, and nothing misleading?"),
        "fluency": (0.7, 1.0, "is it good language?"),
    }
)
"""Guideline -> the lowest and highest alpha that the paper predicts, and its question."""

PAPERS_WORDS: Mapping[str, str] = MappingProxyType({"correctness": "strict"})
"""Other names of guidelines; correctness is about content and precise wording (section 2)."""


class Published(NamedTuple):
    """A table of the paper: R^2 in percent at alpha = 0, 0.1, ..., 1, in the legible rows."""

    number: int
    task: str
    guideline: str
    description: str
    best: tuple[float, int, float]  # alpha, n and R^2 of its best cell
    rows: Mapping[int, tuple[float, ...]]  # by order n


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


PAPER = (
    Published(
        *(1, "mt", "fluency", "7 Chinese-English systems, 878 sentences", (1.0, 3, 79.04)),
        {
            4: _numbers("76.10 76.45 76.78 77.10 77.40 77.69 77.96 78.21 78.45 78.67 78.87"),
            3: _numbers("76.11 76.6 77.04 77.44 77.80 78.11 78.38 78.61 78.80 78.94 79.04"),
            2: _numbers("73.19 74.21 75.07 75.78 76.32 76.72 76.96 77.06 77.03 76.87 76.58"),
            1: _numbers("31.71 38.22 44.82 51.09 56.59 60.99 64.10 65.90 66.50 66.12 64.99"),
        },
    ),
    Published(
        *(2, "mt", "adequacy", "7 Chinese-English systems, 878 sentences", (0.0, 4, 83.04)),
        {
            4: _numbers("83.04 82.58 82.11 81.61 81.10 80.56 80.01 79.44 78.86 78.26 77.64"),
            3: _numbers("81.80 81.00 80.16 79.27 78.35 77.39 76.40 75.37 74.31 73.23 72.11"),
        },
    ),
    Published(
        *(3, "summary", "coverage", "15 systems, summaries of 200 words", (0.0, 1, 90.77)),
        {
            4: _numbers("67.10 66.51 65.91 65.29 64.65 64.00 63.34 62.67 61.99 61.30 60.61"),
            3: _numbers("69.55 68.81 68.04 67.24 66.42 65.57 64.69 63.79 62.88 61.95 61.00"),
            2: _numbers("74.43 73.29 72.06 70.74 69.35 67.87 66.33 64.71 63.03 61.30 59.51"),
            1: _numbers("90.77 90.77 90.66 90.42 90.03 89.48 88.74 87.77 86.55 85.05 83.21"),
        },
    ),
    Published(
        *(4, "summary", "coverage", "15 systems, summaries of 400 words", (0.0, 1, 92.28)),
        {
            4: _numbers("81.24 81.04 80.78 80.47 80.12 79.73 79.30 78.84 78.35 77.84 77.31"),
            3: _numbers("84.72 84.33 83.86 83.33 82.73 82.08 81.39 80.65 79.88 79.07 78.24"),
        },
    ),
    Published(
        *(5, "qa", "lenient", "11 systems, 115 questions", (0.0, 2, 91.72)),
        {
            4: _numbers("63.40 57.62 51.86 46.26 40.96 36.02 31.51 27.43 23.78 20.54 17.70"),
            3: _numbers("81.39 76.38 70.76 64.76 58.61 52.51 46.63 41.09 35.97 31.33 27.15"),
            2: _numbers("91.72 89.21 85.54 80.78 75.14 68.87 62.25 55.56 49.04 42.88 37.20"),
            1: _numbers("61.61 58.83 55.25 51.04 46.39 41.55 36.74 32.12 27.85 23.97 20.54"),
        },
    ),
    Published(
        *(6, "qa", "strict", "11 systems, 115 questions, answers flooded", (0.3, 2, 86.26)),
        {
            4: _numbers("79.94 79.18 75.80 70.63 64.58 58.35 52.39 46.95 42.11 37.87 34.19"),
            3: _numbers("76.15 80.44 81.19 78.45 73.07 66.27 59.11 52.26 46.08 40.68 36.04"),
        },
    ),
)
"""The paper's own tables. For MT it also gives R^2 of BLEU with the same one reference, 78.52 with
fluency and 83.91 with adequacy, and with four references, 64.96 and 62.21."""


def predicted(task: str, guideline: str) -> Region:
    """Return the region that the paper predicts for a `task` and a `guideline`."""
    guideline = PAPERS_WORDS.get(guideline, guideline)
    for name, value, names_to_regions in (
        ("task", task, TASKS),
        ("guideline", guideline, GUIDELINES),
    ):
        if value not in names_to_regions:
            names = [*names_to_regions, *(PAPERS_WORDS if names_to_regions is GUIDELINES else ())]
            raise InputError(f"{name} {quoted(value)}: expected one of {', '.join(names)}")
    return Region(*GUIDELINES[guideline][:2], *TASKS[task][:2])


class PlacedTask(NamedTuple):
    """An evaluation on the plane, as in the paper's Figure 1: a task judged by a guideline."""

    task: str
    guideline: str
    region: Region
    best: tuple[tuple[float, int], ...]  # best cells in the paper, or recommended ones
    tables: tuple[int, ...]  # numbers of the paper's tables for it
    is_requested: bool  # True for the evaluation of the recommendation


def _place_task(task: str, guideline: str) -> PlacedTask:
    tables = [table for table in PAPER if (table.task, table.guideline) == (task, guideline)]
    best = dict.fromkeys(table.best[:2] for table in tables)
    numbers = tuple(table.number for table in tables)
    return PlacedTask(
        task, guideline, predicted(task, guideline), tuple(best), numbers, is_requested=False
    )


class Recommended(NamedTuple):
    """A member of the AEv family, and the basis of its recommendation."""

    metric: str
    alpha: float
    n: int
    rests_on: str


@dataclass(frozen=True, repr=False)
class Recommendation(Result):
    """The paper's recommendation for a task and a guideline, without the user's human scores."""

    task: str
    guideline: str
    region: Region
    tables: tuple[Published, ...]  # the paper's tables for them, if any

    @property
    def rows(self) -> tuple[Recommended, ...]:
        """The best cell of each table, or a cell of the predicted region."""
        if not self.tables:
            middle = round((self.region.alpha_low + self.region.alpha_high) / 2, 2)
            alpha = {0.15: 0.0, 0.85: 1.0}.get(middle, middle)
            basis = "the paper's prediction alone: it measured no such task"
            return (_recommended(alpha, self.region.n_high, basis),)
        return tuple(
            _recommended(
                *t.best[:2], f"the paper's Table {t.number}: {t.description}, R^2 {t.best[2]}%"
            )
            for t in self.tables
        )

    @property
    def placed(self) -> tuple[PlacedTask, ...]:
        """The evaluations of the paper on the plane, and the requested one."""
        requested = self.task, self.guideline
        pairs = dict.fromkeys((table.task, table.guideline) for table in PAPER)
        paper_tasks = tuple(_place_task(*pair) for pair in pairs if pair != requested)
        cells = tuple(dict.fromkeys((row.alpha, row.n) for row in self.rows))
        return (*paper_tasks, _place_task(*requested)._replace(best=cells, is_requested=True))

    @property
    def settings(self) -> dict[str, object]:
        """The task and the guideline."""
        return {"task": self.task, "guideline": self.guideline}

    @property
    def signature(self) -> str:
        """The metrics, one per line."""
        return "\n".join(row.metric for row in self.rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the basis of the recommendation and its settings."""
        return (
            f"The predicted region is {self.region}. This rests on Soricut and Brill (2004): few "
            "systems, one set for each task, no intervals. With human scores of your own, karat "
            "plane fit says whether it holds for you.",
            "preset=paper ignores case, stems with Porter's stemmer and leaves English stop words "
            "out of the unigrams. Keep these settings: case-sensitive matching can agree less with "
            "people.",
        )


def _recommended(alpha: float, n: int, basis: str) -> Recommended:
    return Recommended(f"aev:preset=paper,alpha={alpha:g},n={n}", alpha, n, basis)


def recommend(task: str, guideline: str) -> Recommendation:
    """Return the AEv metrics that the paper recommends for a `task` and a `guideline`."""
    guideline = PAPERS_WORDS.get(guideline, guideline)
    tables = tuple(table for table in PAPER if (table.task, table.guideline) == (task, guideline))
    return Recommendation(task, guideline, predicted(task, guideline), tables)


MIN_PLANE_SYSTEMS = 6  # with fewer, leaving systems out and resampling them mean little

POINTS_UNSIGNED = (
    "A minus sign in a plane marks a negative correlation; points and intervals are of R^2 itself, "
    "which has no sign."
)


def study_notes(study: PlaneStudy) -> Iterator[str]:
    """Yield the notes on all planes of a set, their picks and the paper's prediction."""
    fits = [fit for fit in study.fits if not fit.group]
    for fit in fits:
        yield from fit.notes
    if any((fit.r < 0).any() for fit in fits):
        yield POINTS_UNSIGNED
    for fit, verdict in zip(study.fits, study.verdicts, strict=False):
        if not fit.group:
            yield _prediction_note(fit, study.region, verdict)
    for fit, halves in zip(study.fits, study.halves, strict=False):
        if not fit.group:
            yield _halves_note(fit, halves)
    if study.compared:
        references = ", ".join(map(str, study.reference_numbers))
        yield "Other metrics are resampled as the cells are, with the same draws." + (
            f" The cells use reference {references}." if references else ""
        )
    if study.by:
        yield (
            f"Groups of segments ({study.by}) have planes of their own; the fewer segments a group "
            "has, the less its human and metric scores are worth."
        )
    yield from study.remarks
    fewest_systems = min(len(fit.systems) for fit in fits)
    if fewest_systems < MIN_PLANE_SYSTEMS:
        subject = "1 system is" if fewest_systems == 1 else f"{fewest_systems} systems are"
        yield (
            f"{subject} too few to tell cells apart: intervals over systems, left-out "
            f"shares, picks and halves mean little below {MIN_PLANE_SYSTEMS}."
        )
    yield from study.evalset.notes


def _prediction_note(fit: PlaneFit, region: Region | None, result: Verdict) -> str:
    means = (
        f"Mean R^2 there {format_percent(result.inside)}, elsewhere "
        f"{format_percent(result.outside)}"
    )
    if math.isnan(result.low):
        return (
            f"{fit.dimension}: the paper predicts {region}. {means}; without resamples nothing can "
            "be said of the difference."
        )
    verb = "is undecided" if result.words == UNDECIDED else result.words
    return (
        f"{fit.dimension}: the paper predicts {region}. {means}, difference between "
        f"{100 * result.low:.1f} and {100 * result.high:.1f} points: the prediction {verb}."
    )


def _halves_note(fit: PlaneFit, halves: Halves) -> str:
    if not halves.splits:
        return (
            f"{fit.dimension}: systems are too few, or too much alike, to try a pick on the other "
            "half of them."
        )
    return (
        f"{fit.dimension}: picked on half of systems and segments and tried on the other half "
        f"({halves.splits:,} times), the pick loses to BLEU's point in {100 * halves.loses:.0f}%, "
        f"ties in {100 * halves.ties:.0f}%; mean R^2 {100 * halves.pick_r2:.1f}% against "
        f"{100 * halves.bleu:.1f}%."
    )


MAX_GROUPS = 50  # groups that can have planes of their own


@runtime_checkable
class Grouping(Protocol):
    """A way to put the segments of a set into groups."""

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the indices of the segments of each group, by its name."""


@dataclass(frozen=True)
class Groups(NamedSettings):
    """The set's own groups: documents, questions, or requested lengths of summaries."""

    name: ClassVar[str] = "groups"

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the indices of the segments of each group, by its name."""
        if evalset.groups is None:
            raise InputError(
                f"{evalset.name} has no groups of segments: add them to its segments (see karat "
                "data), or group by lengths"
            )
        indices_by_group: dict[str, list[int]] = {}
        for place, group in enumerate(evalset.groups):
            indices_by_group.setdefault(group, []).append(place)
        return indices_by_group


@dataclass(frozen=True)
class Lengths(NamedSettings):
    """Parts of about equal size, by the mean length of a segment's references in words.

    Segments of equal length stay together, so there may be fewer parts.
    """

    name: ClassVar[str] = "lengths"

    parts: int = setting(2, "the number of parts", low=2, high=MAX_GROUPS)

    def places(self, evalset: EvalSet) -> Mapping[str, list[int]]:
        """Return the indices of the segments of each part, the shortest first."""
        lengths = [
            sum(len(text.split()) for text in group) / max(len(group), 1)
            for group in evalset.references
        ]
        bounds = self._bounds(sorted(lengths))
        parts: dict[int, list[int]] = {}
        for place, length in enumerate(lengths):
            parts.setdefault(bisect_right(bounds, length), []).append(place)
        indices_by_span = {}
        for part in sorted(parts):
            ends = min(lengths[k] for k in parts[part]), max(lengths[k] for k in parts[part])
            low, high = (f"{end:.2f}".rstrip("0").rstrip(".") for end in ends)
            indices_by_span[f"{low} to {high} words"] = parts[part]
        return indices_by_span

    def _bounds(self, ordered: list[float]) -> list[float]:
        """Return the shortest length of each part except the first; ties prevent equal sizes."""
        steps = [i for i in range(1, len(ordered)) if ordered[i - 1] < ordered[i]]
        ideal = [len(ordered) * k / self.parts for k in range(1, self.parts)]
        cuts = {min(steps, key=lambda i: abs(i - at)) for at in ideal} if steps else set()
        return sorted(ordered[cut] for cut in cuts)


GROUPINGS: Registry[type[NamedSettings]] = Registry(
    "groupings", "grouping", {"groups": Groups, "lengths": Lengths}
)


def parse_grouping(name: str | Grouping) -> Grouping:
    """Return the grouping that `name:setting=value` describes; its string form parses back."""
    if not isinstance(name, str):
        return name
    grouping = parse_settings(GROUPINGS[name.partition(":")[0].strip()], name)
    if not isinstance(grouping, Grouping):
        raise InputError(f"grouping {quoted(name)} has no method places")
    return grouping


def grouped(evalset: EvalSet, by: str | Grouping) -> Mapping[str, list[int]]:
    """Return the indices of the segments of each group; raise unless there are 2 to 50 groups."""
    grouping = parse_grouping(by)
    groups = grouping.places(evalset)
    if not 2 <= len(groups) <= MAX_GROUPS:
        raise InputError(
            f"{evalset.name}: {len(groups):,} group{'s' * (len(groups) != 1)} of segments by "
            f"{grouping}: expected 2 to {MAX_GROUPS}"
        )
    return groups


MIN_SYSTEMS_FOR_HALVES = 4


class Halves(NamedTuple):
    """A pick made on half of the systems and segments, tried on the other half.

    A cell with a negative or undefined correlation there has R^2 = 0. All values are NaN if no half
    can be used: there are too few systems, or their human scores do not differ.
    """

    splits: int  # number of picks that were tried: two for each split with two usable halves
    loses: float  # share of picks for which BLEU's point has the larger R^2 on the other half
    ties: float
    pick_r2: float  # the pick's mean R^2 on the other half
    bleu: float  # the mean R^2 of BLEU's point on the other half


def split_halves(
    data: PlaneData, splits: int = 500, seed: int = SEED, progress: Progress = silent
) -> Halves:
    """Pick a cell on a random half of systems and segments, and try it on the other half.

    Halves without a pick, or without two different systems to try it on, do not count.
    """
    check_trials("splits", splits)
    rng = np.random.default_rng(seed)
    pairs: list[tuple[float, float]] = []
    for done in range(1, splits + 1 if len(data.systems) >= MIN_SYSTEMS_FOR_HALVES else 1):
        pairs += _try_picks_on_halves(data, rng)
        progress(done, splits, "splitting into halves")
    if not pairs:
        return Halves(0, math.nan, math.nan, math.nan, math.nan)
    pick, bleu = (np.array(values) for values in zip(*pairs, strict=True))
    shares = (pick < bleu - SLACK).mean(), (np.abs(pick - bleu) <= SLACK).mean()
    return Halves(len(pairs), *map(float, (*shares, pick.mean(), bleu.mean())))


def _try_picks_on_halves(
    data: PlaneData, rng: np.random.Generator
) -> Iterator[tuple[float, float]]:
    """Yield R^2 of each half's pick, and of BLEU's point, on the other half."""
    n_systems, n_segments = data.judged.shape
    in_first_half = rng.permutation(n_systems) < n_systems // 2
    first_segments = (rng.permutation(n_segments) < n_segments // 2).astype(float)
    counts = np.stack([first_segments, 1 - first_segments])
    human, cells = weighted_means(data.judged, counts), data.cell_scores(counts)
    for order, picking_half in (([0, 1], in_first_half), ([1, 0], ~in_first_half)):
        halves = np.stack([picking_half, ~picking_half])
        r = correlations(np.where(halves, human[order], np.nan), cells[:, order])
        pick = int(best_cell(r[:, :1])[0])
        r2 = np.nan_to_num(np.maximum(r[:, 1], 0.0)) ** 2
        if pick >= 0 and not np.isnan(r[:, 1]).all():
            yield float(r2[pick]), float(r2[CELLS.index(BLEU_CELL)])


class Verdict(NamedTuple):
    """The predicted region compared with the rest of the plane."""

    inside: float  # mean R^2 of its cells; negative correlations count as 0
    outside: float
    low: float
    high: float  # ends of the 95% bootstrap interval of the difference
    enough_systems: bool = True  # False if there are too few systems to compare cells

    @property
    def words(self) -> str:
        """`holds`, `fails` or `undecided`."""
        if not self.enough_systems:
            return UNDECIDED
        if self.low > 0:
            return "holds"
        return "fails" if self.high < 0 else UNDECIDED


def verdict(fit: PlaneFit, region: Region) -> Verdict:
    """Compare the cells of a region with the others, in the data and in resamples."""
    inside = np.array([region.holds(*cell) for cell in CELLS])
    value = np.nan_to_num(np.maximum(np.column_stack([fit.r, fit.draws]), 0.0)) ** 2
    a, b = value[inside].mean(axis=0), value[~inside].mean(axis=0)
    low, high = intervals((a - b)[None, 1:], (a - b)[:1])
    means = float(a[0]), float(b[0])
    return Verdict(*means, float(low[0]), float(high[0]), len(fit.systems) >= MIN_PLANE_SYSTEMS)


class GroupRow(NamedTuple):
    """The plane of a group of segments in one row; shares are between 0 and 1."""

    dimension: str
    group: str  # empty for all segments
    segments: int
    judgements: int
    maximum: str
    r2: float
    low: float
    high: float
    p: float
    pick: str
    picking: float
    bleu: float  # the left-out share of BLEU's point
    prediction: str  # `holds`, `fails`, `undecided`, or empty if not requested


def _group_row(fit: PlaneFit, result: Verdict | None) -> GroupRow:
    top, pick = fit.maximum, fit.pick
    best = math.nan, math.nan, math.nan
    if top is not None:
        row = fit.row(top)
        best = row.r2, row.low, row.high
    return GroupRow(
        *(fit.dimension, fit.group, fit.segments, fit.judgements),
        maximum="" if top is None else str(top),
        r2=best[0],
        low=best[1],
        high=best[2],
        p=fit.p,
        pick="" if pick is None else str(pick),
        picking=fit.picking,
        bleu=fit.row(BLEU_CELL).q2,
        prediction="" if result is None else result.words,
    )


@dataclass(frozen=True, eq=False, repr=False)
class PlaneStudy(SignedResult):
    """The planes of some dimensions of one evaluation set, and tests of their picks."""

    evalset: EvalSet
    metric: AEv
    region: Region | None  # the paper's prediction, if requested
    fits: tuple[PlaneFit, ...]
    verdicts: tuple[Verdict, ...]  # one for each fit, if there is a region
    halves: tuple[Halves, ...]  # one for each fit, if splits were requested
    splits: int = 0
    by: str = ""  # the grouping, if groups have planes of their own
    reference_numbers: tuple[int, ...] = ()  # of the references that are used; empty for all
    remarks: tuple[str, ...] = ()  # notes on groups without a plane

    @property
    def compared(self) -> tuple[ComparedRow, ...]:
        """Other metrics, of all planes."""
        return tuple(row for fit in self.fits for row in fit.compared)

    @property
    def groups(self) -> tuple[GroupRow, ...]:
        """All planes, one row each, if groups were requested."""
        verdicts = self.verdicts or (None,) * len(self.fits)
        return tuple(map(_group_row, self.fits, verdicts)) if self.by else ()

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """All cells of all dimensions; with a region, whether the paper predicts them."""
        rows = (row for fit in self.fits for row in fit.rows)
        region = self.region
        if region is None:
            return tuple(rows)
        return tuple(row._replace(predicted=region.holds(row.alpha, row.n)) for row in rows)

    @property
    def settings(self) -> dict[str, object]:
        """The family, the dimensions, the prediction and the settings of intervals."""
        dimensions = tuple(dict.fromkeys(fit.dimension for fit in self.fits))
        fit_settings = self.fits[0].settings
        test_settings = {"region": self.region, "splits": self.splits}
        chosen = {"references": self.reference_numbers, "by": self.by}
        return {**fit_settings, "dimension": dimensions, **test_settings, **chosen}

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the family, of the compared metrics and of the set."""
        return self.fits[0].signatures

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the planes."""
        return tuple(study_notes(self))


def study_plane(
    evalset: SetSource,
    metric: AEv | None = None,
    dimensions: Sequence[str] = (),
    *,
    references: Sequence[int] = (),
    compare_with: Sequence[str | Metric] = PlaneSettings.compare_with,
    by: str | Grouping | None = PlaneSettings.by,
    region: Region | None = None,
    normalise: str = PlaneSettings.normalise,
    over: str = PlaneSettings.over,
    resamples: int = PlaneSettings.resamples,
    splits: int = PlaneSettings.splits,
    seed: int = PlaneSettings.seed,
    threads: int | None = None,
    progress: Progress = silent,
) -> PlaneStudy:
    """Fit the AEv plane of each dimension of an evaluation set.

    Args:
        evalset: a set, its name or path, the path of a table, or a frame.
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
    compared = score_compared_metrics(
        evalset,
        compare_with,
        references,
        dimensions=chosen,
        threads=threads,
        progress=progress,
    )
    scored = score_evalset(used, metric, threads=threads, progress=progress)
    fits: list[PlaneFit] = []
    halves: list[Halves] = []
    remarks: list[str] = []
    for dimension in chosen:
        for group, segments in {"": range(len(used)), **groups}.items():
            data = plane_data(scored, metric, dimension, normalise, compared, group, segments)
            try:
                fit = fit_plane(
                    data, dimension, resamples=resamples, over=over, seed=seed, progress=progress
                )
            except InputError as error:
                if not group:
                    raise
                remarks.append(f"No plane for {error}.")
                continue
            fits.append(fit)
            if splits:
                halves.append(split_halves(data, splits, seed, progress))
    return PlaneStudy(
        used,
        metric,
        region,
        tuple(fits),
        tuple(verdict(fit, region) for fit in fits) if region else (),
        tuple(halves),
        splits,
        by="" if by is None else str(parse_grouping(by)),
        reference_numbers=tuple(references),
        remarks=tuple(remarks),
    )
