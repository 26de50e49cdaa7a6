"""`karat compare`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import Given
from karat.cli.parameters import choice, option, whole
from karat.cli.show import show
from karat.cli.tables import TableOptions, are_tables, buckets, check_tables, table_options
from karat.trials import MOST_TRIALS


@click.command(name="compare")
@options.texts
@options.metrics
@option("--baseline", "The system to compare with (default: the first).", metavar="NAME")
@option("--test", "The paired test.", choice("bootstrap", "randomization"), "bootstrap")
@option(
    "--trials",
    "Trials of the test (default: 1000 for bootstrap, 10000 for randomization).",
    whole(1, MOST_TRIALS),
)
@option(
    "--resamples",
    "Bootstrap resamples for the intervals of --test randomization (default: 1000).",
    whole(1, MOST_TRIALS),
)
@option(
    "--examples",
    "Show the N segments on which each system differs most from the baseline.",
    whole(min=0),
    3,
    metavar="N",
)
@options.seed
@buckets
@table_options(sharded=False)
@options.wide
@options.output
@options.threads
@options.signature
def command(
    given: Given,
    table: TableOptions,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    wide: bool,
    **settings: Any,
) -> None:
    """Compare systems: scores with 95% intervals, differences, p-values, and where they differ.

    CANDIDATE is a UTF-8 file (.gz too, - for standard input), named after the file or as NAME=FILE;
    or a table (.parquet, .csv, .tsv, .jsonl) with columns of candidates, references, systems, ids.

    \b
    karat compare a.txt b.txt c.txt -r ref.txt --baseline a
    karat compare old=v1.txt new=v2.txt -r ref.txt -m bleu --test randomization
    karat compare a.txt b.txt -r ref.txt --format html --output report.html
    karat compare atlas beacon --set demo
    karat compare data.parquet --by system --id segment --baseline A
    """
    from karat.comparison import compare
    from karat.scoring import as_metrics

    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    if are_tables(given, table):
        from karat.arrow.table_scores import compare_table

        check_tables(given, output, table)
        with Bar() as progress:
            how = {**table.settings(given), **settings}
            compared = compare_table(given.candidates, chosen, progress=progress, **how)
        shown = compared.wide() if wide else compared
        show(shown.document(options.command_line()), format, output)
        return
    given.check(output, [file for m in chosen for file in m.input_files()])
    with Bar() as progress:
        found = compare(*given.open(chosen, progress), chosen, progress=progress, **settings)
    shown = found.wide() if wide else found
    show(shown.document(options.command_line()), format, output)
