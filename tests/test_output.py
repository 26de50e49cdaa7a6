"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from karat.errors import OutputError
from karat.storage.output import check_writable, write_atomically


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_writes_utf8_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    write_atomically(target, "é 日\r\n")
    assert target.read_bytes() == "é 日\r\n".encode()
    assert os.listdir(tmp_path) == ["out.txt"]


def test_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "out", "x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "out") == 0o640


def test_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o604)
    write_atomically(target, "new")
    assert (target.read_text(), mode(target)) == ("new", 0o604)


def test_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("failing", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    target = tmp_path / "out"
    target.write_text("old")
    monkeypatch.setattr(os, failing, fail)
    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write_atomically(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]
    if expected is OutputError:
        assert str(caught.value) == f"cannot write {target}: No space left on device"


def test_lone_surrogate_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="character 1 is a lone surrogate"):
        write_atomically(tmp_path / "out", "a\udc80")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("act", [check_writable, lambda path: write_atomically(path, "x")])
def test_bad_targets_are_named_in_one_sentence(tmp_path: Path, act) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="it is a directory; name a file in it"):
        act(tmp_path)
    with pytest.raises(OutputError, match=f"there is no directory {tmp_path / 'none'}; create it"):
        act(tmp_path / "none" / "out")
    with pytest.raises(OutputError, match=r"there is no directory .*file; create it"):
        act(tmp_path / "file" / "out")


def test_permission_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Faked, since the superuser, whom tests may run as, is never refused.
    monkeypatch.setattr(os, "access", lambda path, wanted: os.fspath(path) != str(tmp_path))
    with pytest.raises(OutputError, match=f"no permission to write to {tmp_path}$"):
        check_writable(tmp_path / "out")


def test_protected_file_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, wanted: os.fspath(path) != str(target))
    with pytest.raises(OutputError, match=f"no permission to write to {target}$"):
        write_atomically(target, "new")


def test_check_writable_creates_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "out")
    check_writable("/dev/null")
    assert os.listdir(tmp_path) == []


def test_bare_name_means_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("out", "x")
    assert (tmp_path / "out").read_text() == "x"


def test_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    write_atomically(pipe, "through")
    reader.join(10)
    assert received == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_null_device_stays_a_device() -> None:
    write_atomically("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_standard_output_in_a_file_is_appended_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    program = "from karat.storage.output import *; write_atomically('/dev/stdout', 'after\\n')"
    with log.open("a") as stream:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", program], stdout=stream, check=True, env=environment)
    assert log.read_text() == "before\nafter\n"
