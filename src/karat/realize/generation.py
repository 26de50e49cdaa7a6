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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from karat.arrays import np
from karat.errors import MAX_FIELD_LENGTH, InputError, visible
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.completer import Completer
from karat.realize.completion import InsertionPlace, RealizedContent, realize_content
from karat.realize.content import (
    CLOSED,
    MODALITY,
    MOODS,
    ContentTrees,
    Filling,
    check_completion_classes,
    content_trees,
)
from karat.realize.inflection import (
    CompletedLemmas,
    Inflection,
    OrderedForms,
    lemmatize_completed,
)
from karat.realize.input_trees import (
    INPUTS,
    InputTrees,
    Orders,
    check_best,
    check_lengths,
    check_type,
    input_trees,
    to_inputs,
    to_names,
)
from karat.realize.model import RealizerModel, RealizerResult, check_orders_lemmas
from karat.realize.treebank import MAX_BLOCK_SENTENCES, MISSING, Treebank, split_into_blocks


@dataclass(frozen=True, eq=False)
class ContentLemmas:
    """Sentences from lemmas: the completed trees, and the forms of all orders."""

    inflection: Inflection
    completed: CompletedLemmas
    forms: OrderedForms

    @cached_property
    def best(self) -> dict[int, str]:
        """Node -> its form in the best order of its tree, as far as there is one."""
        form_of_node = dict[int, str]()
        for node, form in zip(self.forms.nodes.tolist(), self.forms.forms, strict=True):
            form_of_node.setdefault(node, form)
        return form_of_node

    def texts(self, detokenise: bool) -> list[str]:
        """Return all orders as sentences with capitals, or as text."""
        words = self.inflection.capitalise(self.forms)
        if detokenise:
            return self.inflection.texts(self.forms, words)
        return self.forms.sentences(words)


@dataclass(frozen=True, eq=False)
class ContentSentences:
    """Trees of content words, and what was made of them; `lemmas` if the input has these."""

    content: ContentTrees
    realized: RealizedContent
    lemmas: ContentLemmas | None = None

    def texts(self, detokenise: bool = False) -> list[str]:
        """Return the sentences of all orders of all trees."""
        if self.lemmas is not None:
            return self.lemmas.texts(detokenise)
        trees = self.realized.inserted.trees
        pairs = (
            (i, order)
            for i, tree_orders in enumerate(self.realized.orders)
            for order in tree_orders
        )
        return [trees.sentence(i, order.nodes) for i, order in pairs]

    def fillings(self) -> Mapping[str, list[Filling]]:
        """Return what is in every slot, in the forms of the best order."""
        if self.lemmas is None:
            return self.realized.fillings
        filled = {slot: list(column) for slot, column in self.realized.fillings.items()}
        for node, place in enumerate(self.realized.inserted.places):
            if place is not None:
                slot, j = place.slot
                filled[slot][j] = _with_form(filled[slot][j], place, self.lemmas.best[node])
        return filled


def _with_form(filling: Filling, place: InsertionPlace, form: str) -> Filling:
    """Return a filling with another form of one of its words."""
    item = list(filling[place.item])
    item[place.part] = item[place.part]._replace(word=form)
    return (*filling[: place.item], tuple(item), *filling[place.item + 1 :])


def check_completion(
    model: RealizerModel, inputs: str, slots: tuple[str, ...], realizer: str | None
) -> None:
    """Require a model that inserts words from these inputs, and orders them by `realizer`."""
    if inputs == "lemmas":
        check_orders_lemmas(realizer)
    model.completer(inputs, slots)
    model.content_orderer(realizer)


@dataclass(frozen=True, eq=False)
class ContentRealizer:
    """A model that completes content words of one kind of input: `all`, `relations`, `lemmas`."""

    model: RealizerModel
    inputs: str
    slots: tuple[str, ...]
    realizer: str | None = None
    """`fergus` or `ordering`; None for the ordering model if there is one, else for FERGUS."""

    @cached_property
    def completer(self) -> Completer:
        """The completer of the slots; an error if the model has none."""
        return self.model.completer(self.inputs, self.slots)

    def realize(self, treebank: Treebank, k: int = 1) -> ContentSentences:
        """Return the k best sentences for trees, of which features are all held at once."""
        check_lengths(treebank)
        if self.inputs != "lemmas":
            content = content_trees(treebank, self.completer.final)
            return ContentSentences(content, self.complete(content, k))
        inflection = self.model.the_inflection()
        bank = inflection.with_forms(treebank)
        content = content_trees(bank, self.completer.final, lemmas=True)
        realized = self.complete(content, k)
        completed = lemmatize_completed(realized.inserted, bank, inflection.inflector.table)
        lemmas = ContentLemmas(inflection, completed, completed.forms(inflection, realized.orders))
        return ContentSentences(content, realized, lemmas)

    def complete(self, content: ContentTrees, k: int = 1) -> RealizedContent:
        """Return content words with what was inserted, and their k best orders."""
        orderer = self.model.content_orderer(self.realizer)
        return realize_content(self.completer, orderer, content, self.slots, k)

    def realize_all(
        self,
        treebank: Treebank,
        k: int = 1,
        *,
        most: int = MAX_BLOCK_SENTENCES,
        progress: Progress = silent,
    ) -> Iterator[tuple[int, ContentSentences]]:
        """Yield the k best sentences of some trees after the other, with the number of the first.

        Args:
            treebank: trees of content words.
            k: number of sentences for each tree.
            most: number of trees that are worked on at a time, which changes no sentence.
            progress: function that is called with the progress.
        """
        check_lengths(treebank)
        for first, block in split_into_blocks(treebank, most):
            progress(first, len(treebank), "completing")
            yield first, self.realize(block, k)
        progress(len(treebank), len(treebank), "completing")


