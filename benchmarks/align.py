"""Word alignment against eflomal and fast_align: error rate on links made by hand, processor time.

Captions, which have no such links, measure the time and memory of both of Karat's aligners.

Karat's settings are its defaults, which were chosen on these two texts; `karat_hmm` uses the
settings of the joint HMM, all fixed in advance except the root.
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


class AlignerResult(NamedTuple):
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
    alignments = {name: _align(name, text) for name in ("karat", *OTHERS, *peers)}
    karat = alignments["karat"]
    yield Row(
        f"word alignment, {text}: error rate",
        f"{karat.error:.4f}",
        ", ".join(f"{name} {alignments[name].error:.4f}" for name in peers),
        karat.error,
        " AER",
        at_most=BEST.get(text),
        note=f"best links of each direction joined by grow-diag-final-and, as the peers', "
        f"{alignments['karat_grown'].error:.4f}; the aligner hmm "
        f"{alignments['karat_hmm'].error:.4f}, with the product "
        f"{alignments['karat_product'].error:.4f}",
    )
    for name in peers:
        yield Row(
            f"word alignment, {text}: processor time",
            duration(karat.seconds),
            f"{name} {duration(alignments[name].seconds)}",
            alignments[name].seconds / karat.seconds,
            "x less",
            at_least=LESS.get(name, 1),
        )


def _captions() -> Iterator[Row]:
    fertility, hmm = (_child(name, "captions") for name in ("karat", "karat_hmm"))
    seconds, hmm_seconds = (run["align"] + run["extract"] for run in (fertility, hmm))
    steps = (
        f"words and {run['links']:,} links {duration(run['align'])}, {run['phrases']:,} phrase "
        f"pairs {duration(run['extract'])}"
        for run in (fertility, hmm)
    )
    yield Row(
        f"alignment and phrases, {fertility['pairs']:,} captions en-fr: processor time",
        duration(seconds),
        f"--aligner hmm {duration(hmm_seconds)}",
        seconds / hmm_seconds,
        "x its time",
        at_most=2,
        note="; --aligner hmm: ".join(steps),
    )
    peaks = fertility["peak_mb"], hmm["peak_mb"]
    yield Row(
        "the same: peak memory",
        f"{peaks[0]:.0f} MB",
        f"--aligner hmm {peaks[1]:.0f} MB",
        peaks[0] / peaks[1],
        "x its memory",
        at_most=1.25,
    )


def _align(aligner: str, text: str) -> AlignerResult:
    output = _child(aligner, text)
    links = [[(i, j) for i, j in row] for row in output["links"]]
    return AlignerResult(error_rate(TEXTS[text](), links), output["seconds"])


def _child(*args: str) -> dict[str, Any]:
    argv = [sys.executable, str(Path(__file__).with_name("align_jobs.py")), *args]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    output: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    return output
