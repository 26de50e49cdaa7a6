"""`karat nuggets tune`: the 24 settings of the paper's classifier, cross-validated."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="tune", cls=nuggets_options.WithClassifiers)
@nuggets_options.nugget_set
@nuggets_options.places
@nuggets_options.trying
@options.output
def command(name: str, given: Any, how: Any, format: str, output: str | None) -> None:
    """Cross-validate the 24 settings of Nuggeteer's classifier.

    The settings are stemming, n-grams up to 1, 2 or 3, weights by idf or counts, and stop words.
    Thresholds are chosen without the fold that is left out. Also compares the threshold models.

    \b
    karat nuggets tune demo-nuggets
    karat nuggets tune rag24 --classifier paper:normalised=yes,once=yes
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.evaluation import tune_nuggets

    idf = nuggets_options.files_of(how["classifier"])
    check_output(output, (*given["runs"], *given["judgements"], *idf))
    with Bar() as progress:
        found = load_nuggets(name, **given, progress=progress)
        done = tune_nuggets(found, **how, progress=progress)
    show(done.document(options.command_line()), format, output)
