"""Input files, sets and tables named on the command line, opened and checked against each other."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.command import TYPED
from karat.cli.options import PLAIN_TEXT
from karat.cli.parameters import F
from karat.cli.show import check_output
from karat.errors import InputError, OutputError, UnknownMetric, quoted, sentence
from karat.progress import Progress, silent
from karat.registry import load
from karat.score_settings import DEFAULT_METRICS, GROUPINGS, LENGTH, SEGMENT
from karat.settings import NamedTexts
from karat.tables.options import ReadingOptions
from karat.text.references import References, check_aligned
from karat.text.segments import Lines, Segments

if TYPE_CHECKING:
    from karat.evalset.draws import Draw
    from karat.evalset.sets import EvalSet
    from karat.metrics.base import Metric
    from karat.scoring import DefaultMetrics

_SUFFIXES = {".txt", ".gz", ".out", ".hyp"}

# ------------------------------------------------------------------------------------- sets


class SetInput(NamedTuple):
    """An evaluation set, how to read it, judgements to add and systems to leave out."""

    name: str
    read_as: str | None = None
    reader_options: tuple[str, ...] = ()
    judgements: Sequence[str] = ()
    model_judges: Sequence[str] = ()
    exclude: Sequence[str] = ()
    tables: Mapping[str, str] = MappingProxyType({})  # several tables, by the name of their system

    def check_output(
        self, output: str | None, inputs: Sequence[str] = (), **other_outputs: str | None
    ) -> None:
        """Reject outputs that cannot be written or that are part of the input."""
        sets = [*self.tables.values()] or [self.name]
        check_output(output, [*self.judgements, *inputs], sets, **other_outputs)

    def reading(self) -> dict[str, Any]:
        """Return the arguments of functions that read a set."""
        from karat.evalset.loading import parse_options

        judging = {"judgements": self.judgements, "model_judges": self.model_judges}
        return {**judging, **parse_options(self.reader_options)}

    def load(self, progress: Progress = silent, draws: str | None = None) -> EvalSet:
        """Load the set; `draws` is a file with the draws of segments for labelling."""
        from karat.evalset.loading import load_evalset

        evalset = load_evalset(
            self.tables or self.name, self.read_as, draws=draws, progress=progress, **self.reading()
        )
        return evalset.without(*self.exclude) if self.exclude else evalset

    def load_any_kind(
        self,
        dimensions: Sequence[str],
        kind_options: Mapping[str, Any],
        progress: Progress,
        draws: str | None = None,
    ) -> Any:
        """Load a set of any kind; `kind_options` are the options of `add_kind_options`.

        `draws` is added to evaluation sets; for other kinds of sets, use `read_draws_of`.
        """
        from karat.evalset.catalogue import SET_KINDS

        added = {"judgements": self.judgements, "model_judges": self.model_judges}
        for kind in SET_KINDS.entries():
            read = load(SET_KINDS[kind].read)
            loaded = read(self.name, dimensions, progress, **added, **kind_options)
            if loaded is not None:
                return loaded
        return self.load(progress, draws)


def add_kind_options(function: F) -> F:
    """Add the options of other kinds of sets."""
    from karat.evalset.catalogue import SET_KINDS

    for kind in SET_KINDS.entries():
        function = load(SET_KINDS[kind].options)(function)
    return function


def read_draws_of(loaded: Any, draws: str | None) -> Sequence[Draw] | None:
    """Read the draws of another kind of set; None for evaluation sets, which include them."""
    from karat.evalset.catalogue import SET_KINDS

    kind = type(loaded).__name__
    if draws is None or kind not in SET_KINDS:
        return None
    rows: Sequence[Draw] = load(SET_KINDS[kind].draws)(loaded, draws)
    return rows


# ------------------------------------------------------------------------------------ files


class InputFiles(NamedTuple):
    """Inputs of `score` and `compare`: files and their references, or an evaluation set."""

    candidates: Sequence[str]
    references: Sequence[str]
    optional_references: bool = False
    read_as: str | None = None  # the format of the files
    evalset: SetInput | None = None
    unit_labels: str | None = None  # a file with the label of each segment's unit
    judgements: Sequence[str] = ()  # files of judgements to add to the set
    model_judges: Sequence[str] = ()
    reading: ReadingOptions = ReadingOptions()  # of tables
    reader_options: tuple[str, ...] = ()  # of sets

    def as_set(self, name: str, read_as: str | None = None) -> InputFiles:
        """Return these inputs as a set of which all systems are used."""
        return self.with_set(name, read_as)._replace(candidates=(), references=())

    def with_set(self, name: str, read_as: str | None = None) -> InputFiles:
        """Return these inputs with a set, whose systems the candidates name."""
        options = (*self.reader_options, *self.reading.texts())
        added = self.judgements, self.model_judges
        evalset = SetInput(name, read_as or self.read_as, options, *added)
        return self._replace(read_as=None, evalset=evalset)

    def as_table_set(self, columns: Mapping[str, str]) -> InputFiles:
        """Return tables as a set; `columns` are named by role."""
        from karat.evalset.loading import TABLE

        all_columns = NamedTexts({**self.reading.columns, **columns})
        inputs = self._replace(reading=replace(self.reading, columns=all_columns))
        tables = [split_table_name(argument) for argument in self.candidates]
        if twice := next((a for a in self.candidates if self.candidates.count(a) > 1), None):
            raise InputError(f"{twice} is named twice: its rows would count twice")
        name, path = tables[0]
        if len(tables) == 1 and name is None:
            return inputs.as_set(path, TABLE)
        from karat.arrow.pieces import table_name

        paths = paths_by_name((name or table_name(path), path) for name, path in tables)
        table_set = inputs.as_set(" ".join(paths.values()), TABLE)
        return table_set._replace(
            evalset=table_set.evalset and table_set.evalset._replace(tables=paths)
        )

    def check_judgements(self) -> None:
        """Reject judgements of files and tables, to which they cannot be added."""
        if (self.judgements or self.model_judges) and self.evalset is None:
            name = "--judgements" if self.judgements else "--model-judge"
            raise InputError(f"{name} is only for evaluation sets: name the set with --set")

    def load_metrics(
        self, names: Sequence[str | Metric], progress: Progress = silent
    ) -> list[Metric]:
        """Load metrics by name; the error for an unknown name says if a set has such scores."""
        from karat.metrics.names import explain_unknown
        from karat.scoring import load_metrics

        try:
            return load_metrics(names)
        except UnknownMetric as error:
            if self.evalset is None:
                raise
            raise explain_unknown(error, self.evalset.load(progress)) from None

    def paths(self) -> list[str]:
        """Return the files that will be read."""
        labels = [] if self.unit_labels is None else [self.unit_labels]
        candidates = (split_name(argument)[1] for argument in self.candidates)
        return [*candidates, *self.references, *labels]

    def check(self, output: str | None, metrics: Sequence[Metric] = ()) -> None:
        """Reject conflicting options, before anything is read."""
        check_output(output, [file for metric in metrics for file in metric.input_files()])
        if self.reader_options and self.evalset is None:
            raise InputError("--option is only for evaluation sets: name the set with --set")
        if self.evalset is not None:
            if self.references or self.optional_references:
                advice = "leave out -r and --optional-references"
                raise InputError(f"--set has its own references: {advice}")
            self.evalset.check_output(output, [self.unit_labels] if self.unit_labels else [])
            return
        if not self.candidates:
            context = click.get_current_context()
            param = next(p for p in context.command.params if p.name == "candidates")
            raise click.MissingParameter(ctx=context, param=param)
        used = [text.partition("=")[0] for text in self.reading.texts()]
        if used:
            spelling = {f.name: f.metadata["option"].split()[0] for f in fields(ReadingOptions)}
            advice = "give a table, such as a file that ends in .csv, .jsonl, .parquet or .xlsx"
            raise InputError(f"{spelling[used[0]]} is only for tables: {advice}")
        check_output(output, self.paths())

    def open(
        self, metrics: Sequence[Metric], progress: Progress = silent, copies: bool = False
    ) -> tuple[dict[str, Segments] | EvalSet, References | None]:
        """Return systems by name and their references (if metrics need any), or a set and None.

        With `copies`, a system may have the same text as a reference.
        """
        if self.evalset is not None:
            return self._open_set(self.evalset, progress), None
        has_format = self.read_as not in (None, PLAIN_TEXT)
        if not (self.references or has_format or any(m.needs_references for m in metrics)):
            return self._open_lines(paths_by_name(map(split_name, self.candidates)), progress), None
        systems, references = self.open_texts(progress)
        pairs = zip(self.candidates, map(split_name, self.candidates), strict=True)
        unnamed = {path: system for argument, (system, path) in pairs if path == argument}
        check_reference_names(list(unnamed), self.references)
        sources = [source for source in references.sources if isinstance(source, Lines)]
        for path, system in unnamed.items():
            candidate = systems[system]
            for source in [] if copies else sources:
                if isinstance(candidate, Lines) and candidate.same_text(source):
                    raise InputError(
                        f"{path} has the same text as the reference {source.name}: use the "
                        f"output of a system; to score it anyway, name it: copy={path}"
                    )
        return systems, references

    def open_texts(self, progress: Progress) -> tuple[dict[str, Segments], References]:
        """Open systems by name and their references, all of one length."""
        if not self.references:
            raise InputError("no reference was given: add -r FILE")
        if self.paths().count("-") > 1:
            raise InputError("standard input (-) is given twice: it can be read only once")
        paths = paths_by_name(map(split_name, self.candidates))
        if self.read_as not in (None, PLAIN_TEXT):
            return self._open_format(str(self.read_as), paths)
        systems = self._open_lines(paths, progress)
        trees = [path for path in self.references if path.removesuffix(".gz").endswith(".conllu")]
        if trees:
            return systems, self._open_trees(systems, trees)
        sources = self._open_lines({path: path for path in self.references}, progress)
        listed = [sources[path] for path in self.references]
        check_aligned([*systems.values(), *listed])
        return systems, References(listed, self.optional_references)

    def units(
        self, unit: str | None, systems: Mapping[str, Segments] | EvalSet
    ) -> str | list[str] | None:
        """Return the labels of the segments' units from the file of --units, else `unit`."""
        if self.unit_labels is None:
            is_column = self.evalset is not None and unit == self.reading.columns.get("unit")
            return "document" if unit is not None and is_column else unit
        if unit is not None:
            raise InputError("--unit and --units exclude each other: leave out one")
        return read_labels(self.unit_labels, systems, "unit")

    def _open_lines(self, paths: Mapping[str, str], progress: Progress) -> dict[str, Segments]:
        """Open files with one segment per line."""
        from karat.metrics.names import ALIASES, METRICS

        opened: dict[str, Segments] = {}
        for name, path in paths.items():
            # In `-m bleu chrf`, the second metric is parsed as a file.
            if path in (*METRICS.entries(), *ALIASES) and not Path(path).exists():
                advice = f"if it is meant as a metric, write -m {path}"
                raise InputError(f"{path}: no such file; {advice}")
            lines = opened[name] = Lines(path, progress, as_text=self.read_as == PLAIN_TEXT)
            if lines.nul_line:
                problem = "a NUL byte; it is scored as an ordinary character (is the file text?)"
                warning = f"karat: warning: {lines.name}, line {lines.nul_line}: {problem}"
                click.echo(sentence(warning), err=True)
        return opened

    def _open_trees(self, systems: Mapping[str, Segments], files: Sequence[str]) -> References:
        """Open references in files of trees; if one is, all must be."""
        texts = [path for path in self.references if path not in files]
        if texts:
            mixed = f"{files[0]} is a file of trees and {texts[0]} is not"
            raise InputError(f"{mixed}: give all references as .conllu files, or all as text")
        if self.optional_references:
            problem = "--optional-references is for text, where a line may be empty"
            raise InputError(f"{problem}: {files[0]} has a tree for every segment; leave it out")
        from karat.text.trees import read_conllu

        trees = [read_conllu(path) for path in files]
        check_aligned([*systems.values(), *trees])
        return trees[0].combine(trees)

    def _open_format(
        self, read_as: str, paths: dict[str, str]
    ) -> tuple[dict[str, Segments], References]:
        """Open files of another format than one segment per line."""
        from karat.evalset.aligned_texts import TEXT_FORMATS, load_texts
        from karat.text.references import VaryingReferences

        if read_as not in TEXT_FORMATS:
            raise InputError(
                f"--read-as {read_as}: files are read as text, {', '.join(TEXT_FORMATS)}; if it is "
                "the format of an evaluation set, name the set with --set"
            )
        if self.optional_references:
            raise InputError(
                "--optional-references is only for files with one segment per line: leave it out, "
                f"or leave out --read-as {read_as}"
            )
        aligned = load_texts(paths, self.references, read_as)
        return aligned.segments(paths), VaryingReferences(aligned.references)

    def _open_set(self, source: SetInput, progress: Progress = silent) -> EvalSet:
        evalset = source.load(progress)
        return evalset.select(systems=self.candidates) if self.candidates else evalset

    def n_references(self) -> int | None:
        """Return the number of references per segment, if it is constant and needs no reading."""
        if self.evalset is not None:
            counts = set(map(len, self._open_set(self.evalset).references))
            return counts.pop() if len(counts) == 1 else None
        return None if self.optional_references else len(self.references) or 1


