"""`karat paraphrase evaluate`: PEM beside the judges of a set."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import TESTS, flag, integer, option
from karat.cli.show import check_charts, check_output, show, write_charts
from karat.paraphrase.cli import group
from karat.progress import Bar


@click.command(name="evaluate", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@group.dimension
@option(
    "--model",
    "Model whose pivot languages and language model are used.",
    default="bundled",
    show_default=True,
    metavar="FILE",
)
@flag("--controls", "Add the paper's three control systems.")
@option(
    "--compare-with",
    "Other metric to show, such as ter. Repeat for several. Default: stemmed unigram F1, ROUGE-1 "
    "with chrF++, and BLEU.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@option(
    "--feature features",
    "Metric to add to the features. Repeat for several. Default: those of the model.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.output
@option(
    "--folds",
    "Number of folds of the cross-validation. All paraphrases of an original are in one fold.",
    integer(min=2),
    10,
    heading=TESTS,
)
@option(
    "--train-first",
    "Train on the first N originals and test on the others, instead of cross-validation.",
    integer(min=2),
    heading=TESTS,
)
@group.form
@options.resamples
@options.seed
@options.charts
@options.threads
def command(
    name: str,
    model: str,
    compare_with: tuple[str, ...],
    charts: str | None,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Show how well PEM agrees with the judges of a set, and whether pivot languages help.

    The regression is cross-validated by original. Judges are compared if the set has several, and
    criteria if it has adequacy, fluency and dissimilarity.

    \b
    karat paraphrase evaluate demo-paraphrases --controls
    karat paraphrase evaluate demo-paraphrases --form paper --train-first 27
    karat paraphrase evaluate judged.tsv --model m.npz -o page.html
    """
    from karat.paraphrase.pem.evaluation import evaluate_paraphrases
    from karat.paraphrase.report.documents import evaluation_charts

    folds_source = click.get_current_context().get_parameter_source("folds")
    if settings["train_first"] is not None and folds_source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--folds and --train-first exclude each other: give one")
    check_output(output, sets=[name])
    check_charts(charts)
    with Bar() as progress:
        result = evaluate_paraphrases(
            name, model, compare_with=compare_with or None, progress=progress, **settings
        )
    write_charts(evaluation_charts(result), charts)
    show(result.document(options.command_line()), format, output)
