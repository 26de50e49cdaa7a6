"""`karat paraphrase train`, `controls`, `table` and `align`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import F
from karat.cli.parameters import Gigabytes, choice, integer, option, path
from karat.cli.show import check_output, say
from karat.errors import InputError, quoted
from karat.headings import ADVANCED, INPUT, WORDS
from karat.paraphrase.cli.scoring import dimension_option
from karat.progress import Bar, Progress

if TYPE_CHECKING:
    from karat.paraphrase import Pivot

memory_option = option(
    "--memory",
    "Memory to use. Beyond it, temporary files are used, with the same result. Default: a quarter "
    "of the memory of this machine.",
    Gigabytes(),
    metavar="GB",
    heading=ADVANCED,
)


_MAX_ITERATIONS = 1000  # aligner.MAX_ITERATIONS, which is not imported for --help
_ALIGNER_OPTIONS = {
    "aligner": (
        "Model of word alignment: an HMM with fertilities, or the HMM of the paper's aligner.",
        choice("fertility", "hmm"),
    ),
    "prefix": ("Learn links from the first N characters of words; 0 is whole words.", integer(0)),
    "agreement": (
        "Combination of the link probabilities of both directions: the smaller one, the product or "
        "its square root.",
        choice("min", "root", "product"),
    ),
    "model1": ("Iterations of IBM model 1.", integer(0, _MAX_ITERATIONS)),
    "hmm": ("Iterations of the HMM.", integer(0, _MAX_ITERATIONS)),
}


def _aligner_option(name: str, default: str) -> Callable[[F], F]:
    """Return an option of word alignment; the help names its default."""
    help, kind = _ALIGNER_OPTIONS[name]
    return option(f"--{name}", f"{help} Default: {default}.", kind, heading=ADVANCED)


_word_option = partial(option, default="none", metavar="NAME", heading=WORDS)
_tokeniser_option = partial(_word_option, default="13a", metavar="TOKENISER")


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
@dimension_option
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
    "Combination of the features: a regression learned from --judged; a mean, which needs no "
    "judgements and agrees better on text of another kind; or the mean on the scale of --judged.",
    choice("regression", "mean", "calibrated-mean"),
    "regression",
)
@option(
    "--copies",
    "Worth of a copy of the original: good (5), bad (2 of 5 in a mean; in a regression, as judged) "
    "or ignore (no score, and left out of training). Default: bad with --form paper, else good.",
    choice("good", "bad", "ignore"),
)
@option(
    "--smoothing",
    "Smoothing of the language model. Default: katz with --form paper, else kneser-ney.",
    choice("kneser-ney", "katz"),
    heading=ADVANCED,
)
@_aligner_option("aligner", "hmm with --form paper, else fertility")
@_aligner_option(
    "agreement", "min with the aligner fertility, root with hmm, product with --form paper"
)
@option(
    "--pivot-tok toks",
    "Tokeniser of a pivot language, such as zh=zh or ja=none. Default: 13a.",
    multiple=True,
    metavar="NAME=TOKENISER",
    heading=WORDS,
)
@_word_option(
    "--stem",
    "Stemmer of the language of the paraphrases; none for no stemming.",
    default="porter",
    metavar="STEMMER",
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
@memory_option
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
def train(
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
    NAME to add more text. --judged needs scikit-learn: pip install 'karat-eval[paraphrase]'.

    \b
    karat paraphrase train fr=train.en,train.fr -o m.npz --judged judged.tsv
    karat paraphrase train fr=en-fr.tsv zh=en-zh.tsv --pivot-tok zh=zh -o m.npz
    karat paraphrase train zh=en-zh.tsv --pivot-tok zh=zh --form paper -o m.npz
    karat paraphrase train fr=en-fr.tsv -o m.npz --combine mean --feature chrf++
    karat paraphrase train fr=large.en,large.fr -o m.npz --memory 1 --work stages
    """
    from karat.evalset.loading import load_evalset
    from karat.paraphrase import judged_rows
    from karat.paraphrase.pem.features import as_features, feature_files
    from karat.paraphrase.table.phrase_table import ENGLISH
    from karat.paraphrase.written_files import train_model
    from karat.text.tokens import TOKENIZERS, Recipe, check_choice, stemmers

    for name, value in (("controls", controls), ("dimension", dimension)):
        if not judged and value not in (None, False):
            raise InputError(f"--{name} is for --judged: leave it out, or give both")
    named_paths = [_split_named(argument, "NAME=FILE or NAME=FILE,FILE") for argument in corpora]
    tokenizers = dict(_split_named(argument, "NAME=TOKENISER") for argument in toks)
    links_paths = dict(_split_named(argument, "NAME=FILE") for argument in links)
    text_paths = [path for _, paths in named_paths for path in paths.split(",")]
    metric_files = feature_files(as_features(settings["features"]))
    check_output(output, [*links_paths.values(), *text_paths, *metric_files])
    check_choice("stem", stem, stemmers())
    for tok in tokenizers.values():
        check_choice("tok", tok, TOKENIZERS)
    for option_name, values in (("pivot-tok", tokenizers), ("links", links_paths)):
        for name in values.keys() - dict(named_paths).keys():
            expected = ", ".join(dict(named_paths))
            raise InputError(
                f"--{option_name} {name}=…: {name} is not a pivot language; expected {expected}"
            )
    with Bar() as progress:
        pivots = _read_pivots(named_paths, tokenizers, links_paths, as_text, progress)
        human = None
        if judged:
            evalset = load_evalset(judged, progress=progress)
            human = judged_rows(evalset, dimension, controls=controls)
        settings |= {"memory": memory, "recipe": Recipe(ENGLISH.tok, ENGLISH.case, stem)}
        result = train_model(pivots, output, human, progress=progress, **settings)
    for note in result.notes:
        click.echo(note, err=True)
    click.echo(": ".join(result.rows[0]))


