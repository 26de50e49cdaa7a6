"""Millions of pairs: memory stays bounded and time grows in proportion.

Every lap over the corpus turns each line at another word, and every fourth line gets a word of its
own, so that the vocabulary grows as that of a large text does.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from corpus import WORK, Corpus, read
from plan import Plan
from table import Row, duration
from timing import script

_PAUSE = 0.02  # seconds between two looks at a process
_CHUNK = 50_000  # lines written at a time


class Run(NamedTuple):
    """What one run took."""

    seconds: float
    cpu: float  # seconds of all processors together, which other jobs disturb less
    anonymous_mb: float  # peak private memory: anonymous and shared pages
    file_mb: float  # the most pages of mapped files
    peak_mb: float  # the most of both together


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """A tenth of the pairs, then all."""
    folder = WORK / "large"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        sizes = plan.large_lines // 10, plan.large_lines
        starts = [_run(corpus, folder, 1) for _ in range(plan.rounds)]
        runs = [_run(corpus, folder, size) for size in sizes]
        size = sum(file.stat().st_size for file in folder.glob(f"*-{sizes[1]}.txt"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    small, large = runs
    yield Row(
        f"{sizes[1]:,} pairs ({size / 1e9:.2f} GB): memory beyond file pages",
        f"{large.anonymous_mb:.0f} MB",
        ratio=large.anonymous_mb,
        unit=" MB",
        at_most=700,
        note=f"karat score -m bleu, all threads; mapped file pages at most {large.file_mb:.0f} MB; "
        f"at {sizes[0]:,} pairs {small.anonymous_mb:.0f} MB",
    )
    for label, limit, total, part, start in (
        ("time", 1.15, large.seconds, small.seconds, min(run.seconds for run in starts)),
        ("processor time", None, large.cpu, small.cpu, min(run.cpu for run in starts)),
    ):
        yield Row(
            f"{sizes[1]:,} pairs: {label} per pair over that of {sizes[0]:,}",
            duration(total),
            duration(part),
            (total - start) / (part - start) * sizes[0] / sizes[1],
            at_most=limit,
            note=f"1 is linear; whole command, that of one pair ({duration(start)}) taken off",
        )


def _run(corpus: Corpus, folder: Path, lines: int) -> Run:
    files = []
    for path in (corpus.candidates, corpus.references):
        files.append(folder / f"{path.stem}-{lines}.txt")
        _write(files[-1], read(path), lines)
    argv = [script("karat"), "score", str(files[0]), "-r", str(files[1]), "-m", "bleu"]
    return watch([*argv, "--format", "json"])


def _write(path: Path, base: list[str], lines: int) -> None:
    pairs = islice(_turned(base), lines)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while chunk := list(islice(pairs, _CHUNK)):
            file.write("\n".join(chunk) + "\n")


def _turned(base: list[str]) -> Iterator[str]:
    number = 0
    for lap in count():
        for line in base:
            at = line.find(" ", lap % 50)
            turned = f"{line[at + 1 :]} {line[:at]}" if at > 0 else line
            number += 1
            yield turned if number % 4 else f"{turned} n{number:x}"


def watch(argv: list[str]) -> Run:
    """Run a command and look at its memory all the while."""
    start, used = time.perf_counter(), _children()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    anonymous, files, both = 0, 0, 0
    while process.poll() is None:
        memory = _memory(process.pid)
        anonymous = max(anonymous, memory.get("RssAnon", 0) + memory.get("RssShmem", 0))
        files = max(files, memory.get("RssFile", 0))
        both = max(both, sum(memory.values()))
        time.sleep(_PAUSE)
    took = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{argv} ended with {process.returncode}")
    return Run(took, _children() - used, anonymous / 1024, files / 1024, both / 1024)


def _children() -> float:
    """Processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _memory(pid: int) -> dict[str, int]:
    """The resident memory of a process in KB, by kind."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it has just ended
        return {}
    pairs = (line.split(":", 1) for line in lines if line.startswith("Rss"))
    return {name: int(value.split()[0]) for name, value in pairs}
