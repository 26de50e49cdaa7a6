"""`score`: any number of systems by any number of metrics in one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from karat.arithmetic import ExactRows, exact_sums
from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, Score, check_form
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring.inputs import Systems, as_inputs
from karat.scoring.one_pass import Collected, Wanted, collect
from karat.settings import check_seed, check_trials
from karat.stats.buckets import as_buckets
from karat.stats.resampling import SEED, bootstrap_tables, interval
from karat.stats.significance import ahead
from karat.text.references import GivenReferences, References
from karat.text.segments import Segments

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


_Key = tuple[str, Metric]


class Drawn(NamedTuple):
    """Resamples of intervals: how many, from which seed, of segments or of how many buckets."""

    resamples: int
    seed: int
    buckets: int | None = None

    @classmethod
    def of(cls, resamples: int, seed: int, rows: int, buckets: int | None) -> Drawn:
        """Return what is drawn from so many rows; nothing is where no resamples are wanted."""
        check_seed(seed)
        return cls(resamples, seed, as_buckets(rows, buckets) if resamples else None)

    @property
    def fields(self) -> dict[str, object]:
        """The settings of intervals, for signatures."""
        return interval_fields(*self)


def scored(
    found: Mapping[_Key, Collected],
    references: int | None,
    drawn: Drawn,
    form: str = "karat",
    progress: Progress = silent,
) -> Scoring:
    """Return the scores, and intervals if they are wanted, from collected statistics."""
    draws = resample(found, drawn, progress) if drawn.resamples else {}
    rows = []
    for (system, m), total in totals(found, references, drawn.fields, form).items():
        low, high = interval(draws[system, m]) if drawn.resamples else (None, None)
        rows.append(ScoreRow(system, m, total, low, high))
    kept = tuple(rows), references, drawn.resamples, drawn.seed, segment_values(found)
    return Scoring(*kept, form=form, buckets=drawn.buckets)


def segment_values(found: Mapping[_Key, Collected]) -> dict[_Key, Floats]:
    """The segment scores that were kept, by system and the metric that scores segments."""
    return {
        (system, m.of_segments()): part.values
        for (system, m), part in found.items()
        if part.values is not None
    }


def totals(
    found: Mapping[_Key, Collected],
    references: int | None,
    how: Mapping[str, object],
    form: str = "karat",
) -> dict[_Key, Score]:
    """The score of every system by every metric, signed with how intervals and tests were made."""
    scores: dict[_Key, Score] = {}
    for m in dict.fromkeys(m for _, m in found):
        keys = [key for key in found if key[1] == m]
        rows = np.array([found[key].total for key in keys])
        scores |= zip(keys, m.scores(rows, references), strict=True)
    signatures = {m: m.signature(references, form, how) for _, m in found}
    return {key: replace(scores[key], signature=signatures[key[1]]) for key in found}


def resample(
    found: Mapping[_Key, Collected], drawn: Drawn, progress: Progress
) -> dict[_Key, Floats]:
    """The score of every system and metric on every resample, from one set of draws.

    Systems that differ in their number of segments have draws of their own, from the same seed.
    """
    for (system, m), part in found.items():
        m.check_resampled(system, part.total)
    tables = {key: ExactRows(part.rows) for key, part in found.items()}
    draws: dict[_Key, Floats] = {}
    for size in dict.fromkeys(map(len, tables.values())):
        same = {key: table for key, table in tables.items() if len(table) == size}
        sums = bootstrap_tables([*same.values()], drawn.resamples, drawn.seed, progress)
        values = (key[1].measure(own)["value"] for key, own in zip(same, sums, strict=True))
        draws |= zip(same, values, strict=True)
    for (system, m), own in draws.items():
        if np.isnan(own).any():
            none = "in some resamples no segment has a score: intervals need more scores"
            raise InputError(f"{m}, system {quoted(system)}: {none}")
    return draws


def score(
    systems: Systems | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    resamples: int = 0,
    seed: int = SEED,
    buckets: int | None = None,
    segments: bool = False,
    level: str = "system",
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems; with `resamples` above 0 also a 95% bootstrap interval for each.

    An evaluation set, or its name, brings its own references: `score("demo", metrics=["bleu"])`.
    `buckets` groups segments for resampling (default: 4,096 above two million segments of all
    systems, else none). `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form.
    `level="document"` also scores each document, from the sums of its segments' statistics;
    `level="segment"` is the same as `segments=True`.
    """
    segments = as_level(level, segments, resamples) == "segment"
    given = as_inputs(systems, references, metrics, threads, progress)
    check_trials("resamples", resamples, 0)
    check_form(signature)
    drawn = Drawn.of(resamples, seed, given.outputs, buckets)
    documents = _documents(given.systems) if level == "document" else None
    keep_rows = resamples > 0 or documents is not None
    want = Wanted(rows=keep_rows, values=segments, buckets=drawn.buckets)
    found = collect(given, want, threads, progress, drawn.fields)
    made = scored(found, given.references.number, drawn, signature, progress)
    if documents is not None:
        scores = document_scores(found, documents, given.references.number)
        return replace(made, documents=scores)
    if not segments:
        return made
    ids = next(iter(given.systems.values())).ids
    return replace(made, texts=_texts(given.systems, given.references), ids=ids)


LEVELS = ("system", "segment", "document")
"""Levels of scores."""


def as_level(level: str, segments: bool = False, resamples: int = 0) -> str:
    """Return the level of scores; `segments` asks for the level of segments, too."""
    if level not in LEVELS:
        raise InputError(f"level {quoted(level)}: expected one of {', '.join(LEVELS)}")
    if segments and level == "document":
        raise InputError("level document and segments=True exclude each other: leave out one")
    if level == "document" and resamples:
        raise InputError("scores of documents have no intervals: leave out the resamples")
    return "segment" if segments else level


def _documents(systems: Mapping[str, Segments]) -> Sequence[str]:
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
    collected: Mapping[tuple[str, Metric], Collected],
    documents: Sequence[str],
    references: int | None,
) -> tuple[DocumentScore, ...]:
    """Return the score of each document: that of the sum of its segments' statistics."""
    places: dict[str, list[int]] = {}
    for place, document in enumerate(documents):
        places.setdefault(document, []).append(place)
    scores = []
    for (system, m), part in collected.items():
        rows = np.concatenate(part.rows)
        sums = np.array([exact_sums(rows[members]) for members in places.values()])
        of_documents = m.of_documents()
        values = of_documents.scores(sums, references)
        for (document, members), value in zip(places.items(), values, strict=True):
            scores.append(DocumentScore(system, of_documents, document, len(members), value))
    return tuple(scores)


def _texts(systems: Mapping[str, Segments], references: References) -> TextLookup:
    from karat.ranked_segments import texts_of

    return texts_of(systems, references)
