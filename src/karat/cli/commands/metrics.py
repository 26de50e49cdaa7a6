"""`karat metrics`: the list of metrics, made from their classes."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.show import check_output, show


@click.command(name="metrics")
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=options.complete_metric)
@options.output
def command(names: tuple[str, ...], format: str, output: str | None) -> None:
    """List the metrics with their settings and what they mean.

    \b
    karat metrics
    karat metrics aev bleu
    karat metrics --format json
    """
    from karat.report.documents.catalogue import catalogue

    check_output(output)
    show(catalogue(names, options.command_line()), format, output)
