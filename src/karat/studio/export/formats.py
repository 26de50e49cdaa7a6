"""Formats of exports by name, and `export_store`, which writes one or all that a project has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.catalogue import GivenPath
from karat.evalset.conversion import (
    NamedFile,
    check_distinct,
    check_free,
    write_file,
    write_folder,
)
from karat.evalset.formats.directory import directory_files
from karat.nuggets.formats.json_lines import jsonl_lines
from karat.nuggets.formats.text_files import trec_files
from karat.storage.output import as_path
from karat.studio.export.contents import Contents, read_contents
from karat.studio.export.labels import (
    OutputLabel,
    drop_ties,
    judgement_lines,
    label_lines,
    make_labels,
)
from karat.studio.export.log import log_lines, restore
from karat.studio.export.sets import make_evalset, make_key_set, make_nugget_set
from karat.studio.export.spans import appraise_lines, mqm_lines
from karat.studio.export.values import TIE, preference_lines, win_lines
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, RATINGS, SPANS
from karat.studio.tasks.task import Task

if TYPE_CHECKING:
    from karat.studio.checking import StoreCheck


ALL = "all"
PRIVATE = ("log.jsonl",)
"""Files with all that assessors said under their names: only the owner of the file reads them."""


class ExportSource:
    """A store that is exported: its contents are read once."""

    def __init__(self, store: Store, anonymous: bool, spreadsheet_safe: bool = False) -> None:
        self.store, self.anonymous = store, anonymous
        self.spreadsheet_safe = spreadsheet_safe

    @cached_property
    def contents(self) -> Contents:
        """Texts, answers and decisions."""
        return read_contents(self.store, self.anonymous)

    @cached_property
    def labels(self) -> list[OutputLabel]:
        """One label for each thing that was judged."""
        return make_labels(self.contents)

    @property
    def ties(self) -> list[OutputLabel]:
        """Labels on which people are equally divided."""
        return [label for label in self.labels if label.basis == TIE]


class ExportFormat(NamedTuple):
    """A format: its file or folder in an export of everything, its tasks, its writer."""

    name: str
    tasks: tuple[Task, ...]
    """A project needs one of these; none if every project has it."""
    write: Callable[[ExportSource], Iterable[str]] | None = None
    """The text of a file in pieces."""
    files: Callable[[ExportSource], Iterator[NamedFile]] | None = None
    """The files of a folder."""


def _trec_files(source: ExportSource) -> Iterator[NamedFile]:
    """Yield TREC's files; ties stand in a file of their own."""
    yield from trec_files(drop_ties(make_nugget_set(source.contents)))
    yield "ties.tsv", label_lines([label for label in source.ties if label.task == NUGGETS.name])


FORMATS: Mapping[str, ExportFormat] = {
    "log": ExportFormat("log.jsonl", (), lambda one: log_lines(one.store, one.anonymous)),
    "csv": ExportFormat(
        "judgements.csv", (), lambda one: judgement_lines(one.contents, one.spreadsheet_safe)
    ),
    "labels": ExportFormat("labels.tsv", (), lambda one: label_lines(one.labels)),
    "ties": ExportFormat("ties.tsv", (), lambda one: label_lines(one.ties)),
    "set": ExportFormat(
        "set",
        (RATINGS, PAIRS, SPANS),
        files=lambda one: directory_files(make_evalset(one.contents)),
    ),
    "mqm": ExportFormat("mqm.tsv", (SPANS,), lambda one: mqm_lines(one.contents)),
    "appraise": ExportFormat("appraise.csv", (SPANS,), lambda one: appraise_lines(one.contents)),
    "pairs": ExportFormat("pairs.jsonl", (PAIRS,), lambda one: preference_lines(one.contents)),
    "wins": ExportFormat("wins.tsv", (PAIRS,), lambda one: win_lines(one.contents)),
    "nuggets": ExportFormat(
        "nuggets.jsonl", (NUGGETS,), lambda one: jsonl_lines(make_nugget_set(one.contents))
    ),
    "key": ExportFormat(
        "key.jsonl", (NUGGETS,), lambda one: jsonl_lines(make_key_set(one.contents))
    ),
    "trec": ExportFormat("trec", (NUGGETS,), files=_trec_files),
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
    path = as_path("target", target)
    check_free(path)
    source = ExportSource(store, anonymous, spreadsheet_safe)
    if format == ALL:
        names = list_formats(source.contents.project.settings)
        with store.read():  # one state of the store for all files
            files = (file for name in names for file in _format_files(name, source))
            write_folder(path, files, private=() if anonymous else PRIVATE)
        return tuple(names)
    if format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join((ALL, *FORMATS))}")
    _check_format(format, source)
    export_format = FORMATS[format]
    with store.read():
        if export_format.write:
            write_file(
                path, export_format.write(source), export_format.name in PRIVATE and not anonymous
            )
        elif export_format.files:
            write_folder(path, export_format.files(source))
    return (format,)


def list_formats(settings: ProjectSettings) -> list[str]:
    """Return the names of the formats that a project has."""
    return [name for name in FORMATS if _has_format(name, settings)]


def export_files(store: Store, format: str, anonymous: bool = False) -> list[tuple[str, str]]:
    """Return the files of a format, or of `all`, by their names: for those who download them."""
    source = ExportSource(store, anonymous)
    with store.read():
        if format != ALL:
            _check_format(format, source)
        names = list_formats(source.contents.project.settings) if format == ALL else [format]
        files = check_distinct(file for name in names for file in _format_files(name, source))
        return [(file, "".join(text)) for file, text in files]


def _format_files(name: str, source: ExportSource) -> Iterator[NamedFile]:
    export_format = FORMATS[name]
    if export_format.write:
        yield export_format.name, export_format.write(source)
    elif export_format.files:
        yield from (
            (f"{export_format.name}/{file}", text) for file, text in export_format.files(source)
        )


def _has_format(name: str, settings: ProjectSettings) -> bool:
    """Return whether a project has what a format is made of."""
    tasks = FORMATS[name].tasks
    if tasks == (SPANS,) and settings.has(SPANS):  # each scheme has its own format
        is_esa: bool = settings.tasks[SPANS.name]["scheme"] == "esa"
        return is_esa == (name == "appraise")
    return not tasks or any(settings.has(task) for task in tasks)


def _check_format(name: str, source: ExportSource) -> None:
    settings = source.contents.project.settings
    if name not in FORMATS or not _has_format(name, settings):
        available = ", ".join(list_formats(settings))
        raise InputError(
            f"the project has nothing for the format {name}: expected one of {available}"
        )


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
