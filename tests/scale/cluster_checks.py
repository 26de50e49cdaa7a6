"""Checks that every engine must pass, whoever runs the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scale import cluster_tasks
from scale.cluster_tasks import JOB, LONGEST_WAIT, METRICS, WORK, pieces_in, write_tables

import karat as kt
from karat.arrow.jobs import Engine, JobFailure, Local, Runner, as_engine
from karat.arrow.statistics import TableStatistics
from karat.arrow.tables import sums_table
from karat.errors import InputError
from karat.metrics.names import metric

TESTS = Path(__file__).parents[1]
"""Where workers find the functions of tests."""


def merged(results: Iterable[tuple[int, Any]], count: int) -> list[Any]:
    """The sums of all pieces, each of which must be there once, as rows."""
    statistics_by_piece = dict[int, TableStatistics]()
    for at, result in results:
        assert at not in statistics_by_piece
        statistics_by_piece[at] = result
    assert sorted(statistics_by_piece) == list(range(count))
    total = TableStatistics([metric(name) for name in JOB.metrics])
    for part in statistics_by_piece.values():  # in the order in which they came
        total += part
    rows: list[Any] = pa.table(sums_table(total)).to_pylist()
    return sorted(rows, key=lambda row: (row["system"], row["metric"]))


def local(folder: Path) -> list[Any]:
    """The sums that the threads of this process make."""
    pieces = pieces_in(folder)
    with Local().running(len(pieces)) as runner:
        return merged(runner.run(WORK, pieces), len(pieces))


def check_same_bits(runner: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are those of this process; relative paths are found, too."""
    monkeypatch.chdir(folder.parent)
    pieces = pieces_in(Path(folder.name))
    assert not os.path.isabs(pieces[0].path)
    assert merged(runner.run(WORK, pieces), len(pieces)) == local(folder)


@dataclass(frozen=True)
class Started(Engine):
    """An engine that was started before."""

    name: ClassVar[str] = "started"
    runners: ClassVar[list[Runner]] = []

    @contextmanager
    def running(self, pieces: int) -> Iterator[Runner]:
        """Use the runner that is there."""
        yield self.runners[-1]


def check_whole_runs(runner: Runner, folder: Path, place: Path) -> None:
    """Intervals, tests, buckets, rows that are written and progress are those of this process."""
    Started.runners.append(runner)
    (place / "local").mkdir()
    (place / "there").mkdir()
    assert _whole_runs(Started(), folder, place / "there") == _whole_runs(
        Local(), folder, place / "local"
    )


def _whole_runs(engine: Engine, folder: Path, place: Path) -> list[object]:
    progress_calls: list[tuple[int, int, str]] = []
    options: dict[str, Any] = {"by": "system", "engine": engine}
    output_paths = {"rows": place / "rows", "shards": place / "shards"}
    compared = kt.compare_table(
        folder,
        METRICS,
        id="pair",
        **options,
        **output_paths,
        progress=lambda *done: progress_calls.append(done),
    )
    assert (1200, 1200, "scoring rows") in progress_calls
    bucketed = kt.compare_table(folder, "bleu", id="pair", buckets=8, **options)
    scored = kt.score_table(folder, METRICS, **options)
    rows = pq.read_table(sorted(map(str, (place / "rows").glob("*.parquet"))))
    again = kt.compare_table(folder, METRICS, id="pair", **options, shards=place / "shards")
    results = [compared, bucketed, scored, again]
    assert repr(again.rows) == repr(compared.rows)
    return [*((repr(result.rows), result.signature) for result in results), rows.to_pylist()]


def check_results_come_as_they_are_done(runner: Runner, folder: Path, marks: Path) -> None:
    """The other pieces are here while one is still under way; then its worker is killed."""
    pieces, work = pieces_in(folder), partial(cluster_tasks.die_once, str(marks))
    results = []
    for at, result in runner.run(work, pieces):
        results.append((at, result))
        if len(results) == len(pieces) - 1:
            assert "part3" in pieces[({*range(len(pieces))} - {at for at, _ in results}).pop()].path
            wait_until((marks / "attempt0").exists)
            os.kill(int((marks / "attempt0").read_text()), signal.SIGKILL)
    assert merged(results, len(pieces)) == local(folder)
    assert sorted(os.listdir(marks)) == ["attempt0", "attempt1"]


def check_bad_input(runner: Runner, folder: Path) -> None:
    """A null text is told in a sentence, and the other pieces are measured."""
    write_tables(folder, files=3, bad=1)
    results = dict(runner.run(WORK, pieces_in(folder)))
    assert [isinstance(results[at], JobFailure) for at in range(3)] == [False, True, False]
    assert results[1].sentence.startswith(f"{folder / 'part1.parquet'}, row 8: ")


