"""The settings of a new project, from the options of `karat studio`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.errors import InputError
from karat.studio.store.settings import ProjectSettings, Show
from karat.studio.tasks.scales import SCALES

_POINTS = {"5": (1, 5), "7": (1, 7), "100": (0, 100)}
_PARTS = ("source", "context", "reference")


def settings_of(
    task: str,
    dimensions: Sequence[str],
    scales: Sequence[str],
    scheme: str | None,
    overlap: int,
    show: Sequence[str],
    quota: int | None,
    seed: int,
) -> ProjectSettings:
    """Return the settings of a project."""
    tasks = asked_task(task, dimensions, scales, scheme)
    return ProjectSettings(tasks, shown_parts(show), overlap, quota, seed=seed)


def shown_parts(show: Sequence[str]) -> Show:
    """Return the texts to show; without names, those that are shown if nothing is said."""
    return Show(**{part: part in show for part in _PARTS}) if show else Show()


def asked_task(
    task: str, dimensions: Sequence[str], scales: Sequence[str], scheme: str | None
) -> dict[str, dict[str, Any]]:
    """Return the task with its settings; options of other tasks are refused."""
    if task != "ratings" and (dimensions or scales):
        raise InputError(f"--dimension and --scale are for ratings: leave them out for {task}")
    if task != "spans" and scheme:
        raise InputError(f"--scheme is for spans: leave it out for {task}")
    if task == "ratings":
        return {task: {"scales": _scales(dimensions, scales)}}
    return {task: {"scheme": scheme} if scheme else {}}


def _scales(dimensions: Sequence[str], scales: Sequence[str]) -> list[Any]:
    """Return named scales as they are, and a size such as 7 for each dimension."""
    sizes = [one for one in scales if one in _POINTS]
    named = [one for one in scales if one not in _POINTS]
    if len(sizes) > 1:
        raise InputError(f"--scale {sizes[1]}: expected one size for all dimensions")
    if sizes and not dimensions:
        told = f"name what is rated, as in --dimension quality --scale {sizes[0]}"
        raise InputError(f"--scale {sizes[0]}: {told}")
    if not scales and not dimensions:
        return ["quality-7"]
    size = sizes[0] if sizes else "7"
    return [*(_sized(name, size) for name in dimensions), *named]


def _sized(dimension: str, size: str) -> Any:
    low, high = _POINTS[size]
    name = f"{dimension}-{size}"
    return name if name in SCALES else {"dimension": dimension, "low": low, "high": high}
