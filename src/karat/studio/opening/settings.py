"""The settings of a new project, from what a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.opening.asked import Asked
from karat.studio.opening.calibration_file import read_calibration
from karat.studio.store.imports import comparing
from karat.studio.store.settings import ProjectSettings, Show
from karat.studio.tasks import TASKS
from karat.studio.tasks.scales import SCALES

_POINTS = {"5": (1, 5), "7": (1, 7), "100": (0, 100)}
_PARTS = ("source", "context", "reference")
SAME = ("overlap", "quota", "seed", "predictor", "random_share", "lease_seconds")
"""Wishes that are settings of the same name."""

Tasks = dict[str, dict[str, Any]]


def settings_of(asked: Asked, tasks: Tasks, found: EvalSet | NuggetSet) -> ProjectSettings:
    """Return the settings of a project on a set."""
    (task,) = tasks
    known = () if asked.calibration is None else read_calibration(asked.calibration, task)
    show = shown_parts(asked.show, tasks, found)
    same = {name: value for name in SAME if (value := getattr(asked, name)) is not None}
    return ProjectSettings(tasks, show, calibration=known, **same)


def shown_parts(asked: Sequence[str], tasks: Tasks, found: EvalSet | NuggetSet) -> Show:
    """Return the texts to show: those asked for, else source, context and what is compared."""
    there = _there(found)
    if not asked:
        return Show(reference=bool(comparing(tasks)) and not there["source"])
    if unknown := [part for part in asked if part not in there]:
        raise InputError(f"--show: found {quoted(unknown[0])}, expected {', '.join(_PARTS)}")
    if lacking := [part for part in asked if not there[part]]:
        told = "groups with sources" if lacking[0] == "context" else f"{lacking[0]}s"
        raise InputError(f"--show {lacking[0]}: {short(found.name)} has no {told}: leave it out")
    return Show(**{part: part in asked for part in _PARTS})


def _there(found: EvalSet | NuggetSet) -> dict[str, bool]:
    """Return which texts a set has; the source of a nugget set is its questions."""
    if isinstance(found, NuggetSet):
        return {"source": True, "context": False, "reference": False}
    source = found.sources is not None and any(found.sources)
    reference = found.references is not None and any(map(any, found.references))
    return {"source": source, "context": source and bool(found.groups), "reference": reference}


def asked_task(asked: Asked, task: str) -> Tasks:
    """Return the task with its settings in full; wishes about other tasks are refused."""
    if task != "ratings" and (asked.dimensions or asked.scales):
        raise InputError(f"--dimension and --scale are for ratings: leave them out for {task}")
    if task != "spans" and asked.scheme:
        raise InputError(f"--scheme is for spans: leave it out for {task}")
    if task not in TASKS:
        raise InputError(f"no task {quoted(task)}: expected one of {', '.join(TASKS)}")
    given: dict[str, Any] = {"scheme": asked.scheme} if asked.scheme else {}
    if task == "ratings":
        given = {"scales": _scales(asked.dimensions, asked.scales)}
    return {task: TASKS[task].settings(given)}


def _scales(dimensions: Sequence[str], scales: Sequence[str]) -> list[Any]:
    """Return named scales as they are, and a size such as 7 for each dimension."""
    sizes = [one for one in scales if one in _POINTS]
    named = [one for one in scales if one not in _POINTS]
    if wrong := [one for one in named if one.isdigit()]:
        raise InputError(f"--scale {wrong[0]}: expected 5, 7, 100 or a name such as quality-7")
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
    if name in SCALES:
        return name
    compares = any(one.compares for one in SCALES.values() if one.dimension == dimension)
    return {"dimension": dimension, "low": low, "high": high, "compares": compares}
