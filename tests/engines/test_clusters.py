"""Spark and Ray: real workers give the bits of this process, and die without harm.

Run by `make test-engines`, in an environment of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scale import cluster_checks as checks
from scale.cluster_tasks import write_tables

from karat.arrow.jobs import Runner, as_engine
from karat.errors import MissingExtra

ENGINES = ("spark", "ray")
PACKAGES = {"spark": "pyspark", "ray": "ray"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("engines") / "tables"
    target.mkdir()
    write_tables(target)
    return target


@pytest.fixture(scope="module", params=ENGINES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(checks.TESTS))  # where workers find the tests' functions
        with as_engine(request.param, {"workers": "2"}).running(6) as started:
            yield started


@pytest.mark.parametrize(
    ("name", "address"), [("spark", "spark://127.0.0.1:9"), ("ray", "127.0.0.1:9")]
)
def test_nobody_listens(name: str, address: str) -> None:
    """First of all: later there is a session, which is used whatever the address."""
    checks.check_unreachable(name, address, "connection refused")


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


@pytest.mark.parametrize("name", ENGINES)
def test_interrupt(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    checks.check_interrupt(name, folder, tmp_path / "marks")


@pytest.mark.parametrize("name", ENGINES)
def test_in_a_thread(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    checks.check_in_a_thread(name, folder, tmp_path / "marks")


SESSION = """
import os
from pathlib import Path
before = dict(os.environ)
from scale.cluster_checks import local, merged
from scale.cluster_tasks import WORK, pieces_in
from karat.arrow.jobs import as_engine
from karat.errors import InputError
folder = Path({folder!r})
def scored(options):
    try:
        with as_engine({name!r}, options).running(6) as runner:
            return merged(runner.run(WORK, pieces_in(folder)), 6) == local(folder)
    except InputError as error:
        return error
print(scored({{"workers": "2"}}))
import ray
print(ray.is_initialized())
own = ("RAY_worker_niceness", "RAY_USAGE_STATS_ENABLED", "RAY_DEDUP_LOGS", "RAY_task_oom_retries")
print([name for name in own if os.environ.get(name) != before.get(name)])
ray.init(
    address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1",
    object_store_memory=200 << 20, log_to_driver=False, logging_level="CRITICAL",
)
head = ray.get_runtime_context().gcs_address
for options in ({{}}, {{"address": head}}, {{"address": "127.0.0.1:9"}}, {{"workers": "2"}}):
    print(scored(options), ray.is_initialized())
ray.shutdown()
"""


def test_a_session_of_ray_is_used_and_left_running(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    process = checks.started(SESSION, "ray", folder, tmp_path / "marks")
    try:
        out, err = process.communicate(timeout=checks.LONGEST_WAIT)
    finally:
        process.kill()
    has = "this process has a Ray session already"
    assert out.splitlines() == [
        "True",
        "False",
        "[]",
        "True True",
        "True True",
        f"{has}, not at 127.0.0.1:9: leave the address out, or end it True",
        f"{has}, which has its own workers: leave workers out True",
    ], err


@pytest.mark.parametrize("name", ENGINES)
def test_quiet_death(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    checks.check_quiet_death(name, folder, tmp_path / "marks")


@pytest.mark.parametrize("name", ENGINES)
def test_not_installed(name: str) -> None:
    checks.check_missing(name, PACKAGES[name])


def test_spark_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(MissingExtra, match="needs Java 17"), as_engine("spark").running(1):
        pass
