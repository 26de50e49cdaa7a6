"""Options that several commands share."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.cli.groups import second_words
from karat.cli.parameters import Listing, choice, flag, option, path, whole
from karat.errors import InputError, OutputError
from karat.registry import registry_of
from karat.trials import MOST_TRIALS

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_METRICS = ("bleu", "chrf", "rouge1", "rouge2", "rougeL", "aev")
FORMATS = ("text", "json", "tsv", "csv", "md", "latex", "html", "svg")
ENDINGS = {{"text": "txt", "latex": "tex"}.get(format, format): format for format in FORMATS}
"""Ending of an output -> its format; other endings that name no format are text."""
_OTHER_ENDINGS = {"htm": "html", "markdown": "md", "latex": "latex"}
_NOT_WRITTEN = re.compile(
    r"xlsx?|ods|docx?|odt|rtf|pptx?|parquet|feather|arrow|orc|avro|pickle|pkl|npy|npz|h5|hdf5|mat|"
    r"rds|sav|dta|db|sqlite|pdf|ps|eps|png|jpe?g|gif|webp|bmp|tiff?|zip|gz|tgz|bz2|xz|zst|7z|rar|"
    r"tar|jsonl|ndjson|xml|ya?ml|toml|rst|ipynb"
)
"""Endings of formats that are not written: a report under such a name would be something else."""


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from karat.metrics.names import ALIASES, METRICS

    return [name for name in (*METRICS, *ALIASES) if name.startswith(incomplete)]


def complete_set(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Second words of a command's name and the names of known sets; where none fits, files."""
    from karat.evalset.loading import KNOWN

    known = [name for name in KNOWN if name.startswith(incomplete)]
    names = [CompletionItem(name) for name in [*second_words(ctx, incomplete), *known]]
    return names or [CompletionItem(incomplete, type="file")]


evalset = option(
    "--set evalset",
    "Take systems and references from an evaluation set (see karat data); each CANDIDATE "
    "is then a system of it (default: all).",
    metavar="SET",
    shell_complete=complete_set,
)
_read_as = option(
    "--read-as",
    "The format of SET (default: found from its content); see karat data list.",
    metavar="FORMAT",
    cls=Listing,
    registry="formats",
)


class _FilesOrSet(Listing):
    """`--read-as` where files are read, or a set."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return formats of sets; of files, too, unless a set is named."""
        found = super().shell_complete(ctx, incomplete)
        sets = [name for name in registry_of("formats") if name.startswith(incomplete)]
        files = [] if ctx.params.get("evalset") else found
        return [*files, *map(CompletionItem, sets)]


read_files_as = option(
    "--read-as",
    "The format of the files: {names} (default: a segment a line).",
    metavar="FORMAT",
    cls=Listing,
    registry="text_formats",
)
_read_texts_as = option(
    "--read-as",
    "The format of the files: {names} (default: a segment a line). With --set, that of SET "
    "(default: found from its content); see karat data list.",
    metavar="FORMAT",
    cls=_FilesOrSet,
    registry="text_formats",
)
_reader_options = option(
    "--option reader_options",
    "An option of the format's reader, such as pair=en-de or references=refB; repeat for several.",
    multiple=True,
    metavar="NAME=VALUE",
)
references = option(
    "-r --reference references",
    "A reference file, line by line beside the candidates; write -r before each.",
    path,
    multiple=True,
    metavar="FILE",
)
optional_references = flag(
    "--optional-references",
    "An empty line in a reference file means that there is no such reference.",
)
metrics = option(
    "-m --metric metrics",
    "A metric such as bleu or aev:alpha=0.3,n=2 (see karat metrics); repeat for several. "
    f"Default: {' '.join(DEFAULT_METRICS)}.",
    multiple=True,
    metavar="METRIC",
    shell_complete=complete_metric,
)
as_text = option(
    "--as as_text",
    "Read files as plain text even where they look like JSON.",
    choice("text"),
    callback=lambda ctx, param, value: value is not None,
)
signature = option(
    "--signature",
    "Form of signatures; sacrebleu is for BLEU, chrF and TER, others keep Karat's.",
    choice("karat", "sacrebleu"),
    "karat",
)
threads = option(
    "--threads", "Processors to use (default: all); results do not depend on it.", whole(min=1)
)
seed = option("--seed", "Seed of all resampling.", whole(min=0), 12345)
dimensions = option(
    "-d --dimension dimensions",
    "What was judged, such as fluency; repeat for several. Default: all.",
    multiple=True,
)
exclude = option(
    "--exclude", "Leave a system out; repeat for several.", multiple=True, metavar="SYSTEM"
)
set_references = option(
    "--reference references",
    "Use the N-th reference of each segment, or that of a name (as --option references=NAME); "
    "repeat for several. Default: all that the set is read with.",
    multiple=True,
    metavar="N|NAME",
)
normalise = option(
    "--normalise",
    "z: each judge's scores get mean 0 and standard deviation 1 first.",
    choice("none", "z"),
    "none",
)
over = option(
    "--over", "What the bootstrap draws anew.", choice("both", "segments", "systems"), "both"
)
resamples = option(
    "--resamples", "Bootstrap resamples; 0 for no intervals.", whole(0, MOST_TRIALS), 1000
)
charts = option(
    "--charts", "Also write every chart as PNG, PDF and SVG (needs typst).", path, metavar="FOLDER"
)


