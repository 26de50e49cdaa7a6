"""`karat paraphrase train`: a PEM model from parallel text and judged paraphrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output
from karat.errors import InputError, quoted

if TYPE_CHECKING:
    from karat.paraphrase.align.links import Links
    from karat.paraphrase.align.parallel_text import Parallel
    from karat.paraphrase.pem.judged_pairs import Judged
    from karat.progress import Progress


@click.command(name="train")
@click.argument("corpora", metavar="NAME=FILE[,FILE]...", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(), help="The model, one file.")
@click.option(
    "--judged",
    metavar="SET",
    shell_complete=options.complete_set,
    help="Judged paraphrases to learn the score from (see karat data); without them the model has "
    "the three parts, but no score.",
)
@click.option("-d", "--dimension", help="Which dimension of SET is overall quality.")
@click.option(
    "--form",
    type=click.Choice(["paper", "unigram", "rich"]),
    default="unigram",
    show_default=True,
    help="The paper's three features; the same of single words; or, for thousands of judgements, "
    "more of the same kind.",
)
@click.option(
    "--tok",
    "toks",
    multiple=True,
    metavar="NAME=TOK",
    help="The tokeniser of a pivot language, such as zh=zh or ja=none. Default: 13a.",
)
@click.option(
    "--stem",
    default="porter",
    show_default=True,
    help="The stemmer of the first language; none for no stemming.",
)
@click.option(
    "--links",
    multiple=True,
    metavar="NAME=FILE",
    help="Links of another aligner for the texts of a pivot language, in Pharaoh format.",
)
@click.option(
    "--controls/--no-controls",
    default=False,
    show_default=True,
    help="Also learn from three artificial paraphrases of each original, with fixed scores. They "
    "can make the model agree much less with people on other sets.",
)
@click.option(
    "--generate/--no-generate",
    default=True,
    help="Include the data that `karat paraphrase generate` needs.",
)
@options.as_text
@options.threads
def command(
    corpora: tuple[str, ...],
    output: str,
    judged: str | None,
    dimension: str | None,
    form: str,
    toks: tuple[str, ...],
    stem: str,
    links: tuple[str, ...],
    controls: bool,
    generate: bool,
    as_text: bool,
    threads: int | None,
) -> None:
    """Train a model on parallel text: NAME is the pivot language, FILE its text.

    FILE,FILE are aligned line by line, the language of the paraphrases first; a single FILE has
    both in two columns. Name a pivot language again to give it more text. --judged needs
    scikit-learn: pip install 'karat[paraphrase]'.

    \b
    karat paraphrase train fr=train.en,train.fr -o model.npz --judged judged.tsv
    karat paraphrase train fr=en-fr.tsv.gz zh=en-zh.tsv --tok zh=zh -o model.npz
    """
    from karat.paraphrase.pem.training import Pivot, train_pem
    from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT
    from karat.text.recipe import TOKENIZERS, Recipe, check_choice
    from karat.text.stemmers import stemmers

    named = [_named(given, "NAME=FILE or NAME=FILE,FILE") for given in corpora]
    cut = dict(_named(given, "NAME=TOK") for given in toks)
    linked = dict(_named(given, "NAME=FILE") for given in links)
    check_output(
        output, [*linked.values(), *(path for _, paths in named for path in paths.split(","))]
    )
    check_choice("stem", stem, stemmers())
    for tok in cut.values():
        check_choice("tok", tok, TOKENIZERS)
    for option, given in (("tok", cut), ("links", linked)):
        for name in given.keys() - dict(named).keys():
            raise InputError(f"--{option} {name}=…: there is no pivot language {name}")
    with Bar() as progress:
        texts: dict[str, list[Parallel]] = {}
        for name, paths in named:
            texts.setdefault(name, []).append(_open(paths, progress, as_text))
        recipes = {name: Recipe(cut.get(name, PIVOT.tok), PIVOT.case) for name in texts}
        model = train_pem(
            {
                name: Pivot(found, recipes[name], _links(linked.get(name), progress))
                for name, found in texts.items()
            },
            _judged(judged, dimension, controls, progress) if judged else None,
            form=form,
            recipe=Recipe(ENGLISH.tok, ENGLISH.case, stem),
            generate=generate,
            threads=threads,
            progress=progress,
        )
        model.save(output)
    click.echo(f"{output}: {model!r}")


def _named(given: str, expected: str) -> tuple[str, str]:
    name, equals, rest = given.partition("=")
    if not (name and equals and rest):
        raise InputError(f"{quoted(given)}: expected {expected}")
    return name, rest


def _open(paths: str, progress: Progress, as_text: bool) -> Parallel:
    from karat.paraphrase.align.parallel_text import read_parallel

    files = paths.split(",")
    if len(files) > 2:
        raise InputError(f"{quoted(paths)}: {len(files)} files: expected one or two")
    second = files[1] if len(files) > 1 else None
    return read_parallel(files[0], second, progress, as_text=as_text)


def _links(path: str | None, progress: Progress) -> Links | None:
    from karat.paraphrase.align.pharaoh import read_pharaoh

    return read_pharaoh(path, progress) if path else None


def _judged(name: str, dimension: str | None, controls: bool, progress: Progress) -> Judged:
    from karat.evalset.loading import load_evalset
    from karat.paraphrase.pem.controls import add_controls
    from karat.paraphrase.pem.judged_pairs import judged_rows, overall_dimension

    evalset = load_evalset(name, progress=progress)
    overall = overall_dimension(evalset, dimension)
    return judged_rows(add_controls(evalset, overall) if controls else evalset, overall)
