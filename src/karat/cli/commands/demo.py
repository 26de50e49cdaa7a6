"""`karat demo`, `reproduce` and `completion`."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import flag, option, path
from karat.cli.show import check_output, show
from karat.errors import OutputError
from karat.progress import Bar
from karat.score_settings import DEFAULT_METRICS

if TYPE_CHECKING:
    from karat.comparison import Comparison
    from karat.report.model import Figure


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
def demo_command(output: str, texts: str | None) -> None:
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
    from karat.api import compare
    from karat.cli.inputs import InputFiles

    check_output(output)
    if Path(output).suffix.lower() not in ("", ".html", ".htm"):
        raise OutputError(f"--output {output}: the report is a web page; use a name like page.html")
    with resources.as_file(resources.files("karat") / "data" / "demo") as folder, Bar() as progress:
        files = [str(folder / "systems" / f"{name}.txt") for name in SYSTEMS]
        references = [str(path) for path in sorted(Path(folder).glob("reference-*.txt"))]
        systems, refs = InputFiles(files, references).open_texts(progress)
        comparison = compare(
            systems, refs, DEFAULT_METRICS, baseline=BASELINE, progress=progress, examples=2
        )
    document = comparison.document("karat demo")
    document = replace(document, blocks=(*document.blocks, *_shared_word_figures(comparison)))
    show(document, "html", output)
    show(document, "text", None)
    click.echo(f"\nIllustrative texts, written for this demonstration. Report: {output}")
    click.echo("More to try: karat meta demo; karat plane fit demo")
    click.echo("Nuggets: karat nuggets score heron kestrel --key demo-nuggets --nuggets")
    click.echo("Paraphrases: echo 'I want to buy a car.' | karat paraphrase generate -")
    click.echo("Sentences: karat realize demo")


def _shared_word_figures(comparison: Comparison) -> list[Figure]:
    """Return pictures of the words that a system and the reference share in a long segment."""
    from karat.metrics.gtm import GTM
    from karat.report.segment.document import grid_figures

    example = max(comparison.examples, key=lambda row: len(row.system_text))
    explanation = GTM(e=2).explain(example.system_text, example.reference)
    return grid_figures(explanation, f"{example.system}, segment {example.segment + 1}")


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


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from karat.reproduction.papers import REPRODUCTIONS

    return [name for name in REPRODUCTIONS if name.startswith(incomplete)]


@click.command(name="reproduce", cls=Command)
@click.argument("name", metavar="PAPER", shell_complete=_complete)
@option(
    "--data",
    "Folder of the data sets (default: the one that KARAT_DATA names); bundled for the small "
    "bundled data, which are also used where no folder is named.",
    path,
    metavar="FOLDER",
)
@flag("--full", "Also run what takes longer: all lengths (gtm), a second set (nuggeteer).")
@options.seed
@options.output
@options.threads
def reproduce_command(name: str, format: str, output: str | None, **settings: Any) -> None:
    """Make the main table or figure of a paper again, and compare.

    PAPER is aev, gtm, fergus, pem or nuggeteer. The report says which conclusions of the paper hold
    on the data at hand, sets the published numbers beside ours, and lists what differs.

    \b
    karat reproduce aev --data bundled
    karat reproduce fergus -o fergus.html
    karat reproduce nuggeteer --data FOLDER --full
    """
    from karat.reproduction.papers import reproduce

    check_output(output, sets=[settings["data"] or ""])
    with Bar() as progress:
        reproduction = reproduce(name, progress=progress, **settings)
    show(reproduction, format, output)


_CLASSES = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(list(_CLASSES)))
def completion_command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    eval "$(karat completion bash)"        # in ~/.bashrc
    eval "$(karat completion zsh)"         # in ~/.zshrc
    karat completion fish > ~/.config/fish/completions/karat.fish
    """
    from karat.cli.main import cli

    complete = _CLASSES[shell](cli, {}, "karat", "_KARAT_COMPLETE")
    click.echo(complete.source())
