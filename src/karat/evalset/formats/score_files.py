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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import InputError, quoted, short
from karat.evalset.given_scores import GivenScores, score_of
from karat.evalset.reading import Place, Reading, Where, csv_records, json_rows, read_lines
from karat.registry import load
from karat.settings import nearest

SYSTEM = ("system", "system_name", "sys", "system_id", "model")
SEGMENT = ("segment", "segment_id", "seg", "seg_id", "id", "line")
SCORE = "score"
WHOLE = ("", "-", None)
"""Segments of rows with the score of a whole system."""
_PARQUET = "karat.arrow.formats.score_cells:parquet_rows"
_JSON = (".jsonl", ".ndjson")


class ScoreColumns(NamedTuple):
    """The names of the columns that are read."""

    system: str
    segment: str | None
    score: str


Rows = Iterator[tuple[Place, Mapping[str, Any]]]


def read_scores(path: str, column: str | None = None) -> GivenScores:
    """Return the scores of a file; `column` names one of several columns of scores."""
    file, ending = Path(path), path.lower().removesuffix(".gz")
    if ending.endswith(".score"):
        if column is not None:
            raise InputError(f"{path} has no columns with names: leave column={column} out")
        whole = ending.endswith(".sys.score")
        return read_metric_scores(path, None if whole else file, file if whole else None)
    reading = Reading(lister="")
    if ending.endswith((".parquet", ".pq")):
        header, rows = load(_PARQUET)(path)
    elif ending.endswith(_JSON):
        rows = json_rows(file, reading)
        first = next(rows, None)
        if first is not None and LOG in first[1]:
            return read_log_scores(path, column)
        if first is None:
            reading.check()  # why no line is an object
        header = [] if first is None else list(first[1])
        rows = chain([] if first is None else [first], rows)
    else:
        header, rows = _table(file, ending.endswith(".csv"), reading)
    found = _filled(path, _columns(path, header, column), rows, reading)
    reading.check()
    return found


LOG = "judgements"
"""The member of the first line of a log that no file of scores has."""


def read_log_scores(path: str, dimension: str | None) -> GivenScores:
    """Return the scores in a log of judgements: the mean of all judges, by dimension.

    The score of an output in comparisons is the share of them that it won.
    """
    from karat.evalset.additions import read_judgements
    from karat.evalset.judgements import Dimension, checked_pairs, win_shares

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
    pairs = [(row.place, (*row[1:6], row.other)) for row in rows if row.other]
    compared = checked_pairs(
        [pair for pair in pairs if pair[1][3] == dimension], {dimension: scale}, reading
    )
    values: dict[tuple[str, str], list[float]] = {}
    places: dict[str, Where] = {}
    for where, share in win_shares(compared):
        values.setdefault((share.system, share.segment), []).append(share.value)
        places.setdefault(share.segment, where)
    for row in rows:
        if row.dimension != dimension or row.other:
            continue
        value = score_of(row.value)
        if value is None or math.isnan(value):
            reading.problem(row.place, f"found the value {quoted(row.value)}, expected a number")
            continue
        values.setdefault((row.system, row.segment), []).append(value)
        places.setdefault(row.segment, row.place)
    reading.check()
    by_id: dict[str, dict[str, float]] = {}
    for (system, segment), ratings in values.items():
        by_id.setdefault(system, {})[segment] = sum(ratings) / len(ratings)
    lower = scale.better == "lower"
    return GivenScores(path, by_id, {}, {}, places, not lower, lower)


def _table(path: Path, commas: bool, reading: Reading) -> tuple[list[str], Rows]:
    """Return the header of a table and its rows; three columns may have no header."""
    lines: Iterable[tuple[Place, list[str]]]
    if commas:
        lines = csv_records(path, reading)
    else:
        read = reading.numbered(read_lines(path), path)
        lines = ((place, line.split("\t")) for place, line in read)
    filled: Iterator[tuple[Place, list[str]]] = ((p, row) for p, row in lines if any(row))
    place, header = next(filled, (Place(str(path), 1), []))
    if len(header) == 3 and score_of(header[2]) is not None:
        filled, header = chain([(place, header)], filled), [SYSTEM[0], SEGMENT[0], SCORE]
    if len(set(header)) < len(header):
        raise InputError(f"{place}: two columns have the same name in {quoted(', '.join(header))}")

    def named() -> Rows:
        for place, row in filled:
            if len(row) == len(header):
                yield place, dict(zip(header, row, strict=True))
            else:
                reading.problem(place, f"found {len(row)} fields, expected {len(header)}")

    return header, named()


