"""`karat paraphrase explain`: why a paraphrase has its pivot F1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import system_name
from karat.cli.show import check_output, show
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.paraphrase.metric import PivotF1
    from karat.progress import Progress
    from karat.report.paraphrase_pairs import Shown
    from karat.text.segments import Lines


@click.command(name="explain")
@click.argument("paraphrases", type=click.Path())
@click.option(
    "--originals", required=True, type=click.Path(), help="The originals, line by line beside them."
)
@click.option(
    "-t", "--table", required=True, metavar="FILE", type=click.Path(), help="A phrase table."
)
@click.option(
    "-s",
    "--segment",
    "segments",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="The number of the pair, from 1 (the default); repeat for several.",
)
@click.option(
    "--worst",
    type=click.IntRange(min=1),
    metavar="K",
    help="The K pairs with the lowest pivot F1 instead.",
)
@click.option("--order", default=4, show_default=True, help="The longest n-grams.")
@click.option(
    "--edge",
    default=0.1,
    show_default=True,
    help="Translations must be more probable than this; the best is always kept.",
)
@click.option("--ngram", default=0.01, show_default=True, help="N-grams must weigh more than this.")
@click.option(
    "--renormalise", is_flag=True, help="Let kept translations share the whole probability."
)
@options.output
def command(
    paraphrases: str,
    originals: str,
    table: str,
    segments: tuple[int, ...],
    worst: int | None,
    order: int,
    edge: float,
    ngram: float,
    renormalise: bool,
    format: str,
    output: str | None,
) -> None:
    """Show how paraphrases come by their pivot F1.

    For each pair: how both sentences are segmented into phrases, what the phrases become in the
    pivot language, which pivot n-grams the two share and which they do not, and the scores.

    \b
    karat paraphrase explain out.txt --originals in.txt --table en-fr.npz
    karat paraphrase explain out.txt --originals in.txt -t en-fr.npz --worst 3
    """
    from karat.paraphrase.metric import PivotF1
    from karat.report.paraphrase_pairs import pairs_document
    from karat.text.segments import Lines

    if segments and worst:
        raise InputError("--segment and --worst both choose pairs: leave one out")
    check_output(output, [paraphrases, originals, table])
    metric = PivotF1(table, order, edge, ngram, renormalise)
    with Bar() as progress:
        mine, theirs = Lines(paraphrases, progress), Lines(originals, progress)
        places = _places(metric, mine, theirs, segments, worst, progress)
        shown = _explained(metric, mine, theirs, places)
    signature = {str(metric): metric.signature()}
    title = system_name(paraphrases)
    show(pairs_document(shown, title, options.command_line(), signature), format, output)


def _places(
    metric: PivotF1,
    mine: Lines,
    theirs: Lines,
    segments: tuple[int, ...],
    worst: int | None,
    progress: Progress,
) -> list[int]:
    """Which pairs to show: those named, or the ones with the lowest scores, first of equals."""
    from karat.text.references import check_aligned

    check_aligned([mine, theirs])
    if worst:
        values = metric.segments(mine, theirs, progress=progress)
        return [int(place) for place in values.argsort(kind="stable")[:worst]]
    for number in segments:
        if number > len(mine):
            raise InputError(f"--segment {number}: the last pair of {mine.name} is {len(mine):,}")
    return [number - 1 for number in dict.fromkeys(segments or (1,))]


def _explained(metric: PivotF1, mine: Lines, theirs: Lines, places: list[int]) -> list[Shown]:
    from karat.paraphrase.explain import explain_pair
    from karat.report.paraphrase_pairs import Shown

    bags = metric.bags
    texts = zip(places, theirs.strings(places), mine.strings(places), strict=True)
    return [Shown(at + 1, explain_pair(bags.table, o, p, bags.settings)) for at, o, p in texts]
