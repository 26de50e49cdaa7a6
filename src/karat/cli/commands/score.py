"""`karat score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.inputs import Given
from karat.cli.layout import Layout
from karat.cli.layout import layout as layout_options
from karat.cli.parameters import OUTPUT, choice, flag, option
from karat.cli.show import say, show
from karat.cli.tables import (
    TableOptions,
    are_tables,
    buckets,
    check_tables,
    table_options,
    tables_of,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.metrics.base import Metric
    from karat.report.model import Document


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
def command(
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
