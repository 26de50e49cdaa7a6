"""`karat judge nuggets`: a model says which responses contain which nuggets."""

from __future__ import annotations

from typing import Any

import click

from karat.cli.asking.options import asking, sample, seed
from karat.cli.asking.running import Asking, answer
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import option, whole
from karat.nuggets.cli import options as nuggets_options


@click.command(name="nuggets", cls=Command)
@nuggets_options.nugget_set
@nuggets_options.places
@option("--batch", "Nuggets in one request.", whole(1), 10)
@sample("question")
@asking("the labels as JSON lines", max_tokens=2048)
@seed
def command(name: str, given: Any, asking: Asking, **how: Any) -> None:
    """Let a language model decide which responses contain which nuggets.

    SET is a set with runs, or a key with --run. Labels are support, partial_support and
    not_support, the first two with a quote of the response. `karat nuggets score --judgements`
    reads the log: labels of a model are evidence for the classifier, not judgements.

    \b
    karat judge nuggets demo-nuggets --endpoint demo -o labels.jsonl
    karat judge nuggets key.txt --run my.run --endpoint URL --model M -o log.jsonl
    """
    from karat.judge.supports import SupportTask
    from karat.nuggets.formats.loading import load_nuggets

    asking.check([name, *given["runs"], *given["judgements"]])
    with Bar() as progress:
        found = load_nuggets(name, **given, progress=progress)
    task = SupportTask(found, asking.prompt, **how)
    answer(task, asking)