def _read_pivots(
    named_paths: Sequence[tuple[str, str]],
    tokenizers: Mapping[str, str],
    links_paths: Mapping[str, str],
    as_text: bool,
    progress: Progress,
) -> dict[str, Pivot]:
    """Read the parallel texts and the links of each pivot language."""
    from karat.paraphrase import Parallel, Pivot, read_parallel, read_pharaoh
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
    recipes = {name: Recipe(tokenizers.get(name, PIVOT.tok), PIVOT.case) for name in texts}
    return {name: Pivot(corpora, recipes[name], links.get(name)) for name, corpora in texts.items()}


def _split_named(argument: str, expected: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals and value):
        raise InputError(f"{quoted(argument)}: expected {expected}")
    return name, value


@click.command(name="controls", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@click.argument("target", metavar="TARGET", type=click.Path())
@dimension_option
@options.seed
def controls(name: str, target: str, dimension: str | None, seed: int) -> None:
    """Add three control systems with fixed scores to a set of judged paraphrases.

    The controls are the original itself (score 2 of 5), a random other original (1), and words
    drawn from a unigram model (1). TARGET must not exist yet.

    \b
    karat paraphrase controls demo-paraphrases with-controls
    """
    from karat.paraphrase.written_files import write_controls

    with Bar() as progress:
        result = write_controls(name, target, dimension, seed, progress=progress)
    click.echo(": ".join(result.rows[0]))


@click.command(name="table", cls=Command)
@click.argument("source", metavar="FILE", type=click.Path())
@click.argument("pivot", metavar="[PIVOT]", type=click.Path(), required=False)
@option("-o --output", "Write the table to FILE (atomic).", path, required=True)
@_word_option(
    "--stem",
    "Stemmer of the source language. For a Moses table: the one it was built with.",
    metavar="STEMMER",
)
@_tokeniser_option("--tok", "Tokeniser of the source language.")
@_tokeniser_option("--pivot-tok", "Tokeniser of the pivot language.")
@options.as_text
@_aligner_option("aligner", "fertility")
@_aligner_option("prefix", "4; with hmm 0")
@_aligner_option("agreement", "min; with hmm root")
@memory_option
@options.threads
def table(
    source: str,
    pivot: str | None,
    output: str,
    stem: str,
    tok: str,
    pivot_tok: str,
    as_text: bool,
    **training: Any,
) -> None:
    """Build a phrase table from parallel text, or convert one.

    With PIVOT, FILE and PIVOT are parallel texts, aligned line by line; a table is built from them.
    Without PIVOT, FILE is converted: a Moses phrase table (.gz is fine) to a table of Karat; a
    table of Karat, or a model with one pivot language, to a Moses phrase table.

    \b
    karat paraphrase table phrase-table.gz -o en-fr.npz
    karat paraphrase table en-fr.npz -o phrase-table.gz
    karat paraphrase table en.txt fr.txt --stem porter --memory 1 -o en-fr.npz
    karat paraphrase table en.txt fr.txt --aligner hmm -o en-fr.npz
    karat score out.txt -r in.txt -m pivot_f1:table=en-fr.npz
    """
    from karat.paraphrase import Aligner, convert_table, make_table

    check_output(output, [source] if pivot is None else [source, pivot])
    if pivot is None:
        for name in ("aligner", "prefix", "agreement", "memory", "threads"):
            if training[name] is not None:
                advice = f"add PIVOT, or leave out --{name}"
                raise InputError(f"--{name} is only for parallel text: {advice}")
    with Bar() as progress:
        if pivot is None:
            result = convert_table(source, output, stem=stem, tok=tok, progress=progress)
        else:
            model = training.pop("aligner") or "fertility"
            links = {part: training.pop(part) for part in ("agreement", "prefix")}
            training |= {"stem": stem, "tok": tok, "pivot_tok": pivot_tok, "as_text": as_text}
            aligner = Aligner(model=model, **links)
            result = make_table(
                source, pivot, output, aligner=aligner, progress=progress, **training
            )
    click.echo(": ".join(result.rows[0]))


_DECODINGS = ("posterior", "intersection", "union", "grow-diag", "grow-diag-final-and")


@click.command(name="align", cls=Command)
@click.argument("source", type=click.Path())
@click.argument("pivot", type=click.Path(), required=False)
@option("-o --output", "Write the links to FILE (atomic).", path)
@option(
    "--decoding",
    f"Links to keep: {', '.join(_DECODINGS)}. `posterior` keeps links above --threshold, the "
    "others combine the best links of both directions.",
    choice(*_DECODINGS),
    "posterior",
    metavar="NAME",
)
@option(
    "--threshold",
    "Lowest posterior probability of a link. Default: 0.4; with --aligner hmm 0.5.",
    float,
    metavar="X",
)
@_word_option("--tok", "Tokeniser (none splits at white space) of the source language.")
@_word_option("--case", "Case (mixed or lower) of the source language.", default="lower")
@_word_option("--stem", "Stemmer of the source language.")
@_word_option("--pivot-tok", "Tokeniser (none splits at white space) of the pivot language.")
@_word_option("--pivot-case", "Case (mixed or lower) of the pivot language.", default="lower")
@_word_option("--pivot-stem", "Stemmer of the pivot language.")
@options.as_text
@_aligner_option("aligner", "fertility")
@_aligner_option("prefix", "4; with hmm 0")
@_aligner_option("model1", "4; with hmm 5")
@_aligner_option("hmm", "4; with hmm 5")
@_aligner_option("agreement", "min; with hmm root")
@option("--longest", "Skip sentences with more than N words.", integer(1), 200, heading=ADVANCED)
@memory_option
@options.threads
def align(
    source: str,
    pivot: str | None,
    as_text: bool,
    memory: int | None,
    threads: Any,
    output: str | None,
    **settings: Any,
) -> None:
    """Align the words of a parallel text.

    SOURCE and PIVOT are aligned line by line. Without PIVOT, SOURCE has two columns separated by a
    tab. Links are written in Pharaoh format, such as `0-0 1-2`: source-pivot, words from 0.

    \b
    karat paraphrase align english.txt french.txt -o links.txt
    karat paraphrase align english-french.tsv.gz --tok 13a --pivot-tok 13a
    """
    from karat.paraphrase import Aligner, Recipe, align_text, read_parallel
    from karat.paraphrase.align.parallel_text import pharaoh_lines

    check_output(output, [source] if pivot is None else [source, pivot])
    recipe, pivot_recipe = (
        Recipe(*(settings.pop(f"{prefix}{part}") for part in ("tok", "case", "stem")))
        for prefix in ("", "pivot_")
    )
    aligner = Aligner(model=settings.pop("aligner") or "fertility", **settings)
    with Bar() as progress:
        text = read_parallel(source, pivot, progress, as_text=as_text)
        work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
        alignment = align_text(text, recipe, pivot_recipe, aligner, **work)
    say(pharaoh_lines(alignment.links), output)
    if output is not None:
        row = alignment.rows[0]
        summary = f"{row.links:,} links in {row.sentences:,} sentence pairs"
        click.echo(f"{output}: {summary} ({alignment.signature})")
    for note in alignment.notes:
        click.echo(note, err=True)
