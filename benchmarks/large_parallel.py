"""Phrase tables of large parallel text, in little memory and in much, on grown text.

`python large_parallel.py --pairs 1000000 --memory 1` makes the text (see `grown_parallel.py`) and,
for each limit of memory, its table; it prints what each took and whether all are the same. A
million pairs take a quarter of an hour of the processor and many gigabytes of disk.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from corpus import DATA, WORK, Corpus
from limited import LimitedRun, digest, most_mb, run
from plan import Plan
from table import Row, duration
from timing import script

MUCH = 6.0  # GB: all of a hundred thousand pairs is then done in memory
_MILLION = 1_000_000


class TrainedTable(NamedTuple):
    """What a table took, its size and the digest of its bytes."""

    run: LimitedRun
    bytes: int
    digest: str


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Processor time with little memory over that with much, and the peak."""
    if not _can_grow("phrases-memory"):
        return
    pairs, memory = plan.parallel_pairs, plan.parallel_memory
    with grown(pairs) as text:
        large_memory, small_memory = train_table(text, MUCH), train_table(text, memory)
    work = f"phrase table of {pairs:,} sentence pairs, --memory {memory:g}"
    comparison = "the same bytes" if large_memory.digest == small_memory.digest else "NOT THE SAME"
    yield Row(
        f"{work}: processor time over that with {MUCH:g}",
        duration(small_memory.run.cpu),
        duration(large_memory.run.cpu),
        small_memory.run.cpu / large_memory.run.cpu,
        note=f"the tables are {comparison}; {small_memory.run.scratch_mb:.0f} MB of temporary "
        f"files; with {MUCH:g}, {large_memory.run.peak_mb:.0f} MB of memory",
    )
    peak = small_memory.run.peak_mb
    yield Row(f"{work}: peak memory", "", "", peak, " MB", at_most=most_mb(memory))


def million(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """A million pairs within a gigabyte."""
    if not _can_grow("phrases-million"):
        return
    with grown(_MILLION) as text:
        run, size, _ = train_table(text, 1.0)
    yield Row(
        f"phrase table of {_MILLION:,} sentence pairs, --memory 1: peak memory",
        duration(run.cpu),
        "",
        run.peak_mb,
        " MB",
        at_most=1024,
        note=f"{run.scratch_mb:.0f} MB of temporary files; the table has {size:,} bytes",
    )


def _can_grow(name: str) -> bool:
    """Return whether the source text is available; print a message if it is not."""
    missing = [x for x in ("parallel-multi30k", "parallel-debian") if not (DATA / x).exists()]
    if missing:
        print(f"{name}: no {' and '.join(missing)} in KARAT_DATA, left out", file=sys.stderr)
    return not missing


@contextmanager
def grown(pairs: int) -> Iterator[Path]:
    """Write text of `pairs` pairs to a temporary folder; yield its path without `.en`."""
    folder = WORK / f"parallel-{pairs}"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        make = [sys.executable, str(Path(__file__).with_name("grown_parallel.py"))]
        text = folder / "grown"
        arguments = ["--pairs", str(pairs), "-o", str(text)]
        subprocess.run([*make, *arguments], check=True, stdout=subprocess.DEVNULL)
        yield text
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def train_table(text: Path, memory: float) -> TrainedTable:
    """Make the table of a text in a separate process."""
    table = text.with_name("table.npz")
    sides = [f"{text}.en", f"{text}.fr", "--stem", "porter"]
    command = [script("karat"), "paraphrase", "table", *sides]
    took = run([*command, "-o", str(table), "--memory", str(memory)])
    return TrainedTable(took, table.stat().st_size, digest(table))


def main() -> None:
    """Make the text, then a table for each limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--memory", type=float, action="append", metavar="GB", required=True)
    options, digests = parser.parse_args(), set()
    with grown(options.pairs) as text:
        for memory in options.memory:
            table = train_table(text, memory)
            print(f"--memory {memory:g}: {table.run}; {table.bytes:,} bytes", flush=True)
            digests.add(table.digest)
    if len(options.memory) > 1:
        print("all tables are the same" if len(digests) == 1 else "THE TABLES DIFFER")


if __name__ == "__main__":
    main()
