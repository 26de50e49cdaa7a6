"""The log of an assessor: nothing is lost, nothing foreign is touched, one session at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import karat as kt
from karat.errors import OutputError
from karat.nuggets.judging.log import Log
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.keys import Nugget, Question

NUGGET = Nugget("1", ("a fact",))
QUESTION = Question("q", (NUGGET,))
ROW = Judged("q", "1", 'said "so" — ה 語', 1.0, "A")


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def test_lines_are_there_at_once_and_can_be_taken_back(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        assert rows(path) == [
            {"question": "q", "nugget": "1", "response": ROW.response, "value": 1.0, "run": "A"}
        ]
        first = path.read_bytes()
        log.describe(QUESTION, NUGGET, "so")
        second = path.read_bytes()
        log.add(QUESTION, Nugget("2", ("new",), False), ROW._replace(nugget="2"))
        assert len(rows(path)) == 4
        assert log.undo()
        assert path.read_bytes() == second
        assert log.undo()
        assert path.read_bytes() == first
        log.judge(ROW._replace(value=0.0))
        assert len(rows(path)) == 2
    with Log(path) as log:
        assert not log.undo()  # what an earlier session wrote stays
        assert not log.mended
    assert len(rows(path)) == 2


def test_a_line_cut_off_anywhere_loses_at_most_itself(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        log.judge(ROW._replace(response="second"))
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        with Log(path) as log:
            whole = end in (0, first - 1, first, len(data) - 1, len(data))
            assert log.mended is not whole, end
            kept = path.read_bytes()
            log.judge(ROW._replace(response="third"))
        assert kept == data[: 0 if end < first - 1 else first if end < len(data) - 1 else len(data)]
        assert [row["response"] for row in rows(path)][-1] == "third"


@pytest.mark.parametrize("torn", [b"\0" * 9, b'{"question": "q", "nu\0\0\0'])
def test_zeros_of_a_file_system_are_cut_off(path: Path, torn: bytes) -> None:
    with Log(path) as log:
        log.judge(ROW)
    good = path.read_bytes()
    path.write_bytes(good + torn)
    with Log(path) as log:
        assert log.mended
    assert path.read_bytes() == good


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"q1 1 vital the lens\n", 1),
        (b"q1 1 vital no end", 1),
        (b'{"question": "q", "nuggets": []}\n', 1),
        (b'{"run": "A"}', 1),
        (b'{"question": "q", "nugget": "1"}\n{"qid": 1}\n', 2),
        (b'{"question": "q", "nugget": "1"}\n\nword', 3),
        (b"[1]\n", 1),
        (b"\xff\xfe\n", 1),
        (b"[" * 100_000 + b"\n", 1),
    ],
)
def test_a_foreign_file_is_refused_and_left_alone(path: Path, content: bytes, line: int) -> None:
    path.write_bytes(content)
    with pytest.raises(kt.InputError, match=rf"log.jsonl, line {line}: found .* nothing was chang"):
        Log(path)
    assert path.read_bytes() == content


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is no file; name one"):
        Log(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="it is no file; name one"):
        Log(tmp_path / "pipe")
    with pytest.raises(OutputError, match="No such file or directory"):
        Log(tmp_path / "none" / "log")
    with pytest.raises(OutputError, match=r"name it without \.gz"):
        Log(tmp_path / "log.jsonl.gz")
    assert os.listdir(tmp_path) == ["pipe"]


def test_one_session_at_a_time(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        with pytest.raises(OutputError, match="another session writes to it"):
            Log(path)
        log.judge(ROW)
    with Log(path) as log:
        log.judge(ROW)
    assert len(rows(path)) == 3


def test_a_session_without_answers_leaves_no_new_file(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        log.undo()
    assert not path.exists()
    with pytest.raises(RuntimeError), Log(path):
        raise RuntimeError
    assert not path.exists()
    path.touch()
    with Log(path):
        pass
    assert path.exists()


def test_a_file_that_others_change_is_noticed(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        with path.open("ab") as other:
            other.write(b"x")
        for act in (log.undo, lambda: log.judge(ROW)):
            with pytest.raises(OutputError, match="another program has changed it"):
                act()
    assert path.read_bytes().endswith(b"\nx")


def test_a_file_that_others_replace_is_noticed(path: Path, tmp_path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW)
        (tmp_path / "other").write_bytes(path.read_bytes())
        (tmp_path / "other").rename(path)
        with pytest.raises(OutputError, match="another program has changed it"):
            log.judge(ROW)
        path.unlink()
        with pytest.raises(OutputError, match="another program has changed it"):
            log.judge(ROW)


def test_lone_surrogates_survive(path: Path) -> None:
    with Log(path) as log:
        log.judge(ROW._replace(response="a \ud800 b"))
    assert rows(path)[0]["response"] == "a \ud800 b"


FULL = """
import resource, sys
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.judging.log import Log
with Log(sys.argv[1]) as log:
    log.judge(Judged("q", "1", "short", 1.0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    log.judge(Judged("q", "1", "long " * 50, 1.0))
"""


def test_a_full_disk_loses_no_earlier_line(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=False
    )
    assert "OutputError: cannot write" in done.stderr
    assert [row["response"] for row in rows(path)] == ["short"]
    assert path.read_bytes().endswith(b"\n")
