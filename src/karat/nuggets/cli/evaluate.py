"""`karat nuggets evaluate`: nugget scores without assessors, against assessors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options

if TYPE_CHECKING:
    from karat.nuggets.guess.paper.paper import Paper
    from karat.nuggets.scores.idf_sources import IdfSource


@click.command(name="evaluate")
@click.argument("name", metavar="SET", shell_complete=nuggets_options.complete_nuggets)
@nuggets_options.places
@nuggets_options.judges
@nuggets_options.left_out
@click.option(
    "--beta", type=float, default=3.0, show_default=True, help="How much recall counts in F."
)
@nuggets_options.strictly
@nuggets_options.corrected(False)
@nuggets_options.paper_form
@options.output
def command(
    name: str,
    runs: tuple[str, ...],
    judgements: tuple[str, ...],
    skip_unknown: bool,
    judges: nuggets_options.JudgeOptions,
    by: str,
    institution: str | None,
    beta: float,
    strict: bool,
    corrected: bool,
    paper: Paper,
    idf: IdfSource,
    format: str,
    output: str | None,
) -> None:
    """Set Nuggeteer, Pourpre and ROUGE beside the assessors of a judged set.

    Precision, recall and F of decisions; Kendall's tau-b, R^2 and RMSE of runs' scores. Classifiers
    are cross-validated.

    \b
    karat nuggets evaluate demo-nuggets
    karat nuggets evaluate rag24 --leave-out question -o evaluation.html
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.evaluation import evaluate_nuggets

    check_output(output, (*runs, *judgements, *nuggets_options.files_of(idf)))
    with Bar() as progress:
        found = load_nuggets(
            name, runs, judgements, skip_unknown=skip_unknown, **judges, progress=progress
        )
        done = evaluate_nuggets(
            found,
            by,
            beta,
            paper=paper,
            idf=idf,
            institution=institution,
            corrected=corrected,
            strict=strict,
            progress=progress,
        )
    show(done.document(options.command_line()), format, output)
