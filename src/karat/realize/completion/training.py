"""Training of completers: a treebank's function words and marks are taken out and put back.

A slot is trained with what the treebank has in the earlier slots. Training it on the guesses of
classifiers of other documents was tried and did not help (docs/lab/completion.md). Rates and limits
were chosen on documents held out of EWT's training part.
"""

from __future__ import annotations

from karat.progress import Progress, silent
from karat.realize.completion.class_model import train_class_model
from karat.realize.completion.classifier import (
    USUAL,
    Learning,
    SeenTrees,
    SlotClassifier,
    train_classifier,
)
from karat.realize.completion.completer import Completer, check_features, texts_of
from karat.realize.completion.content import content_trees, final_marks
from karat.realize.completion.features import Hashes
from karat.realize.completion.lemmas import learn_lemmas
from karat.realize.completion.slots import SLOTS, Filling
from karat.realize.treebank import Treebank

LEARNING = {"comma": Learning(rate=0.05, dropout=0.6)}
"""Of slots that learn otherwise: commas have few sure signs, and learn too many by heart."""


def train_completer(
    treebank: Treebank, inputs: str, *, seed: int = 1, progress: Progress = silent
) -> Completer:
    """Train a completer; the same treebank and seed give the same one."""
    check_features(treebank, inputs)
    final = final_marks(treebank)
    trees, lemmas = content_trees(treebank, final), learn_lemmas(treebank)
    seen = SeenTrees(trees, inputs, lemmas)
    filled: list[Hashes] = []
    slots: dict[str, SlotClassifier[Filling]] = {}
    for n, slot in enumerate(SLOTS):
        progress(n, len(SLOTS) + 1, f"completion, {slot}")
        gold = trees.fillings[slot]
        learning = LEARNING.get(slot, USUAL)
        one = train_classifier(seen, gold, filled, (), seed * 100 + n, learning)
        slots[slot] = one.rounded()
        filled.append(texts_of(gold))
    progress(len(SLOTS), len(SLOTS) + 1, "completion, tags")
    tagger = None
    if inputs == "relations":
        tagger = train_classifier(seen, trees.tags, [], "", seed * 100 + 99).rounded()
    return Completer(inputs, final, lemmas, train_class_model(treebank), slots, tagger)
