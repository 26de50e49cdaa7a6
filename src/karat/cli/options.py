"""Options that several commands share."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.cli.command import second_words
from karat.cli.old_names import note
from karat.cli.parameters import (
    ADVANCED,
    COMMON,
    INPUT,
    OUTPUT,
    TESTS,
    Listing,
    choice,
    flag,
    named,
    option,
    path,
    whole,
)
from karat.cli.show import SPREADSHEET_SAFE
from karat.errors import InputError, OutputError
from karat.registry import registry_of
from karat.report.render.renderers import check_spreadsheet_safe
from karat.settings import MOST_TRIALS

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
    "Evaluation set with systems and references (see `karat data`). CANDIDATEs are then systems of "
    "the set. Default: all.",
    metavar="SET",
    shell_complete=complete_set,
)
_read_as = option(
    "--read-as",
    "Format of SET (see `karat data list`). Default: detected from its content.",
    metavar="FORMAT",
    cls=Listing,
    registry="formats",
    heading=INPUT,
)
PLAIN = "text"
"""The format of files that are read as they are."""


class _TextFormats(Listing):
    """`--read-as` where files are read: plain text, or a format of the registry."""

    def names(self) -> list[str]:
        return [PLAIN, *super().names()]


class _FilesOrSet(_TextFormats):
    """`--read-as` where files are read, or a set."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return formats of sets; of files, too, unless a set is named."""
        found = super().shell_complete(ctx, incomplete)
        sets = [name for name in registry_of("formats") if name.startswith(incomplete)]
        files = [] if ctx.params.get("evalset") else found
        return [*files, *map(CompletionItem, sets)]


_read_files_as = partial(
    option, "--read-as", metavar="FORMAT", registry="text_formats", heading=INPUT, old="--as"
)
read_files_as = _read_files_as(
    "Format of the files: {names}. `text` is one segment per line, even if it looks like JSON. "
    "Default: detected.",
    cls=_TextFormats,
)
_read_texts_as = _read_files_as(
    "Format of the files: {names}. `text` is one segment per line, even if it looks like JSON. "
    "With --set, the format of SET (see `karat data list`). Default: detected.",
    cls=_FilesOrSet,
)


