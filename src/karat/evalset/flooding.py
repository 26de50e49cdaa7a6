"""Flooded answers, as in the second evaluation of question answering (Soricut and Brill 2004, 4.3).

Two long sentences of other answers are appended to correct answers of some systems, and their
ratings are lowered: this simulates judgements by a guideline that penalizes irrelevant text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.judgements import Dimension
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet, check_known
from karat.results import Result

PLACES = (1, 2, 3, 6)
"""The ranks of the systems that the paper floods."""
LONG = 12
"""The least words of a sentence that is used for flooding."""
_ENDS = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Flood:
    """The settings of flooding."""

    dimension: str
    systems: tuple[str, ...] = ()
    """Systems to flood. Default: those at ranks 1, 2, 3 and 6 by the dimension."""
    correct: float | None = None
    """Lowest rating of a correct answer. Default: the middle of the dimension's scale."""
    share: float = 2 / 3
    """Share of the correct answers that are flooded."""
    downgrade: float = 0.5
    """Factor of a flooded answer's rating, measured from the lower end of the scale."""
    sentences: int = 2
    seed: int = 12345

    def __post_init__(self) -> None:
        for name in ("share", "downgrade"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)}: expected 0 to 1")
        if self.sentences < 1:
            raise InputError(f"sentences={self.sentences}: expected at least 1")
        if self.correct is not None and not math.isfinite(self.correct):
            raise InputError(
                f"correct={self.correct}: expected a finite number, the lowest rating of a correct "
                "answer"
            )


class FloodedAnswer(NamedTuple):
    """A flooded answer."""

    system: str
    segment: str


@dataclass(frozen=True, repr=False)
class FloodedSet(Result):
    """A set with flooded answers, and the list of them."""

    evalset: EvalSet
    systems: tuple[str, ...]
    rows: tuple[FloodedAnswer, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    signature: str = ""


def flood(evalset: SetSource, settings: Flood) -> FloodedSet:
    """Return a set in which sentences of other answers are appended to correct answers.

    Args:
        evalset: a set with ratings, its name or path, the path of a table, or a frame.
        settings: settings, such as the dimension and the share of answers.
    """
    evalset = as_evalset(evalset)
    evalset.check_texts()
    human = evalset.human(settings.dimension)
    dimension = evalset.dimensions[settings.dimension]
    if dimension.better == "lower":
        raise InputError(
            f"{settings.dimension}: flooding needs a dimension in which higher is better"
        )
    chosen = settings.systems or _systems_at_ranks(evalset, human)
    check_known("system", chosen, evalset.systems, evalset.name)
    if not chosen:
        raise InputError(
            f"{evalset.name}: {settings.dimension} has no judgements, so no answer is correct"
        )
    lowest_correct, reason = _lowest_correct(evalset, dimension, settings.correct)
    settings = replace(settings, correct=lowest_correct)
    rng = np.random.default_rng(settings.seed)
    names = list(evalset.systems)
    outputs = {name: list(texts) for name, texts in evalset.systems.items()}
    is_flooded = np.zeros(human.shape, dtype=bool)
    pool = dict.fromkeys(  # the long sentences of all outputs, each with its segment, each once
        (place, sentence)
        for texts in evalset.systems.values()
        for place, text in enumerate(texts)
        for sentence in _ENDS.split(text or "")
        if len(sentence.split()) >= LONG
    )
    for name in chosen:
        row = names.index(name)
        has_output = np.array([text is not None for text in outputs[name]])
        right = np.flatnonzero(has_output & (human[row] >= lowest_correct))
        count = round(settings.share * len(right))
        for place in sorted(rng.permutation(right)[:count].tolist()):
            is_flooded[row, place] = True
            groups = evalset.groups or evalset.segments
            far = [sentence for at, sentence in pool if groups[at] != groups[place]]
            if len(far) < settings.sentences:
                finding = f"{len(far)} sentences of {LONG} words or more outside segment"
                requirement = f"flooding needs {settings.sentences}"
                raise InputError(
                    f"{evalset.name} has {finding} {evalset.segments[place]}: {requirement}"
                )
            chosen_sentences = rng.choice(len(far), size=settings.sentences, replace=False)
            more = [far[k] for k in chosen_sentences]
            outputs[name][place] = " ".join([outputs[name][place] or "", *more]).strip()
    places = zip(*np.nonzero(is_flooded), strict=True)
    rows = tuple(FloodedAnswer(names[i], evalset.segments[j]) for i, j in places)
    threshold = f"{settings.dimension} {lowest_correct:g}{reason}"
    note = f"Answers count as correct at or above {threshold}."
    flooded = _replace_outputs(evalset, outputs, is_flooded, settings)
    return FloodedSet(flooded, tuple(chosen), rows, asdict(settings), (note, *evalset.remarks))


def _lowest_correct(
    evalset: EvalSet, dimension: Dimension, chosen: float | None
) -> tuple[float, str]:
    """Return the lowest rating of a correct answer, and the reason for a default."""
    if chosen is not None:
        if dimension.high is not None and chosen > dimension.high:
            raise InputError(
                f"correct={chosen:g}: no answer can be correct, because the scale of "
                f"{dimension.name} ends at {dimension.high:g}"
            )
        return chosen, ""
    if dimension.low is None or dimension.high is None:
        raise InputError(
            f"{evalset.name}: {dimension.name} has no stated scale, so its middle is unknown; set "
            "the lowest rating of a correct answer (--correct X)"
        )
    scale = f", the middle of its scale, {dimension.low:g} to {dimension.high:g}"
    return (dimension.low + dimension.high) / 2, scale


def _systems_at_ranks(evalset: EvalSet, human: Floats) -> tuple[str, ...]:
    """Return the systems at the paper's ranks, by their mean rating; the first of equals."""
    n_judged = (~np.isnan(human)).sum(axis=1)
    means = np.where(n_judged > 0, np.nansum(human, axis=1) / np.maximum(n_judged, 1), -np.inf)
    order = np.argsort(-means, kind="stable")[: int((n_judged > 0).sum())]
    names = list(evalset.systems)
    return tuple(names[order[place - 1]] for place in PLACES if place <= len(order))


def _replace_outputs(
    evalset: EvalSet, outputs: dict[str, list[str | None]], is_flooded: Flags, settings: Flood
) -> EvalSet:
    """Return the set with the flooded outputs and lower ratings."""
    rows = evalset.judgements
    in_dimension = rows.dimension == rows.dimensions.index(settings.dimension)
    lowered = in_dimension & is_flooded[rows.system, rows.segment]
    low = evalset.dimensions[settings.dimension].low or 0.0
    if (rows.value[lowered] < low).any():
        problem = f"a rating below {low:g} cannot be lowered"
        raise InputError(
            f"{settings.dimension}: {problem}: set the lower end of the dimension's scale"
        )
    values = np.where(lowered, low + settings.downgrade * (rows.value - low), rows.value)
    return replace(
        evalset,
        name=f"{evalset.name}-flooded",
        systems={name: tuple(texts) for name, texts in outputs.items()},
        judgements=replace(rows, value=values),
    )