def numbered_references(
    chosen: Sequence[str], reader_options: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Split `--reference`: numbers are of the set's references, names are for its reader."""
    named = [text for text in chosen if not text.isdecimal()]
    if named and len(named) < len(chosen):
        raise InputError("--reference: name all references, or give the numbers of all")
    if named:
        return (), (*reader_options, f"references={','.join(named)}")
    return tuple(map(int, chosen)), reader_options


def reader(function: F) -> F:
    """Add `--read-as` and `--option`: how an evaluation set is read."""
    return _read_as(_reader_options(function))


def _format(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the format that was asked for, or the one of the output's ending."""
    path = str(ctx.params.get("output") or "")
    ending = os.path.splitext(path)[1].removeprefix(".").lower()
    if _NOT_WRITTEN.fullmatch(ending):
        ends = f"name an output that ends in {', '.join(f'.{known}' for known in ENDINGS)}"
        raise OutputError(f"{path}: reports are not written as .{ending}; {ends}")
    return value or (ENDINGS | _OTHER_ENDINGS).get(ending, "text")


class _Format(click.Choice):  # type: ignore[type-arg]  # no generic in click 8.1
    """A format of Karat's, or of a package whose renderer is registered."""

    choices = property(lambda self: tuple(registry_of("renderers")), lambda self, names: None)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a format; entry points are read if it is not Karat's."""
        known = value in registry_of("renderers")
        return value if known else super().convert(value, param, ctx)


def output(function: F) -> F:
    """Add `--format` and `--output`."""
    function = option(
        "-f --format format",
        "How to show the result (default: as the ending of --output says, else text).",
        _Format(FORMATS),
        callback=_format,
    )(function)
    written = option("-o --output", "Write output to this file (atomic).", path, is_eager=True)
    return written(function)


wide = flag("--wide", "Show a row for each system and a column for each metric, as papers do.")


def segment_options(what: str) -> Callable[[F], F]:
    """Add `--segment N` and `--worst K`: which segments are shown; `what` they are called."""
    worst = option(
        "--worst", f"The K {what}s with the lowest scores instead.", whole(min=1), metavar="K"
    )
    numbered = option(
        "-s --segment segments",
        f"The number of the {what}, from 1 (the default); repeat for several.",
        whole(min=1),
        multiple=True,
        metavar="N",
    )
    return lambda function: numbered(worst(function))


def texts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the candidates and where their references come from: `given`."""
    from karat.cli.inputs import Given, GivenSet

    @wraps(function)
    def called(
        candidates: tuple[str, ...],
        references: tuple[str, ...],
        optional_references: bool,
        as_text: bool,
        evalset: str | None,
        read_as: str | None,
        reader_options: tuple[str, ...],
        **more: Any,
    ) -> Any:
        if evalset is None and reader_options:
            raise InputError("--option is for the reader of a set: name the set with --set")
        asked = None if evalset is None else GivenSet(evalset, read_as, reader_options)
        files_as = read_as if evalset is None else None
        given = Given(candidates, references, optional_references, as_text, asked, files_as)
        return function(given=given, **more)

    files = click.argument("candidates", nargs=-1, type=click.Path(), metavar="CANDIDATE...")
    found: Callable[..., Any] = _read_texts_as(_reader_options(called))
    for add in (evalset, as_text, optional_references, references, files):
        found = add(found)
    return found


def command_line() -> str:
    """Return the command that was typed."""
    return shlex.join(["karat", *sys.argv[1:]])
