"""`karat score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import Given
from karat.cli.parameters import flag, option, whole
from karat.cli.show import say, show
from karat.errors import InputError
from karat.trials import MOST_TRIALS

if TYPE_CHECKING:
    from karat.metrics.base import Metric


@click.command(name="score")
@options.texts
@options.metrics
@flag("--segments", "Show the score of every segment.")
@option(
    "--bootstrap",
    "Add 95% intervals from N bootstrap resamples.",
    whole(0, MOST_TRIALS),
    0,
    show_default=False,
    metavar="N",
)
@options.seed
@options.output
@options.threads
@options.signature
@flag("--signature-only", "Print the signatures and score nothing.")
def command(
    given: Given,
    metrics: tuple[str, ...],
    format: str,
    output: str | None,
    signature_only: bool,
    **settings: Any,
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
    from karat.scoring import as_metrics, score

    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    given.check(output)
    if settings["segments"] and settings["bootstrap"]:
        raise InputError("--segments has no intervals: leave --bootstrap out")
    if signature_only:
        show_signatures(chosen, given.number(), format, output, **settings)
        return
    with Bar() as progress:
        found = score(*given.open(progress), chosen, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)


def show_signatures(
    metrics: list[Metric], references: int | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show the signatures, bare lines for people and a table for everything else."""
    from karat.report.documents.scores import signature_document, with_form
    from karat.scoring import interval_fields

    how, signature = interval_fields(settings["bootstrap"], settings["seed"]), settings["signature"]
    shown = dict.fromkeys(m.of_segments() for m in metrics) if settings["segments"] else metrics
    for metric in shown:
        metric.check_claims(references, how)
    signatures = {str(metric): metric.signature(references, signature, how) for metric in shown}
    document = with_form(signature_document(signatures, options.command_line()), signature)
    if format == "text":
        say((f"{line}\n" for line in document.signatures.values()), output)
    else:
        show(document, format, output)