def check_failing_work(runner: Runner, folder: Path, marks: Path) -> None:
    """An error of the work itself is one sentence about its piece, while others are under way."""
    message = r"part3\.parquet, from row 1: a \w+ worker failed: ZeroDivisionError: .*by zero"
    work = partial(cluster_tasks.divide_by_zero, str(marks))
    with pytest.raises(InputError, match=message) as caught:
        list(runner.run(work, pieces_in(folder)))
    assert "\n" not in str(caught.value)


def check_dying_workers(runner: Runner, folder: Path, marks: Path) -> None:
    """Workers that always die on a piece are not started for ever; no other piece is blamed."""
    work = partial(cluster_tasks.die, str(marks))
    with pytest.raises(InputError, match=r"part3\.parquet.*: 4 \w+ workers died on this piece"):
        list(runner.run(work, pieces_in(folder)))


def check_unreachable(name: str, address: str, reason: str) -> None:
    """Nobody listens: one sentence."""
    with (
        pytest.raises(InputError, match=reason) as caught,
        as_engine(name, {"address": address}).running(1),
    ):
        pass
    assert address in str(caught.value)
    assert "\n" not in str(caught.value)


MISSING = """
import sys
sys.modules[{package!r}] = None  # an import of it fails, as if it were not installed
from karat.arrow.jobs import as_engine
from karat.errors import MissingExtra
try:
    with as_engine({name!r}).running(1):
        pass
except MissingExtra as error:
    print(error)
"""


def check_missing(name: str, package: str) -> None:
    """Without its package, an engine says what to install."""
    code = MISSING.format(name=name, package=package)
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert f"is not installed: pip install 'karat-eval[{name}]'" in process.stdout


THREAD = """
import threading
from pathlib import Path
from scale.cluster_checks import local, merged
from scale.cluster_tasks import WORK, pieces_in
from karat.arrow.jobs import as_engine
def work():
    pieces = pieces_in(Path({folder!r}))
    with as_engine({name!r}, {{"workers": "2"}}).running(6) as runner:
        assert merged(runner.run(WORK, pieces), 6) == local(Path({folder!r}))
    Path({marks!r}, "done").touch()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def check_in_a_thread(name: str, folder: Path, marks: Path) -> None:
    """A thread other than the main one may start workers."""
    process = started(THREAD, name, folder, marks)
    try:
        assert process.communicate(timeout=LONGEST_WAIT) == ("", "")
    finally:
        process.kill()
    assert os.listdir(marks) == ["done"]
    wait_until(lambda: not in_session(process.pid))


SCRIPT = """
from functools import partial
from pathlib import Path
from scale import cluster_tasks
from karat.arrow.jobs import as_engine
work = partial(cluster_tasks.wait, {marks!r})
pieces = cluster_tasks.pieces_in(Path({folder!r}))[:2]
try:
    with as_engine({name!r}, {{"workers": "2"}}).running(2) as runner:
        list(runner.run(work, pieces))
except KeyboardInterrupt:
    print("interrupted")
"""


QUIET = """
import os
import time
from functools import partial
from pathlib import Path
from scale import cluster_tasks
from karat.arrow.jobs import as_engine
work = partial(cluster_tasks.die_once, {marks!r})
pieces = cluster_tasks.pieces_in(Path({folder!r}))
with as_engine({name!r}, {{"workers": "2"}}).running(6) as runner:
    for number, _ in enumerate(runner.run(work, pieces), 1):
        print(number)
        if number == 5:
            mark = Path({marks!r}, "attempt0")
            while not mark.exists():
                time.sleep(0.05)
            os.kill(int(mark.read_text()), 9)
"""


def started(code: str, name: str, folder: Path, marks: Path) -> subprocess.Popen[str]:
    """A script without a __main__ guard, in a session of its own, as a terminal starts it."""
    script = marks.parent / "script.py"
    script.write_text(code.format(name=name, marks=str(marks), folder=str(folder)))
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def check_quiet_death(name: str, folder: Path, marks: Path) -> None:
    """A worker that is killed leaves no trace in what a program prints."""
    process = started(QUIET, name, folder, marks)
    try:
        printed = process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    assert printed == ("1\n2\n3\n4\n5\n6\n", "")
    wait_until(lambda: not in_session(process.pid))


def check_interrupt(name: str, folder: Path, marks: Path) -> None:
    """Ctrl-C in the midst of the work ends everything, quietly."""
    process = started(SCRIPT, name, folder, marks)
    try:
        wait_until(lambda: len(os.listdir(marks)) == 2 or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    assert (out, err) == ("interrupted\n", "")
    wait_until(lambda: not in_session(process.pid))


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something that must come to pass."""
    end = time.monotonic() + LONGEST_WAIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def in_session(session: int) -> list[str]:
    """The processes of a session that have not ended."""
    process_ids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, *fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == session and state != "Z":
                process_ids.append(folder.name)
    return process_ids
