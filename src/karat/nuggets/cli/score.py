"""`karat nuggets score`: what a run is worth by the nuggets its answers carry."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import OUTPUT, flag
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="score", cls=nuggets_options.WithClassifiers)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.keyed
@nuggets_options.scoring
@options.output
@flag("--nuggets details", "Also list every nugget.", heading=OUTPUT)
@flag("--pourpre", "Also score by Pourpre, which needs no judgements.", heading=OUTPUT)
def command(
    runs: tuple[str, ...], given: Any, how: Any, format: str, output: str | None, **more: Any
) -> None:
    """Score runs by the nuggets in their answers.

    RUN is a file of responses in any format, or the tag of a run of KEY. Use -o page.html for a
    page that shows, for each question, the nuggets of every run and the responses.

    \b
    karat nuggets score my.run --key key.txt --judgements judged.txt
    karat nuggets score heron --key demo-nuggets --classifier paper:stem=porter
    karat nuggets score heron kestrel --key demo-nuggets -o page.html
    """
    from karat.nuggets.formats.loading import open_runs
    from karat.nuggets.results.scoring import score_nuggets

    read = (*runs, given["key"], *given["judgements"], *nuggets_options.files_of(how["classifier"]))
    check_output(output, read)
    with Bar() as progress:
        found = open_runs(runs, **given, guess=how["guess"], progress=progress)
        done = score_nuggets(found, **how, **more, progress=progress)
    show(done.document(options.command_line()), format, output)
