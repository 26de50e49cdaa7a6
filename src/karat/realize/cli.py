"""`karat realize`: the group of its commands, whose code is loaded when called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command, command_group
from karat.cli.parameters import F, choice, flag, integer, named, option, path
from karat.cli.show import check_output, say, show
from karat.progress import Bar

LM_ORDER = 3  # the paper's trigrams

_inputs = option(
    "--inputs",
    "Input of the realiser: words; words with UPOS tags and relations (all; with --complete also "
    "features); for --complete alone, words with relations (relations); or lemmas with UPOS and "
    "XPOS tags, features and relations (lemmas).",
    choice("words", "all", "relations", "lemmas"),
    "words",
)
_only_realizer = option(
    "--realizer",
    "Only the paper's supertags and baselines (fergus), or only the ordering model (ordering). "
    "Default: all that the model has.",
    choice("fergus", "ordering"),
)
_complete = named(
    "--complete",
    "Insert what the input leaves out: function-words, punctuation, or both, comma-separated.",
    metavar="CLASSES",
)
_keep = named(
    "--keep",
    "Slots in which --complete inserts nothing, such as aux,comma; what the input has there stays.",
    metavar="SLOTS",
)
_model = option("--model", "Model of `karat realize train`.", path, required=True)


def _file(name: str) -> Callable[[F], F]:
    return click.argument(name, metavar=name.upper(), type=click.Path())


def _n_best(default: int, help: str) -> Callable[[F], F]:
    return option("--n-best", help, integer(1, 1000), default)


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"karat: note: {note[0].lower()}{note[1:]}", err=True)


COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.realize.cli:train", "Train a realiser on a treebank."),
    "generate": ("karat.realize.cli:generate", "Generate a sentence for every tree."),
    "evaluate": (
        "karat.realize.cli:evaluate",
        "Compare the realisers of a model on a treebank.",
    ),
    "explain": ("karat.realize.cli:explain", "Explain how a tree is ordered."),
    "grammar": ("karat.realize.cli:grammar", "List supertags and draw elementary trees."),
    "demo": ("karat.realize.cli:demo", "Train and explain on a bundled treebank."),
}
"""Name -> its function, and the line that `karat realize --help` shows."""

command = command_group(
    "realize",
    COMMANDS,
    """Turn unordered dependency trees into sentences.

    A tree has words in any order, lemmas to inflect (--inputs lemmas), or content
    words to complete with function words and punctuation (--complete).

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize generate trees.conllu --model model.npz
    karat realize train treebank.conllu -o lemmas.npz --inputs lemmas
    karat realize generate trees.txt --model lemmas.npz --inputs lemmas
    """,
)


@click.command(name="train", cls=Command)
@_file("treebank")
@option("-o --output", "Write the model to FILE (atomic).", path, required=True)
@option(
    "--realizer",
    "Realiser to train: the paper's supertags and baselines (fergus), or the discriminative model "
    "(ordering).",
    choice("fergus", "ordering", "all"),
    "all",
)
@named(
    "--inputs",
    "Inputs of the ordering model, comma-separated: words; words with UPOS tags and relations "
    "(all); both of these (both); lemmas with UPOS and XPOS tags, features and relations (lemmas), "
    "with inflection.",
    default="words",
    metavar="LIST",
)
@named(
    "--complete-from",
    "Also train the insertion of function words and punctuation, for generate --complete: from "
    "words with tags, features and relations (all), from words with relations (relations), or "
    "both, comma-separated.",
    metavar="INPUTS",
)
@option(
    "--lm-order",
    "Order of the LP Chooser's language model. The paper uses trigrams.",
    integer(min=1, max=6),
    LM_ORDER,
)
def train(treebank: str, output: str, **settings: Any) -> None:
    """Train a realiser on a treebank.

    TREEBANK is a CoNLL-U file with words, UPOS tags, heads and relations. The paper's models take
    seconds to train. The ordering model takes minutes and is more accurate. `karat realize
    evaluate` compares them.

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize train treebank.conllu -o model.npz --inputs both
    karat realize train treebank.conllu -o model.npz --inputs all,lemmas
    karat realize train treebank.conllu -o m.npz --inputs all --complete-from all
    karat realize train treebank.conllu -o m.npz --realizer fergus --lm-order 4
    karat realize train t.conllu -o m.npz --realizer fergus --complete-from all
    """
    from karat.realize import train_realizer_file
    from karat.report.model import format_count

    if settings["realizer"] == "ordering" and settings["lm_order"] != LM_ORDER:
        raise click.UsageError(
            "--lm-order is for the LP Chooser, which --realizer ordering does not train: leave out "
            "one of them"
        )
    if settings["realizer"] == "fergus" and settings["inputs"] != "words":
        raise click.UsageError(
            "--inputs is for the ordering model, which --realizer fergus does not train: leave out "
            "one of them (the paper's models work with all inputs)"
        )
    check_output(output, [treebank])
    with Bar() as progress:
        training = train_realizer_file(treebank, output, **settings, progress=progress)
    (row,) = training.rows
    click.echo(
        f"{row.output}: {row.models}, trained on {format_count(row.sentences, 'sentence')} in "
        f"{row.seconds:.0f} s of processor time, {row.megabytes:.1f} MB"
    )
    _print_notes(training.notes)


@click.command(name="generate", cls=Command)
@_model
@_file("trees")
@_inputs
@option(
    "--realizer",
    "Realizer that writes the sentences: the paper's supertags (fergus) or the ordering model "
    "(ordering). Default: ordering if the model has it for these inputs, else fergus.",
    choice("fergus", "ordering"),
)
@_n_best(default=1, help="Number of sentences for each tree, the best first.")
@_complete
@_keep
@flag("--detokenise", "Write text from lemmas: spaces as in the training treebank.")
@options.output
def generate(model: str, trees: str, format: str, output: str | None, **settings: Any) -> None:
    """Generate a sentence for every tree.

    TREES is a CoNLL-U file, or trees in brackets or JSON. Word order is ignored. The output has
    one sentence per line; with --n-best above 1, or in another format than text, it is a table.

    --complete inserts words that the input leaves out. Words that you give always stay. From words
    alone it inserts punctuation only. Slots are aux, mark, case, cc, article, final, comma and
    other (marks). A word with the feature Complete=No gets nothing; on the root this also leaves
    out the final mark. With --n-best, sentences differ in order only, not in what is inserted.

    \b
    karat realize generate trees.conllu --model model.npz
    karat realize generate trees.conllu --model model.npz --inputs all --n-best 5
    karat realize generate trees.conllu --model model.npz --realizer fergus
    karat realize generate trees.txt --model m.npz --inputs lemmas --detokenise
    karat realize generate t.conllu --model m --inputs all --complete punctuation
    """
    from karat.realize import open_realizer, read_input, realize_trees
    from karat.realize.content import completed_slots

    completed_slots(settings["complete"], settings["keep"])  # refuse unknown names early
    check_output(output, (model, trees))
    with Bar() as progress:
        sentences = realize_trees(
            open_realizer(model), read_input(trees), **settings, progress=progress
        )
    if format != "text" or settings["n_best"] > 1:
        show(sentences.document(options.command_line()), format, output)
        return
    say((f"{row.sentence}\n" for row in sentences.rows), output)
    _print_notes(sentences.notes)


@click.command(name="evaluate", cls=Command)
@_model
@_file("treebank")
@named(
    "--inputs",
    "Inputs of the realisers, comma-separated: words; words with UPOS tags and relations (all); "
    "words with relations, for completion (relations); lemmas with UPOS and XPOS tags, features "
    "and relations (lemmas); all that the model was trained for (every).",
    default="every",
    metavar="LIST",
)
@_only_realizer
@options.output
def evaluate(model: str, treebank: str, format: str, output: str | None, **settings: Any) -> None:
    """Compare the realisers of a model on a treebank.

    Generates each sentence from its tree and shows the paper's four accuracies, BLEU, GTM's F,
    exact matches and speed, with the paper's own table for comparison. Also counts sentences that
    the model was trained on. A model that completes content words is also scored on trees whose
    function words, punctuation or both were taken out.

    \b
    karat realize evaluate dev.conllu --model model.npz
    karat realize evaluate dev.conllu --model model.npz --inputs lemmas
    """
    from karat.realize import evaluate_realizer, open_realizer, read_treebank

    check_output(output, (model, treebank))
    with Bar() as progress:
        evaluation = evaluate_realizer(
            open_realizer(model), read_treebank(treebank), **settings, progress=progress
        )
    show(evaluation.document(options.command_line()), format, output)


@click.command(name="explain", cls=Command)
@_model
@_file("trees")
@option("-s --segment", "Number of the tree to explain, from 1.", integer(min=1), 1)
@_inputs
@_only_realizer
@_n_best(default=5, help="Number of supertag assignments, paths and orders to show.")
@_complete
@_keep
@flag("--unpruned", "Also draw the unpruned lattice, without costs, if the tree is small.")
@options.output
def explain(
    model: str,
    trees: str,
    segment: int,
    n_best: int,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Explain how the realisers of a model order one tree.

    For the paper's realiser, shows the best supertag assignments, the lattice and the best paths.
    For the ordering model, shows the predicted labels, the best orders, and the contribution of
    each group of features to every treelet. With --complete, shows what was inserted, its
    probability, what else was possible and what decided; from lemmas, the same for the form of
    each word.

    \b
    karat realize explain trees.conllu --model model.npz --segment 3
    karat realize explain trees.conllu --model model.npz -o tree.html
    karat realize explain t.conllu --model m --inputs all --complete punctuation
    karat realize explain trees.txt --model m.npz --inputs lemmas
    karat realize explain trees.conllu --model model.npz -o lattice.svg
    karat realize explain trees.conllu --model model.npz --unpruned -o tree.svg
    """
    from karat.realize import explain_tree, open_realizer, read_input

    check_output(output, (model, trees))
    with Bar() as progress:
        explanation = explain_tree(
            open_realizer(model),
            read_input(trees),
            segment - 1,
            n_best,
            **settings,
            progress=progress,
        )
    show(explanation.document(options.command_line()), format, output)


@click.command(name="grammar", cls=Command)
@click.argument("source", metavar="MODEL|TREEBANK", type=click.Path())
@option("--most", "Number of supertags to list, the most frequent first.", integer(min=1), 30)
@options.output
def grammar(source: str, most: int, format: str, output: str | None) -> None:
    """List the supertags of a model or a treebank, and draw elementary trees.

    \b
    karat realize grammar treebank.conllu
    karat realize grammar model.npz -o trees.svg
    """
    from karat.realize import list_supertags

    check_output(output, [source])
    show(list_supertags(source, most).document(options.command_line()), format, output)


@click.command(name="demo", cls=Command)
@options.output
def demo(format: str, output: str | None) -> None:
    """Train on a bundled treebank and explain the paper's example sentence.

    The example is left out of the training text. Training takes some seconds. The treebank is tiny
    and was written for this demonstration, so the results do not show how good the models can be.

    \b
    karat realize demo
    karat realize demo -o demo.html
    """
    from karat.realize import explain_demo

    check_output(output)
    with Bar() as progress:
        explanation = explain_demo(progress=progress)
    show(explanation.document(options.command_line()), format, output)
