"""Realisers trained on a treebank and evaluated on another part of it, with the paper's table.

    python experiments/realize.py TRAIN.conllu DEV.conllu            the table of docs/lab/fergus.md
    python experiments/realize.py TRAIN.conllu --held-out            what choices are made by

Every choice was made on documents of the training part (each tenth is held out); the second file
decides nothing.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import product

import numpy as np

from karat.realize.evaluation import METRICS, RealizerScores, realize_each
from karat.realize.fergus import Fergus, LpWeights
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.treebank import Treebank, read_treebank

EVERY = 10


def part(bank: Treebank, chosen: np.ndarray) -> Treebank:
    """Some sentences of a treebank."""
    nodes = np.concatenate([np.arange(*bank.offsets[i : i + 2]) for i in chosen]).tolist()
    columns = ("words", "lemmas", "upos", "xpos", "relations")
    picked = {name: [getattr(bank, name)[j] for j in nodes] for name in columns}
    sizes = np.diff(bank.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(
        bank,
        **picked,
        heads=bank.heads[nodes],
        offsets=offsets,
        ids=[bank.ids[i] for i in chosen],
        documents=bank.documents[chosen],
        lines=bank.lines[chosen],
    )


def trained(bank: Treebank) -> Fergus:
    begin = time.process_time()
    fergus = Fergus.train(bank)
    print(f"trained on {len(bank):,} sentences in {time.process_time() - begin:.1f} s of CPU")
    return fergus


def show(row: RealizerScores) -> None:
    values = " ".join(f"{getattr(row, key):7.3f}" for key in METRICS)
    print(f"{row.inputs:6} {row.model:24} {values} {row.exact:6.3f} {row.speed:7.0f}/s", flush=True)


def table(fergus: Fergus, bank: Treebank) -> None:
    print(f"{'input':6} {'model':24} {' '.join(f'{key[:7]:>7}' for key in METRICS)}  exact")
    words = input_trees(bank, "words")
    for row in (output.scores() for output in realize_each([*fergus.baselines, fergus], words)):
        show(row)
    for row in (output.scores() for output in realize_each([fergus], input_trees(bank, "all"))):
        show(row)


def weigh(fergus: Fergus, trees: InputTrees) -> None:
    """Compare weights, with the supertags chosen once."""
    for side, pair, lm in product((1.0, 1.6, 2.2), (1.0, 1.5, 2.2), (0.7, 1.0, 1.3)):
        weighted = replace(fergus, weights=LpWeights(side=side, pair=pair, lm=lm))
        (output,) = realize_each([weighted], trees)
        row = output.scores()
        print(f"side {side} pair {pair} lm {lm}", end="  ")
        show(row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("dev", nargs="?")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--weights", action="store_true", help="try weights on the held-out part")
    options = parser.parse_args()
    bank = read_treebank(options.train)
    if options.held_out or not options.dev:
        held = bank.documents % EVERY == 0
        fergus = trained(part(bank, np.flatnonzero(~held)))
        rest = part(bank, np.flatnonzero(held))
        table(fergus, rest)
        if options.weights:
            weigh(fergus, input_trees(rest, "words"))
        return
    table(trained(bank), read_treebank(options.dev))


if __name__ == "__main__":
    main()
