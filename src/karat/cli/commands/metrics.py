"""`karat metrics`: the list of metrics, made from their classes."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.show import check_output, show


@click.command(name="metrics", cls=Command)
@click.argument("names", nargs=-1, metavar="[METRIC]...", shell_complete=options.complete_metric)
@options.output
def command(names: tuple[str, ...], format: str, output: str | None) -> None:
    """List the metrics, their settings and what the settings mean.

    \b
    karat metrics
    karat metrics aev bleu
    karat metrics --format json
    """
    from karat.metrics.names import list_metrics

    check_output(output)
    show(list_metrics(*names).document(options.command_line()), format, output)
