"""`karat compare`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import open_inputs
from karat.cli.show import check_output, show

if TYPE_CHECKING:
    from karat.comparison import Comparison
    from karat.report.comparisons import Example
    from karat.text.references import References
    from karat.text.segments import Segments


@click.command(name="compare")
@click.argument("candidates", nargs=-1, required=True, type=click.Path(), metavar="CANDIDATE...")
@options.references
@options.metrics
@click.option("--baseline", metavar="NAME", help="The system to compare with (default: the first).")
@click.option(
    "--test",
    type=click.Choice(("bootstrap", "randomization")),
    default="bootstrap",
    show_default=True,
    help="The paired test.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help="Trials of the test (default: 1000 for bootstrap, 10000 for randomization).",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Show the N segments on which each system differs most from the baseline.",
)
@options.seed
@options.output
@options.threads
def command(
    candidates: tuple[str, ...],
    references: tuple[str, ...],
    metrics: tuple[str, ...],
    baseline: str | None,
    test: str,
    trials: int | None,
    examples: int,
    seed: int,
    format: str,
    output: str | None,
    threads: int | None,
) -> None:
    """Compare systems: scores with 95% intervals, differences, p-values, and where they differ.

    CANDIDATE is a UTF-8 file (.gz too, - for standard input), named after the file or as NAME=FILE.

    \b
    karat compare a.txt b.txt c.txt -r ref.txt --baseline a
    karat compare old=v1.txt new=v2.txt -r ref.txt -m bleu --test randomization
    karat compare a.txt b.txt -r ref.txt --format html --output report.html
    """
    from karat.comparison import compare
    from karat.scoring import as_metrics

    chosen = as_metrics(metrics or options.DEFAULT_METRICS)
    check_output(output)
    with Bar() as progress:
        systems, refs = open_inputs(candidates, references, progress)
        comparison = compare(
            systems,
            refs,
            chosen,
            baseline=baseline,
            test=test,
            trials=trials,
            seed=seed,
            threads=threads,
            progress=progress,
        )
    from karat.report.comparisons import comparison_document

    found = find_examples(comparison, systems, refs, examples)
    show(comparison_document(comparison, found, options.command_line(), format), format, output)


def find_examples(
    comparison: Comparison, systems: Mapping[str, Segments], references: References, top: int
) -> list[Example]:
    """The segments on which each system differs most from the baseline by the first metric."""
    from karat.report.comparisons import Example

    base, first = comparison.baseline, comparison.rows[0].metric
    found = []
    for system in dict.fromkeys(row.system for row in comparison.rows):
        if system == base:
            continue
        gaps = comparison.differences(base, system, first, top)
        places = [gap.segment for gap in gaps]
        texts = zip(
            references.strings(places),
            systems[base].strings(places),
            systems[system].strings(places),
            strict=True,
        )
        for gap, (refs, theirs, mine) in zip(gaps, texts, strict=True):
            scores = gap.segment, gap.first, gap.second
            found.append(Example(system, *scores, refs[0], theirs, mine))
    return found
