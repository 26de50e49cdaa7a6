"""`karat explain`: the errors of a segment, treelet by treelet."""

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
    from karat.metrics.tree import TreeAccuracy
    from karat.report.documents.treelets import ShownTree
    from karat.text.references import References
    from karat.text.segments import Lines


@click.command(name="explain")
@click.argument("candidate", type=click.Path())
@click.argument("references", nargs=-1, required=True, type=click.Path(), metavar="REFERENCE...")
@options.chosen("segment")
@click.option(
    "-m",
    "--metric",
    "name",
    default="generation_tree_accuracy",
    show_default=True,
    shell_complete=options.complete_metric,
    help="A tree accuracy with any of its settings.",
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
    from karat.report.documents.treelets import treelets_document

    metric = _of_trees(name)
    check_choice_of_segments(segments, worst)
    check_output(output, [split_name(candidate)[1], *references])
    with Bar() as progress:
        systems, refs = open_inputs([candidate], references, False, progress, as_text)
        ((system, lines),) = systems.items()
        metric.check_claims(refs.number, {})
        places = chosen_places(metric, lines, refs, segments, worst, progress)
        shown = _explained(metric, lines, refs, places)
    show(treelets_document(shown, system, str(metric), options.command_line()), format, output)


def _of_trees(name: str) -> TreeAccuracy:
    """The metric, which must be one that compares trees."""
    from karat.metrics.names import metric
    from karat.metrics.tree import TreeAccuracy

    found = metric(name)
    if not isinstance(found, TreeAccuracy):
        raise InputError(
            f"-m {name}: only tree accuracies have treelets; write for example "
            "generation_tree_accuracy (for words without trees there is karat grid)"
        )
    return found


def _explained(
    metric: TreeAccuracy, lines: Lines, refs: References, places: list[int]
) -> list[ShownTree]:
    from karat.report.documents.treelets import ShownTree
    from karat.text.trees import Trees

    if not isinstance(refs, Trees):
        raise InputError(
            f"{refs.name} has no trees: {metric.name} needs dependency trees as references, a "
            ".conllu file"
        )
    texts = zip(places, lines.strings(places), strict=True)
    return [ShownTree(place + 1, metric.explain(text, refs[place])) for place, text in texts]
