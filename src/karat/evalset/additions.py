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
from karat.evalset.draft import EvalSetDraft, number_rows
from karat.evalset.draws import Draw, check_set_draws, read_draws
from karat.evalset.formats.jsonl import (
    JUDGEMENT,
    check_members,
    json_dimensions,
    judgement_problem,
)
from karat.evalset.judgements import (
    MODEL,
    Dimension,
    JudgedPair,
    Judgement,
    check_pairs,
    conflict_problem,
    drop_shares,
    win_shares,
)
from karat.evalset.reading import Location, Reading, parse_number, read_json_lines, read_tsv
from karat.evalset.sets import EvalSet, check_known

HEADER = ("judgements", "dimensions", "signature")


class GivenJudgement(NamedTuple):
    """A judgement as it was given, and where."""

    location: Location
    system: str
    segment: str
    judge: str
    dimension: str
    value: object
    kind: str = ""
    other: str = ""
    """The system that the output was compared with; "" for a rating."""


JudgementFile = tuple[list[GivenJudgement], list[Dimension]]


def read_judgements(path: Path, reading: Reading) -> JudgementFile:
    """Return the judgements of a file, and the dimensions that it describes."""
    try:
        lines = first_line(path).startswith("{")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if lines:
        return _json(path, reading)
    rows = read_tsv(path, JUDGEMENT, reading, True, ("kind", "other"))
    return [GivenJudgement(location, *row) for location, row in rows], []


def has_ratings(path: GivenPath) -> bool:
    """Return whether a file is one of judgements of an evaluation set, by its first line.

    So is a table whose first line is no header: the reader says what is wrong.
    """
    try:
        line = first_line(Path(path))
    except (OSError, InputError):  # the reader says what is wrong
        return True
    columns = json_object(line) if line.startswith("{") else line.split("\t")
    return (
        "judgements" in columns or {"system", "segment"} <= {*columns} or "question" not in columns
    )


def _json(path: Path, reading: Reading) -> JudgementFile:
    rows: list[GivenJudgement] = []
    dimensions: list[Dimension] = []
    for location, record in read_json_lines(path, reading):
        if "judgements" in record and location.line == 1:
            dimensions += json_dimensions(
                check_members(record, HEADER, location, reading), location, reading
            )
        elif problem := judgement_problem(record):
            reading.problem(location, problem)
        else:
            more = (record.get(name, "") for name in ("kind", "other"))
            rows.append(GivenJudgement(location, *(record[key] for key in JUDGEMENT), *more))
    return rows, dimensions


GivenFile: TypeAlias = str | os.PathLike[str]
_Key: TypeAlias = tuple[str, ...]


class Additions(NamedTuple):
    """Files that are added to a set, and names of judges that are models."""

    judgements: Sequence[GivenFile] = ()
    model_judges: Sequence[str] = ()
    draws: GivenFile | None = None

    def add_to(self, evalset: EvalSet, reading: Reading) -> EvalSet:
        """Return the set with the additions; raise the first problem."""
        extended = evalset
        if self.judgements:
            adding = _JudgementAdder(evalset, reading)
            for file in self.judgements:
                adding.take(*read_judgements(Path(file), reading), Path(file))
            extended = adding.finish()
        extended = _with_models(extended, self.model_judges)
        return extended if self.draws is None else _with_draws(extended, Path(self.draws), reading)


NOTHING = Additions()


def with_judgements(
    evalset: EvalSet,
    judgements: GivenFile | Iterable[Judgement | tuple[str, str, str, str, float]],
    judge_kinds: Mapping[str, str],
    dimensions: Iterable[Dimension | str],
) -> EvalSet:
    """Return a set with further judgements; `EvalSet.with_judgements` describes the arguments."""
    adding = _JudgementAdder(evalset, Reading())
    new_dimensions = [
        Dimension(dimension) if isinstance(dimension, str) else dimension
        for dimension in dimensions
    ]
    adding.take([], new_dimensions, f"{evalset.name}, dimensions")
    if isinstance(judgements, str | os.PathLike):
        adding.take(*read_judgements(Path(judgements), adding.reading), Path(judgements))
    else:
        numbered = number_rows(judgements, f"{evalset.name}, judgements")
        adding.take([GivenJudgement(location, *row) for location, row in numbered], (), "")
    adding.kinds += [
        (judge, kind, f"{evalset.name}, judge_kinds") for judge, kind in judge_kinds.items()
    ]
    extended = adding.finish()
    check_known("judge", judge_kinds, extended.judgements.judges, evalset.name)
    return extended


