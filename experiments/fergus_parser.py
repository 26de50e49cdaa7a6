"""A small English parser for spaCy, trained on EWT: trees for sets whose references have none.

    python experiments/fergus_parser.py FOLDER [--epochs 5]

KARAT_DATA names the folder with `treebank-ewt`. Heads alone are learned, which is all that tree
accuracies look at. Prints the share of right heads on EWT dev, its own words given.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.training import Example

import karat as kt

SEED = 12345


def trees(part: str) -> list[kt.Tree]:
    """The sentences of a part of EWT."""
    folder = Path(os.environ["KARAT_DATA"]) / "treebank-ewt"
    return [tree for (tree,) in kt.read_conllu(folder / f"en_ewt-ud-{part}.conllu")]


def example(nlp: spacy.Language, tree: kt.Tree) -> Example:
    """A sentence as spaCy learns from it: heads from 0, a root its own."""
    heads = [head - 1 if head else place for place, head in enumerate(tree.heads)]
    labels = ["dep" if head else "ROOT" for head in tree.heads]
    return Example.from_dict(Doc(nlp.vocab, words=tree.words), {"heads": heads, "deps": labels})


def train(epochs: int) -> spacy.Language:
    """Train a parser on EWT's training part."""
    spacy.util.fix_random_seed(SEED)
    nlp, order = spacy.blank("en"), random.Random(SEED)
    nlp.add_pipe("parser")
    examples = [example(nlp, tree) for tree in trees("train")]
    optimizer = nlp.initialize(lambda: examples[:2000])
    for epoch in range(epochs):
        order.shuffle(examples)
        losses: dict[str, float] = {}
        for batch in spacy.util.minibatch(examples, 64):
            nlp.update(batch, sgd=optimizer, drop=0.2, losses=losses)
        print(f"epoch {epoch + 1}: loss {losses['parser']:,.0f}", flush=True)
    return nlp


def right_heads(nlp: spacy.Language) -> float:
    """The share of dev's words whose head is right."""
    right = total = 0
    for tree in trees("dev"):
        doc = nlp(Doc(nlp.vocab, words=tree.words))
        predicted = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        right += sum(a == b for a, b in zip(predicted, tree.heads, strict=True))
        total += len(tree)
    return right / total


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    nlp = train(options.epochs)
    nlp.to_disk(options.folder)
    print(f"right heads on EWT dev: {right_heads(nlp):.3f}")


if __name__ == "__main__":
    main()
