"""How good are sentences from lemmas?

Settings were chosen on every tenth document of EWT's training part, which is held out for it:

    python experiments/realize_lemmas.py choose

What was chosen is then trained on a whole training part and measured on the dev part, for English
(ewt) and, with the same code and settings, for French (sequoia):

    python experiments/realize_lemmas.py measure ewt|sequoia

Forms are compared in lower case, as the treebank has them; texts with the treebank's own, by BLEU
with the tokeniser 13a. Times are CPU seconds of this process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import karat as kt
from karat.realize.evaluation import realize_lemmas
from karat.realize.input_trees import MISSING, PART_OF_WORD, input_trees, with_lemmas
from karat.realize.model import RealizerModel
from karat.realize.treebank import Treebank

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("KARAT_DATA", ROOT.parent / "shared" / "data"))
NAMES = {"ewt": "en_ewt", "sequoia": "fr_sequoia"}
HELD_OUT = 10


def read(name: str, part: str) -> Treebank:
    """A part of a treebank."""
    return kt.read_treebank(DATA / f"treebank-{name}" / f"{NAMES[name]}-ud-{part}.conllu")


def sentences(bank: Treebank, is_selected: np.ndarray) -> Treebank:
    """Some sentences of a treebank, without those that have no lemma to show."""
    flags = np.repeat(is_selected, np.diff(bank.offsets))
    selection = bank.keep(flags)
    columns = {"ids": [i for i, good in zip(bank.ids, is_selected, strict=True) if good]}
    arrays = {"documents": bank.documents[is_selected], "lines": bank.lines[is_selected]}
    offsets = np.unique(selection.offsets)
    return Treebank(**{**selection.__dict__, **columns, **arrays, "offsets": offsets})


def complete(bank: Treebank) -> np.ndarray:
    """Whether all words of a sentence have lemmas, but for parts of words."""
    labels = zip(bank.lemmas, bank.relations, strict=True)
    lacking = np.array([lemma == MISSING and r != PART_OF_WORD for lemma, r in labels])
    return np.add.reduceat(lacking, bank.offsets[:-1]) == 0


def show(model: RealizerModel, bank: Treebank) -> None:
    """Print all figures of a model on some sentences."""
    realizer = model.lemma_realizer()
    for row in (output.scores() for output in realize_lemmas(realizer, bank)):
        four = row.simple, row.generation, row.simple_tree, row.generation_tree
        accuracies = "/".join(f"{value:.4f}" for value in four)
        print(f"{row.model}: forms {row.forms:.4f}, {accuracies}, BLEU {row.bleu:.2f}, ", end="")
        print(f"exact {row.exact:.4f}, {row.speed:.0f} sentences/s")
    with_lemma = with_lemmas(bank)
    trees = input_trees(with_lemma, "lemmas")
    forms = realizer.inflection.forms(trees, realizer.realize(trees))
    words = realizer.inflection.capitalise(forms)
    starts = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    right = [with_lemma.words[j] for j in (starts + trees.places)[forms.order].tolist()]
    cased = sum(a == b for a, b in zip(words, right, strict=True)) / len(words)
    texts = realizer.inflection.spacing.text(words, forms.tags, forms.starts)
    cuts = zip(bank.offsets[:-1].tolist(), bank.offsets[1:].tolist(), strict=True)
    written = [
        "".join(
            f"{surface.text} " if surface.space_after else surface.text
            for surface in bank.surfaces[a:b]
        )
        for a, b in cuts
    ]
    score = kt.metric("bleu").corpus(texts, [[text.strip()] for text in written]).value
    print(f"with capitals: forms {cased:.4f}; text: BLEU {score:.2f}")


def trained(bank: Treebank) -> RealizerModel:
    """A model of lemmas, with its time and size."""
    begin = time.process_time()
    model = kt.train_realizer(bank, "ordering", inputs="lemmas")
    seconds = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.npz")
        size = os.path.getsize(Path(folder) / "model.npz") / 1e6
    print(f"trained in {seconds:.0f} s, {size:.1f} MB")
    return model


def main(action: str, name: str = "ewt") -> None:
    """Choose or measure."""
    bank = read(name, "train")
    if action == "measure":
        show(trained(bank), read(name, "dev"))
        return
    away = bank.documents % HELD_OUT == 0
    show(trained(sentences(bank, ~away)), sentences(bank, away & complete(bank)))


if __name__ == "__main__":
    main(*sys.argv[1:])
