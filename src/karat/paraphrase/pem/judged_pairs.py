"""Judged paraphrases as flat rows: original, paraphrase and mean human score.

They may include the paper's three artificial systems, whose scores are fixed:

| control | adequacy | fluency | dissimilarity | overall |
|---|---|---|---|---|
| the original itself | 5 | 5 | 1 | 2 |
| a random sentence of the domain | 1 | 5 | 5 | 1 |
| a sentence drawn word by word from a unigram model | 1 | 1 | 5 | 1 |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.draft import make_evalset
from karat.evalset.judgements import Dimension, Judgement
from karat.evalset.sets import EvalSet
from karat.metrics.pairs import Outputs
from karat.settings import SEED

JUDGE = "control"
CONTROLS: dict[str, dict[str, float]] = {
    "control-identity": {"adequacy": 5, "fluency": 5, "dissimilarity": 1, "overall": 2},
    "control-random": {"adequacy": 1, "fluency": 5, "dissimilarity": 5, "overall": 1},
    "control-unigram": {"adequacy": 1, "fluency": 1, "dissimilarity": 5, "overall": 1},
}
"""Control -> its scores by dimension, on a scale of 1 to 5."""


def control_sentences(originals: Sequence[str], seed: int = SEED) -> dict[str, list[str]]:
    """Return the sentences of each control for some original sentences.

    The random sentence is another original. A unigram sentence has as many words as the original,
    drawn by their frequency in all originals.
    """
    if len(set(originals)) < 2:
        raise InputError("controls need at least two different originals: one has no other")
    rng = np.random.default_rng(seed)
    random_sentences = []
    for text in originals:
        while (other := originals[int(rng.integers(len(originals)))]) == text:
            pass
        random_sentences.append(other)
    counts = Counter(word for text in originals for word in text.split())
    words, share = list(counts), np.array(list(counts.values())) / counts.total()
    unigram_sentences = [
        " ".join(words[k] for k in rng.choice(len(words), len(text.split()), p=share))
        for text in originals
    ]
    return dict(zip(CONTROLS, (list(originals), random_sentences, unigram_sentences), strict=True))


def overall_dimension(evalset: EvalSet, name: str | None = None) -> str:
    """Return the dimension of overall quality: `name`, or `overall`, or the only dimension."""
    if name is not None:
        evalset.check_dimension(name)
        return name
    if "overall" in evalset.dimensions:
        return "overall"
    if len(evalset.dimensions) == 1:
        return next(iter(evalset.dimensions))
    names = ", ".join(evalset.dimensions) or "none"
    raise InputError(
        f"{evalset.name}: which dimension is overall quality (it has {names})? Name it with "
        "--dimension"
    )


def add_controls(evalset: EvalSet, dimension: str | None = None, seed: int = SEED) -> EvalSet:
    """Return the set with the three controls as systems, judged once for each original.

    `dimension` is overall quality; scores are mapped linearly to its scale. Where several segments
    share an original, the first of them has the controls.
    """
    overall = overall_dimension(evalset, dimension)
    if evalset.sources is None:
        raise InputError(f"{evalset.name} has no sources: controls are made from the originals")
    if clashes := sorted(set(CONTROLS) & set(evalset.systems)):
        raise InputError(f"{evalset.name} has a system {clashes[0]} already")
    first = {text: i for i, text in reversed(list(enumerate(evalset.sources)))}
    originals = sorted(first, key=first.__getitem__)
    controls = control_sentences(originals, seed)
    systems: dict[str, tuple[str | None, ...]] = dict(evalset.systems)
    judgements = list(evalset.judgements)
    for name, sentences in controls.items():
        outputs: list[str | None] = [None] * len(evalset)
        scores = {**CONTROLS[name], overall: CONTROLS[name]["overall"]}
        scales = [scale for scale in evalset.dimensions.values() if scale.name in scores]
        for text, sentence in zip(originals, sentences, strict=True):
            outputs[first[text]], segment = sentence, evalset.segments[first[text]]
            for scale in scales:
                score = from_five(scores[scale.name], scale)
                judgements.append(Judgement(name, segment, JUDGE, scale.name, score))
        systems[name] = tuple(outputs)
    copied_fields = ("segments", "references", "groups", "sources", "description", "licence")
    parts: dict[str, Any] = {part: getattr(evalset, part) for part in copied_fields}
    parts |= {"judge_kinds": evalset.judgements.judge_kinds, "judgements": judgements}
    return make_evalset(evalset.name, systems, dimensions=evalset.dimensions.values(), **parts)


def to_five(value: float, dimension: Dimension) -> float:
    """Map a score from the dimension's scale to 1 to 5; keep it if the scale is unknown."""
    if dimension.low is None or dimension.high is None:
        return value
    return 1 + 4 * (value - dimension.low) / (dimension.high - dimension.low)


