"""Scoring: any number of systems by any number of metrics in one pass over the text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from karat.arithmetic import ExactRows, joined_sums, partial_sums
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, Score, check_form
from karat.metrics.loop import run_batches
from karat.metrics.names import metric
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.resampling import SEED, bootstrap_tables, interval
from karat.text.references import GivenReferences, References, as_references, check_aligned
from karat.text.segments import Segments, Texts, as_segments
from karat.trials import check_trials

Systems: TypeAlias = "Mapping[str, Texts] | Texts"
"""Systems by name; or the candidates of one, which is then called `candidate`."""


class ScoreRow(NamedTuple):
    """One system, one metric."""

    system: str
    metric: Metric
    score: Score
    low: float | None
    high: float | None


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

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references and how intervals were made."""
        metrics = dict.fromkeys(str(row.metric) for row in self.rows)
        how = interval_fields(self.resamples, self.seed)
        return {"metrics": tuple(metrics), "references": self.references, **how}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on single scores, each once."""
        noted = (f"{r.system}, {r.metric}: {note}" for r in self.rows for note in r.score.notes)
        return tuple(dict.fromkeys(noted))

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

    def segment_scores(self, system: str, by: str | Metric) -> Floats:
        """The score of every segment of a system."""
        if not self.values:
            raise InputError("no segment scores were kept: call score with segments=True")
        return self.values[system, metric(by).of_segments()]


@dataclass(frozen=True, eq=False, repr=False)
class Scoring(Results[ScoreRow]):
    """The scores of all systems by all metrics; with segment scores, these are the table."""

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, how intervals were made, and whether segments were kept."""
        return {**super().settings, "segments": bool(self.values)}

    def __repr__(self) -> str:
        kept = sum(map(len, self.values.values()))
        return super().__repr__().replace(";", f", {kept:,} segment scores;" if kept else ";", 1)


def score(
    systems: Systems | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    bootstrap: int = 0,
    seed: int = SEED,
    segments: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems; with `bootstrap` resamples also a 95% interval for each score.

    An evaluation set, or its name, brings its own references: `score("demo", metrics=["bleu"])`.
    `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form.
    """
    systems, references = as_texts(systems, references)
    named = as_systems(systems)
    chosen = as_metrics(metrics)
    first = next(iter(named.values()))
    refs = as_references(references, len(first), first.name)
    check_trials("bootstrap", bootstrap, 0)
    check_form(signature)
    how = interval_fields(bootstrap, seed)
    want = Wanted(rows=bootstrap > 0, values=segments)
    found = collect(chosen, named, refs, want, threads, progress, how)
    draws = resample(found, bootstrap, seed, progress) if bootstrap else {}
    rows = []
    for (system, m), total in totals(found, refs.number, how, signature).items():
        low, high = interval(draws[system, m]) if bootstrap else (None, None)
        rows.append(ScoreRow(system, m, total, low, high))
    values = segment_values(found)
    return Scoring(tuple(rows), refs.number, bootstrap, seed, values, form=signature)


def segment_values(found: Mapping[_Key, Collected]) -> dict[_Key, Floats]:
    """The segment scores that were kept, by system and the metric that scores segments."""
    return {
        (system, m.of_segments()): part.values
        for (system, m), part in found.items()
        if part.values is not None
    }


def interval_fields(resamples: int, seed: int) -> dict[str, object]:
    """Return the settings of intervals, for signatures."""
    return {"bootstrap": resamples, "seed": seed} if resamples else {}


_Key = tuple[str, Metric]


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
    found: Mapping[_Key, Collected], resamples: int, seed: int, progress: Progress
) -> dict[_Key, Floats]:
    """The score of every system and metric on every resample, all from one set of draws."""
    tables = [ExactRows(part.rows) for part in found.values()]
    sums = bootstrap_tables(tables, resamples, seed, progress)
    return {key: key[1].measure(own)["value"] for key, own in zip(found, sums, strict=True)}


# ----------------------------------------------------------------------- one pass over the text


class Wanted(NamedTuple):
    """The parts to keep besides the totals."""

    rows: bool = False
    values: bool = False


class Collected(NamedTuple):
    """The statistics of one system by one metric."""

    total: NDArray[Any]
    rows: tuple[NDArray[Any], ...]  # in runs, whole numbers as small as they can be; () if not kept
    values: Floats | None

    @property
    def stats(self) -> Floats:
        """All rows as one table."""
        return np.concatenate(self.rows).astype(np.float64)


def collect(
    metrics: Sequence[Metric],
    systems: Mapping[str, Segments],
    references: References,
    want: Wanted,
    threads: int | None,
    progress: Progress,
    how: Mapping[str, object] = MappingProxyType({}),
) -> dict[tuple[str, Metric], Collected]:
    """The statistics of all systems by all metrics, by system and then by metric.

    `how` says which intervals and tests will be made: signatures must not say anything else.
    """
    for m in metrics:
        m.check_claims(references.number, how)

    def reduce(m: Metric, rows: NDArray[Any]) -> Collected:
        values = m.of_segments().measure(rows)["value"] if want.values else None
        return Collected(partial_sums(rows), (_compact(rows),) if want.rows else (), values)

    parts = run_batches(
        metrics, list(systems.values()), references, reduce, threads=threads, progress=progress
    )
    return {
        (name, m): _join([part[i][j] for part in parts])
        for i, name in enumerate(systems)
        for j, m in enumerate(metrics)
    }


def _compact(rows: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them all; others as they are."""
    if rows.dtype.kind not in "iu":
        return rows
    ends = np.result_type(*(np.min_scalar_type(int(x)) for x in (rows.min(), rows.max())))
    return rows.astype(ends)


def _join(parts: Sequence[Collected]) -> Collected:
    values = [part.values for part in parts if part.values is not None]
    return Collected(
        joined_sums([part.total for part in parts]),
        tuple(block for part in parts for block in part.rows),
        np.concatenate(values) if values else None,
    )


# ------------------------------------------------------------------------------ what was given


def as_texts(
    systems: Systems | EvalSet | str, references: GivenReferences | None
) -> tuple[Systems, GivenReferences]:
    """Systems and references, from an evaluation set if one was given, itself or by its name."""
    if references is None and isinstance(systems, str | os.PathLike):
        from karat.evalset.loading import load_evalset

        systems = load_evalset(systems)
    if isinstance(systems, EvalSet):
        if references is not None:
            raise InputError("an evaluation set brings its own references: leave references out")
        return systems.texts()
    if references is None:
        raise InputError("no references were given: they are needed unless systems is an EvalSet")
    return systems, references


def as_systems(systems: Systems) -> dict[str, Segments]:
    """Systems by name, checked to be aligned."""
    given = systems if isinstance(systems, Mapping) else {"candidate": systems}
    if not given:
        raise InputError("no system was given: at least one is needed")
    named = {name: as_segments(texts, f"system {name}") for name, texts in given.items()}
    check_aligned(list(named.values()))
    return named


def as_metrics(metrics: Sequence[str | Metric] | str | Metric) -> list[Metric]:
    """Metrics by name, each once."""
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not given:
        raise InputError("no metric was given: at least one is needed")
    chosen: dict[Metric, Metric] = {}
    for m in map(metric, given):
        chosen[m] = chosen.get(m, m).claiming(m.claims)
    return list(chosen.values())
