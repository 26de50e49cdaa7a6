r"""Karat's own layout: a folder of line-aligned text files, a table of judgements, a TOML file.

    karat.toml          name, dimensions, and settings of the files below (see `_KINDS`)
    systems/NAME.txt    the outputs of a system, one segment per line
    references/*.txt    optional: one file per reference, in the order of their names
    references/*.conllu optional: dependency trees, one sentence per segment (see below)
    source.txt          optional: the sources
    contexts.jsonl      optional: the passages that systems were given, an array per segment, or an
                        object with one for each system
    segments.tsv        optional: columns id (default: 1, 2, …) and group
    human.tsv           optional: judgements, with columns system, segment, judge, dimension, value,
                        and perhaps kind (of the judge: person, model or adjudicated) and other
                        (a system with which the output is compared)
    draws.tsv           optional: draws of segments for judging; see `draws`

Text is written unchanged, one segment per line. If that is ambiguous - a text with a line end, an
empty text where empty lines mean missing texts - `escapes = true` enables `\n`, `\r`, `\\` and `\e`
(an empty text) in all text files.

Trees replace text, which is then their words joined by spaces; or they come with text
in a file of the same name (`1.txt`, `1.conllu`), with one sentence for each text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from karat.errors import InputError, MissingExtra, quoted
from karat.evalset.draft import Contexts, EvalSetDraft, contexts_by_system
from karat.evalset.draws import DRAWS, format_draws, read_draws
from karat.evalset.judgements import Dimension, Judgement, drop_shares, read_judgement_table
from karat.evalset.reading import (
    FileLocation,
    Location,
    Reading,
    parse_number,
    read_header,
    read_lines,
    read_table,
    read_text,
)
from karat.evalset.sets import EvalSet
from karat.text.trees import Tree, conllu_lines, read_conllu

FILE = "karat.toml"


_KINDS = {
    **dict.fromkeys(("name", "description", "licence", "kind"), str),
    "optional-references": bool,  # an empty line in a reference file is a missing reference
    "optional-outputs": bool,  # an empty line in a system's file is a missing output
    "without-texts": bool,  # judgements of outputs whose texts are unknown
    "escapes": bool,  # \n, \r, \\ and \e (an empty text) are escapes
    "systems": list,  # in order; by default the system files sorted by name
    "dimension": list,
}
"""Keys of a `karat.toml`, and the types of their values."""
_OF_DIMENSION = {"name": str, "better": str, "low": float, "high": float, "guideline": str}
_WORDS = {str: "a string", bool: "true or false", list: "an array", float: "a number"}


def read_settings(path: Path, reading: Reading) -> tuple[dict[str, Any], list[Dimension]]:
    """Return the checked values of a `karat.toml`, and the dimensions that it declares."""
    values = read_toml(read_text(path), str(path))
    _check_keys(values, _KINDS, str(path), reading)
    reading.check()
    dimensions = []
    for item in values.get("dimension", []):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            problem = f"found the dimension {quoted(item)}, expected [[dimension]] with a name"
            reading.problem(path, problem)
        elif _check_keys(item, _OF_DIMENSION, f"{path}, dimension {item['name']}", reading):
            try:
                dimensions.append(Dimension(**item))
            except InputError as error:
                reading.problem(path, str(error))
    for name in values.get("systems", []):
        if not isinstance(name, str):
            reading.problem(path, f"found {quoted(name)} among the systems, expected a string")
    reading.check()
    return {"name": path.resolve().parent.name, **values}, dimensions


def read_toml(text: str, name: str) -> dict[str, Any]:
    """Parse a TOML text; Python 3.10 needs the package tomli."""
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


def _check_keys(
    values: Mapping[str, Any], kinds: Mapping[str, type], location: str, reading: Reading
) -> bool:
    """Return whether all keys and the types of their values are valid; record problems."""
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


def _format_settings(settings: Mapping[str, Any], dimensions: Iterable[Dimension]) -> Iterator[str]:
    """Yield the lines of a `karat.toml` that reads back as these settings."""
    for key, value in settings.items():
        if isinstance(value, str) and (value or key == "name"):
            yield f"{key} = {toml_string(value)}\n"
        elif value is True:
            yield f"{key} = true\n"
        elif isinstance(value, tuple):
            yield f"{key} = [{', '.join(map(toml_string, value))}]\n"
    for dimension in dimensions:
        yield f"\n[[dimension]]\nname = {toml_string(dimension.name)}\n"
        yield f"better = {toml_string(dimension.better)}\n"
        for key in ("low", "high"):
            if (end := getattr(dimension, key)) is not None:
                yield f"{key} = {end!r}\n"
        if dimension.guideline:
            yield f"guideline = {toml_string(dimension.guideline)}\n"


def toml_string(text: str) -> str:
    """Return a TOML string: like JSON, but with DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_MEANING = {"n": "\n", "r": "\r", "\\": "\\", "e": ""}
