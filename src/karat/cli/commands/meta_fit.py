"""`karat meta fit`: human scores as a sum of metrics."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import load_set
from karat.cli.parameters import choice, option
from karat.cli.show import check_beside, check_output, show


@click.command(name="meta fit")
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@options.reader
@option(
    "-m --metric metrics",
    "A term of the fit: a metric, or METRIC@PART for a number that its score is made of; repeat "
    "for several.",
    multiple=True,
    required=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.dimensions
@option("-l --level", "What a point is.", choice("segment", "system"), "segment")
@options.normalise
@options.exclude
@options.output
@options.threads
def command(
    name: str,
    read_as: str | None,
    reader_options: tuple[str, ...],
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Fit human scores by metrics: ordinary least squares.

    Each coefficient has its standard error, t and p; the fit has its R2, and its errors on outputs,
    segments and systems that were left out. A page (-o fit.html) has predictions against human
    scores. A fit by simple tree accuracy and its substitutions has the published coefficients for
    understandability and quality beside its own.

    \b
    karat meta fit demo -m bleu -m ter -d fluency
    karat meta fit demo -m wer -m wer@substitutions --normalise z -o fit.html
    """
    from karat.meta.fit import fit_scores

    check_output(output)
    check_beside(output, name)
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress)
        found = fit_scores(evalset, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)
