"""Formats of exports by name, and `export_store`, which writes one or all that a project has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.catalogue import GivenPath
from karat.evalset.formats.directory import directory_files
from karat.evalset.saving import (
    NamedFile,
    check_free,
    distinct_files,
    write_file,
    write_folder,
)
from karat.nuggets.formats.json_lines import jsonl_lines
from karat.nuggets.formats.text_files import trec_files
from karat.storage.output import as_path
from karat.studio.export.contents import Contents, read_contents
from karat.studio.export.labels import (
    Label,
    judged_lines,
    label_lines,
    labels_of,
    without_ties,
)
from karat.studio.export.log import log_lines, restore
from karat.studio.export.sets import evalset_of, key_of, nuggets_of
from karat.studio.export.spans import appraise_lines, mqm_lines
from karat.studio.export.values import TIE, preference_lines, win_lines
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


ALL = "all"
PRIVATE = ("log.jsonl",)
"""Files with all that assessors said under their names: only the owner of the file reads them."""


class Exported:
    """A store that is exported: its contents are read once."""

    def __init__(self, store: Store, anonymous: bool, spreadsheet_safe: bool = False) -> None:
        self.store, self.anonymous = store, anonymous
        self.spreadsheet_safe = spreadsheet_safe

    @cached_property
    def contents(self) -> Contents:
        """Texts, answers and decisions."""
        return read_contents(self.store, self.anonymous)

    @cached_property
    def labels(self) -> list[Label]:
        """One label for each thing that was judged."""
        return labels_of(self.contents)

    @property
    def ties(self) -> list[Label]:
        """Labels on which people are equally divided."""
        return [one for one in self.labels if one.basis == TIE]


class ExportFormat(NamedTuple):
    """A format: its file or folder in an export of everything, its tasks, its writer."""

    name: str
    tasks: tuple[str, ...]
    """A project needs one of these; none if every project has it."""
    write: Callable[[Exported], Iterable[str]] | None = None
    """The text of a file in pieces."""
    files: Callable[[Exported], Iterator[NamedFile]] | None = None
    """The files of a folder."""


def _trec(given: Exported) -> Iterator[NamedFile]:
    """Yield TREC's files; ties stand in a file of their own."""
    yield from trec_files(without_ties(nuggets_of(given.contents)))
    yield "ties.tsv", label_lines([one for one in given.ties if one.task == "nuggets"])


FORMATS: Mapping[str, ExportFormat] = {
    "log": ExportFormat("log.jsonl", (), lambda one: log_lines(one.store, one.anonymous)),
    "csv": ExportFormat(
        "judgements.csv", (), lambda one: judged_lines(one.contents, one.spreadsheet_safe)
    ),
    "labels": ExportFormat("labels.tsv", (), lambda one: label_lines(one.labels)),
    "ties": ExportFormat("ties.tsv", (), lambda one: label_lines(one.ties)),
    "set": ExportFormat(
        "set",
        ("ratings", "pairs", "spans"),
        files=lambda one: directory_files(evalset_of(one.contents)),
    ),
    "mqm": ExportFormat("mqm.tsv", ("spans",), lambda one: mqm_lines(one.contents)),
    "appraise": ExportFormat("appraise.csv", ("spans",), lambda one: appraise_lines(one.contents)),
    "pairs": ExportFormat("pairs.jsonl", ("pairs",), lambda one: preference_lines(one.contents)),
    "wins": ExportFormat("wins.tsv", ("pairs",), lambda one: win_lines(one.contents)),
    "nuggets": ExportFormat(
        "nuggets.jsonl", ("nuggets",), lambda one: jsonl_lines(nuggets_of(one.contents))
    ),
    "key": ExportFormat("key.jsonl", ("nuggets",), lambda one: jsonl_lines(key_of(one.contents))),
    "trec": ExportFormat("trec", ("nuggets",), files=_trec),
}
"""Name -> format."""


