"""`karat paraphrase train`: a PEM model from parallel text and judged paraphrases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import choice, option, path
from karat.cli.show import check_output
from karat.errors import InputError, quoted
from karat.paraphrase.cli import group

if TYPE_CHECKING:
    from karat.paraphrase.train.staged import Pivot
    from karat.progress import Progress


@click.command(name="train")
@click.argument("corpora", metavar="NAME=FILE[,FILE]...", nargs=-1, required=True)
@option("-o --output", "The model, one file.", path, required=True)
@option(
    "--judged",
    "Judged paraphrases to learn the score from (see karat data); without them the model has "
    "the three parts, but no score.",
    metavar="SET",
    shell_complete=options.complete_set,
)
@option("-d --dimension", "Which dimension of SET is overall quality.")
@option(
    "--form",
    "The paper's three features; the same of single words; or, for thousands of judgements, "
    "more of the same kind.",
    choice("paper", "unigram", "rich"),
    "unigram",
)
@option(
    "--smoothing",
    "Smoothing of the language model. Default: katz with --form paper (SRILM's default), else "
    "kneser-ney.",
    choice("kneser-ney", "katz"),
)
@option(
    "--agreement",
    "Weight of a link from the probabilities of both directions: their product, or its square "
    "root. Default: product with --form paper, else root.",
    choice("root", "product"),
)
@option(
    "--tok toks",
    "The tokeniser of a pivot language, such as zh=zh or ja=none. Default: 13a.",
    multiple=True,
    metavar="NAME=TOK",
)
@option("--stem", "The stemmer of the first language; none for no stemming.", default="porter")
@option(
    "--links",
    "Links of another aligner for the texts of a pivot language, in Pharaoh format.",
    multiple=True,
    metavar="NAME=FILE",
)
@option(
    "--controls/--no-controls",
    "Also learn from three artificial paraphrases of each original, with fixed scores. They "
    "can make the model agree much less with people on other sets.",
    default=False,
)
@option(
    "--generate/--no-generate",
    "Include the data that `karat paraphrase generate` needs.",
    default=True,
    show_default=False,
)
@group.memory
@option(
    "--work",
    "Keep the result of each stage in this folder. Training that was stopped goes on after the "
    "last finished stage; a stage whose texts and settings are unchanged is not done again.",
    path,
    metavar="FOLDER",
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
    """Train a model on parallel text: NAME is the pivot language, FILE its text.

    FILE,FILE are aligned line by line, the language of the paraphrases first; a single FILE has
    both in two columns. Name a pivot language again to give it more text. --judged needs
    scikit-learn: pip install 'karat[paraphrase]'.

    \b
    karat paraphrase train fr=train.en,train.fr -o model.npz --judged judged.tsv
    karat paraphrase train fr=en-fr.tsv.gz zh=en-zh.tsv --tok zh=zh -o model.npz
    karat paraphrase train zh=en-zh.tsv --tok zh=zh --form paper -o model.npz
    karat paraphrase train fr=large.en,large.fr -o model.npz --memory 1 --work stages
    """
    from karat.evalset.loading import load_evalset
    from karat.paraphrase.pem.judged_pairs import judged_rows
    from karat.paraphrase.table.phrase_table import ENGLISH
    from karat.paraphrase.written_files import train_model
    from karat.text.recipe import TOKENIZERS, Recipe, check_choice
    from karat.text.stemmers import stemmers

    named = [_named(given, "NAME=FILE or NAME=FILE,FILE") for given in corpora]
    cut = dict(_named(given, "NAME=TOK") for given in toks)
    linked = dict(_named(given, "NAME=FILE") for given in links)
    read = [path for _, paths in named for path in paths.split(",")]
    check_output(output, [*linked.values(), *read])
    check_choice("stem", stem, stemmers())
    for tok in cut.values():
        check_choice("tok", tok, TOKENIZERS)
    for which, given in (("tok", cut), ("links", linked)):
        for name in given.keys() - dict(named).keys():
            raise InputError(f"--{which} {name}=…: there is no pivot language {name}")
    with Bar() as progress:
        pivots = _opened(named, cut, linked, progress, as_text)
        human = None
        if judged:
            evalset = load_evalset(judged, progress=progress)
            human = judged_rows(evalset, dimension, controls=controls)
        recipe = Recipe(ENGLISH.tok, ENGLISH.case, stem)
        settings |= {"memory": memory, "recipe": recipe}
        result = train_model(pivots, output, human, progress=progress, **settings)
    for note in result.notes:
        click.echo(note, err=True)
    click.echo(": ".join(result.rows[0]))


def _named(given: str, expected: str) -> tuple[str, str]:
    name, equals, rest = given.partition("=")
    if not (name and equals and rest):
        raise InputError(f"{quoted(given)}: expected {expected}")
    return name, rest


def _opened(
    named: list[tuple[str, str]],
    cut: dict[str, str],
    linked: dict[str, str],
    progress: Progress,
    as_text: bool,
) -> dict[str, Pivot]:
    """Open the texts and links of each pivot language."""
    from karat.paraphrase.align.links import read_pharaoh
    from karat.paraphrase.align.parallel_text import Parallel, read_parallel
    from karat.paraphrase.table.phrase_table import PIVOT
    from karat.paraphrase.train.staged import Pivot
    from karat.text.recipe import Recipe

    texts: dict[str, list[Parallel]] = {}
    for name, paths in named:
        first, *second = paths.split(",")
        if len(second) > 1:
            raise InputError(f"{quoted(paths)}: {1 + len(second)} files: expected one or two")
        text = read_parallel(first, second[0] if second else None, progress, as_text=as_text)
        texts.setdefault(name, []).append(text)
    links = {name: read_pharaoh(path, progress) for name, path in linked.items()}
    return {
        name: Pivot(found, Recipe(cut.get(name, PIVOT.tok), PIVOT.case), links.get(name))
        for name, found in texts.items()
    }
