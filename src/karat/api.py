"""`karat.score` and `karat.compare` for texts, evaluation sets and tables.

A table is a data frame, any Arrow-compatible object, a list of dictionaries, or a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.gains import check_kind
from karat.metrics.base import check_form
from karat.metrics.limits import Limit
from karat.progress import Progress, progress_callback, silent
from karat.score_settings import ComparisonSettings, ScoreSettings
from karat.scoring import (
    USUAL_METRICS,
    Keep,
    Metrics,
    Scoring,
    Systems,
    UnitLabels,
    compute_statistics,
    document_scores,
    make_inputs,
    plan_inference,
    read_sets,
    resolve_level,
    score_statistics,
    segment_documents,
    text_lookup,
)
from karat.settings import check_count
from karat.slices import SliceLabels, check_single_rows, plan_slices
from karat.text.references import GivenReferences, References
from karat.text.segments import Segments, Texts

if TYPE_CHECKING:
    from karat.comparison import Comparison

Columns = str | Sequence[str] | None
_ROLES = {"candidate": "candidate", "reference": "reference", "by": "system", "id": "id"}
"""Parameters with columns -> the roles of these."""


def score(
    systems: Systems | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Metrics | None = None,
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
    skip_missing: bool = False,
    intervals: bool = ScoreSettings.intervals,
    units: UnitLabels = ScoreSettings.units,
    buckets: int | None = ScoreSettings.buckets,
    segments: bool = ScoreSettings.segments,
    level: str = ScoreSettings.level,
    threads: int | None = None,
    progress: Progress | bool = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems against references.

    A table is a data frame (pandas, Polars, pyarrow, DuckDB, Hugging Face `datasets`), a list of
    dictionaries, or a file of any format that `read_outputs` reads. Several files are several
    systems: a list of paths, or a dictionary of paths by the name of their system; with `by` or
    several columns of candidates, a list of paths is one table.

    Args:
        systems: texts by system, the texts of one system, an evaluation set or its name, texts of
            `load_texts`, or a table.
        references: for each segment a text or a list of texts; sets and tables have their own.
        metrics: metrics, or their names; by default BLEU. For a set without references or texts,
            the default is its dimensions and its scores.
        candidate, reference: columns of a table; by default detected. Several columns of candidates
            are several systems, several columns of references are several references.
        by, id: columns with the system and with the id of the segment.
        skip_missing: leave out and count rows of a table without a candidate or a reference; by
            default they are an error.
        intervals: add 95% intervals.
        units: what intervals are computed from: `segment`, `document`, `question`, a column of a
            table, or a label for each segment. By default the documents or questions that are
            known, else segments. Units change no scores but means over questions (pass@k).
        buckets: number of buckets of units to use for intervals; by default single units, and 4,096
            buckets above two million segments of all systems.
        segments: keep the score of every segment. For a table in memory, `join()` adds them to it.
        level: `document` also scores each document of an evaluation set or of `load_texts`, from
            sums of its segments' statistics; `segment` is `segments=True`.
        threads: number of threads; by default all processors.
        progress: True shows a progress bar; a function is called with the progress.
        signature: `karat`, or `sacrebleu` for signatures of BLEU, chrF and TER in sacreBLEU's form.
    """
    segments = resolve_level(level, segments, intervals) == "segment"
    columns = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    with progress_callback(progress) as report:
        source = find_table(systems, references, columns, skip_missing, report, metrics)
        if isinstance(source, StreamedTable):
            from karat.arrow.table_scores import score_table

            if level == "document":
                raise InputError(
                    "a table has no documents: level document is for sets and load_texts"
                )
            return score_table(
                source.table,
                USUAL_METRICS if metrics is None else metrics,
                **{**columns, "skip_missing": skip_missing, "buckets": buckets, "threads": threads},
                intervals=intervals,
                units=column_of_units(units),
                segments=segments,
                progress=report,
                signature=signature,
            )
        inputs = make_inputs(source, references, metrics, threads, report)
        check_form(signature)
        by_unit = any(m.by_unit for m in inputs.metrics)
        planned = plan_inference(inputs, units, buckets) if intervals or by_unit else None
        inference = planned if intervals else None
        documents = segment_documents(inputs.systems) if level == "document" else None
        keep = Keep(documents is not None or by_unit, segments)
        if inference is not None:
            keep = Keep(True, segments, inference.buckets, inference.units)
        fields = {} if inference is None else inference.fields()
        stats = compute_statistics(inputs, keep, threads, report, fields)
        n_references = inputs.references.number
        chosen = None if planned is None else planned.units
        scoring = score_statistics(stats, n_references, inference, signature, chosen)
        scoring = replace(scoring, remarks=(*inputs.remarks, *scoring.remarks))
    if documents is not None:
        return replace(scoring, documents=document_scores(stats, documents, n_references))
    if not segments:
        return scoring
    ids = next(iter(inputs.systems.values())).ids
    return replace(scoring, texts=text_lookup(inputs.systems, inputs.references), ids=ids)


