"""`karat gate`: pass or fail a run against a baseline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import InputFiles, TableOptions
from karat.cli.parameters import F, choice, flag, option, path
from karat.cli.show import check_output, command_line, say, show
from karat.errors import InputError, OutputError
from karat.gating.gates import GateSettings
from karat.gating.items import SOURCES
from karat.headings import OUTPUT, TABLES
from karat.metrics.limits import LimitError
from karat.progress import Bar
from karat.registry import load

if TYPE_CHECKING:
    from karat.gating.gates import GateResult
    from karat.metrics.base import Metric
    from karat.progress import Progress

EXITS = {"pass": 0, "fail": 1, "undecided": 0}
UNDECIDED_EXIT = 3


def _add_source_options(function: F) -> F:
    """Add the options of all sources of scores that have some."""
    for name in SOURCES.entries():
        if options := SOURCES[name].options:
            function = load(options)(function)
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
@options.limit("--max-drop", "Largest loss that passes. Default: 0.")
@options.limit("--min-score", "Fail if the score is worse than X.")
@options.limit("--max-item-drop", "Fail if any item loses more than X.")
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
@_add_source_options
@options.settings_options(GateSettings)
@flag("--texts", "With --update: store the outputs in the baseline, for reports.", heading=OUTPUT)
@option("--junit", "Also write the checks to FILE as JUnit XML.", path, heading=OUTPUT)
@flag(
    "--github",
    "Also write GitHub annotations to standard error, and a summary to $GITHUB_STEP_SUMMARY.",
    heading=OUTPUT,
)
@options.threads
def command(
    inputs: InputFiles,
    metrics: tuple[str, ...],
    update: bool,
    texts: bool,
    baseline: str,
    junit: str | None,
    github: bool,
    format: str,
    output: str | None,
    undecided: str,
    **values: Any,
) -> None:
    """Pass or fail a run against a baseline file.

    CANDIDATE is a text file of one system with -r, a table of one system, a system of --set, or a
    run with --key. Exit codes: 0 pass, 1 fail, 2 bad input, 3 undecided (with --undecided fail).

    \b
    karat gate out.txt -r ref.txt -m chrf -m bleu --baseline gate.tsv --update
    karat gate out.txt -r ref.txt --baseline gate.tsv
    karat gate out.txt -r ref.txt -b gate.tsv --max-drop 0.5 --max-drop bleu=1
    karat gate heron --key demo-nuggets -b nuggets.tsv --no-loss
    """
    from karat.gating.baseline_file import check_replaceable
    from karat.gating.gates import gate, write_baseline
    from karat.gating.items import count_items

    check_output(output, [*inputs.paths(), baseline], junit=junit)
    if update:
        check_output(baseline, inputs.paths())
        check_replaceable(baseline)
    names = list(metrics) or None
    sources = {name: values.pop(name) for name in SOURCES.entries() if name in values}
    columns = {name: values.pop(name) for name in ("candidate", "id")}
    threads = values.pop("threads")
    unit = values.pop("units")
    limits = {name: value for name, value in values.items() if value is not None}
    settings: dict[str, Any]
    with Bar() as progress:
        if any(value is not None for value in sources.values()):
            outputs, settings = _source_outputs(inputs, sources)
            if unit is not None or inputs.unit_labels is not None:
                advice = f"leave out --unit{'s' * (unit is None)}"
                raise InputError(f"runs with --key are compared question by question: {advice}")
        else:
            parsed = inputs.load_metrics(_metric_names(names, baseline), progress)
            metric_files = [name for metric in parsed for name in metric.input_files()]
            check_output(output, metric_files, junit=junit)
            outputs = _text_outputs(inputs, parsed, columns, progress)
            settings = {"threads": threads}
            if isinstance(outputs[0], str):  # a streamed table
                settings |= {name: value for name, value in columns.items() if value is not None}
                settings["units"] = unit
            else:
                settings["units"] = inputs.units(unit, outputs[0])
        settings |= {"baseline": baseline, "progress": progress}
        if update:
            settings["texts"] = texts
            written = write_baseline(*outputs, names, **settings)
            by_metric = ", ".join(gated_metric.name for gated_metric in written.metrics)
            say(
                [f"{baseline}: {count_items(written.ids)} of {written.system} by {by_metric}\n"],
                None,
            )
            return
        if texts:
            raise InputError("--texts needs --update: add it, or leave out --texts")
        settings |= limits
        try:
            result = gate(*outputs, names, **settings)
        except LimitError as error:  # named like the option
            raise InputError(f"--{error.limit_name.replace('_', '-')}{error.problem}") from error
    show(result, format, output)
    _write_ci_reports(result, junit, github, undecided == "fail")
    fails = result.undecided and undecided == "fail"
    raise click.exceptions.Exit(UNDECIDED_EXIT if fails else EXITS[result.verdict])


def _metric_names(names: Sequence[str] | None, baseline: str) -> Sequence[str]:
    """Return the metrics of `--metric`, else of the baseline, else the default."""
    from karat.gating.gates import baseline_metrics
    from karat.gating.texts import GATE_METRICS

    return names or baseline_metrics(baseline) or GATE_METRICS


def _source_outputs(
    inputs: InputFiles, sources: Mapping[str, Any]
) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """Return a run, its key, and the settings of another source of scores."""
    ((source, options),) = ((name, value) for name, value in sources.items() if value is not None)
    candidate = _single_candidate(inputs)
    if inputs.references or inputs.evalset:
        raise InputError(f"-r and --set do not work with {source}: leave them out")
    added = {"judgements": inputs.judgements, "model_judges": inputs.model_judges}
    settings = {**options, **{name: names for name, names in added.items() if names}}
    settings["source"] = source
    return (candidate, settings.pop("against")), settings


def _text_outputs(
    inputs: InputFiles, metrics: Sequence[Metric], columns: Mapping[str, Any], progress: Progress
) -> tuple[Any, Any]:
    """Return the texts of one system and their references, from a table, a set or files."""
    column, id_column = columns["candidate"], columns["id"]
    table = TableOptions(candidate=() if column is None else (column,), id=id_column)
    streams = column is not None or id_column is not None
    inputs = table.resolve(inputs, metrics=[str(m) for m in metrics], streams=streams)
    if table.are_tables(inputs):
        if id_column is None:
            advice = "a table needs a column of ids: name it with --id"
            raise InputError(f"{inputs.candidates[0]}: {advice}")
        return _single_candidate(inputs), list(inputs.references) or None
    inputs.check(None)
    if inputs.evalset is not None:
        evalset = inputs.evalset.load(progress)
        return evalset.select(systems=inputs.candidates or evalset.systems), None
    _single_candidate(inputs)
    return inputs.open(metrics, progress, copies=True)


def _single_candidate(inputs: InputFiles) -> str:
    if len(inputs.candidates) != 1:
        raise InputError(f"{len(inputs.candidates)} outputs were given: expected one")
    return inputs.candidates[0]


def _write_ci_reports(
    result: GateResult, junit: str | None, github: bool, undecided_fails: bool
) -> None:
    """Write JUnit XML and GitHub annotations."""
    if junit is not None:
        from karat.report.gates import junit_xml

        say([junit_xml(result, undecided_fails)], junit)
    if github:
        from karat.report.gates import gate_annotations, gate_summary

        for line in gate_annotations(result, undecided_fails):
            click.echo(line, err=True)  # GitHub reads both streams; standard output has the result
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            summary = gate_summary(result, command_line())
            try:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(summary)
            except OSError as error:
                raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
