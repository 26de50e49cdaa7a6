"""The commands of `karat nuggets`, but for `draft`, which talks to a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import choice, flag, option
from karat.cli.show import check_output, note, show
from karat.errors import InputError
from karat.headings import OUTPUT
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="score", cls=nuggets_options.WithClassifiers)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.keyed
@nuggets_options.scoring
@options.output
@flag("--nuggets details", "Also list every nugget.", heading=OUTPUT)
@flag("--pourpre", "Also score by Pourpre, which needs no judgements.", heading=OUTPUT)
def score(
    runs: tuple[str, ...],
    load_options: Any,
    scoring: Any,
    format: str,
    output: str | None,
    **more: Any,
) -> None:
    """Score runs by the nuggets in their answers.

    RUN is a file of responses in any format, or the tag of a run of KEY. Use -o page.html for a
    page that shows, for each question, the nuggets of every run and the responses.

    \b
    karat nuggets score my.run --key key.txt --judgements judged.txt
    karat nuggets score heron --key demo-nuggets --classifier paper:stem=porter
    karat nuggets score heron kestrel --key demo-nuggets -o page.html
    """
    from karat.nuggets.formats.loading import open_runs
    from karat.nuggets.results.scoring import score_nuggets

    check_output(output, (*runs, *nuggets_options.input_files(load_options, scoring["classifier"])))
    with Bar() as progress:
        nuggets = open_runs(runs, **load_options, guess=scoring["guess"], progress=progress)
        result = score_nuggets(nuggets, **scoring, **more, progress=progress)
    show(result.document(options.command_line()), format, output)


@click.command(name="diff", cls=nuggets_options.WithClassifiers)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@nuggets_options.keyed
@nuggets_options.scoring
@options.output
@flag("--all everything", "Also list the nuggets that both or neither version has.", heading=OUTPUT)
def diff(
    old: str,
    new: str,
    load_options: Any,
    scoring: Any,
    everything: bool,
    format: str,
    output: str | None,
) -> None:
    """Show which nuggets a new version of a system gained and lost.

    OLD and NEW are files with the responses of one run, in any format, or tags of runs of KEY. Both
    files may use the same tag.

    \b
    karat nuggets diff old.run new.run --key key.txt --judgements judged.txt
    karat nuggets diff heron kestrel --key demo-nuggets
    """
    from karat.nuggets.formats.loading import open_runs
    from karat.nuggets.results.changes import diff_nuggets

    check_output(
        output, (old, new, *nuggets_options.input_files(load_options, scoring["classifier"]))
    )
    with Bar() as progress:
        before = open_runs((old,), **load_options, progress=progress)
        after = open_runs((new,), **load_options, guess=scoring["guess"], progress=progress)
        scoring |= {"names": (old, new), "everything": everything}
        result = diff_nuggets(before, after, **scoring, progress=progress)
    show(result.document(options.command_line()), format, output)


@click.command(name="tune", cls=nuggets_options.WithClassifiers)
@nuggets_options.nugget_set
@nuggets_options.set_files
@nuggets_options.trials
@options.output
def tune(set_or_path: str, load_options: Any, trials: Any, format: str, output: str | None) -> None:
    """Cross-validate the 24 settings of Nuggeteer's classifier.

    The settings are stemming, n-grams up to 1, 2 or 3, weights by idf or counts, and stop words.
    Thresholds are chosen without the fold that is left out. Also compares the threshold models.

    \b
    karat nuggets tune demo-nuggets
    karat nuggets tune rag24 --classifier paper:normalised=yes,once=yes
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.tuning import tune_nuggets

    check_output(output, nuggets_options.input_files(load_options, trials["classifier"]))
    with Bar() as progress:
        nuggets = load_nuggets(set_or_path, **load_options, progress=progress)
        result = tune_nuggets(nuggets, **trials, progress=progress)
    show(result.document(options.command_line()), format, output)


