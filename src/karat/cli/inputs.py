"""Files named on the command line, opened and checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.errors import InputError, quoted, sentence
from karat.progress import Progress, silent
from karat.text.references import References, check_lengths
from karat.text.segments import Lines, Segments

if TYPE_CHECKING:
    from karat.text.trees import Trees

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
                f"two systems are called {quoted(name)} ({paths[name]} and {path}): "
                f"name them apart, as in NAME={path}"
            )
        systems[name], paths[name] = _open(path, progress), path
    trees = _open_trees(references, optional)
    if trees:
        check_lengths([*systems.values(), *trees])
        return systems, trees[0].beside(trees)
    sources = [_open(path, progress) for path in references]
    check_lengths([*systems.values(), *sources])
    return systems, References(sources, optional)


def check_given(
    candidates: Sequence[str], references: Sequence[str], optional: bool, evalset: str | None
) -> None:
    """Either files with references, or a set, which has its own."""
    if evalset is None and not candidates:
        raise click.UsageError("Missing argument 'CANDIDATE...'.")
    if evalset is not None and (references or optional):
        raise InputError("--set brings its own references: leave -r and --optional-references out")


def open_given(
    candidates: Sequence[str],
    references: Sequence[str],
    optional: bool,
    evalset: str | None,
    progress: Progress,
) -> tuple[dict[str, Segments], References]:
    """Systems by name and their references, from files or from a set."""
    if evalset is not None:
        return open_set(evalset, candidates, progress)
    systems, refs = open_inputs(candidates, references, optional, progress)
    return {**systems}, refs


def open_set(
    name: str, systems: Sequence[str], progress: Progress = silent
) -> tuple[dict[str, Segments], References]:
    """All systems of a set, or those that are named, and its references."""
    from karat.evalset.loading import load_evalset
    from karat.text.references import VaryingReferences
    from karat.text.segments import Strings

    found = load_evalset(name, progress=progress)
    if systems:
        found = found.select(systems=systems)
    outputs, references = found.texts()
    named: dict[str, Segments] = {
        system: Strings(texts, f"system {system}") for system, texts in outputs.items()
    }
    return named, VaryingReferences(references)


def _open_trees(paths: Sequence[str], optional: bool) -> list[Trees]:
    """The trees of references that end in `.conllu`, if they do; then all must."""
    trees = [path for path in paths if path.removesuffix(".gz").endswith(".conllu")]
    if not trees:
        return []
    others = [path for path in paths if path not in trees]
    if others:
        raise InputError(
            f"{trees[0]} is a file of trees and {others[0]} is not: give all references as "
            f".conllu, or all as text"
        )
    if optional:
        raise InputError(
            f"--optional-references is for text, where a line may be empty: {trees[0]} has a tree "
            f"for every segment; leave it out"
        )
    from karat.evalset.conllu import read_conllu

    return [read_conllu(path) for path in trees]


def _check_metric(path: str) -> None:
    """`-m bleu chrf` makes a file of the second metric: say so."""
    from karat.metrics.names import ALIASES, CLASSES

    if path in (*CLASSES, *ALIASES) and not Path(path).exists():
        raise InputError(f"{path}: no such file; if it is meant as a metric, write -m {path}")


def _open(path: str, progress: Progress) -> Lines:
    _check_metric(path)
    lines = Lines(path, progress)
    if lines.nul_line:
        told = (
            f"karat: warning: {lines.name}, line {lines.nul_line}: a NUL byte; it is scored as an "
            f"ordinary character (is the file text?)"
        )
        click.echo(sentence(told), err=True)
    return lines
