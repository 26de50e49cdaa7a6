"""`karat.score` and `karat.compare`: texts, evaluation sets and tables, each taken to its function.

A table is a data frame, anything that speaks Arrow, a list of dictionaries, or a file of a table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from karat import comparison, scoring
from karat.comparison import Comparison
from karat.errors import InputError, quoted
from karat.evalset.aligned_texts import AlignedTexts
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric
from karat.progress import Progress, progress_callback, silent
from karat.scoring import Scoring, Systems
from karat.stats.resampling import SEED
from karat.text.references import GivenReferences
from karat.text.segments import Segments, Texts

Columns = str | Sequence[str] | None
Named = dict[str, Any]
"""The columns that were named, by their role."""


def score(
    systems: Systems | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
    skip_missing: bool = False,
    resamples: int = 0,
    seed: int = SEED,
    buckets: int | None = None,
    segments: bool = False,
    level: str = "system",
    threads: int | None = None,
    progress: Progress | bool = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems against references.

    A table is a data frame (pandas, Polars, pyarrow, DuckDB, Hugging Face `datasets`), a list of
    dictionaries, or a file (parquet, CSV, TSV, JSON lines). Several files are several systems:
    a list of paths, or a dictionary of paths by the name of their system; with `by` or several
    columns of candidates, a list of paths is one table.

    Args:
        systems: texts by system, the texts of one system, an evaluation set or its name, texts of
            `load_texts`, or a table.
        references: for each segment a text or a list of texts; sets and tables have their own.
        metrics: metrics, or their names.
        candidate, reference: columns of a table; by default detected. Several columns of candidates
            are several systems, several columns of references are several references.
        by, id: columns with the system and with the id of the segment.
        skip_missing: leave out and count rows of a table without a candidate or a reference; by
            default they are refused.
        resamples: number of bootstrap resamples for 95% intervals; 0 for no intervals.
        seed: seed of the random numbers.
        buckets: number of buckets of segments to resample; by default single segments, and 4,096
            buckets above two million segments of all systems.
        segments: keep the score of every segment. For a table in memory, `join()` adds them to it.
        level: `document` also scores each document of an evaluation set or of `load_texts`, from
            sums of its segments' statistics; `segment` is `segments=True`.
        threads: number of threads; by default all processors.
        progress: True shows a progress bar; a function is called with the progress.
        signature: `karat`, or `sacrebleu` for signatures of BLEU, chrF and TER in sacreBLEU's form.
    """
    settings: dict[str, Any] = {"resamples": resamples, "seed": seed, "buckets": buckets}
    segments = scoring.resolve_level(level, segments, resamples) == "segment"
    settings |= {"segments": segments, "threads": threads, "signature": signature}
    systems, references = _with_references(systems, references)
    columns: Named = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    table = _table(systems, references, columns, skip_missing, level)
    with progress_callback(progress) as report:
        if table is None:
            return scoring.score(
                systems, references, metrics, progress=report, level=level, **settings
            )
        from karat.arrow.table_scores import score_table

        columns["skip_missing"] = skip_missing
        return score_table(table, metrics, progress=report, **columns, **settings)


def compare(
    systems: Mapping[str, Texts] | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
    skip_missing: bool = False,
    baseline: str | None = None,
    test: str = "bootstrap",
    trials: int | None = None,
    resamples: int | None = None,
    seed: int = SEED,
    buckets: int | None = None,
    threads: int | None = None,
    progress: Progress | bool = silent,
    signature: str = "karat",
    examples: int = 0,
) -> Comparison:
    """Compare systems with a baseline: intervals, differences and a paired test.

    Args:
        systems, references, metrics: as for `score`.
        candidate, reference, by, id: columns of a table, as for `score`. With `by`, `id` is needed.
        skip_missing: leave out and count rows of a table without a candidate or a reference.
            Systems are then compared on the segments that every system has.
        baseline: name of the system to compare with; by default the first.
        test: `bootstrap` or `randomization`.
        trials: number of trials of the randomization test; by default 10000.
        resamples: number of bootstrap resamples, for the intervals and for the bootstrap test; by
            default 1000.
        seed: seed of the random numbers.
        buckets: number of buckets of segments to resample; by default single segments, and 4,096
            buckets above two million segments of all systems.
        threads: number of threads; by default all processors.
        progress: True shows a progress bar; a function is called with the progress.
        signature: `karat`, or `sacrebleu` for signatures of BLEU, chrF and TER in sacreBLEU's form.
        examples: number of segments to keep where each system differs most from the baseline.
    """
    settings: dict[str, Any] = {"baseline": baseline, "test": test, "trials": trials, "seed": seed}
    settings |= {"resamples": resamples, "buckets": buckets, "threads": threads}
    settings |= {"signature": signature, "examples": examples}
    systems, references = _with_references(systems, references)
    columns: Named = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    table = _table(systems, references, columns, skip_missing)
    with progress_callback(progress) as report:
        if table is None:
            return comparison.compare(systems, references, metrics, progress=report, **settings)
        from karat.arrow.table_scores import compare_table

        return compare_table(
            table, metrics, skip_missing=skip_missing, progress=report, **columns, **settings
        )


