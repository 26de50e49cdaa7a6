r"""Karat's own layout: a folder of line-aligned text files, a table of judgements, a TOML file.

    karat.toml          name, dimensions, how to read the files below (see `settings_file`)
    systems/NAME.txt    the outputs of a system, one segment a line
    references/*.txt    if there are references: a file for each, in the order of their names
    references/*.conllu if they have dependency trees: a sentence a segment (see below)
    source.txt          if there are sources
    segments.tsv        if segments have ids (default: 1, 2, …) or groups: columns id and group
    human.tsv           if there are judgements: columns system, segment, judge, dimension, value,
                        kind (of the judge: person, model or adjudicated) where it is known, and
                        other (a system that the output is compared with) where pairs were judged
    draws.tsv           if segments were drawn for judging: see `draws`

Text stands as it is, one segment a line. Where that does not do - a text with a line end, an empty
text where empty lines mean missing ones - `escapes = true` gives `\n`, `\r`, `\\` and `\e`
(nothing) a meaning in all text files.

Trees stand instead of text, which is then their words with spaces between them; or beside text
whose file has the same name (`1.txt`, `1.conllu`), a sentence for each text that is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from karat.errors import InputError, MissingExtra, quoted
from karat.evalset.draft import EvalSetDraft
from karat.evalset.draws import DRAWS, format_draws, read_draws
from karat.evalset.judgements import Dimension, Judgement, drop_shares, read_judgement_table
from karat.evalset.reading import (
    FileLocation,
    Reading,
    TableSchema,
    parse_number,
    read_lines,
    read_text,
)
from karat.evalset.sets import EvalSet
from karat.text.trees import Tree, conllu_lines, read_conllu

FILE = "karat.toml"


@dataclass(frozen=True)
class SetSettings:
    """The content of a `karat.toml`."""

    name: str
    description: str = ""
    licence: str = ""
    optional_references: bool = False
    """An empty line in a reference file means that there is no such reference."""
    optional_outputs: bool = False
    """An empty line in a system's file means that the system has no output there."""
    escapes: bool = False
    r"""`\n`, `\r`, `\\` and `\e` (nothing: an empty text that is there) are read as such."""
    systems: tuple[str, ...] | None = None
    """Systems in order; None to use the system files sorted by name."""
    dimensions: tuple[Dimension, ...] = ()


_KINDS = {
    **dict.fromkeys(("name", "description", "licence"), str),
    **dict.fromkeys(("optional-references", "optional-outputs", "escapes"), bool),
    **dict.fromkeys(("systems", "dimension"), list),
}
_OF_DIMENSION = {"name": str, "better": str, "low": float, "high": float, "guideline": str}
_WORDS = {str: "a string", bool: "true or false", list: "an array", float: "a number"}


def read_settings(path: Path, reading: Reading) -> SetSettings:
    """Return the settings of a set, checked."""
    values = read_toml(read_text(path), str(path))
    _check(values, _KINDS, str(path), reading)
    reading.check()
    dimensions = tuple(_dimensions(values.get("dimension", []), path, reading))
    systems = values.get("systems")
    for name in systems or []:
        if not isinstance(name, str):
            reading.problem(path, f"found {quoted(name)} among the systems, expected a string")
    reading.check()
    plain = {key.replace("-", "_"): values[key] for key in values if _KINDS[key] is not list}
    return SetSettings(
        **{"name": path.resolve().parent.name, **plain},
        systems=None if systems is None else tuple(systems),
        dimensions=dimensions,
    )


def read_toml(text: str, name: str) -> dict[str, Any]:
    """Return what a TOML text says, by Python's own parser; Python 3.10 has none."""
    from importlib import import_module

    for parser in ("tomllib", "tomli"):
        try:
            values: dict[str, Any] = import_module(parser).loads(text)
            return values
        except ImportError:
            continue
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}: not valid TOML: {error}") from error
    needs = "needs the package tomli: pip install tomli"
    raise MissingExtra(f"reading {FILE} with Python 3.10 {needs}")


