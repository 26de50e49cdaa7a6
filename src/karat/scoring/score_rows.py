"""Scores as results: a row for each system and metric, and the segments if they were kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric, Score
from karat.metrics.names import metric
from karat.results import Result
from karat.stats.significance.baseline import ahead

if TYPE_CHECKING:
    from karat.ranked_segments import RankedSegments, TextLookup


class ScoreRow(NamedTuple):
    """One system, one metric."""

    system: str
    metric: Metric
    score: Score
    low: float | None
    high: float | None


class DocumentScore(NamedTuple):
    """One system, one metric, one document."""

    system: str
    metric: Metric
    document: str
    segments: int
    """Number of segments."""
    score: Score


RowT = TypeVar("RowT", bound="ScoreRow | Any")


@dataclass(frozen=True, eq=False, repr=False)
class Results(Result, Generic[RowT]):
    """Rows of scores that are found by name: `results["A", "bleu"]`."""

    rows: tuple[RowT, ...]
    references: int | None
    """Number of references of every segment; None if that varies."""
    resamples: int
    seed: int
    values: Mapping[tuple[str, Metric], Floats]
    """Segment scores by system and the metric's `of_segments()`, if they were asked for."""
    form: str = field(default="karat", kw_only=True)
    """The form of signatures."""
    buckets: int | None = field(default=None, kw_only=True)
    """Number of buckets that were resampled; None: segments were."""
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    """Notes on how the scores were made."""
    skipped: Mapping[str, int] | None = field(default=None, kw_only=True)
    """Rows of a table without a text that were left out, by system; None if none may be."""

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references and how intervals were made."""
        metrics = dict.fromkeys(str(row.metric) for row in self.rows)
        how = interval_fields(self.resamples, self.seed, self.buckets)
        return {"metrics": tuple(metrics), "references": self.references, **how}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how scores were made, and on single ones, each once."""
        of_metrics = (note for row in self.rows for note in row.metric.remarks())
        noted = (f"{r.system}, {r.metric}: {note}" for r in self.rows for note in r.score.notes)
        return tuple(dict.fromkeys([*self.remarks, *of_metrics, *noted]))

    @property
    def signatures(self) -> dict[str, str]:
        """The full signature of each metric."""
        return {str(row.metric): row.score.signature for row in self.rows}

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return "\n".join(self.signatures.values())

    def __getitem__(self, key: tuple[str, str | Metric]) -> RowT:
        wanted = key[0], metric(key[1])
        for row in self.rows:
            if (row.system, row.metric) == wanted:
                return row
        raise KeyError(f"no row for system {quoted(wanted[0])} and metric {wanted[1]}")

    def wide(self) -> WideScores:
        """Return the same as a table with a row for each system and a column for each metric."""
        return WideScores(self)

    def segment_scores(self, system: str, by: str | Metric) -> Floats:
        """The score of every segment of a system."""
        if not self.values:
            raise InputError("no segment scores were kept: call score with segments=True")
        return self.values[system, metric(by).of_segments()]


class ScoredTable(Protocol):
    """A table whose rows were scored."""

    def join(self, values: Mapping[tuple[str, Metric], Floats]) -> Any:
        """Return the table with a column for the scores of each metric."""


@dataclass(frozen=True, eq=False, repr=False)
class WideScores(Result):
    """One row per system, one column per metric: `wide().render("latex")`, `wide().to_pandas()`."""

    results: Results[Any]

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows of the scores, one for each system and metric."""
        return self.results.rows

    @property
    def settings(self) -> Mapping[str, object]:
        """The settings of the scores."""
        return self.results.settings

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the scores."""
        return self.results.notes

    @property
    def signature(self) -> str:
        """The signatures of all metrics, a line each."""
        return self.results.signature


@dataclass(frozen=True, eq=False, repr=False)
class Scoring(Results[ScoreRow]):
    """Scores of all systems by all metrics; of documents or segments too, if they were kept."""

    texts: TextLookup | None = field(default=None, kw_only=True)
    """Finds the texts of segments, if segment scores were asked for."""
    ids: Sequence[str] | Mapping[str, Sequence[str]] | None = field(default=None, kw_only=True)
    """The ids of the segments of a set, or of the rows of each system of a table in files; None if
    they go by their numbers, from 1."""
    documents: tuple[DocumentScore, ...] = field(default=(), kw_only=True)
    """The scores of documents, if they were asked for."""
    table: ScoredTable | None = field(default=None, kw_only=True)
    """The table that the segments are rows of, if they are and their scores were kept."""

    def join(self) -> Any:
        """Return the table that was scored with a column of scores for each metric.

        It is of the kind that was given, with the same rows in the same order, as they were then.
        """
        if self.table is None:
            told = "no table to join the scores to: score a table in memory with segments=True"
            raise InputError(told)
        return self.table.join(self.values)

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, how intervals were made, and whether segments were kept."""
        level = {"level": "document"} if self.documents else {}
        return {**super().settings, "segments": bool(self.values), **level}

    def best_systems(self, by: str | Metric) -> tuple[str, ...]:
        """Return the systems with the best score by a metric: several if they tie.

        Scores that differ by rounding alone are equal. Missing scores are left out.
        """
        chosen = metric(by)
        scored = {row.system: row.score.value for row in self.rows if row.metric == chosen}
        values = chosen.sign * np.array(list(scored.values()))
        top = np.fmax.reduce(values, initial=-np.inf)
        tied = ~np.isnan(values) & ~ahead(np.full(len(values), top), values)
        return tuple(name for name, best in zip(scored, tied.tolist(), strict=True) if best)

    def worst(self, count: int = 10, by: str | Metric | None = None) -> RankedSegments:
        """Return the segments of each system with the worst scores by a metric, with their texts.

        The metric is the first by default. Where less is better, the worst have the highest scores.
        """
        return self.ranked(worst=count, by=by)

    def best(self, count: int = 10, by: str | Metric | None = None) -> RankedSegments:
        """Return the segments of each system with the best scores by a metric, with their texts."""
        return self.ranked(best=count, by=by)

    def ranked(
        self, *, worst: int = 0, best: int = 0, by: str | Metric | None = None
    ) -> RankedSegments:
        """Return the worst and the best segments of each system, so many of each."""
        from karat.ranked_segments import rank_segments

        if not self.values or self.texts is None:
            raise InputError("no segment scores were kept: call score with segments=True")
        chosen = self.rows[0].metric if by is None else metric(by)
        known = dict.fromkeys(m for _, m in self.values)
        if chosen.of_segments() not in known:
            scores = ", ".join(map(str, known))
            raise InputError(f"no scores by {chosen}: the segments were scored by {scores}")
        ranked = rank_segments(self.values, self.texts, chosen, worst, best, self.references)
        return replace(ranked, notes=(*ranked.notes, *self.remarks))

    def __repr__(self) -> str:
        kept = sum(map(len, self.values.values()))
        return super().__repr__().replace(";", f", {kept:,} segment scores;" if kept else ";", 1)


def interval_fields(resamples: int, seed: int, buckets: int | None = None) -> dict[str, object]:
    """Return the settings of intervals, for signatures."""
    if not resamples:
        return {}
    return {"bootstrap": resamples, "seed": seed, **({"buckets": buckets} if buckets else {})}