def _with_references(systems: Any, references: Any) -> tuple[Any, Any]:
    """Return systems and references, those of texts that were loaded together."""
    if not isinstance(systems, AlignedTexts):
        return systems, references
    if references is not None:
        raise InputError("texts of load_texts bring their own references: leave references out")
    return systems.segments(), systems.references


def _table(
    source: Any, references: Any, columns: Named, skip_missing: bool, level: str = "system"
) -> Any:
    """Return a table in memory, or the files of one; None for texts and evaluation sets."""
    column_names = [name for name, column in columns.items() if column is not None]
    column_names += ["skip_missing"] if skip_missing else []
    if not column_names and _are_texts(source):  # the usual case, for which nothing more is loaded
        return None
    from karat.arrow.frames import as_frame

    table: Any = as_frame(source)
    if table is None and references is None:
        table = source if _is_file(source, bool(column_names)) else None
    if table is None:
        _reject_tables_by_name(source)
        if column_names:
            use = (
                "is for tables"
                if column_names[0] == "skip_missing"
                else "names a column of a table"
            )
            problem = f"{column_names[0]}= {use}, and systems is {type(source).__name__}"
            raise InputError(
                f"{problem}: give a data frame, a list of dictionaries or a table's file"
            )
        return None
    if level == "document":
        raise InputError("a table has no documents: level document is for sets and load_texts")
    if references is not None:
        problem = "a table has its references in a column: leave references out"
        raise InputError(f"{problem}, and name the column with reference=")
    return table


def _are_texts(value: Any) -> bool:
    """Return whether this is a list of texts, lists by system, or a set; others may be as well."""
    if isinstance(value, Mapping):
        return all(map(_are_texts, value.values()))
    listed = isinstance(value, list | tuple)
    return isinstance(value[0], str) if listed and value else isinstance(value, EvalSet | Segments)


def _is_file(value: Any, has_columns: bool) -> bool:
    """Return whether this names the files of a table; columns are `has_columns` of nothing else."""
    if isinstance(value, Mapping) and value:
        return all(
            isinstance(path, str | os.PathLike) and _is_file(path, has_columns)
            for path in value.values()
        )
    if isinstance(value, list | tuple) and value:
        return all(isinstance(file, os.PathLike) for file in value) and _is_file(
            value[0], has_columns
        )
    if not isinstance(value, str | os.PathLike):
        return False
    from karat.arrow.pieces import format_of
    from karat.evalset.loading import evalset_advice

    path = os.fspath(value)
    return has_columns or (format_of(path) is not None and not evalset_advice(path))


def _reject_tables_by_name(value: Any) -> None:
    """Refuse tables by name, such as the splits of a data set."""
    from karat.arrow.frames import as_frame

    for name, part in value.items() if isinstance(value, Mapping) else ():
        if as_frame(part) is not None:
            problem = f"systems[{quoted(name)}] is a table: expected one table, or texts by system"
            raise InputError(f"{problem}; choose one, as in score(systems[{quoted(name)}], …)")


Metrics: TypeAlias = Sequence[str | Metric] | str | Metric


class KaratAccessor:
    """Scores of a data frame's rows and systems; columns are named as for `karat.score`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def score(self, metrics: Metrics = ("bleu",), **how: Any) -> Scoring:
        """Score the systems of the frame, as `karat.score` does."""
        return score(self._frame, metrics=metrics, **how)

    def compare(self, metrics: Metrics = ("bleu",), **how: Any) -> Comparison:
        """Compare the systems of the frame, as `karat.compare` does."""
        return compare(self._frame, metrics=metrics, **how)

    def segments(self, metrics: Metrics = ("bleu",), **how: Any) -> Any:
        """Return the frame with a column for the scores of its rows by each metric."""
        return score(self._frame, metrics=metrics, segments=True, **how).join()
