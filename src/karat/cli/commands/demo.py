"""`karat demo`: the main job on bundled texts."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import option, path
from karat.cli.show import check_output, check_page, show
from karat.errors import OutputError

if TYPE_CHECKING:
    from karat.comparison import Comparison
    from karat.report.model.table import Figure

SYSTEMS = ("atlas", "beacon", "cinder", "drift")
BASELINE = "beacon"


@click.command(name="demo", cls=Command)
@option("-o --output", "Write the report to FILE (HTML).", path, "karat-demo.html")
@option(
    "--texts",
    "Only copy the bundled texts to FOLDER, which is created if need be.",
    path,
    metavar="FOLDER",
)
def command(output: str, texts: str | None) -> None:
    """Compare four systems on bundled texts, and write an HTML report.

    The texts were written for this demonstration. They are not the output of real systems.

    \b
    karat demo
    karat demo -o report.html
    karat demo --texts .
    """
    if texts is not None:
        copy_texts(texts)
        return
    from karat.cli.inputs import open_inputs
    from karat.comparison import compare

    check_output(output)
    check_page("--output", output)
    with resources.as_file(resources.files("karat") / "data" / "demo") as folder, Bar() as progress:
        files = [str(folder / "systems" / f"{name}.txt") for name in SYSTEMS]
        references = [str(path) for path in sorted(Path(folder).glob("reference-*.txt"))]
        systems, refs = open_inputs(files, references, False, progress)
        comparison = compare(
            systems, refs, options.DEFAULT_METRICS, baseline=BASELINE, progress=progress, examples=2
        )
    document = comparison.document("karat demo")
    document = replace(document, blocks=(*document.blocks, *_pictures(comparison)))
    show(document, "html", output)
    show(document, "text", None)
    click.echo(f"\nIllustrative texts, written for this demonstration. Report: {output}")
    click.echo("More to try: karat meta demo; karat plane fit demo")
    click.echo("Nuggets: karat nuggets score heron kestrel --key demo-nuggets --nuggets")
    click.echo("Paraphrases: echo 'I want to buy a car.' | karat paraphrase generate -")
    click.echo("Sentences: karat realize demo")


def _pictures(comparison: Comparison) -> list[Figure]:
    """Return pictures of the words that a system and the reference share in a long segment."""
    from karat.metrics.gtm import GTM
    from karat.report.documents.grids import grid_figures

    example = max(comparison.examples, key=lambda one: len(one.system_text))
    found = GTM(e=2).explain(example.system_text, example.reference)
    return grid_figures(found, f"{example.system}, segment {example.segment + 1}")


def copy_texts(folder: str) -> None:
    """Write the systems as `atlas.txt` and so on, and the references as `ref1.txt` and so on.

    The folder is created if it does not exist. Files with other content are never overwritten.
    """
    from karat.storage.output import write_atomically

    data = resources.files("karat") / "data" / "demo"
    sources = {f"{name}.txt": data / "systems" / f"{name}.txt" for name in SYSTEMS}
    sources |= {f"ref{n}.txt": data / f"reference-{n}.txt" for n in (1, 2, 3)}
    texts = {Path(folder) / name: source.read_text("utf-8") for name, source in sources.items()}
    for target, text in texts.items():
        if target.exists() and not (target.is_file() and target.read_bytes() == text.encode()):
            raise OutputError(
                f"{target} already exists and is not the bundled text: choose another folder, or "
                "move the file"
            )
    is_new = not Path(folder).exists()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create the folder {folder}: {error.strerror}") from error
    for target, text in texts.items():
        write_atomically(target, text)
    click.echo(f"{folder}{' (created)' if is_new else ''}: {' '.join(sources)}")
