"""`karat gate`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import Given, input_paths, load_set
from karat.cli.parameters import NUGGETS, OUTPUT, TABLES, TESTS, choice, flag, option, path, whole
from karat.cli.show import check_output, say, show
from karat.cli.tables import TableOptions, are_tables
from karat.errors import InputError, OutputError, quoted
from karat.gating.limits import LEAST_RESAMPLES, LimitError
from karat.gating.sources import SOURCES
from karat.progress import Bar
from karat.registry import load

if TYPE_CHECKING:
    from karat.gating.gates import GateResult

F = TypeVar("F", bound=Callable[..., Any])

EXITS = {"pass": 0, "fail": 1, "undecided": 0}
UNDECIDED_EXIT = 3


def _limits(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    """Return limits by metric: `1.0` is for all that are not named, `chrf=1.0` for one."""
    found: dict[str, float] = {}
    for text in value:
        name, equals, number = text.rpartition("=")
        if equals and "," in text.partition(":")[0]:  # the settings of a metric follow a colon
            told = f"repeat the option for each metric, as in {param.opts[0]} chrf=1"
            raise click.UsageError(f"{param.opts[0]} {quoted(text)}: {told} {param.opts[0]} bleu=2")
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", number, re.A | re.I):
            wanted = "expected a number, or METRIC=NUMBER such as chrf=1.0"
            raise click.UsageError(f"{param.opts[0]} {quoted(text)}: {wanted}")
        if name in found:
            raise click.UsageError(
                f"{param.opts[0]} {text}: there are two limits for one metric; leave one out"
            )
        found[name] = float(number)
    return found or None


def _limit(name: str, help: str) -> Callable[[F], F]:
    told = f"{help} METRIC=X is for one metric. Repeat for several."
    return option(name, told, multiple=True, metavar="[METRIC=]X", callback=_limits)


def _options_of_sources(function: F) -> F:
    """Add the options of all sources that have some."""
    for name in SOURCES.known():
        if adds := SOURCES[name].options:
            function = load(adds)(function)
    return function


@click.command(name="gate", cls=Command)
@options.texts
@option(
    "-m --metric metrics",
    "Metric, such as bleu or chrf; with --key, one of f, A, V and W. Repeat for several. Default: "
    "those of the baseline; for a new baseline chrf, with --key f.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@option("-b --baseline", "Baseline file.", path, required=True)
@flag("--update", "Write this run to the baseline file instead of comparing with it.")
@_limit("--max-drop", "Largest loss that passes. Default: 0.")
@_limit("--min-score", "Fail if the score is worse than X.")
@_limit("--max-item-drop", "Fail if any item loses more than X.")
@option(
    "--undecided",
    "Result of an undecided gate: warn (exit code 0) or fail (exit code 3).",
    choice("warn", "fail"),
    "warn",
)
@options.output
@option("--candidate", "Column of candidates. Default: detected.", metavar="COLUMN", heading=TABLES)
@option(
    "--id",
    "Column with the id of the item. -r then names columns.",
    metavar="COLUMN",
    heading=TABLES,
)
@_options_of_sources
@flag(
    "--no-loss",
    "Fail if an answer lost a vital nugget that the baseline has.",
    heading=NUGGETS,
)
@option(
    "--correction",
    "Intervals for several metrics: simultaneous, or none for separate intervals.",
    choice("simultaneous", "none"),
    "simultaneous",
    heading=TESTS,
)
@options.resampling("Number of bootstrap resamples for the intervals.", least=LEAST_RESAMPLES)
@options.seed
@option("--examples", "Show the N items with the largest losses.", whole(min=0), 10, heading=OUTPUT)
@flag("--texts", "With --update: store the outputs in the baseline, for reports.", heading=OUTPUT)
@option("--junit", "Also write the checks to FILE as JUnit XML.", path, heading=OUTPUT)
@flag(
    "--github",
    "Also write GitHub annotations to standard error, and a summary to $GITHUB_STEP_SUMMARY.",
    heading=OUTPUT,
)
@options.threads
def command(
    given: Given,
    metrics: tuple[str, ...],
    update: bool,
    texts: bool,
    baseline: str,
    junit: str | None,
    github: bool,
    format: str,
    output: str | None,
    undecided: str,
    **more: Any,
) -> None:
    """Pass or fail a run against a baseline file.

    CANDIDATE is a text file of one system with -r, a table with --id, a system of --set, or a run
    with --key. Exit codes: 0 pass, 1 fail, 2 bad input, 3 undecided (with --undecided fail).

    \b
    karat gate out.txt -r ref.txt -m chrf -m bleu --baseline gate.tsv --update
    karat gate out.txt -r ref.txt --baseline gate.tsv
    karat gate out.txt -r ref.txt -b gate.tsv --max-drop 0.5 --max-drop bleu=1
    karat gate heron --key demo-nuggets -b nuggets.tsv --no-loss
    """
    from karat.gating.baseline_file import check_replaceable
    from karat.gating.gates import gate, write_baseline
    from karat.gating.items import items_of

    inputs = input_paths(given.candidates, given.references)
    for written in (output, junit):
        check_output(written, [*inputs, baseline])
    if output and junit and os.path.realpath(output) == os.path.realpath(junit):
        raise OutputError(f"-o and --junit are both {junit}: use two different files")
    if update:
        check_output(baseline, inputs)
        check_replaceable(baseline)
    wanted = list(metrics) or None
    if all(more.get(name) is None for name in SOURCES.known()):
        for written in (output, junit):
            check_output(written, _metric_files(written, wanted, baseline))
    with Bar() as progress:
        texts_and_refs, settings, limits = _asked(given, wanted, more, progress)
        if update:
            settings = {**settings, "texts": texts, "progress": progress, "baseline": baseline}
            made = write_baseline(*texts_and_refs, wanted, **settings)
            names = ", ".join(one.name for one in made.metrics)
            say([f"{baseline}: {items_of(made.ids)} of {made.system} by {names}\n"], None)
            return
        if texts:
            raise InputError("--texts needs --update: add it, or leave out --texts")
        settings = {**settings, **limits, "progress": progress}
        try:
            result = gate(*texts_and_refs, wanted, baseline=baseline, **settings)
        except LimitError as error:  # named as it was typed
            typed = error.what.replace("_", "-")
            raise InputError(f"--{typed}{error.told}") from error
    show(result.document(options.command_line()), format, output)
    _report(result, junit, github, undecided == "fail")
    fails = result.undecided and undecided == "fail"
    raise click.exceptions.Exit(UNDECIDED_EXIT if fails else EXITS[result.verdict])


def _metric_files(
    written: str | None, metrics: Sequence[str] | None, baseline: str
) -> Iterator[str]:
    """Yield the files of the metrics of texts, if there is an output that must not replace them."""
    from karat.gating.gates import baseline_metrics
    from karat.gating.texts import DEFAULT
    from karat.scoring import as_metrics

    if written is not None:
        for one in as_metrics(metrics or baseline_metrics(baseline) or DEFAULT):
            yield from one.input_files()


def _asked(
    given: Given, metrics: Sequence[str] | None, more: dict[str, Any], progress: Any
) -> tuple[tuple[Any, Any], dict[str, Any], dict[str, Any]]:
    """Return the output with what it is scored against, settings of the source, and limits."""
    own = {name: more.pop(name) for name in SOURCES.known() if name in more}
    columns = {name: more.pop(name) for name in ("candidate", "id")}
    threads, limits = more.pop("threads"), {k: v for k, v in more.items() if v is not None}
    asked = {name: value for name, value in own.items() if value is not None}
    if asked:
        ((source, settings),) = asked.items()
        one = _one(given.candidates)
        if given.references or given.evalset:
            raise InputError(f"-r and --set do not work with {source}: leave them out")
        settings = dict(settings)
        return (one, settings.pop("against")), {**settings, "source": source}, limits
    texts = _texts(given, metrics, columns, progress)
    return texts, {**_named(columns), "threads": threads}, limits


def _texts(
    given: Given, metrics: Sequence[str] | None, columns: Mapping[str, Any], progress: Any
) -> tuple[Any, Any]:
    """Return the texts of one system and their references, however they are given."""
    from karat.gating.texts import DEFAULT
    from karat.scoring import as_metrics

    table = TableOptions(
        _listed(columns["candidate"]), None, columns["id"], "local", (), None, None
    )
    if are_tables(given, table):
        if columns["id"] is None:
            told = "a table needs a column of ids: name it with --id"
            raise InputError(f"{given.candidates[0]}: {told}")
        return _one(given.candidates), list(given.references) or None
    given.check(None)
    if given.evalset is not None:
        found = load_set(*given.evalset, progress)
        return found.select(systems=given.candidates or found.systems), None
    _one(given.candidates)
    return given.open(as_metrics(metrics or DEFAULT), progress, copies=True)


def _listed(column: str | None) -> list[str]:
    return [] if column is None else [column]


def _one(candidates: Any) -> str:
    if len(candidates) != 1:
        raise InputError(f"{len(candidates)} outputs were given: expected one")
    return str(candidates[0])


def _named(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in columns.items() if value is not None}


def _report(result: GateResult, junit: str | None, github: bool, undecided_fails: bool) -> None:
    """Write what was asked for beside the result."""
    if junit is not None:
        from karat.report.gate.junit import junit_xml

        say([junit_xml(result, undecided_fails)], junit)
    if github:
        from karat.report.gate.github import gate_annotations, gate_summary

        for line in gate_annotations(result, undecided_fails):
            click.echo(line, err=True)  # GitHub reads both streams; the other has the result
        place = os.environ.get("GITHUB_STEP_SUMMARY")
        if place:
            _append(place, gate_summary(result, options.command_line()))


def _append(place: str, text: str) -> None:
    try:
        with open(place, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"cannot write {place}: {error.strerror or error}") from error
