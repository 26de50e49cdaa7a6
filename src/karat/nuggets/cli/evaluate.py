"""`karat nuggets evaluate`: nugget scores without assessors, against assessors."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="evaluate", cls=nuggets_options.WithClassifiers)
@nuggets_options.nugget_set
@nuggets_options.places
@nuggets_options.trying
@options.output
@nuggets_options.beta
def command(name: str, given: Any, how: Any, format: str, output: str | None, beta: float) -> None:
    """Compare Nuggeteer, Pourpre and ROUGE with the assessors of a judged set.

    Shows precision, recall and F of the decisions, and Kendall's tau-b, R^2 and RMSE of the scores
    of runs. Classifiers are cross-validated.

    \b
    karat nuggets evaluate demo-nuggets
    karat nuggets evaluate rag24 --leave-out question -o evaluation.html
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.evaluation import evaluate_nuggets

    idf = nuggets_options.files_of(how["classifier"])
    check_output(output, (*given["runs"], *given["judgements"], *idf))
    with Bar() as progress:
        found = load_nuggets(name, **given, progress=progress)
        done = evaluate_nuggets(found, **how, beta=beta, progress=progress)
    show(done.document(options.command_line()), format, output)