@click.command(name="evaluate", cls=nuggets_options.WithClassifiers)
@nuggets_options.nugget_set
@nuggets_options.set_files
@nuggets_options.trials
@options.output
@nuggets_options.beta
def evaluate(
    set_or_path: str, load_options: Any, trials: Any, format: str, output: str | None, beta: float
) -> None:
    """Compare Nuggeteer, Pourpre and ROUGE with the assessors of a judged set.

    Shows precision, recall and F of the decisions, and Kendall's tau-b, R^2 and RMSE of the scores
    of runs. Classifiers are cross-validated; the calibrated classifier has the evidence of words,
    without facts and encoders.

    \b
    karat nuggets evaluate demo-nuggets
    karat nuggets evaluate rag24 --leave-out question -o evaluation.html
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.evaluation import evaluate_nuggets

    check_output(output, nuggets_options.input_files(load_options, trials["classifier"]))
    with Bar() as progress:
        nuggets = load_nuggets(set_or_path, **load_options, progress=progress)
        result = evaluate_nuggets(nuggets, **trials, beta=beta, progress=progress)
    show(result.document(options.command_line()), format, output)


@click.command(name="agree", cls=Command)
@nuggets_options.nugget_set
@click.argument("files", metavar="JUDGEMENTS…", nargs=-1, required=True)
@nuggets_options.set_files
@options.output
@nuggets_options.beta
@nuggets_options.strict
@nuggets_options.corrected(False)
def agree(
    set_or_path: str,
    files: tuple[str, ...],
    load_options: Any,
    beta: float,
    strict: bool,
    corrected: bool,
    format: str,
    output: str | None,
) -> None:
    """Compare other judgements with those of a set.

    JUDGEMENTS are files in any format, for the same runs. The official judgements are those of SET
    or of --judgements. Shows precision, recall and F with intervals over questions, and how the
    scores of runs change.

    \b
    karat nuggets agree demo-nuggets mine.jsonl
    karat nuggets agree key.txt mine.txt --run my.run --judgements official.txt
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.agreement import agree_nuggets

    check_output(output, (set_or_path, *files, *load_options["runs"], *load_options["judgements"]))
    with Bar() as progress:
        official_set = load_nuggets(set_or_path, **load_options, progress=progress)
        other_set = load_nuggets(
            set_or_path, **{**load_options, "judgements": files}, progress=progress
        )
        result = agree_nuggets(official_set, other_set, beta, corrected=corrected, strict=strict)
    show(result.document(options.command_line()), format, output)


@click.command(name="describe", cls=Command)
@nuggets_options.nugget_set
@nuggets_options.set_files
@options.output
def describe(set_or_path: str, load_options: Any, format: str, output: str | None) -> None:
    """Describe a set and list its problems.

    Shows the numbers of questions, nuggets, runs and responses, and how many systems found each
    nugget. SET is a key or a whole set in any format, or the name of a known set. A set with
    problems cannot be used: the exit code is then 2.

    \b
    karat nuggets describe demo-nuggets
    karat nuggets describe key.txt --run my.run --judgements judged.txt
    """
    from karat.nuggets.results.contents import describe_nuggets

    check_output(output, (set_or_path, *load_options["runs"], *load_options["judgements"]))
    with Bar() as progress:
        contents = describe_nuggets(set_or_path, **load_options, progress=progress)
    show(contents.document(options.command_line()), format, output)
    if count := contents.problem_count:
        problems = f"{count:,} problem{'s' * (count > 1)}"
        raise InputError(f"{set_or_path} cannot be used: {problems}, see the report")


@click.command(name="convert", cls=Command)
@nuggets_options.nugget_set
@click.argument("target", type=click.Path())
@option(
    "-f --format format",
    "Format of TARGET. jsonl keeps everything. jsonl and rag are files; trec and units, folders.",
    choice("jsonl", "rag", "trec", "units"),
    "jsonl",
)
@nuggets_options.set_files
def convert(set_or_path: str, target: str, load_options: Any, format: str) -> None:
    """Convert a set, or a key with its runs and judgements, to another format.

    Nothing is overwritten: TARGET must not exist yet.

    \b
    karat nuggets convert demo-nuggets my-nuggets --format trec
    karat nuggets convert key.txt all.jsonl --run my.run --judgements judged.txt
    """
    from karat.evalset.conversion import check_free
    from karat.nuggets.formats.loading import load_nuggets, save_nuggets

    check_free(Path(target))
    with Bar() as progress:
        nuggets = load_nuggets(set_or_path, **load_options, progress=progress)
        save_nuggets(nuggets, target, format)
    click.echo(f"{target}: {nuggets!r}")
    if format != "jsonl" and (labels := sum(map(len, nuggets.judgements.labels_by_model.values()))):
        note(f"{target} lacks {labels:,} labels of models, which only jsonl keeps")
