"""Scoring: from texts to statistics in one pass, and from statistics to scores and intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from karat.arithmetic import SLACK, exact_sum, exact_sums, joined_sums, partial_sums, rounded
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, MetricError, UnknownMetric, quoted, short
from karat.evalset.judged_scores import unjudged_systems
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, Score
from karat.metrics.names import explain_unknown, metric, scores_metric
from karat.metrics.pairs import SegmentNames, run_batches
from karat.progress import Progress, silent
from karat.results import Column, Result, number
from karat.score_settings import ANSWER_METRICS, GROUPINGS, LEVELS, SEGMENT
from karat.stats.buckets import (
    CellSums,
    bucket_of_ids,
    check_filled,
    join_cells,
    resolve_buckets,
    sum_cells,
)
from karat.stats.jackknife import UnitEstimate, jackknife
from karat.stats.repeated import answer_variance, share_interval
from karat.stats.significance import MIN_DECIDING_UNITS, ahead
from karat.stats.units import Units
from karat.text.references import (
    GivenReferences,
    NoReferences,
    References,
    as_references,
    check_aligned,
)
from karat.text.segments import Segments, Strings, Texts, as_segments, has_no_order

if TYPE_CHECKING:
    from karat.evalset.aligned_texts import AlignedTexts
    from karat.ranked_segments import RankedSegments

Systems: TypeAlias = "Mapping[str, Texts] | Texts"
"""Systems by name, or the texts of a single system, which is then called `candidate`."""
Metrics: TypeAlias = "Sequence[str | Metric] | str | Metric"
"""One or several metrics, or their names."""
StatsKey: TypeAlias = "tuple[str, Metric]"
"""A system and a metric."""

# ------------------------------------------------------------------------------------ inputs


class TextInputs(NamedTuple):
    """The inputs of scoring: systems, references, metrics and the ids of segments."""

    systems: Mapping[str, Segments]
    references: References
    metrics: Sequence[Metric]
    segments: SegmentNames
    remarks: tuple[str, ...] = ()
    """Notes on how the set was read, and on the choice of metrics."""
    kind: str | None = None
    """Kind of task of the set, if it is known."""


USUAL_METRICS = ("bleu",)
"""Metrics of texts with references if none are named, in Python."""


def make_inputs(
    systems: Systems | AlignedTexts | EvalSet | str,
    references: GivenReferences | None,
    metrics: Metrics | None,
    threads: int | None = None,
    progress: Progress = silent,
    usual_metrics: Sequence[str] = USUAL_METRICS,
) -> TextInputs:
    """Return the systems, references and metrics to score, checked.

    References and texts may be missing if no metric reads them. Without metrics, the usual ones
    are taken, or those that fit a set (`default_metrics`).
    """
    if isinstance(systems, tuple):
        from karat.evalset.aligned_texts import AlignedTexts

        if isinstance(systems, AlignedTexts):
            if references is not None:
                advice = "leave references out"
                raise InputError(f"texts of load_texts have their own references: {advice}")
            references = systems.references
            systems = systems.segments()
    if references is None and isinstance(systems, str | os.PathLike):
        from karat.evalset.loading import load_evalset

        systems = load_evalset(systems)
    if isinstance(systems, EvalSet):
        if references is not None:
            raise InputError("an evaluation set has its own references: leave references out")
        remarks: tuple[str, ...] = ()
        if metrics is None:
            metrics, remarks = default_metrics(systems, usual_metrics)
        inputs = inputs_from_set(systems, {}, metrics, threads, progress)
        ids, groups = systems.given_ids(), systems.groups
        reads_texts = any(m.reads_texts for m in inputs.metrics)
        outputs_by_system = systems.outputs() if reads_texts else systems.filled_outputs()
        texts = {
            name: Strings(outputs, f"system {name}", ids, groups)
            for name, outputs in outputs_by_system.items()
        }
        return inputs._replace(systems=make_systems(texts), remarks=(*systems.remarks, *remarks))
    chosen = metrics_for_set(usual_metrics if metrics is None else metrics, None)
    segments_by_system = make_systems(systems)
    first = next(iter(segments_by_system.values()))
    if references is not None:
        refs = as_references(references, len(first), first.name)
    elif any(m.needs_references for m in chosen):
        raise InputError("no references were given: they are needed unless systems is an EvalSet")
    else:
        refs = NoReferences(len(first))
    return TextInputs(segments_by_system, refs, chosen, SegmentNames(len(first)))


def inputs_from_set(
    evalset: EvalSet,
    systems: Mapping[str, Segments],
    metrics: Metrics,
    threads: int | None = None,
    progress: Progress = silent,
) -> TextInputs:
    """Return the inputs of scoring `systems` against the references of a set."""
    chosen = metrics_for_set(metrics, evalset, threads, progress)
    reading = next((m for m in chosen if m.reads_texts), None)
    if reading is not None and not evalset.has_texts:
        raise InputError(f"{evalset.name} has no texts of outputs, which {reading} reads")
    if any(m.needs_references for m in chosen) or all(evalset.references):
        refs = as_references(evalset.given_references(), len(evalset))
    else:
        refs = NoReferences(len(evalset))
    names = SegmentNames(len(evalset), evalset.segments, evalset.left_out, evalset.grouping)
    return TextInputs(systems, refs, chosen, names, kind=evalset.task_kind)


def make_systems(systems: Systems) -> dict[str, Segments]:
    """Return the segments of each system; require the same number from all."""
    texts_by_system = systems if isinstance(systems, Mapping) else {"candidate": systems}
    if not texts_by_system:
        raise InputError("no system was given: at least one is needed")
    segments_by_system = {
        name: as_segments(texts, f"system {name}") for name, texts in texts_by_system.items()
    }
    check_aligned(list(segments_by_system.values()))
    return segments_by_system


def metrics_for_set(
    metrics: Metrics,
    evalset: EvalSet | None,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[Metric]:
    """Load metrics without duplicates, with the data that they need from a set, if there is one."""
    return load_metrics(
        m
        for loaded in load_metrics(metrics, evalset)
        for m in loaded.for_evalset(evalset, threads, progress)
    )


class DefaultMetrics(NamedTuple):
    """The metrics of a set if none are named, and notes on the choice."""

    metrics: tuple[str | Metric, ...]
    remarks: tuple[str, ...] = ()


def default_metrics(
    evalset: EvalSet, usual_metrics: Sequence[str] = USUAL_METRICS
) -> DefaultMetrics:
    """Return the metrics to compute if none are named.

    They are the usual ones if the set has texts and references, and others for answers to
    questions. Otherwise they are its dimensions,
    then the scores that come with it. If it has neither, they are the usual metrics that need no
    references.
    """
    has_references = any(evalset.references)
    if evalset.has_texts and has_references:
        if not evalset.answers_questions:
            return DefaultMetrics(tuple(usual_metrics))
        remark = f"{evalset.name} has answers to questions, so the metrics are those of answers."
        return DefaultMetrics(ANSWER_METRICS, (remark,))
    lacks = "references" if evalset.has_texts else "texts of outputs"
    unjudged = {name: unjudged_systems(evalset, name) for name in evalset.dimensions}
    names = [scores_metric(metric=name) for name in unjudged if not unjudged[name]]
    names += [scores_metric(column=name) for name in evalset.offered]
    if names:
        chosen = f"{evalset.name} has no {lacks}: its judgements and scores are the metrics."
        partly = [name for name in unjudged if unjudged[name]]
        left_out = (
            f"Dimension {short(name)} is left out: {short(', '.join(unjudged[name]))} "
            f"{'has' if len(unjudged[name]) == 1 else 'have'} no judgement of it."
            for name in partly
        )
        return DefaultMetrics(tuple(names), (chosen, *left_out))
    readable = [m for m in load_metrics(usual_metrics) if not m.needs_references]
    if evalset.has_texts and readable:
        remark = f"{evalset.name} has no references: the metrics are the ones that need none."
        return DefaultMetrics(tuple(map(str, readable)), (remark,))
    advice = "name a metric that needs none with -m" if evalset.has_texts else "name scores with -m"
    raise InputError(
        f"{evalset.name} has no {lacks}, and no judgements or scores of all its systems: "
        f"add {lacks}, or {advice}, such as {'json or ' * evalset.has_texts}given:file=scores.tsv"
    )


def load_metrics(
    metrics: Metrics | Iterable[Metric], evalset: EvalSet | None = None
) -> list[Metric]:
    """Load metrics by name, without duplicates.

    The claims of equal metrics (facts that their signatures state) are merged. The error for an
    unknown name says if the set has scores or judgements of that name.
    """
    names_or_metrics = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not names_or_metrics:
        raise InputError("no metric was given: at least one is needed")
    distinct: dict[Metric, Metric] = {}
    try:
        parsed = list(map(metric, names_or_metrics))
    except UnknownMetric as error:
        raise error if evalset is None else explain_unknown(error, evalset) from None
    for requested in parsed:
        first = distinct.get(requested, requested)
        if first.full_name() != requested.full_name():
            raise InputError(
                f"{requested} is given twice with different scores: rename one of them"
            )
        distinct[requested] = first.with_claims(requested.claims)
    return list(distinct.values())


def read_sets(metrics: Metrics | None) -> list[str]:
    """Return the names of the metrics that read sources or contexts, which only sets have."""
    try:
        return [str(m) for m in (load_metrics(metrics) if metrics else ()) if m.reads_set]
    except MetricError:  # reported where metrics are loaded
        return []


class SegmentText(NamedTuple):
    """Texts of one segment of a system, and its id if it has one."""

    candidate: str
    references: tuple[str, ...]
    id: str | None = None


Places = Mapping[str, Sequence[int]]
"""Segment indices by system."""
TextLookup = Callable[[Places], Mapping[tuple[str, int], SegmentText]]
"""Look up the texts of segments by system and index, all at once."""


def text_lookup(systems: Mapping[str, Segments], references: References) -> TextLookup:
    """Return a function that looks up the texts of aligned segments."""

    def look_up(places: Places) -> dict[tuple[str, int], SegmentText]:
        texts = {}
        for system, indices in places.items():
            ids = systems[system].ids
            candidates = systems[system].strings(indices)
            for i, text, refs in zip(indices, candidates, references.strings(indices), strict=True):
                texts[system, i] = SegmentText(text, tuple(refs), None if ids is None else ids[i])
        return texts

    return look_up


# -------------------------------------------------------------------------------- statistics


class Keep(NamedTuple):
    """Parts of the statistics to keep besides the totals."""

    rows: bool = False
    segment_scores: bool = False
    buckets: int | None = None
    """Keep sums of this many buckets instead of rows."""
    units: Units | None = None
    """Buckets hold whole units; None: a unit is a segment."""


class SystemStats(NamedTuple):
    """Statistics of one system under one metric, from texts or tables."""

    total: NDArray[Any]
    row_blocks: tuple[NDArray[Any], ...]
    """Rows of segments, or sums of buckets; empty if not kept."""
    segment_scores: Floats | None
    bucket_sums: tuple[CellSums, ...] = ()  # of single batches, before they are joined

    @property
    def row_table(self) -> Floats:
        """All rows as one table."""
        return np.concatenate(self.row_blocks).astype(np.float64)

    def unit_rows(self, m: Metric, units: Units | None) -> NDArray[Any]:
        """Return one row for each unit; None: a segment or a bucket each."""
        if not self.row_blocks:
            raise InputError(f"{m} needs the rows of all segments: add intervals, which keep them")
        rows, labels = np.concatenate(self.row_blocks), None
        if rows.ndim == 3:  # sums of limbs
            rows = rounded(np.ascontiguousarray(rows.transpose(1, 0, 2)))
        elif units is not None and len(rows) == len(units.codes):
            rows, labels = units.sums(rows), units.labels
        return m.unit_rows(rows, labels)

    def estimate(self, m: Metric, units: Units | None) -> UnitEstimate:
        """Return the score with the influence of each unit; None: a segment or a bucket each."""
        rows = self.unit_rows(m, units)
        estimate = _jackknife(m, rows)
        if not m.is_share:
            return estimate
        parts = m.measure(exact_sums(rows)[None, :])
        n_segments = parts["segments"][0] if "segments" in parts else estimate.units
        return replace(estimate, observations=float(n_segments))


def _jackknife(m: Metric, rows: NDArray[Any]) -> UnitEstimate:
    return jackknife(lambda sums: m.measure(sums)["value"], rows, m.has_score(rows))


def compute_statistics(
    inputs: TextInputs,
    keep: Keep,
    threads: int | None,
    progress: Progress,
    resampling: Mapping[str, object] = MappingProxyType({}),
) -> dict[StatsKey, SystemStats]:
    """Compute the statistics of every system under every metric in one pass over the text.

    `resampling` describes the planned intervals and tests; signatures must not claim others.
    """
    systems, references, metrics, segments = inputs[:4]
    for m in metrics:
        m.check_claims(references.number, resampling)
        m.check_outputs([*systems], segments)
    if keep.buckets:
        check_filled(len(keep.units or references), keep.buckets, next(iter(systems)))

    def summarize(m: Metric, rows: NDArray[Any], first: int) -> SystemStats:
        """Return the statistics of a batch that begins with segment `first`."""
        blocks: tuple[NDArray[Any], ...] = ()
        cells: tuple[CellSums, ...] = ()
        if keep.buckets:
            ids = np.arange(first, first + len(rows), dtype=np.int64)
            unit_ids = ids if keep.units is None else keep.units.codes[ids].astype(np.int64)
            cells = (sum_cells(rows, bucket_of_ids(unit_ids, keep.buckets)),)
        elif keep.rows:
            blocks = (shrink_integers(rows),)
        scores = m.of_segments().measure(rows)["value"] if keep.segment_scores else None
        return SystemStats(partial_sums(rows), blocks, scores, cells)

    ids = None if segments.ids is None else segments.listed
    prepared = [m.with_references(references) for m in metrics]
    batches = run_batches(
        prepared, systems, references, summarize, ids=ids, threads=threads, progress=progress
    )
    stats = {}
    for i, system in enumerate(systems):
        for j, m in enumerate(metrics):
            parts = [batch[i][j] for batch in batches]
            blocks = tuple(block for part in parts for block in part.row_blocks)
            if keep.buckets:
                cells = [cell for part in parts for cell in part.bucket_sums]
                filled = np.unique(np.concatenate([cell.cells for cell in cells]))
                blocks = (join_cells(cells, keep.buckets)[filled],)
            scores = [part.segment_scores for part in parts if part.segment_scores is not None]
            total = joined_sums([part.total for part in parts])
            stats[system, m] = SystemStats(
                total, blocks, np.concatenate(scores) if scores else None
            )
    return stats


def shrink_integers(rows: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the smallest type that holds them all; leave other arrays unchanged."""
    if rows.dtype.kind not in "iu":
        return rows
    ends = np.result_type(*(np.min_scalar_type(int(x)) for x in (rows.min(), rows.max())))
    return rows.astype(ends)


