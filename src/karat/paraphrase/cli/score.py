"""`karat paraphrase score`: how good paraphrases are, with the three parts."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import system_name
from karat.cli.parameters import ADVANCED, flag, option
from karat.cli.show import check_output, show
from karat.paraphrase.cli import group
from karat.progress import Bar


@click.command(name="score", cls=Command)
@click.argument("paraphrases", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@group.originals
@group.model
@flag("--segments", "Also show the score of every paraphrase.")
@option(
    "--feature features",
    "Metric that the model has as a feature, with a file or folder that is elsewhere now. Give "
    "all of them in the model's order.",
    multiple=True,
    metavar="METRIC",
    heading=ADVANCED,
)
@options.output
@group.form
@options.as_text
@options.resamples
@options.seed
@options.threads
def command(
    paraphrases: tuple[str, ...],
    originals: str,
    model: str,
    form: str | None,
    as_text: bool,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Score paraphrases by PEM, from 1 (bad) to 5 (same meaning, fluent, other words).

    No references are needed. Each FILE has the paraphrases of one system, in the order of the
    originals.

    \b
    karat paraphrase score out.txt --originals in.txt
    karat paraphrase score out.txt --originals in.txt --form paper
    karat paraphrase score a.txt b.txt --originals in.txt --model m.npz --segments
    """
    from karat.paraphrase.pem.features import feature_files
    from karat.paraphrase.pem.model import as_pem
    from karat.paraphrase.pem.scoring import score_paraphrases
    from karat.text.segments import Lines

    check_output(output, (*paraphrases, originals, model))
    pem = as_pem(model, form).taking(settings.pop("features"))
    check_output(output, feature_files(pem.metrics))
    with Bar() as progress:
        original_lines = Lines(originals, progress, as_text=as_text)
        opened = [Lines(path, progress, as_text=as_text) for path in paraphrases]
        systems = list(zip(map(system_name, paraphrases), opened, strict=True))
        result = score_paraphrases(
            systems, original_lines, pem, form=form, progress=progress, **settings
        )
    show(result.document(options.command_line()), format, output)
