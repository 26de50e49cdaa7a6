"""Karat's numbers, as ratios of one run: `python bench.py [--only NAME ...] [--quick]`."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread means one, in numpy too

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import align
import bertscore
import comparing
import corpus
import edits
import estimates
import files
import gates
import gtm
import large
import large_parallel
import lists
import lm
import lm_memory
import machine
import meta
import nuggets
import pivot
import plane
import realize
import startup
import tables
import trees
from plan import FULL, QUICK, Plan
from table import Row, markdown, text

BENCHMARKS: dict[str, Callable[[corpus.Corpus, Plan], Iterator[Row]]] = {
    "files": files.measure,
    "bleu": lists.bleu,
    "rouge": lists.rouge,
    "chrf": lists.chrf,
    "five": lists.five,
    "compare": comparing.in_process,
    "compare-command": comparing.whole_command,
    "gate": gates.measure,
    "estimate": estimates.measure,
    "large": large.measure,
    "tables": tables.measure,
    "startup": startup.measure,
    "memory": lists.memory,
    "more": lists.more,
    "bootstrap": lists.bootstrap,
    "gtm": gtm.measure,
    "plane": plane.measure,
    "perm": meta.perm,
    "perm-tau": meta.perm_tau,
    "ted": meta.ted,
    "kendall": meta.kendall,
    "ter": edits.ter,
    "edits": edits.scripts,
    "conllu": edits.conllu,
    "trees": trees.measure,
    "nuggets": nuggets.measure,
    "align": align.measure,
    "pivot": pivot.measure,
    "phrases-memory": large_parallel.measure,
    "lm": lm.measure,
    "lm-memory": lm_memory.measure,
    "realize": realize.measure,
    "bertscore": bertscore.measure,
}
BY_NAME: dict[str, Callable[[corpus.Corpus, Plan], Iterator[Row]]] = {
    "phrases-million": large_parallel.million,
}
"""Those that take long and much room on disk: measured only where `--only` names them."""


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*BENCHMARKS, *BY_NAME]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=[])
    parser.add_argument("--quick", action="store_true", help="less text and fewer rounds")
    parser.add_argument("--json", type=Path, help="write rows and machine here")
    parser.add_argument("--markdown", type=Path, help="write a table for the docs here")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write."""
    options = arguments()
    plan = QUICK if options.quick else FULL
    facts = machine.facts()
    texts = corpus.make(plan.lines)
    facts.append(("text", f"{texts.lines:,} pairs, {texts.source}"))
    print("\n".join(f"{name}: {value}" for name, value in facts), flush=True)
    rows: list[Row] = []
    for name in options.only or BENCHMARKS:
        print(f"… {name}", file=sys.stderr, flush=True)
        rows += (BENCHMARKS | BY_NAME)[name](texts, plan)
    print("\n" + text(rows))
    if options.json:
        record = {"machine": dict(facts), "rows": [row.record() for row in rows]}
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(rows, facts), encoding="utf-8")


if __name__ == "__main__":
    main()
