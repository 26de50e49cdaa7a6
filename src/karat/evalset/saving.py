"""Evaluation sets written to a folder or a file: whole or not at all, and never over another."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.catalogue import Catalogue, GivenPath
from karat.evalset.judgements import raters_unnamed
from karat.evalset.loading import EVALSETS, as_additions, as_evalset, load_evalset, read_evalset
from karat.evalset.parsing import parse_evalset
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.registry import load
from karat.results import Result
from karat.storage.output import HAS_LOCKS, claimed_file, claimed_folder


class SetCount(NamedTuple):
    """The counts of a whole set; those of references are of a segment."""

    name: str
    systems: int
    segments: int
    groups: int | None
    references_min: int
    references_median: float
    references_max: int
    judgements: int
    judges: int
    missing: int
    empty: int


class SystemCount(NamedTuple):
    """One system: outputs that are there, missing and empty ones, and how much it was judged."""

    system: str
    outputs: int
    missing: int
    empty: int
    judged: int  # segments with at least one judgement
    judgements: int


class DimensionCount(NamedTuple):
    """One dimension: its scale, by how many it was judged, how often, and between which values."""

    dimension: str
    better: str
    low: float | None
    high: float | None
    judgements: int
    judges: int
    items: int  # outputs with at least one judgement
    lowest: float | None
    highest: float | None
    off_scale: int


@dataclass(frozen=True, repr=False)
class EvalSetCheck(Result):
    """The contents of a set, if it can be used, and every problem if it cannot."""

    name: str
    """The set as it was given."""
    evalset: EvalSet | None
    rows: tuple[SetCount, ...] = ()
    """One row for the whole set, or none."""
    systems: tuple[SystemCount, ...] = ()
    dimensions: tuple[DimensionCount, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""
    problem_count: int = 0
    """Of a file in which every line is wrong, not all are kept in `problems`."""


def check_evalset(
    given: GivenPath | EvalSet,
    format: str | None = None,
    *,
    judgements: GivenPath | Sequence[GivenPath] = (),
    model_judges: Sequence[str] = (),
    draws: GivenPath | None = None,
    progress: Progress = silent,
    **options: Any,
) -> EvalSetCheck:
    """Describe a set and list its problems.

    A set that cannot be used is no error here: `evalset` is then None, and `problems` says why.

    Args:
        given: name or path of the set, as for `load_evalset`.
        format: name of its format; by default detected.
        judgements, model_judges, draws: additions, as for `load_evalset`.
        progress: function that is called with the progress.
        options: options of the format's reader.
    """
    added = as_additions(judgements, model_judges, draws)
    given_ones = {name: one for name, one in added._asdict().items() if one}
    settings = {"format": format, **options, **given_ones}
    reading = Reading(progress)

    def read() -> EvalSet:
        if isinstance(given, EvalSet):
            return added.to(given, reading)
        return read_evalset(given, reading, format, options, added)

    found = reading.attempt(read)
    if found is not None:
        name = given.name if isinstance(given, EvalSet) else str(given)
        return _contents(name, found, settings)
    count, problems = len(reading.problems) + reading.more, tuple(reading.all())
    return EvalSetCheck(str(given), None, (), (), (), problems, (), settings, problem_count=count)


def _contents(name: str, evalset: EvalSet, settings: Mapping[str, object]) -> EvalSetCheck:
    systems, dimensions = _systems(evalset), _dimensions(evalset)
    references = [len(group) for group in evalset.references]
    people = evalset.judgements.by_people()
    row = SetCount(
        *(evalset.name, len(systems), len(evalset)),
        None if evalset.groups is None else len(set(evalset.groups)),
        *(min(references), float(median(references)), max(references)),
        *(len(people), len(people.judges)),
        *(sum(system.missing for system in systems), sum(system.empty for system in systems)),
    )
    texts = evalset.description, f"Licence: {evalset.licence}" if evalset.licence else ""
    notes = (*filter(None, texts), *_remarks(evalset, systems, dimensions))
    return EvalSetCheck(name, evalset, (row,), systems, dimensions, (), notes, settings)


def _systems(evalset: EvalSet) -> tuple[SystemCount, ...]:
    """Return a row for each system."""
    rows = evalset.judgements.by_people()
    found = []
    for i, (name, outputs) in enumerate(evalset.systems.items()):
        mine = rows.segment[rows.system == i].tolist()
        missing, empty = outputs.count(None), outputs.count("")
        there = len(outputs) - missing
        found.append(SystemCount(name, there, missing, empty, len(set(mine)), len(mine)))
    return tuple(found)


def _dimensions(evalset: EvalSet) -> tuple[DimensionCount, ...]:
    """Return a row for each dimension."""
    found, people = [], evalset.judgements.by_people()
    for name, dimension in evalset.dimensions.items():
        mine = people.of_dimension(name)
        values = mine.value.tolist()
        items = set(zip(mine.system.tolist(), mine.segment.tolist(), strict=True))
        scale = name, dimension.better, dimension.low, dimension.high
        counts = len(values), len(mine.judges), len(items)
        ends = min(values, default=None), max(values, default=None)
        found.append(DimensionCount(*scale, *counts, *ends, sum(map(dimension.off_scale, values))))
    return tuple(found)


def _remarks(
    evalset: EvalSet, systems: tuple[SystemCount, ...], dimensions: tuple[DimensionCount, ...]
) -> list[str]:
    """Return what is no error, and still good to know before numbers are believed."""
    found = list(evalset.notes)
    if evalset.trees is not None:
        found.append("every reference has a dependency tree")
    people = evalset.judgements.by_people().judges
    if raters_unnamed(people):
        found.append(f"The raters are not named: {' and '.join(people)} means all of them")
    for count in dimensions:
        name = short(count.dimension)
        off_scale = evalset.dimensions[count.dimension].off_scale
        values_of_all = evalset.judgements.of_dimension(count.dimension).value.tolist()
        by_models = sum(map(off_scale, values_of_all)) - count.off_scale
        for number, whose in ((count.off_scale, ""), (by_models, " of models")):
            if number:
                verb = "judgement{} is" if number == 1 else "judgements{} are"
                found.append(f"{name}: {number:,} {verb.format(whose)} off the stated scale")
        if not count.judgements:
            models = evalset.judgements.of_dimension(count.dimension).judges
            models_only = f"judged by models alone: {short(', '.join(models))}"
            found.append(f"{name}: {models_only if models else 'no judgements'}")
        rows = evalset.judgements.of_dimension(count.dimension)
        values = ((judge, rows.value[rows.judge == i]) for i, judge in enumerate(rows.judges))
        if flat := [judge for judge, mine in values if mine.min() == mine.max()]:
            names = short(", ".join(flat[:5]) + (", …" if len(flat) > 5 else ""))
            told = "judges always gave one value and have no z-scores"
            found.append(f"{name}: {len(flat):,} {told}: {names}")
    if without := sum(1 for group in evalset.references if not group):
        found.append(f"{without:,} segments have no reference: they cannot be scored")
    for system in systems:
        if system.missing:
            found.append(f"{system.system}: outputs missing: {system.missing:,}")
        if not system.judged and evalset.judgements:
            found.append(f"{system.system}: not judged")
    if len(evalset.systems) == 1:
        found.append("one system: there is nothing to compare at the level of systems")
    return found


NamedFile: TypeAlias = tuple[str, Iterable[str]]
"""A file of a folder: its path in it, and its text in pieces."""


def save_evalset(evalset: EvalSet | GivenPath, path: GivenPath, format: str = "dir") -> None:
    """Save a set in a format that `load_evalset` reads back.

    Args:
        evalset: the set.
        path: folder or file to write.
        format: `dir` for a folder, or `jsonl` for a file of JSON lines.
    """
    save_as(EVALSETS, as_evalset(evalset), path, format)


def convert_evalset(
    given: GivenPath,
    path: GivenPath,
    format: str = "dir",
    read_as: str | None = None,
    *,
    parse: str | None = None,
    tok: str | None = None,
    progress: Progress = silent,
    **options: Any,
) -> EvalSetCheck:
    """Convert a set to another format, and describe it.

    Args:
        given: name or path of the set, as for `load_evalset`.
        path: target, which must not exist yet.
        format: format of the target, `dir` or `jsonl`.
        read_as: format of the set; by default detected.
        parse: spaCy pipeline that parses the references.
        tok: tokeniser of the parsed references.
        progress: function that is called with the progress.
        options: options of the reader.
    """
    check_free(Path(path))
    if tok is not None and parse is None:
        raise InputError(
            "tok has no effect without parse: name a spaCy pipeline, such as en_core_web_sm"
        )
    evalset = load_evalset(given, read_as, progress=progress, **options)
    if parse is not None:
        evalset = parse_evalset(evalset, parse, tok, progress=progress)
    save_evalset(evalset, path, format)
    return check_evalset(evalset)


def save_as(catalogue: Catalogue, given: Any, path: GivenPath, format: str) -> None:
    """Write a set in a format of its catalogue."""
    found = catalogue.formats.find(format)
    if found is None or not found.writer:
        names = [name for name, one in catalogue.formats.usable() if one.writer]
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(names)}")
    write = write_folder if found.holds else write_file
    write(Path(path), load(found.writer)(given))


def write_file(target: Path, pieces: Iterable[str], private: bool = False) -> None:
    """Write a new file, whole or not at all; only its owner can read a `private` one."""
    check_free(target)
    claimed = claimed_file(str(target), _mode(private))
    with _output_errors(target), claimed as (temporary, stream):
        stream.writelines(_encoded(target.name, piece) for piece in pieces)
        stream.flush()
        check_free(target)
        if not HAS_LOCKS:
            stream.close()
        os.rename(temporary, target)


def write_folder(target: Path, files: Iterable[NamedFile], private: Collection[str] = ()) -> None:
    """Write a new folder with all its files, or nothing; only its owner can read `private` files.

    Names of files that differ only in case are refused: on some disks they are one file.
    """
    check_free(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with _output_errors(target), claimed_folder(str(target)) as temporary:
        for name, pieces in distinct_files(files):
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(path, flags, _mode(name in private)), "wb") as file:
                file.writelines(_encoded(name, piece) for piece in pieces)
        check_free(target)
        os.rename(temporary, target)


def distinct_files(files: Iterable[NamedFile]) -> Iterator[NamedFile]:
    """Yield files; names that differ only in case or in Unicode's forms of a letter are refused."""
    names: dict[str, str] = {}
    for name, pieces in files:
        first = names.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if first != name:
            raise OutputError(
                f"the files {quoted(first)} and {quoted(name)} would be one file on disks that "
                "ignore case: rename a system, or choose a format that is a single file"
            )
        yield name, pieces


def _mode(private: bool) -> int:
    return 0o600 if private else 0o666


@contextmanager
def _output_errors(target: Path) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


def check_free(target: Path) -> None:
    """Refuse a place where something is already, or where nothing can be."""
    if os.path.lexists(target):
        raise OutputError(f"{target} exists already: name a place where nothing is yet")
    if not target.absolute().parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.absolute().parent}")


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"{quoted(text)} has a lone surrogate, which UTF-8 cannot hold"
        raise OutputError(f"cannot write {name}: {reason}") from error
