"""Options that several commands share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.cli import show
from karat.cli.command import second_words
from karat.cli.parameters import (
    Numbers,
    Option,
    WholeNumbers,
    bundle,
    choice,
    combine,
    flag,
    integer,
    named,
    option,
    path,
    share,
)
from karat.cli.show import SPREADSHEET_SAFE
from karat.errors import InputError, OutputError, quoted
from karat.headings import ADVANCED, INPUT, OUTPUT, TABLES, TESTS
from karat.registry import registry_of
from karat.report.render.renderers import (
    BINARY_FORMATS,
    ENDINGS,
    FORMATS,
    USUAL_ENDINGS,
    check_binary,
    check_spreadsheet_safe,
)
from karat.score_settings import DEFAULT_METRICS
from karat.settings import NamedTexts, Settings, parameter_name, resamples_setting, seed_setting
from karat.tables.options import ReadingOptions

if TYPE_CHECKING:
    from karat.cli.inputs import InputFiles, SetInput

F = TypeVar("F", bound=Callable[..., Any])
PLAIN_TEXT = "text"
"""The format of files with one segment per line."""

command_line = show.command_line
_NOT_WRITTEN = re.compile(
    r"xlsm?|xlsb|ods|docx?|odt|rtf|pptx?|feather|arrow|orc|avro|pickle|pkl|npy|npz|h5|hdf5|mat|"
    r"rds|sav|dta|db|sqlite|pdf|ps|eps|png|jpe?g|gif|webp|bmp|tiff?|zip|gz|tgz|bz2|xz|zst|7z|rar|"
    r"tar|jsonl|ndjson|xml|ya?ml|toml|rst|ipynb"
)
"""Endings of formats that cannot be written, and would mislead as names of reports."""


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from karat.metrics.names import ALIASES, METRICS

    return [name for name in (*METRICS, *ALIASES) if name.startswith(incomplete)]


def complete_set(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete second words of commands and names of known sets; if none fits, files."""
    from karat.evalset.loading import KNOWN

    set_names = [name for name in KNOWN if name.startswith(incomplete)]
    names = [CompletionItem(name) for name in [*second_words(ctx, incomplete), *set_names]]
    return names or [CompletionItem(incomplete, type="file")]


# ------------------------------------------------------------------------------ from settings

_COMPLETE = {"METRIC": complete_metric, "JUDGE": complete_metric}
"""Metavar of an option -> the completion of its values."""


def setting_option(name: str, declared: Field[Any], **look: Any) -> Callable[[F], F]:
    """Return the decorator that adds the option of a setting (`karat.settings.setting`).

    The command receives its value as `name`; `look` are further arguments of `option`.
    """
    about, default = declared.metadata, declared.default
    kind, items = about["kind"], about["items"]
    dashed = [word for word in about["option"].split() if word.startswith("-")]
    spelling = " ".join([*dashed, name])
    if kind is bool:
        return flag(spelling, about["help"], heading=about["heading"])
    more = {**{key: about[key] for key in ("heading", "metavar", "registry")}, **look}
    more["shell_complete"] = _COMPLETE.get(about["metavar"])
    more["show_default"] = about["show_default"] and default not in (None, ())
    if kind is tuple:
        more["show_default"] = False  # the help text states it
        more["multiple"] = items not in (int, float)
    if kind is NamedTexts:
        more |= {"multiple": True, "show_default": False, "callback": _parse_named_texts}
        default = ()
    value_kind: Any = None
    if about["choices"]:
        value_kind = choice(*about["choices"])
    elif about["place"]:
        value_kind = path
    elif kind is int:
        low, high = (int(about[key]) if isfinite(about[key]) else None for key in ("low", "high"))
        value_kind = integer(low, high)
    elif items in (int, float):
        value_kind = WholeNumbers() if items is int else Numbers()
    elif (about["low"], about["high"]) == (0.0, 1.0):
        value_kind = share()
    elif kind is float:
        value_kind = float
    return option(spelling, about["help"], value_kind, default, **more)


