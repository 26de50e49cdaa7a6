"""Judgements of a set as scores of its outputs: the mean of people, or the values of one judge.

`DIMENSION` names the mean of people, or of models if only models judged the dimension;
`DIMENSION/JUDGE` names the values of one judge of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores
from karat.evalset.sets import EvalSet
from karat.settings import nearest


class JudgedName(NamedTuple):
    """The name of scores that come from judgements."""

    dimension: str
    judge: str | None = None
    """None for the mean of the judges."""


def parse_judged_name(evalset: EvalSet, name: str) -> JudgedName | None:
    """Return the dimension, or the dimension and the judge, with this name; None if there is none.

    A dimension before a slash must be followed by the name of one of its judges.
    """
    if name in evalset.dimensions:
        return JudgedName(name)
    parts = name.split("/")
    pairs = [("/".join(parts[:k]), "/".join(parts[k:])) for k in range(1, len(parts))]
    pairs = [(dimension, judge) for dimension, judge in pairs if dimension in evalset.dimensions]
    matches = [JudgedName(*pair) for pair in pairs if pair[1] in judges_of(evalset, pair[0])]
    if len(matches) > 1:
        readings = " or ".join(f"judge {quoted(m.judge)} of {quoted(m.dimension)}" for m in matches)
        raise InputError(f"{evalset.name}: {quoted(name)} may be {readings}: rename one of them")
    if pairs and not matches:
        dimension, judge = pairs[0]
        existing = judges_of(evalset, dimension)
        has = f"it has {short(', '.join(existing) or 'none')}{nearest(judge, existing)}"
        raise InputError(f"{evalset.name}: {short(dimension)} has no judge {quoted(judge)}; {has}")
    return matches[0] if matches else None


def judges_of(evalset: EvalSet, dimension: str) -> tuple[str, ...]:
    """Return the judges of a dimension, people and models."""
    return evalset.judgements.select_dimension(dimension).judges


def judges_behind(evalset: EvalSet, dimension: str) -> frozenset[str]:
    """Return the judges whose values are behind `EvalSet.human`; identical judges count as one."""
    used = evalset.ratings(dimension).judges
    counted_as = evalset.representatives(dimension)
    return frozenset(judge for judge, first in counted_as.items() if first in used)


def has_human_scores(evalset: EvalSet, dimension: str) -> bool:
    """Return whether people judged any output in a dimension."""
    return len(evalset.judgements.select_dimension(dimension).without_models()) > 0


def judged_scores(evalset: EvalSet, name: JudgedName) -> GivenScores:
    """Return judgements as scores, on the scale of the dimension; unjudged outputs have none."""
    dimension, scale = name.dimension, evalset.dimensions[name.dimension]
    if name.judge is not None:
        values, judges = evalset.rated_by(name.judge, dimension), frozenset([name.judge])
    elif has_human_scores(evalset, dimension):
        values, judges = evalset.human(dimension), judges_behind(evalset, dimension)
    else:
        judges = frozenset(judges_of(evalset, dimension))
        values = evalset.human(dimension, judges=judges_of(evalset, dimension))
    unsigned = scale.sign * values + 0.0  # no negative zeros
    by_id = {}
    for system, row in zip(evalset.systems, unsigned, strict=True):
        judged = np.flatnonzero(~np.isnan(row)).tolist()
        if judged:
            by_id[system] = {evalset.segments[i]: float(row[i]) for i in judged}
    source = dimension if name.judge is None else f"{dimension} by {name.judge}"
    return GivenScores(
        f"{evalset.name}, judgements of {source}",
        by_id,
        oriented=scale.sign > 0,
        lower_is_better=scale.sign < 0,
        low=scale.low,
        high=scale.high,
        dimension=dimension,
        judges=judges,
    )


def unjudged_systems(evalset: EvalSet, dimension: str) -> list[str]:
    """Return the systems without any judgement in a dimension."""
    rows = evalset.judgements.select_dimension(dimension)
    if has_human_scores(evalset, dimension):
        rows = rows.without_models()
    judged = {rows.systems[code] for code in np.unique(rows.system).tolist()}
    return [system for system in evalset.systems if system not in judged]


def shared_judges(
    evalset: EvalSet, scores: GivenScores, dimensions: Iterable[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each dimension whose human scores share judges with judged scores, and these judges."""
    for dimension in dimensions:
        if scores.dimension in (evalset.difference(dimension) or (dimension,)):
            judges = scores.judges & judges_behind(evalset, str(scores.dimension))
            if judges:
                yield dimension, judges