MAX_NAMED_LABELS = 5
"""Labels that a note names."""
AUXILIARY = "Tense[aux]="
"""The feature of content words that stands for the tense or mood of an auxiliary."""

Labels = Mapping[str, Iterable[str]]
"""Kind of label -> labels."""


def labels_of_trees(trees: InputTrees) -> Labels:
    """Return the labels that a realiser of such trees sees."""
    if trees.inputs == "words":
        return {}
    labels: dict[str, Iterable[str]] = {"relation": trees.relations, "UPOS tag": trees.tags}
    return labels | {"XPOS tag": trees.fine, "feature": _features(trees.features)}


def labels_of_content(treebank: Treebank, inputs: str) -> Labels:
    """Return the labels that the completion of such content words sees."""
    labels: dict[str, Iterable[str]] = {"relation": treebank.relations}
    if inputs != "relations":
        labels |= {"UPOS tag": treebank.upos, "feature": _features(treebank.features)}
    return labels | ({"XPOS tag": treebank.xpos} if inputs == "lemmas" else {})


def note_unseen_labels(model: RealizerModel, labels: Labels) -> tuple[str, ...]:
    """Return a note on the labels that the model never saw; none if it saw all."""
    trained_labels, counts, names = _trained_labels(model), list[str](), list[str]()
    for kind in (kind for kind in trained_labels if kind in labels):
        if new := sorted({*labels[kind]} - trained_labels[kind] - {"", MISSING}):
            counts.append(f"{len(new):,} {kind}{'' if len(new) == 1 else 's'}")
            names += new
    if not names:
        return ()
    counted = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]
    more = f" and {len(names) - MAX_NAMED_LABELS:,} more" if len(names) > MAX_NAMED_LABELS else ""
    listed = ", ".join(visible(name[:MAX_FIELD_LENGTH]) for name in names[:MAX_NAMED_LABELS])
    return (f"The input has {counted} that the model never saw: {listed}{more}.",)


def _features(listed: Iterable[str]) -> set[str]:
    return {part for features in {*listed} for part in features.split("|")}


def _trained_labels(model: RealizerModel) -> dict[str, frozenset[str]]:
    """Return all labels of each kind that the model was trained on, if it knows them."""
    trained: dict[str, frozenset[str]] = {}
    if model.fergus is not None:
        grammar = model.fergus.chooser.grammar
        trained = {"relation": frozenset(grammar.relations), "UPOS tag": frozenset(grammar.tags)}
    elif "words" in model.ordering:
        guessed = model.ordering["words"].labeller.classifiers[0].names
        kinds = {"relation": "relations", "UPOS tag": "tags"}
        trained = {kind: frozenset(guessed[name]) for kind, name in kinds.items()}
    if model.inflection is not None:
        cells = model.inflection.inflector.table.counts
        features = _features(cell.features for cell in cells)
        values = {part.partition("=")[2] for part in features if part.startswith("Tense=")}
        tenses = {f"{AUXILIARY}{value}" for value in {*values, *MOODS, *MODALITY.values()}}
        trained.setdefault("UPOS tag", frozenset(cell.upos for cell in cells))
        trained["XPOS tag"] = frozenset(cell.xpos for cell in cells)
        trained["feature"] = frozenset(features | tenses | {CLOSED})
    return trained


COMMA = ","
FINAL = (".", "?", "!")