def _check(
    values: Mapping[str, Any], kinds: Mapping[str, type], location: str, reading: Reading
) -> bool:
    """Return whether all keys are known and their values of the right kind; record others."""
    n_problems = reading.count
    for key, value in values.items():
        kind = kinds.get(key)
        if kind is None:
            reading.problem(location, f"found the key {quoted(key)}, expected {', '.join(kinds)}")
            continue
        is_number = parse_number(value) is not None and not isinstance(value, str)
        if not (is_number if kind is float else isinstance(value, kind)):
            reading.problem(location, f"found {key} = {quoted(value)}, expected {_WORDS[kind]}")
    return reading.count == n_problems


def _dimensions(items: Iterable[object], path: Path, reading: Reading) -> Iterator[Dimension]:
    """Yield the dimensions that are declared; record invalid ones as problems."""
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            problem = f"found the dimension {quoted(item)}, expected [[dimension]] with a name"
            reading.problem(path, problem)
        elif _check(item, _OF_DIMENSION, f"{path}, dimension {item['name']}", reading):
            try:
                yield Dimension(**item)
            except InputError as error:
                reading.problem(path, str(error))


def format_settings(settings: SetSettings) -> Iterable[str]:
    """Return the lines of a `karat.toml` that reads back as these settings."""
    for key in ("name", "description", "licence"):
        if (text := getattr(settings, key)) or key == "name":
            yield f"{key} = {toml_string(text)}\n"
    for key in ("optional-references", "optional-outputs", "escapes"):
        if getattr(settings, key.replace("-", "_")):
            yield f"{key} = true\n"
    if settings.systems is not None:
        yield f"systems = [{', '.join(map(toml_string, settings.systems))}]\n"
    for dimension in settings.dimensions:
        yield f"\n[[dimension]]\nname = {toml_string(dimension.name)}\n"
        yield f"better = {toml_string(dimension.better)}\n"
        for key in ("low", "high"):
            if (end := getattr(dimension, key)) is not None:
                yield f"{key} = {end!r}\n"
        if dimension.guideline:
            yield f"guideline = {toml_string(dimension.guideline)}\n"


