"""Files named on the command line, opened and checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from karat.errors import InputError
from karat.progress import Progress
from karat.text.references import References, check_aligned
from karat.text.segments import Lines

_SUFFIXES = {".txt", ".gz", ".out", ".hyp"}


def system_name(path: str) -> str:
    """What a system is called: the file's name without `.txt`, `.out`, `.hyp` and `.gz`."""
    if path == "-":
        return "stdin"
    name = Path(path)
    while name.suffix.lower() in _SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.name


def split_name(argument: str) -> tuple[str, str]:
    """`NAME=FILE` or `FILE`: the system's name and its file."""
    name, equals, path = argument.partition("=")
    if equals and name and path and not Path(argument).exists():
        return name, path
    return system_name(argument), argument


def input_paths(candidates: Sequence[str], references: Sequence[str]) -> list[str]:
    """The files that will be read."""
    return [*(split_name(argument)[1] for argument in candidates), *references]


def open_inputs(
    candidates: Sequence[str], references: Sequence[str], optional: bool, progress: Progress
) -> tuple[dict[str, Lines], References]:
    """Systems by name and their references, all of one length."""
    if not references:
        raise InputError("no reference was given: name at least one file with -r")
    named = [split_name(argument) for argument in candidates]
    if input_paths(candidates, references).count("-") > 1:
        raise InputError("standard input (-) is named twice: it can be read only once")
    systems: dict[str, Lines] = {}
    paths: dict[str, str] = {}
    for name, path in named:
        if name in systems:
            raise InputError(
                f"two systems are called {name!r} ({paths[name]} and {path}): "
                f"name them apart, as in NAME={path}"
            )
        systems[name], paths[name] = _open(path, progress), path
    sources = [_open(path, progress) for path in references]
    check_aligned([*systems.values(), *sources])
    return systems, References(sources, optional)


def _open(path: str, progress: Progress) -> Lines:
    lines = Lines(path, progress)
    if lines.nul_line:
        click.echo(
            f"karat: warning: {lines.name}, line {lines.nul_line}: a NUL byte; it is scored as an "
            f"ordinary character (is the file text?)",
            err=True,
        )
    return lines