SPOKEN_SYMBOLS = frozenset("#%&/@§¶‰")
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
    check_type("model", model, RealizerModel)
    check_type("trees", trees, InputTrees)
    check_best("n_best", n_best)
    check_detokenise(detokenise, trees.inputs)
    orders = model.best(trees.inputs, realizer).realize(trees, n_best, progress=progress)
    lm = model.language_model(trees.inputs, realizer) if punctuation else None
    if trees.inputs == "lemmas":
        forms = model.lemma_realizer().forms(trees, orders)
        sizes, texts = _write_forms(model.the_inflection(), forms, lm, detokenise)
    else:
        texts = [
            trees.sentence(i, order.nodes)
            for i, tree_orders in enumerate(orders)
            for order in tree_orders
        ]
        marked = punctuate(lm, texts) if lm else texts
        pairs = zip(marked, texts, strict=True)
        sizes, texts = [after.count(" ") - before.count(" ") for after, before in pairs], marked
    rows = _rank_rows(orders, texts)
    inserted = sum(size for row, size in zip(rows, sizes, strict=True) if row.rank == 1)
    settings: dict[str, object] = {"inputs": trees.inputs, "n_best": n_best}
    settings["realizer"] = model.chosen(trees.inputs, realizer)
    settings |= {"complete": "punctuation"} if punctuation else {}
    settings |= {"detokenise": detokenise} if trees.inputs == "lemmas" else {}
    fallback = filter(None, [model.fallback(trees.inputs, realizer)])
    notes = (*fallback, *note_unseen_labels(model, labels_of_trees(trees)))
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
    check_type("model", model, RealizerModel)
    check_type("treebank", treebank, Treebank)
    check_best("n_best", n_best)
    complete, keep = to_names("complete", complete), to_names("keep", keep)
    slots = check_completion_classes(complete, keep)
    _check_options(inputs, complete, keep)
    bank = to_inputs(treebank, inputs)
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
        rows += _rank_rows(block.realized.orders, block.texts(detokenise), first)
        inserted += int((block.realized.inserted.sources < 0).sum())
    settings: dict[str, object] = {"inputs": inputs, "n_best": n_best}
    settings |= {"realizer": model.chosen("all", realizer), "complete": ",".join(complete)}
    if keep:
        settings["keep"] = ",".join(keep)
    if inputs == "lemmas":
        settings["detokenise"] = detokenise
    fallback = filter(None, [model.content_fallback(realizer)])
    notes = (*fallback, *note_unseen_labels(model, labels_of_content(bank, inputs)))
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


def _rank_rows(
    orders: Orders, texts: Sequence[str], first: int = 0
) -> tuple[RealizedSentence, ...]:
    """Return a row for the text of every order of every tree; the first tree has a number."""
    pairs = [
        (i, rank, o)
        for i, tree_orders in enumerate(orders, first)
        for rank, o in enumerate(tree_orders, 1)
    ]
    return tuple(
        RealizedSentence(i + 1, rank, order.score, text)
        for (i, rank, order), text in zip(pairs, texts, strict=True)
    )


def _write_forms(
    inflection: Inflection, forms: OrderedForms, lm: LanguageModel | None, detokenise: bool
) -> tuple[list[int], list[str]]:
    """Return ordered forms as sentences with capitals; with a language model, punctuated.

    Before the sentences comes the number of marks that each of them gained.
    """
    before = np.diff(forms.starts)
    if lm is not None:
        tag = partial(inflection.inflector.table.usual_tags, upos="PUNCT")
        forms = forms.with_marks(partial(_punctuate_words, lm), tag)
    words = inflection.capitalise(forms)
    texts = inflection.texts(forms, words) if detokenise else forms.sentences(words)
    return (np.diff(forms.starts) - before).tolist(), texts


def punctuate(lm: LanguageModel, sentences: Sequence[str]) -> list[str]:
    """Put the punctuation that they lack into sentences."""
    return [" ".join(_punctuate_words(lm, sentence.split(" "))) for sentence in sentences]


def _punctuate_words(lm: LanguageModel, words: list[str]) -> list[str]:
    if any(is_punctuation(word) for word in words):
        return words
    words = _likeliest(lm, [[*words, mark] for mark in FINAL])
    while True:
        places = [i for i in range(1, len(words) - 1) if COMMA not in words[i - 1 : i + 1]]
        better = _likeliest(lm, [words, *([*words[:i], COMMA, *words[i:]] for i in places)])
        if better == words:
            return words
        words = better


def is_punctuation(word: str) -> bool:
    """Return whether a word is made of marks of punctuation alone."""
    plain = unicodedata.normalize("NFKC", word)
    return all(unicodedata.category(c).startswith("P") and c not in SPOKEN_SYMBOLS for c in plain)


def _likeliest(lm: LanguageModel, choices: list[list[str]]) -> list[str]:
    """Return the likeliest choice; of equal ones the first."""
    scores = lm.score([" ".join(words) for words in choices], threads=1)
    return choices[int(np.argmax(scores))]
