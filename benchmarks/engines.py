"""Engines against the threads of this process: `python engines.py --rows N [--engine NAME ...]`.

BLEU, chrF and ROUGE-L of a table of tables.py on every engine that is installed, two workers each.
Processor time is that of the whole tree of processes, without the start of the engine: a small
table is scored first. Run it with the Python of `.venv-engines` for Spark and Ray
(`make test-engines` makes it).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread means one, in numpy too

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from tables import write_table

from karat.arrow.jobs import JobFailure, as_engine, run_piece
from karat.arrow.statistics import TableStatistics
from karat.arrow.table_scores import open_table, plan_job
from karat.metrics.names import metric

PACKAGES = {"local": "karat", "dask": "distributed", "spark": "pyspark", "ray": "ray"}
METRICS = ["bleu", "chrf", "rougeL"]
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure each engine and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--table", type=Path, help="a folder of parquet files to use instead")
    parser.add_argument("--engine", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="karat-engines-"))
    try:
        small = write_table(folder / "small", 2000)
        table = options.table or write_table(folder / "rows", options.rows)
        base = None
        for name in options.engine:
            if find_spec(PACKAGES[name]) is None:
                print(f"{name:6} is not installed")
                continue
            start, run, wall, digest = measure(name, small, table)
            base = base or run
            print(
                f"{name:6} start {start:5.1f} s, run {run:6.1f} s of processor time "
                f"({run / base:.2f}x), {wall:.1f} s, digest {digest}"
            )
    finally:
        shutil.rmtree(folder)


def measure(name: str, small: Path, table: Path) -> tuple[float, float, float, str]:
    """Return processor time of start and run, wall time of the run, and a digest of the sums."""
    options = {"threads": "2"} if name == "local" else {"workers": "2"}
    before = tree_time()
    with as_engine(name, options).running(100) as runner:
        for table_path in (small, table):
            started, began = tree_time(), time.perf_counter()
            job, pieces = plan_job(
                open_table(table_path, _COLUMNS), [metric(m) for m in METRICS], None, False
            )
            total = TableStatistics([metric(m) for m in METRICS])
            for _, piece_stats in runner.run(partial(run_piece, job.measure_piece), pieces):
                if isinstance(piece_stats, JobFailure):
                    raise RuntimeError(piece_stats.sentence)
                total += piece_stats
            ended, end = tree_time(), time.perf_counter()
    return started - before, ended - started, end - began, digest_of(total)


_COLUMNS = ("candidate", "reference", "system", None)


def digest_of(statistics: TableStatistics) -> str:
    """Return a digest of all sums."""
    digest = sha256()
    for name in statistics.names():
        for sums in (statistics.sums_by_system[name].counts, *statistics.sums_by_system[name].sums):
            digest.update(sums.tobytes())
    return digest.hexdigest()[:16]


def tree_time() -> float:
    """Return the processor time of this process and all its descendants, including ended ones."""
    numbers = dict(_stats())
    below = {os.getpid()}
    while True:
        more = {pid for pid, fields in numbers.items() if int(fields[1]) in below} - below
        if not more:
            break
        below |= more
    return sum(sum(map(int, numbers[pid][11:15])) for pid in below if pid in numbers) / _TICK


def _stats() -> Iterator[tuple[int, list[str]]]:
    """Yield every process with the fields after its name in `stat`."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = place.read_text()
        except OSError:  # it has just ended
            continue
        yield int(place.parent.name), text.rpartition(")")[2].split()


if __name__ == "__main__":
    main()