def _parse_named_texts(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> NamedTexts:
    """Return the texts of a repeated option NAME=TEXT by name."""
    texts: dict[str, str] = {}
    for item in value:
        name, equals, text = item.partition("=")
        if not (name and equals and text):
            raise click.UsageError(f"{param.opts[0]} {quoted(item)}: expected {param.metavar}")
        if name in texts:
            raise click.UsageError(f"{param.opts[0]}: {quoted(name)} is given twice")
        texts[name] = text
    return NamedTexts(texts)


def settings_options(cls: type[Settings], *names: str) -> Callable[[F], F]:
    """Return the decorator that adds the options of settings: of all that have one, or of some.

    The command receives each value under the name of its parameter.
    """
    chosen = [f for f in fields(cls) if f.name in names or not names]
    return combine(
        *(setting_option(parameter_name(f), f) for f in chosen if f.metadata.get("option"))
    )


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
    registry="formats",
    heading=INPUT,
)


class _TextFormats(Option):
    """`--read-as` of commands that read files: plain text, or a format of the registry."""

    def names(self) -> list[str]:
        return [PLAIN_TEXT, *super().names()]


class _FilesOrSet(_TextFormats):
    """`--read-as` of commands that read files or a set."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete formats of sets, and formats of files unless a set is given."""
        file_formats = super().shell_complete(ctx, incomplete)
        sets = [name for name in registry_of("formats") if name.startswith(incomplete)]
        offered = [] if ctx.params.get("evalset") else file_formats
        return [*offered, *map(CompletionItem, sets)]


