"""Files that are cut short while they are mapped: one sentence, exit code 2, and no result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import karat as kt

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files are cut while they are mapped")

SENTENCE = "became shorter while it was read; wait until nothing writes to it, and start again"
LINES = 40_000

# The command pauses where its first run of segments is cut: the file is mapped and indexed by then.
PAUSED = """
import os, sys
import karat.text.segments as segments
from karat.cli.main import main

path, size, *args = sys.argv[1:]
real = segments.Lines.views

def cut(self, start, stop):
    if self.name == path:
        os.truncate(path, int(size))
    return real(self, start, stop)

segments.Lines.views = cut
sys.exit(main(args))
"""


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"the cat number {i} sat on the mat\n" for i in range(LINES)))
    return path


def test_a_text_that_is_cut_short_while_its_lines_are_counted(text: Path) -> None:
    def cut(done: int, total: int, activity: str) -> None:
        os.truncate(text, 100)

    with text.open("a") as file:
        file.write("the cat sat on the mat\n" * 1_000_000)  # several pieces
    with pytest.raises(kt.InputError, match=SENTENCE):
        kt.Lines(text, cut)


@pytest.mark.parametrize("size", [0, 100, 500_000])
def test_a_text_that_is_cut_short_has_no_score(tmp_path: Path, text: Path, size: int) -> None:
    reference = tmp_path / "reference.txt"
    reference.write_bytes(text.read_bytes().replace(b"cat", b"dog"))
    args = ("score", text, "-r", reference, "-m", "bleu", "-m", "ter", "-o", tmp_path / "out.json")
    done = run(PAUSED, text, size, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"karat: {text} {SENTENCE}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reference.txt", "text.txt"]


def test_a_text_that_loses_less_than_a_page_has_no_score(tmp_path: Path, text: Path) -> None:
    reference = tmp_path / "reference.txt"
    reference.write_bytes(text.read_bytes().replace(b"cat", b"dog"))
    done = run(PAUSED, text, text.stat().st_size - 1, "score", text, "-r", reference)
    assert (done.returncode, done.stdout) == (2, "")
    assert SENTENCE in done.stderr


# The same for a model, which is cut when it has been opened.
MODEL = """
import os, sys
import karat as kt
from karat.cli.main import main

path, size, *args = sys.argv[1:]
real = kt.LanguageModel.open

def opened(*given, **named):
    model = real(*given, **named)
    os.truncate(path, int(size))
    return model

kt.LanguageModel.open = opened
sys.exit(main(args))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.lm"
    words = np.random.default_rng(1).integers(0, 3000, size=(4000, 8))
    kt.LanguageModel.train([" ".join(f"w{i}" for i in row) for row in words], order=3).save(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_a_model_that_is_cut_short_has_no_score(tmp_path: Path, model: Path, share: float) -> None:
    copy, text = tmp_path / "model.lm", tmp_path / "text.txt"
    copy.write_bytes(model.read_bytes())
    text.write_text("".join(f"w{i} w{i + 1} w{i * 7 % 3000} unseen\n" for i in range(2000)))
    size = int(share * copy.stat().st_size)
    done = run(MODEL, copy, size, "lm", "score", text, "--model", copy)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"karat: {copy} {SENTENCE}\n"


# What a crash after the loss of a mapping leads to, and signals that are none of Karat's business.
CRASH = """
import ctypes, os, sys
from karat.storage.mapping import map_whole
file = open(sys.argv[1], "rb")
mapped = map_whole(file, "the file")
os.truncate(sys.argv[1], 0)
assert mapped[100_000] == 0
ctypes.string_at(0)
"""
FOREIGN = """
import mmap, os, signal, sys
from karat.storage.mapping import map_whole
if sys.argv[2] == "read though ignored":
    signal.signal(signal.SIGBUS, signal.SIG_IGN)
file = open(sys.argv[1], "rb")
mapped = map_whole(file, "the file")
if sys.argv[2] == "sent":
    os.kill(os.getpid(), signal.SIGBUS)
other = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(sys.argv[1], 0)
print(other[100_000])
"""


def test_a_crash_after_a_loss_is_a_sentence(text: Path) -> None:
    done = run(CRASH, text)
    assert (done.returncode, done.stderr) == (2, f"karat: the file {SENTENCE}\n")


@pytest.mark.parametrize("cause", ["sent", "read", "read though ignored"])
def test_other_bus_errors_stay_what_they_are(text: Path, cause: str) -> None:
    done = run(FOREIGN, text, cause)
    assert (done.returncode, done.stdout) == (-7, "")
