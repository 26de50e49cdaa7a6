"""What a killed process leaves behind is removed by the next writer of the same target."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import karat as kt
from karat.errors import OutputError
from karat.evalset.conversion import write_folder
from karat.storage.output import claimed_folder, replacing, write_atomically
from karat.storage.stages import work_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")

FILE = """
from karat.storage.output import replacing
with replacing("result.json") as stream:
    stream.write(b"half of it")
    stream.flush()
"""
FOLDER = """
from karat.storage.output import claimed_folder
with claimed_folder("my-set") as folder:
    open(folder + "/a.txt", "w").write("one")
"""
WORK = """
from karat.storage.stages import work_folder
with work_folder(None) as folder:
    (folder / "stage.npz").write_text("stage 1")
"""
WAIT = """
    print("ready", flush=True)
    import time
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


def start_writer(program: str) -> subprocess.Popen[str]:
    """Start a process that writes half of something and then waits."""
    writer = subprocess.Popen(
        [sys.executable, "-c", program + WAIT], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def kill(writer: subprocess.Popen[str]) -> None:
    writer.send_signal(signal.SIGKILL)
    writer.communicate()


def leftovers(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith(".karat-"))


def test_a_killed_writer_of_a_file(tmp_path: Path) -> None:
    kill(start_writer(FILE))
    assert len(leftovers(tmp_path)) == 1
    write_atomically("other.json", "of another file")
    assert len(leftovers(tmp_path)) == 1
    write_atomically("result.json", "all of it")
    assert leftovers(tmp_path) == []
    assert Path("result.json").read_text() == "all of it"


def test_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    first, second = start_writer(FILE), start_writer(FILE)
    write_atomically("result.json", "third")
    assert len(leftovers(tmp_path)) == 2
    kill(first)
    kill(second)
    write_atomically("result.json", "fourth")
    assert leftovers(tmp_path) == []
    assert Path("result.json").read_text() == "fourth"


def test_the_last_of_three_writers_is_killed_after_the_others_ended(tmp_path: Path) -> None:
    writers = [start_writer(FILE) for _ in range(3)]
    assert len(leftovers(tmp_path)) == 3
    kill(writers[0])
    kill(writers[1])
    write_atomically("result.json", [b"whole"])
    assert len(leftovers(tmp_path)) == 1  # of the third, which lives
    kill(writers[2])
    write_atomically("result.json", [b"whole"])
    assert leftovers(tmp_path) == []


def test_many_writers_of_one_file_at_once(tmp_path: Path) -> None:
    texts = [str(number) * 50_000 for number in range(10)]

    def write(text: str) -> None:
        for _ in range(20):
            write_atomically("result.json", text)
            assert Path("result.json").read_text() in texts

    errors: list[BaseException] = []

    def run(text: str) -> None:
        try:
            write(text)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert leftovers(tmp_path) == []


def test_an_error_while_writing_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with replacing("result.json") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert os.listdir(tmp_path) == ["tmp"]


def test_a_killed_writer_of_a_set(tmp_path: Path) -> None:
    kill(start_writer(FOLDER))
    assert len(leftovers(tmp_path)) == 1
    kt.save_evalset("demo", "my-set")
    assert leftovers(tmp_path) == []
    assert not Path("my-set/a.txt").exists()


def test_temporary_folders_of_long_work(tmp_path: Path) -> None:
    kill(start_writer(WORK))
    assert len(leftovers(tmp_path / "tmp")) == 1
    with work_folder(None) as folder:
        assert os.listdir(folder) == []
        assert folder.stat().st_mode & 0o777 == 0o700
    assert os.listdir(tmp_path / "tmp") == []


def test_files_of_others_are_not_followed_or_removed(tmp_path: Path) -> None:
    with claimed_folder(str(tmp_path / "target")) as claimed:
        name = Path(claimed)
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    name.symlink_to(precious)
    write_atomically(tmp_path / "target", "new")
    assert precious.read_text() == "keep me"
    assert name.is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_names_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    files = [("Atlas.txt", ["a"]), ("atlas.txt", ["b"])]
    with pytest.raises(OutputError, match=r"'Atlas\.txt' and 'atlas\.txt' would be one file"):
        write_folder(tmp_path / "set", files)
    assert os.listdir(tmp_path) == ["tmp"]
