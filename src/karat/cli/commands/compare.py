"""`karat compare`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.inputs import Given
from karat.cli.parameters import option, whole
from karat.cli.show import show
from karat.cli.tables import (
    TableOptions,
    are_tables,
    buckets,
    check_tables,
    table_options,
    tables_of,
)


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
def command(
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
