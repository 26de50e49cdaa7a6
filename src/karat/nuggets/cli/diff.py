"""`karat nuggets diff`: which nuggets a new version of a system gained and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.nuggets.cli.score import need_judgements, open_runs

if TYPE_CHECKING:
    from karat.nuggets.guess.guesses import GuessRule


@click.command(name="diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@nuggets_options.key
@nuggets_options.judgements
@nuggets_options.judges
@nuggets_options.scoring
@nuggets_options.corrected(True)
@nuggets_options.guessing
@nuggets_options.classifier
@click.option("--all", "everything", is_flag=True, help="Also list nuggets kept and missed.")
@nuggets_options.skip_unknown
@options.output
def command(
    old: str,
    new: str,
    key: str,
    judgements: tuple[str, ...],
    judges: nuggets_options.JudgeOptions,
    beta: float,
    weights: str,
    strict: bool,
    corrected: bool,
    guess: bool,
    general: bool,
    rule: GuessRule,
    everything: bool,
    skip_unknown: bool,
    format: str,
    output: str | None,
) -> None:
    """Show which nuggets a new version of a system gained and lost.

    OLD and NEW are files with the responses of one run, in any format, or tags of runs that come
    with KEY. Both files may use the same tag.

    \b
    karat nuggets diff old.run new.run --key key.txt --judgements judged.txt
    karat nuggets diff heron kestrel --key demo-nuggets
    """
    from karat.nuggets.results.changes import diff_nuggets
    from karat.nuggets.scores.official import Official

    check_output(output, (old, new, key, *judgements, *nuggets_options.files_of(rule.idf)))
    how = Official(beta, weights, strict)
    with Bar() as progress:
        given = key, judgements, skip_unknown, judges, progress
        before, after = (open_runs((one,), *given) for one in (old, new))
        if not guess:
            need_judgements(before, key)
        done = diff_nuggets(
            before,
            after,
            how,
            names=(old, new),
            guess=guess,
            rule=rule,
            corrected=corrected,
            general=general,
            everything=everything,
            progress=progress,
        )
    show(done.document(options.command_line()), format, output)
