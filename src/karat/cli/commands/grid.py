"""`karat grid`: what was matched in a segment, and why it scores what it scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import open_inputs, split_name
from karat.cli.places import check_choice_of_segments, chosen_places
from karat.cli.show import check_output, show
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.metrics.matching import GTM
    from karat.report.documents.grids import Shown
    from karat.text.references import References
    from karat.text.segments import Lines


@click.command(name="grid")
@click.argument("candidate", type=click.Path())
@click.argument("references", nargs=-1, required=True, type=click.Path(), metavar="REFERENCE...")
@options.chosen("segment")
@click.option(
    "-m",
    "--metric",
    "name",
    default="gtm:e=2",
    show_default=True,
    shell_complete=options.complete_metric,
    help="A matching metric: gtm with any of its settings.",
)
@options.optional_references
@options.as_text
@options.output
def command(
    candidate: str,
    references: tuple[str, ...],
    segments: tuple[int, ...],
    worst: int | None,
    name: str,
    optional_references: bool,
    as_text: bool,
    format: str,
    output: str | None,
) -> None:
    """Draw what a candidate shares with its references, word by word.

    The bitext grid has the candidate's words down and the references' across, a mark where two are
    equal, and the runs that GTM chose. Below it, the edits from the nearest reference to the
    candidate, with moves. --output grid.html has hover and keyboard, grid.svg is for papers.

    \b
    karat grid out.txt ref.txt --segment 3
    karat grid out.txt ref1.txt ref2.txt --worst 5 -o grid.html
    karat grid out.txt ref.txt -m gtm:e=2,search=exact,tok=13a -o grid.svg
    """
    from karat.report.documents.grids import grid_document

    metric = _matching(name)
    check_choice_of_segments(segments, worst)
    paths = [split_name(candidate)[1], *references]
    check_output(output, paths)
    with Bar() as progress:
        systems, refs = open_inputs([candidate], references, optional_references, progress, as_text)
        ((system, lines),) = systems.items()
        metric.check_claims(refs.number, {})
        places = chosen_places(metric, lines, refs, segments, worst, progress)
        shown = _explained(metric, lines, refs, places)
    show(grid_document(shown, system, str(metric), options.command_line()), format, output)


def _matching(name: str) -> GTM:
    """The metric, which must be one that matches words."""
    from karat.metrics.matching import GTM
    from karat.metrics.names import metric

    found = metric(name)
    if not isinstance(found, GTM):
        raise InputError(f"-m {name}: only gtm matches words in a grid; write for example gtm:e=2")
    return found


def _explained(metric: GTM, lines: Lines, refs: References, places: list[int]) -> list[Shown]:
    from karat.report.documents.grids import Shown

    found = []
    for place, mine, theirs in zip(
        places, lines.strings(places), refs.strings(places), strict=True
    ):
        try:
            found.append(Shown(place + 1, metric.explain(mine, theirs)))
        except InputError as error:
            raise InputError(f"segment {place + 1:,}: {error}") from None
    return found
