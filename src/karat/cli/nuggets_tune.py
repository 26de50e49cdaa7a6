"""`karat nuggets tune`: the 24 settings of the paper's classifier, cross-validated."""

from __future__ import annotations

import click

from karat.cli import nuggets_options, options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show


@click.command(name="tune")
@click.argument("name", metavar="SET", shell_complete=nuggets_options.complete_nuggets)
@nuggets_options.places
@nuggets_options.left_out
@click.option(
    "--idf", metavar="FILE", type=click.Path(), help="Count idf in these texts, one a line."
)
@click.option("--normalised", is_flag=True, help="Divide by what a description itself would score.")
@click.option("--once", is_flag=True, help="Count an n-gram once in a response.")
@options.output
def command(
    name: str,
    runs: tuple[str, ...],
    judgements: tuple[str, ...],
    skip_unknown: bool,
    by: str,
    idf: str | None,
    normalised: bool,
    once: bool,
    format: str,
    output: str | None,
) -> None:
    """Cross-validate the 24 settings of Nuggeteer's classifier.

    Stemming, n-grams up to 1, 2 or 3, idf or counts, stop words; thresholds are chosen without the
    fold that is left out. Also says which threshold model the data favour.

    \b
    karat nuggets tune demo-nuggets
    karat nuggets tune rag24 --leave-out question --normalised --once
    """
    from karat.nuggets.classifier import Classifier, pooled_idf, score
    from karat.nuggets.evaluation import judged_pool
    from karat.nuggets.loading import load_nuggets
    from karat.nuggets.thresholds import compare_models
    from karat.nuggets.tuning import best, settings, tune
    from karat.report.nugget_evaluation import tune_document
    from karat.text.segments import Lines

    check_output(output, (*runs, *judgements, *([idf] if idf else ())))
    with Bar() as progress:
        found = load_nuggets(name, runs, judgements, skip_unknown=skip_unknown, progress=progress)
        pool, labels = judged_pool(found)
        asked = settings(Classifier(normalised=normalised, once=once))
        lines = Lines(idf, progress) if idf else None
        corpus = lines.views(0, len(lines)).strings() if lines else None
        trials = tune(pool, labels, by, asked, progress=progress, corpus=corpus)
        chosen = best(trials).classifier
        weigh = pooled_idf(corpus, chosen) if corpus else None
        models = compare_models(pool, score(pool, chosen, weigh), labels)
    show(tune_document(found.name, trials, models, by, options.command_line()), format, output)
