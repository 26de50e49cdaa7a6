"""`karat meta`, `meta fit` and `meta reliability`: metrics against human scores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import load_set
from karat.cli.old_names import retired
from karat.cli.parameters import (
    ADVANCED,
    INPUT,
    OUTPUT,
    TESTS,
    Listing,
    Numbers,
    WholeNumbers,
    choice,
    flag,
    option,
    path,
    whole,
)
from karat.cli.show import check_beside, check_charts, check_output, check_page, show, write_charts
from karat.errors import InputError
from karat.progress import Bar
from karat.settings import MOST_TRIALS

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
def meta_command(
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


@click.command(name="meta fit", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option(
    "-m --metric metrics",
    "Term of the fit: METRIC, or METRIC@PART for a part of its score, such as "
    "wer@substitutions. Repeat for several.",
    multiple=True,
    required=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.dimensions
@option(
    "-l --level",
    "Level of the scores: single outputs (segment) or systems.",
    choice("segment", "system"),
    "segment",
)
@options.output
@options.reader
@options.judged
@options.exclude
@options.normalise
@options.threads
def meta_fit_command(
    name: str,
    read_as: str | None,
    reader_options: tuple[str, ...],
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Fit human scores to metrics by ordinary least squares.

    Shows each coefficient with its standard error, t and p, the R2 of the fit, and its
    cross-validated errors when outputs, segments or systems are left out. Use -o fit.html for a
    plot of predicted against human scores. A fit of simple_tree_accuracy and
    simple_tree_accuracy@substitutions also shows the published coefficients for understandability
    and quality.

    \b
    karat meta fit demo -m bleu -m ter -d fluency
    karat meta fit demo -m wer -m wer@substitutions --normalise z -o fit.html
    """
    from karat.meta.fit import fit_scores

    added = [settings.pop(key) for key in ("judgements", "model_judges")]
    check_output(output, added[0])
    check_beside(output, name)
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress, *added)
        found = fit_scores(evalset, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)


@click.command(name="meta reliability", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@options.metrics
@options.dimensions
@option(
    "--lengths",
    "Numbers of segments per pseudo-document, such as 1,2,5 or 1-25. Default: 1-25, as long as "
    "each system has 4 documents.",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
)
@option(
    "--reference-counts",
    "Numbers of references per segment, such as 1,2,3. Default: all references.",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
    old="--references",
)
@option(
    "-s --statistic statistics",
    "Statistic: {names}. Repeat for several. Statistics that compare systems, such as spa, are "
    "not allowed. Default: pearson spearman.",
    metavar="NAME",
    cls=Listing,
    registry="statistics",
    multiple=True,
)
@option(
    "--documents",
    "Score a document by the summed statistics of its segments, or as one text.",
    choice("summed", "joined"),
    "summed",
)
@options.output
@options.reader
@options.judged
@options.exclude
@option(
    "--repeats",
    "Number of times that segments are shuffled.",
    whole(1, MOST_TRIALS),
    100,
    heading=TESTS,
)
@option(
    "--combinations",
    "Maximum number of reference combinations.",
    whole(1, MOST_TRIALS),
    20,
    heading=TESTS,
)
@options.seed
@options.charts
@options.normalise
@options.threads
def meta_reliability_command(
    name: str, charts: str | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show agreement with humans by text length and number of references.

    Segments are shuffled and joined into pseudo-documents. Metric scores and human scores of the
    documents are then correlated, as in Figure 3 of Melamed, Green and Turian (2003).

    \b
    karat meta reliability demo -m bleu -m gtm --reference-counts 1,2,3
    karat meta reliability summeval --lengths 1,2,5,10,25 -o reliability.html
    karat meta reliability demo -m gtm:preset=paper --documents joined
    """
    from karat.meta.documents.reliability import reliability
    from karat.report.documents.reliability import SHUFFLED, reliability_charts

    added = [settings.pop(key) for key in ("judgements", "model_judges")]
    check_output(output, added[0])
    check_beside(output, name)
    check_charts(charts)
    read_as, reader_options, exclude = map(settings.pop, ("read_as", "reader_options", "exclude"))
    settings["metrics"] = settings["metrics"] or options.DEFAULT_METRICS
    settings["statistics"] = settings["statistics"] or ("pearson", "spearman")
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress, *added)
        chosen = evalset.without(*exclude) if exclude else evalset
        found = reliability(chosen, progress=progress, **settings)
    write_charts(reliability_charts(found.rows, SHUFFLED), charts)
    show(found.document(options.command_line()), format, output)
