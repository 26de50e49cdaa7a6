"""Input files and sets named on the command line, opened and checked against each other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.command import TYPED
from karat.cli.parameters import F
from karat.cli.show import check_beside, check_output
from karat.errors import InputError, quoted, sentence
from karat.evalset.kinds import SET_KINDS
from karat.progress import Progress, silent
from karat.registry import load
from karat.text.references import References, check_aligned
from karat.text.segments import Lines, Segments

if TYPE_CHECKING:
    from karat.evalset.draws import Draw
    from karat.evalset.sets import EvalSet
    from karat.metrics.base import Metric
    from karat.text.trees import Trees


_NAMED = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|[a-z]?$|[a-z][^a-z])")
_WITHOUT = re.compile(r"(^|[^a-z])(no[-_ .]?(refs?|references?)|(ref|reference)[-_ .]?(free|less))")


def refuse_by_name(candidates: Sequence[str], references: Sequence[str]) -> None:
    """Refuse candidates that are a reference's file, or are named like one beside others."""
    for path in candidates:
        for reference in references:
            both = os.path.isfile(path) and os.path.isfile(reference)
            if both and os.path.samefile(path, reference):
                raise InputError(
                    f"{path} is given as candidate and as reference: use the output of a system; "
                    f"to score it anyway, name it: reference={path}"
                )
    followers = _after_references(candidates)
    for path in candidates:
        others = [other for other in candidates if other != path]
        like = followers.get(path)
        counted = like is not None and any(_shape(other) != _shape(like) for other in others)
        name = os.path.basename(path).lower()
        named = _NAMED.search(name) and not _WITHOUT.search(name)
        if others and (named or (counted and _shape(path) == _shape(like))):
            raise InputError(
                f"{path} would be scored as a system, but looks like a reference: write -r before "
                f"each reference (-r {path}); to score it anyway, name it: human={path}"
            )


def refuse_by_content(path: str, candidate: Segments, references: Sequence[Segments]) -> None:
    """Refuse a candidate that has the very text of a reference."""
    if not isinstance(candidate, Lines):
        return
    for reference in references:
        if isinstance(reference, Lines) and candidate.same_text(reference):
            raise InputError(
                f"{path} has the same text as the reference {reference.name}: use the output of a "
                f"system; to score it anyway, name it: copy={path}"
            )


def _shape(path: str | None) -> str:
    """A file's name with its numbers left out."""
    return re.sub(r"\d+", "#", os.path.basename(path or ""))


def _after_references(candidates: Sequence[str]) -> dict[str, str]:
    """Candidates that were typed straight after `-r FILE`, with that file."""
    context = click.get_current_context(silent=True)
    typed: Sequence[str] = context.meta.get(TYPED, ()) if context else ()
    found: dict[str, str] = {}
    last = None
    for word, before in zip(typed, ("", *typed), strict=False):
        if before in ("-r", "--reference"):
            last = word
        elif word.startswith(("--reference=", "-r")) and word != "-r":
            last = word.removeprefix("--reference=").removeprefix("-r")
        elif last is not None and word in candidates:
            found[word] = last
        else:
            last = None
    return found


_SUFFIXES = {".txt", ".gz", ".out", ".hyp"}
Paths = Sequence[str]


def system_name(path: str) -> str:
    """Return the name of a system: that of its file without `.txt`, `.out`, `.hyp` and `.gz`."""
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
    candidates: Paths,
    references: Paths,
    optional: bool,
    progress: Progress,
    as_text: bool = False,
    read_as: str | None = None,
) -> tuple[dict[str, Segments], References]:
    """Systems by name and their references, all of one length."""
    if not references:
        raise InputError("no reference was given: add -r FILE")
    if input_paths(candidates, references).count("-") > 1:
        raise InputError("standard input (-) is given twice: it can be read only once")
    paths = _named(candidates)
    if read_as is not None:
        return _open_as(read_as, paths, references, optional or as_text)
    systems = {name: _open(path, progress, as_text) for name, path in paths.items()}
    trees = _open_trees(references, optional)
    sources = [] if trees else [_open(path, progress, as_text) for path in references]
    check_aligned([*systems.values(), *trees, *sources])
    return {**systems}, trees[0].beside(trees) if trees else References(sources, optional)


def _named(candidates: Paths) -> dict[str, str]:
    """Systems by name, and the file of each."""
    paths: dict[str, str] = {}
    for name, path in map(split_name, candidates):
        if name in paths:
            raise InputError(
                f"two systems are called {quoted(name)} ({paths[name]} and {path}): "
                f"name them apart, as in NAME={path}"
            )
        paths[name] = path
    return paths


def _open_as(
    read_as: str, systems: dict[str, str], references: Paths, as_lines: bool
) -> tuple[dict[str, Segments], References]:
    """Systems and references of files that hold more than a segment a line."""
    from karat.evalset.aligned_texts import TEXT_FORMATS, load_texts
    from karat.text.references import VaryingReferences

    if read_as not in TEXT_FORMATS:
        raise InputError(
            f"--read-as {read_as}: files are read as text, {', '.join(TEXT_FORMATS)}; if it is the "
            "format of an evaluation set, name the set with --set"
        )
    if as_lines:
        raise InputError(
            "--optional-references is only for files with one segment per line: leave it out, or "
            f"leave out --read-as {read_as}"
        )
    aligned = load_texts(systems, references, read_as)
    return aligned.segments(systems), VaryingReferences(aligned.references)


class GivenSet(NamedTuple):
    """An evaluation set, and how it is read."""

    name: str
    read_as: str | None = None
    options: Sequence[str] = ()


