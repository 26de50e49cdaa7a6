"""Pivot F1 with a table of captions: opening it, and scoring paraphrases on one processor."""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from corpus import DATA, Corpus
from plan import Plan
from table import Row, duration
from timing import processor_time

from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.features import pivot_statistics
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.table.training import train_pivot

CAPTIONS = DATA / "parallel-multi30k"
JUDGED = DATA / "paraphrase-twitter" / "twitter.tsv"


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """A table of 29,000 captions in English and French."""
    if not (CAPTIONS.exists() and JUDGED.exists()):
        print("pivot: no captions and paraphrases in KARAT_DATA, left out", file=sys.stderr)
        return
    table = train_pivot([read_parallel(CAPTIONS / "train.en.gz", CAPTIONS / "train.fr.gz")])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "en-fr.npz"
        table.save(path)
        took = processor_time(lambda: PhraseTable.open(path), plan.rounds)
        yield Row(
            f"phrase table, {table.pairs:,} pairs: opening",
            duration(took),
            "",
            1000 * took,
            " ms",
            at_most=100,
            note="processor time; mapped and checked",
        )
        yield _scoring(PhraseTable.open(path), plan.rounds)


def _scoring(table: PhraseTable, rounds: int) -> Row:
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    originals, candidates = ([row[name] for row in rows] for name in ("source", "candidate"))
    took = processor_time(lambda: pivot_statistics(table, originals, candidates, threads=1), rounds)
    return Row(
        f"pivot F1, {len(rows):,} pairs of sentences",
        duration(took),
        "",
        len(rows) / took,
        " pairs/s",
        at_least=2000,
        note="processor time; strings in, statistics by order out; the paper's settings",
    )