# ----------------------------------------------------------------------------------- results


class ScoreRow(NamedTuple):
    """One system, one metric."""

    system: str
    metric: Metric
    score: Score
    low: float | None
    high: float | None


def metric_digits(metric: Any) -> int:
    """Return the decimals of scores in tables: two on a scale of 100, four on a scale of 1."""
    return 2 if metric.full_scale > 10 else 4


def row_digits(row: Any) -> int:
    """Return the decimals of scores in a row, by its metric."""
    return metric_digits(row.metric)


METRIC_NAME = Column("metric", "Metric", help="The metric's name; its full signature is below.")
METRIC: Column = replace(METRIC_NAME, value=lambda row: str(row.metric))
SYSTEM: Column = Column("system", "System", help="The name of the system.")
SCORE = number(
    "score",
    "Score",
    row_digits,
    "The corpus score, on the metric's own scale.",
    value=lambda row: row.score.value,
)
INTERVAL = (
    number("low", "Low", row_digits, "Lower end of the 95% interval."),
    number("high", "High", row_digits, "Upper end of the 95% interval."),
)


class DocumentScore(NamedTuple):
    """One system, one metric, one document."""

    system: str
    metric: Metric
    document: str
    segments: int
    score: Score


DOCUMENT_COLUMNS = (
    replace(METRIC, filter=True),
    replace(SYSTEM, filter=True),
    Column("document", "Document", help="The document that the segments belong to."),
    number("segments", "Segments", help="The document's segments."),
    replace(SCORE, help="The score of the document, from the sums of its segments' statistics."),
)