def from_five(value: float, dimension: Dimension) -> float:
    """Map a score from 1 to 5 to the dimension's scale."""
    if dimension.low is None or dimension.high is None:
        return value
    return dimension.low + (value - 1) / 4 * (dimension.high - dimension.low)


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Row i: `paraphrases[i]` of `originals[i]` by `systems[i]`, with human score `human[i]`."""

    evalset: EvalSet
    overall: str
    originals: list[str]
    paraphrases: list[str]
    systems: list[str]
    segments: list[str]
    human: Floats

    def __len__(self) -> int:
        return len(self.human)

    @property
    def real(self) -> Flags:
        """Rows that are not controls."""
        return np.array([system not in CONTROLS for system in self.systems], dtype=np.bool_)

    @property
    def outputs(self) -> Outputs:
        """The system and the segment of each row."""
        names = list(dict.fromkeys(self.systems))
        number = {name: i for i, name in enumerate(names)}
        codes = np.array([number[name] for name in self.systems], np.int32)
        return Outputs(names, codes, lambda: self.segments, count=len(self))

    def select(self, rows: Flags) -> JudgedPairs:
        """Return some of the rows."""
        row_indices = rows.nonzero()[0].tolist()
        lists = ("originals", "paraphrases", "systems", "segments")
        fields: dict[str, Any] = {n: [getattr(self, n)[i] for i in row_indices] for n in lists}
        return replace(self, human=self.human[rows], **fields)

    def first_originals(self, n_originals: int) -> Flags:
        """Return which rows belong to the first originals, in the order of the set."""
        sources, judged = dict.fromkeys(self.evalset.sources or ()), set(self.originals)
        ordered_originals = [text for text in sources if text in judged]
        count = len(ordered_originals)
        if not 2 <= n_originals < count:
            raise InputError(
                f"train_first={n_originals}: {self.evalset.name} has {count:,} judged originals, "
                f"of which 2 to {count - 1:,} can be trained on"
            )
        first = set(ordered_originals[:n_originals])
        return np.array([text in first for text in self.originals], dtype=np.bool_)

    def values(self, dimension: str, judges: Sequence[str] | None = None) -> Floats:
        """Return the mean scores in a dimension, by all judges or some; NaN if missing."""
        matrix = self.evalset.human(dimension, judges=judges)
        system = {name: i for i, name in enumerate(self.evalset.systems)}
        segment = {name: i for i, name in enumerate(self.evalset.segments)}
        indices = [system[name] for name in self.systems], [segment[name] for name in self.segments]
        scale = self.evalset.dimensions[dimension]
        return np.array([to_five(value, scale) for value in matrix[indices].tolist()])


def judged_rows(
    evalset: EvalSet, dimension: str | None = None, *, controls: bool = False
) -> JudgedPairs:
    """Return all outputs of a set that have a score, system by system.

    `dimension` is overall quality; `controls` adds the paper's three artificial systems.
    """
    overall = overall_dimension(evalset, dimension)
    if controls:
        evalset = add_controls(evalset, overall)
    if evalset.sources is None:
        raise InputError(
            f"{evalset.name} has no sources: the original of a paraphrase is the source of its "
            "segment"
        )
    scale, matrix = evalset.dimensions[overall], evalset.human(overall)
    rows = [
        (evalset.sources[i], text, name, evalset.segments[i], to_five(matrix[s, i], scale))
        for s, (name, outputs) in enumerate(evalset.systems.items())
        for i, text in enumerate(outputs)
        if text is not None and not np.isnan(matrix[s, i])
    ]
    if not rows:
        raise InputError(f"{evalset.name}: no paraphrase has a score of {overall}")
    originals, paraphrases, systems, segments, human = map(list, zip(*rows, strict=True))
    texts = originals, paraphrases
    return JudgedPairs(evalset, overall, *texts, systems, segments, np.array(human))
