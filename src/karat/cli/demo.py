"""`karat demo`: the main job on bundled texts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show

SYSTEMS = ("atlas", "beacon", "cinder", "drift")
BASELINE = "beacon"


@click.command(name="demo")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    default="karat-demo.html",
    show_default=True,
    help="Where to write the HTML report.",
)
def command(output: str) -> None:
    """Compare four systems on bundled texts, here and in an HTML report.

    The texts were written for Karat: they show the tool and say nothing about any real system.
    """
    from karat.cli.inputs import open_inputs
    from karat.comparison import compare
    from karat.report.comparisons import comparison_document, find_examples

    check_output(output)
    with resources.as_file(resources.files("karat") / "data" / "demo") as folder, Bar() as progress:
        files = [str(folder / "systems" / f"{name}.txt") for name in SYSTEMS]
        references = [str(path) for path in sorted(Path(folder).glob("reference-*.txt"))]
        systems, refs = open_inputs(files, references, False, progress)
        comparison = compare(
            systems, refs, options.DEFAULT_METRICS, baseline=BASELINE, progress=progress
        )
        examples = find_examples(comparison, systems, refs, 2)
    document = comparison_document(comparison, examples, "karat demo")
    show(document, "html", output)
    show(document, "text", None)
    click.echo(f"\nIllustrative texts, written for this demonstration. Report: {output}")
