"""`karat estimate`: what people would say, from few labels and the values of judges."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import SetInput, add_kind_options, read_draws_of
from karat.cli.parameters import INPUT, OUTPUT, TESTS, choice, integer, option, path
from karat.cli.show import check_different, show
from karat.errors import InputError
from karat.progress import Bar


@click.command(name="estimate", cls=Command)
@options.set_argument
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
@option("--next", "Draw N units to label next (see --plan).", integer(min=1), metavar="N")
@options.output
@options.human_reader
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
@add_kind_options
@options.threads
def command(
    source: SetInput,
    format: str,
    output: str | None,
    plan: str | None,
    draws: str | None,
    **values: Any,
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

    source.check_output(output, plan, inputs=[draws] if draws else [])
    check_different(output=output, plan=plan)
    if plan and not values["next"]:
        raise InputError("--plan writes the units of --next: say how many with --next N")
    settings = {name: values.pop(name) for name in _SETTINGS}
    settings |= {"next": values.pop("next") or 0, "exclude": source.exclude}
    with Bar() as progress:
        loaded = source._replace(exclude=()).load_any_kind((), values, progress, draws)
        settings["draws"] = read_draws_of(loaded, draws)
        result = estimate(loaded, progress=progress, **settings)
    if plan:
        from karat.evalset.draws import format_draws
        from karat.storage.output import write_atomically

        write_atomically(plan, "".join(format_draws(result.draws)))
    show(result, format, output)


_SETTINGS = (
    *("dimension", "judges", "population", "unit", "baseline", "correction", "normalise"),
    *("seed", "threads"),
)