def choose_metrics(
    typed: Sequence[str],
    parsed: Sequence[Metric],
    systems: Mapping[str, Segments] | EvalSet,
    more: Sequence[str] = (),
) -> DefaultMetrics:
    """Return the parsed metrics, or those that fit a set if none were typed, and `more` of them."""
    from karat.evalset.sets import EvalSet
    from karat.scoring import DefaultMetrics, default_metrics

    if typed or not isinstance(systems, EvalSet):
        return DefaultMetrics(tuple(parsed))
    chosen = default_metrics(systems, DEFAULT_METRICS)
    return chosen._replace(metrics=(*chosen.metrics, *more))


def read_labels(path: str, systems: Mapping[str, Segments] | EvalSet, kind: str) -> list[str]:
    """Return the label of each segment in a file, a line each; `kind` is `unit` or `slice`."""
    lines = Lines(path, as_text=True)
    n_segments = len(next(iter(systems.values())) if isinstance(systems, dict) else systems)
    if len(lines) != n_segments:
        counts = f"{len(lines):,} line{'s' * (len(lines) != 1)}, expected {n_segments:,}"
        raise InputError(f"{lines.name}: found {counts}: the label of a {kind} for each segment")
    labels = lines.views(0, n_segments).strings()
    for number, label in enumerate(labels, 1):
        if not label.strip():
            expected = f"expected the label of the segment's {kind}"
            raise InputError(f"{lines.name}, line {number:,}: found an empty line, {expected}")
    return labels


