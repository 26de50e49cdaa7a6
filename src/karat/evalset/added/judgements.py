"""Judgements that are added to a set: ratings, and comparisons of two outputs.

Comparisons become ratings. Their value is 1 if `system` is better, 0 if `other` is, and 0.5 for a
tie. The rating of an output is the share of comparisons that it won, ties as half: the mean over
the systems that a judge compared it with.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from karat.errors import InputError, quoted, short
from karat.evalset.added.judgement_files import GivenJudgement, read_judgements
from karat.evalset.draft import EvalSetDraft, numbered_rows
from karat.evalset.draws import Draw, checked_draws, read_draws
from karat.evalset.judge_kinds import MODEL
from karat.evalset.judgements import Dimension, Judgement
from karat.evalset.reading import Reading, Where, number
from karat.evalset.sets import EvalSet, check_known

GivenFile: TypeAlias = str | os.PathLike[str]
_Key: TypeAlias = tuple[str, ...]


class Additions(NamedTuple):
    """Files that are added to a set, and names of judges that are models."""

    judgements: Sequence[GivenFile] = ()
    model_judges: Sequence[str] = ()
    draws: GivenFile | None = None

    def to(self, evalset: EvalSet, reading: Reading) -> EvalSet:
        """Return the set with the additions; what is wrong with them is noted and raised."""
        found = evalset
        if self.judgements:
            adding = _Adding(evalset, reading)
            for file in self.judgements:
                adding.take(*read_judgements(Path(file), reading), Path(file))
            found = adding.finish()
        found = _with_models(found, self.model_judges)
        return found if self.draws is None else _with_draws(found, Path(self.draws), reading)


NOTHING = Additions()


def with_judgements(
    evalset: EvalSet,
    judgements: GivenFile | Iterable[Judgement | tuple[str, str, str, str, float]],
    judge_kinds: Mapping[str, str],
    dimensions: Iterable[Dimension | str],
) -> EvalSet:
    """Return a set with further judgements; `EvalSet.with_judgements` describes the arguments."""
    adding = _Adding(evalset, Reading())
    named = [Dimension(one) if isinstance(one, str) else one for one in dimensions]
    adding.take([], named, f"{evalset.name}, dimensions")
    if isinstance(judgements, str | os.PathLike):
        adding.take(*read_judgements(Path(judgements), adding.reading), Path(judgements))
    else:
        numbered = numbered_rows(judgements, f"{evalset.name}, judgements")
        adding.take([GivenJudgement(where, *row) for where, row in numbered], (), "")
    adding.kinds += [
        (judge, kind, f"{evalset.name}, judge_kinds") for judge, kind in judge_kinds.items()
    ]
    found = adding.finish()
    check_known("judge", judge_kinds, found.judgements.judges, evalset.name)
    return found


class _Adding:
    """Takes judgements of files, notes what is wrong with them, and adds them to a set."""

    def __init__(self, evalset: EvalSet, reading: Reading) -> None:
        self.evalset, self.reading = evalset, reading
        self.dimensions = dict(evalset.dimensions)
        self.rows: list[GivenJudgement] = []
        self.kinds: list[tuple[str, str, Where]] = []
        self.created: list[str] = []

    def take(
        self, rows: Sequence[GivenJudgement], dimensions: Iterable[Dimension], where: Where
    ) -> None:
        """Take the judgements of a file, and the dimensions that it describes."""
        for one in dimensions:
            known = self.dimensions.setdefault(one.name, one)
            if told := _differs(known, one):
                self.reading.problem(where, told)
        for row in rows:
            if row.dimension in self.dimensions or self._creates(row):
                self.rows.append(row)

    def _creates(self, row: GivenJudgement) -> bool:
        """Add a dimension that nothing describes; return whether it can be one."""
        scale = (0.0, 1.0) if row.other else (None, None)
        good = self.reading.check_name("dimension", row.dimension, row.place)
        if good:
            self.dimensions[row.dimension] = Dimension(row.dimension, "higher", *scale)
            self.created.append(row.dimension)
        return good

    def finish(self) -> EvalSet:
        """Return the set with all that was added."""
        own = self.evalset
        draft = EvalSetDraft(
            own.name,
            own.segments,
            own.systems,
            reading=self.reading,
            where=own.name,
            groups=own.groups,
            dimensions=self.dimensions.values(),
        )
        for judge, kind in own.judgements.judge_kinds.items():
            draft.kind(judge, kind, own.name)
        plain = [row for row in self.rows if not row.other]
        for row in self._new([*plain, *self._shares()]):
            draft.judge(*row[1:6], row.place)
        said = [(row.judge, row.kind, row.place) for row in self.rows if row.kind]
        for judge, kind, where in [*said, *self.kinds]:
            draft.kind(judge, kind, where)
        joined = own.judgements.joined(draft.finish().judgements)
        told = (f"dimension {short(name)} was added: higher is better" for name in self.created)
        remarks = (*own.remarks, *told, *self._compared())
        return replace(own, judgements=joined, dimensions=self.dimensions, remarks=remarks)

    def _compared(self) -> Iterable[str]:
        """Yield a remark on every dimension in which people compared outputs."""
        people = [row.dimension for row in self.rows if row.other and row.kind != MODEL]
        for name in dict.fromkeys(people):
            yield (
                f"Warning: {short(name)} is the share of comparisons won. It depends on the pairs "
                "that were compared, and intervals do not allow for pairs that nobody compared."
            )

    def _new(self, rows: Sequence[GivenJudgement]) -> Iterable[GivenJudgement]:
        """Yield the judgements that are not there already; one with another value is noted."""
        mine = self.evalset.judgements.of_judges({row.judge for row in rows})
        seen: dict[_Key, tuple[object, Where]] = {
            row[:-1]: (row.value, self.evalset.name) for row in mine
        }
        for row in rows:
            value, first = seen.setdefault(row[1:5], (row.value, row.place))
            if first is row.place:
                yield row
            elif number(value) != number(row.value):
                self.reading.problem(row.place, _other_value(row, value, first))

    def _shares(self) -> Iterable[GivenJudgement]:
        """Yield the share of comparisons that each output won, at the place of the first."""
        seen: dict[_Key, tuple[float, Where]] = {}
        won: dict[_Key, dict[str, list[float]]] = {}
        first: dict[_Key, GivenJudgement] = {}
        for row in filter(lambda row: row.other, self.rows):
            value = number(row.value)
            if told := _no_comparison(row, value, self.dimensions[row.dimension]):
                self.reading.problem(row.place, told)
            if told or value is None:
                continue
            before, place = seen.setdefault((*row[1:5], row.other), (value, row.place))
            if place is not row.place:
                if before != value:
                    self.reading.problem(row.place, _other_value(row, before, place))
                continue
            turned = row._replace(system=row.other, other=row.system, value=1 - value)
            for one, result in ((row, value), (turned, 1 - value)):
                first.setdefault(one[1:5], one)
                won.setdefault(one[1:5], {}).setdefault(one.other, []).append(result)
        for key, others in won.items():
            means = [sum(values) / len(values) for values in others.values()]
            yield first[key]._replace(value=sum(means) / len(means), other="")


def _differs(known: Dimension, given: Dimension) -> str:
    """Return why a dimension cannot be the one that is known; "" if it can."""
    for name in ("better", "low", "high"):
        mine, theirs = getattr(known, name), getattr(given, name)
        if None not in (mine, theirs) and mine != theirs:
            told = f"{name}={theirs} here and {name}={mine} before: expected the same"
            return f"dimension {short(given.name)} has {told}"
    return ""


def _no_comparison(row: GivenJudgement, value: float | None, dimension: Dimension) -> str:
    """Return why a row is no comparison of two outputs; "" if it is one."""
    if row.system == row.other:
        return f"a comparison of system {quoted(row.system)} with itself"
    if value is None or not 0 <= value <= 1:
        return f"found the value {quoted(row.value)} of a comparison, expected 0 to 1"
    if dimension.sign < 0 or dimension.off_scale(0) or dimension.off_scale(1):
        told = f"a comparison under dimension {short(row.dimension)}, which is one of ratings"
        return f"{told}: expected a scale from 0 to 1, higher is better; use another dimension"
    return ""


def _other_value(row: GivenJudgement, value: object, first: Where) -> str:
    what = f"{short(row.dimension)} of system {quoted(row.system)} on segment {quoted(row.segment)}"
    return f"judge {quoted(row.judge)} gave {what} {row.value} here and {value} before ({first})"


def _with_models(evalset: EvalSet, models: Sequence[str]) -> EvalSet:
    """Return the set in which some judges are models."""
    rows, named = evalset.judgements, dict.fromkeys(models)
    if not named:
        return evalset
    check_known("judge", named, rows.judges, evalset.name)
    for judge in named:
        if (kind := rows.judge_kinds.get(judge, MODEL)) != MODEL:
            told = f"judge {quoted(judge)} is named as a model, but is of the kind {kind}"
            raise InputError(f"{evalset.name}: {told} in the judgements")
    pairs = zip(rows.judges, rows.kinds, strict=True)
    kinds = tuple(MODEL if judge in named else kind for judge, kind in pairs)
    return replace(evalset, judgements=replace(rows, kinds=kinds))


def _with_draws(evalset: EvalSet, path: Path, reading: Reading) -> EvalSet:
    """Return the set with the draws of a file beside its own.

    The file may repeat draws of the set, as a plan for the next round does; their reasons may
    differ.
    """
    given = list(read_draws(path, reading))
    again = {_key(draw) for _, draw in given}
    own = [(evalset.name, draw) for draw in evalset.draws or () if _key(draw) not in again]
    draws = checked_draws([*own, *given], evalset.segments, evalset.groups, reading)
    reading.check()
    return replace(evalset, draws=draws)


def _key(draw: Draw) -> tuple[object, ...]:
    return draw.unit, draw.of, draw.round, draw.probability
