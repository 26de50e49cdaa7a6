"""Start-up time of `karat --version` beyond an empty Python, and import times of the peers."""

from __future__ import annotations

import resource
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
    yield from imports(plan)


def imports(plan: Plan) -> Iterator[Row]:
    """The processor time of whole processes that import a module and nothing else."""
    modules = ("karat.compat.sacrebleu", "sacrebleu", "karat.compat.rouge_scorer", "rouge_score")
    programs = {name: command([sys.executable, "-c", f"import {name}"]) for name in modules}
    programs["rouge_score"] = command(
        [sys.executable, "-c", "from rouge_score import rouge_scorer"]
    )
    best = take_turns(programs, plan.start_rounds, processor_time_of_children)
    for module, peer in zip(modules[::2], modules[1::2], strict=True):
        own_time, peer_time = best[module], best[peer]
        peer_text = f"{peer} {duration(peer_time)}"
        yield Row(
            f"import {module}",
            duration(own_time),
            peer_text,
            own_time / peer_time,
            "x its time",
            at_most=0.5,
        )


def processor_time_of_children() -> float:
    """The processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
