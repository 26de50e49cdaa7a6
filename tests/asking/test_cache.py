"""The cache: files that are none, other versions, locks, full disks."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from asking import chats
from asking.chats import asked, endpoint, request, requests, start, wait_for
from asking.server import serving

from karat.errors import InputError, KaratError, OutputError
from karat.llm.cache import Cache
from karat.llm.requests import Completion, Request, RequestJob
from karat.llm.run import ask, plan

NOWHERE = "http://127.0.0.1:9"


def refused(cache: Path) -> str:
    """The sentence for a cache that cannot be used; the file stays as it is."""
    before = cache.read_bytes() if cache.is_file() else None
    with pytest.raises(KaratError) as caught:
        asked(NOWHERE, requests(1), cache)
    assert before == (cache.read_bytes() if cache.is_file() else None)
    assert "\n" not in str(caught.value)
    assert str(cache) in str(caught.value) or "characters)" in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("system\tsegment\n" * 100)
    assert "is not a cache of answers (file is not a database)" in refused(tmp_path / "cache")


def test_another_database(tmp_path: Path) -> None:
    file = sqlite3.connect(tmp_path / "cache")
    file.execute("CREATE TABLE mine (a)")
    file.commit()
    file.close()
    assert "is a database, but not a cache of answers" in refused(tmp_path / "cache")


def test_another_version(tmp_path: Path) -> None:
    with serving() as server:
        asked(server.url, requests(1), tmp_path / "cache")
    file = sqlite3.connect(tmp_path / "cache")
    file.execute("PRAGMA journal_mode = DELETE")
    file.execute("PRAGMA user_version = 7")
    file.commit()
    file.close()
    assert "is a cache of version 7, this Karat has 1" in refused(tmp_path / "cache")


def test_a_damaged_database(tmp_path: Path) -> None:
    with serving() as server:
        asked(server.url, [request("x" * 3000 + str(i)) for i in range(20)], tmp_path / "cache")
    data = bytearray((tmp_path / "cache").read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    (tmp_path / "cache").write_bytes(data)
    assert "is not a cache of answers (database disk image is malformed)" in refused(
        tmp_path / "cache"
    )


def test_a_folder_or_no_folder(tmp_path: Path) -> None:
    assert "unable to open database file" in refused(tmp_path)
    assert "unable to open database file" in refused(tmp_path / "none" / "cache")


def test_an_empty_file_becomes_a_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with serving() as server:
        asked(server.url, requests(1), tmp_path / "cache")
        assert asked(server.url, requests(1), tmp_path / "cache").usage.cached == 1


def test_names_that_mean_something_to_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        for name in (":memory:", "file:a?mode=ro"):
            asked(server.url, requests(1), Path(name))
            assert asked(server.url, requests(1), Path(name)).usage.cached == 1


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with serving(["hang"], always="slow") as server:
        first = start(server.url, tmp_path / "cache", 10, concurrency=2, timeout=30.0)
        wait_for(lambda: bool(server.asked))
        with pytest.raises(InputError, match="is in use by another run: wait for it"):
            asked(server.url, requests(10), tmp_path / "cache")
        with pytest.raises(InputError, match="is in use by another run"):
            plan(requests(10), endpoint(server.url), tmp_path / "cache")
        server.always = "ok"
        server.closing.set()  # what hangs is dropped
        out, err = first.communicate(timeout=30)
        assert json.loads(out)["missing"] == 0, err
        assert asked(server.url, requests(10), tmp_path / "cache").usage.cached == 10


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    folder, place = tmp_path / "kept", endpoint(NOWHERE)
    folder.mkdir()
    job = RequestJob(requests(1)[0], place.cache_key(requests(1)[0]))
    with Cache(folder / "cache", place) as cache:
        cache.write([], [job], {})
        cache.write([(job, Completion("4", 1, 1))], [], {})
        copy = tmp_path / "killed"
        shutil.copytree(folder, copy)  # with the log of a run that has not ended
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert plan(requests(3), place, folder / "cache").to_send == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [*before] == ["cache"]
    (tmp_path / "empty").touch()
    assert plan(requests(3), place, tmp_path / "empty").to_send == 3
    assert (tmp_path / "empty").stat().st_size == 0
    stored = (copy / "cache").read_bytes()
    assert plan(requests(3), place, copy / "cache").to_send == 2
    assert (copy / "cache").read_bytes() == stored


def test_one_run_at_a_time_in_one_process(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache", endpoint(NOWHERE)), pytest.raises(InputError, match="in use"):
        Cache(tmp_path / "cache", endpoint(NOWHERE))


FULL = """
import resource, sys
sys.path[:0] = [{tests!r}]
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
from asking.chats import main
from karat.errors import OutputError
try:
    main({url!r}, {cache!r}, "800", '{{"concurrency": 4}}')
except OutputError as error:
    print(error)
"""


def test_a_full_disk_keeps_what_is_stored(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    tests = str(Path(chats.__file__).parents[1])
    with serving() as server:
        program = FULL.format(tests=tests, size=200_000, url=server.url, cache=str(cache))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.stdout.startswith(f"cannot use the cache {cache} ("), done.stderr
        assert done.stdout.count("\n") == 1
        before = server.answered.total()
        assert before > 10
        run = asked(server.url, requests(800), cache)
        assert run.usage.missing == 0
        assert before - run.usage.cached <= 4
        assert run.usage.repeated <= 4


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    with serving() as server, Cache(tmp_path / "cache", endpoint(server.url)) as cache:
        cache._file.execute("PRAGMA query_only = ON")
        with pytest.raises(OutputError, match="stored answers are kept"):
            cache.write([], [], {"sent": 1})


def test_an_answer_is_stored_before_anybody_hears_of_it(tmp_path: Path) -> None:
    """Each time progress reports, a copy of the files has as many answers as are reported."""
    occurrences = []

    def progress(done: int, total: int, subject: str) -> None:
        copy = tmp_path / "copy"
        for end in ("", "-wal"):
            path = tmp_path / f"cache{end}"
            (tmp_path / f"copy{end}").write_bytes(path.read_bytes() if path.exists() else b"")
        file = sqlite3.connect(copy)
        (stored,) = file.execute(
            "SELECT count(*) FROM requests WHERE state = 'answered'"
        ).fetchone()
        file.close()
        occurrences.append((done, stored))

    with serving() as server:
        asked(server.url, requests(12), tmp_path / "cache", progress=progress)
    assert occurrences[-1] == (12, 12)
    assert all(done == stored for done, stored in occurrences)


def test_invalid_answers_are_kept_for_diagnosis_and_never_answers(tmp_path: Path) -> None:
    with serving(["no json"] * 2) as server:
        asked(server.url, [request("a")], tmp_path / "cache", limits={"attempts": 2})
    file = sqlite3.connect(tmp_path / "cache")
    rows = file.execute("SELECT state, attempts, rejections, answer, rejected, why FROM requests")
    assert rows.fetchall() == [
        ("failed", 2, 2, None, "I think that the answer is yes.", "invalid answer (no JSON)")
    ]
    file.close()


def test_a_check_that_fails_loses_nothing_stored(tmp_path: Path) -> None:
    def check(item: Request, text: str) -> str:
        if item.id == "request 5":
            raise ZeroDivisionError
        return ""

    with serving() as server:
        with pytest.raises(ZeroDivisionError):
            asked(
                server.url, requests(9), tmp_path / "cache", check=check, limits={"concurrency": 1}
            )
        answers = ask(requests(9), endpoint(server.url), cache=tmp_path / "cache")
        assert answers.usage.cached == 5
