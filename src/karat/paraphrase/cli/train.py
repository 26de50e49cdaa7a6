"""`karat paraphrase train`: a PEM model from parallel text and judged paraphrases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import ADVANCED, INPUT, WORDS, choice, option, path
from karat.cli.show import check_output
from karat.errors import InputError, quoted
from karat.paraphrase.cli import group
from karat.progress import Bar

if TYPE_CHECKING:
    from karat.paraphrase.pem.training import Pivot
    from karat.progress import Progress


@click.command(name="train", cls=Command)
@click.argument("corpora", metavar="NAME=FILE[,FILE]...", nargs=-1, required=True)
@option("-o --output", "Write the model to FILE (atomic).", path, required=True)
@option(
    "--judged",
    "Set of judged paraphrases to learn the score from. Without it, and without --combine mean, "
    "the model has the parts of the score only.",
    metavar="SET",
    shell_complete=options.complete_set,
)
@group.dimension
@option(
    "--form",
    "Features: the paper's three (paper), the same from single words (unigram), or more, for "
    "thousands of judgements (rich).",
    choice("paper", "unigram", "rich"),
    "unigram",
)
@option(
    "--feature features",
    "Metric whose score of each paraphrase against its original is a feature too, such as chrf++. "
    "Repeat for several.",
    multiple=True,
    metavar="METRIC",
    shell_complete=options.complete_metric,
)
@option(
    "--combine",
    "Combination of the features: a regression learned from --judged, or a mean that needs no "
    "judgements and does not judge fluency.",
    choice("regression", "mean"),
    "regression",
)
@option(
    "--smoothing",
    "Smoothing of the language model. Default: katz with --form paper, else kneser-ney.",
    choice("kneser-ney", "katz"),
    heading=ADVANCED,
)
@group.aligner("hmm with --form paper, else fertility")
@group.agreement("min with the aligner fertility, root with hmm, product with --form paper")
@option(
    "--pivot-tok toks",
    "Tokeniser of a pivot language, such as zh=zh or ja=none. Default: 13a.",
    multiple=True,
    metavar="NAME=TOKENISER",
    heading=WORDS,
)
@option(
    "--stem",
    "Stemmer of the language of the paraphrases; none for no stemming.",
    default="porter",
    show_default=True,
    metavar="STEMMER",
    heading=WORDS,
)
@option(
    "--links",
    "Word alignment of a pivot language by another aligner, in Pharaoh format.",
    multiple=True,
    metavar="NAME=FILE",
    heading=INPUT,
)
@option(
    "--controls/--no-controls",
    "Also learn from three artificial paraphrases of each original, with fixed scores. This can "
    "lower the agreement with people on other sets.",
    default=False,
    show_default=True,
    heading=ADVANCED,
)
@option(
    "--generate/--no-generate",
    "Include the data that `karat paraphrase generate` needs.",
    default=True,
    show_default=True,
    heading=ADVANCED,
)
@group.memory
@option(
    "--work",
    "Keep the result of each stage in FOLDER, to resume training that was stopped. Finished stages "
    "with unchanged texts and settings are not repeated.",
    path,
    metavar="FOLDER",
    heading=ADVANCED,
)
@options.as_text
@options.threads
def command(
    corpora: tuple[str, ...],
    output: str,
    judged: str | None,
    dimension: str | None,
    toks: tuple[str, ...],
    stem: str,
    links: tuple[str, ...],
    controls: bool,
    memory: int | None,
    as_text: bool,
    **settings: Any,
) -> None:
    """Train a PEM model on parallel text and judged paraphrases.

    NAME is a pivot language and FILE its parallel text. FILE,FILE are aligned line by line, the
    language of the paraphrases first; a single FILE has two columns separated by a tab. Repeat a
    NAME to add more text. --judged needs scikit-learn: pip install 'karat[paraphrase]'.

    \b
    karat paraphrase train fr=train.en,train.fr -o m.npz --judged judged.tsv
    karat paraphrase train fr=en-fr.tsv zh=en-zh.tsv --pivot-tok zh=zh -o m.npz
    karat paraphrase train zh=en-zh.tsv --pivot-tok zh=zh --form paper -o m.npz
    karat paraphrase train fr=en-fr.tsv -o m.npz --combine mean --feature chrf++
    karat paraphrase train fr=large.en,large.fr -o m.npz --memory 1 --work stages
    """
    from karat.evalset.loading import load_evalset
    from karat.paraphrase.pem.features import as_features, feature_files
    from karat.paraphrase.pem.judged_pairs import judged_rows
    from karat.paraphrase.table.phrase_table import ENGLISH
    from karat.paraphrase.written_files import train_model
    from karat.text.tokens import TOKENIZERS, Recipe, check_choice, stemmers

    if not judged:
        _check_unjudged(controls=controls, dimension=dimension)
    named_paths = [_split_named(choices, "NAME=FILE or NAME=FILE,FILE") for choices in corpora]
    tokenizers = dict(_split_named(choices, "NAME=TOKENISER") for choices in toks)
    links_paths = dict(_split_named(choices, "NAME=FILE") for choices in links)
    text_paths = [path for _, paths in named_paths for path in paths.split(",")]
    metric_files = feature_files(as_features(settings["features"]))
    check_output(output, [*links_paths.values(), *text_paths, *metric_files])
    check_choice("stem", stem, stemmers())
    for tok in tokenizers.values():
        check_choice("tok", tok, TOKENIZERS)
    for option_name, choices in (("pivot-tok", tokenizers), ("links", links_paths)):
        for name in choices.keys() - dict(named_paths).keys():
            expected = ", ".join(dict(named_paths))
            raise InputError(
                f"--{option_name} {name}=…: {name} is no pivot language; expected {expected}"
            )
    with Bar() as progress:
        pivots = _open_pivots(named_paths, tokenizers, links_paths, progress, as_text)
        human = None
        if judged:
            evalset = load_evalset(judged, progress=progress)
            human = judged_rows(evalset, dimension, controls=controls)
        settings |= {"memory": memory, "recipe": Recipe(ENGLISH.tok, ENGLISH.case, stem)}
        result = train_model(pivots, output, human, progress=progress, **settings)
    for note in result.notes:
        click.echo(note, err=True)
    click.echo(": ".join(result.rows[0]))


def _check_unjudged(**given: Any) -> None:
    """Refuse options that say how to read the judgements where there are none."""
    for name, value in given.items():
        if value not in (None, False):
            raise InputError(f"--{name} is for --judged: leave it out, or give both")


def _split_named(argument: str, expected: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals and value):
        raise InputError(f"{quoted(argument)}: expected {expected}")
    return name, value


def _open_pivots(
    named_paths: list[tuple[str, str]],
    tokenizers: dict[str, str],
    links_paths: dict[str, str],
    progress: Progress,
    as_text: bool,
) -> dict[str, Pivot]:
    """Open the texts and links of each pivot language."""
    from karat.paraphrase.align.links import read_pharaoh
    from karat.paraphrase.align.parallel_text import Parallel, read_parallel
    from karat.paraphrase.pem.training import Pivot
    from karat.paraphrase.table.phrase_table import PIVOT
    from karat.text.tokens import Recipe

    texts: dict[str, list[Parallel]] = {}
    for name, paths in named_paths:
        first, *second = paths.split(",")
        if len(second) > 1:
            raise InputError(f"{quoted(paths)}: {1 + len(second)} files; expected one or two")
        text = read_parallel(first, second[0] if second else None, progress, as_text=as_text)
        texts.setdefault(name, []).append(text)
    links = {name: read_pharaoh(path, progress) for name, path in links_paths.items()}
    return {
        name: Pivot(corpora, Recipe(tokenizers.get(name, PIVOT.tok), PIVOT.case), links.get(name))
        for name, corpora in texts.items()
    }
