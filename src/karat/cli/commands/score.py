"""`karat score`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import Given
from karat.cli.show import say, show
from karat.errors import InputError
from karat.stats.trials import MOST_TRIALS

if TYPE_CHECKING:
    from karat.metrics.base import Metric


@click.command(name="score")
@options.texts
@options.metrics
@click.option("--segments", is_flag=True, help="Show the score of every segment.")
@click.option(
    "--bootstrap",
    type=click.IntRange(0, MOST_TRIALS),
    default=0,
    metavar="N",
    help="Add 95% intervals from N bootstrap resamples.",
)
@options.seed
@options.output
@options.threads
@options.signature
@click.option("--signature-only", is_flag=True, help="Print the signatures and score nothing.")
def command(
    given: Given,
    metrics: tuple[str, ...],
    segments: bool,
    bootstrap: int,
    seed: int,
    format: str,
    output: str | None,
    threads: int | None,
    form: str,
    signature_only: bool,
) -> None:
    """Score candidates against references, one segment a line.

    CANDIDATE is a UTF-8 file (.gz too, - for standard input), named after the file or as NAME=FILE.

    \b
    karat score out.txt -r ref.txt
    karat score out.txt -r ref1.txt -r ref2.txt -m bleu -m chrf++ --bootstrap 1000
    karat score a.txt b.txt -r ref.txt -m rouge2:stem=porter-nltk --format json
    karat score out.txt -r ref.txt -m bleu --segments --format tsv
    karat score --set demo -m bleu -m chrf
    """
    from karat.scoring import as_metrics, drawn, score

    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    given.check(output)
    if segments and bootstrap:
        raise InputError("--segments has no intervals: leave --bootstrap out")
    if signature_only:
        shown = list(dict.fromkeys(m.of_segments() for m in chosen)) if segments else chosen
        show_signatures(shown, given.number(), drawn(bootstrap, seed), form, format, output)
        return
    with Bar() as progress:
        systems, refs = given.open(progress)
        scoring = score(
            systems,
            refs,
            chosen,
            bootstrap=bootstrap,
            seed=seed,
            segments=segments,
            threads=threads,
            progress=progress,
            signature=form,
        )
    show(scoring.document(options.command_line()), format, output)


def show_signatures(
    metrics: list[Metric],
    references: int | None,
    how: dict[str, object],
    form: str,
    format: str,
    output: str | None,
) -> None:
    """The signatures, bare lines for people and a table for everything else."""
    from karat.report.documents.scores import signature_document, with_form

    for metric in metrics:
        metric.check_claims(references, how)
    signatures = {str(metric): metric.signature(references, form, how) for metric in metrics}
    document = with_form(signature_document(signatures, options.command_line()), form)
    if format == "text":
        say((f"{signature}\n" for signature in document.signatures.values()), output)
    else:
        show(document, format, output)
