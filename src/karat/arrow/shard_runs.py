"""Parts of a table: every N-th piece, for the tasks of a job array; `merge_shards` adds them up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.arrow.engines import Engine
from karat.arrow.row_files import check_apart, row_folder
from karat.arrow.shards import ShardJob, as_shard, job_digest, shard_folder
from karat.arrow.table_scores import Metrics, choose_engine, plan_job, run_pieces
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import load_metrics
from karat.storage.output import FilePath


class ShardRow(NamedTuple):
    """A folder of shards: how many pieces of a job there are, and how many this run did."""

    folder: str
    shard: str
    pieces: int
    of: int
    rows: int


@dataclass(frozen=True, eq=False, repr=False)
class WrittenShards(Result):
    """Shards that a run wrote; `merge_shards` merges them."""

    rows: tuple[ShardRow]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def write_shards(
    table: Any,
    metrics: Metrics = ("bleu",),
    *,
    shards: FilePath,
    shard: str | tuple[int, int],
    candidate: str | None = None,
    reference: str | Sequence[str] | None = None,
    by: str | None = None,
    id: str | None = None,
    buckets: int | None = None,
    engine: str | Engine = "local",
    engine_options: Mapping[str, str] | None = None,
    rows: FilePath | None = None,
    skip_missing: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
) -> WrittenShards:
    """Measure a part of a table and keep the statistics in a folder.

    Finished pieces in the folder are not measured again.

    Args:
        table, metrics, candidate, reference, by, buckets, engine, engine_options, rows,
            skip_missing, threads, progress: as for `measure_table`.
        shards: folder for all parts.
        shard: part, such as `"3/16"`: every 16th piece, from the 3rd on.
        id: column of ids; with it, data for intervals and tests are kept, too.
    """
    number, count = as_shard(shard)
    chosen = load_metrics(metrics)
    asked = candidate, reference, by, id
    drawn = id is not None
    job, pieces = plan_job(table, chosen, asked, buckets, drawn, skip_missing)
    mine, scored = pieces[number - 1 :: count], 0
    runner = choose_engine(engine, engine_options, threads)
    digest = job_digest(job, pieces)
    check_apart(rows, shards)
    folders = row_folder(rows, pieces, digest, kept=True, part=True)
    with folders as folder, shard_folder(shards) as place:
        kept = ShardJob.of(job.writing(folder), str(place), pieces)
        for found in run_pieces(runner, kept, mine, progress):
            scored += found.rows
    name = os.fspath(shards)
    row = ShardRow(name, f"{number}/{count}", len(mine), len(pieces), scored)
    settings = {"metrics": tuple(map(str, chosen)), "shard": row.shard, "folder": name}
    note = f"When all shards are done: karat merge {name}"
    return WrittenShards((row,), settings, (note,), "\n".join(job.metrics))
