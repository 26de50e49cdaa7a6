"""`karat score`, `compare`, `merge` and `metrics`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import Given
from karat.cli.parameters import COMMON, OUTPUT, choice, flag, option, whole
from karat.cli.show import check_output, say, show
from karat.cli.tables import (
    TableOptions,
    are_tables,
    buckets,
    check_tables,
    table_options,
    tables_of,
)
from karat.errors import InputError
from karat.progress import Bar

if TYPE_CHECKING:
    from karat.metrics.base import Metric
    from karat.report.model.table import Document
    from karat.results import Result
    from karat.scoring import Scoring


class Layout(NamedTuple):
    """The options that say what is shown."""

    worst: int | None
    best: int | None
    sort: str | None
    wide: bool

    @property
    def ranks(self) -> bool:
        """True if segments are ranked."""
        return (self.worst, self.best, self.sort) != (None, None, None)

    def check(self, **others: bool) -> None:
        """Refuse other options that do not go with these."""
        names = {f"--{name.replace('_', '-')}": given for name, given in others.items()}
        shows = "--worst, --best and --sort show segments" if self.ranks else "--wide shows systems"
        refused = [*names, "--wide"] if self.ranks else ["--segments"] if self.wide else []
        for name in refused:
            if names.get(name, self.wide):
                raise InputError(f"{shows}: leave out {name}")

    def of(self, found: Scoring) -> Result:
        """Return what is shown; all segments if no number of them was given."""
        if not self.ranks:
            return found.wide() if self.wide else found
        worst = self.worst or 0
        if self.worst is None and self.best is None:
            worst = max(map(len, found.values.values()))
        return found.ranked(worst=worst, best=self.best or 0, by=self.sort)


def layout_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--worst`, `--best`, `--sort` and `--wide`: `layout`."""

    @wraps(function)
    def called(**more: Any) -> Any:
        return function(layout=Layout(*(more.pop(name) for name in Layout._fields)), **more)

    told = "Show the N {} segments of each system, with their texts."
    sort = (
        "Metric that ranks the segments. Default: the first. Without --worst or --best, show all."
    )
    found = options.wide(called)
    found = option("--sort", sort, metavar="METRIC", heading=OUTPUT)(found)
    found = option("--best", told.format("best"), whole(1), heading=OUTPUT)(found)
    return option("--worst", told.format("worst"), whole(1))(found)


@click.command(name="score", cls=Command)
@options.texts
@options.metrics
@options.interval_resamples
@flag("--segments", "Show the score of every segment.")
@option(
    "--level",
    "Show the scores of each `document` of a set or of SGML files, or of each `segment`.",
    choice("system", "segment", "document"),
    "system",
    heading=OUTPUT,
)
@layout_options
@options.output
@table_options(sharded=True)
@options.seed
@buckets
@options.signature
@flag("--signature-only", "Print the signatures without scoring.", heading=OUTPUT)
@options.threads
def score_command(
    given: Given,
    table: TableOptions,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    signature_only: bool,
    layout: Layout,
    level: str,
    **settings: Any,
) -> None:
    """Score the output of systems against references.

    CANDIDATE is a UTF-8 file with one segment per line (.gz is fine, - is standard input). The
    system gets the name of the file, or NAME in NAME=FILE. CANDIDATE can also be a table (.parquet,
    .csv, .tsv, .jsonl) with columns of candidates and references; several tables are several
    systems, unless --by names a column of systems.

    \b
    karat score out.txt -r ref.txt
    karat score out.txt -r ref1.txt -r ref2.txt -m bleu -m chrf++ --resamples 1000
    karat score a.txt b.txt -r ref.txt -m rouge2:stem=porter-nltk --format json
    karat score out.txt -r ref.txt -m bleu --segments --format tsv
    karat score out.txt -r ref.txt --worst 10 --sort chrf
    karat score --set demo -m bleu -m chrf
    karat score --set demo -m gtm --level document
    karat score data.parquet --candidate output -r reference --by system
    """
    from karat.scoring import as_metrics, score

    chosen = as_metrics([*(metrics or options.DEFAULT_METRICS), *filter(None, [layout.sort])])
    settings["segments"] = settings["segments"] or level == "segment"
    others = {name: bool(settings[name]) for name in ("segments", "resamples")}
    layout.check(**others, signature_only=signature_only)
    if level == "document":
        _check_documents(settings, layout)
    if are_tables(given, table):
        if level == "document":
            raise InputError("--level document does not work with tables: they have no documents")
        shown = _table(given, table, chosen, output, signature_only, layout, **settings)
        show(shown, format, output)
        return
    given.check(output, [file for m in chosen for file in m.input_files()])
    if settings["segments"] and settings["resamples"]:
        raise InputError("--segments shows no intervals: leave out --resamples or --segments")
    if signature_only:
        if level == "document":
            chosen = [m.of_documents() for m in chosen]
        show_signatures(chosen, given.number(), format, output, **settings)
        return
    with Bar() as progress:
        settings["segments"] = settings["segments"] or layout.ranks
        settings["level"] = level if level == "document" else "system"
        found = score(*given.open(chosen, progress), chosen, progress=progress, **settings)
    show(layout.of(found).document(options.command_line()), format, output)


