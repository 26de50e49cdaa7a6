"""`karat nuggets tune`: the 24 settings of the paper's classifier, cross-validated."""

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


@click.command(name="tune")
@click.argument("name", metavar="SET", shell_complete=nuggets_options.complete_nuggets)
@nuggets_options.places
@nuggets_options.judges
@nuggets_options.left_out
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
    strict: bool,
    corrected: bool,
    paper: Paper,
    idf: IdfSource,
    format: str,
    output: str | None,
) -> None:
    """Cross-validate the 24 settings of Nuggeteer's classifier.

    Stemming, n-grams up to 1, 2 or 3, idf or counts, stop words; thresholds are chosen without the
    fold that is left out. Also says which threshold model the data favour, and how each does.

    \b
    karat nuggets tune demo-nuggets
    karat nuggets tune rag24 --leave-out question --normalised --once
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.evaluation import tune_nuggets

    check_output(output, (*runs, *judgements, *nuggets_options.files_of(idf)))
    with Bar() as progress:
        found = load_nuggets(
            name, runs, judgements, skip_unknown=skip_unknown, **judges, progress=progress
        )
        done = tune_nuggets(
            found,
            by,
            paper=paper,
            idf=idf,
            institution=institution,
            corrected=corrected,
            strict=strict,
            progress=progress,
        )
    show(done.document(options.command_line()), format, output)
