"""The class model: an n-gram model of sentences in which tags stand for all but frequent words.

It sees which function words and marks follow each other around nouns, verbs and so on, whatever
these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from karat.arrays import NDArray
from karat.lm.model import LanguageModel
from karat.realize.input_trees import SPACE, SPACES
from karat.realize.treebank import Treebank
from karat.storage.store import with_prefix, without_prefix

ORDER, FREQUENT = 5, 50
"""Length of the n-grams; times that a word occurs which stands for itself."""


@dataclass(frozen=True, eq=False)
class ClassModel:
    """The words that stand for themselves, and the model of these and of tags."""

    frequent: frozenset[str]
    model: LanguageModel

    def token(self, word: str, tag: str) -> str:
        """Return what stands for a word, in lower case."""
        return SPACES.sub(SPACE, word) if word in self.frequent else tag

    def about(self) -> dict[str, Any]:
        """Return the description beside the arrays."""
        return {"frequent": sorted(self.frequent), "model": self.model.about}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        return with_prefix("classes_", self.model.arrays)

    @classmethod
    def stored(cls, about: Mapping[str, Any], arrays: Mapping[str, Any], name: str) -> ClassModel:
        """Return a stored model; arrays of other parts may stand beside its own."""
        model = LanguageModel(about["model"], without_prefix("classes_", arrays), name)
        return cls(frozenset(map(str, about["frequent"])), model.check_finite(name))


def train_class_model(treebank: Treebank) -> ClassModel:
    """Train on the sentences of a treebank."""
    words = [word.lower() for word in treebank.words]
    frequent = frozenset(word for word, n in Counter(words).items() if n >= FREQUENT)
    pairs = zip(words, treebank.upos, strict=True)
    tokens = [SPACES.sub(SPACE, word) if word in frequent else tag for word, tag in pairs]
    sentences = [" ".join(tokens[a:b]) for a, b in pairwise(treebank.offsets.tolist())]
    return ClassModel(frequent, LanguageModel.train(sentences, ORDER, tok="none"))
