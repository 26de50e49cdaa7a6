"""Lemmas of forms, as a treebank has them: classifiers see what forms of one word share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from karat.realize.treebank import Treebank
from karat.realize.written_fields import MISSING

_DIGIT = re.compile(r"\d")


def learn_lemmas(treebank: Treebank) -> dict[str, str]:
    """Return form -> its most frequent lemma, both in lower case, where the two differ."""
    times = Counter(
        (word.lower(), lemma.lower())
        for word, lemma in zip(treebank.words, treebank.lemmas, strict=True)
        if lemma not in ("", MISSING)
    )
    found: dict[str, str] = {}
    for (word, lemma), _ in sorted(times.items(), key=lambda one: (-one[1], one[0])):
        found.setdefault(word, lemma)
    return {word: lemma for word, lemma in sorted(found.items()) if word != lemma}


def lemma(word: str, lemmas: Mapping[str, str]) -> str:
    """Return the lemma of a form; of an unknown one the form, every digit a 0."""
    return lemmas.get(word) or _DIGIT.sub("0", word)
