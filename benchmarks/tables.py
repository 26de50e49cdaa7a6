"""Tables: Arrow and data frames against lists, rows from parquet, intervals on very many lines.

`python tables.py --rows N -o FOLDER` only writes a table, for other measurements. Texts are those
of grown_text.py; a candidate is its reference with some words dropped and moved.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from corpus import WORK, Corpus
from grown_text import sentences
from large import watch
from plan import Plan
from table import Row, duration
from timing import HERE, script

_ROWS_PER_FILE = 1_000_000
_SYSTEMS = 4
_WORDS_PER_ROW = 12


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Lists and Arrow in one process; then files of a tenth of the rows and of all."""
    folder = WORK / "tables"
    try:
        yield from _lists(folder, plan)
        yield from _frames(folder, plan)
        yield from _files(folder, plan)
        yield from _lines(folder, plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lists(folder: Path, plan: Plan) -> Iterator[Row]:
    small = write_table(folder / "lists", plan.lines)
    for metric in ("bleu", "chrf", "rougeL"):
        runs = [_in_child("arrow_lists.py", small, metric) for _ in range(plan.rounds)]
        best = {name: min(float(run[name]) for run in runs) for name in ("arrow", "lists", "made")}
        yield Row(
            f"{metric}, {plan.lines:,} rows, 1 thread: an Arrow table against lists of it",
            duration(best["arrow"]),
            duration(best["lists"]),
            best["arrow"] / best["lists"],
            at_most=0.6 if metric == "bleu" else None,
            note=f"processor time; to make the lists took {duration(best['made'])} more",
        )


def _frames(folder: Path, plan: Plan) -> Iterator[Row]:
    small = write_table(folder / "frames", plan.lines)
    for metric in ("bleu", "chrf"):
        best = _in_child("frame_lists.py", small, metric)
        for name in ("pandas", "objects", "polars"):
            label = "pandas with objects" if name == "objects" else name
            joined = best[f"{name} joined"] / best["lists"]
            yield Row(
                f"{metric}, {plan.lines:,} rows: a data frame of {label} against lists",
                duration(best[name]),
                duration(best["lists"]),
                best[name] / best["lists"],
                at_most=1.3,
                note=f"processor time; {joined:.2f}x with the scores of rows joined to the frame",
            )


def _in_child(program: str, table: Path, metric: str) -> dict[str, float]:
    argv = [sys.executable, str(HERE / program), str(table), metric]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _files(folder: Path, plan: Plan) -> Iterator[Row]:
    sizes = plan.table_rows // 10, plan.table_rows
    runs = []
    for size in sizes:
        table = write_table(folder / f"rows-{size}", size)
        arguments = ["--by", "system", "-m", "bleu", "--format", "json"]
        runs.append(watch([script("karat"), "score", str(table), *arguments]))
        shutil.rmtree(table)
    small, large = runs
    yield Row(
        f"{sizes[1]:,} rows from parquet, BLEU, all threads: memory",
        f"{large.peak_mb:.0f} MB",
        ratio=large.peak_mb,
        unit=" MB",
        at_most=1000,
        note=f"all resident pages; at {sizes[0]:,} rows {small.peak_mb:.0f} MB",
    )
    yield Row(
        f"{sizes[1]:,} rows: processor time per row over that of {sizes[0]:,}",
        duration(large.cpu),
        duration(small.cpu),
        large.cpu / small.cpu * sizes[0] / sizes[1],
        at_most=1.1,
        note="1 is linear; whole command",
    )


def _lines(folder: Path, plan: Plan) -> Iterator[Row]:
    lines = plan.table_rows // 2
    paths = [folder / name for name in ("candidates.txt", "references.txt")]
    with paths[0].open("w") as candidates, paths[1].open("w") as references:
        for cand, ref in pairs(lines):
            candidates.writelines(f"{line}\n" for line in cand)
            references.writelines(f"{line}\n" for line in ref)
    argv = [script("karat"), "score", str(paths[0]), "-r", str(paths[1]), "-m", "bleu"]
    run = watch([*argv, "--resamples", "100", "--format", "json"])
    yield Row(
        f"--resamples 100 on {lines:,} lines: memory",
        f"{run.peak_mb:.0f} MB",
        ratio=run.peak_mb,
        unit=" MB",
        at_most=1000,
        note=f"all resident pages, those of mapped files {run.file_mb:.0f} MB at the most; "
        f"{duration(run.cpu)} of processor time",
    )


def pairs(rows: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield candidates and references up to the given total."""
    n_rows = 0
    for batch in sentences(3 * rows * _WORDS_PER_ROW):
        references = batch[: rows - n_rows]
        yield [_changed(line, n_rows + i) for i, line in enumerate(references)], references
        n_rows += len(references)
        if n_rows >= rows:
            return
    raise RuntimeError(f"{rows - n_rows:,} rows are missing: the sentences are too long")


def _changed(line: str, number: int) -> str:
    """Drop a word somewhere; exchange the parts around it in every third line."""
    at = number * 7919 % len(line)
    before, after = line[: max(line.rfind(" ", 0, at), 0)], line[line.find(" ", at) + 1 :]
    changed = f"{after} {before}" if number % 3 == 0 else f"{before} {after}"
    return changed.strip() or line


def write_table(folder: Path, rows: int) -> Path:
    """Write parquet files with columns candidate, reference, system and id."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    held, writer, n_rows = 0, None, 0
    for candidates, references in pairs(rows):
        numbers = np.arange(n_rows, n_rows + len(candidates))
        systems = pa.array([f"system-{n % _SYSTEMS}" for n in numbers])
        table = pa.table(
            {"candidate": candidates, "reference": references, "system": systems, "id": numbers}
        )
        if writer is None:
            writer = pq.ParquetWriter(folder / f"{n_rows:010d}.parquet", table.schema)
        writer.write_table(table)
        n_rows, held = n_rows + len(candidates), held + len(candidates)
        if held >= _ROWS_PER_FILE:
            writer.close()
            writer, held = None, 0
    if writer is not None:
        writer.close()
    return folder


def main() -> None:
    """Write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    write_table(options.output, options.rows)


if __name__ == "__main__":
    main()