class UnitVariance(NamedTuple):
    """The variance of one system by one metric, where units have several segments."""

    system: str
    metric: Metric
    units: int
    segments: int
    design_effect: float | None = None
    """Variance of the score by unit over its variance by segment; None if the latter is 0."""
    between: float | None = None  # None where the score is not the mean of segment scores
    within: float | None = None
    more_units: int | None = None
    more_segments: int | None = None  # None if no number suffices


VARIANCE_COLUMNS = (
    METRIC,
    SYSTEM,
    number("units", "Units", help="Units with a score."),
    number("segments", "Segments", help="Segments of all units."),
    number(
        "design_effect",
        "Design effect",
        2,
        "Variance of the score by unit over its variance if segments were independent.",
    ),
    number("between", "Between", 4, "Variance of segment scores between units."),
    number("within", "Within", 4, "Variance of segment scores within units."),
    number("more_units", "More units", help="Further units that halve the width of the interval."),
    number(
        "more_segments",
        "More per unit",
        help="Further segments of each unit that halve it; none if no number does.",
    ),
)

RowT = TypeVar("RowT", bound="ScoreRow | Any")


@dataclass(frozen=True, eq=False, repr=False)
class ScoreResults(Result, Generic[RowT]):
    """Scores by system and metric: `results["A", "bleu"]`."""

    rows: tuple[RowT, ...]
    references: int | None
    """Number of references per segment; None if it varies."""
    values: Mapping[StatsKey, Floats]
    """Segment scores by system and the metric's `of_segments()`, if they were requested."""
    inference: Inference | None
    """The units of intervals; None without intervals."""
    variances: tuple[UnitVariance, ...] = field(default=(), kw_only=True)
    """Variances by unit, if units have several segments and there are intervals."""
    form: str = field(default="karat", kw_only=True)
    """The form of signatures."""
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    """Notes on how the scores were computed."""
    skipped: Mapping[str, int] | None = field(default=None, kw_only=True)
    """Number of skipped rows of a table, by system; None if rows must not be skipped."""

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, and settings of the intervals."""
        metrics = dict.fromkeys(str(row.metric) for row in self.rows)
        intervals = {} if self.inference is None else self.inference.fields()
        return {"metrics": tuple(metrics), "references": self.references, **intervals}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the computation and on single scores, without duplicates."""
        of_metrics = (note for row in self.rows for note in row.metric.remarks())
        noted = (f"{r.system}, {r.metric}: {note}" for r in self.rows for note in r.score.notes)
        units = () if self.inference is None else self.inference.remarks
        return tuple(dict.fromkeys([*self.remarks, *units, *of_metrics, *noted]))

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric."""
        return {str(row.metric): row.score.signature for row in self.rows}

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())

    def __getitem__(self, key: tuple[str, str | Metric]) -> RowT:
        row_key = key[0], metric(key[1])
        for row in self.rows:
            if (row.system, row.metric) == row_key:
                return row
        raise KeyError(f"no row for system {quoted(row_key[0])} and metric {row_key[1]}")

    def wide(self) -> WideScores:
        """Return the same scores with one row per system and one column per metric."""
        return WideScores(self, self.rows, self.settings, self.notes, self.signature)

    def segment_scores(self, system: str, by: str | Metric) -> Floats:
        """Return the score of every segment of a system."""
        if not self.values:
            raise InputError("no segment scores were kept: call score with segments=True")
        return self.values[system, metric(by).of_segments()]


class ScoredTable(Protocol):
    """A table in memory whose rows were scored."""

    def join(self, values: Mapping[StatsKey, Floats]) -> Any:
        """Return the table with a column for the scores of each metric."""


@dataclass(frozen=True, eq=False, repr=False)
class WideScores(Result):
    """One row per system, one column per metric: `wide().render("latex")`, `wide().to_pandas()`."""

    results: ScoreResults[Any]
    rows: tuple[Any, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


@dataclass(frozen=True, eq=False, repr=False)
class Scoring(ScoreResults[ScoreRow]):
    """Scores of all systems by all metrics; scores of documents and segments if they were kept."""

    texts: TextLookup | None = field(default=None, kw_only=True)
    """Looks up the texts of segments, if segment scores were requested."""
    ids: Sequence[str] | Mapping[str, Sequence[str]] | None = field(default=None, kw_only=True)
    """Segment ids of a set, or of each system of a table in files; None if segments are numbered
    from 1."""
    documents: tuple[DocumentScore, ...] = field(default=(), kw_only=True)
    """The scores of documents, if they were requested."""
    table: ScoredTable | None = field(default=None, kw_only=True)
    """The table in memory whose rows are the segments, if their scores were kept."""

    def join(self) -> Any:
        """Return the scored table with a column of scores for each metric.

        Its type and the order of its rows are those of the table that was passed to `score`.
        """
        if self.table is None:
            message = "no table to join the scores to: score a table in memory with segments=True"
            raise InputError(message)
        return self.table.join(self.values)

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, settings of the intervals, and whether segments were kept."""
        level = {"level": "document"} if self.documents else {}
        return {**super().settings, "segments": bool(self.values), **level}

    def best_systems(self, by: str | Metric) -> tuple[str, ...]:
        """Return the systems with the best score by a metric; several if they tie.

        Scores that differ only by rounding errors are equal. Missing scores are ignored.
        """
        chosen = metric(by)
        scored = {row.system: row.score.value for row in self.rows if row.metric == chosen}
        values = chosen.sign * np.array(list(scored.values()))
        top = np.fmax.reduce(values, initial=-np.inf)
        tied = ~np.isnan(values) & ~ahead(np.full(len(values), top), values)
        return tuple(name for name, best in zip(scored, tied.tolist(), strict=True) if best)

    def worst(self, count: int = 10, by: str | Metric | None = None) -> RankedSegments:
        """Return the worst segments of each system by a metric, with their texts.

        The default is the first metric. If lower is better, the worst have the highest scores.
        """
        return self.ranked(worst=count, by=by)

    def best(self, count: int = 10, by: str | Metric | None = None) -> RankedSegments:
        """Return the best segments of each system by a metric, with their texts."""
        return self.ranked(best=count, by=by)

    def ranked(
        self, *, worst: int = 0, best: int = 0, by: str | Metric | None = None
    ) -> RankedSegments:
        """Return the `worst` and the `best` segments of each system."""
        from karat.ranked_segments import rank_segments

        if not self.values or self.texts is None:
            raise InputError("no segment scores were kept: call score with segments=True")
        chosen = self.rows[0].metric if by is None else metric(by)
        scored_by = dict.fromkeys(m for _, m in self.values)
        if chosen.of_segments() not in scored_by:
            scores = ", ".join(map(str, scored_by))
            raise InputError(f"no scores by {chosen}: the segments were scored by {scores}")
        ranked = rank_segments(self.values, self.texts, chosen, worst, best, self.references)
        return replace(ranked, notes=(*ranked.notes, *self.remarks))

    def __repr__(self) -> str:
        n_scores = sum(map(len, self.values.values()))
        segments = f", {n_scores:,} segment scores;" if n_scores else ";"
        return super().__repr__().replace(";", segments, 1)


