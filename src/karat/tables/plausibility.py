"""Ratings that do not fit together: a value far outside, judges on scales that clearly differ.

A mean over two scales says nothing, so such tables are refused unless the scale is declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import Location
from karat.tables.cells import highest_rating, is_percentage
from karat.tables.roles import option, option_name

_FEWEST = 3  # ratings of a judge that show a scale
_WHOLE = ((1.0, 5.0), (0.0, 5.0), (1.0, 7.0), (1.0, 10.0), (0.0, 10.0))


class RatedCell(NamedTuple):
    """One rating under a dimension."""

    location: Location
    column: str
    judge: str
    cell: Any
    value: float

    @property
    def is_truth(self) -> bool:
        """Whether the cell is true or false."""
        is_text = isinstance(self.cell, str) and self.cell.strip().lower() in ("true", "false")
        return isinstance(self.cell, bool) or is_text


def check_ratings(dimension: str, ratings: Sequence[RatedCell], *, is_count: bool) -> None:
    """Refuse ratings without a declared scale that do not fit together; counts have no limit."""
    _check_percentages(dimension, ratings)
    _check_ends(dimension, ratings)
    if not is_count:
        _check_outliers(dimension, ratings)
    _check_judges(dimension, ratings)


def _advice(dimension: str, scale: str, column: str) -> str:
    text = f"{dimension}={scale}"
    text = text if dimension.isalnum() else quoted(text)
    return (
        f"state the scale with {option_name('scale')} {text}, or leave the column out with "
        f"{option('ignore', column)}"
    )


def _check_percentages(dimension: str, ratings: Sequence[RatedCell]) -> None:
    """Refuse percentages beside ratings on a small scale."""
    percentages = [rating for rating in ratings if is_percentage(rating.cell)]
    numbers = [rating.value for rating in ratings if not is_percentage(rating.cell)]
    if percentages and numbers and max(numbers) <= 10 < max(r.value for r in percentages):
        first = percentages[0]
        raise InputError(
            f"{first.location}: found {quoted(first.cell)} in column {quoted(first.column)}, where "
            f"other ratings of {short(dimension)} are from {min(numbers):g} to {max(numbers):g}: "
            + _advice(dimension, f"{min(numbers):g}..{max(numbers):g}", first.column)
        )


def _check_ends(dimension: str, ratings: Sequence[RatedCell]) -> None:
    """Refuse ratings such as `4/10` beside `4/5`, or beside numbers that are all small."""
    ends = {highest_rating(rating.cell) for rating in ratings}
    named_ends = sorted(end for end in ends if end is not None)
    numbers = [rating.value for rating in ratings if highest_rating(rating.cell) is None]
    if not named_ends:
        return
    last = named_ends[-1]
    if len(named_ends) == 1 and not (numbers and not last / 2 < max(numbers) <= last):
        return
    first = next(rating for rating in ratings if highest_rating(rating.cell) == last)
    expected = f"to {named_ends[0]:g}" if len(named_ends) > 1 else f"up to {max(numbers):g}"
    raise InputError(
        f"{first.location}: found {quoted(first.cell)} in column {quoted(first.column)}, where "
        f"other ratings of {short(dimension)} are {expected}: "
        + _advice(dimension, f"{min(r.value for r in ratings):g}..{last:g}", first.column)
    )


def _check_outliers(dimension: str, ratings: Sequence[RatedCell]) -> None:
    """Refuse one rating, or a few of very many, that is far outside the scale of all others."""
    if len(ratings) <= _FEWEST:
        return
    n_outside = max(1, len(ratings) // 50)
    order = sorted(ratings, key=lambda rating: rating.value)
    for rest, outside in (
        (order[:-n_outside], order[-n_outside:]),
        (order[n_outside:], order[:n_outside][::-1]),
    ):
        low, high = rest[0].value, rest[-1].value
        is_fraction = any(not (2 * rating.value).is_integer() for rating in rest) and high <= 1
        scales = ((0.0, 1.0),) if is_fraction else _WHOLE
        scale = next((ends for ends in scales if ends[0] <= low and high <= ends[1]), None)
        if scale is None:
            continue
        far = [
            rating
            for rating in outside
            if max(scale[0] - rating.value, rating.value - scale[1]) > 2 * (scale[1] - scale[0])
        ]
        if far:
            first = far[0]
            raise InputError(
                f"{first.location}: found {first.value:g} in column {quoted(first.column)}, far "
                f"from other ratings of {short(dimension)}, which are from {low:g} to {high:g}: "
                + _advice(dimension, f"{scale[0]:g}..{scale[1]:g}", first.column)
            )


def _check_judges(dimension: str, ratings: Sequence[RatedCell]) -> None:
    """Refuse two judges whose ratings are clearly on different scales."""
    by_judge: dict[str, list[RatedCell]] = {}
    for rating in ratings:
        by_judge.setdefault(rating.judge, []).append(rating)
    judges = [cells for cells in by_judge.values() if len(cells) >= _FEWEST]
    judges.sort(key=lambda cells: max(rating.value for rating in cells))
    if len(judges) < 2:
        return
    for smaller in judges[:-1]:
        for larger in (judges[-1], judges[len(judges) // 2]):
            if _differ(smaller, larger):
                raise _different_scales(dimension, smaller, larger)


def _differ(smaller: Sequence[RatedCell], larger: Sequence[RatedCell]) -> bool:
    """Return whether the ratings of a judge are clearly on a smaller scale than another's."""
    low, high = (function(rating.value for rating in smaller) for function in (min, max))
    values = [rating.value for rating in larger]
    if high <= 10 and max(values) > 10:
        return median(values) > 2 * max(high, 5)
    if high > 1 or max(values) <= 1:
        return False
    if all(r.is_truth for r in smaller) and not all(r.is_truth for r in larger):
        return True
    is_fraction = any(not rating.value.is_integer() for rating in smaller)
    is_from_zero = low <= 0 < len({rating.value for rating in smaller}) - 1
    return min(values) >= 1 and max(values) > 3 and (is_fraction or is_from_zero)


def _different_scales(
    dimension: str, smaller: Sequence[RatedCell], larger: Sequence[RatedCell]
) -> InputError:
    ranges = [
        f"{min(r.value for r in cells):g} to {max(r.value for r in cells):g}"
        for cells in (smaller, larger)
    ]
    first, second = smaller[0], larger[0]
    column = first.column if first.column != second.column else ""
    low = min(r.value for r in (*smaller, *larger))
    high = max(r.value for r in (*smaller, *larger))
    advice = _advice(dimension, f"{low:g}..{high:g}", column or first.column)
    if not column:
        advice = advice.split(", or leave")[0] + ", or convert the ratings of one judge"
    return InputError(
        f"{second.location}: judges {quoted(first.judge)} and {quoted(second.judge)} seem to use "
        f"different scales for {short(dimension)} ({ranges[0]} and {ranges[1]}): {advice}"
    )
