"""Huge segments and huge files: a result or a sentence, in bounded memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LINE = 50 * 1024 * 1024  # bytes
SENTENCE = b"the cat sat on the mat . "
Called = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def huge(folder: Path) -> Path:
    """A folder with a line of 50 MB in it, and a short one."""
    copies = LINE // len(SENTENCE) + 1
    (folder / "huge.txt").write_bytes(SENTENCE * copies + b"\n")
    (folder / "short.txt").write_bytes(b"the cat sat\n")
    return folder


def scores(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, float]]:
    """The rows of a command that succeeded, by metric."""
    assert (done.returncode, done.stderr) == (0, "")
    return {row["metric"]: row for row in json.loads(done.stdout)["rows"]}


def run(
    run_karat: Called, candidate: str, reference: str, *metrics: str
) -> dict[str, dict[str, float]]:
    options = [word for name in metrics for word in ("-m", name)]
    return scores(run_karat("score", f"x={candidate}", "-r", reference, *options, "-f", "json"))


def test_a_line_of_50_mb_against_a_short_one(huge: Path, run_karat: Called) -> None:
    segment_scores = run(run_karat, "huge.txt", "short.txt", "bleu", "rouge1", "rougeL")
    copies = LINE // len(SENTENCE) + 1
    assert segment_scores["bleu"]["length"] == 7 * copies
    assert segment_scores["rouge1"]["recall"] == 1
    assert segment_scores["rouge1"]["precision"] == pytest.approx(3 / (6 * copies))
    assert segment_scores["rougeL"]["recall"] == 1


def test_a_line_of_50_mb_as_the_reference(huge: Path, run_karat: Called) -> None:
    segment_scores = run(run_karat, "short.txt", "huge.txt", "bleu", "rouge1")
    assert segment_scores["bleu"]["score"] == 0  # the brevity penalty is exp(-5 million)
    assert segment_scores["rouge1"]["precision"] == 1


def test_chrf_of_a_line_of_50_mb(huge: Path, run_karat: Called) -> None:
    segment_scores = run(run_karat, "huge.txt", "short.txt", "chrf")["chrf"]
    assert segment_scores["recall"] == pytest.approx(100)
    assert 0 < segment_scores["score"] < 0.01


def test_two_equal_lines_of_50_mb_have_a_longest_common_subsequence(
    huge: Path, run_karat: Called
) -> None:
    assert run(run_karat, "huge.txt", "huge.txt", "rougeL")["rougeL"]["score"] == 1


def test_a_word_of_50_mb(folder: Path, run_karat: Called) -> None:
    (folder / "word.txt").write_bytes(b"x" * LINE + b"\n")
    segment_scores = run(
        run_karat, "word.txt", "word.txt", "bleu:n=1", "rouge1", "rougeL", "rougeLsum"
    )
    assert [row["score"] for row in segment_scores.values()] == [pytest.approx(100), 1, 1, 1]


@pytest.mark.parametrize("metric", ["rougeL", "rougeLsum"])
def test_a_longest_common_subsequence_that_would_take_long_is_refused(
    folder: Path, run_karat: Called, metric: str
) -> None:
    for seed in (1, 2):
        words = random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=4_000_000)
        (folder / f"{seed}.txt").write_text(f"\n{' '.join(words)}\n")
    done = run_karat("score", "1.txt", "-r", "2.txt", "-m", metric, "-o", "report.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("karat: segment 2: 16,000,000,000,000 pairs of tokens are too ")
    assert done.stderr.endswith(f"leave {metric} out\n")
    assert not (folder / "report.txt").exists()


@pytest.mark.parametrize("search", ["greedy", "exact"])
def test_gtm_of_a_line_of_50_mb_is_refused(huge: Path, run_karat: Called, search: str) -> None:
    done = run_karat("score", "huge.txt", "-r", "short.txt", "-m", f"gtm:e=2,search={search}")
    message = (
        "14,680,071 tokens are too many for gtm (at most 1,000,000); split the segment or leave"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"karat: segment 1: {message} this metric out\n"


def test_gtm_counts_the_references_of_a_segment_together(folder: Path, run_karat: Called) -> None:
    (folder / "x.txt").write_text("a\na\n")
    (folder / "long.txt").write_text(f"a\n{'a ' * 600_000}\n")
    assert run_karat("score", "x.txt", "-r", "long.txt", "-m", "gtm").returncode == 0
    done = run_karat("score", "x.txt", "-r", "long.txt", "-r", "long.txt", "-m", "gtm")
    assert done.returncode == 2
    assert done.stderr.startswith("karat: segment 2: 1,200,000 tokens are too many for gtm (at ")


def test_a_grid_of_a_line_of_50_mb_is_refused(huge: Path, run_karat: Called) -> None:
    done = run_karat("grid", "short.txt", "-r", "huge.txt", "-o", "grid.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: segment 1: 14,680,071 tokens of the references are too ")
    assert done.stderr.count("\n") == 1
    assert not (huge / "grid.html").exists()


# ------------------------------------------------------------------------------------- memory

PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def peak(command: list[str], folder: Path) -> int:
    """The largest resident set of a command, in MB; mapped pages of files are part of it.

    A small process starts it: a child's peak includes that of the process it was forked from.
    """
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command], cwd=folder, capture_output=True, check=True
    )
    code, size = map(int, done.stdout.split())
    assert code == 0
    return size


def test_memory_does_not_grow_with_the_files(folder: Path, command: list[str]) -> None:
    words = [f"word{i}" for i in range(20_000)]
    pick = random.Random(5)
    block = "".join(" ".join(pick.choices(words, k=20)) + "\n" for _ in range(10_000)).encode()
    for name in ("x.txt", "y.txt"):
        (folder / name).write_bytes(block * (100 * 2**20 // len(block)))
    args = ["score", "x=x.txt", "-r", "y.txt", "-m", "bleu", "--threads", "2"]
    mapped = 2 * (folder / "x.txt").stat().st_size // 2**20
    assert peak([*command, *args], folder) < mapped + 200
