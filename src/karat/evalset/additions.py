"""Files of judgements that are added to a set: JSON lines, such as the log of a model, or a table.

    {"judgements": "NAME", "dimensions": [{"name": "fluency", "low": 1, "high": 5}], "signature": …}
    {"system": "A", "segment": "1", "judge": "m", "dimension": "fluency", "value": 4, "kind": …}
    {"segment": "1", "system": "A", "other": "B", "judge": "m", "dimension": "quality", "value": 1}

The first kind of object, if there is one, stands in the first line. `kind` and `evidence` may be
there; `evidence` is a text that is not kept. `other` makes a comparison of two outputs. A table has
tab-separated columns as `human.tsv`, and perhaps `other`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath, first_line, json_object
from karat.evalset.draft import EvalSetDraft, numbered_rows
from karat.evalset.draws import Draw, checked_draws, read_draws
from karat.evalset.formats.jsonl import (
    JUDGEMENT,
    checked,
    json_dimensions,
    no_judgement,
)
from karat.evalset.judgements import (
    MODEL,
    Dimension,
    JudgedPair,
    Judgement,
    checked_pairs,
    other_value,
    win_shares,
    without_shares,
)
from karat.evalset.reading import Reading, Where, json_rows, number, tab_rows
from karat.evalset.sets import EvalSet, check_known

HEADER = ("judgements", "dimensions", "signature")


class GivenJudgement(NamedTuple):
    """A judgement as it was given, and where."""

    place: Where
    system: str
    segment: str
    judge: str
    dimension: str
    value: object
    kind: str = ""
    other: str = ""
    """The system that the output was compared with; "" for a rating."""


Found = tuple[list[GivenJudgement], list[Dimension]]


def read_judgements(path: Path, reading: Reading) -> Found:
    """Return the judgements of a file, and the dimensions that it describes."""
    try:
        lines = first_line(path).startswith("{")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if lines:
        return _json(path, reading)
    rows = tab_rows(path, JUDGEMENT, reading, True, ("kind", "other"))
    return [GivenJudgement(place, *row) for place, row in rows], []


def has_ratings(path: GivenPath) -> bool:
    """Return whether a file is one of judgements of an evaluation set, by its first line.

    So is a table whose first line is no header: the reader says what is wrong.
    """
    try:
        line = first_line(Path(path))
    except (OSError, InputError):  # the reader says what is wrong
        return True
    found = json_object(line) if line.startswith("{") else line.split("\t")
    return "judgements" in found or {"system", "segment"} <= {*found} or "question" not in found


def _json(path: Path, reading: Reading) -> Found:
    rows: list[GivenJudgement] = []
    dimensions: list[Dimension] = []
    for place, found in json_rows(path, reading):
        if "judgements" in found and place.line == 1:
            dimensions += json_dimensions(checked(found, HEADER, place, reading), place, reading)
        elif problem := no_judgement(found):
            reading.problem(place, problem)
        else:
            more = (found.get(name, "") for name in ("kind", "other"))
            rows.append(GivenJudgement(place, *(found[key] for key in JUDGEMENT), *more))
    return rows, dimensions


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
        self.ratings = without_shares(evalset.judgements, evalset.pairs)
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
        pairs = [*self._pairs()]
        shares = (GivenJudgement(where, *row) for where, row in win_shares(pairs))
        plain = [row for row in self.rows if not row.other]
        for row in self._new([*plain, *shares]):
            draft.judge(*row[1:6], row.place)
        said = [(row.judge, row.kind, row.place) for row in self.rows if row.kind]
        for judge, kind, where in [*said, *self.kinds]:
            draft.kind(judge, kind, where)
        joined = self.ratings.joined(draft.finish().judgements)
        told = (f"dimension {short(name)} was added: higher is better" for name in self.created)
        return replace(
            own,
            judgements=joined,
            dimensions=self.dimensions,
            remarks=(*own.remarks, *told),
            pairs=tuple(pair for _, pair in pairs),
        )

    def _pairs(self) -> Iterable[tuple[Where, JudgedPair]]:
        """Return the pairs of the set and those that were added."""
        old = [(self.evalset.name, pair) for pair in self.evalset.pairs]
        new = [(row.place, (*row[1:6], row.other)) for row in self.rows if row.other]
        return checked_pairs([*old, *new], self.dimensions, self.reading)

    def _new(self, rows: Sequence[GivenJudgement]) -> Iterable[GivenJudgement]:
        """Yield the judgements that are not there already; one with another value is noted."""
        mine = self.ratings.of_judges({row.judge for row in rows})
        seen: dict[_Key, tuple[object, Where]] = {
            row[:-1]: (row.value, self.evalset.name) for row in mine
        }
        for row in rows:
            value, first = seen.setdefault(row[1:5], (row.value, row.place))
            if first is row.place:
                yield row
            elif number(value) != number(row.value):
                self.reading.problem(row.place, other_value(row, row.value, value, first))


def _differs(known: Dimension, given: Dimension) -> str:
    """Return why a dimension cannot be the one that is known; "" if it can."""
    for name in ("better", "low", "high"):
        mine, theirs = getattr(known, name), getattr(given, name)
        if None not in (mine, theirs) and mine != theirs:
            told = f"{name}={theirs} here and {name}={mine} before: expected the same"
            return f"dimension {short(given.name)} has {told}"
    return ""


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
