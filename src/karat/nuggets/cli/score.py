"""`karat nuggets score`: what a run is worth by the nuggets its answers carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.old_names import retired
from karat.cli.parameters import OUTPUT, flag, path
from karat.cli.show import check_output, check_page, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="score", cls=nuggets_options.WithClassifiers)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.keyed
@nuggets_options.scoring
@options.output
@flag("--nuggets details", "Also list every nugget.", heading=OUTPUT)
@flag("--pourpre", "Also score by Pourpre, which needs no judgements.", heading=OUTPUT)
@retired("--report", "-o page.html", path)
def command(
    runs: tuple[str, ...], given: Any, how: Any, report: Any, format: str, output: Any, **more: Any
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
    check_output(report, read)
    check_page("--report", report)
    if output and report and Path(output).resolve() == Path(report).resolve():
        raise InputError(f"--report and --output are both {report}: use two different files")
    with Bar() as progress:
        found = open_runs(runs, **given, guess=how["guess"], progress=progress)
        done = score_nuggets(found, **how, **more, progress=progress)
    document = done.document(options.command_line())
    if report is not None:
        show(document, "html", report)
    show(document, format, output)
