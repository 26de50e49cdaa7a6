"""What `karat --version` takes beyond an empty Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from corpus import Corpus
from plan import Plan
from table import Row, duration
from timing import command, script, take_turns


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """The difference of two whole commands."""
    best = take_turns(
        {
            "python": command([sys.executable, "-c", "pass"]),
            "karat": command([script("karat"), "--version"]),
        },
        plan.start_rounds,
    )
    yield Row(
        "karat --version over bare Python",
        duration(best["karat"]),
        f"python {duration(best['python'])}",
        (best["karat"] - best["python"]) * 1000,
        " ms",
        at_most=120,
    )
