"""Catalogues: the formats and the known sets of one kind of sets, found by name or by content."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.sets import check_known
from karat.registry import Registry, call, expect_type, load, make_check, origin
from karat.storage.unpacking import unpacked
from karat.text.sniffing import parsed_json

VARIABLE = "KARAT_DATA"
"""The environment variable that names the folder with the known sets."""
GivenPath = str | os.PathLike[str]
Detect = Callable[[Path], tuple[str, Path]]
_LONGEST = 1 << 24  # bytes of a first line that are looked at


class SetFormat(NamedTuple):
    """Format of evaluation sets: its reader, its writer and how it is detected.

    A reader of evaluation sets takes a path, a `Reading` and its options, and returns an `EvalSet`.
    Functions of Karat are named as "module:function", so that they are loaded when they are used.
    """

    reader: str | Callable[..., Any]
    holds: tuple[str, ...] = ()
    """Files and folders that are in a folder of this format."""
    columns: tuple[str, ...] = ()
    """Columns that the header of a tab-separated table has."""
    members: tuple[str, ...] = ()
    """Members that the first object of a file of JSON lines has."""
    writer: str | Callable[[Any], Iterable[Any]] = ""
    """Makes the pieces of a file, or the named files of a folder if the format is one."""
    files: tuple[str, ...] = ()
    """Patterns of names: of a file, and of files in a folder of this format or one level below."""
    detects: str | Callable[[Path], bool] = ""
    """Returns whether a file is of this format if neither its name nor its first line shows it."""
    about: str = ""
    """The files of this format in a few words, for lists of formats."""

    def fits(self, path: Path, line: str) -> bool:
        """Return whether a folder, or a file with that first line, is of this format."""
        if path.is_dir():
            patterns = (place for name in self.files for place in (name, f"*/{name}"))
            if self.holds:
                return all((path / name).exists() for name in self.holds)
            return any(next(path.glob(pattern), None) for pattern in patterns)
        required = self.members if line.startswith("{") else self.columns
        present = json_object(line) if line.startswith("{") else line.split("\t")
        return (
            (bool(required) and set(required) <= set(present))
            or any(fnmatchcase(path.name, pattern) for pattern in self.files)
            or self.is_detected(path)
        )

    def is_detected(self, path: Path) -> bool:
        """Return whether a file is of this format by more than its name and first line."""
        return bool(self.detects) and bool(load(self.detects)(path))


check_format = make_check(
    lambda found: isinstance(found, SetFormat) and isinstance(found.reader, str | Callable),
    "format",
    "a karat.SetFormat with a function that reads",
)


class KnownSet(NamedTuple):
    """A set that has a name: its format, its place, and the options of its reader."""

    format: str
    place: str
    about: str
    options: Mapping[str, Any] = {}
    bundled: bool = False

    def path(self, name: str) -> Path:
        """Return the place among the bundled data or in the data folder; it must be there."""
        if self.bundled:
            return Path(str(resources.files("karat") / "data" / self.place))
        folder = os.environ.get(VARIABLE)
        if not folder:
            advice = f"{VARIABLE} is not set: let it name the folder that holds {self.place}"
            raise InputError(f"{name} is a known set, and {advice}")
        path = Path(folder) / self.place
        if not path.exists():
            raise InputError(f"{name} is a known set, and {VARIABLE} has no {path}")
        return path


class Catalogue(NamedTuple):
    """The formats and the known sets of one kind of sets."""

    formats: Registry[SetFormat]
    known_sets: Mapping[str, KnownSet]
    set_class: type
    other: Callable[[GivenPath], str]
    """Describe a set of another kind; "" if it is not one."""

    def known_set(self, name: GivenPath) -> KnownSet | None:
        """Return the known set of a name; a path is never a name."""
        if not isinstance(name, str | os.PathLike):
            raise InputError(f"found {quoted(name)}, expected a set, its name or its path")
        return self.known_sets.get(name) if isinstance(name, str) else None

    def path(self, name_or_path: GivenPath) -> Path:
        """Return the place of a set, which is given by it or by a name."""
        known_set = self.known_set(name_or_path)
        return Path(name_or_path) if known_set is None else known_set.path(str(name_or_path))

    def check_place(self, path: GivenPath) -> None:
        """Require an existing path."""
        if not Path(path).exists():
            problem = f"no such folder or file, nor a known set ({', '.join(self.known_sets)})"
            raise InputError(f"{os.fspath(path)}: {self.other(path) or problem}")

    def find_format(self, path: Path, line: str) -> str | None:
        """Return the format that a folder or the first line of a file shows.

        Formats of installed packages are looked at if no other fits.
        """
        return next(
            (name for name, format in self.formats.usable() if format.fits(path, line)), None
        )

    def recognise(self, path: Path) -> str | None:
        """Return the format of a folder or file by its content; refuse sets of another kind."""
        line = "" if path.is_dir() else first_line(path)
        if name := self.find_format(path, line):
            return name
        if problem := self.other(path):
            raise InputError(f"{path}: {problem}")
        return "jsonl" if line.startswith("{") else None

    def read(
        self,
        path: Path,
        format: str | None,
        detect: Detect,
        filled: Any,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> Any:
        """Call the reader of a format with what it fills; `detect` finds a format not named."""
        try:
            format, path = detect(path) if format is None else (format, path)
            set_format = self.formats[format]
            subject = f"the reader of the format {format}"
            no_problem = expect_type(object, "")
            reader = call(subject, set_format, lambda: load(set_format.reader), no_problem)
            reader_options = [*inspect.signature(reader).parameters][2:]
            check_known("option", options, reader_options, f"format {format}")
            problem = expect_type(self.set_class, f"karat.{self.set_class.__name__}")
            whose = set_format if origin(set_format) else reader
            return call(subject, whose, lambda: reader(path, filled, **options), problem)
        except OSError as error:  # a folder that cannot be listed
            raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def first_line(path: Path) -> str:
    """Return the first line of a file (`.gz` too) that is not blank, whatever its bytes are."""
    with path.open("rb") as file:
        lines: Iterable[bytes] = iter(lambda: file.readline(_LONGEST), b"")
        if path.suffix == ".gz":
            lines = next(unpacked(file, str(path)), b"").split(b"\n")
        texts = (line.decode("utf-8-sig", "replace").strip() for line in lines)
        return next(filter(None, texts), "")


def json_object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; an empty one where it has none."""
    record = parsed_json(line)
    return record if isinstance(record, dict) else {}


class SetKind(NamedTuple):
    """The functions that the core needs, each as "module:function"."""

    agreement: str
    """From a set and the controls that are left out to a `JudgeAgreement`."""
    options: str
    """Adds the kind's own options to the command."""
    read: str
    """From name, dimensions, progress and options to a set; None if it is of another kind."""
    estimate: str
    """From a set, a dimension, judges, systems that are left out and settings to an `Estimate`."""
    draws: str
    """From a set and a file to the draws of its units."""
    advice: str
    """From a name or path to what is said of such a set elsewhere; "" if it is of another kind."""


SET_KINDS: Registry[SetKind] = Registry("set_kinds", "kind of set", {})
"""Kinds by the names of their classes."""