# -------------------------------------------------------------------------- units of inference


class Inference(NamedTuple):
    """The units that intervals and tests are computed from."""

    units: Units | None = None
    """The units of segments; None if each segment is one."""
    buckets: int | None = None
    """Number of buckets that hold the units; None if units are single."""
    remarks: tuple[str, ...] = ()
    """Notes on the choice of units."""
    unit_of_rows: str = SEGMENT
    """The kind of the rows of statistics: segments, or sums of units of this name."""

    @property
    def unit(self) -> str:
        """The kind of unit: `segment`, `document`, ..."""
        return self.unit_of_rows if self.units is None else self.units.name

    def fields(self) -> dict[str, object]:
        """Return the settings of intervals, for signatures."""
        units = {} if self.unit == SEGMENT else {"unit": self.unit}
        return {"ci": "jackknife", **units, **({"buckets": self.buckets} if self.buckets else {})}

    def check(self, m: Metric) -> None:
        """Raise if a score cannot be computed from these units."""
        if m.by_unit and self.buckets:
            problem = f"{m} is a mean over questions, and {self.buckets:,} buckets mix them"
            raise InputError(f"{problem}: use no buckets (--buckets 0)")
        if m.by_unit and self.unit == "document":
            problem = f"{m} is a mean over questions, and these segments are known by document"
            advice = "name the question of each answer (--units FILE, in Python units=[...])"
            raise InputError(f"{problem}: {advice}, or --unit question if documents are questions")


