"""Ctrl-C: wherever the work is, it stops soon, with one line, code 130 and no output file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import karat

PATIENCE = 60  # seconds before a hang is called one; the work itself would take much longer
LETTERS = "abcdefghijklmnopqrstuvwxyz"
STARTED = 0.4  # seconds from the last byte of input until the work is under way

Start = Callable[..., "subprocess.Popen[bytes]"]


def heed_interrupts() -> None:
    """Ctrl-C works in the new process, also where this one was started in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start(
    folder: Path, command: list[str], clean_environment: Callable[..., dict[str, str]]
) -> Start:
    """Start a command whose last reference is a named pipe, so that its pace can be followed."""
    os.mkfifo(folder / "pipe")

    def run(*args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*command, *args, "-r", "pipe", "-o", "report.txt"],
            cwd=folder,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - no threads here
        )

    return run


@contextmanager
def killed_in_the_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever happens, the process does not outlive the test."""
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def interrupt(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Send what Ctrl-C sends and check how the process ends."""
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, b"")
    assert err == b"karat: interrupted; nothing was written\n"
    assert not (folder / "report.txt").exists()
    assert not list(folder.glob(".karat-*"))


def long_lines(seed: int) -> bytes:
    """More than one run of text, each with many seconds of longest common subsequences in it."""
    words = random.Random(seed).choices([f"{a}{b}" for a in LETTERS for b in LETTERS], k=40_000)
    return (" ".join(words) + "\n").encode() * 300


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("metric", ["rougeL", "rougeLsum"])
def test_scoring_is_interrupted(folder: Path, start: Start, metric: str, threads: str) -> None:
    (folder / "long.txt").write_bytes(long_lines(1))
    process = start("score", "long.txt", "-m", metric, "--threads", threads)
    with killed_in_the_end(process):
        (folder / "pipe").write_bytes(long_lines(2))  # returns when all of it was read
        time.sleep(STARTED)
        interrupt(process, folder)


def one_segment(count: int, vocabulary: int, seed: int) -> bytes:
    """A segment of many words."""
    words = [f"w{i}" for i in range(vocabulary)]
    return (" ".join(random.Random(seed).choices(words, k=count)) + "\n").encode()


@pytest.mark.parametrize(
    ("metric", "count", "vocabulary"),
    [
        ("ter", 200_000, 300),  # each shift is looked for in all of it
        ("chrf", 8_000_000, 2_000),
    ],
)
def test_work_on_one_segment_is_interrupted(
    folder: Path, start: Start, metric: str, count: int, vocabulary: int
) -> None:
    (folder / "long.txt").write_bytes(one_segment(count, vocabulary, 1))
    process = start("score", "long.txt", "-m", metric, "--threads", "1")
    with killed_in_the_end(process):
        (folder / "pipe").write_bytes(one_segment(count, vocabulary, 2))
        time.sleep(2 * STARTED)
        interrupt(process, folder)


@pytest.mark.parametrize("test", ["sacrebleu-bootstrap", "sacrebleu-ar"])
def test_resampling_is_interrupted(folder: Path, start: Start, test: str) -> None:
    text = b"one two three\n" * 50_000
    for name in ("x.txt", "y.txt"):
        (folder / name).write_bytes(text)
    args = ("--test", test, "--trials", "1000000", "-m", "rouge1")
    process = start("compare", "x=x.txt", "y=y.txt", *args)
    with killed_in_the_end(process):
        (folder / "pipe").write_bytes(text)
        time.sleep(STARTED)
        interrupt(process, folder)


def test_reading_is_interrupted(folder: Path, start: Start) -> None:
    process = start("score", "a.txt")
    with killed_in_the_end(process), (folder / "pipe").open("wb") as stream:
        stream.write(b"a first line, and then nothing\n")  # opening waits for the reader
        stream.flush()
        interrupt(process, folder)


LOADING = """
import sys
from karat.cli.main import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy._core._add_newdocs":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.exit(main(["score", "a.txt", "-r", "a.txt", "-o", "report.txt"]))
"""


def test_loading_of_numpy_is_interrupted(
    folder: Path, clean_environment: Callable[..., dict[str, str]]
) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", LOADING],
        check=False,
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        timeout=PATIENCE,
    )
    assert completed.stderr == b"karat: interrupted; nothing was written\n"
    assert (completed.returncode, completed.stdout) == (130, b"")
    assert not (folder / "report.txt").exists()


def test_little_is_imported_before_interrupts_are_handled() -> None:
    """Ctrl-C before `karat.cli.run` is called prints a traceback."""
    source = Path(karat.__file__).parent.parent
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r}); before = {{*sys.modules}}; "
        "import karat.cli; print(*sorted({*sys.modules} - before))"
    )
    python = [sys.executable, "-S", "-c", code]  # -S: without hooks of other packages
    completed = subprocess.run(python, check=True, capture_output=True, text=True)
    modules = {*completed.stdout.split()}
    assert modules <= {"__future__", "karat", "karat.cli", "karat.exports"}


def test_an_interrupt_keeps_the_old_output(folder: Path, start: Start) -> None:
    (folder / "report.txt").write_text("old")
    process = start("score", "a.txt")
    with killed_in_the_end(process), (folder / "pipe").open("wb"):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert (folder / "report.txt").read_text() == "old"


@pytest.mark.parametrize(
    "work",
    [
        'levels = ["item"]\nstatistics = ["tau-b"]\nresamples = 1000000',
        'levels = ["segment"]\nstatistics = ["spearman"]\nresamples = 1000000',
        'levels = ["item"]\nstatistics = ["acc-eq"]\nresamples = 1000000',
        'levels = ["system"]\nstatistics = ["pearson"]\nresamples = 1000000',
        'levels = ["segment"]\nstatistics = ["tau-b"]\nresamples = 0\ntrials = 1000000',
        'levels = ["item"]\nstatistics = ["pearson"]\nresamples = 0\ntrials = 1000000',
    ],
)
def test_meta_evaluation_is_interrupted(
    folder: Path, command: list[str], clean_environment: Callable[..., dict[str, str]], work: str
) -> None:
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen(
        [*command, "meta", "--experiment", "pipe", "--save", "saved.toml", "-o", "report.txt"],
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - no threads here
    )
    with killed_in_the_end(process):
        metrics = [
            "bleu",
            "ter",
            "chrf",
            "gtm",
            "rouge1",
            "rouge2",
            "rougeL",
            "ps",
            "rs",
            "wer",
        ]  # many pairs to test
        text = f'evalset = "demo"\nmetrics = {metrics}\ndimensions = ["fluency"]\n{work}\n'
        (folder / "pipe").write_text(text)  # returns when all of it was read
        time.sleep(STARTED)
        interrupt(process, folder)
    assert not (folder / "saved.toml").exists()
