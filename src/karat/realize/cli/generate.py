"""`karat realize generate`: sentences for trees."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.old_names import retired
from karat.cli.parameters import flag
from karat.cli.show import check_output, say, show
from karat.progress import Bar
from karat.realize.cli import group


@click.command(name="generate", cls=Command)
@group.model_and("trees")
@group.every_input
@group.realizer
@group.n_best(default=1, help="Number of sentences for each tree, the best first.")
@group.complete
@group.keep
@retired("--punctuate", "--complete punctuation", is_flag=True)
@flag("--detokenise", "Write text from lemmas: spaces as in the training treebank.")
@options.output
def command(model: str, trees: str, format: str, output: Any, **wanted: Any) -> None:
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
    from karat.realize import generate_sentences, open_realizer, read_input
    from karat.realize.completion.slots import wanted_slots

    complete, keep = group.names(wanted.pop("complete")), group.names(wanted.pop("keep"))
    if wanted.pop("punctuate"):
        complete = (*complete, "punctuation")
    wanted_slots(complete, keep)  # an error for unknown names before anything is read
    wanted |= {"complete": complete, "keep": keep}
    check_output(output, (model, trees))
    with Bar() as progress:
        opened = open_realizer(model)
        found = generate_sentences(opened, read_input(trees), progress=progress, **wanted)
    if format != "text" or wanted["n_best"] > 1:
        show(found.document(options.command_line()), format, output)
        return
    say((f"{row.sentence}\n" for row in found.rows), output)
    for note in found.notes:
        click.echo(f"karat: note: {note[0].lower()}{note[1:]}", err=True)
