"""`karat nuggets diff`: which nuggets a new version of a system gained and lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options
from karat.nuggets.cli.score import need_judgements, open_runs

if TYPE_CHECKING:
    from karat.nuggets.guess.guesses import GuessRule
    from karat.nuggets.sets.nugget_set import NuggetSet
    from karat.nuggets.sets.runs import Run
    from karat.progress import Progress


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
    from karat.nuggets.report.changes import changes_document
    from karat.nuggets.report.classifiers import about_guesses
    from karat.nuggets.results.changes import changes
    from karat.nuggets.results.scoring import score_nuggets
    from karat.nuggets.scores.official import Official
    from karat.nuggets.sets.nugget_set import remarks

    check_output(output, (old, new, key, *judgements, *nuggets_options.files_of(rule.idf)))
    how = Official(beta, weights, strict)
    with Bar() as progress:
        both = [_open(x, key, judgements, skip_unknown, judges, progress) for x in (old, new)]
        if not guess:
            need_judgements(both[0], key)
        given = [run for found in both for run in found.runs.values()]
        runs = _told_apart(given, old, new)
        judged_as = {run.tag: judged.tag for run, judged in zip(runs, given, strict=True)}
        versions = replace(both[0], runs={run.tag: run for run in runs})
        done = score_nuggets(
            versions,
            how,
            guess=guess,
            rule=rule,
            corrected=corrected,
            general=general,
            judged_as=judged_as,
            progress=progress,
        )
        result = changes(versions.key, how, *((one.run, one.decided) for one in done.scored))
    told = [sentence for found in both for sentence in remarks(found, corrected=corrected)]
    told = [*dict.fromkeys([*told, *about_guesses(done, rule)])]
    line = options.command_line()
    report = changes_document(result, done, line, everything=everything, remarks=told)
    show(report, format, output)


def _told_apart(runs: list[Run], old: str, new: str) -> list[Run]:
    """Two versions of one system, which use the same tag, are called as they were given."""
    if runs[0].tag != runs[1].tag:
        return runs
    names = (old, new) if old != new else (f"{old} (old)", f"{new} (new)")
    return [replace(run, tag=name) for run, name in zip(runs, names, strict=True)]


def _open(
    given: str,
    key: str,
    judgements: tuple[str, ...],
    skip_unknown: bool,
    judges: nuggets_options.JudgeOptions,
    progress: Progress,
) -> NuggetSet:
    """The key with one run."""
    found = open_runs((given,), key, judgements, skip_unknown, judges, progress)
    if len(found.runs) == 1:
        return found
    names = ", ".join([*found.runs][:5]) + (", …" if len(found.runs) > 5 else "")
    raise InputError(
        f"{given} holds {len(found.runs)} runs{f' ({names})' if names else ''}, expected one: give "
        "each its own file, or name tags of runs that come with the key"
    )
