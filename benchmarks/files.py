"""BLEU from two files against `wc -w`, which does nothing but read them and find the words."""

from __future__ import annotations

from collections.abc import Iterator

from corpus import Corpus
from plan import Plan
from table import Row, duration
from timing import command, script, take_turns

import karat as kt


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """One thread, two threads, and the whole command."""
    files = [str(corpus.candidates), str(corpus.references)]
    score = [script("karat"), "score", files[0], "-r", files[1], "-m", "bleu", "--format", "json"]
    bleu = kt.metric("bleu")
    best = take_turns(
        {
            "wc": command(["wc", "-w", *files], LC_ALL="C.UTF-8"),
            "1": lambda: bleu.corpus(corpus.candidates, corpus.references, threads=1),
            "2": lambda: bleu.corpus(corpus.candidates, corpus.references, threads=2),
            "command": command(score),
        },
        plan.rounds,
    )
    for name, label, limit in (
        ("1", "1 thread", 2.0),
        ("2", "2 threads", 1.1),
        ("command", "karat score", None),
    ):
        yield Row(
            f"BLEU from two files, {corpus.lines:,} segments, {label}",
            duration(best[name]),
            f"wc -w {duration(best['wc'])}",
            best[name] / best["wc"],
            "x its time",
            at_most=limit,
        )
