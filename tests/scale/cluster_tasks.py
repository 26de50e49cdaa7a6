"""Work that the workers of test clusters find by its name, and small tables for it."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

from karat.arrow.columns import Columns
from karat.arrow.jobs import TableJob, run_piece
from karat.arrow.pieces import TablePiece, plan_pieces
from karat.arrow.tables import sign_metric
from karat.metrics.names import metric
from karat.progress import Stop

METRICS = ("bleu", "chrf", "rouge_l")
JOB = TableJob(
    Columns.from_names(by="system", id="id"), tuple(sign_metric(metric(name)) for name in METRICS)
)
WORK = partial(run_piece, JOB.measure_piece)
WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree", "in", "rain")
LONGEST_WAIT = 120.0


def write_tables(folder: Path, files: int = 6, rows: int = 200, bad: int | None = None) -> None:
    """Write parquet files of two systems; the text of one row of the file `bad` is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in range(files):
        numbers = range(file * rows, (file + 1) * rows)
        texts: dict[str, list[Any]] = {
            name: [" ".join(WORDS[(i * step + k * k) % 12] for k in range(8)) for i in numbers]
            for name, step in (("candidate", 3), ("reference", 5))
        }
        if file == bad:
            texts["candidate"][7] = None
        ids = {"id": list(numbers), "pair": [i // 2 for i in numbers]}
        table = pa.table({"system": ["AB"[i % 2] for i in numbers], **ids, **texts})
        pq.write_table(table, folder / f"part{file}.parquet")


def pieces_in(folder: Path) -> list[TablePiece]:
    """The pieces of all tables in a folder."""
    return plan_pieces(sorted(str(path) for path in folder.glob("*.parquet")))


def die_once(folder: str, piece: TablePiece, threads: int = 1, stop: Stop | None = None) -> Any:
    """Measure a piece; whoever is first on part3 tells its process id and waits to be killed."""
    if "part3" in piece.path:
        mark = Path(folder, f"attempt{len(os.listdir(folder))}")
        mark.with_suffix(".new").write_text(str(os.getpid()))
        mark.with_suffix(".new").rename(mark)
        if mark.name == "attempt0":
            wait_for_end()
    return WORK(piece, threads, stop)


def wait(folder: str, piece: TablePiece, threads: int = 1, stop: Stop | None = None) -> Any:
    """Tell that a piece is under way, and wait to be ended."""
    Path(folder, f"under-way-{os.getpid()}").touch()
    wait_for_end()


def wait_for_end() -> None:
    """Wait until this process is ended from outside."""
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        time.sleep(0.05)
    raise TimeoutError("nobody ended this process")


def run_on_two_workers(
    folder: str, piece: TablePiece, threads: int = 1, stop: Stop | None = None
) -> Any:
    """Measure a piece when another process is under way, too; a file has the id of each."""
    Path(folder, str(os.getpid())).touch()
    end = time.monotonic() + LONGEST_WAIT
    while len(os.listdir(folder)) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    return WORK(piece, threads, stop)


def die(folder: str, piece: TablePiece, threads: int = 1, stop: Stop | None = None) -> Any:
    """End the worker on part3, as the kernel does when memory is short."""
    if part3_comes(folder, piece):
        os.kill(os.getpid(), signal.SIGKILL)


def divide_by_zero(
    folder: str, piece: TablePiece, threads: int = 1, stop: Stop | None = None
) -> Any:
    """Fail on part3 for a reason that is no bad input."""
    return 1 // (0 if part3_comes(folder, piece) else 1)


def part3_comes(folder: str, piece: TablePiece) -> bool:
    """Whether this is part3; part0 is under way when it comes, if there are two workers."""
    mark = Path(folder, "part3")
    if "part3" in piece.path:
        mark.touch()
        return True
    end = time.monotonic() + 10.0
    while "part0" in piece.path and not mark.exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(1.0 if "part0" in piece.path else 0.0)
    return False


def interrupts_blocked(piece: TablePiece, threads: int = 1, stop: Stop | None = None) -> bool:
    """Whether Ctrl-C does not reach the worker."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
