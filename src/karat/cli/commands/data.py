"""`karat data`: check, convert and list evaluation sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import load_set
from karat.cli.parameters import F, choice, option
from karat.cli.show import check_beside, check_output, show
from karat.errors import InputError
from karat.evalset.kinds import SET_KINDS
from karat.registry import load

_SET = click.argument("name", metavar="SET", shell_complete=options.complete_set)


def _options_of_kinds(function: F) -> F:
    """Add the options that other kinds of sets have."""
    for kind in SET_KINDS.known():
        function = load(SET_KINDS[kind].options)(function)
    return function


@click.group(name="data", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Check, convert and list evaluation sets.

    SET is a folder or file in a known format, or the name of a known set.

    \b
    karat data list
    karat data check demo
    karat data convert ratings.tsv my-set
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@command.command(name="check")
@_SET
@options.reader
@options.output
def check(name: str, format: str, output: str | None, **reader: Any) -> None:
    """Say what is in a set and what is wrong with it.

    Every problem is listed; with any, the set cannot be used and the exit code is 2.

    \b
    karat data check demo
    karat data check my-set --format json
    karat data check mqm.tsv --option references=refB
    """
    from karat.evalset.contents import check_evalset
    from karat.evalset.loading import as_options

    check_beside(output, name)
    more = as_options(reader["reader_options"])
    with Bar() as progress:
        found = check_evalset(name, reader["read_as"], progress=progress, **more)
    show(found.document(options.command_line()), format, output)
    if found.evalset is None:
        count = f"{found.problem_count:,} problem{'s' * (found.problem_count > 1)}"
        raise InputError(f"{name} cannot be used: {count}, listed in the report")


@command.command(name="convert")
@_SET
@click.argument("target", metavar="DIR", type=click.Path())
@options.reader
@option(
    "--format format",
    "A folder of text files, or one file of JSON lines.",
    choice("dir", "jsonl"),
    "dir",
)
@option(
    "--parse",
    "Parse every reference into a dependency tree with a spaCy pipeline, such as en_core_web_sm.",
    metavar="PIPELINE",
)
@option(
    "--tok",
    "Tokeniser of references for --parse, as the tok of metrics (default: spaCy's own).",
    metavar="TOKENISER",
)
def convert(
    name: str, target: str, format: str, parse: str | None, tok: str | None, **reader: Any
) -> None:
    """Write a set as a folder, or as one file, that Karat reads.

    Nothing is overwritten: DIR must not exist yet.

    \b
    karat data convert demo my-demo
    karat data convert demo demo.jsonl --format jsonl
    karat data convert demo parsed --parse en_core_web_sm --tok 13a
    """
    from karat.evalset.loading import as_options
    from karat.evalset.saving import convert_evalset

    how, more = reader["read_as"], as_options(reader["reader_options"])
    more |= {"parse": parse, "tok": tok}
    with Bar() as progress:
        found = convert_evalset(name, target, format, how, progress=progress, **more)
    click.echo(f"{target}: {found.evalset!r}")


@command.command(name="list")
@options.output
def list_known(format: str, output: str | None) -> None:
    """List the sets that have names, and whether they are here.

    They are looked for in the folder that the variable KARAT_DATA names.

    \b
    karat data list
    karat data list --format json
    """
    from karat.evalset.loading import known_evalsets

    check_output(output)
    show(known_evalsets().document(options.command_line()), format, output)


@command.command(name="judges")
@_SET
@options.reader
@options.dimensions
@option(
    "--control controls",
    "Leave a system out that is there to check judges; repeat for several.",
    multiple=True,
    metavar="SYSTEM",
)
@_options_of_kinds
@options.output
def judges(name: str, format: str, output: str | None, **given: Any) -> None:
    """Say how far judges agree, and who stands apart.

    Pearson's r of pairs of judges over outputs and over systems, Krippendorff's alpha, ICC, and
    each judge against the mean of the others. Judges that stand apart are flagged, never dropped.
    SET may be a nugget set or the key of one, with --judgements in files of their own: judges are
    then also compared by Cohen's kappa, with each other and with what was adjudicated.

    \b
    karat data judges demo
    karat data judges believability --dimension fluency --format json
    karat data judges key.jsonl -j ann.jsonl -j gpt.jsonl --model-judge gpt
    """
    from karat.meta.judge_agreement import judge_agreement

    read_as, reader_options = map(given.pop, ("read_as", "reader_options"))
    dimensions, controls = map(given.pop, ("dimensions", "controls"))
    check_beside(output, name)
    check_output(output, given.get("judgements", ()))
    with Bar() as progress:
        kinds = [load(SET_KINDS[kind].read) for kind in SET_KINDS.known()]
        read = (kind(name, dimensions, progress, **given) for kind in kinds)
        found = next((one for one in read if one is not None), None)
        if found is None:
            found = load_set(name, read_as, reader_options, progress)
        agreement = judge_agreement(found, dimensions, controls)
    show(agreement.document(options.command_line()), format, output)


@command.command(name="flood")
@_SET
@click.argument("folder", type=click.Path())
@options.reader
@option("-d --dimension", "Dimension whose ratings are lowered.", required=True)
@option(
    "--system systems",
    "Systems whose answers are flooded; repeat for several. Default: ranks 1, 2, 3 and 6.",
    multiple=True,
)
@option("--correct", "An answer is correct from this value on.", float, 0.5)
@option(
    "--share",
    "Of the correct answers that are flooded.",
    click.FloatRange(0, 1),
    2 / 3,
    show_default="2/3",
)
@option(
    "--downgrade",
    "What flooded answers keep of their rating above the lower end of its scale.",
    click.FloatRange(0, 1),
    0.5,
)
@options.seed
def flood(
    name: str, folder: str, read_as: str | None, reader_options: tuple[str, ...], **settings: Any
) -> None:
    """Flood correct answers with sentences from elsewhere, and lower their ratings.

    Simulates a guideline that punishes what does not belong in an answer, as the second evaluation
    of question answering of Soricut and Brill (2004). Writes the new set to FOLDER.

    \b
    karat data flood demo flooded --dimension adequacy --correct 4
    karat data flood rag24 flooded --dimension all
    """
    from karat.evalset.flooding import Flood
    from karat.evalset.flooding import flood as flooded
    from karat.evalset.saving import check_free, save_evalset

    check_free(Path(folder))
    how = Flood(**settings)
    with Bar() as progress:
        found = flooded(load_set(name, read_as, reader_options, progress), how)
        save_evalset(found.evalset, folder)
    told = f"{len(found.rows):,} answers of {', '.join(found.systems)} flooded"
    click.echo(f"{folder}: {told}; they keep {how.downgrade:g} of their {how.dimension}")
