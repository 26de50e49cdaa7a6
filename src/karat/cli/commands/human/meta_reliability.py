"""`karat meta reliability`: agreement of metrics with humans on short and long texts."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.charts import check_charts, write_charts
from karat.cli.command import Command
from karat.cli.inputs import load_set
from karat.cli.parameters import TESTS, Listing, WholeNumbers, choice, option, whole
from karat.cli.show import check_beside, check_output, show
from karat.trials import MOST_TRIALS


@click.command(name="meta reliability", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@options.metrics
@options.dimensions
@option(
    "--lengths",
    "Numbers of segments per pseudo-document, such as 1,2,5 or 1-25. Default: 1-25, as long as "
    "each system has 4 documents.",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
)
@option(
    "--reference-counts",
    "Numbers of references per segment, such as 1,2,3. Default: all references.",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
    old="--references",
)
@option(
    "-s --statistic statistics",
    "Statistic: {names}. Repeat for several. Statistics that compare systems, such as spa, are "
    "not allowed. Default: pearson spearman.",
    metavar="NAME",
    cls=Listing,
    registry="statistics",
    multiple=True,
)
@option(
    "--documents",
    "Score a document by the summed statistics of its segments, or as one text.",
    choice("summed", "joined"),
    "summed",
)
@options.output
@options.reader
@options.judged
@options.exclude
@option(
    "--repeats",
    "Number of times that segments are shuffled.",
    whole(1, MOST_TRIALS),
    100,
    heading=TESTS,
)
@option(
    "--combinations",
    "Maximum number of reference combinations.",
    whole(1, MOST_TRIALS),
    20,
    heading=TESTS,
)
@options.seed
@options.charts
@options.normalise
@options.threads
def command(
    name: str, charts: str | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show agreement with humans by text length and number of references.

    Segments are shuffled and joined into pseudo-documents. Metric scores and human scores of the
    documents are then correlated, as in Figure 3 of Melamed, Green and Turian (2003).

    \b
    karat meta reliability demo -m bleu -m gtm --reference-counts 1,2,3
    karat meta reliability summeval --lengths 1,2,5,10,25 -o reliability.html
    karat meta reliability demo -m gtm:preset=paper --documents joined
    """
    from karat.meta.reliability import reliability
    from karat.report.documents.reliability import SHUFFLED, reliability_charts

    added = [settings.pop(key) for key in ("judgements", "model_judges")]
    check_output(output, added[0])
    check_beside(output, name)
    check_charts(charts)
    read_as, reader_options, exclude = map(settings.pop, ("read_as", "reader_options", "exclude"))
    settings["metrics"] = settings["metrics"] or options.DEFAULT_METRICS
    settings["statistics"] = settings["statistics"] or ("pearson", "spearman")
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress, *added)
        chosen = evalset.without(*exclude) if exclude else evalset
        found = reliability(chosen, progress=progress, **settings)
    write_charts(reliability_charts(found.rows, SHUFFLED), charts)
    show(found.document(options.command_line()), format, output)