def _columns(path: str, header: Sequence[str], column: str | None) -> ScoreColumns:
    """Return which columns are read."""
    place, has = f"{path}, line 1", short(", ".join(map(str, header)) or "nothing")
    by_name = {str(name).lower(): name for name in reversed(header)}
    system = next((by_name[name] for name in SYSTEM if name in by_name), None)
    segment = next((by_name[name] for name in SEGMENT if name in by_name), None)
    others = [name for name in header if name not in (system, segment)]
    if column is not None and column not in others:
        hint = nearest(column, others)
        raise InputError(f"{place}: no column of scores {quoted(column)}{hint} (it has {has})")
    score = column or (by_name.get(SCORE) if len(others) != 1 else others[0])
    if system is None or not others:
        wanted = "system, segment and score"
        raise InputError(f"{place}: found the columns {has}, expected {wanted}")
    if score is None:
        told = f"any of {short(', '.join(others))} may be the column of scores"
        raise InputError(f"{place}: {told}: name it, as in column={others[0]}")
    return ScoreColumns(system, segment, score)


def _filled(path: str, columns: ScoreColumns, rows: Rows, reading: Reading) -> GivenScores:
    by_id: dict[str, dict[str, float]] = {}
    by_system: dict[str, float] = {}
    places: dict[str, Place] = {}
    for place, row in rows:
        system, segment = row.get(columns.system), row.get(columns.segment or "")
        score, name = row.get(columns.score), _name(segment)
        value = score_of(score)
        if _name(system) is None or system == "":
            reading.problem(place, f"found the system {quoted(system)}, expected a name")
        elif name is None:
            reading.problem(place, f"found the segment {quoted(segment)}, expected an id")
        elif value is None:
            told = "expected a finite number, or nothing if it is missing"
            reading.problem(place, f"found the score {quoted(score)}, {told}")
        elif name in WHOLE:
            if str(system) in by_system:
                reading.problem(place, f"a second score of system {quoted(system)}")
            if not math.isnan(value):
                by_system[str(system)] = value
        else:
            own = by_id.setdefault(str(system), {})
            if name in own:
                told = f"a second score of segment {quoted(name)} of system {quoted(system)}"
                reading.problem(place, told)
            own[name] = value
            places.setdefault(name, place)
    if not (by_id or by_system) and not reading.problems:
        raise InputError(f"{path}: no scores: expected a row for each system and segment")
    return GivenScores(path, by_id, {}, by_system, places)


def _name(given: object) -> str | None:
    """Return an id as text; None if it is no id."""
    if given is None:
        return ""
    good = isinstance(given, str | int) and not isinstance(given, bool)
    return str(given) if good else None


# ------------------------------------------------------------------------------- mt-metrics-eval


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
    for system, score, place in _pairs(of_systems, reading):
        if system in by_system:
            reading.problem(place, f"a second score of system {quoted(system)}")
        elif not math.isnan(score):
            by_system[system] = score
    for system, own in values.items():
        if segments is not None and len(own) != len(segments):
            told = f"found {len(own):,} scores, expected {len(segments):,}, one a segment"
            reading.problem(str(of_segments), f"system {short(system)}: {told}")
    reading.check()
    if not (values or by_system):
        raise InputError(f"{of_segments or of_systems}: no scores: expected system and score")
    if segments is None:
        in_order = {system: np.array(own) for system, own in values.items()}
        return GivenScores(source, {}, in_order, by_system, oriented=True)
    by_id = {system: dict(zip(segments, own, strict=True)) for system, own in values.items()}
    return GivenScores(source, by_id, {}, by_system, oriented=True)


def _pairs(path: Path | None, reading: Reading) -> Iterator[tuple[str, float, Place]]:
    for place, line in reading.numbered([] if path is None else read_lines(path), path or Path()):
        fields = line.split()
        if not fields:
            continue
        value = score_of(fields[-1])
        if len(fields) != 2 or value is None:
            reading.problem(place, f"found {quoted(line)}, expected a system and a finite score")
        else:
            yield fields[0], value, place
