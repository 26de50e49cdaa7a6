"""`karat plane`: which member of the AEv family fits which task and guideline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Group
from karat.cli.inputs import load_set
from karat.cli.old_names import retired
from karat.cli.parameters import TESTS, option, whole
from karat.cli.show import check_beside, check_charts, check_output, show, write_charts
from karat.errors import InputError
from karat.progress import Bar
from karat.settings import MOST_TRIALS

if TYPE_CHECKING:
    from karat.meta.plane.predictions import Region
    from karat.metrics.ngram import AEv

_TASK = "Task: mt, paraphrase, qa, viewpoint-summary or summary."
_GUIDELINE = (
    "Guideline of the judges: adequacy, coverage, lenient, strict (or correctness, the paper's "
    "word) or fluency."
)


@click.group(name="plane", cls=Group, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Choose the AEv metric that fits a task and a guideline.

    \b
    karat plane recommend --task mt --guideline fluency
    karat plane fit demo --dimension fluency
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command.command(name="fit")
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@options.dimensions
@option(
    "-m --metric base",
    "AEv, with any settings except alpha and n. aev:preset=paper is the paper's.",
    default="aev",
    show_default=True,
    metavar="METRIC",
)
@option("--task", _TASK + " With --guideline, show the paper's prediction.", metavar="TASK")
@option("--guideline", _GUIDELINE, metavar="NAME")
@option(
    "--compare-with",
    "Other metric to show, such as bleu or rouge1. Repeat for several.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
    old="--beside",
)
@option(
    "--by",
    "Also fit groups of segments: `groups` of the set, or `lengths:parts=N` for N groups by "
    "reference length.",
    metavar="GROUPING",
)
@options.output
@options.reader
@options.judged
@options.exclude
@options.set_references
@options.over
@options.resamples
@option(
    "--splits",
    "Number of random splits into halves that test the choice on the other half.",
    whole(0, MOST_TRIALS),
    200,
    heading=TESTS,
    old="--halves",
)
@options.seed
@options.charts
@options.normalise
@retired("--stem", "-m aev:stem=NAME", is_flag=False, flag_value="porter")
@retired("--stop", "-m aev:stop=NAME", is_flag=False, flag_value="en")
@options.threads
def fit(name: str, charts: str | None, format: str, output: str | None, **settings: Any) -> None:
    """Fit the AEv plane to human scores: R^2 at alpha = 0..1 and N = 1..4.

    Shows an interval for every cell, the chosen cell with its cross-validated agreement (systems
    left out), and a test of the maximum.

    \b
    karat plane fit demo --dimension fluency --task mt --guideline fluency
    karat plane fit ted-zhen --dimension accuracy -m aev:preset=paper
    karat plane fit demo -d fluency -r 1 --compare-with bleu --compare-with rouge1
    karat plane fit demo -d fluency --by groups
    karat plane fit my-set -o plane.html
    """
    from karat.meta.plane.study import study_plane
    from karat.report.documents.planes import plane_chart

    metric = _family(*map(settings.pop, ("base", "stem", "stop")))
    region = _region(*map(settings.pop, ("task", "guideline")))
    read_as, reader_options, exclude = map(settings.pop, ("read_as", "reader_options", "exclude"))
    numbers, reader_options = options.numbered_references(
        settings.pop("references"), reader_options
    )
    added = [settings.pop(key) for key in ("judgements", "model_judges")]
    check_output(output, added[0])
    check_beside(output, name)
    check_charts(charts)
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress, *added)
        chosen = evalset.without(*exclude) if exclude else evalset
        study = study_plane(
            chosen, metric, references=numbers, region=region, progress=progress, **settings
        )
    write_charts([plane_chart(fitted, region) for fitted in study.fits], charts)
    show(study.document(options.command_line()), format, output)


def _region(task: str | None, guideline: str | None) -> Region | None:
    from karat.meta.plane.predictions import predicted

    if task is None and guideline is None:
        return None
    if task is None or guideline is None:
        raise InputError("--task and --guideline go together: give both or neither")
    return predicted(task, guideline)


def _family(base: str, stem: str | None, stop: str | None) -> AEv:
    from karat.meta.plane.fit import check_family
    from karat.metrics.names import metric
    from karat.metrics.ngram import AEv

    found = metric(base)
    if not isinstance(found, AEv):
        raise InputError(f"-m {base}: expected aev, as in -m aev:preset=paper")
    if (found.alpha, found.n) != (AEv().alpha, AEv().n):
        raise InputError(f"-m {base}: the plane covers all alpha and n; leave them out")
    chosen = replace(
        found, stem=found.stem if stem is None else stem, stop=found.stop if stop is None else stop
    ).claiming(found.claims)
    check_family(chosen)
    return chosen


@command.command(name="recommend")
@option("--task", _TASK, required=True, metavar="TASK")
@option("--guideline", _GUIDELINE, required=True, metavar="NAME")
@options.output
@options.charts
def recommend(
    task: str, guideline: str, charts: str | None, format: str, output: str | None
) -> None:
    """Show the metrics that the paper recommends when there are no human scores.

    \b
    karat plane recommend --task summary --guideline coverage
    karat plane recommend --task qa --guideline strict --format json
    karat plane recommend --task mt --guideline fluency -o plane.svg
    """
    from karat.meta.plane.predictions import recommend as recommend_metrics
    from karat.report.documents.planes import regions_chart

    check_output(output)
    check_charts(charts)
    found = recommend_metrics(task, guideline)
    write_charts([regions_chart(found)], charts)
    show(found.document(options.command_line()), format, output)
