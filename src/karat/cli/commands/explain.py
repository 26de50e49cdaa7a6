"""`karat explain`: the errors of a segment, treelet by treelet."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import open_inputs, split_name
from karat.cli.parameters import option
from karat.cli.show import check_output, show


@click.command(name="explain")
@click.argument("candidate", type=click.Path())
@click.argument("references", nargs=-1, required=True, type=click.Path(), metavar="REFERENCE...")
@options.chosen("segment")
@option(
    "-m --metric name",
    "A tree accuracy with any of its settings.",
    default="generation_tree_accuracy",
    shell_complete=options.complete_metric,
)
@options.as_text
@options.output
def command(
    candidate: str,
    references: tuple[str, ...],
    segments: tuple[int, ...],
    worst: int | None,
    name: str,
    as_text: bool,
    format: str,
    output: str | None,
) -> None:
    """Say which words of a tree a candidate has in another order, and what that costs.

    The references are dependency trees (.conllu). For every treelet, a head with its daughters: its
    words in the order of the reference and of the candidate, what was substituted, inserted,
    deleted and moved, and how much that takes off the score. The parts add up to the score.

    \b
    karat explain out.txt ref.conllu --segment 3
    karat explain out.txt ref.conllu --worst 5 -o trees.html
    karat explain out.txt ref.conllu -m simple_tree_accuracy -f json
    """
    from karat.explanation import explain_segments

    check_output(output, [split_name(candidate)[1], *references])
    with Bar() as progress:
        systems, refs = open_inputs([candidate], references, False, progress, as_text)
        ((system, lines),) = systems.items()
        found = explain_segments(
            lines, refs, name, segments=segments, worst=worst, system=system, progress=progress
        )
    show(found.document(options.command_line()), format, output)
