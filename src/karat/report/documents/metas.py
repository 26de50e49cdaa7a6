"""The report of `meta`: metrics ranked by their agreement with human scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.model.cells import several
from karat.report.model.table import Cell, Column, Document, Table

if TYPE_CHECKING:
    from karat.meta.experiment import MetaEvaluation, MetaRow
    from karat.metrics.base import Metric

_ROWS = (
    Column("heading", "Heading", readers="people"),
    Column("dimension", "Dimension", readers="programs"),
    Column("level", "Level", readers="programs"),
    Column("statistic", "Statistic", readers="programs"),
    Column(
        "rank",
        "Rank",
        align="right",
        help="Metrics with the same rank do not differ significantly.",
    ),
    Column("metric", "Metric", help="The metric's name; its full signature stands below."),
    Column(
        "value", "Value", 3, align="right", help="The statistic; more is better (less for rmse)."
    ),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% bootstrap interval."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% bootstrap interval."),
    Column("points", "Points", align="right", readers="programs"),
    Column("groups", "Groups", align="right", readers="programs"),
    Column("left_out", "Left out", align="right", readers="programs"),
    Column("undefined", "Undefined", align="right", readers="programs"),
    Column("note", "", wrap=True),
)
_TESTS = (
    Column("dimension", "Dimension"),
    Column("level", "Level"),
    Column("statistic", "Statistic"),
    Column("better", "Better"),
    Column("worse", "Worse"),
    Column("delta", "Delta"),
    Column("p", "p"),
)


def meta_document(result: MetaEvaluation, command: str) -> Document:
    """Metrics ranked, by dimension, level and statistic."""
    return Document(
        title=f"Metrics and humans on {result.evalset.name}",
        blocks=(meta_table(result), _tests(result)),
        command=command,
        signatures={str(m): result.scored.signature(m) for m in _shown(result)},
        notes=notes(result),
    )


def _shown(result: MetaEvaluation) -> dict[Metric, None]:
    """The metrics of all rows; some score segments under another name."""
    return dict.fromkeys(m for of in result.scored.metrics for m in _variants(result, of))


def _variants(result: MetaEvaluation, of: Metric) -> list[Metric]:
    used = {row.metric for row in result.rows}
    return [m for m in dict.fromkeys((of, of.of_segments())) if m in used]


def meta_table(result: MetaEvaluation) -> Table:
    """One row for each metric, grouped by dimension, level and statistic."""
    headings = _headings(result.rows)
    rows = [_row(row, headings[_place(row)]) for row in result.rows]
    if not any(row["note"] for row in rows):
        for row in rows:
            del row["note"]
    columns = tuple(c for c in _ROWS if c.key != "note" or any("note" in row for row in rows))
    return Table("rows", "Agreement with human scores", columns, tuple(rows), group="heading")


def _row(row: MetaRow, heading: str) -> dict[str, Cell]:
    found = row.agreement
    return {
        "heading": heading,
        "dimension": row.dimension,
        "level": row.level,
        "statistic": row.statistic,
        "rank": row.rank,
        "metric": str(row.metric),
        "value": found.value,
        "low": row.low,
        "high": row.high,
        "points": found.points,
        "groups": found.groups,
        "left_out": found.left_out,
        "undefined": row.undefined,
        "note": _note(row),
    }


def _place(row: MetaRow) -> tuple[str, str, str]:
    return row.dimension, row.level, row.statistic


def _headings(rows: Sequence[MetaRow]) -> dict[tuple[str, str, str], str]:
    """The heading of each place: points, and how many groups count of how many."""
    found: dict[tuple[str, str, str], list[MetaRow]] = {}
    for row in rows:
        found.setdefault(_place(row), []).append(row)
    return {place: f"{', '.join(place)}: {_counts(mine)}" for place, mine in found.items()}


def _counts(rows: Sequence[MetaRow]) -> str:
    first = rows[0].agreement
    total = first.groups + first.left_out
    points = several(first.points, "point")
    if total < 2:
        return points
    used = [row.agreement.groups for row in rows]
    low, high = min(used), max(used)
    some = f"{low:,} of " if low == high else f"{low:,} to {high:,} of "
    return f"{points}, {some if low < total else ''}{total:,} groups"


def _note(row: MetaRow) -> str:
    if math.isnan(row.agreement.value):
        return f"undefined: {row.agreement.why}"
    if row.undefined:
        return f"undefined in {several(row.undefined, 'resample')}"
    return ""


def _tests(result: MetaEvaluation) -> Table:
    rows: Sequence[dict[str, Cell]] = [
        {
            "dimension": test.dimension,
            "level": test.level,
            "statistic": test.statistic,
            "better": str(test.better),
            "worse": str(test.worse),
            "delta": test.delta,
            "p": test.p,
        }
        for test in result.tests
    ]
    return Table("tests", "Tests", _TESTS, tuple(rows), readers="programs")


def notes(result: MetaEvaluation) -> tuple[str, ...]:
    """How intervals and ranks were made, and what the reader should know of the data."""
    from karat.stats.correlation import statistic
    from karat.stats.significance.exchanges import MOST_EXACT

    asked = result.experiment
    found = []
    if asked.resamples:
        over = "systems and segments" if asked.over == "both" else asked.over
        alone = [name for name in asked.statistics if statistic(name).behind is not None]
        if alone and asked.over != "segments":
            over += f" (for {' and '.join(alone)}, of segments alone)"
        found.append(
            f"Intervals: 95%, from {asked.resamples:,} bootstrap resamples of {over}, seed "
            f"{asked.seed}."
        )
    if result.tests:
        corrected = "" if asked.correction == "none" else f", {asked.correction} correction"
        found.append(
            f"Ranks: a metric starts a new rank where one of the present rank is better than it at "
            f"p of at most {asked.level:g} (PERM-BOTH, {asked.trials:,} trials{corrected}; where "
            f"{MOST_EXACT} points or fewer are compared, all exchanges)."
        )
    untested = [name for name in asked.statistics if not statistic(name).tested]
    if asked.trials and len(asked.metrics) > 1 and untested:
        found.append(f"No ranks by {' and '.join(untested)}: PERM-BOTH does not take it.")
    if any(row.agreement.left_out for row in result.rows):
        found.append(
            "Groups: the mean is over those in which the statistic is defined; where all scores of "
            "humans or metric are equal, it is not."
        )
    return (*found, *_turned(result), *_few(result), *result.evalset.remarks)


def _turned(result: MetaEvaluation) -> list[str]:
    """State the one convention of signs, where a metric has the other."""
    rates = [str(m) for m in result.scored.metrics if m.sign < 0]
    if not rates:
        return []
    return [
        f"Signs: {' and '.join(rates)} {'is' if len(rates) == 1 else 'are'} lower for better "
        "outputs and negated here, so that a positive correlation is agreement for every metric."
    ]


ENOUGH_SYSTEMS = 10


def _few(result: MetaEvaluation) -> list[str]:
    """A warning where few systems were compared as systems."""
    rows = [row for row in result.rows if row.level.startswith("system")]
    fewest = min((row.agreement.points for row in rows), default=ENOUGH_SYSTEMS)
    if fewest >= ENOUGH_SYSTEMS:
        return []
    return [
        f"{several(fewest, 'system')} {'is' if fewest == 1 else 'are'} few: at the level of "
        "systems almost any order of metrics may be chance."
    ]
