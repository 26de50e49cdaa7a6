"""How good is the ordering model, and which weight should its language model have?

Choices are made on every tenth document of EWT's training part, which is held out for it:

    python experiments/realize_ordering.py choose [words|all]

What was chosen is then trained on the whole training part and measured on the dev part:

    python experiments/realize_ordering.py measure [words|all]

Accuracies and BLEU (tok=none) are of lower-cased words; times are CPU seconds of this process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import karat as kt
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.ordering import LM_WEIGHT, OrderingModel, train_ordering
from karat.realize.treebank import Treebank, read_treebank

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data")) / "treebank-ewt"
HELD_OUT = 10
WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
METRICS = (
    "simple_accuracy",
    "generation_accuracy",
    "simple_tree_accuracy",
    "generation_tree_accuracy",
    "bleu:tok=none",
)


def part(treebank: Treebank, chosen: list[int]) -> Treebank:
    """Some sentences of a treebank."""
    spans = [(int(treebank.offsets[i]), int(treebank.offsets[i + 1])) for i in chosen]
    nodes = np.concatenate([np.arange(a, b) for a, b in spans])
    columns = {
        name: [getattr(treebank, name)[j] for j in nodes]
        for name in ("words", "lemmas", "upos", "xpos", "relations", "features")
    }
    return Treebank(
        treebank.name,
        **columns,
        heads=treebank.heads[nodes],
        offsets=np.cumsum([0, *(b - a for a, b in spans)]),
        ids=[treebank.ids[i] for i in chosen],
        documents=treebank.documents[chosen],
        lines=treebank.lines[chosen],
    )


def held_out(treebank: Treebank) -> tuple[Treebank, Treebank]:
    """The documents to train on, and every tenth."""
    away = treebank.documents % HELD_OUT == 0
    return part(treebank, np.flatnonzero(~away).tolist()), part(
        treebank, np.flatnonzero(away).tolist()
    )


def figures(model: OrderingModel, trees: InputTrees) -> str:
    """All figures of a model on some trees, in one line."""
    began = time.process_time()
    orders = model.realize(trees)
    seconds = time.process_time() - began
    sentences = [trees.sentence(i, ranked[0].nodes) for i, ranked in enumerate(orders)]
    references = trees.references()
    values = [kt.metric(name).corpus(sentences, references).value for name in METRICS]
    right = [sentences[i] == trees.sentence(i, trees.reference(i)) for i in range(len(trees))]
    accuracies = "/".join(f"{value:.4f}" for value in values[:4])
    return (
        f"{accuracies} BLEU {values[4]:.2f} exact {np.mean(right):.4f} "
        f"{len(trees) / seconds:.0f} sentences/s"
    )


def choose(inputs: str) -> None:
    """What the weights of the language model do on held-out documents of the training part."""
    train, held = held_out(read_treebank(DATA / "en_ewt-ud-train.conllu"))
    began = time.process_time()
    model = train_ordering(train, inputs)
    print(f"{inputs}: trained on {len(train):,} sentences, {time.process_time() - began:.0f} s")
    trees, scale = input_trees(held, inputs), model.lm_weight / LM_WEIGHT
    for weight in WEIGHTS:
        tried = replace(model, lm_weight=weight * scale)
        print(f"lm_weight={weight}: {figures(tried, trees)}", flush=True)


def measure(inputs: str) -> None:
    """The figures on the dev part."""
    train = read_treebank(DATA / "en_ewt-ud-train.conllu")
    began = time.process_time()
    model = train_ordering(train, inputs)
    print(f"{inputs}: trained on {len(train):,} sentences, {time.process_time() - began:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        kt.RealizerModel(None, {inputs: model}).save(path)
        began = time.process_time()
        opened = kt.open_realizer(path).ordering[inputs]
        print(f"{path.stat().st_size / 1e6:.1f} MB, opened in {time.process_time() - began:.2f} s")
        dev = input_trees(read_treebank(DATA / "en_ewt-ud-dev.conllu"), inputs)
        print(f"dev: {figures(opened, dev)}")


if __name__ == "__main__":
    command = {"choose": choose, "measure": measure}[sys.argv[1]]
    for inputs in sys.argv[2:] or ["words", "all"]:
        command(inputs)
