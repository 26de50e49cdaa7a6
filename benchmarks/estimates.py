"""`karat estimate` with one judge against `karat meta` of one metric, on WMT23 en-de."""

from __future__ import annotations

import os
from collections.abc import Iterator

from corpus import Corpus
from gates import children
from plan import Plan
from table import Row, duration
from timing import command, script, take_turns

FOLDER = "mt-wmt23-ende"


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Whole commands, by their processor time; nothing without the data."""
    place = os.path.join(os.environ.get("KARAT_DATA", ""), FOLDER)
    if not os.path.isdir(place):
        return
    arguments = [place, "-d", "mqm"]
    contestants = {
        "estimate": command([script("karat"), "estimate", *arguments, "-J", "chrf"]),
        "meta": command([script("karat"), "meta", *arguments, "-m", "chrf"]),
    }
    times = take_turns(contestants, plan.rounds, children)
    yield Row(
        "karat estimate, WMT23 en-de, 12 systems x 557 segments, chrF: processor time",
        duration(times["estimate"]),
        f"karat meta {duration(times['meta'])}",
        times["estimate"] / times["meta"],
        "x its time",
        at_most=1.0,
    )
