"""`karat realize`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import click

from karat.cli.command import command_group
from karat.cli.old_names import old_argument
from karat.cli.parameters import F, choice, named, option, path, whole

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.realize.cli.train", "Train a realiser on a treebank."),
    "generate": ("karat.realize.cli.generate", "Generate a sentence for every tree."),
    "evaluate": ("karat.realize.cli.evaluate", "Compare the realisers of a model on a treebank."),
    "explain": ("karat.realize.cli.explain", "Explain how a tree is ordered."),
    "grammar": ("karat.realize.cli.grammar", "List supertags and draw elementary trees."),
    "demo": ("karat.realize.cli.demo", "Train and explain on a bundled treebank."),
}
"""Name -> module (with a `command`) and the line that `karat realize --help` shows."""

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

_CONTENT = (
    "Input of the realiser: words; words with UPOS tags and relations (all; with --complete also "
    "features); for --complete alone, words with relations (relations)"
)
every_input = option(
    "--inputs",
    f"{_CONTENT}; or lemmas with UPOS and XPOS tags, features and relations (lemmas).",
    choice("words", "all", "relations", "lemmas"),
    "words",
)
realizer = option(
    "--realizer",
    "Realizer that writes the sentences: the paper's supertags (fergus) or the ordering model "
    "(ordering). Default: ordering if the model has it for these inputs, else fergus.",
    choice("fergus", "ordering"),
)
only_realizer = option(
    "--realizer",
    "Only the paper's supertags and baselines (fergus), or only the ordering model (ordering). "
    "Default: all that the model has.",
    choice("fergus", "ordering"),
)
complete = named(
    "--complete",
    "Insert what the input leaves out: function-words, punctuation, or both, comma-separated.",
    metavar="CLASSES",
)
keep = named(
    "--keep",
    "Slots in which --complete inserts nothing, such as aux,comma; what the input has there stays.",
    metavar="SLOTS",
)


def names(listed: str | None) -> tuple[str, ...]:
    """Return names with commas between them."""
    return tuple(name.strip() for name in listed.split(",")) if listed else ()


def n_best(default: int, help: str) -> Callable[[F], F]:
    """Return `--n-best`."""
    return option("--n-best", help, whole(1, 1000), default)


def model_and(name: str) -> Callable[[F], F]:
    """Add `--model`, and the argument `name` that it is used on.

    In the last release the model was an argument before the other.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def called(model: str | None, more: tuple[str, ...], **given: Any) -> Any:
            if len(more) > (model is None):
                raise click.UsageError(f"Got unexpected extra argument ({more[-1]})")
            if more:  # MODEL TREES
                model, given[name] = given[name], more[0]
            if model is None:
                context = click.get_current_context()
                param = next(one for one in context.command.params if one.name == "model")
                raise click.MissingParameter(ctx=context, param=param)
            return function(model=model, **given)

        told = "Model of `karat realize train` (required)."
        what = name.upper()
        old = old_argument("more", f"MODEL {what}", f"{what} --model MODEL")
        argument = click.argument(name, metavar=what, type=click.Path())
        added: Any = argument(old(option("--model", told, path)(called)))
        return cast("F", added)

    return decorate
