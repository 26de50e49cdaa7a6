"""`karat paraphrase explain`: why a paraphrase has its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import system_name
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.paraphrase.cli import options as paraphrase_options

if TYPE_CHECKING:
    from karat.paraphrase.pem.model import PEM
    from karat.paraphrase.pem.pivot import PivotBags
    from karat.paraphrase.report.pairs import Shown
    from karat.text.segments import Lines


@click.command(name="explain")
@click.argument("paraphrases", type=click.Path())
@paraphrase_options.originals
@click.option(
    "--model",
    metavar="FILE",
    help="A model of karat paraphrase train. Default: the small bundled one, for trying out only.",
)
@click.option("--pivot", metavar="NAME", help="Which pivot of the model. Default: its first.")
@click.option(
    "-t", "--table", metavar="FILE", type=click.Path(), help="A phrase table instead of a model."
)
@options.chosen("pair")
@click.option("--order", type=int, help="The longest n-grams. Default: the model's, or 4.")
@click.option(
    "--edge",
    type=float,
    help="Translations must be more probable than this; the best is always kept. Default: 0.1.",
)
@click.option("--ngram", type=float, help="N-grams must weigh more than this. Default: 0.01.")
@click.option(
    "--renormalise/--no-renormalise",
    default=None,
    help="Whether kept translations share the whole probability. Default: the model's, or no.",
)
@options.as_text
@options.output
def command(
    paraphrases: str,
    originals: str,
    model: str | None,
    pivot: str | None,
    table: str | None,
    segments: tuple[int, ...],
    worst: int | None,
    order: int | None,
    edge: float | None,
    ngram: float | None,
    renormalise: bool | None,
    as_text: bool,
    format: str,
    output: str | None,
) -> None:
    """Show how paraphrases come by their scores.

    For each pair: PEM and its parts, how both sentences are segmented into phrases, what the
    phrases become in the pivot language, and which pivot n-grams the two share.

    \b
    karat paraphrase explain out.txt --originals in.txt
    karat paraphrase explain out.txt --originals in.txt --model my-model.npz --worst 3
    karat paraphrase explain out.txt --originals in.txt --table en-fr.npz
    """
    from karat.paraphrase.pem.model import BUNDLED
    from karat.paraphrase.report.pairs import pairs_document
    from karat.text.references import check_aligned
    from karat.text.segments import Lines

    if segments and worst:
        raise InputError("--segment and --worst both choose pairs: leave one out")
    check_output(output, [paraphrases, originals, *(p for p in (model, table) if p)])
    asked = {"order": order, "edge": edge, "ngram": ngram, "renormalise": renormalise}
    pem, bags = _opened(model, pivot, table, asked)
    with Bar() as progress:
        mine, theirs = (Lines(path, progress, as_text=as_text) for path in (paraphrases, originals))
        check_aligned([mine, theirs])
        places = _places(_scorer(pem, bags), mine, theirs, segments, worst)
        shown = _explained(pem, bags, mine, theirs, places)
    name, told = system_name(paraphrases), options.command_line()
    bundled = pem is not None and model in (None, BUNDLED)
    document = pairs_document(shown, name, told, _signature(pem, bags, table), bundled)
    show(document, format, output)


def _opened(
    model: str | None, pivot: str | None, table: str | None, asked: dict[str, Any]
) -> tuple[PEM | None, PivotBags]:
    """The model, if there is one, and what compares bags of pivot n-grams."""
    from dataclasses import replace

    from karat.paraphrase.pem.features import FORMS
    from karat.paraphrase.pem.model import BUNDLED, PEM
    from karat.paraphrase.pem.pivot import PivotBags, PivotSettings
    from karat.paraphrase.table.phrase_table import PhraseTable

    given = {name: value for name, value in asked.items() if value is not None}
    if table is not None:
        if model is not None or pivot is not None:
            raise InputError("--table stands in for a model: leave out --model and --pivot")
        return None, PivotBags(PhraseTable.open(table), PivotSettings(**given))
    pem = PEM.open(model or BUNDLED)
    name = pivot or next(iter(pem.pivots))
    if name not in pem.pivots:
        raise InputError(f"--pivot {name}: the model has {', '.join(pem.pivots)}")
    return pem, PivotBags(pem.pivots[name], replace(FORMS[pem.form], **given))


def _scorer(pem: PEM | None, bags: PivotBags) -> Callable[[Lines, Lines], Any]:
    """What ranks pairs: PEM, or pivot F1 where there is no regression."""
    from karat.paraphrase.pem.f1 import pooled_f1
    from karat.paraphrase.pem.pivot import pivot_statistics

    if pem is not None and pem.regression is not None:
        return lambda theirs, mine: pem.score(theirs, mine).pem
    return lambda theirs, mine: pooled_f1(pivot_statistics(bags.table, theirs, mine, bags.settings))


def _places(
    scorer: Callable[[Lines, Lines], Any],
    mine: Lines,
    theirs: Lines,
    segments: tuple[int, ...],
    worst: int | None,
) -> list[int]:
    """Which pairs to show: those named, or the ones with the lowest scores, first of equals."""
    if worst:
        return [int(at) for at in scorer(theirs, mine).argsort(kind="stable")[:worst]]
    for number in segments:
        if number > len(mine):
            raise InputError(f"--segment {number}: the last pair of {mine.name} is {len(mine):,}")
    return [number - 1 for number in dict.fromkeys(segments or (1,))]


def _explained(
    pem: PEM | None, bags: PivotBags, mine: Lines, theirs: Lines, places: list[int]
) -> list[Shown]:
    from karat.paraphrase.pem.explanation import explain_pair
    from karat.paraphrase.report.pairs import Shown

    shown = []
    for at, original, text in zip(
        places, theirs.strings(places), mine.strings(places), strict=True
    ):
        scores = pem.score([original], [text]) if pem else None
        found = explain_pair(bags.table, original, text, bags.settings)
        shown.append(Shown(at + 1, found, original, text, scores))
    return shown


def _signature(pem: PEM | None, bags: PivotBags, table: str | None) -> dict[str, str]:
    from karat.paraphrase.pem.metric import PivotF1

    if pem is not None:
        return {"pem": pem.signature}
    how = bags.settings
    metric = PivotF1(table, how.order, how.edge, how.ngram, how.renormalise)
    return {str(metric): metric.signature()}
