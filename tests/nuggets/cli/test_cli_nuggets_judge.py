"""`karat nuggets judge`, driven through a real pseudo-terminal and through pipes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from arguments import with_option
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.guess.nuggeteer import nuggeteer
from karat.nuggets.judging.asking import queue
from karat.nuggets.judging.likelihood import overlap
from karat.nuggets.sets.nugget_set import NuggetSet

PATIENCE = 60  # seconds before a hang is called one
PROMPT = "? help > "
VITAL = "is it vital? y/n  u back  q quit > "
KEY = """\
q1 - question What of the lens?
q1 1 vital a red lens of glass
q1 2 vital bees behind the house
q1 3 okay salt and oil
"""
RUN = "q1 A d The red lens is made of glass.\nq1 A d Bees!\nq1 A d Nothing at all.\n"
PAIRS = 9
ARGS = ("nuggets", "judge", "a.run", "--key", "key.txt", "--log", "log.jsonl")

Called = Callable[..., Any]


class Desk:
    """A terminal with a session in it."""

    def __init__(
        self, command: list[str], folder: Path, env: dict[str, str], columns: int, lines: int
    ) -> None:
        self._seen = ""
        self.shown = ""
        self.pid, self._master = pty.fork()
        if self.pid == 0:  # the child has the terminal for its own
            os.chdir(folder)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and children inherit
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._code: int | None = None

    def until(self, words: str) -> str:
        """Wait for words that were not waited for yet; what was shown up to them."""
        end = time.monotonic() + PATIENCE
        while words not in self._seen:
            assert time.monotonic() < end, f"no {words!r} in {self.shown[-500:]!r}"
            assert self._read(1.0), f"ended without {words!r}: {self.shown[-500:]!r}"
        found, _, self._seen = self._seen.partition(words)
        return found

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def press(self, key: str) -> str:
        """Press a key when it is asked for; what was shown before."""
        shown = self.until(PROMPT)
        self.type(key)
        return shown

    def end(self) -> int:
        """Wait for the end of the process; its exit code, or minus the signal."""
        if self._code is None:
            while self._read(PATIENCE):
                pass
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        assert self.end() == -signal.SIGKILL

    def close(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        """Take in what is shown; False at the end of the process."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # what Linux says when the last writer has closed the terminal
            return False
        self._seen += data.decode("utf-8", "replace")
        self.shown += data.decode("utf-8", "replace")
        return bool(data)


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "key.txt").write_text(KEY)
    (folder / "a.run").write_text(RUN)
    return folder


@pytest.fixture
def desk(
    files: Path, command: list[str], clean_environment: Callable[..., dict[str, str]]
) -> Iterator[Callable[..., Desk]]:
    """Start a session; whatever happens, none outlives the test."""
    desks: list[Desk] = []

    def start(*more: str, columns: int = 80, lines: int = 24, **env: str) -> Desk:
        env = clean_environment(**{"NO_COLOR": "1", **env})
        desks.append(Desk([*command, *ARGS, *more], files, env, columns, lines))
        return desks[-1]

    yield start
    for one in desks:
        one.close()


def judged(folder: Path) -> list[dict[str, Any]]:
    path = folder / "log.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def asked(shown: str) -> list[tuple[str, str]]:
    """The pairs that were shown: the nugget's number, and the response."""
    pair = re.compile(r"Nugget (\S+) \(.*?probability [0-9.]+\.\n\n(.*?)\n\n", re.DOTALL)
    found = pair.findall(_plain(shown))
    return [(nugget, " ".join(text.replace("*", "").split())) for nugget, text in found]


def _plain(shown: str) -> str:
    return shown.replace("\r\n", "\n")


# -------------------------------------------------------------------------- from first to last


