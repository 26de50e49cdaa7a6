"""Files of judgements that are added to a set: JSON lines, such as the log of a model, or a table.

    {"judgements": "NAME", "dimensions": [{"name": "fluency", "low": 1, "high": 5}], "signature": …}
    {"system": "A", "segment": "1", "judge": "m", "dimension": "fluency", "value": 4, "kind": …}
    {"segment": "1", "system": "A", "other": "B", "judge": "m", "dimension": "quality", "value": 1}

The first kind of object, if there is one, stands in the first line. `kind` and `evidence` may be
there; `evidence` is a text that is not kept. `other` makes a comparison of two outputs. A table has
tab-separated columns as `human.tsv`, and perhaps `other`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.evalset.catalogue import GivenPath, first_line, json_object
from karat.evalset.formats.jsonl import (
    JUDGEMENT,
    checked,
    json_dimensions,
    no_judgement,
)
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Reading, Where, json_rows, tab_rows

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
