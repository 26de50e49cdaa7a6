"""The realiser on EWT (KARAT_DATA): training, the file, opening it, and sentences a second.

There is no peer to compare with: published linearisers are not installable packages, and a plain
Python search for the best supertags would be a project in itself. So these rows are absolute
processor times.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from corpus import DATA, Corpus
from plan import FULL, Plan
from table import Row, duration
from timing import processor_time

from karat.realize.input_trees import input_trees
from karat.realize.model import RealizerModel, open_realizer, train_realizer
from karat.realize.treebank import read_treebank

BANK = DATA / "treebank-ewt"
TRAIN, DEV = BANK / "en_ewt-ud-train.conllu", BANK / "en_ewt-ud-dev.conllu"
ROUNDS = 3


def measure(corpus: Corpus, plan: Plan) -> Iterator[Row]:
    """What `karat realize train` makes by default; a quick look trains on the dev part instead."""
    if not (TRAIN.exists() and DEV.exists()):
        print("realize: no treebank-ewt in KARAT_DATA, left out", file=sys.stderr)
        return
    bank = read_treebank(TRAIN if plan == FULL else DEV)
    start = time.process_time()
    model = train_realizer(bank)
    took = time.process_time() - start
    yield Row(
        f"realisers, {len(bank):,} sentences of EWT: training",
        duration(took),
        "",
        took,
        " s",
        at_most=180,
        note=f"processor time of all threads, for words alone: {model.contents()}",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        yield from _stored(path, plan.rounds)
        yield from _generating(open_realizer(path))


def _stored(path: Path, rounds: int) -> Iterator[Row]:
    size = path.stat().st_size / 1e6
    yield Row("the same: file", f"{size:.1f} MB", "", size, " MB", at_most=50)
    opening = 1000 * processor_time(lambda: open_realizer(path), rounds)
    yield Row(
        "the same: opening",
        duration(opening / 1000),
        "",
        opening,
        " ms",
        at_most=500,
        note="processor time; supertags and language model are mapped, the rest unpacked",
    )


def _generating(model: RealizerModel) -> Iterator[Row]:
    """Sentences a second of supertags and ordering model, from trees that were read."""
    trees = input_trees(read_treebank(DEV), "words")
    for realizer in model.realizers("words")[-2:]:
        took = processor_time(lambda realizer=realizer: realizer.realize(trees), ROUNDS)
        yield Row(
            f"{realizer.name}: {len(trees):,} sentences of EWT dev, words alone",
            duration(took),
            "",
            len(trees) / took,
            " sentences/s",
            at_least=200,
            note="processor time; trees in, best orders out",
        )