def test_a_whole_session(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    for key in "ypnYPNynp":
        session.press(key)
    session.until("9 judged, 0 left; log.jsonl")
    assert session.end() == 0
    pairs = asked(session.shown)
    assert len(set(pairs)) == len(pairs) == PAIRS
    rows = judged(files)
    assert [(row["nugget"], row["response"]) for row in rows] == pairs
    assert [row["value"] for row in rows] == [1, 0.5, 0, 1, 0.5, 0, 1, 0, 0.5]
    again = desk()
    again.until("0 judged, 0 left; log.jsonl")
    assert again.end() == 0


def test_killed_at_any_answer_nothing_is_lost_or_asked_twice(
    desk: Callable[..., Desk], files: Path
) -> None:
    answers: list[tuple[str, str]] = []
    for count in (1, 0, 3, 2):
        session = desk()
        for _ in range(count):
            session.press("y")
        session.until(PROMPT)  # the answer is on the disk before the next is asked for
        session.kill()
        shown = asked(session.shown)
        assert len(shown) == count + 1
        answers += shown[:count]
        assert [(row["nugget"], row["response"]) for row in judged(files)] == answers
    assert len(set(answers)) == 6
    session = desk()
    for _ in range(PAIRS - 6):
        session.press("n")
    assert session.end() == 0
    assert len({(row["nugget"], row["response"]) for row in judged(files)}) == PAIRS


def test_a_torn_line_is_cut_off_and_asked_again(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.press("y")
    session.press("n")
    session.press("q")
    assert session.end() == 0
    data = (files / "log.jsonl").read_bytes()
    (files / "log.jsonl").write_bytes(data[:-20])
    again = desk()
    again.until("log.jsonl: removed the last line, which was incomplete")
    again.press("n")
    again.press("q")
    assert again.end() == 0
    assert (files / "log.jsonl").read_bytes() == data


def test_keys_typed_ahead_all_count(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.until(PROMPT)
    session.type("ynd1\nynaa fact that is new\nyyuq")
    session.until("judged")
    assert session.end() == 0
    rows = judged(files)
    assert [row.get("value") for row in rows] == [1, 0, None, 1, 0, None, 1]


@pytest.mark.parametrize(
    ("keys", "code"), [("Q", 0), ("\x04", 0), ("\x03", 130), ("a\x04", 0), ("a\x03", 130)]
)
def test_ways_to_stop(desk: Callable[..., Desk], files: Path, keys: str, code: int) -> None:
    session = desk()
    session.press("y")
    session.press(keys[0])
    if len(keys) > 1:
        session.until("(empty: nothing) > ")
        session.type(keys[1])
    session.until("1 judged, 8 left; log.jsonl")
    assert session.end() == code
    assert "Traceback" not in session.shown
    assert [row["value"] for row in judged(files)] == [1]


def test_the_terminal_is_left_as_it_was(desk: Callable[..., Desk]) -> None:
    session = desk()
    before = termios.tcgetattr(session._master)
    session.until(PROMPT)
    time.sleep(0.1)
    assert termios.tcgetattr(session._master) != before
    session.type("q")
    session.until("0 judged")
    assert termios.tcgetattr(session._master) == before
    assert session.end() == 0


def test_a_closed_terminal_ends_the_session(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.press("y")
    session.until(PROMPT)
    os.kill(session.pid, signal.SIGHUP)
    assert session.end() == -signal.SIGHUP
    assert len(judged(files)) == 1


# --------------------------------------------------------------------------------------- keys


def test_undo_of_everything(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.press("u")
    session.until("nothing to undo in this session")
    session.press("y")
    session.press("d")
    session.until("(empty: none) > ")
    session.type("1-1\n")
    session.until("kept as a further description")
    session.press("a")
    session.until("(empty: nothing) > ")
    session.type("glass comes from sand\n")
    session.until(VITAL)
    session.type("x")
    session.until(VITAL)
    session.type("y")
    session.until("added as nugget 4 (vital)")
    session.press("s")
    assert len(judged(files)) == 4
    for told, left in (
        ("not skipped", 4),
        ("the added nugget is removed", 2),
        ("the description is removed", 1),
        ("the answer is undone", 0),
    ):
        session.press("u")
        session.until(told)
        assert len(judged(files)) == left
    shown = session.press("q")
    assert "9 to go." in shown
    assert session.end() == 0
    assert not (files / "log.jsonl").exists()


def test_a_nugget_may_be_left_unadded(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.press("y")
    session.press("a")
    session.until("(empty: nothing) > ")
    session.type("glass comes from sand\n")
    session.until(VITAL)
    session.type("u")
    session.until("nothing is added")
    session.press("u")  # the loop goes on, and what was done last is the answer
    session.until("the answer is undone")
    assert judged(files) == []
    session.press("n")
    session.press("a")
    session.until("(empty: nothing) > ")
    session.type("glass comes from sand\n")
    session.until(VITAL)
    session.type("q")
    session.until("1 judged, 8 left; log.jsonl")
    assert session.end() == 0
    assert [row["value"] for row in judged(files)] == [0]
    again = desk()
    assert "8 to go." in again.press("q")


def test_what_an_assessor_adds_is_used_by_scores(
    desk: Callable[..., Desk], files: Path, output: Callable[..., str]
) -> None:
    session = desk("--judge", "ann")
    session.press("a")
    session.until("> ")
    session.type("glass comes from sand\n")
    session.until(VITAL)
    session.type("n")
    session.press("d")
    session.until("(empty: none) > ")
    session.type("1\n")
    session.press("y")
    session.press("q")
    assert session.end() == 0
    found = kt.load_nuggets(files / "key.txt", judgements=[files / "log.jsonl"])
    nuggets = {nugget.id: nugget for nugget in found.key.questions["q1"].nuggets}
    assert nuggets["4-ann"].descriptions == ("glass comes from sand",)
    assert not nuggets["4-ann"].vital
    marked = [nugget.descriptions for nugget in nuggets.values() if len(nugget.descriptions) == 2]
    assert len(marked) == 1
    assert {row.judge for row in found.judgements.rows} == {"ann"}
    args = ("nuggets", "score", "a.run", "-k", "key.txt", "-j", "log.jsonl", "-f", "json")
    args = (*args, "--no-guess")
    (row,) = json.loads(output(*args))["questions"]
    assert (row["vital_returned"], row["okay_returned"], row["okay"]) == (1, 1, 2)
    again = desk("--judge", "ann")
    shown = again.press("q")
    assert "10 to go." in shown  # two responses more for the new nugget, one pair judged


MARKS = {
    "0-1": "found '0-1', expected numbers from 1 to 1, such as 3-7",
    "2-1": "found '2-1', expected numbers from 1 to 1",
    "1-99": "found '1-99', expected numbers from 1 to 1",
    "two": "found 'two', expected numbers from 1 to 1",
    "²": "found '²', expected numbers from 1 to 1",
    "1\x1b[D": r"found 1\x1b[D, expected letters and digits only",
    "": "y/p/n",
}


def test_marks_that_are_none(karat: Called, files: Path) -> None:
    typed = "".join(f"d\n{mark}\n" for mark in MARKS) + "q\n"
    done = karat(*ARGS, input=typed.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    told = done.stdout.decode().split("(empty: none) > ")[1:]
    for answer, expected in zip(told, MARKS.values(), strict=True):
        assert answer.startswith(expected)
    assert not (files / "log.jsonl").exists()


def test_other_keys_do_nothing(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    for key in ("\x1b[A", "\x1bOP", "\x1b", "\n", " ", "\t"):
        session.press(key)
    session.press("é")
    session.until("'é' is not a key; press ? for the list")
    session.press("?")
    session.until("more of the response, a screen at a time")
    session.press("q")
    session.until("0 judged, 9 left")
    assert not (files / "log.jsonl").exists()


def test_what_is_skipped_comes_at_the_end(desk: Callable[..., Desk], files: Path) -> None:
    session = desk()
    session.press("s")
    for _ in range(PAIRS):
        session.press("n")
    assert session.end() == 0
    pairs = asked(session.shown)
    assert pairs[0] == pairs[-1]
    assert len(judged(files)) == PAIRS


# ------------------------------------------------------------------------------- what is shown


def test_colour_and_none(desk: Callable[..., Desk]) -> None:
    session = desk()
    shown = session.press("q")  # a slow machine shows a bar first, which clears its line
    assert not re.search("\x1b\\[[0-9;]*m", shown)
    assert "*Bees!*" in session.shown
    bright = desk(NO_COLOR="")
    assert "\x1b[36mBees!\x1b[0m" in bright.press("q")


@pytest.mark.parametrize("columns", [30, 120])
def test_lines_fit_the_window(desk: Callable[..., Desk], files: Path, columns: int) -> None:
    words = "設計燈塔 " * 20 + "x" * 150 + " \x1b[31m\u202eשלום lens " * 9
    (files / "a.run").write_text(f"q1 A d {words}\n")
    session = desk(columns=columns, lines=60)
    session.press("q")
    session.end()
    lines = _plain(session.shown).split("\n")
    wide = [line for line in lines if sum(2 if c > "\u2fff" else 1 for c in line) > columns]
    assert [line for line in wide if PROMPT not in line] == []
    assert "\x1b" not in session.shown
    assert "\u202e" not in session.shown
    assert r"\x1b[31m\u202eשלום" in session.shown
    assert "設計燈塔" in session.shown


def test_a_long_response_is_paged(desk: Callable[..., Desk], files: Path) -> None:
    words = [f"w{k}" for k in range(5000)]
    words[3000] = "bees"
    (files / "a.run").write_text(f"q1 A d {' '.join(words)}\n")
    session = desk(lines=24)
    first = _plain(session.press("m"))
    assert "*bees*" in first
    assert "lines above" in first
    assert "lines below" in first
    assert len(first.split("\n")) <= 24
    pages = [session.press("m")]
    for _ in range(100):
        pages.append(session.press("m"))
        if "lines below" not in pages[-1]:
            break
    seen = " ".join(pages).replace("*", "").split()
    assert [word for word in seen if word in set(words)] == words
    session.until(PROMPT)
    session.type("d")
    session.until("words from-to, 1-5000 (empty: none) > ")
    session.type("3001-3002\n")
    session.until("or: bees w3001")
    session.press("q")
    assert session.end() == 0


def test_a_window_that_is_resized(desk: Callable[..., Desk], files: Path) -> None:
    (files / "a.run").write_text("q1 A d " + "word " * 60 + "\nq1 A d " + "other " * 60 + "\n")
    session = desk(columns=100)
    session.until(PROMPT)
    fcntl.ioctl(session._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    session.type("n")
    shown = _plain(session.press("q"))
    assert max(map(len, shown.split("\n")[1:])) <= 40


# ----------------------------------------------------------------------------------- bad calls


def test_two_sessions_in_one_log(desk: Callable[..., Desk], karat: Called, files: Path) -> None:
    session = desk()
    session.press("y")
    session.until(PROMPT)
    before = (files / "log.jsonl").read_bytes()
    done = karat(*ARGS, input=b"n\nq\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"karat: log.jsonl: another session writes to it; end that one")
    assert (files / "log.jsonl").read_bytes() == before
    session.type("q")
    assert session.end() == 0
    assert karat(*ARGS, input=b"n\nq\n").returncode == 0


def test_without_a_terminal_lines_are_read(karat: Called, files: Path) -> None:
    done = karat(*ARGS, input=b"y\n\nno\n P \r\nq")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"3 judged, 6 left; log.jsonl\n")
    assert [row["value"] for row in judged(files)] == [1, 0, 0.5]
    done = karat(*ARGS, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"0 judged, 6 left; log.jsonl\n")


def test_whatever_the_locale(karat: Called, files: Path) -> None:
    (files / "a.run").write_text("q1 A d glass — 設計 é\n", "utf-8")
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = karat(*ARGS, input=b"y\nq\n", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "設計" in done.stdout.decode()


def test_likely_pairs(karat: Called, files: Path) -> None:
    done = karat(*ARGS, "--likely", "0.51", input=b"y\n" * 9)
    assert done.stdout.endswith(b"1 judged, 0 left; log.jsonl\n")
    assert [row["nugget"] for row in judged(files)] == ["1"]


def test_judgements_from_elsewhere_are_not_asked_about(karat: Called, files: Path) -> None:
    (files / "judged.txt").write_text("q1 B 1 d bees!\n")
    done = karat(*ARGS, "-j", "judged.txt", input=b"q\n")
    assert b"6 to go." in done.stdout
    assert karat(*ARGS, input=b"q\n").stdout.count(b"9 to go.") == 1


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--log", "."), "cannot write .: it is a directory; name a file in it"),
        (("--log", "none/log"), "cannot write none/log: there is no directory"),
        (("--log", "key.txt"), "key.txt is one of the inputs"),
        (("--log", "a.run"), "a.run is one of the inputs"),
        (("--log", "other.txt"), "other.txt, line 1: found 'words', expected a judgement"),
        (("--log", "x.jsonl.gz"), "cannot write x.jsonl.gz: a log is not compressed"),
        (("--log", "/dev/null"), "cannot write /dev/null: it is no file"),
        (("--log", "old.jsonl"), "old.jsonl, line 1: a judgement of nugget '9', which question q1"),
        (("--likely", "2"), "Invalid value for '--likely': 2"),
        (("--key", "gone.txt"), "gone.txt: no such folder or file"),
        (("-j", "gone.txt"), "gone.txt: no such folder or file"),
        (("b.run",), "b.run: no such file"),
    ],
)
def test_bad_calls(called: Called, files: Path, args: tuple[str, ...], sentence: str) -> None:
    (files / "other.txt").write_text("words\n")
    old = '{"question": "q1", "nugget": "9", "response": "r", "value": 1}\n'
    (files / "old.jsonl").write_text(old)
    before = {path: path.read_bytes() for path in files.iterdir()}
    done = called(*with_option(ARGS, *args))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {sentence}")
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_a_log_that_is_read_only(called: Called, files: Path) -> None:
    (files / "log.jsonl").write_text("")
    (files / "log.jsonl").chmod(0o444)
    if os.access(files / "log.jsonl", os.W_OK):
        pytest.skip("this user may write everywhere")
    done = called(*ARGS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: cannot write log.jsonl: no permission")


def test_with_enough_judgements_a_classifier_orders_the_pairs(karat: Called, folder: Path) -> None:
    key, runs, known = world()
    judged = known.without(["run0"])
    tags = {run.tag: run for run in runs}
    kt.save_nuggets(NuggetSet("s", key, MappingProxyType(tags), judged), folder / "set.jsonl")
    args = ("nuggets", "judge", "run0", "--key", "set.jsonl", "--log", "log.jsonl")
    done = karat(*args, input=b"n\nn\nn\nq\n")
    assert (done.returncode, done.stderr) == (0, b"")
    told = re.findall(r"probability (\d\.\d\d)", done.stdout.decode())
    found = kt.load_nuggets(folder / "set.jsonl").select("run0")
    expected, plain = (
        [f"{ask.p:.2f}" for ask in queue(found, chances)[:4]]
        for chances in (nuggeteer(found, measured=False).chances, overlap)
    )
    assert told == expected != plain
