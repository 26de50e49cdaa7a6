"""`karat judge pairs`: a model compares outputs, two at a time."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.asking.options import asking, sample, seed
from karat.cli.asking.running import Asking, answer
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.inputs import load_set
from karat.cli.parameters import option
from karat.judge.cli.options import guideline


@click.command(name="pairs", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@option(
    "--baseline", "Compare every other system with this one. Default: all pairs.", metavar="SYSTEM"
)
@option("-d --dimension", "Quality to compare. Default: overall quality.", metavar="NAME")
@guideline
@sample("segment")
@asking("the preferences as JSON lines")
@options.exclude
@options.reader
@seed
def command(name: str, asking: Asking, **given: Any) -> None:
    """Let a language model say which of two outputs is better.

    Every pair is asked about in both orders. A preference that changes with the order is a tie, and
    the report shows how often that happened.

    \b
    karat judge pairs demo --baseline atlas --endpoint demo -o log.jsonl
    karat judge pairs SET --endpoint URL --model M -o log.jsonl --budget 500
    """
    from karat.judge.judging import compared_dimension
    from karat.judge.material import Material
    from karat.judge.pairs import PairTask

    asking.check([name])
    with Bar() as progress:
        evalset = load_set(name, given["read_as"], given["reader_options"], progress)
    evalset = evalset.without(*given["exclude"]) if given["exclude"] else evalset
    how = compared_dimension(evalset, given["dimension"], given["guideline"])
    material = Material(evalset, how, given["sample"], given["seed"])
    answer(PairTask(material, asking.prompt, given["baseline"]), asking)
