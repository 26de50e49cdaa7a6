"""Explanations of sentences from content words: what was inserted, and how it was ordered."""

from __future__ import annotations

from karat.progress import Progress, silent
from karat.realize.completion.content import content_trees
from karat.realize.completion.explained import explain_completion
from karat.realize.completion.realizing import realize_content
from karat.realize.completion.slots import wanted_slots
from karat.realize.explanation import (
    RealizedTree,
    RealizerSentence,
    check_tree,
    explain_ordering,
    rows_from_lemmas,
)
from karat.realize.inflection.lemma_realizer import completed_forms
from karat.realize.input_trees import check_labels, with_lemmas
from karat.realize.model import RealizerModel
from karat.realize.treebank import Treebank, one_sentence

MODEL = "completion"
"""Name in reports."""


def explain_content_words(
    model: RealizerModel,
    treebank: Treebank,
    tree: int,
    k: int = 5,
    *,
    inputs: str = "all",
    complete: tuple[str, ...] = ("function-words", "punctuation"),
    keep: tuple[str, ...] = (),
    progress: Progress = silent,
) -> RealizedTree:
    """Explain what is inserted into one tree of content words, and how it is ordered then.

    Args:
        model, treebank: as `open_realizer` and `read_input` return them.
        tree: number of the tree, from 0.
        k: number of orders.
        inputs: `all`, `relations` or `lemmas`.
        complete, keep: as for `generate_sentences`.
        progress: function that is called with the progress.
    """
    completer, ordering = model.completer(inputs), model.ordering["all"]
    check_labels(treebank, inputs)
    check_tree(treebank, tree)
    given, slots = one_sentence(treebank, tree), wanted_slots(complete, keep)
    bank = given
    if inputs == "lemmas":
        bank = model.the_inflection().with_forms(with_lemmas(given))
    content = content_trees(bank, completer.final)
    found = realize_content(completer, ordering, content, slots, k)
    one = found.inserted.trees
    if inputs == "lemmas":
        forms = completed_forms(model.the_inflection(), one, found.orders)
        rows = rows_from_lemmas(MODEL, model.the_inflection(), forms)
    else:
        sentence = one.sentence(0, found.orders[0][0].nodes)
        rows = (RealizerSentence(MODEL, None, sentence),)  # the file has fewer words
    settings = {"inputs": inputs, "tree": tree + 1, "n_best": k, "complete": ",".join(complete)}
    if keep:
        settings["keep"] = ",".join(keep)
    return RealizedTree(
        name=treebank.name,
        rows=rows,
        settings=settings,
        number=tree + 1,
        tree=one,
        supertags=None,
        ordering=explain_ordering(ordering, one, k, progress),
        completion=explain_completion(found, content.words),
    )
