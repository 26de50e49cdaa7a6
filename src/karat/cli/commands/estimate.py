"""`karat estimate`: what people would say, from few labels and the values of judges."""

from __future__ import annotations

import os
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import options_of_kinds, read_draws_of, read_set
from karat.cli.parameters import INPUT, OUTPUT, TESTS, choice, option, path, whole
from karat.cli.show import check_beside, check_output, show
from karat.errors import InputError
from karat.progress import Bar


@click.command(name="estimate", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option("-d --dimension", "Dimension that people judged, such as fluency.", metavar="NAME")
@option(
    "-J --judge judges",
    "Judge: a model that judged the set, scores that come with it, or a metric (see `karat "
    "metrics`). Repeat for several. Default: the models that judged it.",
    multiple=True,
    metavar="JUDGE",
    shell_complete=options.complete_metric,
)
@option(
    "--population",
    "Estimate scores for the segments of SET (set), or for new segments like them (new).",
    choice("set", "new"),
    "set",
)
@option(
    "--baseline",
    "System to compare the others with. Default: the one with the best estimate.",
    metavar="NAME",
)
@option("--next", "Draw N units to label next (see --plan).", whole(min=1), metavar="N")
@options.output
@options.reader
@options.judged
@options.exclude
@option(
    "--draws",
    "File that says how units were drawn for labelling. Default: as the set says, else at random.",
    path,
    heading=INPUT,
)
@option(
    "--unit",
    "Unit that was drawn: a segment, or a group of them (a document). Default: detected.",
    choice("auto", "segment", "group"),
    "auto",
    show_default=False,
    heading=INPUT,
)
@option(
    "--plan",
    "With --next: write the draws, with their probabilities, to FILE (TSV).",
    path,
    heading=OUTPUT,
)
@option(
    "--correction",
    "Correction of the differences, p and intervals, for the number of comparisons.",
    choice("none", "holm", "bh"),
    "holm",
    heading=TESTS,
)
@options.seed
@options.normalise
@options_of_kinds
@options.threads
def command(
    name: str,
    judges: tuple[str, ...],
    format: str,
    output: str | None,
    plan: str | None,
    draws: str | None,
    **given: Any,
) -> None:
    """Estimate human scores from few labels and many judgements of a model or metric.

    People label some segments, a judge (a language model or any metric) rates all of them. The
    estimate is what people would say of all segments, with a 95% interval. The judge may be biased:
    if segments were drawn at random for labelling, the estimate is right on average over draws, and
    with many labels the intervals hold. They are narrower where the judge agrees with people. SET
    can also be a nugget set.

    \b
    karat estimate demo-labels --judge chrf
    karat estimate my-set -d quality --judgements gpt.jsonl -o page.html
    karat estimate my-set -J chrf -J given:file=comet.tsv --baseline old
    karat estimate my-set -d quality -J chrf --next 20 --plan draws.tsv
    """
    from karat.estimation.estimates import estimate

    own = {key: given.pop(key) for key in _OWN}
    read_as, reader_options = map(given.pop, ("read_as", "reader_options"))
    _check_files(name, output, plan, [file for file in (draws, *given["judgements"]) if file])
    if plan and not own["next"]:
        raise InputError("--plan writes the units of --next: say how many with --next N")
    own["next"] = own["next"] or 0
    with Bar() as progress:
        found = read_set(name, (), (read_as, reader_options), given, progress, draws)
        own["draws"] = read_draws_of(found, draws)
        result = estimate(found, judges=judges, progress=progress, **own)
    if plan:
        from karat.evalset.draws import draw_lines
        from karat.storage.output import write_atomically

        write_atomically(plan, "".join(draw_lines(result.draws)))
    show(result.document(options.command_line()), format, output)


_OWN = (
    *("dimension", "population", "unit", "baseline", "correction", "exclude", "normalise"),
    *("next", "seed", "threads"),
)


def _check_files(name: str, output: str | None, plan: str | None, inputs: list[str]) -> None:
    """Refuse outputs that are inputs, or one file for both."""
    for place in (output, plan):
        if place is not None:
            check_beside(place, name)
            check_output(place, inputs)
    if output and plan and os.path.realpath(output) == os.path.realpath(plan):
        raise InputError(f"--output and --plan are both {plan}: use two different files")
