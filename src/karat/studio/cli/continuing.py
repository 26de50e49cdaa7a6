"""Checks of a store that is opened again: the same set, task and options."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent
from karat.studio.cli.calibration_file import read_calibration
from karat.studio.cli.settings import asked_task
from karat.studio.store.imports import items_of
from karat.studio.store.projects import Project, digest_of
from karat.studio.store.settings import ProjectSettings, Show

_FIXED = ("overlap", "quota", "show", "seed", "predictor", "random_share", "calibration")


def check_task(where: Path, given: dict[str, Any], settings: ProjectSettings) -> None:
    """Refuse options that ask for another task than the store has."""
    options = [given[key] for key in ("dimensions", "scales", "scheme")]
    if not any((given["task"], *options)):
        return
    known = ", ".join(settings.tasks)
    asked = asked_task(given["task"] or known, options[0], options[1], options[2])
    if replace(settings, tasks=asked, calibration=()).tasks != settings.tasks:
        told = f"leave out the options of the task ({known}), or name another file with --store"
        raise InputError(f"{short(where)} was made for another task: {told}")


def check_options(where: Path, given: dict[str, Any], settings: ProjectSettings) -> None:
    """Refuse an option that differs from what the store was made with: it would do nothing."""
    context = click.get_current_context()
    for name in _FIXED:
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if _asked(name, given, settings) != getattr(settings, name):
            option = f"--{name.replace('_', '-')}"
            told = f"leave out {option}, or name another file with --store"
            raise InputError(f"{short(where)} was made with another {option}: {told}")


def _asked(name: str, given: dict[str, Any], settings: ProjectSettings) -> object:
    """Return the setting that an option asks for."""
    if name == "show":
        return Show(**{part.name: part.name in given["show"] for part in fields(Show)})
    if name == "calibration":
        return read_calibration(given["calibration"], next(iter(settings.tasks)))
    return given[name]


def check_set(
    where: Path, given: EvalSet | NuggetSet, settings: ProjectSettings, found: Project
) -> bool:
    """Refuse a store of another set; return whether the texts are still the same."""
    if given.name != found.name:
        told = f"{quoted(found.name)}, not {quoted(given.name)}: name another file with --store"
        raise InputError(f"{short(where)} has judgements of {told}")
    return digest_of(items_of(given, settings, silent)) == found.set_digest
