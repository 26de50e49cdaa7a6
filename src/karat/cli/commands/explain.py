"""`karat explain`: the errors of a segment, treelet by treelet."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.commands.grid import show_segments
from karat.cli.parameters import option


@click.command(name="explain")
@click.argument("candidate", type=click.Path())
@click.argument("references", nargs=-1, required=True, type=click.Path(), metavar="REFERENCE...")
@options.segment_options("segment")
@option(
    "-m --metric name",
    "A tree accuracy with any of its settings.",
    default="generation_tree_accuracy",
    shell_complete=options.complete_metric,
)
@options.as_text
@options.output
def command(**given: Any) -> None:
    """Say which words of a tree a candidate has in another order, and what that costs.

    The references are dependency trees (.conllu). For every treelet, a head with its daughters: its
    words in the order of the reference and of the candidate, what was substituted, inserted,
    deleted and moved, and how much that takes off the score. The parts add up to the score.

    \b
    karat explain out.txt ref.conllu --segment 3
    karat explain out.txt ref.conllu --worst 5 -o trees.html
    karat explain out.txt ref.conllu -m simple_tree_accuracy -f json
    """
    show_segments(**given)
