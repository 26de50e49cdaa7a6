"""Files of scores that another program gave: a row for each system and segment.

    .tsv .csv     columns system, segment and score under a header, or these three without one
    .jsonl        objects with these members, or a log of ratings (`karat judge`)
    .parquet      a table with these columns
    .seg.score    of mt-metrics-eval: system and score, the segments of each system in order
    .sys.score    of mt-metrics-eval: system and score

A row without a segment (empty or `-`) has the score of a system. A score that is missing is empty,
None, null, NaN or NA, or has no row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores, parse_score
from karat.evalset.reading import (
    FileLocation,
    Location,
    Reading,
    read_json_lines,
    read_lines,
    read_rows,
)
from karat.registry import load
from karat.settings import nearest

SYSTEM = ("system", "system_name", "sys", "system_id", "model")
SEGMENT = ("segment", "segment_id", "seg", "seg_id", "id", "line")
SCORE = "score"
SYSTEM_SEGMENTS = ("", "-", None)
"""Segments of rows with the score of a whole system."""
_PARQUET = "karat.arrow.formats.score_cells:parquet_rows"
_JSON = (".jsonl", ".ndjson")


class ScoreColumns(NamedTuple):
    """The names of the columns that are read."""

    system: str
    segment: str | None
    score: str


Rows = Iterator[tuple[FileLocation, Mapping[str, Any]]]


def read_scores(path: str, column: str | None = None) -> GivenScores:
    """Return the scores of a file; `column` names one of several columns of scores."""
    file, ending = Path(path), path.lower().removesuffix(".gz")
    if ending.endswith(".score"):
        if column is not None:
            raise InputError(f"{path} has no columns with names: leave column={column} out")
        of_systems = ending.endswith(".sys.score")
        return read_metric_scores(path, None if of_systems else file, file if of_systems else None)
    reading = Reading(lister="")
    if ending.endswith((".parquet", ".pq")):
        header, rows = load(_PARQUET)(path)
    elif ending.endswith(_JSON):
        rows = read_json_lines(file, reading)
        first = next(rows, None)
        if first is not None and LOG in first[1]:
            return read_log_scores(path, column)
        if first is None:
            reading.check()  # why no line is an object
        header = [] if first is None else list(first[1])
        rows = chain([] if first is None else [first], rows)
    else:
        header, rows = _table(file, ending.endswith(".csv"), reading)
    scores = _collect_scores(path, _columns(path, header, column), rows, reading)
    reading.check()
    return scores


LOG = "judgements"
"""The member of the first line of a log that no file of scores has."""


def read_log_scores(path: str, dimension: str | None) -> GivenScores:
    """Return the scores in a log of judgements: the mean of all judges, by dimension.

    The score of an output in comparisons is the share of them that it won.
    """
    from karat.evalset.additions import read_judgements
    from karat.evalset.judgements import Dimension, GivenJudgement, check_pairs, win_shares

    reading = Reading(lister="")
    rows, described = read_judgements(Path(path), reading)
    reading.check()
    names = list(dict.fromkeys(row.dimension for row in rows))
    if dimension is None and len(names) == 1:
        dimension = names[0]
    if not names:
        raise InputError(f"{path}: no scores: the log has no judgement")
    if dimension not in names:
        hint = "" if dimension is None else nearest(dimension, names)
        problem = "has several dimensions" if dimension is None else f"has no {quoted(dimension)}"
        raise InputError(
            f"{path}: the log {problem}{hint} (it has {short(', '.join(names))}): name one, as in "
            f"column={names[0]}"
        )
    scales = {scale.name: scale for scale in described}
    scale = scales.get(dimension, Dimension(dimension, "higher", None, None))
    chosen = [row for row in rows if row.dimension == dimension]
    compared = check_pairs([row.pair for row in chosen if row.other], {dimension: scale}, reading)
    shares = [GivenJudgement(*share, location) for location, share in win_shares(compared)]
    values: dict[str, dict[str, list[float]]] = {}
    places: dict[str, Location] = {}
    for row in (*shares, *(row for row in chosen if not row.other)):
        value = parse_score(row.value)
        if value is None or math.isnan(value):
            reading.problem(row.location, f"found the value {quoted(row.value)}, expected a number")
            continue
        values.setdefault(row.system, {}).setdefault(row.segment, []).append(value)
        places.setdefault(row.segment, row.location)
    reading.check()
    by_id = {
        system: {segment: sum(ratings) / len(ratings) for segment, ratings in of_system.items()}
        for system, of_system in values.items()
    }
    lower = scale.better == "lower"
    return GivenScores(path, by_id, {}, {}, places, not lower, lower)


def _table(path: Path, commas: bool, reading: Reading) -> tuple[list[str], Rows]:
    """Return the header of a table and its rows; three columns may have no header."""
    filled = ((at, row) for at, row in read_rows(path, reading, commas) if any(row))
    location, header = next(filled, (FileLocation(str(path), 1), []))
    first_rows = []
    if len(header) == 3 and parse_score(header[2]) is not None:
        first_rows, header = [(location, header)], [SYSTEM[0], SEGMENT[0], SCORE]
    if len(set(header)) < len(header):
        raise InputError(
            f"{location}: two columns have the same name in {quoted(', '.join(header))}"
        )

    def rows_by_name() -> Rows:
        for location, row in chain(first_rows, filled):
            if len(row) == len(header):
                yield location, dict(zip(header, row, strict=True))
            else:
                reading.problem(location, f"found {len(row)} fields, expected {len(header)}")

    return header, rows_by_name()


def _columns(path: str, header: Sequence[str], column: str | None) -> ScoreColumns:
    """Choose the columns of system, segment and score."""
    location, has = f"{path}, line 1", short(", ".join(map(str, header)) or "nothing")
    by_name = {str(name).lower(): name for name in reversed(header)}
    system = next((by_name[name] for name in SYSTEM if name in by_name), None)
    segment = next((by_name[name] for name in SEGMENT if name in by_name), None)
    candidates = [name for name in header if name not in (system, segment)]
    if column is not None and column not in candidates:
        hint = nearest(column, candidates)
        raise InputError(f"{location}: no column of scores {quoted(column)}{hint} (it has {has})")
    score = column or (by_name.get(SCORE) if len(candidates) != 1 else candidates[0])
    if system is None or not candidates:
        expected = "system, segment and score"
        raise InputError(f"{location}: found the columns {has}, expected {expected}")
    if score is None:
        problem = f"any of {short(', '.join(candidates))} may be the column of scores"
        raise InputError(f"{location}: {problem}: name it, as in column={candidates[0]}")
    return ScoreColumns(system, segment, score)


def _collect_scores(path: str, columns: ScoreColumns, rows: Rows, reading: Reading) -> GivenScores:
    by_id: dict[str, dict[str, float]] = {}
    by_system: dict[str, float] = {}
    places: dict[str, FileLocation] = {}
    for location, row in rows:
        system, segment = row.get(columns.system), row.get(columns.segment or "")
        score, name = row.get(columns.score), _name(segment)
        value = parse_score(score)
        if _name(system) is None or system == "":
            reading.problem(location, f"found the system {quoted(system)}, expected a name")
        elif name is None:
            reading.problem(location, f"found the segment {quoted(segment)}, expected an id")
        elif value is None:
            problem = "expected a finite number, or nothing if it is missing"
            reading.problem(location, f"found the score {quoted(score)}, {problem}")
        elif name in SYSTEM_SEGMENTS:
            if str(system) in by_system:
                reading.problem(location, f"a second score of system {quoted(system)}")
            if not math.isnan(value):
                by_system[str(system)] = value
        else:
            system_scores = by_id.setdefault(str(system), {})
            if name in system_scores:
                problem = f"a second score of segment {quoted(name)} of system {quoted(system)}"
                reading.problem(location, problem)
            system_scores[name] = value
            places.setdefault(name, location)
    if not (by_id or by_system) and not reading.problems:
        raise InputError(f"{path}: no scores: expected a row for each system and segment")
    return GivenScores(path, by_id, {}, by_system, places)


def _name(value: object) -> str | None:
    """Return an id as text; None if it is no id."""
    if value is None:
        return ""
    good = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if good else None


def read_metric_scores(
    source: str,
    of_segments: Path | None,
    of_systems: Path | None,
    segments: Sequence[str] | None = None,
) -> GivenScores:
    """Return the scores of one metric of mt-metrics-eval; with ids, those go by ids.

    The files of that tool have higher scores for better outputs.
    """
    reading = Reading(lister="")
    values: dict[str, list[float]] = {}
    for system, score, _ in _pairs(of_segments, reading):
        values.setdefault(system, []).append(score)
    by_system: dict[str, float] = {}
    for system, score, location in _pairs(of_systems, reading):
        if system in by_system:
            reading.problem(location, f"a second score of system {quoted(system)}")
        elif not math.isnan(score):
            by_system[system] = score
    for system, system_scores in values.items():
        if segments is not None and len(system_scores) != len(segments):
            expected = f"expected {len(segments):,}, one a segment"
            problem = f"system {short(system)}: found {len(system_scores):,} scores, {expected}"
            reading.problem(str(of_segments), problem)
    reading.check()
    if not (values or by_system):
        raise InputError(f"{of_segments or of_systems}: no scores: expected system and score")
    if segments is None:
        in_order = {system: np.array(system_scores) for system, system_scores in values.items()}
        return GivenScores(source, {}, in_order, by_system, oriented=True)
    by_id = {
        system: dict(zip(segments, system_scores, strict=True))
        for system, system_scores in values.items()
    }
    return GivenScores(source, by_id, {}, by_system, oriented=True)


def _pairs(path: Path | None, reading: Reading) -> Iterator[tuple[str, float, FileLocation]]:
    for location, line in [] if path is None else reading.numbered(read_lines(path), path):
        fields = line.split()
        value = parse_score(fields[-1]) if fields else None
        if len(fields) == 2 and value is not None:
            yield fields[0], value, location
        elif fields:
            reading.problem(location, f"found {quoted(line)}, expected a system and a finite score")