def load_set(
    name: str,
    read_as: str | None,
    options: Sequence[str],
    progress: Progress = silent,
    judgements: Sequence[str] = (),
    model_judges: Sequence[str] = (),
    draws: str | None = None,
) -> EvalSet:
    """A set, read as the options say, with further judgements and how segments were drawn."""
    from karat.evalset.loading import as_options, load_evalset

    added: Any = {"judgements": judgements, "model_judges": model_judges, "draws": draws}
    return load_evalset(name, read_as, progress=progress, **added, **as_options(options))


class Given(NamedTuple):
    """The input of `score` and `compare`: files with references, or a set, which has its own."""

    candidates: Sequence[str]
    references: Sequence[str]
    optional: bool
    as_text: bool
    evalset: GivenSet | None
    read_as: str | None = None
    """The format of the files, where they hold more than a segment a line."""

    def check(self, output: str | None, files: Sequence[str] = ()) -> None:
        """Refuse what does not go together, before anything is read; `files` are inputs, too."""
        check_output(output, files)
        if self.evalset is not None:
            if self.references or self.optional or self.as_text:
                out = "leave out -r and --optional-references"
                raise InputError(f"--set has its own references: {out}")
            check_output(output)
            check_beside(output, self.evalset.name)
            return
        if not self.candidates:
            context = click.get_current_context()
            param = next(p for p in context.command.params if p.name == "candidates")
            raise click.MissingParameter(ctx=context, param=param)
        check_output(output, input_paths(self.candidates, self.references))

    def open(
        self, metrics: Sequence[Metric], progress: Progress = silent, copies: bool = False
    ) -> tuple[dict[str, Segments] | EvalSet, References | None]:
        """Systems by name and their references, if metrics read any; or a set, which has both.

        With `copies` a system may have the very text of a reference, as a perfect one has.
        """
        if self.evalset is not None:
            return open_set(self.evalset, self.candidates, progress), None
        if not (self.references or self.read_as or any(m.reads_texts for m in metrics)):
            paths = _named(self.candidates)
            return {n: _open(path, progress, self.as_text) for n, path in paths.items()}, None
        files = self.candidates, self.references
        systems, refs = open_inputs(*files, self.optional, progress, self.as_text, self.read_as)
        unnamed = [given for given in self.candidates if split_name(given)[1] == given]
        refuse_by_name(unnamed, self.references)  # after what is no text
        for path in [] if copies else unnamed:
            refuse_by_content(path, systems[split_name(path)[0]], refs.sources)
        return systems, refs

    def number(self) -> int | None:
        """The number of references of every segment, if it is known without reading files."""
        if self.evalset is not None:
            counts = set(map(len, open_set(self.evalset, self.candidates).references))
            return counts.pop() if len(counts) == 1 else None
        return None if self.optional else len(self.references) or 1


def open_set(given: GivenSet, systems: Sequence[str], progress: Progress = silent) -> EvalSet:
    """A set with all systems, or those that are named."""
    found = load_set(*given, progress)
    for remark in found.remarks:
        click.echo(f"karat: note: {given.name}: {remark}", err=True)
    return found.select(systems=systems) if systems else found


def _open_trees(paths: Sequence[str], optional: bool) -> list[Trees]:
    """The trees of references that end in `.conllu`, if they do; then all must."""
    trees = [path for path in paths if path.removesuffix(".gz").endswith(".conllu")]
    if not trees:
        return []
    others = [path for path in paths if path not in trees]
    if others:
        mixed = f"{trees[0]} is a file of trees and {others[0]} is not"
        raise InputError(f"{mixed}: give all references as .conllu files, or all as text")
    if optional:
        told = "--optional-references is for text, where a line may be empty"
        raise InputError(f"{told}: {trees[0]} has a tree for every segment; leave it out")
    from karat.text.conllu import read_conllu

    return [read_conllu(path) for path in trees]


def _open(path: str, progress: Progress, as_text: bool) -> Lines:
    from karat.metrics.names import ALIASES, METRICS

    # `-m bleu chrf` makes a file of the second metric.
    if path in (*METRICS.known(), *ALIASES) and not Path(path).exists():
        raise InputError(f"{path}: no such file; if it is meant as a metric, write -m {path}")
    lines = Lines(path, progress, as_text=as_text)
    if lines.nul_line:
        told = "a NUL byte; it is scored as an ordinary character (is the file text?)"
        place = f"{lines.name}, line {lines.nul_line}"
        click.echo(sentence(f"karat: warning: {place}: {told}"), err=True)
    return lines


def options_of_kinds(function: F) -> F:
    """Add the options that other kinds of sets have."""
    for kind in SET_KINDS.known():
        function = load(SET_KINDS[kind].options)(function)
    return function


def read_set(
    name: str,
    dimensions: Sequence[str],
    reader: tuple[str | None, Sequence[str]],
    given: Mapping[str, Any],
    progress: Progress,
    draws: str | None = None,
) -> Any:
    """Return a set of any kind; `given` has the options of judgements and those of kinds.

    An evaluation set has its draws with it; those of other kinds are read by `read_draws_of`.
    """
    for kind in SET_KINDS.known():
        found = load(SET_KINDS[kind].read)(name, dimensions, progress, **given)
        if found is not None:
            return found
    added = given["judgements"], given["model_judges"]
    return load_set(name, *reader, progress, *added, draws)


def read_draws_of(found: Any, draws: str | None) -> Sequence[Draw] | None:
    """Return the draws in a file for a set of another kind; None if the set has its own."""
    kind = type(found).__name__
    if draws is None or kind not in SET_KINDS:
        return None
    read: Sequence[Draw] = load(SET_KINDS[kind].draws)(found, draws)
    return read
