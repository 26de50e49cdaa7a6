"""Learners of all models of word alignment."""

from __future__ import annotations

from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.fertility_learner import FertilityLearner
from karat.paraphrase.align.hmm_learner import HmmLearner
from karat.paraphrase.align.stored_tokens import Words

Learner = FertilityLearner | HmmLearner

_LEARNERS: dict[str, type[FertilityLearner] | type[HmmLearner]] = {
    "fertility": FertilityLearner,
    "hmm": HmmLearner,
}


def learner_of(source: Words, pivot: Words, how: Aligner) -> Learner:
    """Return the learner of the model that the settings name."""
    return _LEARNERS[how.model](source, pivot, how)


def shortened(words: Words, prefix: int) -> Words:
    """Return a text with the first characters of its words alone (0: with whole words)."""
    return words.map(lambda word: word[:prefix]) if prefix else words
