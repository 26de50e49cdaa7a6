"""Tables on the command line: which inputs are tables, and the options that only they have."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from karat.cli.inputs import InputFiles
from karat.cli.parameters import (
    TABLES,
    TESTS,
    CommandFunction,
    Listing,
    bundle,
    flag,
    integer,
    option,
    path,
)
from karat.cli.show import check_different, check_output
from karat.errors import InputError, quoted


class TableOptions(NamedTuple):
    """Options that only tables have."""

    candidate: Sequence[str] = ()
    by: str | None = None
    id: str | None = None
    engine: str = "local"
    engine_options: Sequence[str] = ()
    rows: str | None = None
    shards: str | None = None
    skip_missing: bool = False
    shard: str | None = None

    def used(self) -> list[str]:
        """Return the options that differ from their defaults."""
        names = [name for name in self._fields if getattr(self, name) != _DEFAULTS[name]]
        return [f"--{_SPELLINGS.get(name, name)}" for name in names]

    def settings(self, inputs: InputFiles) -> dict[str, Any]:
        """Return the arguments of the functions for tables."""
        pairs = [text.partition("=") for text in self.engine_options]
        for name, equals, value in pairs:
            if not (name and equals and value):
                text = quoted(f"{name}{equals}{value}")
                raise InputError(f"--engine-option {text}: expected NAME=VALUE, as in workers=4")
        return {
            **{name: value for name, value in self._asdict().items() if name != "shard"},
            "candidate": list(self.candidate) or None,
            "reference": list(inputs.references) or None,
            "engine_options": {name: value for name, _, value in pairs},
        }


_DEFAULTS = TableOptions()._asdict()
_SPELLINGS = {"engine_options": "engine-option", "skip_missing": "skip-missing"}


def are_tables(inputs: InputFiles, table: TableOptions) -> bool:
    """Return whether the inputs are tables; reject options that do not go together."""
    from karat.arrow.pieces import format_of

    used = table.used()
    paths = [split_table_name(argument)[1] for argument in inputs.candidates]
    is_text = inputs.evalset is not None or inputs.read_as or inputs.optional_references
    if not is_text and paths and all(format_of(p) is not None or os.path.isdir(p) for p in paths):
        # References in files belong to text, unless the candidates cannot be text.
        has_reference_files = any(os.path.isfile(name) for name in inputs.references)
        is_binary = any(format_of(p) == "parquet" for p in paths)
        if used or is_binary or not has_reference_files:
            return True
    if used:
        advice = "give files that end in .parquet, .csv, .tsv or .jsonl, and columns with -r"
        raise InputError(f"{used[0]} is only for tables: {advice}")
    return False


def split_table_name(argument: str) -> tuple[str | None, str]:
    """Split `NAME=FILE` or `FILE` into the name of the system, if it is given, and the file.

    An equals sign in an existing path, or in a pattern that matches files, is part of it.
    """
    name, equals, path = argument.partition("=")
    is_path = os.path.exists(argument) or (glob.has_magic(argument) and glob.glob(argument))
    if equals and name and path and os.sep not in name and not is_path:
        return name, path
    return None, argument


def table_paths(inputs: InputFiles) -> list[str] | dict[str, str]:
    """Return the paths of the tables, by the name of their system if any is named."""
    from karat.arrow.pieces import table_name

    arguments = [split_table_name(argument) for argument in inputs.candidates]
    if all(name is None for name, _ in arguments):
        return list(inputs.candidates)
    tables: dict[str, str] = {}
    for system, file in arguments:
        name = table_name(file) if system is None else system
        if name in tables:
            raise InputError(
                f"two systems are called {quoted(name)} ({tables[name]} and {file}): name them "
                f"apart, as in NAME={file}"
            )
        tables[name] = file
    return tables


def check_table_output(inputs: InputFiles, output: str | None, table: TableOptions) -> None:
    """Reject outputs that cannot be written, before anything is read."""
    from karat.arrow.pieces import find_files

    if output is not None:
        paths = [split_table_name(argument)[1] for argument in inputs.candidates]
        check_output(output, [file for path in paths for file in find_files(path)])
    check_different(output=output, rows=table.rows)


_option = partial(option, heading=TABLES)
_column = partial(_option, metavar="COLUMN")
_folder = partial(_option, kind=path, metavar="FOLDER")
_OPTIONS = (
    _column(
        "--candidate",
        "Column of candidates. Repeat for several systems. Default: detected.",
        multiple=True,
    ),
    _column("--by", "Column with the name of the system."),
    _column("--id", "Column with the id of the segment. Intervals of several systems need it."),
    _option(
        "--engine",
        "Engine that processes the table: {names}.",
        default="local",
        metavar="NAME",
        cls=Listing,
        registry="engines",
    ),
    _option(
        "--engine-option engine_options",
        "Setting of the engine, such as workers=4 or address=HOST:PORT. Repeat for several.",
        multiple=True,
        metavar="NAME=VALUE",
    ),
    _folder("--rows", "Write the table with its scores to FOLDER."),
    _folder(
        "--shards", "Keep finished parts of the table in FOLDER, to resume a run that was stopped."
    ),
    flag(
        "--skip-missing",
        "Skip rows whose candidate or reference is missing, and count them. Default: refuse.",
        heading=TABLES,
    ),
)
_SHARD = _option(
    "--shard",
    "Process shard K of N only. `karat merge FOLDER` combines the shards.",
    metavar="K/N",
)


def table_options(sharded: bool) -> Callable[[CommandFunction], CommandFunction]:
    """Return the options of tables: `table`; with `sharded` also `--shard`."""
    return bundle("table", *_OPTIONS, *([_SHARD] if sharded else []), make=TableOptions)


buckets = option(
    "--buckets",
    "Resample N buckets of segments instead of single segments; 0 for never. Default: 4096 above "
    "two million segments.",
    integer(0, 1 << 16),
    heading=TESTS,
)
