"""`karat explain`: the errors of a segment, treelet by treelet."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.commands.grid import show_segments
from karat.cli.old_names import old_argument
from karat.cli.parameters import option


@click.command(name="explain", cls=Command)
@click.argument("candidate", type=click.Path())
@old_argument(
    "more_references", "karat explain CANDIDATE REFERENCE", "karat explain CANDIDATE -r REFERENCE"
)
@options.references
@options.segment_options("segment")
@option(
    "-m --metric name",
    "Tree accuracy, with any of its settings.",
    default="generation_tree_accuracy",
    show_default=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.output
@options.read_files_as
def command(**given: Any) -> None:
    """Explain a tree accuracy, treelet by treelet.

    References are dependency trees (.conllu). A treelet is a head with its daughters. For each one,
    shows its words in the order of the reference and of the candidate, the substitutions,
    insertions, deletions and moves, and how much they lower the score. The parts add up to the
    score.

    \b
    karat explain out.txt -r ref.conllu --segment 3
    karat explain out.txt -r ref.conllu --worst 5 -o trees.html
    karat explain out.txt -r ref.conllu -m simple_tree_accuracy -f json
    """
    show_segments(**given)