def system_name(path: str) -> str:
    """Return the name of a file without `.txt`, `.out`, `.hyp` and `.gz`."""
    if path == "-":
        return "stdin"
    name = Path(path)
    while name.suffix.lower() in _SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.name


def split_name(argument: str) -> tuple[str, str]:
    """Split `NAME=FILE` or `FILE` into the system's name and its file."""
    name, equals, path = argument.partition("=")
    if equals and name and path and not Path(argument).exists():
        return name, path
    return system_name(argument), argument


def paths_by_name(named_paths: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return files by the name of their system, which must be unique."""
    paths: dict[str, str] = {}
    for name, path in named_paths:
        if name in paths:
            raise InputError(
                f"two systems are called {quoted(name)} ({paths[name]} and {path}): "
                f"name them apart, as in NAME={path}"
            )
        paths[name] = path
    return paths


# --------------------------------------------------- references that were taken for candidates

_REFERENCE_NAME = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|[a-z]?$|[a-z][^a-z])")
_REFERENCE_FREE_NAME = re.compile(
    r"(^|[^a-z])(no[-_ .]?(refs?|references?)|(ref|reference)[-_ .]?(free|less))"
)


def check_reference_names(candidates: Sequence[str], references: Sequence[str]) -> None:
    """Reject candidates that are also references, or are named like one among several candidates.

    In `-r ref1.txt ref2.txt`, the second file is parsed as a candidate. `NAME=FILE` permits it.
    """
    for path in candidates:
        for reference in references:
            both_exist = os.path.isfile(path) and os.path.isfile(reference)
            if both_exist and os.path.samefile(path, reference):
                raise InputError(
                    f"{path} is given as candidate and as reference: use the output of a system; "
                    f"to score it anyway, name it: reference={path}"
                )
    preceding = _preceding_references(candidates) if len(candidates) > 1 else {}
    for path in candidates:
        other_paths = [candidate for candidate in candidates if candidate != path]
        shapes = {re.sub(r"\d+", "#", os.path.basename(candidate)) for candidate in other_paths}
        shape = re.sub(r"\d+", "#", os.path.basename(path))
        preceding_shape = re.sub(r"\d+", "#", os.path.basename(preceding.get(path, "")))
        looks_like_preceding = shape == preceding_shape and bool(shapes - {shape})
        name = os.path.basename(path).lower()
        is_reference_name = _REFERENCE_NAME.search(name) and not _REFERENCE_FREE_NAME.search(name)
        if other_paths and (is_reference_name or looks_like_preceding):
            raise InputError(
                f"{path} would be scored as a system, but looks like a reference: write -r before "
                f"each reference (-r {path}); to score it anyway, name it: human={path}"
            )


def _preceding_references(candidates: Sequence[str]) -> dict[str, str]:
    """Return candidates that were typed right after `-r FILE`, with that file."""
    context = click.get_current_context(silent=True)
    words: Sequence[str] = context.meta.get(TYPED, ()) if context else ()
    preceding: dict[str, str] = {}
    reference = None
    for word, previous in zip(words, ("", *words), strict=False):
        if previous in ("-r", "--reference"):
            reference = word
        elif word.startswith(("--reference=", "-r")) and word != "-r":
            reference = word.removeprefix("--reference=").removeprefix("-r")
        elif reference is not None and word in candidates:
            preceding[word] = reference
        else:
            reference = None
    return preceding


# ----------------------------------------------------------------------------------- tables

_STREAMED_ROLES = {"candidate": "candidate", "reference": "reference", "system": "by", "id": "id"}
"""Roles of the columns that are read from streamed tables, and the names of their options."""
_STANDARD_INPUTS = dict.fromkeys(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"), "-")
_BINARY_ENDINGS = (".parquet", ".pq", ".parquet.gz", ".pq.gz")


class TableOptions(NamedTuple):
    """Options of tables that are streamed, and columns that the user names."""

    candidate: Sequence[str] = ()
    by: str | None = None
    id: str | None = None
    engine: str = "local"
    engine_options: Sequence[str] = ()
    rows: str | None = None
    shards: str | None = None
    shard: str | None = None

    def resolve(
        self,
        inputs: InputFiles,
        unit: str | None = None,
        slices: str | None = None,
        metrics: Sequence[str] = (),
        streams: bool = True,
    ) -> InputFiles:
        """Return inputs with a set if CANDIDATE is one, or is tables that are read whole.

        Text files and tables that are streamed stay as they are. `unit` and `slices` may be columns
        of a table, as may be scores in `metrics`. Without `streams`, every table is read whole.
        """
        candidates = [_STANDARD_INPUTS.get(name, name) for name in inputs.candidates]
        inputs = inputs._replace(candidates=candidates)
        if inputs.evalset is not None or not inputs.candidates:
            return inputs
        source = _find_set(inputs)
        if source is not None:
            return inputs.as_set(source)
        if self._are_streamable(inputs):
            has_slices = slices not in (None, LENGTH, *GROUPINGS)  # a column
            reason = self._reason_to_stream(inputs, has_slices, metrics) if streams else None
            if reason is not None:
                _check_streamed_reading(inputs, reason)
                return inputs
            return inputs.as_table_set(self._columns(inputs, unit))
        has_reference_files = any(os.path.isfile(name) for name in inputs.references)
        if has_reference_files and inputs.read_as is None:
            _check_reference_tables(inputs)
        if inputs.read_as is None and not has_reference_files and not inputs.optional_references:
            from karat.tables.files import is_table

            if all(map(is_table, table_files(inputs))):
                return inputs.as_table_set(self._columns(inputs, unit))
        return inputs

    def _reason_to_stream(
        self, inputs: InputFiles, has_slices: bool, metrics: Sequence[str]
    ) -> str | None:
        """Return why tables are streamed, for messages; None if they are read whole.

        Named columns are no reason, so that one reader decides how a file is read. But several
        files are parts of one table if a column has the systems, or each column is a system.
        """
        from karat.scoring import read_sets
        from karat.tables.streams import can_be_streamed, reason_to_stream

        options = [name for name in self._used() if name not in _STREAMED_ROLES.values()]
        if options or has_slices:
            name = options[0].replace("_", "-") if options else "slice"
            return f"--{name} streams the table"
        reads_column = any(name.startswith("given:") and "column=" in name for name in metrics)
        if reads_column and (self._used() or all(map(can_be_streamed, table_files(inputs)))):
            return "a metric reads a column, which streams the table"
        if len(inputs.candidates) > 1 and (self.by is not None or len(self.candidate) > 1):
            return "parts of one table are streamed"
        return None if read_sets(metrics) else reason_to_stream(table_files(inputs))

    def _used(self) -> list[str]:
        """Return the names of options that differ from their defaults."""
        default = TableOptions()
        return [name for name in self._fields if getattr(self, name) != getattr(default, name)]

    def _columns(self, inputs: InputFiles, unit: str | None = None) -> dict[str, str]:
        """Return the columns by role that --candidate, -r, --by, --id and --unit name."""
        columns = {
            ("candidate", "--candidate"): ",".join(self.candidate),
            ("reference", "-r"): ",".join(inputs.references),
            ("system", "--by"): self.by or "",
            ("id", "--id"): self.id or "",
            ("unit", "--unit"): "" if unit in (None, SEGMENT, *GROUPINGS) else str(unit),
        }
        for (role, option), column in columns.items():
            if column and role in inputs.reading.columns:
                problem = f"{option} {column} and --column {role}={inputs.reading.columns[role]}"
                raise InputError(f"{problem} name the column of one role: leave out one of them")
        return {role: column for (role, _), column in columns.items() if column}

    def are_tables(self, inputs: InputFiles) -> bool:
        """Return whether the inputs are streamed tables; reject options for these if they are not.

        Columns that `resolve` added to a set are no longer such options.
        """
        if self._are_streamable(inputs):
            return True
        applied = {_STREAMED_ROLES.get(role) for role in inputs.reading.columns}
        unused = [name for name in self._used() if inputs.evalset is None or name not in applied]
        if unused:
            option = {"engine_options": "engine-option"}.get(unused[0], unused[0].replace("_", "-"))
            kind, advice = "tables", "give a table, and name its column of references with -r"
            if unused[0] not in _STREAMED_ROLES.values():
                kind = "streamed tables"
                advice = "give files that end in .parquet, .csv, .tsv or .jsonl"
            raise InputError(f"--{option} is only for {kind}: {advice}")
        return False

    def _are_streamable(self, inputs: InputFiles) -> bool:
        """Return whether the inputs are tables in formats that are streamed."""
        inputs.check_judgements()
        paths = table_files(inputs)
        is_text = inputs.evalset is not None or inputs.read_as or inputs.optional_references
        # If references are files, candidates are text, unless their format is binary.
        is_binary = any(path.lower().endswith(_BINARY_ENDINGS) for path in paths)
        has_reference_files = any(os.path.isfile(name) for name in inputs.references)
        if is_text or not paths or (has_reference_files and not is_binary and not self._used()):
            return False
        from karat.arrow.pieces import format_of

        if not all(format_of(path) is not None or os.path.isdir(path) for path in paths):
            return False
        if inputs.unit_labels is not None:
            advice = "name the column of units with --unit"
            raise InputError(f"--units does not work with tables: {advice}")
        return True

    def check_output(self, inputs: InputFiles, output: str | None) -> None:
        """Reject outputs that cannot be written, before anything is read."""
        from karat.arrow.pieces import find_files

        if output is not None:
            files = [file for path in table_files(inputs) for file in find_files(path)]
            check_output(output, files)
            if self.rows is not None and os.path.realpath(output) == os.path.realpath(self.rows):
                raise OutputError(f"--output and --rows are both {output}: use two different files")

    def settings(self, inputs: InputFiles) -> dict[str, Any]:
        """Return the arguments of the functions for tables."""
        pairs = [text.partition("=") for text in self.engine_options]
        for name, equals, value in pairs:
            if not (name and equals and value):
                text = quoted(f"{name}{equals}{value}")
                raise InputError(f"--engine-option {text}: expected NAME=VALUE, as in workers=4")
        settings = self._asdict()
        del settings["shard"]
        columns = {**inputs.reading.columns, **self._columns(inputs)}
        for role, name in _STREAMED_ROLES.items():
            settings[name] = columns.get(role)
        for role, names in (("candidate", self.candidate), ("reference", inputs.references)):
            in_option = inputs.reading.columns.get(role, "").split(",")
            settings[role] = [*names] or [name for name in in_option if name] or None
        settings["skip_missing"] = inputs.reading.skip_missing
        settings["engine_options"] = {name: value for name, _, value in pairs}
        return settings


def _check_reference_tables(inputs: InputFiles) -> None:
    """Reject a table as candidate with a table as reference, whose lines are not segments."""
    from karat.tables.files import has_table_ending

    candidate = next(filter(has_table_ending, table_files(inputs)), None)
    reference = next(filter(has_table_ending, inputs.references), None)
    if candidate is not None and reference is not None:
        problem = f"{candidate} and {reference} are tables, and a table has its references in"
        raise InputError(
            f"{problem} a column: name it with -r COLUMN; --read-as text reads lines of text"
        )


def _check_streamed_reading(inputs: InputFiles, reason: str) -> None:
    """Reject settings for reading that streamed tables ignore."""
    reading = inputs.reading
    for f in fields(ReadingOptions):
        value = getattr(reading, f.name)
        if f.name in ("columns", "skip_missing") or value == f.default or not value:
            continue
        option = f.metadata["option"].split()[0]
        text = (
            " ".join(f"{name}={item}" for name, item in value.items())
            if f.name == "scale"
            else value
        )
        raise InputError(_ignored(f"{option} {text}", reason))
    for role, column in reading.columns.items():
        if role not in _STREAMED_ROLES:
            raise InputError(_ignored(f"--column {role}={column}", reason))


def _ignored(option: str, reason: str) -> str:
    advice = "leave it out, or read the table whole with --set FILE"
    return f"{option} is not used for streamed tables, and {reason}: {advice}"


def _find_set(inputs: InputFiles) -> str | None:
    """Return the only candidate if it is the name of a known set, or a set of a known format."""
    from karat.evalset.loading import FORMATS, KNOWN, has_set_format

    if len(inputs.candidates) != 1 or inputs.references or inputs.optional_references:
        return None
    name = inputs.candidates[0]
    path = Path(name)
    if inputs.read_as is not None:
        return name if inputs.read_as in FORMATS else None
    if not path.exists():
        return name if name in KNOWN else None
    return name if has_set_format(path) else None


def split_table_name(argument: str) -> tuple[str | None, str]:
    """Split `NAME=FILE` or `FILE` into the name of the system (or None) and the file.

    An equals sign in an existing path, or in a pattern that matches files, is part of the path.
    """
    name, equals, path = argument.partition("=")
    is_path = os.path.exists(argument) or (glob.has_magic(argument) and glob.glob(argument))
    if equals and name and path and os.sep not in name and not is_path:
        return name, path
    return None, argument


def table_files(inputs: InputFiles) -> list[str]:
    """Return the paths of the tables, without the names of their systems."""
    return [split_table_name(argument)[1] for argument in inputs.candidates]


def table_paths(inputs: InputFiles) -> list[str] | dict[str, str]:
    """Return the paths of the tables, by the name of their system if any is named."""
    from karat.arrow.pieces import table_name

    tables = [split_table_name(argument) for argument in inputs.candidates]
    if all(name is None for name, _ in tables):
        return list(inputs.candidates)
    return paths_by_name((name or table_name(path), path) for name, path in tables)
