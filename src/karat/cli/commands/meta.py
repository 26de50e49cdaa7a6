"""`karat meta`, `meta fit` and `meta reliability`: metrics against human scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import SetInput
from karat.cli.parameters import option, path
from karat.cli.show import check_output, show, write_charts
from karat.errors import InputError, UnknownMetric
from karat.headings import INPUT, OUTPUT
from karat.meta.settings import (
    ChallengeSettings,
    FitSettings,
    MetaSettings,
    ReliabilitySettings,
    weights_setting,
)
from karat.progress import Bar
from karat.score_settings import DEFAULT_METRICS, ComparisonSettings
from karat.settings import NamedTexts
from karat.tables.options import ReadingOptions

if TYPE_CHECKING:
    from karat.meta.experiment import Experiment, MetaStudy
    from karat.results import Result


@click.command(name="meta", cls=Command)
@click.argument("names", metavar="[SET]...", nargs=-1, shell_complete=options.complete_set)
@options.metrics
@options.dimensions
@options.settings_options(MetaSettings)
@options.output
@options.experiment_reader
@options.setting_option("weights", weights_setting())
@option("--experiment", "Run the experiment in FILE (TOML).", path, heading=INPUT)
@option("--save", "Save the experiment to FILE (TOML).", path, heading=OUTPUT)
@options.charts
@options.threads
def meta_command(
    names: tuple[str, ...],
    experiment: str | None,
    charts: str | None,
    format: str,
    output: str | None,
    save: str | None,
    threads: int | None,
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
    study = _make_study(names, experiment, settings)
    inputs = [experiment] if experiment else []
    for planned in study.experiments:
        inputs += planned.judgements
        inputs += _metric_files(planned)
    sets = [planned.evalset for planned in study.experiments]
    check_output(output, inputs, sets, save=save, charts=charts)
    is_single = len(study.experiments) == 1
    if charts and not is_single:
        raise InputError("--charts works with one set: for several sets, use -o page.html")
    full_report = evaluation = None
    result: Result
    with Bar() as progress:
        if not is_single:
            from karat.meta.averages import meta_average

            result = meta_average(study, threads=threads, progress=progress)
        elif charts or format == "html":
            from karat.meta.full_report import meta_report

            full_report = meta_report(study.experiments[0], threads=threads, progress=progress)
            result = evaluation = full_report.evaluation
        else:
            from karat.meta.evaluation import meta_evaluate

            result = evaluation = meta_evaluate(
                study.experiments[0], threads=threads, progress=progress
            )
    if save:
        from karat.storage.output import write_atomically

        write_atomically(save, evaluation.experiment.toml() if evaluation else study.toml())
    if full_report is not None:
        from karat.report.documents.meta_page import meta_charts

        write_charts(meta_charts(full_report), charts)
    show(full_report if full_report is not None and format == "html" else result, format, output)


def _metric_files(experiment: Experiment) -> list[str]:
    """Return the files of the metrics; the error for an unknown one says if the set has scores."""
    from karat.metrics.names import explain_unknown, metric

    try:
        return [file for name in experiment.metrics for file in metric(name).input_files()]
    except UnknownMetric as error:
        from karat.meta.evaluation import experiment_set

        raise explain_unknown(error, experiment_set(experiment)) from None


def _make_study(
    names: tuple[str, ...], experiment_file: str | None, settings: dict[str, Any]
) -> MetaStudy:
    """Return the study of an experiment file, or of the options."""
    from karat.meta.experiment import Experiment, MetaStudy, read_study

    if experiment_file is not None:
        context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
        if names or any(context.get_parameter_source(name) is typed for name in settings):
            advice = "leave out other options, or edit the file"
            raise InputError(f"--experiment {experiment_file} has all settings: {advice}")
        from karat.evalset.reading import read_text

        return read_study(read_text(Path(experiment_file)), experiment_file)
    if not names:
        raise InputError("no evaluation set was given: use karat meta SET, or --experiment FILE")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the set {name} is given twice: leave one out")
    settings = options.with_table_reading(settings)
    weights = settings.pop("weights")
    metrics = settings.pop("metrics") or DEFAULT_METRICS
    settings["read_as"] = settings["read_as"] or ""
    settings["references"], settings["reader_options"] = options.numbered_references(
        settings["references"], settings["reader_options"]
    )
    experiments = tuple(Experiment(name, tuple(metrics), **settings) for name in names)
    for planned in experiments:
        _metric_files(planned)  # raises for unknown metrics
    return MetaStudy(experiments, weights)


@click.command(name="meta challenge", cls=Command)
@click.argument("name", metavar="SET", type=click.Path())
@options.metrics
@options.settings_options(ChallengeSettings)
@options.settings_options(ReadingOptions, "sheet", "header", "encoding", "separator")
@options.output
@options.threads
def challenge_command(
    name: str,
    metrics: tuple[str, ...],
    columns: NamedTexts,
    format: str,
    output: str | None,
    threads: int | None,
    **reading: Any,
) -> None:
    """Show which planted errors metrics notice.

    SET is a table with a row for each pair of a good and a bad text, or a folder of such tables,
    such as DEMETR. Its columns are reference, good, bad and phenomenon, perhaps severity, source
    and id. `karat data challenge` makes one. Shows for each phenomenon the share of pairs whose
    good text scores higher (ties are failures), and the AUC of all good against all bad texts, with
    95% intervals. Use -o page.html for heat maps.

    \b
    karat meta challenge planted.csv -m bleu -m chrf
    karat meta challenge demetr -m bleu -m chrf -m ter -o notices.html
    karat meta challenge pairs.csv -m chrf --column good=human --column bad=mt
    """
    from karat.meta.challenge import meta_challenge
    from karat.meta.challenge_sets import read_challenge
    from karat.metrics.names import metric

    chosen = metrics or DEFAULT_METRICS
    inputs = [file for text in chosen for file in metric(text).input_files()]
    check_output(output, inputs, [name])
    with Bar() as progress:
        challenge = read_challenge(
            name, columns, reading=ReadingOptions(**reading), progress=progress
        )
        result = meta_challenge(challenge, chosen, threads=threads, progress=progress)
    show(result, format, output)


@click.command(name="meta gains", cls=Command)
@click.argument("names", metavar="[SET]...", nargs=-1, shell_complete=options.complete_set)
@options.metrics
@options.settings_options(ComparisonSettings, "kind")
@options.output
@options.threads
def gains_command(
    names: tuple[str, ...],
    metrics: tuple[str, ...],
    kind: str | None,
    format: str,
    output: str | None,
    threads: int | None,
) -> None:
    """Show how often people agree with gains in metrics.

    Fits the share of pairs of systems in which people prefer the system with the higher score, from
    the judged collections that Karat knows and from each SET, which needs human scores of at least
    two systems. Without SETs, shows the built-in curves of bleu, chrf and rougeL. --kind is the
    kind of task of all SETs.

    \b
    karat meta gains
    karat meta gains my-set -m chrf --kind translation
    karat meta gains ratings1.csv ratings2.csv -m ter --kind summary
    """
    from karat.meta.gains import GAIN_METRICS, meta_gains
    from karat.metrics.names import metric

    chosen = metrics or GAIN_METRICS
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the set {name} is given twice: leave one out")
    check_output(output, [file for text in chosen for file in metric(text).input_files()], names)
    with Bar() as progress:
        study = meta_gains([*names], chosen, kind=kind, threads=threads, progress=progress)
    show(study, format, output)


@click.command(name="meta fit", cls=Command)
@options.set_argument
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
@options.settings_options(FitSettings)
@options.output
@options.human_reader
@options.threads
def fit_command(source: SetInput, format: str, output: str | None, **settings: Any) -> None:
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

    source.check_output(output)
    settings["exclude"] = source.exclude
    with Bar() as progress:
        evalset = source._replace(exclude=()).load(progress)
        fit = fit_scores(evalset, progress=progress, **settings)
    show(fit, format, output)


@click.command(name="meta reliability", cls=Command)
@options.set_argument
@options.metrics
@options.dimensions
@options.settings_options(ReliabilitySettings)
@options.output
@options.human_reader
@options.charts
@options.threads
def reliability_command(
    source: SetInput, charts: str | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show agreement with humans by text length and number of references.

    Segments are shuffled and joined into pseudo-documents. Metric scores and human scores of the
    documents are then correlated, as in Figure 3 of Melamed, Green and Turian (2003).

    \b
    karat meta reliability demo -m bleu -m gtm --reference-counts 1,2,3
    karat meta reliability summeval --lengths 1,2,5,10,25 -o reliability.html
    karat meta reliability demo -m gtm:preset=paper --documents joined
    """
    from karat.meta.reliability import reliability
    from karat.report.documents.reliability import SHUFFLED, reliability_charts

    source.check_output(output, charts=charts)
    settings["metrics"] = settings["metrics"] or DEFAULT_METRICS
    with Bar() as progress:
        result = reliability(source.load(progress), progress=progress, **settings)
    write_charts(reliability_charts(result.rows, SHUFFLED), charts)
    show(result, format, output)
