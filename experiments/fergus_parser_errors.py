"""The effect of parser errors on tree accuracies, as scores and as relative scores (section 5).

    python experiments/fergus_parser_errors.py PIPELINE

PIPELINE is a spaCy pipeline, such as the folder that `fergus_parser.py` writes; KARAT_DATA is the
folder with `treebank-ewt`. The realisers of the paper order EWT dev from words; their sentences are
scored with the trees of the treebank and with the pipeline's parses.
"""

from __future__ import annotations

import os
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import spacy
from spacy.tokens import Doc

import karat as kt
from karat.realize.input_trees import input_trees

METRICS = ("simple_tree_accuracy", "generation_tree_accuracy", "quality_accuracy")


def parsed(tree: kt.Tree, cased: kt.Tree, nlp: spacy.Language) -> kt.Tree:
    """The same words with the parser's heads; of several roots the first has the others."""
    doc = nlp(Doc(nlp.vocab, words=cased.words))
    heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
    first = heads.index(0) + 1
    joined = (first if head == 0 and i != first else head for i, head in enumerate(heads, 1))
    return kt.Tree(tree.words, tuple(joined))


def main() -> None:
    """Realise, parse, score twice, compare."""
    folder = Path(os.environ["KARAT_DATA"]) / "treebank-ewt"
    train, dev = (str(folder / f"en_ewt-ud-{part}.conllu") for part in ("train", "dev"))
    model = kt.train_realizer(kt.read_treebank(train), "fergus")
    trees = input_trees(kt.read_treebank(dev), "words")
    plain_trees = trees.without_spaces()
    outputs = {
        realizer.name: [
            plain_trees.sentence(i, best.nodes)
            for i, (best, *_) in enumerate(realizer.realize(trees))
        ]
        for realizer in model.realizers("words")
    }
    gold = [tree for (tree,) in plain_trees.references()]
    nlp, cased = spacy.load(sys.argv[1]), kt.read_conllu(dev)
    guessed = [parsed(tree, cased[i][0], nlp) for i, tree in enumerate(gold)]
    scores = [
        kt.score(
            kt.make_evalset("dev", outputs, trees=reference_trees), metrics=METRICS, segments=True
        )
        for reference_trees in (gold, guessed)
    ]
    for name in METRICS:
        print(f"\n{name}\nmodel\ttreebank's trees\tparser's trees\tr of segments")
        for system in outputs:
            values = [scoring[system, name].score.value for scoring in scores]
            first, second = (scoring.segment_scores(system, name) for scoring in scores)
            cells = "\t".join(f"{value:.3f}" for value in values)
            print(f"{system}\t{cells}\t{np.corrcoef(first, second)[0, 1]:.3f}")
        agreeing = total = 0
        for a, b in combinations(outputs, 2):
            signs = [
                np.sign(scoring.segment_scores(a, name) - scoring.segment_scores(b, name))
                for scoring in scores
            ]
            agreeing += int((signs[0] == signs[1]).sum())
            total += len(signs[0])
        print(f"pairs of sentences in the same order: {agreeing / total:.3f} of {total:,}")


if __name__ == "__main__":
    main()