_read_files_as = partial(
    option, "--read-as", metavar="FORMAT", registry="text_formats", heading=INPUT
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


_reader_options = option(
    "--option reader_options",
    "Option of the format's reader, such as pair=en-de or references=refB. Repeat for several.",
    multiple=True,
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
    choice(PLAIN_TEXT),
    callback=lambda ctx, param, value: value is not None,
    heading=INPUT,
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
    integer(min=1),
    heading=ADVANCED,
)
seed = setting_option("seed", seed_setting())
resamples = setting_option("resamples", resamples_setting())
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
charts = option(
    "--charts",
    "Also write every chart to FOLDER as PNG, PDF and SVG (needs typst).",
    path,
    metavar="FOLDER",
    heading=OUTPUT,
)


def numbered_references(
    references: Sequence[str], reader_options: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the numbers in `--reference`, and the reader's options, which include names there."""
    names = [text for text in references if not re.fullmatch("[0-9]{1,9}", text)]
    if names and len(names) < len(references):
        raise InputError("--reference: give names or numbers of references, not both")
    if names:
        return (), (*reader_options, f"references={','.join(names)}")
    return tuple(map(int, references)), reader_options


_judgements = named(
    "-j --judgements",
    "File of judgements to add to those of SET, such as the log of a model. Repeat for several.",
    path,
    multiple=True,
    heading=INPUT,
)
_model_judges = named(
    "--model-judge model_judges",
    "Judge that is a model. Human scores are without it. Repeat for several.",
    multiple=True,
    metavar="NAME",
    heading=INPUT,
)


_table_reading = settings_options(ReadingOptions)


def _pop_reading(values: dict[str, Any]) -> ReadingOptions:
    """Remove the options of tables from the values of all options, and return them."""
    return ReadingOptions(**{f.name: values.pop(parameter_name(f)) for f in fields(ReadingOptions)})


table_reading = bundle("reading", _table_reading, make=lambda **values: _pop_reading(values))
"""Options for reading a table; the command receives `reading`."""


def with_table_reading(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options, with those of `ReadingOptions` among `reader_options`."""
    values = dict(values)
    reading = _pop_reading(values)
    return {**values, "reader_options": (*values["reader_options"], *reading.texts())}


def _make_set_input(**values: Any) -> SetInput:
    from karat.cli.inputs import SetInput

    return SetInput(**with_table_reading(values))


set_argument = click.argument("name", metavar="SET", shell_complete=complete_set)
_set_input = partial(bundle, "source", make=_make_set_input, arguments=("name",))
_set_reader = combine(_read_as, _reader_options, _table_reading)
reader = _set_input(_set_reader)
"""Options for reading SET; the command receives `source`."""
judged_reader = _set_input(_set_reader, _judgements, _model_judges)
"""Options for reading SET and further judgements; the command receives `source`."""
human_reader = _set_input(_set_reader, _judgements, _model_judges, exclude)
"""Options for reading SET and further judgements, without some systems: `source`."""
experiment_reader = combine(_set_reader, _judgements, _model_judges, exclude, set_references)
"""Options for reading sets, as settings of an experiment (`with_table_reading`)."""
outputs_reader = _set_input(exclude, _set_reader)
"""Options for reading SET, with systems to leave out; the command receives `source`."""


spreadsheet_safe = flag(
    "--spreadsheet-safe",
    "In csv and tsv, put an apostrophe before text that a spreadsheet would take for a formula.",
    is_eager=True,  # --format is checked against it
    expose_value=False,
    callback=lambda ctx, param, value: ctx.meta.update({SPREADSHEET_SAFE: value}),
    heading=OUTPUT,
)


def report_format(ctx: click.Context, path: str | None, value: str | None) -> str:
    """Return the format of a report: `value`, or by the ending of its file.

    Raise if the ending, a terminal or --spreadsheet-safe does not go with it. Unknown endings are
    text.
    """
    ending = os.path.splitext(path or "")[1].removeprefix(".").lower()
    if _NOT_WRITTEN.fullmatch(ending):
        ends = f"use one of {', '.join(f'.{suffix}' for suffix in USUAL_ENDINGS)}"
        raise OutputError(f"{path}: cannot write .{ending} files; {ends}")
    of_ending = ENDINGS.get(ending, "text")
    format = value or of_ending
    if ending in ENDINGS and format != of_ending and BINARY_FORMATS.keys() & {format, of_ending}:
        advice = f"leave out -f {format}, or use another ending"
        raise OutputError(f"{path}: a .{ending} file cannot hold {format}; {advice}")
    check_binary(format, path, is_terminal=sys.stdout.isatty())
    if ctx.meta.get(SPREADSHEET_SAFE):
        check_spreadsheet_safe(format)
    return format


class _Format(click.Choice):  # type: ignore[type-arg]  # no generic in click 8.1
    """A built-in format, or one that a plug-in registered."""

    choices = property(lambda self: tuple(registry_of("renderers")), lambda self, names: None)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a format; entry points are read only if it is not built in."""
        is_registered = value in registry_of("renderers")
        return value if is_registered else super().convert(value, param, ctx)


output = combine(
    option(
        "-o --output", "Write the output to FILE, such as page.html (atomic).", path, is_eager=True
    ),
    spreadsheet_safe,
    option(
        "-f --format format",
        "Output format: {names}. Default: by the ending of --output, else text.",
        _Format(FORMATS),
        callback=lambda ctx, param, value: report_format(ctx, ctx.params.get("output"), value),
        metavar="FORMAT",
        registry="renderers",
    ),
)
"""`--format`, `--output` and `--spreadsheet-safe`."""


wide = flag(
    "--wide", "Show one row per system and one column per metric, as in papers.", heading=OUTPUT
)


def segment_options(unit: str) -> Callable[[F], F]:
    """Add `--segment N` and `--worst N`, which select segments; help calls them `unit`."""
    return combine(
        option(
            "-s --segment segments",
            f"Number of the {unit} to show, from 1. Repeat for several. Default: 1.",
            integer(min=1),
            multiple=True,
        ),
        option("--worst", f"Show the N {unit}s with the lowest scores.", integer(min=1)),
    )


def _make_input_files(evalset: str | None, **values: Any) -> InputFiles:
    from karat.cli.inputs import InputFiles

    reading = _pop_reading(values)
    files = InputFiles(**values, reading=reading)
    return files if evalset is None else files.with_set(evalset)


def _make_candidate(candidate: str, **values: Any) -> InputFiles:
    from karat.cli.inputs import InputFiles

    return InputFiles([candidate], reading=_pop_reading(values), **values)


def candidate(
    *more: Callable[[Any], Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that adds CANDIDATE, one system in a file, table or set: `inputs`."""
    argument = click.argument("candidate", type=click.Path(), shell_complete=complete_set)
    reading = (_read_texts_as, _reader_options, _table_reading)
    return bundle("inputs", argument, references, *more, *reading, make=_make_candidate)


texts = bundle(
    "inputs",
    click.argument("candidates", nargs=-1, type=click.Path(), metavar="CANDIDATE..."),
    references,
    evalset,
    optional_references,
    _read_texts_as,
    _reader_options,
    _table_reading,
    _judgements,
    _model_judges,
    option(
        "--units unit_labels",
        "Text file with the label of each segment's unit, one per line.",
        path,
        heading=TESTS,
    ),
    make=_make_input_files,
)
"""Candidates, their references, further judgements and the labels of units: `inputs`."""


_table_option = partial(option, heading=TABLES)
_column = partial(_table_option, metavar="COLUMN")
_folder = partial(_table_option, kind=path, metavar="FOLDER")
_TABLE_OPTIONS = (
    _column(
        "--candidate",
        "Column of candidates. Repeat for several systems. Default: detected.",
        multiple=True,
    ),
    _column("--by", "Column with the name of the system."),
    _column("--id", "Column with the id of the segment. Intervals of several systems need it."),
    _table_option(
        "--engine",
        "Engine that processes the table: {names}.",
        default="local",
        metavar="NAME",
        registry="engines",
    ),
    _table_option(
        "--engine-option engine_options",
        "Setting of the engine, such as workers=4 or address=HOST:PORT. Repeat for several.",
        multiple=True,
        metavar="NAME=VALUE",
    ),
    _folder("--rows", "Write the table with its scores to FOLDER."),
    _folder(
        "--shards", "Keep finished parts of the table in FOLDER, to resume a run that was stopped."
    ),
)
_shard = _table_option(
    "--shard", "Process shard K of N only. `karat merge FOLDER` combines the shards.", metavar="K/N"
)
_table_input = partial(bundle, "table", *_TABLE_OPTIONS, make="karat.cli.inputs:TableOptions")
tables = _table_input()
"""Options that only tables have: `table`."""
sharded_tables = _table_input(_shard)
"""Options that only tables have, with `--shard`: `table`."""


def _parse_limits(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, float] | None:
    """Return limits by metric: `chrf=1.0` is for one, `1.0` for all others."""
    limits: dict[str, float] = {}
    option = param.opts[0]
    for text in value:
        name, equals, number = text.rpartition("=")
        if equals and "," in text.partition(":")[0]:  # the settings of a metric follow a colon
            advice = f"repeat the option for each metric, as in {option} chrf=1 {option} bleu=2"
            raise click.UsageError(f"{option} {quoted(text)}: {advice}")
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", number, re.A | re.I):
            expected = "expected a number, or METRIC=NUMBER such as chrf=1.0"
            raise click.UsageError(f"{option} {quoted(text)}: {expected}")
        if name in limits:
            raise click.UsageError(
                f"{option} {text}: there are two limits for one metric; leave one out"
            )
        limits[name] = float(number)
    return limits or None


def limit(name: str, help: str, **look: Any) -> Callable[[F], F]:
    """Return the option of a limit by metric."""
    help = f"{help} METRIC=X is for one metric. Repeat for several."
    look |= {"multiple": True, "metavar": "[METRIC=]X", "callback": _parse_limits}
    return option(name, help, **look)
