"""The settings of a new project, from what a user asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent
from karat.studio.opening.options import StudioOptions
from karat.studio.store.calibration import read_calibration
from karat.studio.store.imports import comparing, items_of
from karat.studio.store.projects import Project, digest_of
from karat.studio.store.settings import ProjectSettings, Show
from karat.studio.tasks import TASKS
from karat.studio.tasks.ratings import SCALES

_POINTS = {"5": (1, 5), "7": (1, 7), "100": (0, 100)}
_SHOWN_TEXTS = ("source", "context", "reference")
_PROJECT_SETTINGS = {setting.name for setting in fields(ProjectSettings)} - {"show", "calibration"}
SAME_SETTINGS = tuple(
    option.name for option in fields(StudioOptions) if option.name in _PROJECT_SETTINGS
)
"""Options that are settings of a project under the same name."""

Tasks = dict[str, dict[str, Any]]


def settings_of(asked: StudioOptions, tasks: Tasks, found: EvalSet | NuggetSet) -> ProjectSettings:
    """Return the settings of a project on a set."""
    (task,) = tasks
    known = () if asked.calibration is None else read_calibration(asked.calibration, task)
    show = shown_parts(asked.show, tasks, found)
    same = {name: value for name in SAME_SETTINGS if (value := getattr(asked, name)) is not None}
    return ProjectSettings(tasks, show, calibration=known, **same)


def shown_parts(asked: Sequence[str], tasks: Tasks, found: EvalSet | NuggetSet) -> Show:
    """Return the texts to show: those asked for, else source, context and what is compared."""
    there = _available_texts(found)
    if not asked:
        return Show(reference=bool(comparing(tasks)) and not there["source"])
    if unknown := [part for part in asked if part not in there]:
        raise InputError(f"--show: found {quoted(unknown[0])}, expected {', '.join(_SHOWN_TEXTS)}")
    if lacking := [part for part in asked if not there[part]]:
        told = "groups with sources" if lacking[0] == "context" else f"{lacking[0]}s"
        raise InputError(f"--show {lacking[0]}: {short(found.name)} has no {told}: leave it out")
    return Show(**{part: part in asked for part in _SHOWN_TEXTS})


def _available_texts(found: EvalSet | NuggetSet) -> dict[str, bool]:
    """Return which texts a set has; the source of a nugget set is its questions."""
    if isinstance(found, NuggetSet):
        return {"source": True, "context": False, "reference": False}
    source = found.sources is not None and any(found.sources)
    reference = found.references is not None and any(map(any, found.references))
    return {"source": source, "context": source and bool(found.groups), "reference": reference}


def asked_task(asked: StudioOptions, task: str) -> Tasks:
    """Return the task with its settings in full; wishes about other tasks are refused."""
    if task != "ratings" and (asked.dimensions or asked.scales):
        raise InputError(f"--dimension and --scale are for ratings: leave them out for {task}")
    if task != "spans" and asked.scheme:
        raise InputError(f"--scheme is for spans: leave it out for {task}")
    if task not in TASKS:
        raise InputError(f"no task {quoted(task)}: expected one of {', '.join(TASKS)}")
    given: dict[str, Any] = {"scheme": asked.scheme} if asked.scheme else {}
    if task == "ratings":
        given = {"scales": _choose_scales(asked.dimensions, asked.scales)}
    return {task: TASKS[task].settings(given)}


def _choose_scales(dimensions: Sequence[str], scales: Sequence[str]) -> list[Any]:
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
    return [*(_sized_scale(name, size) for name in dimensions), *named]


def _sized_scale(dimension: str, size: str) -> Any:
    low, high = _POINTS[size]
    name = f"{dimension}-{size}"
    if name in SCALES:
        return name
    compares = any(one.compares for one in SCALES.values() if one.dimension == dimension)
    return {"dimension": dimension, "low": low, "high": high, "compares": compares}


def check_task(where: Path, asked: StudioOptions, settings: ProjectSettings) -> None:
    """Refuse wishes for another task than the store has."""
    if not any((asked.task, asked.dimensions, asked.scales, asked.scheme)):
        return
    known = ", ".join(settings.tasks)
    tasks = asked_task(asked, asked.task or known)
    if replace(settings, tasks=tasks, calibration=()).tasks != settings.tasks:
        told = f"leave out the options of the task ({known}), or name another file with --store"
        raise InputError(f"{short(where)} was made for another task or scale: {told}")


def check_options(where: Path, asked: StudioOptions, settings: ProjectSettings) -> None:
    """Refuse what differs from the settings that the store was made with: it would do nothing."""
    for name in (*SAME_SETTINGS, "show", "calibration"):
        wanted = _wanted(name, asked, settings)
        if wanted is not None and wanted != getattr(settings, name):
            option = "--" + name.removesuffix("_seconds").replace("_", "-")
            told = f"leave out {option}, or name another file with --store"
            raise InputError(f"{short(where)} was made with another {option}: {told}")


def _wanted(name: str, asked: StudioOptions, settings: ProjectSettings) -> object:
    """Return the setting that is asked for; None if nothing was said."""
    if name == "show":
        parts = {part.name: part.name in asked.show for part in fields(Show)}
        return Show(**parts) if asked.show else None
    if name == "calibration" and asked.calibration is not None:
        return read_calibration(asked.calibration, next(iter(settings.tasks)))
    return getattr(asked, name)


def check_set(
    where: Path, given: EvalSet | NuggetSet, settings: ProjectSettings, found: Project
) -> bool:
    """Refuse a store of another set; return whether the texts are still the same."""
    if given.name != found.name:
        told = f"{quoted(found.name)}, not {quoted(given.name)}: name another file with --store"
        raise InputError(f"{short(where)} has judgements of {told}")
    return digest_of(items_of(given, settings, silent)) == found.set_digest
