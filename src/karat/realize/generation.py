"""Generation: the best sentences of every tree, and the punctuation that the input lacks.

Marks are put in where the language model expects them:

    best = argmax over sentences with commas inside and one mark at the end of log p(sentence)

The marks are hidden events of an n-gram model that was trained on text with them. Commas go in one
at a time, each where it helps most, for as long as one helps; then the best of the final marks.
Sentences that have any punctuation are left as they are; symbols that are read out as words ($, %
and &) are no punctuation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.completion.slots import wanted_slots
from karat.realize.content_realizer import ContentRealizer, check_completion
from karat.realize.given import as_names, check_best, check_given
from karat.realize.inflection.inflection import Inflection
from karat.realize.inflection.ordered_forms import OrderedForms
from karat.realize.input_trees import (
    INPUTS,
    InputTrees,
    Orders,
    as_inputs,
    input_trees,
)
from karat.realize.model import RealizerModel, RealizerResult
from karat.realize.treebank import Treebank
from karat.realize.unseen_labels import labels_of_content, labels_of_trees, unseen_labels

COMMA = ","
FINAL = (".", "?", "!")

READ_OUT = frozenset("#%&/@§¶‰")
"""Symbols that Unicode counts as punctuation: `and`, `percent`, `at` and the like."""


class RealizedSentence(NamedTuple):
    """A sentence for a tree; trees and ranks count from 1, the score is a weighted log."""

    tree: int
    rank: int
    score: float
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class RealizedSentences(RealizerResult):
    """Sentences for trees, the best of each tree first."""

    inserted: int = 0
    """Function words and marks that were inserted into the best sentences."""


def realize_trees(
    model: RealizerModel,
    trees: InputTrees,
    n_best: int = 1,
    *,
    realizer: str | None = None,
    punctuation: bool = False,
    detokenise: bool = False,
    progress: Progress = silent,
) -> RealizedSentences:
    """Generate sentences for trees.

    Args:
        model, trees: as `open_realizer` and `read_trees` return them.
        n_best: number of sentences for each tree.
        realizer: `fergus` for the paper's supertags, `ordering` for the ordering model; by default
            the ordering model if there is one for these inputs, else the supertags.
        punctuation: insert punctuation that the input does not have.
        detokenise: for trees of lemmas, write text: capitals, and spaces as the treebank has them.
        progress: function that is called with the progress.
    """
    check_given("model", model, RealizerModel)
    check_given("trees", trees, InputTrees)
    check_best("n_best", n_best)
    check_detokenise(detokenise, trees.inputs)
    orders = model.best(trees.inputs, realizer).realize(trees, n_best, progress=progress)
    lm = model.language_model(trees.inputs, realizer) if punctuation else None
    if trees.inputs == "lemmas":
        forms = model.lemma_realizer().forms(trees, orders)
        sizes, texts = _written(model.the_inflection(), forms, lm, detokenise)
    else:
        texts = [trees.sentence(i, order.nodes) for i, few in enumerate(orders) for order in few]
        marked = punctuate(lm, texts) if lm else texts
        pairs = zip(marked, texts, strict=True)
        sizes, texts = [after.count(" ") - before.count(" ") for after, before in pairs], marked
    rows = _ranked(orders, texts)
    inserted = sum(size for row, size in zip(rows, sizes, strict=True) if row.rank == 1)
    settings: dict[str, object] = {"inputs": trees.inputs, "n_best": n_best}
    settings["realizer"] = model.chosen(trees.inputs, realizer)
    settings |= {"complete": "punctuation"} if punctuation else {}
    settings |= {"detokenise": detokenise} if trees.inputs == "lemmas" else {}
    fallback = filter(None, [model.fallback(trees.inputs, realizer)])
    notes = (*fallback, *unseen_labels(model, labels_of_trees(trees)))
    return RealizedSentences(trees.name, rows, settings, notes, inserted=inserted)


def generate_sentences(
    model: RealizerModel,
    treebank: Treebank,
    n_best: int = 1,
    *,
    inputs: str = "words",
    realizer: str | None = None,
    complete: Sequence[str] = (),
    keep: Sequence[str] = (),
    detokenise: bool = False,
    progress: Progress = silent,
) -> RealizedSentences:
    """Generate sentences for the trees of a treebank, which may leave words out.

    Args:
        model, treebank: as `open_realizer` and `read_input` return them. Function words and
            marks that a tree has stay as they are; nothing is inserted at words with the feature
            `Complete=No`.
        n_best: number of sentences for each tree.
        inputs: `words`; `all` for words with UPOS tags and relations, and features for
            `complete`; `relations` for words and relations; `lemmas` for lemmas with tags,
            features and relations.
        realizer: `fergus` for the paper's supertags, `ordering` for the ordering model; by default
            the ordering model if there is one for these inputs (with `complete`, for words with
            tags and relations), else the supertags.
        complete: what to insert: `function-words`, `punctuation`, or both; from words alone,
            `punctuation`.
        keep: slots in which nothing is inserted: aux, mark, case, cc, article, final, comma,
            other. What the input has there stays.
        detokenise: for lemmas, write text: capitals, and spaces as the treebank has them.
        progress: function that is called with the progress.
    """
    check_given("model", model, RealizerModel)
    check_given("treebank", treebank, Treebank)
    check_best("n_best", n_best)
    complete, keep = as_names("complete", complete), as_names("keep", keep)
    slots = wanted_slots(complete, keep)
    _check_options(inputs, complete, keep)
    bank = as_inputs(treebank, inputs)
    if not complete or (_marks_alone(complete, keep, inputs) and not model.completes(inputs)):
        trees, marks = input_trees(bank, inputs), bool(complete)
        more: dict[str, Any] = {"detokenise": detokenise, "progress": progress}
        return realize_trees(model, trees, n_best, realizer=realizer, punctuation=marks, **more)
    check_detokenise(detokenise, inputs)
    check_completion(model, inputs, slots, realizer)
    rows: list[RealizedSentence] = []
    inserted = 0
    content_realizer = ContentRealizer(model, inputs, slots, realizer)
    for first, block in content_realizer.realize_all(bank, n_best, progress=progress):
        rows += _ranked(block.found.orders, block.texts(detokenise), first)
        inserted += int((block.found.inserted.sources < 0).sum())
    settings: dict[str, object] = {"inputs": inputs, "n_best": n_best}
    settings |= {"realizer": model.chosen("all", realizer), "complete": ",".join(complete)}
    if keep:
        settings["keep"] = ",".join(keep)
    if inputs == "lemmas":
        settings["detokenise"] = detokenise
    fallback = filter(None, [model.content_fallback(realizer)])
    notes = (*fallback, *unseen_labels(model, labels_of_content(bank, inputs)))
    return RealizedSentences(treebank.name, tuple(rows), settings, notes, inserted=inserted)


def _check_options(inputs: str, complete: Sequence[str], keep: Sequence[str]) -> None:
    """Raise if options are given that need others."""
    if keep and not complete:
        raise InputError("--keep is for --complete: leave it out, or give both")
    if inputs == "words" and keep and set(complete) == {"punctuation"}:
        raise InputError(
            "inputs='words': --keep needs relations: give --inputs all, relations or lemmas, or "
            "leave --keep out"
        )
    if inputs == "relations" and not complete:
        raise InputError("--inputs relations is for --complete: give it, or --inputs words or all")


def _marks_alone(complete: Sequence[str], keep: Sequence[str], inputs: str) -> bool:
    """Return whether the language model could insert what is wanted."""
    return set(complete) == {"punctuation"} and not keep and inputs in INPUTS


def check_detokenise(detokenise: bool, inputs: str) -> None:
    """Refuse to write text from words: their capitals are not known."""
    if detokenise and inputs != "lemmas":
        raise InputError(
            f"inputs={inputs}: text is written from lemmas: give --inputs lemmas, or leave "
            f"--detokenise out"
        )


def _ranked(orders: Orders, texts: Sequence[str], first: int = 0) -> tuple[RealizedSentence, ...]:
    """Return a row for the text of every order of every tree; the first tree has a number."""
    pairs = [(i, rank, o) for i, few in enumerate(orders, first) for rank, o in enumerate(few, 1)]
    return tuple(
        RealizedSentence(i + 1, rank, order.score, text)
        for (i, rank, order), text in zip(pairs, texts, strict=True)
    )


def _written(
    inflection: Inflection, forms: OrderedForms, lm: LanguageModel | None, detokenise: bool
) -> tuple[list[int], list[str]]:
    """Return ordered forms as sentences with capitals; with a language model, punctuated.

    Before the sentences comes the number of marks that each of them gained.
    """
    before = np.diff(forms.starts)
    if lm is not None:
        tag = partial(inflection.inflector.table.usual_tags, upos="PUNCT")
        forms = forms.with_marks(partial(_punctuated, lm), tag)
    words = inflection.capitalised(forms)
    texts = inflection.texts(forms, words) if detokenise else forms.sentences(words)
    return (np.diff(forms.starts) - before).tolist(), texts


def punctuate(lm: LanguageModel, sentences: Sequence[str]) -> list[str]:
    """Put the punctuation that they lack into sentences."""
    return [" ".join(_punctuated(lm, sentence.split(" "))) for sentence in sentences]


def _punctuated(lm: LanguageModel, words: list[str]) -> list[str]:
    if any(is_punctuation(word) for word in words):
        return words
    words = _best(lm, [[*words, mark] for mark in FINAL])
    while True:
        places = [i for i in range(1, len(words) - 1) if COMMA not in words[i - 1 : i + 1]]
        better = _best(lm, [words, *([*words[:i], COMMA, *words[i:]] for i in places)])
        if better == words:
            return words
        words = better


def is_punctuation(word: str) -> bool:
    """Return whether a word is made of marks of punctuation alone."""
    plain = unicodedata.normalize("NFKC", word)
    return all(unicodedata.category(c).startswith("P") and c not in READ_OUT for c in plain)


def _best(lm: LanguageModel, choices: list[list[str]]) -> list[str]:
    """Return the likeliest choice; of equal ones the first."""
    scores = lm.score([" ".join(words) for words in choices], threads=1)
    return choices[int(np.argmax(scores))]