class _JudgementAdder:
    """Collects judgements from files, records problems, and adds them to a set."""

    def __init__(self, evalset: EvalSet, reading: Reading) -> None:
        self.evalset, self.reading = evalset, reading
        self.dimensions = dict(evalset.dimensions)
        self.ratings = drop_shares(evalset.judgements, evalset.pairs)
        self.rows: list[GivenJudgement] = []
        self.kinds: list[tuple[str, str, Location]] = []
        self.created: list[str] = []

    def take(
        self, rows: Sequence[GivenJudgement], dimensions: Iterable[Dimension], location: Location
    ) -> None:
        """Take the judgements of a file, and the dimensions that it describes."""
        for dimension in dimensions:
            earlier = self.dimensions.setdefault(dimension.name, dimension)
            if problem := _dimension_conflict(earlier, dimension):
                self.reading.problem(location, problem)
        for row in rows:
            if row.dimension in self.dimensions or self._creates(row):
                self.rows.append(row)

    def _creates(self, row: GivenJudgement) -> bool:
        """Add a dimension that nothing describes; return whether it can be one."""
        scale = (0.0, 1.0) if row.other else (None, None)
        good = self.reading.check_name("dimension", row.dimension, row.location)
        if good:
            self.dimensions[row.dimension] = Dimension(row.dimension, "higher", *scale)
            self.created.append(row.dimension)
        return good

    def finish(self) -> EvalSet:
        """Return the set with all that was added."""
        evalset = self.evalset
        draft = EvalSetDraft(
            evalset.name,
            evalset.segments,
            evalset.systems,
            reading=self.reading,
            location=evalset.name,
            groups=evalset.groups,
            dimensions=self.dimensions.values(),
        )
        for judge, kind in evalset.judgements.judge_kinds.items():
            draft.kind(judge, kind, evalset.name)
        pairs = [*self._pairs()]
        shares = (GivenJudgement(location, *row) for location, row in win_shares(pairs))
        plain = [row for row in self.rows if not row.other]
        for row in self._new([*plain, *shares]):
            draft.judge(*row[1:6], row.location)
        row_kinds = [(row.judge, row.kind, row.location) for row in self.rows if row.kind]
        for judge, kind, location in [*row_kinds, *self.kinds]:
            draft.kind(judge, kind, location)
        judgements = self.ratings.concatenate(draft.finish().judgements)
        remarks = (f"dimension {short(name)} was added: higher is better" for name in self.created)
        return replace(
            evalset,
            judgements=judgements,
            dimensions=self.dimensions,
            remarks=(*evalset.remarks, *remarks),
            pairs=tuple(pair for _, pair in pairs),
        )

    def _pairs(self) -> Iterable[tuple[Location, JudgedPair]]:
        """Return the pairs of the set and those that were added."""
        old = [(self.evalset.name, pair) for pair in self.evalset.pairs]
        new = [(row.location, (*row[1:6], row.other)) for row in self.rows if row.other]
        return check_pairs([*old, *new], self.dimensions, self.reading)

    def _new(self, rows: Sequence[GivenJudgement]) -> Iterable[GivenJudgement]:
        """Yield the judgements that are not there already; one with another value is noted."""
        existing = self.ratings.select_judges({row.judge for row in rows})
        first_values: dict[_Key, tuple[object, Location]] = {
            row[:-1]: (row.value, self.evalset.name) for row in existing
        }
        for row in rows:
            value, first = first_values.setdefault(row[1:5], (row.value, row.location))
            if first is row.location:
                yield row
            elif parse_number(value) != parse_number(row.value):
                self.reading.problem(row.location, conflict_problem(row, row.value, value, first))


def _dimension_conflict(earlier: Dimension, dimension: Dimension) -> str:
    """Explain how a dimension differs from the earlier one; "" if they agree."""
    for name in ("better", "low", "high"):
        earlier_value, value = getattr(earlier, name), getattr(dimension, name)
        if None not in (earlier_value, value) and earlier_value != value:
            difference = f"{name}={value} here and {name}={earlier_value} before: expected the same"
            return f"dimension {short(dimension.name)} has {difference}"
    return ""


def _with_models(evalset: EvalSet, models: Sequence[str]) -> EvalSet:
    """Return the set in which some judges are models."""
    rows, model_names = evalset.judgements, dict.fromkeys(models)
    if not model_names:
        return evalset
    check_known("judge", model_names, rows.judges, evalset.name)
    for judge in model_names:
        if (kind := rows.judge_kinds.get(judge, MODEL)) != MODEL:
            problem = f"judge {quoted(judge)} is named as a model, but is of the kind {kind}"
            raise InputError(f"{evalset.name}: {problem} in the judgements")
    pairs = zip(rows.judges, rows.kinds, strict=True)
    kinds = tuple(MODEL if judge in model_names else kind for judge, kind in pairs)
    return replace(evalset, judgements=replace(rows, kinds=kinds))


def _with_draws(evalset: EvalSet, path: Path, reading: Reading) -> EvalSet:
    """Return the set with the draws of a file beside its own.

    The file may repeat draws of the set, as a plan for the next round does; their reasons may
    differ.
    """
    new_draws = list(read_draws(path, reading))
    repeated = {_key(draw) for _, draw in new_draws}
    old_draws = [(evalset.name, draw) for draw in evalset.draws or () if _key(draw) not in repeated]
    draws = check_set_draws([*old_draws, *new_draws], evalset.segments, evalset.groups, reading)
    reading.check()
    return replace(evalset, draws=draws)


def _key(draw: Draw) -> tuple[object, ...]:
    return draw.unit, draw.of, draw.round, draw.probability
