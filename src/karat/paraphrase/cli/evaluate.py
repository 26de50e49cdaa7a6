"""`karat paraphrase evaluate`: PEM beside the judges of a set."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.charts import check_charts, write_charts
from karat.cli.parameters import flag, option, whole
from karat.cli.show import check_beside, show
from karat.paraphrase.cli import group


@click.command(name="evaluate")
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option("-d --dimension", "Which dimension of SET is overall quality.")
@option("--model", "Model whose pivot languages and language model are used.", default="bundled")
@group.form
@flag("--controls", "Add the three controls, as the paper does.")
@option(
    "--folds",
    "Of cross-validation; all paraphrases of an original are in one fold.",
    whole(min=2),
    10,
)
@option(
    "--train-first",
    "Train on the first N originals and test on the others, instead of cross-validation.",
    whole(min=2),
    metavar="N",
)
@option(
    "--rival rivals",
    "Metric to compare with, such as ter, instead of the default ones; repeat for several.",
    multiple=True,
    metavar="METRIC",
)
@option(
    "--recognise",
    "Count pairs with at least this human score (1 to 5) as paraphrases, and report how well "
    "thresholds recognise them, with precision-recall curves.",
    float,
    metavar="SCORE",
)
@options.resamples
@options.seed
@options.threads
@options.charts
@options.output
def command(
    name: str,
    model: str,
    rivals: tuple[str, ...],
    charts: str | None,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Say how well PEM agrees with the judges of SET, and whether the pivot languages help.

    The regression is learned anew in cross-validation by original. Tables of judges and of criteria
    appear where the set has several judges, and adequacy, fluency and dissimilarity.

    \b
    karat paraphrase evaluate demo-paraphrases --controls
    karat paraphrase evaluate demo-paraphrases --controls --form paper --train-first 27
    karat paraphrase evaluate judged.tsv --model model.npz --recognise 4 -o evaluation.html
    """
    from karat.paraphrase.pem.evaluation import evaluate_paraphrases
    from karat.paraphrase.report.evaluation import evaluation_charts

    given = click.get_current_context().get_parameter_source("folds")
    if settings["train_first"] is not None and given is ParameterSource.COMMANDLINE:
        raise click.UsageError("--folds is for cross-validation, --train-first is not: give one")
    check_beside(output, name)
    check_charts(charts)
    with Bar() as progress:
        result = evaluate_paraphrases(
            name, model, rivals=rivals or None, progress=progress, **settings
        )
    write_charts(evaluation_charts(result), charts)
    show(result.document(options.command_line()), format, output)