def _check_documents(settings: dict[str, Any], layout: Layout) -> None:
    """Refuse options that scores of documents do not have."""
    names = {
        "--segments": settings["segments"],
        "--resamples": settings["resamples"],
        "--worst, --best and --sort": layout.ranks,
        "--wide": layout.wide,
    }
    for name, is_given in names.items():
        if is_given:
            raise InputError(f"--level document shows the scores of documents: leave out {name}")


def _table(
    given: Given,
    table: TableOptions,
    metrics: list[Metric],
    output: str | None,
    signature_only: bool,
    layout: Layout,
    **settings: Any,
) -> Document:
    """Score a table, or a part of it."""
    from karat.arrow.shard_runs import write_shards
    from karat.arrow.table_scores import score_table

    check_tables(given, output, table)
    if signature_only:
        raise InputError("--signature-only does not work with tables: leave it out")
    if settings.pop("segments"):
        raise InputError(
            "--segments does not work with tables: use --rows FOLDER to write row scores"
        )
    how = table.settings(given)
    with Bar() as progress:
        if table.shard is None:
            all_of = {**how, **settings, "segments": layout.ranks}
            scored = score_table(tables_of(given), metrics, progress=progress, **all_of)
            return cast("Document", layout.of(scored).document(options.command_line()))
        if layout.ranks or layout.wide:
            told = "--worst, --best, --sort and --wide"
            raise InputError(f"--shard scores only a part of a table: leave out {told}")
        if table.shards is None:
            raise InputError("--shard needs a folder for its results: add --shards FOLDER")
        if settings["resamples"]:
            told = "use karat merge FOLDER --resamples N"
            raise InputError(f"--shard does not compute intervals: {told}")
        kept = {name: settings[name] for name in ("buckets", "threads")}
        done = write_shards(
            tables_of(given), metrics, shard=table.shard, progress=progress, **how, **kept
        )
    return cast("Document", done.document(options.command_line()))