UnitLabels: TypeAlias = "str | Sequence[Any] | None"
"""Kind of the units, or the label of each segment's unit; None: decided by the inputs."""


def plan_inference(inputs: TextInputs, units: UnitLabels, buckets: int | None) -> Inference:
    """Return the units of intervals and tests; many outputs are put into buckets."""
    chosen, remarks = _choose_units(inputs, units)
    n_outputs = len(inputs.systems) * inputs.segments.count
    remarks = (*inputs.remarks, *remarks)
    inference = Inference(chosen, resolve_buckets(n_outputs, buckets), remarks)
    for m in inputs.metrics:
        inference.check(m)
    return inference


def _choose_units(inputs: TextInputs, units: UnitLabels) -> tuple[Units | None, tuple[str, ...]]:
    """Return the units, and notes on them; None if each segment is a unit."""
    if units == SEGMENT:
        return None, ()
    documents = next(iter(inputs.systems.values())).documents
    if isinstance(units, str):
        if documents is None:
            raise InputError(
                f"unit {quoted(units)}: the {units} of each segment is unknown; give labels "
                "(--units FILE with a line per segment, in Python units=[...]), a set whose "
                "segments are grouped, or a table with such a column"
            )
        if units not in GROUPINGS:
            expected = f"expected {', '.join((SEGMENT, *GROUPINGS))}, or labels"
            raise InputError(
                f"unit {quoted(units)}: {expected} (--units FILE, in Python units=[...]); the name "
                "of a column is for tables"
            )
        return Units.from_labels(units, documents), ()
    if units is not None:
        if has_no_order(units) or not isinstance(units, Iterable):
            raise InputError(f"units is {type(units).__name__}: expected a label for each segment")
        labels, n_segments = list(units), inputs.segments.count
        if len(labels) != n_segments:
            counts = f"{len(labels):,} label{'s' * (len(labels) != 1)}, expected {n_segments:,}"
            raise InputError(f"units: found {counts}, one per segment")
        return Units.from_labels("unit", labels), ()
    groups = None if documents is None else Units.from_labels(inputs.segments.grouping, documents)
    if groups is None or len(groups) == inputs.segments.count:
        return None, ()
    if not groups.too_few or any(m.by_unit for m in inputs.metrics):
        return groups, ()
    group_count = f"{len(groups)} {groups.name}{'s' * (len(groups) != 1)}"
    return None, (
        f"Intervals and verdicts describe the segments of these {group_count}. At least "
        f"{MIN_DECIDING_UNITS} are needed for a verdict about other {groups.name}s.",
    )


