"""`karat grid`: what was matched in a segment, and why it scores what it scores."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import open_inputs, split_name
from karat.cli.parameters import option
from karat.cli.show import check_output, show


@click.command(name="grid")
@click.argument("candidate", type=click.Path())
@click.argument("references", nargs=-1, required=True, type=click.Path(), metavar="REFERENCE...")
@options.segment_options("segment")
@option(
    "-m --metric name",
    "A matching metric: gtm with any of its settings.",
    default="gtm:e=2",
    shell_complete=options.complete_metric,
)
@options.optional_references
@options.as_text
@options.output
def command(**given: Any) -> None:
    """Draw what a candidate shares with its references, word by word.

    The bitext grid has the candidate's words down and the references' across, a mark where two are
    equal, and the runs that GTM chose. Below it, the edits from the nearest reference to the
    candidate, with moves. --output grid.html has hover and keyboard, grid.svg is for papers.

    \b
    karat grid out.txt ref.txt --segment 3
    karat grid out.txt ref1.txt ref2.txt --worst 5 -o grid.html
    karat grid out.txt ref.txt -m gtm:e=2,search=exact,tok=13a -o grid.svg
    """
    show_segments(**given)


def show_segments(
    candidate: str,
    references: tuple[str, ...],
    name: str,
    as_text: bool,
    format: str,
    output: str | None,
    optional_references: bool = False,
    **chosen: Any,
) -> None:
    """Show what a metric saw in segments of a candidate, those that were chosen."""
    from karat.explanation import explain_segments

    check_output(output, [split_name(candidate)[1], *references])
    with Bar() as progress:
        systems, refs = open_inputs([candidate], references, optional_references, progress, as_text)
        ((system, lines),) = systems.items()
        found = explain_segments(lines, refs, name, system=system, progress=progress, **chosen)
    show(found.document(options.command_line()), format, output)
