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
from karat.studio.store.imports import make_import
from karat.studio.store.projects import Project, digest_texts
from karat.studio.store.settings import ProjectSettings, Show, compared_dimensions
from karat.studio.tasks import RATINGS, SPANS, TASKS
from karat.studio.tasks.ratings import SCALES

_POINTS = {"5": (1, 5), "7": (1, 7), "100": (0, 100)}
_SHOWN_TEXTS = ("source", "context", "reference")
_PROJECT_SETTINGS = {setting.name for setting in fields(ProjectSettings)} - {"show", "calibration"}
SAME_SETTINGS = tuple(
    option.name for option in fields(StudioOptions) if option.name in _PROJECT_SETTINGS
)
"""Options that are settings of a project under the same name."""

Tasks = dict[str, dict[str, Any]]


def make_settings(
    options: StudioOptions, tasks: Tasks, source_set: EvalSet | NuggetSet
) -> ProjectSettings:
    """Return the settings of a project on a set."""
    (task,) = tasks
    calibration = () if options.calibration is None else read_calibration(options.calibration, task)
    show = choose_shown_texts(options.show, tasks, source_set)
    project_settings = {
        name: value for name in SAME_SETTINGS if (value := getattr(options, name)) is not None
    }
    return ProjectSettings(tasks, show, calibration=calibration, **project_settings)


def choose_shown_texts(parts: Sequence[str], tasks: Tasks, source_set: EvalSet | NuggetSet) -> Show:
    """Return the texts to show: by default source, context and the text to compare with."""
    available = _available_texts(source_set)
    if not parts:
        return Show(reference=bool(compared_dimensions(tasks)) and not available["source"])
    if unknown := [part for part in parts if part not in available]:
        raise InputError(f"--show: found {quoted(unknown[0])}, expected {', '.join(_SHOWN_TEXTS)}")
    if lacking := [part for part in parts if not available[part]]:
        lacking_texts = "groups with sources" if lacking[0] == "context" else f"{lacking[0]}s"
        raise InputError(
            f"--show {lacking[0]}: {short(source_set.name)} has no {lacking_texts}: leave it out"
        )
    return Show(**{part: part in parts for part in _SHOWN_TEXTS})


def _available_texts(source_set: EvalSet | NuggetSet) -> dict[str, bool]:
    """Return which texts a set has; the source of a nugget set is its questions."""
    if isinstance(source_set, NuggetSet):
        return {"source": True, "context": False, "reference": False}
    source = source_set.sources is not None and any(source_set.sources)
    reference = source_set.references is not None and any(map(any, source_set.references))
    return {"source": source, "context": source and bool(source_set.groups), "reference": reference}


def make_task_settings(options: StudioOptions, task: str) -> Tasks:
    """Return the task with its settings in full; wishes about other tasks are refused."""
    if task != RATINGS.name and (options.dimensions or options.scales):
        raise InputError(f"--dimension and --scale are for ratings: leave them out for {task}")
    if task != SPANS.name and options.scheme:
        raise InputError(f"--scheme is for spans: leave it out for {task}")
    if task not in TASKS:
        raise InputError(f"no task {quoted(task)}: expected one of {', '.join(TASKS)}")
    task_options: dict[str, Any] = {"scheme": options.scheme} if options.scheme else {}
    if task == RATINGS.name:
        task_options = {"scales": _choose_scales(options.dimensions, options.scales)}
    return {task: TASKS[task].settings(task_options)}


def _choose_scales(dimensions: Sequence[str], scales: Sequence[str]) -> list[Any]:
    """Return named scales as they are, and a size such as 7 for each dimension."""
    sizes = [scale for scale in scales if scale in _POINTS]
    scale_names = [scale for scale in scales if scale not in _POINTS]
    if wrong := [scale for scale in scale_names if scale.isdigit()]:
        raise InputError(f"--scale {wrong[0]}: expected 5, 7, 100 or a name such as quality-7")
    if len(sizes) > 1:
        raise InputError(f"--scale {sizes[1]}: expected one size for all dimensions")
    if sizes and not dimensions:
        advice = f"name what is rated, as in --dimension quality --scale {sizes[0]}"
        raise InputError(f"--scale {sizes[0]}: {advice}")
    if not scales and not dimensions:
        return ["quality-7"]
    size = sizes[0] if sizes else "7"
    return [*(_sized_scale(name, size) for name in dimensions), *scale_names]


def _sized_scale(dimension: str, size: str) -> Any:
    low, high = _POINTS[size]
    name = f"{dimension}-{size}"
    if name in SCALES:
        return name
    compares = any(scale.compares for scale in SCALES.values() if scale.dimension == dimension)
    return {"dimension": dimension, "low": low, "high": high, "compares": compares}


def check_task(path: Path, options: StudioOptions, settings: ProjectSettings) -> None:
    """Raise InputError if the options ask for another task than the store has."""
    if not any((options.task, options.dimensions, options.scales, options.scheme)):
        return
    task_names = ", ".join(settings.tasks)
    tasks = make_task_settings(options, options.task or task_names)
    if replace(settings, tasks=tasks, calibration=()).tasks != settings.tasks:
        advice = (
            f"leave out the options of the task ({task_names}), or name another file with --store"
        )
        raise InputError(f"{short(path)} was made for another task or scale: {advice}")


def check_options(path: Path, options: StudioOptions, settings: ProjectSettings) -> None:
    """Raise InputError for options that differ from the settings of the store."""
    for name in (*SAME_SETTINGS, "show", "calibration"):
        value = _requested_setting(name, options, settings)
        if value is not None and value != getattr(settings, name):
            option_name = "--" + name.removesuffix("_seconds").replace("_", "-")
            advice = f"leave out {option_name}, or name another file with --store"
            raise InputError(f"{short(path)} was made with another {option_name}: {advice}")


def _requested_setting(name: str, options: StudioOptions, settings: ProjectSettings) -> object:
    """Return the setting that is asked for; None if nothing was said."""
    if name == "show":
        parts = {part.name: part.name in options.show for part in fields(Show)}
        return Show(**parts) if options.show else None
    if name == "calibration" and options.calibration is not None:
        return read_calibration(options.calibration, next(iter(settings.tasks)))
    return getattr(options, name)


def check_set(
    path: Path, source_set: EvalSet | NuggetSet, settings: ProjectSettings, current_project: Project
) -> bool:
    """Return whether the texts are unchanged; raise InputError if the store is of another set."""
    if source_set.name != current_project.name:
        names = f"{quoted(current_project.name)}, not {quoted(source_set.name)}"
        raise InputError(f"{short(path)} has judgements of {names}: name another file with --store")
    return digest_texts(make_import(source_set, settings, silent)) == current_project.set_digest
