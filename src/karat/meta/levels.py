"""Levels: what is correlated, over one systems x segments matrix pair in which NaN is missing.

A cell counts if it has a human score and a metric score. Where a level has groups, its value is
the mean over the groups in which the statistic is defined, and the others are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.arithmetic import exact_product, exact_sum
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.stats.correlation import Statistic, quotient, statistic, why_undefined


class Agreement(NamedTuple):
    """A statistic at a level."""

    value: float  # NaN if it is undefined
    points: int  # systems, cells or documents that were compared
    groups: int = 1  # that count
    left_out: int = 0  # groups in which the statistic is undefined
    why: str = ""  # why it is NaN


MATRIX_LEVELS = ("system", "segment", "item", "by-system")
"""Levels of two matrices: means of systems, all cells in one pool ("global", "no grouping"), the
mean over segments ("group by item") and the mean over systems ("group by system")."""


def check_matrix_level(at: str) -> None:
    """Refuse a level that matrices do not have."""
    if at not in MATRIX_LEVELS:
        raise InputError(f"level {quoted(at)}: expected one of {', '.join(MATRIX_LEVELS)}")


def agreement(
    human: Floats, metric: Floats, by: Statistic | str = "pearson", at: str = "segment"
) -> Agreement:
    """Return the agreement of a metric with humans, systems x segments, by a statistic at a level.

    A level with groups has the mean over the groups in which the statistic is defined, or pools
    their pairs, as the statistic does.
    """
    check_matrix_level(at)
    chosen = statistic(by)
    h, m = (arranged(x[None], at)[0] for x in shared(human, metric))
    points = int((~np.isnan(h)).sum())
    if at in {"system", "segment"}:
        value = chosen(h, m)
        why = why_undefined(h, m) or "humans tell no two points so far apart"
        return Agreement(value, points, why=why if np.isnan(value) else "")
    value, groups, left_out = chosen.over(h, m)
    what = "segment" if at == "item" else "system"
    why = f"in no {what} do both human and metric scores differ" if np.isnan(value) else ""
    return Agreement(value, points, groups, left_out, why)


# --------------------------------------------------------------------- many matrices at once


def arranged(stack: NDArray[Any], at: str) -> NDArray[Any]:
    """Draws x systems x segments as draws x groups x points, as the level compares them."""
    if at == "system":
        return row_means(stack.reshape(-1, stack.shape[2])).reshape(len(stack), 1, -1)
    if at == "segment":
        return stack.reshape(len(stack), 1, -1)
    return stack.swapaxes(1, 2) if at == "item" else stack


def each_group(human: Floats, metric: Floats, by: Statistic) -> Floats:
    """Draws x groups: the statistic of every group of two arranged stacks, NaN if undefined.

    Of pooled statistics it is draws x groups x parts.
    """
    flat = human.shape[0] * human.shape[1], human.shape[2]
    found = by.each_group(human.reshape(flat), metric.reshape(flat))
    return found.reshape(*human.shape[:2], *found.shape[1:])


def over_groups(by: Statistic, found: Floats, times: Floats | None = None) -> Floats:
    """Return the statistic of each draw from what `each_group` has; `times` are of the groups."""
    return by.pooled.total(found, times) if by.pooled else mean_of_defined(found, times)


def mean_of_defined(values: Floats, times: Floats | None = None) -> Floats:
    """The mean of each row without NaN; with `times`, each value counts so often."""
    known = (~np.isnan(values)).astype(np.float64)
    weights = known if times is None else known * times
    return quotient((np.nan_to_num(values) * weights).sum(axis=1), weights.sum(axis=1))


# ---------------------------------------------------------------------------------- cells


def shared(human: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Both with NaN wherever one of them has it."""
    if human.shape != metric.shape or human.ndim != 2:
        shapes = f"human scores have the shape {human.shape} and metric scores {metric.shape}"
        raise InputError(f"{shapes}: expected the same, systems x segments")
    missing = np.isnan(human) | np.isnan(metric)
    return np.where(missing, np.nan, human), np.where(missing, np.nan, metric)


def row_means(scores: Floats) -> Floats:
    """The mean of each row's numbers; NaN for a row without any."""
    counts = (~np.isnan(scores)).sum(axis=1)
    return quotient(exact_sum(np.nan_to_num(scores), axis=1), counts)


def drawn_means(scores: Floats, counts: Floats) -> Floats:
    """Draws x systems: the mean score of the segments drawn, NaN where none is known."""
    known = ~np.isnan(scores)
    return quotient(*(exact_product(counts, x.T) for x in (np.nan_to_num(scores), known)))


def document_means(scores: Floats, documents: Sequence[Any]) -> Floats:
    """systems x documents: means over the segments s with documents[s] equal, NaN left out.

    Documents are in order of first sight.
    """
    if len(documents) != scores.shape[1]:
        sizes = f"{len(documents)} documents for {scores.shape[1]} segments"
        raise InputError(f"{sizes}: expected one a segment")
    return np.stack([row_means(scores[:, columns]) for columns in members(documents)], axis=1)


def members(documents: Sequence[Any]) -> list[Ints]:
    """The segments of each document, documents in order of first sight."""
    found: dict[Any, list[int]] = {}
    for s, name in enumerate(documents):
        found.setdefault(name, []).append(s)
    return [np.array(inside) for inside in found.values()]
