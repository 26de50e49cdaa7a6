"""Tables on the command line: which inputs are tables, and the options that only they have."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple

from karat.cli.inputs import Given
from karat.cli.parameters import TABLES, TESTS, Listing, flag, option, path, whole
from karat.cli.show import check_output
from karat.errors import InputError, quoted

_COLUMNS = {
    "by": "Column with the name of the system.",
    "id": "Column with the id of the segment. Intervals of several systems need it.",
}

_option = partial(option, heading=TABLES)


class TableOptions(NamedTuple):
    """Options that only tables have."""

    candidate: Sequence[str]
    by: str | None
    id: str | None
    engine: str
    engine_options: Sequence[str]
    rows: str | None
    shards: str | None
    skip_missing: bool = False
    shard: str | None = None

    def named(self) -> list[str]:
        """Return the options that were given."""
        given = {"--engine": self.engine != "local", "--engine-option": self.engine_options}
        given = {"--candidate": self.candidate, **given}
        single = ("by", "id", "rows", "shards", "shard")
        given |= {f"--{name}": getattr(self, name) is not None for name in single}
        given["--skip-missing"] = self.skip_missing
        return [name for name, value in given.items() if value]

    def settings(self, given: Given) -> dict[str, Any]:
        """Return the arguments of the functions for tables."""
        pairs = [text.partition("=") for text in self.engine_options]
        for name, equals, value in pairs:
            if not (name and equals and value):
                shown = quoted(f"{name}{equals}{value}")
                raise InputError(f"--engine-option {shown}: expected NAME=VALUE, as in workers=4")
        return {
            "candidate": list(self.candidate) or None,
            "reference": list(given.references) or None,
            "by": self.by,
            "id": self.id,
            "engine": self.engine,
            "engine_options": {name: value for name, _, value in pairs},
            "rows": self.rows,
            "shards": self.shards,
            "skip_missing": self.skip_missing,
        }


def are_tables(given: Given, table: TableOptions) -> bool:
    """Return whether the inputs are tables; refuse options that do not go together."""
    from karat.arrow.pieces import format_of

    named = table.named()
    plain = given.evalset is not None or given.as_text or given.read_as or given.optional
    files = [split_table_name(argument)[1] for argument in given.candidates]
    kinds = [] if plain else [_is_table(name, format_of(name)) for name in files]
    beside = any(os.path.isfile(name) for name in given.references)
    binary = any(format_of(name) == "parquet" for name in files)  # never lines of text
    if kinds and all(kinds) and (named or binary or not beside):
        return True
    if named:
        wanted = "give files that end in .parquet, .csv, .tsv or .jsonl, and columns with -r"
        raise InputError(f"{named[0]} is only for tables: {wanted}")
    return False


def _is_table(name: str, format: str | None) -> bool:
    return format is not None or os.path.isdir(name)


def split_table_name(argument: str) -> tuple[str | None, str]:
    """`NAME=FILE` or `FILE`: the name of the system, if it is given, and the file.

    An equals sign in an existing path, or in a pattern that fits files, is part of it.
    """
    name, equals, path = argument.partition("=")
    is_path = os.path.exists(argument) or (glob.has_magic(argument) and glob.glob(argument))
    if equals and name and path and os.sep not in name and not is_path:
        return name, path
    return None, argument


def tables_of(given: Given) -> Any:
    """Return the tables to score: paths, or paths by the name of their system if any is named."""
    from karat.arrow.pieces import table_name

    arguments = [split_table_name(argument) for argument in given.candidates]
    if all(name is None for name, _ in arguments):
        return list(given.candidates)
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


def check_tables(given: Given, output: str | None, table: TableOptions) -> None:
    """Refuse outputs that cannot be written, before anything is read."""
    from karat.arrow.pieces import find_files

    if output is not None:
        paths = [split_table_name(argument)[1] for argument in given.candidates]
        check_output(output, [file for path in paths for file in find_files(path)])
    if output and table.rows and os.path.abspath(output) == os.path.abspath(table.rows):
        raise InputError(f"--output and --rows are both {output}: use two different names")


def table_options(sharded: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of tables: `table`; with `sharded` also `--shard`."""
    fields = TableOptions._fields if sharded else TableOptions._fields[:-1]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(**more: Any) -> Any:
            table = TableOptions(*(more.pop(name) for name in fields))
            return function(table=table, **more)

        found: Callable[..., Any] = called
        for add in reversed(_options(sharded)):
            found = add(found)
        return found

    return decorate


def _options(sharded: bool) -> list[Callable[[Any], Any]]:
    candidate = _option(
        "--candidate",
        "Column of candidates. Repeat for several systems. Default: detected.",
        multiple=True,
        metavar="COLUMN",
    )
    columns = [_option(f"--{name}", told, metavar="COLUMN") for name, told in _COLUMNS.items()]
    engine = _option(
        "--engine",
        "Engine that processes the table: {names}.",
        default="local",
        metavar="NAME",
        cls=Listing,
        registry="engines",
    )
    more = _option(
        "--engine-option engine_options",
        "Setting of the engine, such as workers=4 or address=HOST:PORT. Repeat for several.",
        multiple=True,
        metavar="NAME=VALUE",
    )
    rows = _option("--rows", "Write the table with its scores to FOLDER.", path, metavar="FOLDER")
    told = "Keep finished parts of the table in FOLDER, to resume a run that was stopped."
    shards = _option("--shards", told, path, metavar="FOLDER")
    told = "Skip rows whose candidate or reference is missing, and count them. Default: refuse."
    skip = flag("--skip-missing", told, heading=TABLES)
    told = "Process shard K of N only. `karat merge FOLDER` combines the shards."
    part = _option("--shard", told, metavar="K/N")
    last = [part] if sharded else []
    return [candidate, *columns, engine, more, rows, shards, skip, *last]


buckets = option(
    "--buckets",
    "Resample N buckets of segments instead of single segments; 0 for never. Default: 4096 above "
    "two million segments.",
    whole(0, 1 << 16),
    heading=TESTS,
)
