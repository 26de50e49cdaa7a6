"""Judged paraphrases as flat rows: original, paraphrase and what the judges gave on average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.sets import EvalSet
from karat.paraphrase.pem.controls import CONTROLS, add_controls, overall_dimension, to_five


@dataclass(frozen=True, eq=False)
class Judged:
    """Row i: `paraphrases[i]` of `originals[i]` by `systems[i]`, worth `human[i]` from 1 to 5."""

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
        """The rows that are no controls."""
        return np.array([system not in CONTROLS for system in self.systems], dtype=np.bool_)

    def values(self, dimension: str, judges: Sequence[str] | None = None) -> Floats:
        """Return the mean scores in another dimension, or by some judges; NaN if not given."""
        matrix = self.evalset.human(dimension, judges=judges)
        system = {name: i for i, name in enumerate(self.evalset.systems)}
        segment = {name: i for i, name in enumerate(self.evalset.segments)}
        at = [system[name] for name in self.systems], [segment[name] for name in self.segments]
        scale = self.evalset.dimensions[dimension]
        return np.array([to_five(value, scale) for value in matrix[at].tolist()])


def judged_rows(
    evalset: EvalSet, dimension: str | None = None, *, controls: bool = False
) -> Judged:
    """Return all outputs of a set that have a score, system by system.

    `dimension` is overall quality; `controls` adds the paper's three artificial systems.
    """
    overall = overall_dimension(evalset, dimension)
    if controls:
        evalset = add_controls(evalset, overall)
    if evalset.sources is None:
        raise InputError(
            f"{evalset.name} has no sources: a paraphrase is judged beside its original, which the "
            "set gives as the source of the segment"
        )
    scale, matrix = evalset.dimensions[overall], evalset.human(overall)
    known = [
        (s, i)
        for s, outputs in enumerate(evalset.systems.values())
        for i, text in enumerate(outputs)
        if text is not None and not np.isnan(matrix[s, i])
    ]
    if not known:
        raise InputError(f"{evalset.name}: no paraphrase has a score of {overall}")
    names, texts = list(evalset.systems), list(evalset.systems.values())
    return Judged(
        evalset,
        overall,
        originals=[evalset.sources[i] for _, i in known],
        paraphrases=[texts[s][i] or "" for s, i in known],
        systems=[names[s] for s, _ in known],
        segments=[evalset.segments[i] for _, i in known],
        human=np.array([to_five(matrix[s, i], scale) for s, i in known]),
    )
