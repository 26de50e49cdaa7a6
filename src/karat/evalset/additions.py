"""Adding files of judgements to a set: JSON lines, such as the log of a model, or a table.

    {"judgements": "NAME", "dimensions": [{"name": "fluency", "low": 1, "high": 5}], "signature": …}
    {"system": "A", "segment": "1", "judge": "m", "dimension": "fluency", "value": 4, "kind": …}
    {"segment": "1", "system": "A", "other": "B", "judge": "m", "dimension": "quality", "value": 1}

The first kind of object is optional and comes in the first line. `kind` and `evidence` are
optional; `evidence` is a text that is not kept. `other` makes a comparison of two outputs. A table
has the tab-separated columns of `human.tsv`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath, first_line, json_object
from karat.evalset.draft import EvalSetDraft, number_rows
from karat.evalset.draws import check_set_draws, read_draws
from karat.evalset.formats.jsonl import json_dimensions
from karat.evalset.judgements import (
    MODEL,
    Dimension,
    GivenJudgement,
    Judgement,
    JudgementTable,
    check_pairs,
    conflict_problem,
    drop_shares,
    parse_judgement,
    read_judgement_table,
    win_shares,
)
from karat.evalset.reading import Location, Reading, check_members, parse_number, read_json_lines
from karat.evalset.sets import EvalSet, check_known

HEADER = ("judgements", "dimensions", "signature")


def read_judgements(path: Path, reading: Reading) -> tuple[list[GivenJudgement], list[Dimension]]:
    """Return the judgements of a file, and the dimensions that it declares."""
    try:
        is_json = first_line(path).startswith("{")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if not is_json:
        return list(read_judgement_table(path, reading)), []
    judgements: list[GivenJudgement] = []
    dimensions: list[Dimension] = []
    for location, record in read_json_lines(path, reading):
        if "judgements" in record and location.line == 1:
            check_members(record, HEADER, location, reading)
            dimensions += json_dimensions(record, location, reading)
        elif judgement := parse_judgement(record, location, reading):
            judgements.append(judgement)
    return judgements, dimensions


def has_ratings(path: GivenPath) -> bool:
    """Return whether a file has judgements of an evaluation set, by its first line.

    Unreadable files and tables without a header count as such: the reader reports the problem.
    """
    try:
        line = first_line(Path(path))
    except (OSError, InputError):
        return True
    columns = json_object(line) if line.startswith("{") else line.split("\t")
    return (
        "judgements" in columns or {"system", "segment"} <= {*columns} or "question" not in columns
    )


class Additions(NamedTuple):
    """Files to add to a set, and the names of judges that are models."""

    judgements: Sequence[GivenPath] = ()
    model_judges: Sequence[str] = ()
    draws: GivenPath | None = None

    def add_to(self, evalset: EvalSet, reading: Reading) -> EvalSet:
        """Return the set with the additions; raise the first problem."""
        extended = evalset
        if self.judgements:
            paths = map(Path, self.judgements)
            files = ((*read_judgements(path, reading), path) for path in paths)
            extended = _add_judgements(evalset, files, reading)
        if self.model_judges:
            rows = extended.judgements
            check_known("judge", dict.fromkeys(self.model_judges), rows.judges, evalset.name)
            for judge in self.model_judges:
                if (kind := rows.judge_kinds.get(judge, MODEL)) != MODEL:
                    problem = f"judge {quoted(judge)} is named as a model, but is of the kind"
                    raise InputError(f"{evalset.name}: {problem} {kind} in the judgements")
            pairs = zip(rows.judges, rows.kinds, strict=True)
            kinds = tuple(MODEL if judge in self.model_judges else kind for judge, kind in pairs)
            extended = replace(extended, judgements=replace(rows, kinds=kinds))
        if self.draws is None:
            return extended
        # The file may repeat draws of the set, like a plan for the next round; their reasons
        # may differ.
        new_draws = list(read_draws(Path(self.draws), reading))
        repeated = {draw._replace(reason="") for _, draw in new_draws}
        old_draws = [
            (evalset.name, draw)
            for draw in evalset.draws or ()
            if draw._replace(reason="") not in repeated
        ]
        draws = check_set_draws([*old_draws, *new_draws], evalset.segments, evalset.groups, reading)
        reading.check()
        return replace(extended, draws=draws)


NOTHING = Additions()


def with_judgements(
    evalset: EvalSet,
    judgements: GivenPath | Iterable[Judgement | tuple[str, str, str, str, float]],
    judge_kinds: Mapping[str, str],
    dimensions: Iterable[Dimension | str],
) -> EvalSet:
    """Return a set with further judgements; `EvalSet.with_judgements` describes the arguments."""
    reading = Reading()

    def files() -> Iterator[JudgementFile]:
        described = [Dimension(d) if isinstance(d, str) else d for d in dimensions]
        yield [], described, f"{evalset.name}, dimensions"
        if isinstance(judgements, str | os.PathLike):
            yield *read_judgements(Path(judgements), reading), Path(judgements)
        else:
            yield list(number_rows(judgements, f"{evalset.name}, judgements")), [], ""

    extended = _add_judgements(evalset, files(), reading, judge_kinds)
    check_known("judge", judge_kinds, extended.judgements.judges, evalset.name)
    return extended


JudgementFile: TypeAlias = tuple[Sequence[GivenJudgement], Sequence[Dimension], Location]
"""Judgements, the dimensions declared in their file, and the file."""


def _add_judgements(
    evalset: EvalSet,
    files: Iterable[JudgementFile],
    reading: Reading,
    judge_kinds: Mapping[str, str] | None = None,
) -> EvalSet:
    """Return the set with the judgements and dimensions of files; raise the first problem."""
    dimensions, created = dict(evalset.dimensions), []
    judgements: list[GivenJudgement] = []
    for rows, described, location in files:
        for dimension in described:
            earlier = dimensions.setdefault(dimension.name, dimension)
            if problem := _dimension_conflict(earlier, dimension):
                reading.problem(location, problem)
        for row in rows:
            name = row.dimension
            if name not in dimensions and reading.check_name("dimension", name, row.location):
                scale = (0.0, 1.0) if row.other else (None, None)
                dimensions[name] = Dimension(name, "higher", *scale)
                created.append(name)
            if name in dimensions:
                judgements.append(row)
    draft = EvalSetDraft(
        evalset.name,
        evalset.segments,
        evalset.systems,
        reading=reading,
        location=evalset.name,
        groups=evalset.groups,
        dimensions=dimensions.values(),
    )
    for judge, kind in evalset.judgements.judge_kinds.items():
        draft.kind(judge, kind, evalset.name)
    old_pairs = [GivenJudgement(*p[:5], evalset.name, other=p.other) for p in evalset.pairs]
    new_pairs = [row for row in judgements if row.other]
    pairs = [*check_pairs([*old_pairs, *new_pairs], dimensions, reading)]
    ratings = drop_shares(evalset.judgements, evalset.pairs)
    plain = [row for row in judgements if not row.other]
    for row in _new_judgements([*plain, *win_shares(pairs)], ratings, evalset.name, reading):
        draft.judge(*row[:6])
    for row in judgements:
        if row.kind:
            draft.kind(row.judge, row.kind, row.location)
    for judge, kind in (judge_kinds or {}).items():
        draft.kind(judge, kind, f"{evalset.name}, judge_kinds")
    remarks = (f"dimension {short(name)} was added: higher is better" for name in created)
    return replace(
        evalset,
        judgements=ratings.concatenate(draft.finish().judgements),
        dimensions=dimensions,
        remarks=(*evalset.remarks, *remarks),
        pairs=tuple(pair for _, pair in pairs),
    )


def _new_judgements(
    rows: Sequence[GivenJudgement], ratings: JudgementTable, name: str, reading: Reading
) -> Iterator[GivenJudgement]:
    """Yield the judgements that the set does not have; record those with another value."""
    first_values: dict[tuple[str, ...], tuple[object, Location]] = {
        row[:4]: (row.value, name) for row in ratings.select_judges({row.judge for row in rows})
    }
    for row in rows:
        value, first = first_values.setdefault(row[:4], (row.value, row.location))
        if first is row.location:
            yield row
        elif parse_number(value) != parse_number(row.value):
            reading.problem(row.location, conflict_problem(row, value, first))


def _dimension_conflict(earlier: Dimension, dimension: Dimension) -> str:
    """Describe how a dimension differs from the earlier one; "" if they agree."""
    for name in ("better", "low", "high"):
        earlier_value, value = getattr(earlier, name), getattr(dimension, name)
        if None not in (earlier_value, value) and earlier_value != value:
            difference = f"{name}={value} here and {name}={earlier_value} before: expected the same"
            return f"dimension {short(dimension.name)} has {difference}"
    return ""
