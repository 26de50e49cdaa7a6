"""`karat judge ratings`: a model rates outputs."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.asking.options import asking, sample, seed
from karat.cli.asking.running import Asking, answer
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.inputs import load_set
from karat.cli.parameters import option, whole
from karat.judge.cli.options import ScaleEnds, guideline


@click.command(name="ratings", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option("-d --dimension", "Quality to rate, such as fluency.", required=True, metavar="NAME")
@option("--scale", "Ends of the scale, such as 1-5. Default: those of SET.", ScaleEnds())
@guideline
@option("--batch", "Outputs of a segment in one request, in random order.", whole(1), 1)
@sample("segment")
@asking("the ratings as JSON lines")
@options.exclude
@options.reader
@seed
def command(name: str, asking: Asking, **given: Any) -> None:
    """Let a language model rate the outputs of an evaluation set.

    The model sees texts without the names of systems, and quotes the words that decide a rating. An
    answer that is not valid is asked for again, and is missing in the end. To compare the log with
    people: `karat data judges SET -j log.jsonl`.

    \b
    karat judge ratings demo -d fluency --endpoint demo -o log.jsonl
    karat judge ratings demo -d style --scale 1-7 --endpoint demo -o log.jsonl
    karat judge ratings SET -d x --endpoint URL --model M -o log.jsonl --dry-run
    """
    from karat.judge.material import Material, chosen_dimension
    from karat.judge.ratings import RatingTask

    asking.check([name])
    with Bar() as progress:
        evalset = load_set(name, given["read_as"], given["reader_options"], progress)
    evalset = evalset.without(*given["exclude"]) if given["exclude"] else evalset
    how = chosen_dimension(evalset, given["dimension"], given["scale"], given["guideline"])
    material = Material(evalset, how, given["sample"], given["seed"])
    answer(RatingTask(material, asking.prompt, given["batch"]), asking)