def compare(
    systems: Mapping[str, Texts] | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Metrics | None = None,
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
    skip_missing: bool = False,
    baseline: str | None = ComparisonSettings.baseline,
    kind: str | None = ComparisonSettings.kind,
    units: UnitLabels = ComparisonSettings.units,
    slices: SliceLabels = ComparisonSettings.slices,
    correction: str = ComparisonSettings.correction,
    margin: Limit = None,
    test: str = ComparisonSettings.test,
    trials: int | None = ComparisonSettings.trials,
    seed: int = ComparisonSettings.seed,
    buckets: int | None = ComparisonSettings.buckets,
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
        kind: kind of task: `translation`, `summary`, `answer` or `data-to-text`, to show how often
            people agree with a difference of this size; by default the set's own, if it has one.
        units: what intervals and tests are computed from, as for `score`.
        slices: also compare within slices of the segments, such as domains: a label for each
            segment; `length`, for short, medium and long references; `document`, for a set of few
            documents; or a column of a table. Tests of all slices are corrected together.
        correction: `simultaneous` corrects intervals and p-values for the number of tests; `none`.
        margin: largest difference that does not matter: a number, or numbers by metric. Says
            whether a system is equivalent to the baseline, or no worse.
        test: `jackknife`; `sacrebleu-bootstrap` and `sacrebleu-ar` add p as sacreBLEU defines it.
        trials: number of trials of a sacreBLEU test; by default 1000 (bootstrap) and 10000 (ar).
        seed: seed of the random numbers of a sacreBLEU test.
        buckets: number of buckets of units to use for intervals and tests; by default single units,
            and 4,096 buckets above two million segments of all systems.
        threads: number of threads; by default all processors.
        progress: True shows a progress bar; a function is called with the progress.
        signature: `karat`, or `sacrebleu` for signatures of BLEU, chrF and TER in sacreBLEU's form.
        examples: number of segments to keep where each system differs most from the baseline.
    """
    from karat.comparison import BaselineTest, compare_statistics, find_examples

    check_kind(kind)
    columns = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    with progress_callback(progress) as report:
        source = find_table(systems, references, columns, skip_missing, report, metrics)
        if isinstance(source, StreamedTable):
            from karat.arrow.table_scores import compare_table

            streamed = compare_table(
                source.table,
                USUAL_METRICS if metrics is None else metrics,
                **{**columns, "skip_missing": skip_missing, "buckets": buckets, "threads": threads},
                baseline=baseline,
                units=column_of_units(units),
                slices=column_of_slices(slices),
                correction=correction,
                margin=margin,
                test=test,
                trials=trials,
                seed=seed,
                progress=report,
                signature=signature,
                examples=examples,
            )
            return replace(streamed, kind=kind)
        inputs = make_inputs(source, references, metrics, threads, report)
        names = list(inputs.systems)
        planned = BaselineTest.plan(baseline, names, test, trials, seed, correction, margin)
        check_form(signature)
        check_count("examples", examples)
        inference = plan_inference(inputs, units, buckets)
        segment_slices = plan_slices(inputs, slices)
        if segment_slices is not None:
            check_single_rows(inference.buckets)
        keep = Keep(True, True, inference.buckets, inference.units)
        stats = compute_statistics(inputs, keep, threads, report, planned.fields(inference))
        comparison = compare_statistics(
            stats,
            inputs.references.number,
            planned,
            inference,
            signature,
            report,
            segment_slices,
        )
    texts = text_lookup(inputs.systems, inputs.references)
    example_rows = find_examples(comparison, texts, examples, with_ids=True)
    remarks = (*inputs.remarks, *comparison.remarks)
    return replace(
        comparison,
        segments=inputs.segments.count,
        examples=example_rows,
        remarks=remarks,
        kind=kind or inputs.kind,
    )


class StreamedTable(NamedTuple):
    """A table that is scored as it is read."""

    table: Any


def find_table(
    source: Any,
    references: Any,
    columns: Mapping[str, Columns],
    skip_missing: bool,
    progress: Progress = silent,
    metrics: Metrics | None = None,
) -> Any:
    """Return a table that is streamed; the set of any other table; everything else unchanged.

    Tables with named columns are streamed, and large files and frames if they can be. Files in
    other formats than those of streamed tables, such as workbooks, are sets, and so are tables
    for metrics that read sources or contexts.
    """
    if not is_table(source, references, columns, skip_missing):
        return source
    columns_by_role = {_ROLES[name]: names for name, names in columns.items() if names is not None}
    is_streamed = not _has_other_format(source) if columns_by_role else _streams(source)
    if is_streamed and not read_sets(metrics):
        return StreamedTable(source)
    from karat.tables.outputs import read_outputs

    return read_outputs(
        source, columns=columns_by_role, skip_missing=skip_missing, progress=progress
    )


def _has_other_format(source: Any) -> bool:
    """Return whether these are files in formats that are not streamed."""
    from karat.arrow.pieces import format_of

    paths = [path for path in _table_parts(source) if isinstance(path, str | os.PathLike)]
    return bool(paths) and all(os.path.isfile(p) and not format_of(os.fspath(p)) for p in paths)


def _table_parts(source: Any) -> list[Any]:
    """Return the files of a table."""
    if isinstance(source, Mapping):
        return [*source.values()]
    return [*source] if isinstance(source, list | tuple) else [source]


def _streams(source: Any) -> bool:
    """Return whether a table without named columns is streamed."""
    from karat.arrow.columns import has_usual_column
    from karat.arrow.frames import as_frame
    from karat.tables.streams import has_texts_only, reason_to_stream, sample_columns

    frame = as_frame(source)
    if frame is not None:
        if frame.rows is None or has_texts_only(frame.names):
            return True
        try:
            return sample_columns(source) is not None
        except InputError:
            return has_usual_column(frame.names, "candidate") and has_usual_column(frame.names)
    return reason_to_stream([os.fspath(path) for path in _table_parts(source)]) is not None


def is_table(
    source: Any, references: Any, columns: Mapping[str, Columns], skip_missing: bool
) -> bool:
    """Return whether this is a table in memory or in files, and not texts or a set."""
    table_settings = [
        f"{name}= names a column of a table" for name in columns if columns[name] is not None
    ]
    table_settings += ["skip_missing= is for tables"] if skip_missing else []
    if not table_settings and (isinstance(references, References) or _are_texts(source)):
        return False  # the usual case: do not load the code for tables
    from karat.arrow.frames import as_frame

    is_frame = not _are_aligned_texts(source) and as_frame(source) is not None
    is_file = references is None and _is_file(source, bool(table_settings))
    if not is_frame and not is_file:
        for name, part in source.items() if isinstance(source, Mapping) else ():
            if as_frame(part) is not None:  # such as the splits of a data set
                key = f"systems[{quoted(name)}]"
                problem = f"{key} is a table: expected one table, or texts by system"
                raise InputError(f"{problem}; choose one, as in score({key}, …)")
        if table_settings:
            problem = f"{table_settings[0]}, and systems is {type(source).__name__}"
            raise InputError(
                f"{problem}: give a data frame, a list of dictionaries or a table's file"
            )
        return False
    if references is not None:
        problem = "a table has its references in a column: leave references out"
        raise InputError(f"{problem}, and name the column with reference=")
    return True


def _are_texts(value: Any) -> bool:
    """Return whether this is certainly texts, texts by system, or a set."""
    if isinstance(value, Mapping):
        return all(map(_are_texts, value.values()))
    if isinstance(value, list | tuple) and value and isinstance(value[0], str):
        return True
    return isinstance(value, EvalSet | Segments) or _are_aligned_texts(value)


def _are_aligned_texts(value: Any) -> bool:
    """Return whether these are texts from `load_texts`."""
    if not isinstance(value, tuple):
        return False
    from karat.evalset.aligned_texts import AlignedTexts

    return isinstance(value, AlignedTexts)


def _is_file(value: Any, has_columns: bool) -> bool:
    """Return whether this names files of a table; with `has_columns`, every path does."""
    if isinstance(value, Mapping) and value:
        paths = [path for path in value.values() if isinstance(path, str | os.PathLike)]
        return len(paths) == len(value) and all(_is_file(path, has_columns) for path in paths)
    if isinstance(value, list | tuple) and value:
        is_path = all(isinstance(file, os.PathLike) for file in value)
        return is_path and _is_file(value[0], has_columns)
    if not isinstance(value, str | os.PathLike):
        return False
    from karat.arrow.pieces import format_of
    from karat.evalset.loading import evalset_advice

    path = os.fspath(value)
    return has_columns or (format_of(path) is not None and not evalset_advice(path))


def column_of_units(units: UnitLabels) -> str | None:
    """Return the column of a table with the units; labels are for texts."""
    if units is None or isinstance(units, str):
        return units
    raise InputError("units of a table are in a column: name it, as in units='document'")


def column_of_slices(slices: SliceLabels) -> str | None:
    """Return the column of a table with the slices; labels are for texts."""
    if slices is None or isinstance(slices, str):
        return slices
    raise InputError("slices of a table are in a column: name it, as in slices='domain'")


class KaratAccessor:
    """Scores of a data frame's rows and systems; columns are named as for `karat.score`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def score(self, metrics: Metrics | None = None, **settings: Any) -> Scoring:
        """Score the systems of the frame, as `karat.score` does."""
        return score(self._frame, metrics=metrics, **settings)

    def compare(self, metrics: Metrics | None = None, **settings: Any) -> Comparison:
        """Compare the systems of the frame, as `karat.compare` does."""
        return compare(self._frame, metrics=metrics, **settings)

    def segments(self, metrics: Metrics | None = None, **settings: Any) -> Any:
        """Return the frame with a column for the scores of its rows by each metric."""
        return score(self._frame, metrics=metrics, segments=True, **settings).join()
