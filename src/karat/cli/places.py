"""Which segments are shown: those numbered, or those with the worst scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.metrics.base import Metric
    from karat.progress import Progress
    from karat.text.references import References
    from karat.text.segments import Lines


def check_choice_of_segments(segments: tuple[int, ...], worst: int | None) -> None:
    """Refuse two ways to choose at once."""
    if segments and worst:
        raise InputError("--segment and --worst both choose segments: leave one out")


def chosen_places(
    metric: Metric,
    lines: Lines,
    refs: References,
    segments: tuple[int, ...],
    worst: int | None,
    progress: Progress,
) -> list[int]:
    """The places, from 0, of the segments asked for; of none, the first."""
    if worst:
        return _worst(metric, lines, refs, worst, progress)
    return _numbered(segments or (1,), lines)


def _numbered(segments: tuple[int, ...], lines: Lines) -> list[int]:
    for number in segments:
        if number > len(lines):
            raise InputError(
                f"--segment {number}: the last segment of {lines.name} is {len(lines):,}"
            )
    return [number - 1 for number in dict.fromkeys(segments)]


def _worst(
    metric: Metric, lines: Lines, refs: References, count: int, progress: Progress
) -> list[int]:
    """The segments with the worst scores, the worst first, of equals the first."""
    values = metric.sign * metric.segments(lines, refs, progress=progress)
    return [int(place) for place in values.argsort(kind="stable")[:count]]
