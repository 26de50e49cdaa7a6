"""`karat data`: check, convert and list evaluation sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Group, help_group
from karat.cli.inputs import SetInput, add_kind_options
from karat.cli.parameters import choice, option, path, share
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.meta.settings import PlantingSettings
from karat.progress import Bar

command = help_group(
    Group,
    "data",
    """Check, convert and list evaluation sets.

    SET is a folder or file in a known format, or the name of a known set.

    \b
    karat data list
    karat data check demo
    karat data convert ratings.tsv my-set
    """,
)


@command.command(name="check")
@options.set_argument
@options.judged_reader
@options.output
def check(source: SetInput, format: str, output: str | None) -> None:
    """Describe a set and list its problems.

    A set with problems cannot be used: the exit code is then 2.

    \b
    karat data check demo
    karat data check my-set --format json
    karat data check mqm.tsv --option references=refB
    """
    from karat.evalset.conversion import check_evalset

    source.check_output(output)
    with Bar() as progress:
        contents = check_evalset(source.name, source.read_as, progress=progress, **source.reading())
    show(contents, format, output)
    if contents.evalset is None:
        count = f"{contents.problem_count:,} problem{'s' * (contents.problem_count > 1)}"
        raise InputError(f"{source.name} cannot be used: {count}, see the report")


@command.command(name="convert")
@options.set_argument
@click.argument("target", metavar="TARGET", type=click.Path())
@option(
    "-f --format format",
    "Format of TARGET: a folder of text files (dir), or one file of JSON lines.",
    choice("dir", "jsonl"),
    "dir",
)
@options.judged_reader
@option(
    "--parse",
    "Parse every reference into a dependency tree with a spaCy pipeline, such as en_core_web_sm.",
    metavar="PIPELINE",
)
@option(
    "--tok",
    "Tokeniser of the references for --parse (see `karat metrics`). Default: spaCy's own.",
    metavar="TOKENISER",
)
def convert(source: SetInput, target: str, format: str, parse: str | None, tok: str | None) -> None:
    """Convert a set to a folder of text files, or to one file of JSON lines.

    Nothing is overwritten: TARGET must not exist yet.

    \b
    karat data convert demo my-demo
    karat data convert demo demo.jsonl --format jsonl
    karat data convert demo parsed --parse en_core_web_sm --tok 13a
    """
    from karat.evalset.conversion import convert_evalset

    with Bar() as progress:
        contents = convert_evalset(
            source.name,
            target,
            format,
            source.read_as,
            parse=parse,
            tok=tok,
            progress=progress,
            **source.reading(),
        )
    click.echo(f"{target}: {contents.evalset!r}")


@command.command(name="challenge")
@options.set_argument
@click.argument("target", metavar="FILE", type=click.Path())
@options.settings_options(PlantingSettings)
@options.reader
def challenge_command(source: SetInput, target: str, **settings: Any) -> None:
    """Plant errors into texts of a set, for `karat meta challenge`.

    Writes a table (.csv, .tsv or .jsonl) with a row for each pair of a good and a bad text. Correct
    it by hand where an error is no error. Good texts are the second reference of each segment, or
    its only one, or with --system the outputs of a system. Nothing is overwritten: FILE must not
    exist yet.

    \b
    karat data challenge demo planted.csv
    karat data challenge demo planted.csv --system atlas --phenomenon negation
    karat data challenge my-set planted.jsonl --lang de --seed 7
    """
    from karat.evalset.conversion import check_free
    from karat.meta.planting import make_challenge

    check_free(Path(target))
    with Bar() as progress:
        challenge = make_challenge(source.load(progress), progress=progress, **settings)
    challenge.save(target)
    counts = Counter(pair.phenomenon for pair in challenge.pairs)
    click.echo(f"{target}: {len(challenge):,} pairs of {', '.join(_counted(counts))}")
    for note in challenge.notes:
        click.echo(note)


def _counted(counts: Counter[str]) -> list[str]:
    return [f"{name} ({count:,})" for name, count in counts.items()]


@command.command(name="list")
@options.output
def list_evalsets(format: str, output: str | None) -> None:
    """List the known sets and whether they are available.

    Sets that are not bundled are looked for in the folder $KARAT_DATA.

    \b
    karat data list
    karat data list --format json
    """
    from karat.evalset.loading import known_evalsets

    check_output(output)
    show(known_evalsets(), format, output)


@command.command(name="judges")
@options.set_argument
@options.dimensions
@option(
    "--exclude",
    "System to leave out, such as a control. Repeat for several.",
    multiple=True,
    metavar="SYSTEM",
)
@options.output
@options.judged_reader
@add_kind_options
def judges(
    source: SetInput,
    dimensions: tuple[str, ...],
    exclude: tuple[str, ...],
    format: str,
    output: str | None,
    **kind_options: Any,
) -> None:
    """Show how well judges agree, and flag judges that disagree with the others.

    Shows Pearson's r of pairs of judges over outputs and over systems, Krippendorff's alpha, the
    ICC, and each judge against the mean of the others. Flagged judges are not dropped. SET can also
    be a nugget set, or an answer key with --judgements. Models that rated outputs are compared with
    the mean of people and never flagged. Judges of nuggets are also compared by Cohen's kappa, with
    each other and with the adjudicated judgements.

    \b
    karat data judges demo
    karat data judges believability --dimension fluency --format json
    karat data judges my-set -j log.jsonl
    karat data judges key.jsonl -j ann.jsonl -j gpt.jsonl --model-judge gpt
    """
    from karat.meta.judge_agreement import judge_agreement

    source.check_output(output)
    with Bar() as progress:
        loaded = source.load_any_kind(dimensions, kind_options, progress)
        agreement = judge_agreement(loaded, dimensions, exclude)
    show(agreement, format, output)


@command.command(name="draw")
@options.set_argument
@click.argument("count", metavar="N", type=click.IntRange(min=1))
@option(
    "--unit",
    "Unit to draw: segments, or groups (documents).",
    choice("segment", "group"),
    "segment",
)
@option("--plan", "Write the draws to FILE (TSV), for `karat estimate --draws`.", path)
@options.output
@options.reader
@options.seed
def draw(
    source: SetInput,
    count: int,
    unit: str,
    seed: int,
    plan: str | None,
    format: str,
    output: str | None,
) -> None:
    """Draw N segments for people to label, at random.

    \b
    karat data draw demo 5
    karat data draw my-set 50 --plan draws.tsv
    karat data draw my-set 20 --unit group --plan draws.tsv
    """
    from karat.estimation.planning import draw_units
    from karat.evalset.draws import format_draws
    from karat.storage.output import write_atomically

    source.check_output(output, plan=plan)
    with Bar() as progress:
        drawn_units = draw_units(source.load(progress), count, unit, seed=seed)
    if plan:
        write_atomically(plan, "".join(format_draws(drawn_units.rows)))
    show(drawn_units, format, output)


@command.command(name="flood")
@options.set_argument
@click.argument("folder", type=click.Path())
@option("-d --dimension", "Dimension whose ratings are lowered.", required=True, metavar="NAME")
@option(
    "--system systems",
    "System whose answers are flooded. Repeat for several. Default: ranks 1, 2, 3 and 6.",
    multiple=True,
    metavar="NAME",
)
@option(
    "--correct",
    "Lowest rating of a correct answer. Default: the middle of the dimension's scale.",
    float,
    metavar="X",
)
@option(
    "--share",
    "Share of the correct answers that are flooded, 0 to 1.",
    share(),
    2 / 3,
    show_default="2/3",
)
@option(
    "--downgrade",
    "Share of its rating that a flooded answer keeps, 0 to 1, above the lower end of the scale.",
    share(),
    0.5,
)
@options.reader
@options.seed
def flood_command(source: SetInput, folder: str, **settings: Any) -> None:
    """Add sentences from other answers to correct answers, and lower their ratings.

    Simulates a guideline that penalises superfluous text, like the second evaluation of question
    answering in Soricut and Brill (2004). Writes the new set to FOLDER.

    \b
    karat data flood demo flooded --dimension adequacy --correct 4
    karat data flood rag24 flooded --dimension all
    """
    from karat.evalset.conversion import check_free, save_evalset
    from karat.evalset.flooding import Flood, flood

    check_free(Path(folder))
    flooding = Flood(**settings)
    with Bar() as progress:
        flooded = flood(source.load(progress), flooding)
        save_evalset(flooded.evalset, folder)
    count = f"{len(flooded.rows):,} answers of {', '.join(flooded.systems)} flooded"
    click.echo(f"{folder}: {count}; they keep {flooding.downgrade:g} of their {flooding.dimension}")
    for note in flooded.notes:
        click.echo(note)
