"""`karat compare`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import Given
from karat.cli.parameters import choice, option, whole
from karat.cli.show import show
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
@options.output
@options.threads
@options.signature
def command(
    given: Given, metrics: tuple[str, ...], format: str, output: str | None, **settings: Any
) -> None:
    """Compare systems: scores with 95% intervals, differences, p-values, and where they differ.

    CANDIDATE is a UTF-8 file (.gz too, - for standard input), named after the file or as NAME=FILE.

    \b
    karat compare a.txt b.txt c.txt -r ref.txt --baseline a
    karat compare old=v1.txt new=v2.txt -r ref.txt -m bleu --test randomization
    karat compare a.txt b.txt -r ref.txt --format html --output report.html
    karat compare atlas beacon --set demo
    """
    from karat.comparison import compare
    from karat.scoring import as_metrics

    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    given.check(output)
    with Bar() as progress:
        found = compare(*given.open(progress), chosen, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)
