"""Check, parse, convert and save evaluation sets; files are never overwritten, and atomic."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from karat.errors import InputError, MissingExtra, OutputError, quoted, short
from karat.evalset.catalogue import Catalogue, GivenPath
from karat.evalset.inspection import (
    NextCommand,
    SetIssue,
    TextCount,
    count_texts,
    find_issues,
    next_commands,
)
from karat.evalset.judgements import raters_unnamed
from karat.evalset.loading import (
    EVALSETS,
    STANDARD_INPUT,
    TABLE,
    SetSource,
    as_additions,
    as_evalset,
    detect,
    load_evalset,
    read_source,
)
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.installation import install_command
from karat.progress import Progress, silent
from karat.registry import load
from karat.results import Result
from karat.storage.output import HAS_LOCKS, claimed_file, claimed_folder, encode_utf8
from karat.text.tokens import tokenize
from karat.text.trees import Tree, Trees

PIPELINE = "en_core_web_sm"
"""The default pipeline."""


def parse_references(
    references: Iterable[str], pipeline: str = PIPELINE, tok: str | None = None
) -> Trees:
    """Return the dependency trees of references, parsed by a spaCy pipeline.

    If the parser finds several sentences in a text, the roots of the others become daughters of the
    first root. White-space tokens are left out.

    Args:
        references: texts, one for each tree.
        pipeline: name of a spaCy pipeline with a parser.
        tok: tokeniser, as in metrics; by default spaCy's own.
    """
    return Trees(list(_parse_texts(list(references), pipeline, tok)))


def parse_evalset(
    evalset: SetSource,
    pipeline: str = PIPELINE,
    tok: str | None = None,
    *,
    progress: Progress = silent,
) -> EvalSet:
    """Return the set with a dependency tree for every reference.

    Texts stay as they are. Tree metrics must tokenise outputs as the trees are tokenised: trees
    made with `tok="13a"` are for `generation_tree_accuracy:tok=13a`.

    Args:
        evalset: the set, its name or path, the path of a table, or a frame.
        pipeline: name of a spaCy pipeline with a parser.
        tok: tokeniser, as for `parse_references`.
        progress: function that is called with the progress.
    """
    evalset = as_evalset(evalset, progress)
    texts = list(dict.fromkeys(text for group in evalset.references for text in group))
    tree_of_text: dict[str, Tree] = {}
    for text, tree in zip(texts, _parse_texts(texts, pipeline, tok), strict=True):
        tree_of_text[text] = tree
        progress(len(tree_of_text), len(texts), "parsing")
    trees = tuple(tuple(tree_of_text[text] for text in group) for group in evalset.references)
    return replace(evalset, trees=trees if tree_of_text else None)


def _parse_texts(texts: Sequence[str], pipeline: str, tok: str | None) -> Iterator[Tree]:
    """Yield the trees of texts."""
    try:
        import spacy
    except ImportError as error:
        raise MissingExtra(
            "trees of references need the package spacy and a pipeline: "
            f"{install_command('trees')} and python -m spacy download {pipeline}; "
            "or give the trees as CoNLL-U"
        ) from error
    try:
        parser = spacy.load(pipeline)
    except OSError as error:
        raise MissingExtra(
            f"spaCy has no pipeline {quoted(pipeline)} here: python -m spacy download {pipeline}, "
            "name another one, or give the trees as CoNLL-U"
        ) from error
    documents: Iterable[Any] = texts
    if tok is not None:
        words = tokenize(list(texts), tok)
        make = load("spacy.tokens:Doc")
        documents = (make(parser.vocab, words=words[i]) for i in range(len(texts)))
    for i, doc in enumerate(parser.pipe(documents)):
        tokens = [token for token in doc if not token.is_space]
        if not tokens:
            raise InputError(f"references[{i}] has no words: there is nothing to parse")
        if not doc.has_annotation("DEP"):
            raise InputError(f"spaCy's {pipeline} has no parser: name a pipeline that has one")
        number = {token.i: k for k, token in enumerate(tokens, 1)}
        heads = [_head_number(token, number) for token in tokens]
        root = heads.index(0) + 1  # other roots become its daughters
        heads = [root if head == 0 and k != root else head for k, head in enumerate(heads, 1)]
        yield Tree(tuple(token.text for token in tokens), tuple(heads))


def _head_number(token: Any, number: dict[int, int]) -> int:
    """Return the number of the nearest kept ancestor; 0 for a root."""
    while token.head.i != token.i:
        token = token.head
        if token.i in number:
            return number[token.i]
    return 0


class SetCount(NamedTuple):
    """Counts of a set; reference counts are per segment."""

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
    """Counts of one system: outputs, missing and empty ones, and judgements."""

    system: str
    outputs: int
    missing: int
    empty: int
    judged: int  # segments with at least one judgement
    judgements: int


class DimensionCount(NamedTuple):
    """One dimension: its scale, its judgements and judges, and the range of values."""

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
    """The contents of a usable set, or the problems of an unusable one."""

    name: str
    """The name or path of the set."""
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
    """Number of all problems; `problems` has only the first of very many."""
    texts: tuple[TextCount, ...] = ()
    issues: tuple[SetIssue, ...] = ()
    """Problems that do not prevent the use of the set, each kind once."""
    commands: tuple[NextCommand, ...] = ()
    """Commands that make sense for the set."""
    reading: str = ""
    """Summary of how a table was read; empty for other formats."""


def check_evalset(
    evalset: SetSource,
    format: str | None = None,
    *,
    judgements: GivenPath | Sequence[GivenPath] = (),
    model_judges: Sequence[str] = (),
    draws: GivenPath | None = None,
    progress: Progress = silent,
    **options: Any,
) -> EvalSetCheck:
    """Describe a set and list its problems.

    An unusable set is not an error: `evalset` is then None, and `problems` has the reasons.

    Args:
        evalset: the set, its name or path, the path of a table, or a frame, as for `load_evalset`.
        format: name of its format; by default detected.
        judgements, model_judges, draws: additions, as for `load_evalset`.
        progress: function that is called with the progress.
        options: options of the format's reader.
    """
    extras = as_additions(judgements, model_judges, draws)
    additions = {name: value for name, value in extras._asdict().items() if value}
    settings = {"format": format, **options, **additions}
    reading = Reading(progress)

    def read() -> EvalSet:
        return read_source(evalset, reading, format, options, extras)

    evalset_read = reading.attempt(read)
    if evalset_read is not None:
        name = os.fspath(evalset) if isinstance(evalset, str | os.PathLike) else evalset_read.name
        is_table = _is_read_as_table(evalset, format)
        summary = evalset_read.remarks[:1] if is_table else ()
        check = _describe_set(name, evalset_read, settings)
        return replace(
            check,
            commands=next_commands(evalset_read, evalset, format, options, is_table),
            reading=" ".join(summary),
            notes=tuple(note for note in check.notes if note not in summary),
        )
    problems = tuple(reading.all())
    return EvalSetCheck(
        short(evalset), None, problems=problems, settings=settings, problem_count=reading.count
    )


def _is_read_as_table(source: SetSource, format: str | None) -> bool:
    """Return whether a set that was read is a table: a file of no other format, or a frame."""
    if isinstance(source, EvalSet):
        return False
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == STANDARD_INPUT:
        return True
    if format is not None or EVALSETS.known_set(source) is not None:
        return format == TABLE
    return detect(Path(source))[0] == TABLE


def _describe_set(name: str, evalset: EvalSet, settings: Mapping[str, object]) -> EvalSetCheck:
    people = evalset.judgements.without_models()
    systems = []
    for i, (system, outputs) in enumerate(evalset.systems.items()):
        judged = people.segment[people.system == i].tolist()
        missing, empty = outputs.count(None), outputs.count("")
        counts = len(outputs) - missing, missing, empty, len(set(judged)), len(judged)
        systems.append(SystemCount(system, *counts))
    dimensions = []
    for title, dimension in evalset.dimensions.items():
        rows = people.select_dimension(title)
        values = rows.value.tolist()
        items = set(zip(rows.system.tolist(), rows.segment.tolist(), strict=True))
        scale = title, dimension.better, dimension.low, dimension.high
        sizes = len(values), len(rows.judges), len(items)
        ends = min(values, default=None), max(values, default=None)
        n_off_scale = sum(map(dimension.off_scale, values))
        dimensions.append(DimensionCount(*scale, *sizes, *ends, n_off_scale))
    references = [len(group) for group in evalset.references]
    row = SetCount(
        *(evalset.name, len(systems), len(evalset)),
        None if evalset.groups is None else len(set(evalset.groups)),
        *(min(references), float(median(references)), max(references)),
        *(len(people), len(people.judges)),
        *(sum(count.missing for count in systems), sum(count.empty for count in systems)),
    )
    texts = evalset.description, f"Licence: {evalset.licence}" if evalset.licence else ""
    notes = (*filter(None, texts), *_set_remarks(evalset, systems, dimensions))
    tables = (row,), tuple(systems), tuple(dimensions)
    return EvalSetCheck(
        name,
        evalset,
        *tables,
        notes=notes,
        settings=settings,
        texts=count_texts(evalset),
        issues=find_issues(evalset),
    )


def _set_remarks(
    evalset: EvalSet, systems: Iterable[SystemCount], dimensions: Iterable[DimensionCount]
) -> list[str]:
    """Return remarks on properties that are not errors but limit the use of the set."""
    remarks = list(evalset.notes)
    if evalset.trees is not None:
        remarks.append("every reference has a dependency tree")
    people = evalset.judgements.without_models().judges
    if raters_unnamed(people):
        remarks.append(f"The raters are not named: {' and '.join(people)} means all of them")
    for count in dimensions:
        name, rows = short(count.dimension), evalset.judgements.select_dimension(count.dimension)
        off_scale = evalset.dimensions[count.dimension].off_scale
        by_models = sum(map(off_scale, rows.value.tolist())) - count.off_scale
        for number, whose in ((count.off_scale, ""), (by_models, " of models")):
            if number:
                verb = "judgement{} is" if number == 1 else "judgements{} are"
                remarks.append(f"{name}: {number:,} {verb.format(whose)} off the stated scale")
        if not count.judgements:
            models_only = f"judged by models alone: {short(', '.join(rows.judges))}"
            remarks.append(f"{name}: {models_only if rows.judges else 'no judgements'}")
        values = [rows.value[rows.judge == i] for i in range(len(rows.judges))]
        if flat := [j for j, v in zip(rows.judges, values, strict=True) if v.min() == v.max()]:
            names = short(", ".join(flat[:5]) + (", …" if len(flat) > 5 else ""))
            problem = "judges always gave one value and have no z-scores"
            remarks.append(f"{name}: {len(flat):,} {problem}: {names}")
    if not any(evalset.references):
        remarks.append("no segment has a reference: metrics that need one cannot score the set")
    if not evalset.has_texts:
        remarks.append("the set has scores without texts")
    for system in systems:
        if not system.judged and evalset.judgements:
            remarks.append(f"{system.system}: not judged")
    if len(evalset.systems) == 1:
        remarks.append("one system: there is nothing to compare at the level of systems")
    return remarks


NamedFile: TypeAlias = tuple[str, Iterable[str]]
"""A file of a folder: its path in it, and its text in pieces."""


def save_evalset(evalset: SetSource, path: GivenPath, format: str = "dir") -> None:
    """Save a set in a format that `load_evalset` reads back.

    Args:
        evalset: the set, its name or path, the path of a table, or a frame.
        path: folder or file to write.
        format: `dir` for a folder, or `jsonl` for a file of JSON lines.
    """
    save_as(EVALSETS, as_evalset(evalset), path, format)


def convert_evalset(
    name_or_path: SetSource,
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
        name_or_path: the set, its name or path, the path of a table, or a frame, as for
            `load_evalset`.
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
    evalset = load_evalset(name_or_path, read_as, progress=progress, **options)
    if parse is not None:
        evalset = parse_evalset(evalset, parse, tok, progress=progress)
    save_evalset(evalset, path, format)
    return check_evalset(evalset)


def save_as(catalogue: Catalogue, content: Any, path: GivenPath, format: str) -> None:
    """Write a set in a format of its catalogue."""
    set_format = catalogue.formats.find(format)
    if set_format is None or not set_format.writer:
        names = [name for name, other_format in catalogue.formats.usable() if other_format.writer]
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(names)}")
    write = write_folder if set_format.holds else write_file
    write(Path(path), load(set_format.writer)(content))


def write_file(target: Path, pieces: Iterable[str], private: bool = False) -> None:
    """Write a new file (atomic); only its owner can read a `private` file."""
    check_free(target)
    claimed = claimed_file(str(target), 0o600 if private else 0o666)
    with _output_errors(target), claimed as (temporary, stream):
        stream.writelines(encode_utf8(target.name, piece) for piece in pieces)
        stream.flush()
        check_free(target)
        if not HAS_LOCKS:
            stream.close()
        os.rename(temporary, target)


def write_folder(target: Path, files: Iterable[NamedFile], private: Collection[str] = ()) -> None:
    """Write a new folder (atomic); only its owner can read `private` files.

    File names that differ only in case are rejected: on some disks they are one file.
    """
    check_free(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with _output_errors(target), claimed_folder(str(target)) as temporary:
        for name, pieces in check_distinct(files):
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(path, flags, 0o600 if name in private else 0o666), "wb") as file:
                file.writelines(encode_utf8(name, piece) for piece in pieces)
        check_free(target)
        os.rename(temporary, target)


def check_distinct(files: Iterable[NamedFile]) -> Iterator[NamedFile]:
    """Yield files; reject names that differ only in case or in Unicode normalization."""
    names: dict[str, str] = {}
    for name, pieces in files:
        first = names.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if first != name:
            raise OutputError(
                f"the files {quoted(first)} and {quoted(name)} would be one file on disks that "
                "ignore case: rename a system, or choose a format that is a single file"
            )
        yield name, pieces


@contextmanager
def _output_errors(target: Path) -> Iterator[None]:
    """Turn an error of writing into one sentence."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


def check_free(target: Path) -> None:
    """Raise if a path exists already, or if its folder does not exist."""
    if os.path.lexists(target):
        raise OutputError(f"{target} exists already: name a new file or folder")
    if not target.absolute().parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.absolute().parent}")
