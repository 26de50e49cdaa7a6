"""Dask: a real cluster of two worker processes gives the bits of this process."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from scale import cluster_checks as checks
from scale import cluster_tasks
from scale.cluster_tasks import WORK, pieces_in, write_tables

from karat.arrow.jobs import Engine, Runner, as_engine
from karat.errors import InputError
from karat.scale.spark_engine import Spark

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tables_folder = tmp_path_factory.mktemp("dask") / "tables"
    tables_folder.mkdir()
    write_tables(tables_folder)
    return tables_folder


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with as_engine("dask:workers=2").running(6) as started:
        yield started


def test_same_bits(runner: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks.check_same_bits(runner, folder, monkeypatch)


def test_whole_runs(runner: Runner, folder: Path, tmp_path: Path) -> None:
    checks.check_whole_runs(runner, folder, tmp_path)


def test_failing_work(runner: Runner, folder: Path, tmp_path: Path) -> None:
    checks.check_failing_work(runner, folder, tmp_path)


def test_a_worker_is_killed(runner: Runner, folder: Path, tmp_path: Path) -> None:
    checks.check_results_come_as_they_are_done(runner, folder, tmp_path)


def test_bad_input(runner: Runner, tmp_path: Path) -> None:
    checks.check_bad_input(runner, tmp_path)


def test_dying_workers(runner: Runner, folder: Path, tmp_path: Path) -> None:
    checks.check_dying_workers(runner, folder, tmp_path)


def test_a_finished_result_is_lost(folder: Path, tmp_path: Path) -> None:
    """The worker that holds a result dies before the result is used: the piece is run again."""
    work, pieces = partial(cluster_tasks.run_on_two_workers, str(tmp_path)), pieces_in(folder)[:2]
    with as_engine("dask:workers=2").running(2) as runner:
        stream = runner.run(work, pieces)
        results = [next(stream)]
        time.sleep(0.5)  # the client knows that the second one is finished, too
        for process_id in os.listdir(tmp_path):
            os.kill(int(process_id), signal.SIGKILL)
        time.sleep(0.3)  # the client knows that it is lost, and no worker has started yet
        results.extend(stream)
    assert sorted(piece for piece, _ in results) == [0, 1]


def test_workers_leave_interrupts_to_the_client(runner: Runner, folder: Path) -> None:
    blocked_by_piece = dict(runner.run(cluster_tasks.interrupts_blocked, pieces_in(folder)))
    assert list(blocked_by_piece.values()) == [True] * 6


def test_interrupt(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    checks.check_interrupt("dask", folder, tmp_path / "marks")


@pytest.mark.long
def test_in_a_thread(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    checks.check_in_a_thread("dask", folder, tmp_path / "marks")


def test_one_worker_dies_on_one_of_many_pieces(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "part3").touch()  # nothing waits for it
    with as_engine("dask:workers=1").running(6) as runner:
        checks.check_dying_workers(runner, folder, tmp_path)


@pytest.mark.long
def test_the_log_of_others_is_left_as_it_was() -> None:
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.INFO)
    try:
        checks.check_unreachable("dask", "tcp://127.0.0.1:9", "no answer")
        assert logger.level == logging.INFO
    finally:
        logger.setLevel(before)


@pytest.mark.long
def test_nobody_listens() -> None:
    checks.check_unreachable("dask", "tcp://127.0.0.1:9", "no answer in 5 seconds")


def test_somebody_else_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        checks.check_unreachable("dask", address, "no answer in 5 seconds")


def test_not_installed() -> None:
    checks.check_missing("dask", "distributed")


@contextmanager
def daemon(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Dask that runs until it is killed."""
    code = "from dask.__main__ import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(checks.TESTS)},
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def test_a_scheduler_at_an_address_that_goes_away(folder: Path, tmp_path: Path) -> None:
    scheduler_path, marks = tmp_path / "scheduler.json", tmp_path / "marks"
    marks.mkdir()
    file = f"--scheduler-file={scheduler_path}"
    with daemon("scheduler", "--host=127.0.0.1", "--port=0", "--no-dashboard", file) as scheduler:
        checks.wait_until(
            lambda: scheduler_path.exists() and scheduler_path.read_text().endswith("}")
        )
        address = json.loads(scheduler_path.read_text())["address"]
        with daemon("worker", file, "--no-nanny", "--nthreads=1", f"--local-directory={tmp_path}"):
            pieces = pieces_in(folder)
            with as_engine("dask", {"address": address}).running(6) as runner:
                assert checks.merged(runner.run(WORK, pieces), 6) == checks.local(folder)
                work = partial(cluster_tasks.wait, str(marks))
                kill = threading.Thread(target=kill_when_under_way, args=(scheduler, marks))
                kill.start()
                with pytest.raises(InputError, match=f"Dask at {address} went away"):
                    list(runner.run(work, pieces))
                kill.join()


def kill_when_under_way(process: subprocess.Popen[bytes], marks: Path) -> None:
    checks.wait_until(lambda: len(os.listdir(marks)) > 0)
    process.kill()


# ------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "text",
    [
        "dask",
        "dask:address=tcp://10.0.0.1:8786",
        "ray:workers=3",
        "spark:workers=4,spark.executor.memory=4g,spark.task.cpus=2",
        "spark:spark.executor.memory=4g",
        'spark:spark.jars.packages="x:y:1,z:w:2",spark.task.cpus=2',
    ],
)
def test_names_parse_back(text: str) -> None:
    engine = as_engine(text)
    assert isinstance(engine, Engine)
    assert str(engine) == text


def test_options_may_hold_commas() -> None:
    options = {"address": "spark://a:7077,b:7077", "spark.jars.packages": "x:y:1,z:w:2"}
    engine = as_engine("spark", options)
    assert isinstance(engine, Spark)
    spark_settings = engine.settings_for(2, "folder")
    assert spark_settings["spark.master"] == "spark://a:7077,b:7077"
    assert spark_settings["spark.jars.packages"] == "x:y:1,z:w:2"


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("dask", {"worker": "2"}, "engine dask has no setting 'worker'; did you mean workers"),
        ("ray:workers=0", {}, "engine ray: workers=0 is out of range"),
        ("ray:workers=2", {"address": "a:1"}, "engine ray: address and workers are both given"),
        ("spark", {"conf": "x"}, "by their full names"),
        ("dusk", {}, "^engine 'dusk': expected one of local, dask, spark, ray"),
    ],
)
def test_wrong_settings(text: str, options: dict[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        as_engine(text, options)
