"""`karat score`, `compare`, `merge` and `metrics`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import (
    InputFiles,
    TableOptions,
    choose_metrics,
    read_labels,
    table_paths,
)
from karat.cli.parameters import bundle, flag, integer, option, path
from karat.cli.show import check_output, command_line, say, show
from karat.errors import InputError
from karat.headings import OUTPUT, TESTS
from karat.meta.settings import RaterPlanSettings
from karat.progress import Bar
from karat.score_settings import (
    DEFAULT_METRICS,
    ComparisonSettings,
    PowerSettings,
    ScoreSettings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from karat.meta.rater_plan import RaterPlan
    from karat.metrics.base import Metric
    from karat.results import Result
    from karat.scoring import Scoring


class ScoreView(NamedTuple):
    """View of the scores: all scores, a wide table, or the best and worst segments."""

    worst: int | None
    best: int | None
    sort: str | None
    wide: bool

    @property
    def ranks_segments(self) -> bool:
        """Whether segments are ranked."""
        return (self.worst, self.best, self.sort) != (None, None, None)

    def check(self, level: str, **conflicting: bool) -> None:
        """Reject conflicting options; `conflicting` says by name which options are given."""
        used = {f"--{name.replace('_', '-')}": value for name, value in conflicting.items()}
        used["--wide"] = self.wide
        if self.ranks_segments:
            purpose, rejected = "--worst, --best and --sort show segments", list(used)
        else:
            purpose, rejected = "--wide shows systems", ["--segments"] if self.wide else []
        for name in rejected:
            if used[name]:
                raise InputError(f"{purpose}: leave out {name}")
        if level == "document":
            used["--worst, --best and --sort"] = self.ranks_segments
            for name in ("--segments", "--intervals", "--worst, --best and --sort", "--wide"):
                if used[name]:
                    raise InputError(
                        f"--level document shows the scores of documents: leave out {name}"
                    )

    def apply(self, scoring: Scoring) -> Result:
        """Return the scores to show; with --sort alone, all segments."""
        if not self.ranks_segments:
            return scoring.wide() if self.wide else scoring
        worst = self.worst or 0
        if self.worst is None and self.best is None:
            worst = max(map(len, scoring.values.values()))
        return scoring.ranked(worst=worst, best=self.best or 0, by=self.sort)


_RANKED = "Show the N {} segments of each system, with their texts."
_view_options = bundle(
    "view",
    option("--worst", _RANKED.format("worst"), integer(1)),
    option("--best", _RANKED.format("best"), integer(1), heading=OUTPUT),
    option(
        "--sort",
        "Metric that ranks the segments. Default: the first. Without --worst or --best, show all.",
        metavar="METRIC",
        heading=OUTPUT,
    ),
    options.wide,
    make=ScoreView,
)


@click.command(name="score", cls=Command)
@options.texts
@options.metrics
@options.settings_options(ScoreSettings)
@_view_options
@options.output
@options.sharded_tables
@options.signature
@flag("--signature-only", "Print the signatures without scoring.", heading=OUTPUT)
@options.threads
def score_command(
    inputs: InputFiles,
    table: TableOptions,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    signature_only: bool,
    view: ScoreView,
    level: str,
    **settings: Any,
) -> None:
    """Score the output of systems against references.

    CANDIDATE is a UTF-8 file with one segment per line (.gz is fine, - is standard input), a table
    (CSV, JSON, parquet, XLSX, an export of another tool) or a set. A system gets the name of its
    file, or NAME in NAME=FILE. Several tables are several systems, unless --by names a column of
    systems.

    \b
    karat score out.txt -r ref.txt
    karat score out.txt -r ref1.txt -r ref2.txt -m bleu -m chrf++ --intervals
    karat score a.txt b.txt -r ref.txt -m rouge2:stem=porter-nltk --format json
    karat score out.txt -r ref.txt -m bleu --segments --format tsv
    karat score out.txt -r ref.txt --worst 10 --sort chrf
    karat score --set demo -m bleu -m chrf
    karat score --set demo -m gtm --level document
    karat score outputs.csv -m chrf
    karat score data.parquet --candidate output -r reference --by system
    """
    from karat.api import score

    inputs = table.resolve(inputs, settings["units"], metrics=metrics)
    sorted_by = [] if view.sort is None else [view.sort]
    parsed = inputs.load_metrics([*(metrics or DEFAULT_METRICS), *sorted_by])
    segments = settings["segments"] = settings["segments"] or level == "segment"
    intervals = settings["intervals"]
    view.check(level, segments=segments, intervals=intervals, signature_only=signature_only)
    if table.are_tables(inputs):
        if level == "document":
            raise InputError("--level document does not work with streamed tables: leave it out")
        if signature_only:
            raise InputError("--signature-only does not work with streamed tables: leave it out")
        table.check_output(inputs, output)
        show(_score_tables(inputs, table, parsed, view, **settings), format, output)
        return
    inputs.check(output, parsed)
    if segments and intervals:
        raise InputError("--segments shows no intervals: leave out --intervals or --segments")
    if not intervals and (settings["units"] is not None or inputs.unit_labels is not None):
        raise InputError("--unit and --units change only intervals: add --intervals")
    if signature_only:
        if inputs.evalset is not None:
            parsed = inputs.load_metrics(choose_metrics(metrics, parsed, inputs.open(parsed)[0])[0])
        if level == "document":
            parsed = [metric.of_documents() for metric in parsed]
        show_signatures(parsed, inputs, format, output, **settings)
        return
    settings["segments"] = segments or view.ranks_segments
    settings["level"] = level if level == "document" else "system"
    with Bar() as progress:
        systems, references = inputs.open(parsed, progress)
        settings["units"] = inputs.units(settings["units"], systems)
        chosen = choose_metrics(metrics, parsed, systems, sorted_by)
        scoring = score(systems, references, chosen.metrics, progress=progress, **settings)
    scoring = replace(scoring, remarks=(*chosen.remarks, *scoring.remarks))
    show(view.apply(scoring), format, output)


def _score_tables(
    inputs: InputFiles,
    table: TableOptions,
    metrics: list[Metric],
    view: ScoreView,
    segments: bool,
    **settings: Any,
) -> Result:
    """Score tables, or one shard of them."""
    from karat.arrow.table_scores import score_table, write_shards

    if segments:
        raise InputError(
            "--segments does not work with streamed tables: use --rows FOLDER to write row scores"
        )
    paths, settings = table_paths(inputs), {**table.settings(inputs), **settings}
    if table.shard is None:
        with Bar() as progress:
            settings["segments"] = view.ranks_segments
            scoring = score_table(paths, metrics, progress=progress, **settings)
        if view.ranks_segments and not scoring.values:
            problem = "--worst, --best and --sort show single segments, and ids repeat"
            raise InputError(f"{problem}: use --rows FOLDER to write the scores of all rows")
        return view.apply(scoring)
    if view.ranks_segments or view.wide:
        advice = "leave out --worst, --best, --sort and --wide"
        raise InputError(f"--shard scores only a part of a table: {advice}")
    if table.shards is None:
        raise InputError("--shard needs a folder for its results: add --shards FOLDER")
    if settings["intervals"]:
        advice = "use karat merge FOLDER --intervals"
        raise InputError(f"--shard does not compute intervals: {advice}")
    for name in ("intervals", "signature"):
        del settings[name]
    with Bar() as progress:
        return write_shards(paths, metrics, shard=table.shard, progress=progress, **settings)


def show_signatures(
    metrics: list[Metric], inputs: InputFiles, format: str, output: str | None, **settings: Any
) -> None:
    """Show the signatures: one per line as text, a table in other formats."""
    from karat.report.documents.scores import note_signature_form, signature_document
    from karat.scoring import make_inputs, plan_inference

    references, interval = inputs.n_references(), {}
    if settings["intervals"]:
        systems, texts = inputs.open(metrics)
        units = inputs.units(settings["units"], systems)
        planned = plan_inference(make_inputs(systems, texts, metrics), units, settings["buckets"])
        interval = planned.fields()
    form = settings["signature"]
    if settings["segments"]:
        metrics = list(dict.fromkeys(metric.of_segments() for metric in metrics))
    for metric in metrics:
        metric.check_claims(references, interval)
    signatures = {str(metric): metric.signature(references, form, interval) for metric in metrics}
    document = note_signature_form(signature_document(signatures, command_line()), form)
    if format == "text":
        say((f"{line}\n" for line in signatures.values()), output)
    else:
        show(document, format, output)


@click.command(name="compare", cls=Command)
@options.texts
@options.metrics
@options.settings_options(ComparisonSettings)
@options.limit(
    "--margin",
    "Largest difference that does not matter: shows which systems are equivalent or no worse.",
    heading=TESTS,
)
@option(
    "--slices slice_file",
    "File with the label of each segment's slice, a line each, to compare within slices.",
    path,
    heading=TESTS,
)
@option(
    "--examples",
    "Show the N segments where each system differs most from the baseline.",
    integer(min=0),
    3,
)
@options.output
@options.tables
@options.wide
@options.signature
@options.threads
def compare_command(
    inputs: InputFiles,
    table: TableOptions,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    wide: bool,
    slice_file: str | None,
    **settings: Any,
) -> None:
    """Compare systems with a baseline.

    Shows scores with 95% intervals, differences, p-values and the segments that differ most.
    CANDIDATE is a UTF-8 file with one segment per line (.gz is fine, - is standard input), a table
    (CSV, JSON, parquet, XLSX, an export of another tool) or a set. A system gets the name of its
    file, or NAME in NAME=FILE. Several tables are several systems, unless --by names a column of
    systems.

    \b
    karat compare a.txt b.txt c.txt -r ref.txt --baseline a
    karat compare old=v1.txt new=v2.txt -r ref.txt -m bleu --correction none
    karat compare a.txt b.txt -r ref.txt --slice length -o report.html
    karat compare atlas beacon --set demo
    karat compare runs.xlsx
    karat compare data.parquet --by system --id segment --baseline A
    """
    from karat.api import compare

    inputs = table.resolve(inputs, settings["units"], settings["slices"], metrics)
    parsed = inputs.load_metrics(metrics or DEFAULT_METRICS)
    if slice_file is not None and settings["slices"] is not None:
        raise InputError("--slice and --slices exclude each other: leave out one")
    with Bar() as progress:
        if table.are_tables(inputs):
            from karat.arrow.table_scores import compare_table

            if slice_file is not None:
                raise InputError("--slices is for text: name a column of the table with --slice")
            table.check_output(inputs, output)
            settings = {**table.settings(inputs), **settings}
            kind = settings.pop("kind")
            comparison = compare_table(table_paths(inputs), parsed, progress=progress, **settings)
            comparison = replace(comparison, kind=kind)
        else:
            inputs.check(output, parsed)
            if slice_file is not None:
                check_output(output, [slice_file])
            systems, references = inputs.open(parsed, progress)
            settings["units"] = inputs.units(settings["units"], systems)
            if slice_file is not None:
                settings["slices"] = read_labels(slice_file, systems, "slice")
            chosen = choose_metrics(metrics, parsed, systems)
            comparison = compare(systems, references, chosen.metrics, progress=progress, **settings)
            remarks = (*chosen.remarks, *comparison.remarks)
            comparison = replace(comparison, remarks=remarks)
    show(comparison.wide() if wide else comparison, format, output)


@click.command(name="power", cls=Command)
@options.texts
@options.metrics
@options.limit("--difference", "Difference that matters.")
@options.settings_options(PowerSettings)
@option(
    "--ratings dimension",
    "Plan ratings by people instead, from those of SET in a dimension: raters, items and raters of "
    "each item that rank systems alike when a study is repeated.",
    metavar="NAME",
)
@options.settings_options(RaterPlanSettings, "raters", "items", "overlap")
@options.output
@options.threads
def power_command(
    inputs: InputFiles,
    metrics: tuple[str, ...],
    dimension: str | None,
    raters: tuple[int, ...],
    items: tuple[int, ...],
    overlap: tuple[int, ...],
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Plan how many units a comparison needs, from a pilot run.

    Shows the smallest difference that as many units as the pilot's can find, and for a difference
    that matters the units that it needs. CANDIDATE is a text file, a table or a set, as for `karat
    compare`. With --ratings, plan how many raters and items a study with people needs.

    \b
    karat power a.txt b.txt -r ref.txt -m bleu
    karat power a.txt b.txt -r ref.txt -m bleu --difference bleu=0.5
    karat power --set demo -m bleu --difference 1 --power 0.9
    karat power --set demo --ratings adequacy --raters 3,6 --items 50,100
    """
    from karat.power_analysis import power

    design = {"raters": raters, "items": items, "overlap": overlap}
    if dimension is not None:
        _check_unused_options(settings)
        inputs.check(output)
        show(_rater_plan(inputs, metrics, dimension, design), format, output)
        return
    if design != {name: getattr(RaterPlanSettings, name) for name in design}:
        raise InputError("--raters, --items and --overlap need --ratings NAME: add it")
    inputs = TableOptions().resolve(inputs, settings["units"], streams=False)
    parsed = inputs.load_metrics(metrics or DEFAULT_METRICS)
    inputs.check(output, parsed)
    with Bar() as progress:
        systems, references = inputs.open(parsed, progress)
        settings["units"] = inputs.units(settings["units"], systems)
        chosen = choose_metrics(metrics, parsed, systems)
        analysis = power(systems, references, chosen.metrics, progress=progress, **settings)
    analysis = replace(analysis, remarks=chosen.remarks)
    show(analysis, format, output)


