"""`karat nuggets score`: what a run is worth by the nuggets its answers carry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import flag, option, path
from karat.cli.show import check_output, check_page, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options

if TYPE_CHECKING:
    from karat.nuggets.sets.nugget_set import NuggetSet


@click.command(name="score", cls=nuggets_options.WithClassifiers)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.keyed
@nuggets_options.scoring
@flag("--nuggets details", "Also list every nugget.")
@flag("--pourpre", "Also score by words of descriptions, unjudged.")
@option(
    "--report",
    "Also write a page: nuggets by runs for each question, with a way to the responses.",
    path,
)
@options.output
def command(
    runs: tuple[str, ...], given: Any, how: Any, report: Any, format: str, output: Any, **more: Any
) -> None:
    """Score runs by the nuggets their answers carry.

    RUN is a file of responses in any format, or the tag of a run that comes with KEY.

    \b
    karat nuggets score my.run --key key.txt --judgements judged.txt
    karat nuggets score heron --key demo-nuggets --classifier paper:stem=porter
    """
    from karat.nuggets.results.scoring import score_nuggets

    read = (*runs, given["key"], *given["judgements"], *nuggets_options.files_of(how["classifier"]))
    check_output(output, read)
    check_output(report, read)
    check_page("--report", report)
    if output and report and Path(output).resolve() == Path(report).resolve():
        raise InputError(f"--report and --output are both {report}: name two files")
    with Bar() as progress:
        found = open_runs(runs, **given, guess=how["guess"], progress=progress)
        done = score_nuggets(found, **how, **more, progress=progress)
    document = done.document(options.command_line())
    if report is not None:
        from karat.nuggets.report.matrix import score_page

        show(score_page(document, done), "html", report)
    show(document, format, output)


def open_runs(runs: tuple[str, ...], key: str, guess: bool = True, **given: Any) -> NuggetSet:
    """Return the key with the named runs: files, or else tags of runs that come with the key.

    Unless a classifier may `guess`, there must be judgements: every score would be 0.
    """
    from karat.nuggets.formats.loading import load_nuggets

    files = [run for run in runs if os.path.exists(run)]
    tags = [run for run in runs if run not in files]
    if files and tags:
        raise InputError(f"{tags[0]}: no such file")
    found = load_nuggets(key, files, **given)
    if not files and not found.runs:
        raise InputError(f"{tags[0]}: no such file, and {key} comes without runs")
    chosen = found if files else found.select(*tags)
    if guess or found.judgements.deciding:
        return chosen
    if found.judgements.rows:
        raise InputError(
            f"all judgements of {key} are labels of models, which are evidence for guesses alone: "
            "leave out --no-guess, or give judgements of people"
        )
    raise InputError(
        f"{key} comes without judgements, and nothing else says which response carries "
        "which nugget: name some with --judgements"
    )
