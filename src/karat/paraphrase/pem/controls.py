"""The paper's three artificial systems, whose scores are known without judges.

| control | adequacy | fluency | dissimilarity | overall |
|---|---|---|---|---|
| the original itself | 5 | 5 | 1 | 2 |
| a random sentence of the domain | 1 | 5 | 5 | 1 |
| a sentence drawn word by word from a unigram model | 1 | 1 | 5 | 1 |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from karat.errors import InputError
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension, Judgement
from karat.evalset.sets import EvalSet

JUDGE = "control"
SEED = 12345
CONTROLS: dict[str, dict[str, float]] = {
    "control-identity": {"adequacy": 5, "fluency": 5, "dissimilarity": 1, "overall": 2},
    "control-random": {"adequacy": 1, "fluency": 5, "dissimilarity": 5, "overall": 1},
    "control-unigram": {"adequacy": 1, "fluency": 1, "dissimilarity": 5, "overall": 1},
}
"""Name -> what judges would give, on a scale of 1 to 5."""


def control_sentences(originals: Sequence[str], seed: int = SEED) -> dict[str, list[str]]:
    """The controls of different original sentences.

    The random sentence is another of them; the words of the unigram sentence are drawn by their
    frequency in all, as many as the original has.
    """
    if len(set(originals)) < 2:
        raise InputError("controls need at least two different originals: one has no other")
    rng = np.random.default_rng(seed)
    others = [_another(originals, i, rng) for i in range(len(originals))]
    counts = Counter(word for text in originals for word in text.split())
    words, share = list(counts), np.array(list(counts.values())) / counts.total()
    drawn = [
        " ".join(words[k] for k in rng.choice(len(words), len(text.split()), p=share))
        for text in originals
    ]
    return dict(zip(CONTROLS, (list(originals), others, drawn), strict=True))


def _another(originals: Sequence[str], i: int, rng: np.random.Generator) -> str:
    while True:
        other = originals[int(rng.integers(len(originals)))]
        if other != originals[i]:
            return other


def add_controls(evalset: EvalSet, overall: str, seed: int = SEED) -> EvalSet:
    """The set with three more systems, judged once for each original in the dimensions known.

    `overall` is the dimension of overall quality; a scale other than 1 to 5 is mapped to linearly.
    Where several segments share an original, the first of them carries the controls.
    """
    if evalset.sources is None:
        raise InputError(f"{evalset.name} has no sources: controls are made from the originals")
    if taken := sorted(set(CONTROLS) & set(evalset.systems)):
        raise InputError(f"{evalset.name} has a system {taken[0]} already")
    evalset.check_dimension(overall)
    first = {text: i for i, text in reversed(list(enumerate(evalset.sources)))}
    originals = sorted(first, key=first.__getitem__)
    made = control_sentences(originals, seed)
    systems: dict[str, tuple[str | None, ...]] = dict(evalset.systems)
    judgements = list(evalset.judgements)
    for name, sentences in made.items():
        outputs: list[str | None] = [None] * len(evalset)
        for text, sentence in zip(originals, sentences, strict=True):
            outputs[first[text]] = sentence
            segment = evalset.segments[first[text]]
            judgements += _fixed(evalset, name, segment, overall)
        systems[name] = tuple(outputs)
    return make_evalset(
        evalset.name,
        systems,
        segments=evalset.segments,
        references=evalset.references,
        groups=evalset.groups,
        sources=evalset.sources,
        dimensions=evalset.dimensions.values(),
        judgements=judgements,
        description=evalset.description,
        licence=evalset.licence,
    )


def _fixed(evalset: EvalSet, control: str, segment: str, overall: str) -> list[Judgement]:
    """What a judge would give a control, in each dimension that the set has."""
    scores = {**CONTROLS[control], overall: CONTROLS[control]["overall"]}
    return [
        Judgement(control, segment, JUDGE, name, from_five(scores[name], dimension))
        for name, dimension in evalset.dimensions.items()
        if name in scores
    ]


def to_five(value: float, dimension: Dimension) -> float:
    """A score on the dimension's scale as one from 1 to 5; as it is if the scale is not known."""
    if dimension.low is None or dimension.high is None:
        return value
    return 1 + 4 * (value - dimension.low) / (dimension.high - dimension.low)


def from_five(value: float, dimension: Dimension) -> float:
    """The inverse of `to_five`."""
    if dimension.low is None or dimension.high is None:
        return value
    return dimension.low + (value - 1) / 4 * (dimension.high - dimension.low)