def toml_string(text: str) -> str:
    """Return a TOML string: JSON's spelling, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_MEANING = {"n": "\n", "r": "\r", "\\": "\\", "e": ""}
T = TypeVar("T")
_UNSAFE = re.compile(r'[%/\\:*?"<>|\x00-\x1f\x7f]|^\.')


def read_directory(path: Path, reading: Reading) -> EvalSet:
    """Read the set from a folder."""
    settings = read_settings(path / FILE, reading)
    files = _Files(settings.escapes, reading)
    system_files = text_files(path / "systems", reading)
    by_system = {file.stem: file for file in sorted(system_files)}
    if settings.systems is not None:
        by_system = {name: path / "systems" / file_name(name) for name in settings.systems}
        for file in system_files:
            if file not in by_system.values():
                reading.problem(file, f"not among the systems that {FILE} lists")
    systems = {name: files.lines(by_system[name], settings.optional_outputs) for name in by_system}
    references, trees = _references(path / "references", files, settings, reading)
    source = path / "source.txt"
    sources = _drop_missing(files.lines(source, optional=False)) if source.exists() else None
    segments, groups = _segments(path / "segments.tsv", files, reading)
    reading.check()
    draft = EvalSetDraft(
        settings.name,
        segments,
        systems,
        reading=reading,
        location=path,
        references=[_drop_missing(group) for group in zip(*references, strict=True)] or None,
        trees=[_drop_missing(group) for group in zip(*trees, strict=True)] or None,
        groups=groups,
        sources=sources,
        dimensions=settings.dimensions,
        description=settings.description,
        licence=settings.licence,
    )
    if (path / "human.tsv").exists():
        for judgement in read_judgement_table(path / "human.tsv", reading):
            draft.judge(*judgement)
    if (path / DRAWS).exists():
        draft.draws = [*read_draws(path / DRAWS, reading)]
    return draft.finish()


class _Files:
    """Text files that must all have a line for every segment."""

    def __init__(self, escapes: bool, reading: Reading) -> None:
        self.escapes, self.reading = escapes, reading
        self.first: Path | None = None
        self.count = 0

    def lines(self, path: Path, optional: bool) -> list[str | None]:
        """Return the texts of a file; an empty line is None where that is what it means."""
        lines = read_lines(path)
        self.compare(path, len(lines))
        return [
            None if optional and not line else self._text(line, location)
            for location, line in self.reading.numbered(lines, path)
        ]

    def compare(self, path: Path, count: int, header: int = 0, units: str = "lines") -> None:
        """Note a file that has more or fewer lines, or other units, than the first one."""
        if self.first is None:
            self.first, self.count = path, count
        elif count != self.count:
            expected = f"{self.count + header:,}, as {self.first} has {self.count:,} segments"
            self.reading.problem(path, f"found {count + header:,} {units}, expected {expected}")

    def _text(self, line: str, location: FileLocation) -> str:
        def meaning(match: re.Match[str]) -> str:
            if match[1] in _MEANING:
                return _MEANING[match[1]]
            self.reading.problem(location, rf"found {match[0]}, expected \n, \r, \\ or \e")
            return match[0]

        return re.sub(r"\\(.?)", meaning, line) if self.escapes else line


def _drop_missing(column: Iterable[T | None]) -> list[T]:
    return [value for value in column if value is not None]


def _references(
    folder: Path, files: _Files, settings: SetSettings, reading: Reading
) -> tuple[list[list[str | None]], list[list[Tree | None]]]:
    """Return a column of texts for each reference, and one of trees if references have any."""
    paths = text_files(folder, reading, (".txt", ".conllu"))
    texts: list[list[str | None]] = []
    trees: list[list[Tree | None]] = []
    bare: list[Path] = []
    for name in dict.fromkeys(path.stem for path in paths):
        text, parsed = folder / f"{name}.txt", folder / f"{name}.conllu"
        lines = files.lines(text, settings.optional_references) if text in paths else None
        if parsed in paths:
            trees.append(_tree_column(parsed, lines, files, reading))
            lines = lines or [None if tree is None else str(tree) for tree in trees[-1]]
        else:
            bare.append(text)
        texts.append(lines or [])
    if trees and bare:
        reading.problem(
            bare[0],
            "has no trees, but other references have: expected a .conllu file for all or none",
        )
    return texts, trees


def _tree_column(
    path: Path, texts: list[str | None] | None, files: _Files, reading: Reading
) -> list[Tree | None]:
    """Return the trees of a file, in the places of the texts beside it, if there are such."""
    parsed = reading.attempt(lambda: read_conllu(path))
    trees = [] if parsed is None else [tree for group in parsed for tree in group]
    if texts is None:
        files.compare(path, len(trees), units="sentences")
        return [*trees]
    expected = sum(text is not None for text in texts)
    if parsed is not None and len(trees) != expected:
        reason = f"as {path.with_suffix('.txt').name} has {expected:,} texts"
        reading.problem(path, f"found {len(trees):,} sentences, expected {expected:,}, {reason}")
    left = iter(trees)
    return [None if text is None else next(left, None) for text in texts]


def file_name(system: str) -> str:
    """Return the file of a system: its name, with %XX for what file names cannot hold."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", system) + ".txt"


def text_files(folder: Path, reading: Reading, endings: tuple[str, ...] = (".txt",)) -> list[Path]:
    """Return the files with these endings of a folder, if there is one, `2.txt` before `10.txt`."""
    if not folder.exists():
        return []
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from error
    for path in paths:
        if path.suffix not in endings:
            reading.problem(path, f"expected only {' and '.join(endings)} files in this folder")

    def by_number(path: Path) -> list[tuple[int, str]]:
        parts = re.findall(r"([0-9]+)|([^0-9]+)", path.name)
        return [(int(digits or -1), text) for digits, text in parts]

    return sorted((path for path in paths if path.suffix in endings), key=by_number)


