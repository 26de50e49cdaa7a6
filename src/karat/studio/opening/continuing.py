"""Checks of a store that is opened again: the same set, task and options."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent
from karat.studio.opening.asked import Asked
from karat.studio.opening.calibration_file import read_calibration
from karat.studio.opening.settings import SAME, asked_task
from karat.studio.store.imports import items_of
from karat.studio.store.projects import Project, digest_of
from karat.studio.store.settings import ProjectSettings, Show


def check_task(where: Path, asked: Asked, settings: ProjectSettings) -> None:
    """Refuse wishes for another task than the store has."""
    if not any((asked.task, asked.dimensions, asked.scales, asked.scheme)):
        return
    known = ", ".join(settings.tasks)
    tasks = asked_task(asked, asked.task or known)
    if replace(settings, tasks=tasks, calibration=()).tasks != settings.tasks:
        told = f"leave out the options of the task ({known}), or name another file with --store"
        raise InputError(f"{short(where)} was made for another task or scale: {told}")


def check_options(where: Path, asked: Asked, settings: ProjectSettings) -> None:
    """Refuse what differs from the settings that the store was made with: it would do nothing."""
    for name in (*SAME, "show", "calibration"):
        wanted = _wanted(name, asked, settings)
        if wanted is not None and wanted != getattr(settings, name):
            option = "--" + name.removesuffix("_seconds").replace("_", "-")
            told = f"leave out {option}, or name another file with --store"
            raise InputError(f"{short(where)} was made with another {option}: {told}")


def _wanted(name: str, asked: Asked, settings: ProjectSettings) -> object:
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