def export_store(
    store: Store,
    target: GivenPath,
    format: str = ALL,
    anonymous: bool = False,
    spreadsheet_safe: bool = False,
) -> tuple[str, ...]:
    """Write a store to a new file or folder, whole or not at all; return the formats written.

    Args:
        store: an open store; `Store.reading` will do.
        target: file or folder that does not exist yet.
        format: name of a format, or `all` for a folder with each format of the project's tasks.
        anonymous: write pseudonyms instead of the names of assessors.
        spreadsheet_safe: in `csv`, keep spreadsheets from taking text for formulas.
    """
    if spreadsheet_safe and format not in (ALL, "csv"):
        raise InputError(
            f"--spreadsheet-safe is for the format csv, and the format is {format}, which other "
            "tools read: leave it out"
        )
    place = as_path("target", target)
    check_free(place)
    given = Exported(store, anonymous, spreadsheet_safe)
    if format == ALL:
        chosen = formats_of(given.contents.project.settings)
        with store.read():  # one state of the store for all files
            files = (file for name in chosen for file in _files(name, given))
            write_folder(place, files, private=() if anonymous else PRIVATE)
        return tuple(chosen)
    if format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join((ALL, *FORMATS))}")
    _check_fits(format, given)
    found = FORMATS[format]
    with store.read():
        if found.write:
            write_file(place, found.write(given), found.name in PRIVATE and not anonymous)
        elif found.files:
            write_folder(place, found.files(given))
    return (format,)


def formats_of(settings: ProjectSettings) -> list[str]:
    """Return the names of the formats that a project has."""
    return [name for name in FORMATS if _fits(name, settings)]


def export_files(store: Store, format: str, anonymous: bool = False) -> list[tuple[str, str]]:
    """Return the files of a format, or of `all`, by their names: for those who download them."""
    given = Exported(store, anonymous)
    with store.read():
        if format != ALL:
            _check_fits(format, given)
        chosen = formats_of(given.contents.project.settings) if format == ALL else [format]
        files = distinct_files(file for name in chosen for file in _files(name, given))
        return [(file, "".join(text)) for file, text in files]


def _files(name: str, given: Exported) -> Iterator[NamedFile]:
    found = FORMATS[name]
    if found.write:
        yield found.name, found.write(given)
    elif found.files:
        yield from ((f"{found.name}/{file}", text) for file, text in found.files(given))


def _fits(name: str, settings: ProjectSettings) -> bool:
    """Return whether a project has what a format is made of."""
    tasks = settings.tasks
    needed = FORMATS[name].tasks
    if needed == ("spans",):  # one form of spans for each scheme
        return "spans" in tasks and (tasks["spans"]["scheme"] == "esa") == (name == "appraise")
    return not needed or any(task in tasks for task in needed)


def _check_fits(name: str, given: Exported) -> None:
    settings = given.contents.project.settings
    if name not in FORMATS or not _fits(name, settings):
        known = ", ".join(formats_of(settings))
        raise InputError(f"the project has nothing for the format {name}: expected one of {known}")


def export_studio(
    store: GivenPath,
    target: GivenPath,
    format: str = ALL,
    anonymous: bool = False,
    spreadsheet_safe: bool = False,
) -> tuple[str, ...]:
    """Write the judgements of a studio to files; return the formats written.

    Args:
        store: file of judgements; a studio may be using it.
        target: file or folder that does not exist yet.
        format: name of a format, or `all` for a folder with each format of the project's task.
        anonymous: write pseudonyms instead of the names of assessors.
        spreadsheet_safe: in `csv`, keep spreadsheets from taking text for formulas.
    """
    with Store.reading(store) as opened, opened.intact():
        return export_store(opened, target, format, anonymous, spreadsheet_safe)


def import_studio(log: GivenPath, store: GivenPath) -> None:
    """Make a file of judgements from its log; `open_studio` gives each assessor a new link.

    Args:
        log: log that `export_studio` wrote, or the folder that has it.
        store: file to make.
    """
    restore(log, store)


def check_studio(store: GivenPath) -> StoreCheck:
    """Check a file of judgements: the database, references between rows, what may not change.

    Args:
        store: file of judgements; a studio may be using it.
    """
    with Store.reading(store) as opened:
        return opened.check()
