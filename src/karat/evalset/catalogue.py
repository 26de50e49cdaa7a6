"""Catalogues of formats and known sets: lookup by name, and detection by content."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
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
"""The environment variable with the folder of the known sets."""
GivenPath = str | os.PathLike[str]
Detect = Callable[[Path], tuple[str, Path]]
_LONGEST = 1 << 24  # bytes of a first line that are inspected


class SetFormat(NamedTuple):
    """A format of sets: its reader, its writer and its detection.

    A reader of evaluation sets is called with a path, a `Reading` and its options, and returns an
    `EvalSet`. Functions of Karat are given as "module:function", and imported on first use.
    """

    reader: str | Callable[..., Any]
    holds: tuple[str, ...] = ()
    """Files and folders in a folder of this format."""
    columns: tuple[str, ...] = ()
    """Columns in the header of a tab-separated table."""
    members: tuple[str, ...] = ()
    """Members of the first object of a file of JSON lines."""
    writer: str | Callable[[Any], Iterable[Any]] = ""
    """Yields the pieces of a file, or the named files if the format is a folder."""
    files: tuple[str, ...] = ()
    """Patterns of file names, also for files in a folder or one level below it."""
    detects: str | Callable[[Path], bool] = ""
    """Returns whether a file has this format, if its name and first line do not show it."""
    about: str = ""
    """Short description of the files, for lists of formats."""
    settings: str = ""
    """Dataclass whose fields are options of the reader, besides its own parameters."""

    kind: str = ""
    """Kind of task of all evaluation sets in this format, if they have one."""

    def fits(self, path: Path, line: str) -> bool:
        """Return whether a folder, or a file with that first line, has this format."""
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

    def option_names(self) -> list[str]:
        """Return the names of the reader's options."""
        parameters = list(inspect.signature(load(self.reader)).parameters.values())[2:]
        names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
        return [*names, *(f.name for f in fields(load(self.settings)))] if self.settings else names

    def is_detected(self, path: Path) -> bool:
        """Return whether the format's own check detects a file."""
        return bool(self.detects) and bool(load(self.detects)(path))


check_format = make_check(
    lambda found: isinstance(found, SetFormat) and isinstance(found.reader, str | Callable),
    "format",
    "a karat.SetFormat with a function that reads",
)


class KnownSet(NamedTuple):
    """A set with a name: its format, its path, and the options of its reader."""

    format: str
    place: str
    about: str
    options: Mapping[str, Any] = {}
    bundled: bool = False

    def path(self, name: str) -> Path:
        """Return the path in the bundled data or in the data folder; raise if it is missing."""
        if self.bundled:
            return Path(str(resources.files("karat") / "data" / self.place))
        folder = os.environ.get(VARIABLE)
        if not folder:
            advice = f"{VARIABLE} is not set: set it to the folder that contains {self.place}"
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
        """Return the known set with a name; None for paths and other names."""
        if not isinstance(name, str | os.PathLike):
            raise InputError(f"found {quoted(name)}, expected a set, its name or its path")
        return self.known_sets.get(name) if isinstance(name, str) else None

    def path(self, name_or_path: GivenPath) -> Path:
        """Return the path of a set, given by its name or its path."""
        known_set = self.known_set(name_or_path)
        return Path(name_or_path) if known_set is None else known_set.path(str(name_or_path))

    def check_place(self, path: GivenPath) -> None:
        """Require an existing path."""
        if not Path(path).exists():
            problem = f"no such folder or file, nor a known set ({', '.join(self.known_sets)})"
            raise InputError(f"{os.fspath(path)}: {self.other(path) or problem}")

    def find_format(self, path: Path, line: str) -> str | None:
        """Return the format of a folder, or of a file by its first line.

        Formats of installed packages are tried last. A pipe can be read only once: it has none.
        """
        if not (path.is_file() or path.is_dir()):
            return None
        return next(
            (name for name, format in self.formats.usable() if format.fits(path, line)), None
        )

    def recognise(self, path: Path) -> str | None:
        """Return the format of a folder or file by its content; reject sets of another kind."""
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
        """Call the reader of a format, or of the detected one; the reader fills `filled`."""
        try:
            format, path = detect(path) if format is None else (format, path)
            set_format = self.formats[format]
            subject = f"the reader of the format {format}"
            no_problem = expect_type(object, "")
            reader = call(subject, set_format, lambda: load(set_format.reader), no_problem)
            check_known("option", options, set_format.option_names(), f"format {format}")
            problem = expect_type(self.set_class, f"karat.{self.set_class.__name__}")
            owner = set_format if origin(set_format) else reader
            loaded = call(subject, owner, lambda: reader(path, filled, **options), problem)
            return replace(loaded, kind=set_format.kind) if set_format.kind else loaded
        except OSError as error:  # a folder that cannot be listed
            raise InputError(f"{error.filename or path}: {error.strerror or error}") from error


def first_line(path: Path) -> str:
    """Return the first line of a file (`.gz` too) that is not blank, even of a binary file.

    It is empty for a pipe, which can be read only once.
    """
    if path.exists() and not path.is_file():
        return ""
    with path.open("rb") as file:
        lines: Iterable[bytes] = iter(lambda: file.readline(_LONGEST), b"")
        if path.suffix == ".gz":
            lines = next(unpacked(file, str(path)), b"").split(b"\n")
        texts = (line.decode("utf-8-sig", "replace").strip() for line in lines)
        return next(filter(None, texts), "")


def json_object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; an empty one for other lines."""
    record = parsed_json(line)
    return record if isinstance(record, dict) else {}


class SetKind(NamedTuple):
    """A kind of sets defined by an app: the functions that the core needs, as "module:function"."""

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
    """From a name or path to advice on such a set; "" if it is of another kind."""


SET_KINDS: Registry[SetKind] = Registry("set_kinds", "kind of set", {})
"""Kinds by the names of their classes."""
