"""`karat meta`: which metric agrees with the humans."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.charts import check_charts, write_charts
from karat.cli.command import Command
from karat.cli.old_names import retired
from karat.cli.parameters import (
    ADVANCED,
    INPUT,
    OUTPUT,
    TESTS,
    Listing,
    Numbers,
    choice,
    flag,
    option,
    path,
    whole,
)
from karat.cli.show import check_beside, check_output, check_page, show
from karat.errors import InputError
from karat.trials import MOST_TRIALS

if TYPE_CHECKING:
    from karat.meta.experiment import Experiment, MetaStudy


@click.command(name="meta", cls=Command)
@click.argument("names", metavar="[SET]...", nargs=-1, shell_complete=options.complete_set)
@options.metrics
@options.dimensions
@option(
    "-l --level levels",
    "Level of the correlation: {names}. Repeat for several. Default: system segment item.",
    metavar="LEVEL",
    cls=Listing,
    registry="levels",
    multiple=True,
)
@option(
    "-s --statistic statistics",
    "Statistic: {names}. Repeat for several. Default: pearson tau-b.",
    metavar="NAME",
    cls=Listing,
    registry="statistics",
    multiple=True,
)
@options.output
@options.reader
@options.judged
@options.exclude
@options.set_references
@option(
    "--weights",
    "Weights of several SETs, such as 2,1,1. Default: equal weights.",
    Numbers(),
    metavar="NUMBERS",
    heading=INPUT,
)
@option("--experiment", "Run the experiment in FILE (TOML).", path, heading=INPUT)
@options.over
@options.resamples
@option(
    "--trials",
    "Number of trials of the permutation test between metrics; 0 for no test.",
    whole(0, MOST_TRIALS),
    1000,
    heading=TESTS,
)
@option(
    "--correction",
    "Correction of p-values for the number of comparisons.",
    choice("none", "holm", "bh"),
    "none",
    heading=TESTS,
)
@flag("--p-values", "Add a two-sided p-value to every correlation.", heading=TESTS)
@options.seed
@option("--save", "Save the experiment to FILE (TOML).", path, heading=OUTPUT)
@retired("--report", "-o page.html", path)
@options.charts
@options.normalise
@option(
    "--system-scores",
    "Outputs that the metric score of a system is computed from.",
    choice("judged", "all"),
    "judged",
    heading=ADVANCED,
)
@options.threads
def command(
    names: tuple[str, ...],
    experiment: str | None,
    charts: str | None,
    format: str,
    **settings: Any,
) -> None:
    """Rank metrics by their agreement with human scores.

    SET is a folder or file with human scores, or the name of a known set (see `karat data list`).
    Every statistic has a bootstrap interval. Metrics with the same rank do not differ
    significantly. With several SETs, metrics are ranked by their averages over all sets,
    dimensions, levels and statistics. Use -o page.html for a full report with charts.

    \b
    karat meta demo -m bleu -m chrf --dimension fluency
    karat meta demo -o report.html
    karat meta ted-zhen -m bleu -m gtm:e=2 --level segment --statistic acc-eq
    karat meta ted-zhen believability -m bleu -m chrf --level item --weights 2,1
    karat meta demo -m bleu -d "adequacy - fluency" --level segment --p-values
    karat meta demo --save experiment.toml
    karat meta --experiment experiment.toml
    """
    outputs = {key: settings.pop(key) for key in ("save", "report", "output")}
    threads = settings.pop("threads")
    study = _study(names, experiment, settings)
    _check_outputs(outputs, study, experiment)
    check_charts(charts)
    if len(study.experiments) == 1:
        _rank(study.experiments[0], outputs, charts, format, threads)
    elif outputs["report"] or charts:
        raise InputError("--charts works with one set: for several sets, use -o page.html")
    else:
        _average(study, outputs, format, threads)


def _average(
    study: MetaStudy, outputs: dict[str, str | None], format: str, threads: int | None
) -> None:
    """Show the averages over several sets."""
    from karat.meta.averages import meta_average

    with Bar() as progress:
        result = meta_average(study, threads=threads, progress=progress)
    if outputs["save"]:
        from karat.storage.output import write_atomically

        write_atomically(outputs["save"], study.toml())
    show(result.document(options.command_line()), format, outputs["output"])


def _rank(
    chosen: Experiment,
    outputs: dict[str, str | None],
    charts: str | None,
    format: str,
    threads: int | None,
) -> None:
    """Show the ranks on one set."""
    from karat.meta.evaluation import meta_evaluate

    save, report, output = outputs.values()
    line = options.command_line()
    full = None
    with Bar() as progress:
        if report or charts or format == "html":
            from karat.meta.full_report import meta_report

            full = meta_report(chosen, threads=threads, progress=progress)
            result = full.evaluation
        else:
            result = meta_evaluate(chosen, threads=threads, progress=progress)
    if save:
        from karat.storage.output import write_atomically

        write_atomically(save, result.experiment.toml())
    if full is not None:
        from karat.report.documents.meta_page import meta_charts

        if report:
            show(full.document(line), "html", report)
        write_charts(meta_charts(full), charts)
    shown = full if full is not None and format == "html" else result
    show(shown.document(line), format, output)


def _check_outputs(named: dict[str, str | None], study: MetaStudy, saved: str | None) -> None:
    """Refuse outputs that are inputs, that are the same file, or a report that is no page."""
    from karat.metrics.names import metric

    places: dict[str, str] = {}
    for written, place in named.items():
        if place is None:
            continue
        check_output(place, [saved] if saved else [])
        for chosen in study.experiments:
            check_beside(place, chosen.evalset)
            check_output(place, chosen.judgements)
            check_output(place, [file for m in chosen.metrics for file in metric(m).input_files()])
        other = places.setdefault(os.path.realpath(place), written)
        if other != written:
            raise InputError(f"--{other} and --{written} are both {place}: use two different files")
    check_page("--report", named["report"])


def _study(names: tuple[str, ...], saved: str | None, settings: dict[str, Any]) -> MetaStudy:
    """The experiments of a file, or those of the options."""
    from karat.meta.experiment import Experiment, MetaStudy, read_study

    context = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    given = [key for key in settings if context.get_parameter_source(key) is typed]
    if saved is not None:
        if names or given:
            told = "has all settings: leave out other options, or edit the file"
            raise InputError(f"--experiment {saved} {told}")
        from karat.evalset.reading import read_text

        return read_study(read_text(Path(saved)), saved)
    if not names:
        raise InputError("no evaluation set was given: use karat meta SET, or --experiment FILE")
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the set {twice} is given twice: leave one out")
    weights = settings.pop("weights") or ()
    metrics = settings.pop("metrics") or options.DEFAULT_METRICS
    asked = {key: settings[key] for key in settings if key in given}
    if chosen := asked.pop("references", ()):
        of_reader = settings["reader_options"]
        asked["references"], asked["reader_options"] = options.numbered_references(
            chosen, of_reader
        )
    return MetaStudy(tuple(Experiment(name, tuple(metrics), **asked) for name in names), weights)
