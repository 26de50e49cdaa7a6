"""Generation: the best sentences of every tree, and the punctuation that the input lacks.

Marks are put in where the language model expects them:

    best = argmax over sentences with commas inside and one mark at the end of log p(sentence)

The marks are hidden events of an n-gram model that was trained on text with them. Commas go in one
at a time, each where it helps most, for as long as one helps; then the best of the final marks.
Sentences that have any punctuation are left as they are; symbols that are read out as words ($, %
and &) are no punctuation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import np
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.input_trees import InputTrees
from karat.realize.model import RealizerModel, RealizerResult

COMMA = ","
FINAL = (".", "?", "!")

READ_OUT = frozenset("#%&/@§¶‰")
"""Symbols that Unicode counts as punctuation: `and`, `percent`, `at` and the like."""


class RealizedSentence(NamedTuple):
    """A sentence for a tree; trees and ranks count from 1, the score is a weighted log."""

    tree: int
    rank: int
    score: float
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class RealizedSentences(RealizerResult):
    """Sentences for trees, the best of each tree first."""


def realize_trees(
    model: RealizerModel,
    trees: InputTrees,
    n_best: int = 1,
    *,
    punctuation: bool = False,
    progress: Progress = silent,
) -> RealizedSentences:
    """Generate sentences for trees, with the best realiser for their inputs.

    Args:
        model, trees: as `open_realizer` and `read_trees` return them.
        n_best: number of sentences for each tree.
        punctuation: insert punctuation that the input does not have.
        progress: function that is called with the progress.
    """
    orders = model.best(trees.inputs).realize(trees, n_best, progress=progress)
    texts = [trees.sentence(i, order.nodes) for i, few in enumerate(orders) for order in few]
    if punctuation:
        texts = punctuate(model.language_model(trees.inputs), texts)
    ranked = ((i, rank, o) for i, few in enumerate(orders, 1) for rank, o in enumerate(few, 1))
    pairs = zip(ranked, texts, strict=True)
    rows = tuple(RealizedSentence(i, rank, order.score, text) for (i, rank, order), text in pairs)
    told = model.fallback(trees.inputs)
    settings = {"inputs": trees.inputs, "n_best": n_best, "punctuation": punctuation}
    return RealizedSentences(trees.name, rows, settings, (told,) if told else ())


def punctuate(lm: LanguageModel, sentences: Sequence[str]) -> list[str]:
    """Put the punctuation that they lack into sentences."""
    return [_punctuated(lm, sentence.split(" ")) for sentence in sentences]


def _punctuated(lm: LanguageModel, words: list[str]) -> str:
    if any(is_punctuation(word) for word in words):
        return " ".join(words)
    words = _best(lm, [[*words, mark] for mark in FINAL])
    while True:
        places = [i for i in range(1, len(words) - 1) if COMMA not in words[i - 1 : i + 1]]
        better = _best(lm, [words, *([*words[:i], COMMA, *words[i:]] for i in places)])
        if better == words:
            return " ".join(words)
        words = better


def is_punctuation(word: str) -> bool:
    """Return whether a word is made of marks of punctuation alone."""
    plain = unicodedata.normalize("NFKC", word)
    return all(unicodedata.category(c).startswith("P") and c not in READ_OUT for c in plain)


def _best(lm: LanguageModel, choices: list[list[str]]) -> list[str]:
    """Return the likeliest choice; of equal ones the first."""
    scores = lm.score([" ".join(words) for words in choices], threads=1)
    return choices[int(np.argmax(scores))]
