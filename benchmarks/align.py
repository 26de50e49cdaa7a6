"""Word alignment against eflomal and fast_align: error rate on links made by hand, processor time.

Karat's settings are its defaults, which were chosen on these two texts; `karat_hmm` has those of
the joint HMM, of which all but the root were fixed in advance.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from align_gold import FOLDER, TEXTS, error_rate
from corpus import DATA, Corpus
from plan import Plan
from table import Row, duration

PEERS = {"eflomal": "eflomal", "fast_align": "systran_align"}
BEST = {"en-es": 0.225, "ro-en": 0.305}
OTHERS = ("karat_hmm", "karat_product", "karat_grown")
LESS = {"eflomal": 12}  # times less processor time


class Found(NamedTuple):
    """The alignment error rate and the processor time."""

    error: float
    seconds: float


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """Two texts with gold links, then captions without."""
    if not FOLDER.exists():
        print("align: no align-gold in KARAT_DATA, left out", file=sys.stderr)
        return
    peers = [name for name, package in PEERS.items() if importlib.util.find_spec(package)]
    for text in TEXTS:
        yield from _compare(text, peers)
    if (DATA / "parallel-multi30k").exists():
        yield from _captions()


def _compare(text: str, peers: list[str]) -> Iterator[Row]:
    found = {name: _align(name, text) for name in ("karat", *OTHERS, *peers)}
    ours = found["karat"]
    yield Row(
        f"word alignment, {text}: error rate",
        f"{ours.error:.4f}",
        ", ".join(f"{name} {found[name].error:.4f}" for name in peers),
        ours.error,
        " AER",
        at_most=BEST.get(text),
        note=f"best links of each direction joined by grow-diag-final-and, as the peers', "
        f"{found['karat_grown'].error:.4f}; the aligner hmm {found['karat_hmm'].error:.4f}, with "
        f"the product {found['karat_product'].error:.4f}",
    )
    for name in peers:
        yield Row(
            f"word alignment, {text}: processor time",
            duration(ours.seconds),
            f"{name} {duration(found[name].seconds)}",
            found[name].seconds / ours.seconds,
            "x less",
            at_least=LESS.get(name, 1),
        )


def _captions() -> Iterator[Row]:
    found = _child("karat", "captions")
    took = found["align"] + found["extract"]
    yield Row(
        f"alignment and phrases, {found['pairs']:,} captions en-fr: processor time",
        duration(took),
        "",
        took,
        " s",
        at_most=120,
        note=f"words and {found['links']:,} links {duration(found['align'])}; "
        f"{found['phrases']:,} phrase pairs {duration(found['extract'])}",
    )
    peak = found["peak_mb"]
    yield Row("the same: peak memory", f"{peak:.0f} MB", "", peak, " MB", at_most=250)


def _align(aligner: str, text: str) -> Found:
    found = _child(aligner, text)
    links = [[(i, j) for i, j in row] for row in found["links"]]
    return Found(error_rate(TEXTS[text](), links), found["seconds"])


def _child(*args: str) -> dict[str, Any]:
    argv = [sys.executable, str(Path(__file__).with_name("align_jobs.py")), *args]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    return found