# ------------------------------------------------------------------ from statistics to scores


def score_statistics(
    stats: Mapping[StatsKey, SystemStats],
    references: int | None,
    inference: Inference | None,
    form: str = "karat",
    units: Units | None = None,
) -> Scoring:
    """Return the scores, with intervals unless `inference` is None.

    `units` are those of scores that are means over units; by default those of the intervals.
    """
    fields, estimates = {}, {}
    if inference is not None:
        fields, units = inference.fields(), inference.units
        for (system, m), system_stats in stats.items():
            inference.check(m)
            m.check_resampled(system, system_stats.total)
            estimates[system, m] = system_stats.estimate(m, units)
    rows = []
    for (system, m), total in score_totals(stats, references, fields, form, units).items():
        low = high = None
        if inference is not None:
            low, high = score_interval(m, estimates[system, m])
        rows.append(ScoreRow(system, m, total, low, high))
    variances = () if inference is None else unit_variances(stats, estimates, inference)
    values = segment_values(stats)
    return Scoring(tuple(rows), references, values, inference, variances=variances, form=form)


def score_interval(m: Metric, estimate: UnitEstimate) -> tuple[float | None, float | None]:
    """Return the 95% interval of a score, within the metric's range; None with one unit."""
    if estimate.units < 2:
        return None, None
    if m.is_share:
        return share_interval(estimate)[1:]
    low, high = estimate.interval()
    lowest, highest = m.score_limits
    return max(low, lowest), min(high, highest)


