"""`karat.score` and `karat.compare`: texts, evaluation sets and tables, each taken to its function.

A table is a data frame, anything that speaks Arrow, a list of dictionaries, or a file of a table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from karat import comparison, scoring
from karat.comparison import Comparison
from karat.errors import InputError, quoted
from karat.evalset.sets import EvalSet
from karat.front.bars import shown
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.scoring import Scoring, Systems
from karat.settings import renamed
from karat.stats.resampling import SEED
from karat.text.references import GivenReferences
from karat.text.segments import Segments, Texts

Columns = str | Sequence[str] | None
Named = dict[str, Any]
"""The columns that were named, by their role."""


@renamed(bootstrap="resamples")
def score(
    systems: Systems | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
    resamples: int = 0,
    seed: int = SEED,
    buckets: int | None = None,
    segments: bool = False,
    threads: int | None = None,
    progress: Progress | bool = silent,
    signature: str = "karat",
) -> Scoring:
    """Score systems; with `resamples` above 0 also a 95% bootstrap interval for each.

    `systems` are texts by system, or the texts of one, with `references`; or an evaluation set, or
    its name, which brings its own references: `score("demo", metrics=["bleu"])`; or a table.

    A table is a data frame (pandas, Polars, pyarrow, DuckDB, Hugging Face `datasets`), a list of
    dictionaries, or a file (parquet, CSV, TSV, JSON lines). `candidate` and `reference` name its
    columns of texts (default: their usual names); a reference is a text or a list of texts, and
    several columns may be named. Systems are those of the column `by`, or several columns of
    candidates. `id` names the segment of each row.

    `segments` keeps the score of every segment; for a table in memory, `join()` then returns it
    with a column of scores for each metric. `buckets` groups segments for resampling (default:
    4,096 above two million segments of all systems, else none). `progress=True` shows a progress
    bar. `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form.
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "buckets": buckets}
    how |= {"segments": segments, "threads": threads, "signature": signature}
    columns: Named = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    table = _table(systems, references, columns)
    with shown(progress) as report:
        if table is None:
            return scoring.score(systems, references, metrics, progress=report, **how)
        from karat.arrow.table_scores import score_table

        return score_table(table, metrics, progress=report, **columns, **how)


def compare(
    systems: Mapping[str, Texts] | EvalSet | str | Any,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    candidate: Columns = None,
    reference: Columns = None,
    by: str | None = None,
    id: str | None = None,
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
    """Compare systems with a baseline (the first, unless named).

    `systems`, `references` and the columns of a table are those of `score`; a comparison of the
    systems of a column `by` needs `id`, too. `resamples` (default 1000) is the number of bootstrap
    resamples, for the intervals and for the bootstrap test; `trials` (default 10000) are those of
    `test="randomization"`. `buckets` groups segments for resampling (default: 4,096 above two
    million segments of all systems, else none). `progress=True` shows a progress bar.
    `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form. `examples` is the
    number of segments to keep on which each system differs most from the baseline.
    """
    how: dict[str, Any] = {"baseline": baseline, "test": test, "trials": trials, "seed": seed}
    how |= {"resamples": resamples, "buckets": buckets, "threads": threads}
    how |= {"signature": signature, "examples": examples}
    columns: Named = {"candidate": candidate, "reference": reference, "by": by, "id": id}
    table = _table(systems, references, columns)
    with shown(progress) as report:
        if table is None:
            return comparison.compare(systems, references, metrics, progress=report, **how)
        from karat.arrow.table_scores import compare_table

        return compare_table(table, metrics, progress=report, **columns, **how)


def _table(given: Any, references: Any, columns: Named) -> Any:
    """Return a table in memory, or the files of one; None for texts and evaluation sets."""
    named = [name for name, column in columns.items() if column is not None]
    if not named and _are_texts(given):  # the usual case, for which nothing more is loaded
        return None
    from karat.arrow.frames.frame import as_frame

    found: Any = as_frame(given)
    if found is None and references is None:
        found = given if _is_file(given, bool(named)) else None
    if found is None:
        _refuse_parts(given)
        if named:
            told = f"{named[0]}= names a column of a table, and systems is {type(given).__name__}"
            raise InputError(f"{told}: give a data frame, a list of dictionaries or a table's file")
        return None
    if references is not None:
        told = "a table has its references in a column: leave references out"
        raise InputError(f"{told}, and name the column with reference=")
    return found


def _are_texts(given: Any) -> bool:
    """Return whether this is a list of texts, lists by system, or a set; others may be as well."""
    if isinstance(given, Mapping):
        return all(map(_are_texts, given.values()))
    listed = isinstance(given, list | tuple)
    return isinstance(given[0], str) if listed and given else isinstance(given, EvalSet | Segments)


def _is_file(given: Any, named: bool) -> bool:
    """Return whether this names the files of a table; columns are `named` of nothing else."""
    if isinstance(given, list | tuple) and given:
        return all(isinstance(one, os.PathLike) for one in given) and _is_file(given[0], named)
    if not isinstance(given, str | os.PathLike):
        return False
    from karat.arrow.pieces import format_of
    from karat.evalset.loading import told_of_evalset

    path = os.fspath(given)
    return named or (format_of(path) is not None and not told_of_evalset(path))


def _refuse_parts(given: Any) -> None:
    """Refuse tables by name, such as the splits of a data set."""
    from karat.arrow.frames.frame import as_frame

    for name, part in given.items() if isinstance(given, Mapping) else ():
        if as_frame(part) is not None:
            told = f"systems[{quoted(name)}] is a table: expected one table, or texts by system"
            raise InputError(f"{told}; choose one, as in score(systems[{quoted(name)}], …)")
