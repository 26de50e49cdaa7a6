"""`karat estimate`: human scores from few labels and many judgements."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import SetInput, add_kind_options, read_draws_of
from karat.cli.parameters import bundle, option, path
from karat.cli.show import show
from karat.errors import InputError
from karat.estimation.settings import EstimateSettings
from karat.headings import INPUT, OUTPUT
from karat.progress import Bar


@click.command(name="estimate", cls=Command)
@options.set_argument
@bundle("settings", options.settings_options(EstimateSettings))
@options.output
@options.human_reader
@option(
    "--draws",
    "File that says how units were drawn for labelling. Default: as the set says, else at random.",
    path,
    heading=INPUT,
)
@option(
    "--plan",
    "With --next: write the draws, with their probabilities, to FILE (TSV).",
    path,
    heading=OUTPUT,
)
@add_kind_options
@options.threads
def command(
    source: SetInput,
    settings: dict[str, Any],
    format: str,
    output: str | None,
    plan: str | None,
    draws: str | None,
    threads: int | None,
    **kind_options: Any,
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

    source.check_output(output, [draws] if draws else [], plan=plan)
    if plan and not settings["next"]:
        raise InputError("--plan writes the units of --next: say how many with --next N")
    settings |= {"exclude": source.exclude, "threads": threads}
    with Bar() as progress:
        loaded = source._replace(exclude=()).load_any_kind((), kind_options, progress, draws)
        settings["draws"] = read_draws_of(loaded, draws)
        result = estimate(loaded, progress=progress, **settings)
    if plan:
        from karat.evalset.draws import format_draws
        from karat.storage.output import write_atomically

        write_atomically(plan, "".join(format_draws(result.draws)))
    show(result, format, output)
