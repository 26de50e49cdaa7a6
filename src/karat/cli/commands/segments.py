"""`karat grid` and `karat explain`: how a metric scores single segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import InputFiles, TableOptions
from karat.cli.parameters import F, combine, option
from karat.cli.show import show
from karat.errors import InputError
from karat.progress import Bar


def _segment_options(
    metric: str, metric_help: str, *more: Callable[[Any], Any]
) -> Callable[[F], F]:
    """Add a candidate, its references, the segments and the metric that explains them."""
    return combine(
        options.candidate(*more),
        option(
            "--system",
            "System of a table or set. Default: its only system.",
            metavar="NAME",
        ),
        options.segment_options("segment"),
        option(
            "-m --metric name",
            metric_help,
            default=metric,
            metavar="METRIC",
            shell_complete=options.complete_metric,
        ),
        options.output,
    )


@click.command(name="grid", cls=Command)
@_segment_options("gtm:e=2", "GTM, with any of its settings.", options.optional_references)
def grid_command(**values: Any) -> None:
    """Draw the words that a candidate shares with its references.

    Rows of the grid are words of the candidate, columns are words of the references. Equal words
    are marked, and the runs that GTM chose are highlighted. Below the grid are the edits that turn
    the nearest reference into the candidate. Use -o grid.html for an interactive page and -o
    grid.svg for a figure. CANDIDATE is a text file, a table or a set.

    \b
    karat grid out.txt -r ref.txt --segment 3
    karat grid runs.csv --system new --worst 5
    karat grid out.txt -r ref1.txt -r ref2.txt --worst 5 -o grid.html
    karat grid out.txt -r ref.txt -m gtm:e=2,search=exact,tok=13a -o grid.svg
    """
    show_segments(**values)


def show_segments(
    inputs: InputFiles,
    system: str | None,
    name: str,
    format: str,
    output: str | None,
    **segments: Any,
) -> None:
    """Show how a metric scores the chosen segments of a system."""
    from karat.explanation import explain_segments
    from karat.metrics.names import metric

    inputs = TableOptions().resolve(inputs, streams=False)
    inputs.check(output)
    segments |= {"by": metric(name)}
    with Bar() as progress:
        if inputs.evalset is None:
            systems, references = inputs.open_texts(progress)
            ((title, lines),) = systems.items()
            if system not in (None, title):
                raise InputError(f"--system {system}: {title} is one system; leave it out")
            explanation = explain_segments(
                lines, references, system=title, progress=progress, **segments
            )
        else:
            evalset = inputs.evalset.load(progress)
            explanation = explain_segments(evalset, system=system, progress=progress, **segments)
    show(explanation, format, output)


@click.command(name="explain", cls=Command)
@_segment_options("generation_tree_accuracy", "Tree accuracy, facts or support, with any settings.")
def explain_command(**values: Any) -> None:
    """Explain a tree accuracy, treelet by treelet, or show facts that differ or unsupported text.

    With -m facts, shows the numbers, negations and names in which the candidate differs from its
    references, with the words of both. With -m support:model=FOLDER, shows each sentence with the
    passage of its contexts that supports it best.

    For a tree accuracy, references are dependency trees (.conllu), or the trees of a set. A treelet
    is a head with its daughters. For each one, shows its words in the order of the reference and of
    the candidate, the substitutions, insertions, deletions and moves, and how much they lower the
    score. The parts add up to the score.

    \b
    karat explain out.txt -r ref.conllu --segment 3
    karat explain out.txt -r ref.conllu --worst 5 -o trees.html
    karat explain out.txt -r ref.conllu -m simple_tree_accuracy -f json
    karat explain out.txt -r ref.txt -m facts --worst 5
    karat explain answers.jsonl -m support:model=FOLDER --worst 5
    """
    show_segments(**values)
