"""Files of scores by another program: one row per system and segment.

    .tsv .csv     columns system, segment and score, with or without a header
    .jsonl        objects with these members, or a log of ratings (`karat judge`)
    .parquet      a table with these columns
    .seg.score    mt-metrics-eval: system and score, the segments of each system in order
    .sys.score    mt-metrics-eval: system and score

A row without a segment (empty or `-`) has the score of a system. A missing score is empty,
None, null, NaN or NA, or has no row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores, parse_score
from karat.evalset.reading import (
    USUAL_COLUMNS,
    FileLocation,
    Location,
    Reading,
    Records,
    open_records,
    read_lines,
)
from karat.settings import nearest

SCORE = "score"
WHOLE_SYSTEM = ("", "-")
"""Segments of rows with the score of a whole system."""


def read_scores(path: str, column: str | None = None) -> GivenScores:
    """Return the scores of a file; `column` names one of several columns of scores."""
    file, ending = Path(path), path.lower().removesuffix(".gz")
    if ending.endswith(".score"):
        if column is not None:
            raise InputError(f"{path} has no columns with names: leave column={column} out")
        of_systems = ending.endswith(".sys.score")
        return read_metric_scores(path, None if of_systems else file, file if of_systems else None)

    def columns_without_header(row: list[str]) -> list[str]:
        bare = len(row) == 3 and parse_score(row[2]) is not None
        return ["system", "segment", SCORE] if bare else []

    reading = Reading(lister="")
    header, rows = open_records(file, reading, columns_without_header)
    if LOG in header and ending.endswith((".jsonl", ".ndjson")):
        return read_log_scores(path, column)
    if not header:
        reading.check()  # the reason why no line is an object
    return _collect_scores(path, _score_columns(path, header, column), rows, reading)


def _collect_scores(
    path: str, columns: tuple[str, str | None, str], rows: Records, reading: Reading
) -> GivenScores:
    by_id: dict[str, dict[str, float]] = {}
    by_system: dict[str, float] = {}
    places: dict[str, FileLocation] = {}
    for location, row in rows:
        system, segment, score = (row.get(name or "") for name in columns)
        value = parse_score(score)
        segment_id = "" if segment is None else segment
        if not _is_id(system) or system == "":
            reading.problem(location, f"found the system {quoted(system)}, expected a name")
        elif not _is_id(segment_id):
            reading.problem(location, f"found the segment {quoted(segment)}, expected an id")
        elif value is None:
            problem = "expected a finite number, or nothing if it is missing"
            reading.problem(location, f"found the score {quoted(score)}, {problem}")
        elif segment_id in WHOLE_SYSTEM:
            if str(system) in by_system:
                reading.problem(location, f"a second score of system {quoted(system)}")
            if not math.isnan(value):
                by_system[str(system)] = value
        else:
            name = str(segment_id)
            system_scores = by_id.setdefault(str(system), {})
            if name in system_scores:
                problem = f"a second score of segment {quoted(name)} of system {quoted(system)}"
                reading.problem(location, problem)
            system_scores[name] = value
            places.setdefault(name, location)
    if not (by_id or by_system) and not reading.problems:
        raise InputError(f"{path}: no scores: expected a row for each system and segment")
    reading.check()
    return GivenScores(path, by_id, {}, by_system, places)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


LOG = "judgements"
"""A member of the first line of logs, which files of scores do not have."""


def read_log_scores(path: str, dimension: str | None) -> GivenScores:
    """Return the scores in a log of judgements: the mean of all judges in one dimension.

    The score of an output in comparisons is the share of them that it won.
    """
    from karat.evalset.additions import read_judgements
    from karat.evalset.judgements import Dimension, check_pairs, win_shares

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
    compared = check_pairs([row for row in chosen if row.other], {dimension: scale}, reading)
    values: dict[str, dict[str, list[float]]] = {}
    places: dict[str, Location] = {}
    for row in (*win_shares(compared), *(row for row in chosen if not row.other)):
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


def _score_columns(
    path: str, header: Sequence[str], column: str | None
) -> tuple[str, str | None, str]:
    """Choose the columns of system, segment and score."""
    location, has = f"{path}, line 1", short(", ".join(map(str, header)) or "nothing")
    by_name = {str(name).lower(): name for name in reversed(header)}
    system, segment = (
        next((by_name[name] for name in USUAL_COLUMNS[role] if name in by_name), None)
        for role in ("system", "segment")
    )
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
    return system, segment, score


def read_metric_scores(
    source: str,
    of_segments: Path | None,
    of_systems: Path | None,
    segments: Sequence[str] | None = None,
) -> GivenScores:
    """Return the scores of one metric of mt-metrics-eval; with `segments`, by these ids.

    In these files, higher scores are better.
    """
    reading = Reading(lister="")
    values: dict[str, list[float]] = {}
    for system, score, _ in _read_system_scores(of_segments, reading):
        values.setdefault(system, []).append(score)
    by_system: dict[str, float] = {}
    for system, score, location in _read_system_scores(of_systems, reading):
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


def _read_system_scores(
    path: Path | None, reading: Reading
) -> Iterator[tuple[str, float, FileLocation]]:
    for location, line in [] if path is None else reading.numbered(read_lines(path), path):
        fields = line.split()
        value = parse_score(fields[-1]) if fields else None
        if len(fields) == 2 and value is not None:
            yield fields[0], value, location
        elif fields:
            reading.problem(location, f"found {quoted(line)}, expected a system and a finite score")
