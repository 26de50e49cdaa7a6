"""`karat nuggets score`: what a run is worth by the nuggets its answers carry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, check_page, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options

if TYPE_CHECKING:
    from karat.nuggets.guess.guesses import GuessRule
    from karat.nuggets.sets.nugget_set import NuggetSet
    from karat.progress import Progress


@click.command(name="score")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.key
@nuggets_options.judgements
@nuggets_options.judges
@nuggets_options.scoring
@nuggets_options.corrected(True)
@nuggets_options.guessing
@nuggets_options.classifier
@click.option("--nuggets", "details", is_flag=True, help="Also list every nugget.")
@click.option("--pourpre", is_flag=True, help="Also score by words of descriptions, unjudged.")
@click.option(
    "--report",
    type=click.Path(),
    help="Also write a page: nuggets by runs for each question, with a way to the responses.",
)
@nuggets_options.skip_unknown
@options.output
def command(
    runs: tuple[str, ...],
    key: str,
    judgements: tuple[str, ...],
    judges: nuggets_options.JudgeOptions,
    beta: float,
    weights: str,
    strict: bool,
    corrected: bool,
    guess: bool,
    general: bool,
    rule: GuessRule,
    details: bool,
    pourpre: bool,
    report: str | None,
    skip_unknown: bool,
    format: str,
    output: str | None,
) -> None:
    """Score runs by the nuggets their answers carry.

    RUN is a file of responses in any format, or the tag of a run that comes with KEY. Options from
    --threshold-model to --train-on-responses are for the paper's classifier.

    \b
    karat nuggets score my.run --key key.txt --judgements judged.txt
    karat nuggets score heron --key demo-nuggets --nuggets --classifier paper
    """
    from karat.nuggets.results.scoring import score_nuggets
    from karat.nuggets.scores.official import Official

    read = (*runs, key, *judgements, *nuggets_options.files_of(rule.idf))
    _check_outputs(output, report, read)
    how = Official(beta, weights, strict)
    with Bar() as progress:
        found = open_runs(runs, key, judgements, skip_unknown, judges, progress)
        if not guess:
            need_judgements(found, key)
        done = score_nuggets(
            found,
            how,
            guess=guess,
            rule=rule,
            corrected=corrected,
            general=general,
            pourpre=pourpre,
            details=details,
            progress=progress,
        )
    document = done.document(options.command_line())
    if report is not None:
        from karat.nuggets.report.matrix import score_page

        show(score_page(document, done), "html", report)
    show(document, format, output)


def _check_outputs(output: str | None, report: str | None, read: tuple[str, ...]) -> None:
    """Refuse outputs that are inputs, or one and the same file."""
    check_output(output, read)
    check_output(report, read)
    check_page("--report", report)
    if output and report and Path(output).resolve() == Path(report).resolve():
        raise InputError(f"--report and --output are both {report}: name two files")


def open_runs(
    runs: tuple[str, ...],
    key: str,
    judgements: tuple[str, ...],
    skip_unknown: bool,
    judges: nuggets_options.JudgeOptions,
    progress: Progress,
    log: str | None = None,
) -> NuggetSet:
    """The key with the named runs: files, or else tags of runs that come with the key."""
    from karat.nuggets.formats.loading import load_nuggets

    files = [run for run in runs if os.path.exists(run)]
    tags = [run for run in runs if run not in files]
    if files and tags:
        raise InputError(f"{tags[0]}: no such file")
    found = load_nuggets(
        key, files, judgements, skip_unknown=skip_unknown, log=log, **judges, progress=progress
    )
    if not files and not found.runs:
        raise InputError(f"{tags[0]}: no such file, and {key} comes without runs")
    return found if files else found.select(*tags)


def need_judgements(found: NuggetSet, key: str) -> None:
    """Without any, and without a classifier, every score is 0."""
    if found.judgements.deciding:
        return
    if found.judgements.rows:
        raise InputError(
            f"all judgements of {key} are labels of models, which are evidence for guesses alone: "
            "leave out --no-guess, or give judgements of people"
        )
    raise InputError(
        f"{key} comes without judgements, and nothing else says which response carries "
        "which nugget: name some with --judgements"
    )