def unit_variances(
    stats: Mapping[StatsKey, SystemStats],
    estimates: Mapping[StatsKey, UnitEstimate],
    inference: Inference,
) -> tuple[UnitVariance, ...]:
    """Return the variances of scores by unit, metric by metric, if units have several segments."""
    variances, units = [], inference.units
    metrics = {m: at for at, m in enumerate(dict.fromkeys(m for _, m in stats))}
    for system, m in sorted(stats, key=lambda key: metrics[key[1]]):
        rows = np.concatenate(stats[system, m].row_blocks)
        if units is None or inference.buckets or len(rows) != len(units.codes):
            return ()
        has_score, estimate = m.has_score(rows), estimates[system, m]
        n_units, n_segments = estimate.units, int(has_score.sum())
        if not m.by_unit and 2 <= n_units < n_segments:
            variance = UnitVariance(system, m, n_units, n_segments)
            if (error := _jackknife(m, rows).error) > 0:
                ratio = estimate.error / error
                variance = variance._replace(design_effect=ratio * ratio)
            variances.append(variance._replace(**_components(m, rows, estimate, units)))
    return tuple(variances)


def _components(
    m: Metric, rows: NDArray[Any], estimate: UnitEstimate, units: Units
) -> dict[str, Any]:
    """Return the variances between and within units, if the score is the mean of segments'."""
    has_score = m.has_score(rows)
    values = m.of_segments().measure(rows)["value"][has_score]
    mean = float(exact_sum(values)) / len(values)
    if not abs(mean - estimate.value) <= SLACK * max(abs(mean), m.full_scale):
        return {}
    variance = answer_variance(values, units.codes[has_score].tolist())
    if variance.between + variance.within == 0:
        return {"between": 0.0, "within": 0.0}
    return {
        "between": variance.between,
        "within": variance.within,
        "more_units": variance.questions_to_narrow(),
        "more_segments": variance.answers_to_narrow(),
    }


