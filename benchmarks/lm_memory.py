"""Training a language model in limited memory and in unlimited memory, on generated text.

`python lm_memory.py --words 100000000 --memory 1` trains one model and prints the cost: texts of
that size are too large for `make bench`.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path

from corpus import WORK, Corpus
from grown_text import sentences
from limited import LimitedRun, digest, most_mb, run
from plan import Plan
from table import Row, duration
from timing import script

MEMORY = 0.4  # GB


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Processor time with little memory over that with much, and the peak."""
    folder = WORK / "lm-memory"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        text = grown(folder / "text.txt", plan.lm_words)
        large_memory, small_memory = (
            train(text, folder / f"{name}.lm", gb) for name, gb in _SETTINGS.items()
        )
        is_same = digest(folder / "much.lm") == digest(folder / "little.lm")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    work = f"train on {plan.lm_words:,} words, 5-gram, --memory {MEMORY}"
    yield Row(
        f"{work}: processor time over that without",
        duration(small_memory.cpu),
        duration(large_memory.cpu),
        small_memory.cpu / large_memory.cpu,
        at_most=1.3,
        note=f"the models are {'the same bytes' if is_same else 'NOT THE SAME'}; "
        f"{small_memory.scratch_mb:.0f} MB of temporary files; without, "
        f"{large_memory.peak_mb:.0f} MB of memory",
    )
    most = most_mb(MEMORY)
    yield Row(f"{work}: peak memory", "", "", small_memory.peak_mb, " MB", at_most=most)


_SETTINGS = {"much": None, "little": MEMORY}


def grown(path: Path, words: int) -> Path:
    """Write a text with the given number of words."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for batch in sentences(words):
            file.write("\n".join(batch) + "\n")
    return path


def train(text: Path, target: Path, memory: float | None) -> LimitedRun:
    """Train in a separate process."""
    argv = [script("karat"), "lm", "train", str(text), "--tok", "none", "-o", str(target)]
    argv += [] if memory is None else ["--memory", str(memory)]
    return run(argv)


def main() -> None:
    """Train one model and print the cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=100_000_000)
    parser.add_argument("--memory", type=float, default=None, metavar="GB")
    parser.add_argument("--text", type=Path, help="a text to train on, instead of a grown one")
    options, folder = parser.parse_args(), WORK / "lm-memory-one"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        text = options.text or grown(folder / "text.txt", options.words)
        print(f"{text}: {train(text, folder / 'model.lm', options.memory)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