def _check_unused_options(settings: Mapping[str, Any]) -> None:
    """Reject options of a plan for metrics, beside --ratings."""
    for name, value in settings.items():
        is_set = value and value != getattr(PowerSettings, name, None)
        if is_set and name != "threads":
            option_name = "--unit" if name == "units" else f"--{name}"
            raise InputError(f"{option_name} plans metrics, --ratings plans ratings: drop one")


def _rater_plan(
    inputs: InputFiles, metrics: tuple[str, ...], dimension: str, design: Mapping[str, Any]
) -> RaterPlan:
    """Return the stable ranking probabilities of studies with people."""
    from karat.meta.rater_plan import plan_raters

    if inputs.evalset is None or inputs.candidates or metrics:
        raise InputError("--ratings is for all systems of a set: use --set alone, without -m")
    with Bar() as progress:
        return plan_raters(inputs.evalset.load(progress), dimension, **design)


@click.command(name="merge", cls=Command)
@click.argument("shards", nargs=-1, required=True, type=click.Path(), metavar="SHARDS...")
@options.settings_options(ScoreSettings, "intervals", "units")
@flag("--compare", "Compare the systems with a baseline.")
@option(
    "--baseline", "System to compare the others with. Default: the first by name.", metavar="NAME"
)
@options.settings_options(ComparisonSettings, "correction", "test", "trials", "seed")
@options.output
@options.signature
def merge_command(
    shards: tuple[str, ...], compare: bool, format: str, output: str | None, **settings: Any
) -> None:
    """Merge the shards of a table and show its scores.

    SHARDS are folders that `karat score --shards` wrote, or files in them.

    \b
    karat score data.parquet --by system --id id --shards parts --shard 3/16
    karat merge parts
    karat merge parts --intervals
    karat merge parts --compare --baseline A
    """
    from karat.arrow.shards import merge_shards, shard_files

    check_output(output, shard_files(shards))
    names = ("baseline", "correction", "test", "trials", "seed")
    test = {name: settings.pop(name) for name in names}
    if not compare and test["baseline"] is not None:
        raise InputError("--baseline needs --compare: add it")
    with Bar() as progress:
        merged = merge_shards(shards, settings.pop("units"))
        result: Result
        if compare:
            del settings["intervals"]
            result = merged.compare(**test, **settings, progress=progress)
        else:
            result = merged.score(**settings)
    show(result, format, output)


@click.command(name="metrics", cls=Command)
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=options.complete_metric)
@options.output
def metrics_command(names: tuple[str, ...], format: str, output: str | None) -> None:
    """List the metrics, their settings and what the settings mean.

    \b
    karat metrics
    karat metrics aev bleu
    karat metrics --format json
    """
    from karat.metrics.names import list_metrics

    check_output(output)
    show(list_metrics(*names), format, output)
