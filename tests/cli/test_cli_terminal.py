"""On a terminal: colour, width and the progress bar; elsewhere, none of them."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCORE = ("score", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu")
ESCAPE = b"\x1b["


class Screen:
    """A pseudo-terminal whose output is collected while the command runs."""

    def __init__(self, columns: int) -> None:
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._chunks: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._master, 65536):
                self._chunks.append(chunk)
        except OSError:  # what Linux says when the last writer has closed the terminal
            pass

    def content(self) -> bytes:
        """Close it; all that was shown."""
        os.close(self.slave)
        self._reader.join(30)
        os.close(self._master)
        return b"".join(self._chunks).replace(b"\r\n", b"\n")


@pytest.fixture
def on_screen(karat: Callable[..., Any]) -> Callable[..., bytes]:
    """Run a command whose standard output or error is a terminal; what it shows."""

    def run(*args: str, stream: str = "stdout", columns: int = 80, **env: str) -> bytes:
        screen = Screen(columns)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: screen.slave}
        done = karat(*args, capture_output=False, env=env, **streams)
        assert done.returncode == 0
        return screen.content()

    return run


def test_colour_on_a_terminal(on_screen: Callable[..., bytes]) -> None:
    assert ESCAPE in on_screen(*SCORE)


def test_colour_adds_nothing_but_colour(
    on_screen: Callable[..., bytes], karat: Callable[..., Any]
) -> None:
    assert on_screen(*SCORE, columns=100, NO_COLOR="1") == karat(*SCORE).stdout


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colour_where_it_is_not_wanted(
    on_screen: Callable[..., bytes], env: dict[str, str]
) -> None:
    printed = on_screen(*SCORE, **env)
    assert ESCAPE not in printed
    assert b"bleu" in printed


def test_no_colour_in_a_pipe(karat: Callable[..., Any]) -> None:
    assert b"\x1b" not in karat(*SCORE).stdout


@pytest.mark.parametrize("format", ["json", "tsv", "md", "latex", "html"])
def test_no_colour_in_other_formats(on_screen: Callable[..., bytes], format: str) -> None:
    assert ESCAPE not in on_screen(*SCORE, "-f", format)


@pytest.mark.parametrize("format", ["xlsx", "parquet"])
def test_bytes_are_not_shown_on_a_terminal(karat: Callable[..., Any], format: str) -> None:
    screen = Screen(80)
    done = karat(
        *SCORE, "-f", format, capture_output=False, stdout=screen.slave, stderr=subprocess.PIPE
    )
    assert screen.content() == b""
    message = f"karat: {format} cannot be shown in a terminal: add -o results.{format}\n"
    assert (done.returncode, done.stderr.decode()) == (2, message)


def test_no_colour_in_a_file(folder: Path, on_screen: Callable[..., bytes]) -> None:
    assert on_screen(*SCORE, "-o", "report.txt") == b""
    assert ESCAPE not in (folder / "report.txt").read_bytes()


def test_tables_fit_the_terminal(on_screen: Callable[..., bytes]) -> None:
    args = ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-m", "bleu")
    lines = on_screen(*args, columns=60, NO_COLOR="1").decode("utf-8").splitlines()
    assert max(len(line) for line in lines if not line.startswith("signature")) <= 60


# ------------------------------------------------------------------------------- progress bar


def feed_slowly(path: Path, data: bytes) -> None:
    """Give a reader of a named pipe its data after more than the second that a bar waits."""
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as stream:
            time.sleep(1.2)
            stream.write(data)

    threading.Thread(target=write, daemon=True).start()


def test_a_progress_bar_shows_on_a_terminal_and_goes_away(
    folder: Path, on_screen: Callable[..., bytes]
) -> None:
    feed_slowly(folder / "slow.txt", (folder / "ref1.txt").read_bytes())
    printed = on_screen("score", "a.txt", "-r", "slow.txt", "-m", "bleu", stream="stderr").decode()
    assert "█" in printed
    assert "100%" in printed
    assert printed.endswith("\r\x1b[K")


def test_no_progress_bar_elsewhere(folder: Path, karat: Callable[..., Any]) -> None:
    feed_slowly(folder / "slow.txt", (folder / "ref1.txt").read_bytes())
    assert karat("score", "a.txt", "-r", "slow.txt", "-m", "bleu").stderr == b""


def test_no_progress_bar_for_quick_work(on_screen: Callable[..., bytes]) -> None:
    assert on_screen(*SCORE, stream="stderr") == b""
