"""`karat paraphrase score`, `explain`, `generate` and `evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import system_name
from karat.cli.parameters import choice, flag, integer, option, path, share
from karat.cli.show import check_output, say, show, write_charts
from karat.errors import InputError
from karat.facts.rules import LANGUAGES
from karat.headings import ADVANCED, TESTS
from karat.paraphrase.generate import CONFIDENCE
from karat.progress import Bar, silent

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import Generated

originals_option = option(
    "--originals", "File of originals, with the same number of lines.", path, required=True
)
model_option = option(
    "--model",
    "Model of `karat paraphrase train`. `bundled` is a small model for trying things out.",
    default="bundled",
    show_default=True,
    metavar="FILE",
)
form_option = option(
    "--form",
    "Features: the paper's three (paper), the same from single words (unigram), or more (rich). "
    "Default: those of the model.",
    choice("paper", "unigram", "rich"),
    heading=ADVANCED,
)
copies_option = option(
    "--copies",
    "Worth of a copy of the original: good (5), bad (2 of 5, as in the paper) or ignore (no "
    "score). Default: as in the model.",
    choice("good", "bad", "ignore"),
)
dimension_option = option(
    "-d --dimension", "Dimension of SET that is overall quality. Default: detected.", metavar="NAME"
)


@click.command(name="score", cls=Command)
@click.argument("paraphrases", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@originals_option
@model_option
@copies_option
@flag("--segments", "Also show the score of every paraphrase, and its changed facts.")
@option(
    "--feature features",
    "Metric that the model has as a feature, with a file or folder that is elsewhere now. Give "
    "all of them in the model's order.",
    multiple=True,
    metavar="METRIC",
    heading=ADVANCED,
)
@options.output
@form_option
@options.as_text
@options.resamples
@options.seed
@options.threads
def score(
    paraphrases: tuple[str, ...],
    originals: str,
    model: str,
    form: str | None,
    as_text: bool,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Score paraphrases by PEM, from 1 to 5.

    Words, translations and tokens that the paraphrase shares with its original raise the score of
    a mean, as that of the bundled model; unshared ones lower it. A regression learned its scale
    from judgements. No references are needed. Each FILE has the paraphrases of one system, in the
    order of the originals.

    \b
    karat paraphrase score out.txt --originals in.txt
    karat paraphrase score out.txt --originals in.txt --copies ignore --segments
    karat paraphrase score out.txt --originals in.txt --form paper
    karat paraphrase score a.txt b.txt --originals in.txt --model m.npz --segments
    """
    from karat.paraphrase.pem.features import feature_files
    from karat.paraphrase.pem.model import as_pem
    from karat.paraphrase.pem.scoring import score_paraphrases
    from karat.text.segments import Lines

    check_output(output, (*paraphrases, originals, model))
    pem = as_pem(model, form).with_metrics(settings.pop("features"))
    check_output(output, feature_files(pem.metrics))
    with Bar() as progress:
        original_lines = Lines(originals, progress, as_text=as_text)
        opened = [Lines(path, progress, as_text=as_text) for path in paraphrases]
        systems = list(zip(map(system_name, paraphrases), opened, strict=True))
        result = score_paraphrases(
            systems, original_lines, pem, form=form, progress=progress, **settings
        )
    show(result, format, output)


_advanced = partial(option, kind=float, metavar="X", heading=ADVANCED)


@click.command(name="explain", cls=Command)
@click.argument("paraphrases", type=click.Path())
@originals_option
@option("--model", "Model of `karat paraphrase train`. Default: the small bundled model.", path)
@option("--pivot", "Pivot language of the model. Default: the first.", metavar="NAME")
@option("-t --table", "Phrase table to use instead of a model.", path)
@copies_option
@options.segment_options("pair")
@options.output
@options.as_text
@_advanced(
    "--order",
    "Length of the longest n-grams. Default: that of the model, or 4.",
    kind=int,
    metavar="N",
)
@_advanced(
    "--edge", "Drop translations that are not more probable than X, except the best. Default: 0.1."
)
@_advanced("--ngram", "Drop n-grams whose weight is not above X. Default: 0.01.")
@option(
    "--renormalise/--no-renormalise",
    "Scale the probabilities of the translations that are left to a sum of 1. Default: as the "
    "model, or no.",
    default=None,  # neither: a flag of `option` would be False
    heading=ADVANCED,
)
def explain(
    paraphrases: str, originals: str, as_text: bool, format: str, output: Any, **settings: Any
) -> None:
    """Explain the scores of paraphrases.

    Shows for each pair PEM and its parts, shared words, changed numbers, negation and names, the
    phrases of both sentences, their translations into the pivot language, and the pivot n-grams
    that the two sentences share.

    \b
    karat paraphrase explain out.txt --originals in.txt
    karat paraphrase explain out.txt --originals in.txt --model m.npz --worst 3
    karat paraphrase explain out.txt --originals in.txt --table en-fr.npz
    """
    from karat.paraphrase import explain_paraphrases
    from karat.text.segments import Lines

    if settings["segments"] and settings["worst"]:
        raise InputError("--segment and --worst exclude each other: give one")
    models = [path for part in ("model", "table") if (path := settings[part])]
    check_output(output, [paraphrases, originals, *models])
    with Bar() as progress:
        candidates = Lines(paraphrases, progress, as_text=as_text)
        sources = Lines(originals, progress, as_text=as_text)
        settings["name"] = system_name(paraphrases)
        result = explain_paraphrases(candidates, sources, **settings)
    show(result, format, output)