def _segments(path: Path, files: _Files, reading: Reading) -> tuple[list[str], list[str] | None]:
    """Return the ids and groups of all segments."""
    if not path.exists():
        return [str(i) for i in range(1, files.count + 1)], None
    columns = ("id", "group") if "\t" in (read_lines(path) or [""])[0] else ("id",)
    rows = list(TableSchema(columns, only=True).read(path, reading))
    reading.check_once((location, row[0]) for location, row in rows)
    files.compare(path, len(rows), header=1)
    groups = [row[1] for _, row in rows] if len(columns) > 1 else None
    return [row[0] for _, row in rows], groups


def directory_files(evalset: EvalSet) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files of a folder that reads back as the set, each with its text in pieces."""
    settings = _settings(evalset)
    yield FILE, format_settings(settings)
    counts = range(max(map(len, evalset.references)))
    width = len(str(len(counts)))
    for k in counts:
        column = [group[k] if k < len(group) else None for group in evalset.references]
        name = f"references/{k + 1:0{width}}"
        trees = [group[k] for group in evalset.trees or () if k < len(group)]
        # Trees alone tell the text where it is their words, and which segment each belongs to
        # where every segment has one.
        if [str(tree) for tree in trees] != column:
            yield f"{name}.txt", _lines(column, settings)
        if trees:
            yield f"{name}.conllu", conllu_lines(trees)
    for name, outputs in evalset.systems.items():
        yield f"systems/{file_name(name)}", _lines(outputs, settings)
    if evalset.sources is not None:
        yield "source.txt", _lines(evalset.sources, settings)
    if evalset.groups is not None:
        rows = zip(evalset.segments, evalset.groups, strict=True)
        yield "segments.tsv", ["id\tgroup\n", *(f"{name}\t{group}\n" for name, group in rows)]
    elif evalset.segments != tuple(str(i) for i in range(1, len(evalset) + 1)):
        yield "segments.tsv", ["id\n", *(f"{name}\n" for name in evalset.segments)]
    if evalset.judgements:
        yield "human.tsv", _judgement_lines(evalset)
    if evalset.draws is not None:
        yield DRAWS, format_draws(evalset.draws)


def _judgement_lines(evalset: EvalSet) -> Iterator[str]:
    """Yield the lines of `human.tsv`, with kinds and others only where there are some."""
    kinds, pairs = evalset.judgements.judge_kinds, evalset.pairs
    optional = {"kind": bool(kinds), "other": bool(pairs)}
    columns = [*Judgement._fields, *(name for name, is_used in optional.items() if is_used)]
    yield "\t".join(columns) + "\n"
    for row in (*drop_shares(evalset.judgements, pairs), *pairs):
        fields = {**row._asdict(), "value": repr(row.value), "kind": kinds.get(row.judge, "")}
        yield "\t".join(fields.get(name, "") for name in columns) + "\n"


def _settings(evalset: EvalSet) -> SetSettings:
    outputs = list(chain.from_iterable(evalset.systems.values()))
    references = list(chain.from_iterable(evalset.references))
    texts = [text or "" for text in (*outputs, *references, *(evalset.sources or ()))]
    varying = len({len(group) for group in evalset.references}) > 1
    missing = None in outputs
    # An empty text that is there must not be taken for one that is missing.
    hidden = (missing and "" in outputs) or (varying and "" in references)
    return SetSettings(
        evalset.name,
        evalset.description,
        evalset.licence,
        optional_references=varying,
        optional_outputs=missing,
        escapes=hidden or any("\n" in text or "\r" in text for text in texts),
        systems=tuple(evalset.systems),
        dimensions=tuple(evalset.dimensions.values()),
    )


def _lines(column: Iterable[str | None], settings: SetSettings) -> Iterator[str]:
    """Yield texts as lines that read back; an empty line is a text that is missing."""
    for i, text in enumerate(column):
        line = text or ""
        # A mark that belongs to the first text would be taken for the file's byte-order mark.
        mark = "\ufeff" if i == 0 and line.startswith("\ufeff") else ""
        if settings.escapes:
            line = line.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
            line = r"\e" if text == "" else line
        yield f"{mark}{line}\n"