T = TypeVar("T")
_UNSAFE = re.compile(r'[%/\\:*?"<>|\x00-\x1f\x7f]|^\.')


def read_directory(path: Path, reading: Reading) -> EvalSet:
    """Read the set from a folder."""
    settings, dimensions = read_settings(path / FILE, reading)
    files = _Files(settings.get("escapes", False), reading)
    system_files = text_files(path / "systems", reading)
    by_system = {file.stem: file for file in sorted(system_files)}
    if "systems" in settings:
        by_system = {name: path / "systems" / file_name(name) for name in settings["systems"]}
        for file in system_files:
            if file not in by_system.values():
                reading.problem(file, f"not among the systems that {FILE} lists")
    optional_outputs = settings.get("optional-outputs", False)
    systems = {name: files.lines(by_system[name], optional_outputs) for name in by_system}
    optional_references = settings.get("optional-references", False)
    references, trees = _read_references(path / "references", files, optional_references, reading)
    source = path / "source.txt"
    sources = _drop_missing(files.lines(source, optional=False)) if source.exists() else None
    segments, groups = _read_segments(path / "segments.tsv", files, reading)
    contexts = _read_contexts(path / CONTEXTS, files, reading)
    reading.check()
    draft = EvalSetDraft(
        settings["name"],
        segments,
        systems,
        reading=reading,
        location=path,
        references=[_drop_missing(group) for group in zip(*references, strict=True)] or None,
        trees=[_drop_missing(group) for group in zip(*trees, strict=True)] or None,
        groups=groups,
        sources=sources,
        dimensions=dimensions,
        description=settings.get("description", ""),
        licence=settings.get("licence", ""),
        contexts=contexts,
        without_texts=settings.get("without-texts", False),
        kind=settings.get("kind", ""),
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
        """Return the texts of a file; an empty line is None if lines are `optional`."""
        lines = read_lines(path)
        self.compare(path, len(lines))
        return [
            None if optional and not line else self._unescape(line, at) if self.escapes else line
            for at, line in self.reading.numbered(lines, path)
        ]

    def compare(self, path: Path, count: int, header: int = 0, units: str = "lines") -> None:
        """Record a file whose number of lines, or other units, differs from the first one's."""
        if self.first is None:
            self.first, self.count = path, count
        elif count != self.count:
            expected = f"{self.count + header:,}, as {self.first} has {self.count:,} segments"
            self.reading.problem(path, f"found {count + header:,} {units}, expected {expected}")

    def _unescape(self, line: str, location: FileLocation) -> str:
        def meaning(match: re.Match[str]) -> str:
            if match[1] in _MEANING:
                return _MEANING[match[1]]
            self.reading.problem(location, rf"found {match[0]}, expected \n, \r, \\ or \e")
            return match[0]

        return re.sub(r"\\(.?)", meaning, line)


def _drop_missing(column: Iterable[T | None]) -> list[T]:
    return [value for value in column if value is not None]


def _read_references(
    folder: Path, files: _Files, optional: bool, reading: Reading
) -> tuple[list[list[str | None]], list[list[Tree | None]]]:
    """Return a column of texts for each reference, and a column of trees if it has any."""
    paths = text_files(folder, reading, (".txt", ".conllu"))
    texts: list[list[str | None]] = []
    trees: list[list[Tree | None]] = []
    bare: list[Path] = []
    for name in dict.fromkeys(path.stem for path in paths):
        text, parsed = folder / f"{name}.txt", folder / f"{name}.conllu"
        lines = files.lines(text, optional) if text in paths else None
        if parsed in paths:
            trees.append(_read_tree_column(parsed, lines, files, reading))
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


def _read_tree_column(
    path: Path, texts: list[str | None] | None, files: _Files, reading: Reading
) -> list[Tree | None]:
    """Return the trees of a file, aligned with the texts of the same name, if any."""
    parsed = reading.attempt(lambda: read_conllu(path))
    trees = [] if parsed is None else [tree for group in parsed for tree in group]
    if texts is None:
        files.compare(path, len(trees), units="sentences")
        return [*trees]
    expected = sum(text is not None for text in texts)
    if parsed is not None and len(trees) != expected:
        reason = f"as {path.with_suffix('.txt').name} has {expected:,} texts"
        reading.problem(path, f"found {len(trees):,} sentences, expected {expected:,}, {reason}")
    remaining_trees = iter(trees)
    return [None if text is None else next(remaining_trees, None) for text in texts]


def file_name(system: str) -> str:
    """Return the file name of a system, with %XX for unsafe characters."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", system) + ".txt"


def text_files(folder: Path, reading: Reading, endings: tuple[str, ...] = (".txt",)) -> list[Path]:
    """Return the files of a folder with these endings, `2.txt` before `10.txt`."""
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


def _read_segments(
    path: Path, files: _Files, reading: Reading
) -> tuple[list[str], list[str] | None]:
    """Return the ids and groups of all segments."""
    if not path.exists():
        return [str(i) for i in range(1, files.count + 1)], None
    columns = ("id", "group")[: len(read_header(path)) or 1]
    rows = list(read_table(path, columns, reading, only=True))
    reading.check_once((location, row[0]) for location, row in rows)
    files.compare(path, len(rows), header=1)
    groups = [row[1] for _, row in rows] if len(columns) > 1 else None
    return [row[0] for _, row in rows], groups


CONTEXTS = "contexts.jsonl"


def _read_contexts(path: Path, files: _Files, reading: Reading) -> Contexts | None:
    """Return the contexts of all segments, a JSON array in each line, or one for each system."""
    if not path.exists():
        return None
    lines = read_lines(path)
    files.compare(path, len(lines))
    rows: list[tuple[Location, Any]] = []
    for location, line in reading.numbered(lines, path):
        try:
            rows.append((location, json.loads(line)))
        except (ValueError, RecursionError):
            reading.problem(location, f"found {quoted(line)}, expected a JSON array of texts")
            rows.append((location, []))
    return contexts_by_system(rows, reading)


def directory_files(evalset: EvalSet) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files of a folder that reads back as the set, with their texts in pieces."""
    settings = _make_settings(evalset)
    escapes = settings["escapes"]
    yield FILE, _format_settings(settings, evalset.dimensions.values())
    counts = range(max(map(len, evalset.references)))
    width = len(str(len(counts)))
    for k in counts:
        column = [group[k] if k < len(group) else None for group in evalset.references]
        name = f"references/{k + 1:0{width}}"
        trees = [group[k] for group in evalset.trees or () if k < len(group)]
        # Trees alone are enough if their words are the text
        # and every segment has one.
        if [str(tree) for tree in trees] != column:
            yield f"{name}.txt", _format_lines(column, escapes)
        if trees:
            yield f"{name}.conllu", conllu_lines(trees)
    for name, outputs in evalset.systems.items():
        yield f"systems/{file_name(name)}", _format_lines(outputs, escapes)
    if evalset.sources is not None:
        yield "source.txt", _format_lines(evalset.sources, escapes)
    if evalset.contexts is not None or evalset.system_contexts is not None:
        contexts = map(evalset.segment_contexts, range(len(evalset)))
        yield CONTEXTS, (json.dumps(texts, ensure_ascii=False) + "\n" for texts in contexts)
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
    """Yield the lines of `human.tsv`; columns kind and other only if they are used."""
    kinds, pairs = evalset.judgements.judge_kinds, evalset.pairs
    optional = {"kind": bool(kinds), "other": bool(pairs)}
    columns = [*Judgement._fields, *(name for name, is_used in optional.items() if is_used)]
    yield "\t".join(columns) + "\n"
    for row in (*drop_shares(evalset.judgements, pairs), *pairs):
        fields = {**row._asdict(), "value": repr(row.value), "kind": kinds.get(row.judge, "")}
        yield "\t".join(fields.get(name, "") for name in columns) + "\n"


def _make_settings(evalset: EvalSet) -> dict[str, Any]:
    outputs = list(chain.from_iterable(evalset.systems.values()))
    references = list(chain.from_iterable(evalset.references))
    texts = [text or "" for text in (*outputs, *references, *(evalset.sources or ()))]
    varying = len({len(group) for group in evalset.references}) > 1
    missing = None in outputs
    # An empty text must not be mistaken for a missing one.
    hidden = (missing and "" in outputs) or (varying and "" in references)
    return {
        "name": evalset.name,
        "description": evalset.description,
        "licence": evalset.licence,
        "kind": evalset.kind,
        "optional-references": varying,
        "optional-outputs": missing,
        "without-texts": bool(evalset.judgements) and not evalset.has_texts,
        "escapes": hidden or any("\n" in text or "\r" in text for text in texts),
        "systems": tuple(evalset.systems),
    }


def _format_lines(column: Iterable[str | None], escapes: bool) -> Iterator[str]:
    """Yield texts as lines that read back; an empty line is a missing text."""
    for i, text in enumerate(column):
        line = text or ""
        # A mark in the first text would be mistaken for the file's byte-order mark.
        mark = "\ufeff" if i == 0 and line.startswith("\ufeff") else ""
        if escapes:
            line = line.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
            line = r"\e" if text == "" else line
        yield f"{mark}{line}\n"
