"""Draws: which segments or groups were chosen for judging, and how.

An estimate from a part of a set is unbiased if the part was drawn at random, with known
probabilities. A table `draws.tsv`, or objects in JSON lines:

    unit  of       probability  reason  round
    12    segment  0.1          random  1

    {"draw": "12", "of": "segment", "probability": 0.1, "reason": "random", "round": 1}

The probability is empty (null or missing) for a unit that was not drawn at random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from karat.errors import quoted
from karat.evalset.reading import (
    FileLocation,
    Location,
    Reading,
    check_members,
    is_json_lines,
    parse_number,
    read_json_lines,
    read_table,
)

DRAWS = "draws.tsv"
"""The file in a folder of a set."""
SEGMENT, GROUP = "segment", "group"
COLUMNS = ("unit", "of", "probability", "reason", "round")
MIN_PROBABILITY, MAX_ROUNDS = 1e-9, 1_000_000
"""The smallest probability and the largest number of a round: others are mistakes."""


class Draw(NamedTuple):
    """A segment or group that was selected for judging in one round."""

    unit: str
    """The id of a segment or a group."""
    probability: float | None
    """The probability of being drawn in this round; None if not drawn at random."""
    reason: str = ""
    """Why it was selected, such as random or useful."""
    round: int = 1
    of: str = SEGMENT
    """The kind of the unit: segment or group."""


PlacedDraw: TypeAlias = tuple[Location, Draw]


def read_draws(path: Path, reading: Reading) -> Iterator[PlacedDraw]:
    """Yield the draws in a table or a file of JSON lines; record invalid rows as problems."""
    if is_json_lines(path):
        yield from parse_draws(read_json_lines(path, reading), reading)
        return
    for location, row in read_table(path, COLUMNS, reading, only=True):
        unit, of, probability, reason, round = row
        yield from _parse_draw(unit, of, probability or None, reason, round, location, reading)


def parse_draws(
    rows: Iterable[tuple[FileLocation, dict[str, Any]]], reading: Reading
) -> Iterator[PlacedDraw]:
    """Yield the draws in JSON objects; record invalid ones as problems."""
    for location, record in rows:
        if not check_members(record, ("draw", *COLUMNS[1:]), location, reading):
            continue
        unit, of, reason = record.get("draw"), record.get("of", SEGMENT), record.get("reason", "")
        probability, round = record.get("probability"), record.get("round", 1)
        if not all(isinstance(text, str) for text in (unit, of, reason)):
            reading.problem(location, "draw, of and reason must be strings")
        elif isinstance(probability, str):
            problem = f"found the probability {quoted(probability)}, expected a number or null"
            reading.problem(location, problem)
        else:
            yield from _parse_draw(unit, of, probability, reason, round, location, reading)


def _parse_draw(
    unit: Any, of: Any, probability: object, reason: str, round: Any, at: Location, reading: Reading
) -> Iterator[PlacedDraw]:
    """Yield a draw if it is valid; record a problem otherwise."""
    share, turn = None if probability is None else parse_number(probability), parse_number(round)
    if probability is not None and share is None:
        problem = f"found the probability {quoted(probability)}"
        reading.problem(at, f"{problem}, expected a number above 0 and at most 1, or nothing")
    elif turn is None or turn != int(turn):
        reading.problem(at, f"found the round {quoted(round)}, expected a whole number from 1")
    else:
        yield at, Draw(unit, share, reason, int(turn), of)


def check_set_draws(
    draws: Iterable[PlacedDraw],
    segments: Collection[str],
    groups: Collection[str] | None,
    reading: Reading,
) -> tuple[Draw, ...]:
    """Return the draws of a set's units; record invalid ones as problems."""
    units = {SEGMENT: {*segments}, GROUP: {*(groups or ())}}
    first_locations: dict[tuple[int, str], Location] = {}
    checked: list[Draw] = []
    for location, draw in draws:
        checked.append(draw)
        of, unit, first_of = draw.of, quoted(draw.unit), checked[0].of
        first = first_locations.setdefault((draw.round, draw.unit), location)
        if of not in units:
            problem = f"found a draw of {quoted(of)}, expected segment or group"
        elif of != first_of:
            problem = f"found a draw of a {of} after one of a {first_of}"
            problem += ", expected one kind of units"
        elif draw.unit not in units[of]:
            problem = f"a draw of {of} {unit}, which is not in the set"
        else:
            problem = draw_problem(draw)
        if not problem and first is not location:
            problem = f"{of} {unit} is drawn twice in round {draw.round} (first {first})"
        if problem:
            reading.problem(location, problem)
    return tuple(checked)


def draw_problem(draw: Draw) -> str:
    """Describe an invalid probability, round or reason of a draw; "" if all are valid."""
    if draw.probability is not None and not MIN_PROBABILITY <= draw.probability <= 1:
        problem = f"found the probability {quoted(draw.probability)}"
        return f"{problem}, expected a number above 0 and at most 1"
    if not 1 <= draw.round <= MAX_ROUNDS:
        problem = f"found the round {quoted(draw.round)}"
        return f"{problem}, expected a whole number from 1 to {MAX_ROUNDS:,}"
    if any(end in draw.reason for end in "\t\n\r"):
        return f"found the reason {quoted(draw.reason)}, expected no tabs and line ends"
    return ""


def select_draws(
    draws: tuple[Draw, ...] | None, segments: Collection[str], groups: Collection[str] | None
) -> tuple[Draw, ...] | None:
    """Return the draws of these segments and groups."""
    if draws is None:
        return None
    units = {SEGMENT: {*segments}, GROUP: {*(groups or ())}}
    return tuple(draw for draw in draws if draw.unit in units[draw.of]) or None


def format_draws(draws: Sequence[Draw]) -> Iterator[str]:
    """Yield the lines of a table that reads back as these draws."""
    yield "\t".join(COLUMNS) + "\n"
    for draw in draws:
        share = "" if draw.probability is None else repr(draw.probability)
        yield "\t".join((draw.unit, draw.of, share, draw.reason, str(draw.round))) + "\n"


def draw_record(draw: Draw) -> dict[str, Any]:
    """Return a draw as an object of JSON lines."""
    share = {} if draw.probability is None else {"probability": draw.probability}
    return {"draw": draw.unit, "of": draw.of, **share, "reason": draw.reason, "round": draw.round}