def show_signatures(
    metrics: list[Metric], references: int | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show the signatures, bare lines for people and a table for everything else."""
    from karat.report.documents.scores import signature_document, with_form
    from karat.scoring import interval_fields

    how = interval_fields(settings["resamples"], settings["seed"], settings["buckets"])
    signature = settings["signature"]
    shown = dict.fromkeys(m.of_segments() for m in metrics) if settings["segments"] else metrics
    for metric in shown:
        metric.check_claims(references, how)
    signatures = {str(metric): metric.signature(references, signature, how) for metric in shown}
    document = with_form(signature_document(signatures, options.command_line()), signature)
    if format == "text":
        say((f"{line}\n" for line in document.signatures.values()), output)
    else:
        show(document, format, output)


@click.command(name="compare", cls=Command)
@options.texts
@options.metrics
@option(
    "--baseline",
    "System to compare the others with. Default: the first.",
    metavar="NAME",
)
@options.test
@option(
    "--examples",
    "Show the N segments where each system differs most from the baseline.",
    whole(min=0),
    3,
)
@options.output
@table_options(sharded=False)
@options.comparison_resamples
@options.trials
@options.seed
@buckets
@options.wide
@options.signature
@options.threads
def compare_command(
    given: Given,
    table: TableOptions,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    wide: bool,
    **settings: Any,
) -> None:
    """Compare systems with a baseline.

    Shows scores with 95% intervals, differences, p-values and the segments that differ most.
    CANDIDATE is a UTF-8 file with one segment per line (.gz is fine, - is standard input). The
    system gets the name of the file, or NAME in NAME=FILE. CANDIDATE can also be a table (.parquet,
    .csv, .tsv, .jsonl) with columns of candidates, references, systems and ids; several tables are
    several systems, unless --by names a column of systems.

    \b
    karat compare a.txt b.txt c.txt -r ref.txt --baseline a
    karat compare old=v1.txt new=v2.txt -r ref.txt -m bleu --test randomization
    karat compare a.txt b.txt -r ref.txt -o report.html
    karat compare atlas beacon --set demo
    karat compare data.parquet --by system --id segment --baseline A
    """
    from karat.comparison import compare
    from karat.scoring import as_metrics

    settings = options.tested(settings)
    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    if are_tables(given, table):
        from karat.arrow.table_scores import compare_table

        check_tables(given, output, table)
        with Bar() as progress:
            how = {**table.settings(given), **settings}
            compared = compare_table(tables_of(given), chosen, progress=progress, **how)
        shown = compared.wide() if wide else compared
        show(shown.document(options.command_line()), format, output)
        return
    given.check(output, [file for m in chosen for file in m.input_files()])
    with Bar() as progress:
        found = compare(*given.open(chosen, progress), chosen, progress=progress, **settings)
    shown = found.wide() if wide else found
    show(shown.document(options.command_line()), format, output)


@click.command(name="merge", cls=Command)
@click.argument("shards", nargs=-1, required=True, type=click.Path(), metavar="SHARDS...")
@options.resampling(
    "Add 95% intervals from N bootstrap resamples; with --compare, also the resamples of the "
    "bootstrap test.",
    None,
    heading=COMMON,
    old="--bootstrap",
)
@flag("--compare", "Compare the systems with a baseline.")
@option(
    "--baseline",
    "System to compare the others with. Default: the first by name.",
    metavar="NAME",
)
@options.test
@options.trials
@options.seed
@options.output
@options.signature
def merge_command(
    shards: tuple[str, ...],
    compare: bool,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Merge the shards of a table and show its scores.

    SHARDS are folders that `karat score --shards` wrote, or files in them.

    \b
    karat score data.parquet --by system --id id --shards parts --shard 3/16
    karat merge parts
    karat merge parts --resamples 1000
    karat merge parts --compare --baseline A
    """
    from karat.arrow.shards import merge_shards, shard_files

    check_output(output, shard_files(shards))
    settings = options.tested(settings)
    tested = {name: settings.pop(name) for name in ("baseline", "test", "trials", "resamples")}
    if not compare and tested["baseline"] is not None:
        raise InputError("--baseline needs --compare: add it")
    with Bar() as progress:
        merged = merge_shards(shards)
        if compare:
            found: Any = merged.compare(**tested, **settings, progress=progress)
        else:
            found = merged.score(tested["resamples"] or 0, **settings, progress=progress)
    show(found.document(options.command_line()), format, output)


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
    from karat.metrics.catalogue import list_metrics

    check_output(output)
    show(list_metrics(*names).document(options.command_line()), format, output)