def _of_reader(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    """Say which options of readers have another name now."""
    if value:
        from karat.evalset.loading import OLD_OPTIONS

        for name in {text.partition("=")[0] for text in value} & {*OLD_OPTIONS}:
            note(f"--option {name} is now --option {OLD_OPTIONS[name]}")
    return value


_reader_options = option(
    "--option reader_options",
    "Option of the format's reader, such as pair=en-de or references=refB. Repeat for several.",
    multiple=True,
    callback=_of_reader,
    metavar="NAME=VALUE",
    heading=INPUT,
)
references = option(
    "-r --reference references",
    "Reference file with the same number of lines as CANDIDATE. Repeat -r for each file.",
    path,
    multiple=True,
)
optional_references = flag(
    "--optional-references",
    "Treat an empty line of a reference file as a missing reference.",
    heading=INPUT,
)
metrics = option(
    "-m --metric metrics",
    "Metric, such as bleu or aev:alpha=0.3,n=2 (see `karat metrics`). Repeat for several. "
    f"Default: {' '.join(DEFAULT_METRICS)}.",
    multiple=True,
    metavar="METRIC",
    shell_complete=complete_metric,
)
as_text = option(
    "--read-as as_text",
    "With `text`: read files as plain text even if they look like JSON.",
    choice(PLAIN),
    callback=lambda ctx, param, value: value is not None,
    heading=INPUT,
    old="--as",
)
signature = option(
    "--signature",
    "Form of the signatures. sacreBLEU has one for BLEU, chrF and TER only.",
    choice("karat", "sacrebleu"),
    "karat",
    heading=OUTPUT,
)
threads = option(
    "--threads",
    "Number of threads. Results do not depend on it. Default: all processors.",
    whole(min=1),
    heading=ADVANCED,
)
seed = option("--seed", "Seed of the random numbers.", whole(min=0), 12345, heading=TESTS)
dimensions = option(
    "-d --dimension dimensions",
    "Dimension that was judged, such as fluency. Repeat for several. Default: all.",
    multiple=True,
    metavar="NAME",
)
exclude = option(
    "--exclude",
    "System to leave out. Repeat for several.",
    multiple=True,
    metavar="SYSTEM",
    heading=INPUT,
)
set_references = option(
    "-r --reference references",
    "Reference to use, by its number (from 1) or its name. Repeat for several. Default: all "
    "references of the set.",
    multiple=True,
    metavar="N|NAME",
    heading=INPUT,
)
normalise = option(
    "--normalise",
    "`z` scales the scores of each judge to mean 0 and standard deviation 1.",
    choice("none", "z"),
    "none",
    heading=ADVANCED,
)
over = option(
    "--over",
    "Units that the bootstrap resamples.",
    choice("both", "segments", "systems"),
    "both",
    heading=TESTS,
)


def resampling(
    help: str = "Number of bootstrap resamples for the intervals; 0 for no intervals.",
    default: int | None = 1000,
    least: int = 0,
    **more: Any,
) -> Callable[[F], F]:
    """Return `--resamples`; 0 and None are defaults that help does not show."""
    kept = {"heading": TESTS, "show_default": bool(default), **more}
    return option("--resamples", help, whole(least, MOST_TRIALS), default, **kept)


resamples = resampling()
interval_resamples = resampling(
    "Add 95% intervals from N bootstrap resamples.", 0, heading=COMMON, old="--bootstrap"
)
comparison_resamples = resampling(
    "Number of bootstrap resamples, for intervals and the bootstrap test. Default: 1000.", None, 1
)
test = option("--test", "Paired test.", choice("bootstrap", "randomization"), "bootstrap")
trials = option(
    "--trials",
    "Number of trials of the randomization test. Default: 10000.",
    whole(1, MOST_TRIALS),
    heading=TESTS,
)
charts = option(
    "--charts",
    "Also write every chart to FOLDER as PNG, PDF and SVG (needs typst).",
    path,
    metavar="FOLDER",
    heading=OUTPUT,
)


def tested(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a comparison: `--trials` of the bootstrap test is now `--resamples`."""
    if settings["test"] == "bootstrap" and settings["trials"] is not None:
        note("--trials of the bootstrap test is now --resamples")
        trials = settings["trials"]
        return {**settings, "trials": None, "resamples": settings["resamples"] or trials}
    return settings


def numbered_references(
    chosen: Sequence[str], reader_options: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Split `--reference`: numbers are of the set's references, names are for its reader."""
    named = [text for text in chosen if not re.fullmatch("[0-9]{1,9}", text)]
    if named and len(named) < len(chosen):
        raise InputError("--reference: give names or numbers of references, not both")
    if named:
        return (), (*reader_options, f"references={','.join(named)}")
    return tuple(map(int, chosen)), reader_options


def reader(function: F) -> F:
    """Add `--read-as` and `--option`: how an evaluation set is read."""
    return _read_as(_reader_options(function))


def judged(function: F) -> F:
    """Add `--judgements` and `--model-judge`: judgements beside those of the set, and whose."""
    files = named(
        "-j --judgements",
        "File of judgements to add to those of SET, such as the log of a model. Repeat for "
        "several.",
        path,
        multiple=True,
        heading=INPUT,
    )
    models = named(
        "--model-judge model_judges",
        "Judge that is a model. Human scores are without it. Repeat for several.",
        multiple=True,
        metavar="NAME",
        heading=INPUT,
    )
    return files(models(function))


def _format(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the format that was asked for, or the one of the output's ending."""
    return checked_format(ctx, format_of(str(ctx.params.get("output") or ""), value))


def checked_format(ctx: click.Context, format: str) -> str:
    """Return the format of a report; refuse --spreadsheet-safe with one that it is not for."""
    check_spreadsheet_safe(format, bool(ctx.meta.get(SPREADSHEET_SAFE)))
    return format


def _mark_safe(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[SPREADSHEET_SAFE] = True


spreadsheet_safe = flag(
    "--spreadsheet-safe",
    "In csv and tsv, put an apostrophe before text that a spreadsheet would take for a formula.",
    is_eager=True,  # --format is checked against it
    expose_value=False,
    callback=_mark_safe,
    heading=OUTPUT,
)


def format_of(path: str, value: str | None) -> str:
    """Return the format of a report: the one that was asked for, or that of its ending."""
    ending = os.path.splitext(path)[1].removeprefix(".").lower()
    if _NOT_WRITTEN.fullmatch(ending):
        ends = f"use one of {', '.join(f'.{known}' for known in ENDINGS)}"
        raise OutputError(f"{path}: cannot write .{ending} files; {ends}")
    return value or (ENDINGS | _OTHER_ENDINGS).get(ending, "text")


class _Format(click.Choice):  # type: ignore[type-arg]  # no generic in click 8.1
    """A format of Karat's, or of a package whose renderer is registered."""

    choices = property(lambda self: tuple(registry_of("renderers")), lambda self, names: None)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a format; entry points are read if it is not Karat's."""
        known = value in registry_of("renderers")
        return value if known else super().convert(value, param, ctx)


def output(function: F) -> F:
    """Add `--format`, `--output` and `--spreadsheet-safe`."""
    function = option(
        "-f --format format",
        "Output format: {names}. Default: by the ending of --output, else text.",
        _Format(FORMATS),
        callback=_format,
        metavar="FORMAT",
        cls=Listing,
        registry="renderers",
    )(function)
    written = option(
        "-o --output", "Write the output to FILE, such as page.html (atomic).", path, is_eager=True
    )
    return written(spreadsheet_safe(function))


wide = flag(
    "--wide", "Show one row per system and one column per metric, as in papers.", heading=OUTPUT
)


def segment_options(what: str) -> Callable[[F], F]:
    """Add `--segment N` and `--worst N`: which segments are shown; `what` they are called."""
    worst = option("--worst", f"Show the N {what}s with the lowest scores.", whole(min=1))
    numbered = option(
        "-s --segment segments",
        f"Number of the {what} to show, from 1. Repeat for several. Default: 1.",
        whole(min=1),
        multiple=True,
    )
    return lambda function: numbered(worst(function))


def split_format(read_as: str | None) -> tuple[bool, str | None]:
    """Return whether files are read as plain text, and else the format that was named."""
    return read_as == PLAIN, None if read_as == PLAIN else read_as


def texts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the candidates and where their references come from: `given`."""
    from karat.cli.inputs import Given, GivenSet

    @wraps(function)
    def called(
        candidates: tuple[str, ...],
        references: tuple[str, ...],
        optional_references: bool,
        evalset: str | None,
        read_as: str | None,
        reader_options: tuple[str, ...],
        **more: Any,
    ) -> Any:
        if evalset is None and reader_options:
            raise InputError("--option is only for evaluation sets: name the set with --set")
        asked = None if evalset is None else GivenSet(evalset, read_as, reader_options)
        files = split_format(read_as) if evalset is None else (False, None)
        given = Given(candidates, references, optional_references, files[0], asked, files[1])
        return function(given=given, **more)

    files = click.argument("candidates", nargs=-1, type=click.Path(), metavar="CANDIDATE...")
    found: Callable[..., Any] = _read_texts_as(_reader_options(called))
    for add in (optional_references, evalset, references, files):
        found = add(found)
    return found


def command_line() -> str:
    """Return the command that was typed."""
    return shlex.join(["karat", *sys.argv[1:]])