@click.command(name="generate", cls=Command)
@click.argument("originals", metavar="FILE", type=click.Path())
@model_option
@option("--n-best n", "Number of paraphrases of each sentence.", integer(min=1, max=64), 3)
@option(
    "--confidence",
    "Lowest confidence of a paraphrase, 0 to 1: the estimated probability that a reader accepts "
    "it. Of judged proposals that reach the default, at least three in four were accepted.",
    share(),
    CONFIDENCE,
)
@option(
    "--rank-by", "Column that ranks paraphrases.", click.Choice(["confidence", "pem"]), "confidence"
)
@option(
    "--lang",
    "Language of the sentences, whose numbers, names and negations are kept; other: digits and "
    "acronyms only.",
    choice(*LANGUAGES),
    "en",
)
@flag("--plain", "Print only the best paraphrase of each line, or an empty line if there is none.")
@options.output
@options.as_text
@options.threads
def generate(
    originals: str, model: str, plain: bool, as_text: bool, format: str, output: Any, **given: Any
) -> None:
    """Generate paraphrases of sentences.

    FILE has one sentence per line (- is standard input). One to three phrases are replaced by
    others with the same translations. A sentence has no paraphrase if none reaches --confidence;
    the exit code is 0 all the same.

    \b
    karat paraphrase generate sentences.txt
    karat paraphrase generate sentences.txt --model m.npz --plain -o out.txt
    """
    from karat.paraphrase.generate import paraphraser
    from karat.paraphrase.pem.model import PEM
    from karat.text.segments import Lines

    if plain:
        source = click.get_current_context().get_parameter_source
        if source("format") is ParameterSource.COMMANDLINE and format != "text":
            raise click.UsageError(f"--plain and --format {format} exclude each other: give one")
        if source("n") is ParameterSource.COMMANDLINE and given["n"] != 1:
            raise click.UsageError(
                f"--plain and --n-best {given['n']} exclude each other: give one"
            )
        given["n"] = 1
    check_output(output, (originals, model))
    pem = PEM.open(model)
    paraphraser.require_generator(pem)
    reasons: list[str] = []

    def best_lines(generated: Iterable[Generated]) -> Iterator[str]:
        """Yield the best paraphrases; without any, an empty line, and add the reason."""
        for sentence in generated:
            reasons.extend([sentence.reason] if sentence.reason is not None else [])
            yield f"{sentence.paraphrases[0].text if sentence.paraphrases else ''}\n"

    with Bar() as progress:
        lines = Lines(originals, progress, as_text=as_text)
        if plain:
            alone = output is None and sys.stdout.isatty()  # lines are progress enough
            given["progress"] = silent if alone else progress
            generated = paraphraser.generate_lines(pem, lines, **given)
            say(best_lines(generated), output)
        else:
            result = paraphraser.generate_paraphrases(lines, pem, progress=progress, **given)
    if plain:
        for note in paraphraser.generated_notes(reasons, given["confidence"], pem):
            click.echo(note, err=True)
    else:
        show(result, format, output)


@click.command(name="evaluate", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@dimension_option
@option(
    "--model",
    "Model whose pivot languages and language model are used.",
    default="bundled",
    show_default=True,
    metavar="FILE",
)
@flag("--controls", "Add the paper's three control systems.")
@option(
    "--compare-with",
    "Other metric to show, such as ter. Repeat for several. Default: stemmed unigram F1, ROUGE-1 "
    "with chrF++, and BLEU.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@option(
    "--feature features",
    "Metric to add to the features. Repeat for several. Default: those of the model.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@options.output
@option(
    "--folds",
    "Number of folds of the cross-validation. All paraphrases of an original are in one fold.",
    integer(min=2),
    10,
    heading=TESTS,
)
@option(
    "--train-first",
    "Train on the first N originals and test on the others, instead of cross-validation.",
    integer(min=2),
    heading=TESTS,
)
@form_option
@options.resamples
@options.seed
@options.charts
@options.threads
def evaluate(
    name: str,
    model: str,
    compare_with: tuple[str, ...],
    charts: str | None,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Show how well PEM agrees with the judges of a set, and whether pivot languages help.

    The regression is cross-validated by original. Judges are compared if the set has several, and
    criteria if it has adequacy, fluency and dissimilarity.

    \b
    karat paraphrase evaluate demo-paraphrases --controls
    karat paraphrase evaluate demo-paraphrases --form paper --train-first 27
    karat paraphrase evaluate judged.tsv --model m.npz -o page.html
    """
    from karat.paraphrase.pem.evaluation import evaluate_paraphrases
    from karat.paraphrase.report.documents import evaluation_charts

    folds_source = click.get_current_context().get_parameter_source("folds")
    if settings["train_first"] is not None and folds_source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--folds and --train-first exclude each other: give one")
    check_output(output, sets=[name], charts=charts)
    with Bar() as progress:
        result = evaluate_paraphrases(
            name, model, compare_with=compare_with or None, progress=progress, **settings
        )
    write_charts(evaluation_charts(result), charts)
    show(result, format, output)
