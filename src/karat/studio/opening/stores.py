"""The store of a set: the one that is there, else a new one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from karat.errors import InputError, OutputError, quoted, short, visible
from karat.evalset.loading import EVALSETS, load_evalset
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.loading import is_nuggets, load_nuggets
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.studio.export.earlier import take_earlier
from karat.studio.formats import is_store
from karat.studio.opening.asked import Asked
from karat.studio.opening.continuing import check_options, check_set, check_task
from karat.studio.opening.outputs import is_outputs, read_outputs
from karat.studio.opening.settings import asked_task, settings_of
from karat.studio.store.projects import Project, has_project, import_set, project
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store, read_by_others, remove_store

Given = str | os.PathLike[str] | EvalSet | NuggetSet
Tell = Callable[[str], None]


def check_given(given: Given) -> None:
    """Refuse what is no set, nor its name or path."""
    if not isinstance(given, str | os.PathLike | EvalSet | NuggetSet):
        raise InputError(f"found {quoted(given)}, expected a set, its name or its path")


def place_of(given: Given) -> Path:
    """Return the file of judgements if none is named: a store itself, else one in this folder."""
    if not isinstance(given, EvalSet | NuggetSet) and is_store(Path(given)):
        return Path(given)
    name = given.name if isinstance(given, EvalSet | NuggetSet) else os.path.abspath(given)
    return Path(f"{Path(name).name.split('.')[0] or 'set'}.studio.sqlite")


def open_store(given: Given, where: Path, asked: Asked, progress: Progress, tell: Tell) -> Store:
    """Open the store of a set, or make it; `tell` is called with what a user should know."""
    if where.is_dir():
        raise InputError(f"--store {short(where)} is a folder: expected a file")
    if where.exists():
        return _continued(given, where, asked, progress, tell)
    if not os.access(where.parent, os.W_OK):
        raise OutputError(f"cannot write to the folder of {short(where)}: use --store FILE")
    found, settings = _read(given, asked, progress, tell)
    store = Store.create(where)
    try:
        import_set(store, found, settings, progress)
        if asked.earlier:
            people = len(take_earlier(store, found))
            tell(f"Judgements of {people:,} assessor{'s' * (people != 1)} were taken over.")
    except BaseException:
        store.close()
        remove_store(where)
        raise
    tell(f"{where} is new: judgements are saved there")
    return store


def _continued(given: Given, where: Path, asked: Asked, progress: Progress, tell: Tell) -> Store:
    """Open a store again, which must be of the same set and settings.

    A set that is no longer there is not needed, and a store needs no set.
    """
    store = Store.open(where)
    try:
        with store.intact():
            if not has_project(store):  # the import was cut off
                import_set(store, *_read(given, asked, progress, tell), progress)
            found = project(store)
            check_task(where, asked, found.settings)
            check_options(where, asked, found.settings)
            same = _is_same(given, where, asked, found, progress)
            tell(f"{where} continues: {visible(found.name)}")
        if read_by_others(where):
            tell(f"Other users of this machine can read {where}: close it with chmod 600.")
        if not same:
            tell("Its texts differ from those of the set now: those in the file are judged.")
    except BaseException:
        store.close()
        raise
    return store


def _is_same(given: Given, where: Path, asked: Asked, found: Project, progress: Progress) -> bool:
    """Return whether a set still has the texts of the store; another set is refused."""
    if not isinstance(given, EvalSet | NuggetSet) and Path(given) == where:
        return True
    try:
        read, settings = _read(given, asked, progress)
    except InputError:
        return True
    return check_set(where, read, settings, found)


def _read(
    given: Given, asked: Asked, progress: Progress = silent, tell: Tell = lambda line: None
) -> tuple[EvalSet | NuggetSet, ProjectSettings]:
    """Return a set of either kind, and the settings of its project."""
    nuggets = isinstance(given, NuggetSet) or (not isinstance(given, EvalSet) and is_nuggets(given))
    tasks = asked_task(asked, asked.task or ("nuggets" if nuggets else "ratings"))
    if asked.runs and (not nuggets or isinstance(given, NuggetSet)):
        name = given.name if isinstance(given, EvalSet | NuggetSet) else os.fspath(given)
        raise InputError(f"--run is for nugget sets, and {short(name)} is none: leave it out")
    if isinstance(given, EvalSet | NuggetSet):
        found = given
    elif nuggets:
        found = load_nuggets(given, asked.runs, progress=progress)
    elif is_outputs(Path(given)) and not EVALSETS.recognise(Path(given)):
        found = read_outputs(Path(given), tell)
    else:
        found = load_evalset(given, progress=progress)
    return found, settings_of(asked, tasks, found)
