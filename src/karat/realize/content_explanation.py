"""Explanations of sentences from content words: what was inserted, and how it was ordered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from karat.arrays import np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.realize.completion.explained import explain_completion
from karat.realize.completion.realizing import RealizedContent
from karat.realize.completion.slots import classes_said, wanted_slots
from karat.realize.content_realizer import (
    ContentLemmas,
    ContentRealizer,
    ContentSentences,
    check_completion,
)
from karat.realize.explanation import (
    RealizedTree,
    RealizerSentence,
    check_tree,
    explain_ordering,
    explain_supertags,
    rows_from_lemmas,
    with_sentences,
)
from karat.realize.given import as_names, check_best, check_given
from karat.realize.inflection.explained import WordForm, explain_forms
from karat.realize.input_trees import check_labels, with_lemmas
from karat.realize.model import RealizerModel
from karat.realize.treebank import Treebank, check_forms, some_sentences
from karat.realize.unseen_labels import labels_of_content, unseen_labels

MODEL = "completion"
"""Name in reports."""


def explain_content_words(
    model: RealizerModel,
    treebank: Treebank,
    tree: int,
    k: int = 5,
    *,
    inputs: str = "all",
    realizer: str | None = None,
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
        realizer, complete, keep: as for `generate_sentences`.
        progress: function that is called with the progress.
    """
    check_given("model", model, RealizerModel)
    check_given("treebank", treebank, Treebank)
    check_best("k", k)
    complete, keep = as_names("complete", complete), as_names("keep", keep)
    slots = wanted_slots(complete, keep)
    _check_completer(model, inputs, slots, realizer)
    given = _one_tree(treebank, tree, inputs)
    made = ContentRealizer(model, inputs, slots, realizer).realize(given, k)
    one = made.found.inserted.trees
    by_fergus = model.chosen("all", realizer) == "fergus"
    supertags = explain_supertags(model.the_fergus(), one, k, progress) if by_fergus else None
    ordering = None if by_fergus else explain_ordering(model.ordering["all"], one, k, progress)
    rows: tuple[RealizerSentence, ...]
    rows = (RealizerSentence(MODEL, None, made.texts()[0]),)  # the file has fewer words
    forms: list[WordForm] = []
    if made.lemmas is not None:
        rows = rows_from_lemmas(MODEL, made.lemmas.inflection, made.lemmas.forms)
        forms = _forms(made.lemmas, made.found)
        ordering = ordering and with_sentences(ordering, made.lemmas.forms)
        made = _with_words(made, made.lemmas.best)
    settings: dict[str, object] = {"inputs": inputs, "tree": tree + 1, "n_best": k}
    settings |= {"realizer": realizer} if realizer else {}
    settings |= {"complete": ",".join(complete)} | ({"keep": ",".join(keep)} if keep else {})
    fallback = filter(None, [model.content_fallback(realizer)])
    return RealizedTree(
        name=treebank.name,
        rows=rows,
        settings=settings,
        notes=(*fallback, *unseen_labels(model, labels_of_content(given, inputs))),
        number=tree + 1,
        tree=made.found.inserted.trees,
        supertags=supertags,
        ordering=ordering,
        completion=explain_completion(made.found, made.content.words),
        inflection=tuple(forms),
    )


def _check_completer(
    model: RealizerModel, inputs: str, slots: tuple[str, ...], realizer: str | None
) -> None:
    """Refuse inputs from which the model does not insert words."""
    if inputs == "words":
        told = f"insertion of {classes_said(slots)} is explained from relations"
        raise InputError(f"inputs='words': {told}: give --inputs all, relations or lemmas")
    check_completion(model, inputs, slots, realizer)


def _one_tree(treebank: Treebank, tree: int, inputs: str) -> Treebank:
    """Return one tree of a treebank; refuse it if it lacks what the inputs have."""
    check_labels(treebank, inputs)
    check_tree(treebank, tree)
    given = some_sentences(treebank, tree, tree + 1)
    if inputs == "lemmas":
        return with_lemmas(given)
    check_forms(given)
    return given


def _forms(lemmas: ContentLemmas, found: RealizedContent) -> list[WordForm]:
    """Return the forms that the words of the best order might have, inserted words too."""
    best = np.array(found.orders[0][0].nodes, dtype=np.int64)
    return explain_forms(lemmas.inflection.inflector, lemmas.completed.nodes, best)


def _with_words(made: ContentSentences, forms: Mapping[int, str]) -> ContentSentences:
    """Return the only tree with the forms of its best order."""
    inserted, words = made.found.inserted, list(made.content.words)
    for node, place in enumerate(inserted.places):
        if place is None:
            words[inserted.trees.places[node]] = forms[node]
    shown = replace(inserted.trees, words=[forms[node] for node in range(len(forms))])
    fillings, final = dict(made.found.fillings), made.fillings()
    for j, slot, ways in made.found.choices:
        if final[slot][j] in (filling for filling, _ in ways):  # else only its form is another
            fillings[slot] = [*fillings[slot][:j], final[slot][j], *fillings[slot][j + 1 :]]
    found = replace(made.found, inserted=replace(inserted, trees=shown), fillings=fillings)
    return replace(made, content=replace(made.content, words=words), found=found)
