"""`karat meta reliability`: agreement of metrics with humans on short and long texts."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.charts import check_charts, write_charts
from karat.cli.inputs import load_set
from karat.cli.parameters import Listing, WholeNumbers, choice, option, whole
from karat.cli.show import check_beside, show
from karat.trials import MOST_TRIALS


@click.command(name="meta reliability")
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@options.reader
@options.metrics
@options.dimensions
@option(
    "--lengths",
    "Segments in a pseudo-document, such as 1,2,5 or 1-25 (default: 1-25, as far as each system "
    "has 4 documents).",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
)
@option(
    "--references",
    "Numbers of references to use, such as 1,2,3 (default: all references).",
    WholeNumbers(),
    (),
    show_default=False,
    metavar="N,N,…",
)
@option(
    "-s --statistic statistics",
    "{names}; repeat for several. Statistics that compare systems, such as spa, are refused. "
    "Default: pearson spearman.",
    cls=Listing,
    registry="statistics",
    multiple=True,
)
@option(
    "--documents",
    "Score a document by the summed statistics of its segments, or as one joined text.",
    choice("summed", "joined"),
    "summed",
)
@options.exclude
@options.normalise
@option("--repeats", "Shuffles of the segments.", whole(1, MOST_TRIALS), 100)
@option(
    "--combinations", "Maximum number of reference combinations to try.", whole(1, MOST_TRIALS), 20
)
@options.seed
@options.charts
@options.output
@options.threads
def command(
    name: str, charts: str | None, format: str, output: str | None, **settings: Any
) -> None:
    """Show agreement with humans by the length of texts and the number of references.

    Segments are shuffled and cut into pseudo-documents of some length; metric and human scores of
    all documents are correlated (Figure 3 of Melamed, Green and Turian 2003).

    \b
    karat meta reliability demo -m bleu -m gtm:preset=paper --references 1,2,3
    karat meta reliability summeval --lengths 1,2,5,10,25 -o reliability.html
    karat meta reliability demo -m gtm:preset=paper --documents joined
    """
    from karat.meta.documents.reliability import reliability
    from karat.report.documents.reliability import SHUFFLED, reliability_charts

    check_beside(output, name)
    check_charts(charts)
    read_as, reader_options, exclude = map(settings.pop, ("read_as", "reader_options", "exclude"))
    settings["metrics"] = settings["metrics"] or options.DEFAULT_METRICS
    settings["statistics"] = settings["statistics"] or ("pearson", "spearman")
    with Bar() as progress:
        evalset = load_set(name, read_as, reader_options, progress)
        chosen = evalset.without(*exclude) if exclude else evalset
        found = reliability(chosen, progress=progress, **settings)
    write_charts(reliability_charts(found.rows, SHUFFLED), charts)
    show(found.document(options.command_line()), format, output)