def difference_interval(m: Any, ends: tuple[float, float]) -> tuple[float, float]:
    """Return the interval of a difference of scores, within the differences that are possible.

    Measures of items without `score_limits` are unbounded. The ends are NaN if one unit has scores:
    then every difference is possible.
    """
    lowest, highest = getattr(m, "score_limits", (-math.inf, math.inf))
    largest = highest - lowest
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        return -largest, largest
    return max(ends[0], -largest), min(ends[1], largest)


def segment_values(stats: Mapping[StatsKey, SystemStats]) -> dict[StatsKey, Floats]:
    """Return the segment scores that were kept, by system and the metric's `of_segments()`."""
    return {
        (system, m.of_segments()): system_stats.segment_scores
        for (system, m), system_stats in stats.items()
        if system_stats.segment_scores is not None
    }


def score_totals(
    stats: Mapping[StatsKey, SystemStats],
    references: int | None,
    tests: Mapping[str, object],
    form: str = "karat",
    units: Units | None = None,
) -> dict[StatsKey, Score]:
    """Score every system by every metric; signatures include the intervals and `tests`.

    `units` are those of scores that are means over units.
    """
    scores: dict[StatsKey, Score] = {}
    for m in dict.fromkeys(m for _, m in stats):
        keys = [key for key in stats if key[1] == m]
        totals = [stats[key].total for key in keys]
        notes: list[tuple[str, ...]] = [()] * len(keys)
        if m.by_unit:
            unit_rows = [stats[key].unit_rows(m, units) for key in keys]
            totals, notes = [*map(exact_sums, unit_rows)], [*map(m.unit_notes, unit_rows)]
        metric_scores = m.scores(np.array(totals), references)
        for key, score, more in zip(keys, metric_scores, notes, strict=True):
            scores[key] = replace(score, notes=(*score.notes, *more))
    of_units = {} if units is None else {"unit": units.name}
    signatures = {
        m: m.signature(references, form, {**tests, **of_units} if m.by_unit else tests)
        for _, m in stats
    }
    return {key: replace(scores[key], signature=signatures[key[1]]) for key in stats}


def resolve_level(level: str, segments: bool = False, intervals: bool = False) -> str:
    """Return the level of scores, checked; `segments` requests the segment level."""
    if level not in LEVELS:
        raise InputError(f"level {quoted(level)}: expected one of {', '.join(LEVELS)}")
    if segments and level == "document":
        raise InputError("level document and segments=True exclude each other: leave out one")
    if level == "document" and intervals:
        raise InputError("scores of documents have no intervals: leave out the intervals")
    return "segment" if segments else level


def segment_documents(systems: Mapping[str, Segments]) -> Sequence[str]:
    """Return the document of each segment."""
    documents = next(iter(systems.values())).documents
    if documents is None:
        raise InputError(
            "the segments have no documents, which level document needs: give an evaluation set "
            "whose segments are grouped, or files that name their documents (--read-as gtm-sgml, "
            "in Python kt.load_texts)"
        )
    return documents


def document_scores(
    stats: Mapping[StatsKey, SystemStats], documents: Sequence[str], references: int | None
) -> tuple[DocumentScore, ...]:
    """Return the score of each document, from the summed statistics of its segments."""
    indices_by_document: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        indices_by_document.setdefault(document, []).append(place)
    scores = []
    for (system, m), system_stats in stats.items():
        rows = np.concatenate(system_stats.row_blocks)
        sums = np.array([exact_sums(rows[indices]) for indices in indices_by_document.values()])
        of_documents = m.of_documents()
        sums = of_documents.unit_rows(sums, [*indices_by_document])
        values = of_documents.scores(sums, references)
        for (document, indices), value in zip(indices_by_document.items(), values, strict=True):
            scores.append(DocumentScore(system, of_documents, document, len(indices), value))
    return tuple(scores)
