"""`karat plane`: which member of the AEv family fits which task and guideline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.cli import options
from karat.cli.command import Group, help_group
from karat.cli.inputs import SetInput
from karat.cli.parameters import option
from karat.cli.show import check_output, show, write_charts
from karat.errors import InputError
from karat.meta.settings import PlaneSettings
from karat.progress import Bar

if TYPE_CHECKING:
    from karat.meta.plane_study import Region
    from karat.metrics.ngram import AEv

_TASK = "Task: mt, paraphrase, qa, viewpoint-summary or summary."
_GUIDELINE = (
    "Guideline of the judges: adequacy, coverage, lenient, strict (or correctness, the paper's "
    "word) or fluency."
)


command = help_group(
    Group,
    "plane",
    """Choose the AEv metric that fits a task and a guideline.

    \b
    karat plane recommend --task mt --guideline fluency
    karat plane fit demo --dimension fluency
    """,
)


@command.command(name="fit")
@options.set_argument
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
@options.settings_options(PlaneSettings)
@options.output
@options.human_reader
@options.set_references
@options.charts
@options.threads
def fit(
    source: SetInput, charts: str | None, format: str, output: str | None, **settings: Any
) -> None:
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
    from karat.meta.plane_study import study_plane
    from karat.report.documents.planes import plane_chart

    metric = _family(settings.pop("base"))
    region = _region(*map(settings.pop, ("task", "guideline")))
    settings["references"], reader_options = options.numbered_references(
        settings["references"], source.reader_options
    )
    source = source._replace(reader_options=reader_options)
    source.check_output(output, charts=charts)
    with Bar() as progress:
        evalset = source.load(progress)
        study = study_plane(evalset, metric, region=region, progress=progress, **settings)
    write_charts([plane_chart(plane_fit, region) for plane_fit in study.fits], charts)
    show(study, format, output)


def _region(task: str | None, guideline: str | None) -> Region | None:
    from karat.meta.plane_study import predicted

    if task is None and guideline is None:
        return None
    if task is None or guideline is None:
        raise InputError("--task and --guideline go together: give both or neither")
    return predicted(task, guideline)


def _family(base: str) -> AEv:
    from karat.meta.plane import check_family
    from karat.metrics.names import metric
    from karat.metrics.ngram import AEv

    family = metric(base)
    if not isinstance(family, AEv):
        raise InputError(f"-m {base}: expected aev, as in -m aev:preset=paper")
    if (family.alpha, family.n) != (AEv().alpha, AEv().n):
        raise InputError(f"-m {base}: the plane covers all alpha and n; leave them out")
    check_family(family)
    return family


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
    from karat.meta.plane_study import recommend as recommend_metrics
    from karat.report.documents.planes import regions_chart

    check_output(output, charts=charts)
    recommendation = recommend_metrics(task, guideline)
    write_charts([regions_chart(recommendation)], charts)
    show(recommendation, format, output)
