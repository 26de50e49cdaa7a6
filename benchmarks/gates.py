"""A gate with a baseline of 10,000 segments against `karat compare` of the same two systems."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from corpus import Corpus, read
from plan import Plan
from table import Row, duration
from timing import command, script, take_turns

SEGMENTS = 10_000


def children() -> float:
    """Processor time of all commands that have ended."""
    return os.times().children_user + os.times().children_system


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Whole commands, by their processor time."""
    folder = corpus.folder
    new, references = (read(path)[:SEGMENTS] for path in (corpus.candidates, corpus.references))
    old = [text if at % 3 else references[at] for at, text in enumerate(new)]
    files = {"old": old, "new": new, "ref": references}
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"gate-{name}.txt").write_text(text, encoding="utf-8")
    before, after, right = (str(folder / f"gate-{name}.txt") for name in files)
    against = ["-r", right, "-m", "chrf", "-m", "bleu"]
    gate = [script("karat"), "gate", after, *against, "-b", str(folder / "gate.tsv")]
    subprocess.run([*gate[:2], before, *gate[3:], "--update"], check=True, capture_output=True)
    # Losses as large as this one are tolerated: a gate that fails has another exit code.
    contestants = {
        "gate": command([*gate, "--max-drop", "100"]),
        "compare": command([script("karat"), "compare", before, after, *against]),
    }
    times = take_turns(contestants, plan.rounds, children)
    size = f"{len(new):,}"
    yield Row(
        f"gate, baseline of {size} segments, chrF and BLEU: processor time",
        duration(times["gate"]),
        f"karat compare {duration(times['compare'])}",
        times["gate"] / times["compare"],
        "x its time",
        at_most=1.3,
    )
