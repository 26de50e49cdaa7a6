"""`karat meta fit`: human scores as a sum of metrics."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.inputs import load_set
from karat.cli.parameters import choice, option
from karat.cli.show import check_beside, check_output, show


@click.command(name="meta fit", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option(
    "-m --metric metrics",
    "Term of the fit: METRIC, or METRIC@PART for a part of its score, such as "
    "wer@substitutions. Repeat for several.",
    multiple=True,
    required=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.dimensions
@option(
    "-l --level",
    "Level of the scores: single outputs (segment) or systems.",
    choice("segment", "system"),
    "segment",
)
@options.output
@options.reader
@options.judged
@options.exclude
@options.normalise
@options.threads
def command(
    name: str,
    read_as: str | None,
    reader_options: tuple[str, ...],
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Fit human scores to metrics by ordinary least squares.

    Shows each coefficient with its standard error, t and p, the R2 of the fit, and its
    cross-validated errors when outputs, segments or systems are left out. Use -o fit.html for a
    plot of predicted against human scores. A fit of simple_tree_accuracy and
    simple_tree_accuracy@substitutions also shows the published coefficients for understandability
    and quality.

    \b
    karat meta fit demo -m bleu -m ter -d fluency
    karat meta fit demo -m wer -m wer@substitutions --normalise z -o fit.html
    """
    from karat.meta.fit import fit_scores

    added = [settings.pop(key) for key in ("judgements", "model_judges")]
    check_output(output, added[0])
    check_beside(output, name)
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress, *added)
        found = fit_scores(evalset, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)
