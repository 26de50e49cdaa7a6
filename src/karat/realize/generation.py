"""Generation: the best sentences of every tree, with inserted function words and punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, cast

from karat.arrays import np
from karat.errors import MAX_FIELD_LENGTH, InputError, visible
from karat.lm.model import LanguageModel
from karat.progress import Progress, silent
from karat.realize.completer import Completer
from karat.realize.completion import RealizedContent, realize_content
from karat.realize.content import (
    CLOSED,
    MODALITY,
    MOODS,
    ContentTrees,
    completed_slots,
    content_trees,
)
from karat.realize.inflection import lemmatize_completed
from karat.realize.input_trees import (
    INPUTS,
    InputTrees,
    Orders,
    check_best,
    check_inputs,
    check_lengths,
    check_type,
    input_trees,
    to_inputs,
    to_names,
)
from karat.realize.model import RealizerModel, RealizerResult
from karat.realize.treebank import MAX_BLOCK_SENTENCES, MISSING, Treebank, split_into_blocks

if TYPE_CHECKING:
    from karat.realize.fergus import Fergus
    from karat.realize.ordering import OrderingModel


class RealizationRequest(NamedTuple):
    """Checked options of a realization.

    `slots` is None if no content words are completed: `complete` is empty, or the language model
    alone inserts the punctuation.
    """

    inputs: str
    complete: tuple[str, ...]
    keep: tuple[str, ...]
    slots: tuple[str, ...] | None

    @classmethod
    def checked(
        cls,
        model: RealizerModel,
        trees: InputTrees | Treebank,
        inputs: str,
        complete: Sequence[str],
        keep: Sequence[str],
        realizer: str | None,
    ) -> RealizationRequest:
        """Return the options; raise if they contradict each other, the model or the trees."""
        check_type("model", model, RealizerModel)
        check_type("trees", trees, InputTrees, Treebank)
        complete, keep = to_names("complete", complete), to_names("keep", keep)
        slots = completed_slots(complete, keep)
        inputs = trees.inputs if isinstance(trees, InputTrees) else inputs
        if keep and not complete:
            raise InputError("--keep is for --complete: leave it out, or give both")
        marks_alone = set(complete) == {"punctuation"}
        if inputs == "words" and keep and marks_alone:
            raise InputError(
                "inputs='words': --keep needs relations: give --inputs all, relations or lemmas, "
                "or leave --keep out"
            )
        if inputs == "relations" and not complete:
            raise InputError(
                "--inputs relations is for --complete: give it, or --inputs words or all"
            )
        check_inputs(inputs, (*INPUTS, "relations"))
        by_language_model = marks_alone and not keep and inputs in INPUTS
        if not complete or (by_language_model and not model.completes(inputs)):
            return cls(inputs, complete, keep, None)
        model.completer(inputs, slots)
        model.best("all", realizer)
        if inputs == "lemmas":
            model.best(inputs, realizer)
        if isinstance(trees, InputTrees):
            raise InputError("complete: expected a treebank to complete, as read_input returns it")
        return cls(inputs, complete, keep, slots)

    @property
    def completion_settings(self) -> dict[str, object]:
        """`complete` and `keep`, comma-separated, as far as they are given."""
        options = {"complete": self.complete, "keep": self.keep}
        return {option: ",".join(names) for option, names in options.items() if names}


@dataclass(frozen=True, eq=False)
class ContentRealizer:
    """A model that completes content words of one kind of input: `all`, `relations`, `lemmas`.

    Lemmas are first inflected by the tree of content words. After words were inserted and ordered,
    forms are chosen again, by their neighbours too.
    """

    model: RealizerModel
    inputs: str
    slots: tuple[str, ...]
    realizer: str | None = None
    """`fergus` or `ordering`; None: the ordering model if there is one, else FERGUS."""

    @cached_property
    def completer(self) -> Completer:
        """The completer of the slots; raises if the model has none."""
        return self.model.completer(self.inputs, self.slots)

    def realize(self, treebank: Treebank, k: int = 1) -> RealizedContent:
        """Return the k best sentences of trees; the features of all trees are in memory."""
        check_lengths(treebank)
        if self.inputs != "lemmas":
            return self.complete(content_trees(treebank, self.completer.final_marks), k)
        inflection = self.model.lemma_realizer().inflection
        bank = inflection.with_forms(treebank)
        realized = self.complete(
            content_trees(bank, self.completer.final_marks, sort_by_lemmas=True), k
        )
        table = inflection.inflector.table
        trees, fixed_forms = lemmatize_completed(realized.inserted, bank, table)
        return replace(realized, forms=inflection.forms(trees, realized.orders, fixed_forms))

    def complete(self, content: ContentTrees, k: int = 1) -> RealizedContent:
        """Return the completed content words, and their k best orders."""
        orderer = cast("Fergus | OrderingModel", self.model.best("all", self.realizer))
        return realize_content(self.completer, orderer, content, self.slots, k)

    def realize_all(
        self,
        treebank: Treebank,
        k: int = 1,
        *,
        most: int = MAX_BLOCK_SENTENCES,
        progress: Progress = silent,
    ) -> Iterator[tuple[int, RealizedContent]]:
        """Yield the k best sentences of blocks of `most` trees, with the number of the first tree.

        The size of blocks does not change the sentences.
        """
        check_lengths(treebank)
        for first, block in split_into_blocks(treebank, most):
            progress(first, len(treebank), "completing")
            yield first, self.realize(block, k)
        progress(len(treebank), len(treebank), "completing")


MAX_NAMED_LABELS = 5
"""Labels listed in a note."""
AUXILIARY = "Tense[aux]="
"""Feature of content words with the tense or mood of an auxiliary."""


def note_unseen_labels(
    model: RealizerModel, trees: InputTrees | Treebank, inputs: str
) -> tuple[str, ...]:
    """Return a note on labels that the model never saw, such as mistyped ones; none if it saw all.

    A model has the relations and UPOS tags of its training treebank if it has supertags or an
    ordering model for words alone; if it inflects, it has all tags and the features. Other labels
    are not checked. A treebank has trees of content words.
    """
    labels: dict[str, Iterable[str]]
    if isinstance(trees, InputTrees):
        labels = {"relation": trees.relations, "UPOS tag": trees.tags, "XPOS tag": trees.fine}
        labels["feature"] = _split_features(trees.features)
    else:
        labels = {"relation": trees.relations}
        if inputs != "relations":
            labels |= {"UPOS tag": trees.upos, "feature": _split_features(trees.features)}
        if inputs == "lemmas":
            labels["XPOS tag"] = trees.xpos
    counts, names = list[str](), list[str]()
    for kind, trained in _trained_labels(model).items():
        if new := sorted({*labels.get(kind, ())} - trained - {"", MISSING}):
            counts.append(f"{len(new):,} {kind}{'' if len(new) == 1 else 's'}")
            names += new
    if not names:
        return ()
    counted = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]
    more = f" and {len(names) - MAX_NAMED_LABELS:,} more" if len(names) > MAX_NAMED_LABELS else ""
    listed = ", ".join(visible(name[:MAX_FIELD_LENGTH]) for name in names[:MAX_NAMED_LABELS])
    return (f"The input has {counted} that the model never saw: {listed}{more}.",)


def _split_features(listed: Iterable[str]) -> set[str]:
    return {part for features in {*listed} for part in features.split("|")}


def _trained_labels(model: RealizerModel) -> dict[str, frozenset[str]]:
    """Return the labels of each kind that the model was trained on, as far as it stores them."""
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
        features = _split_features(cell.features for cell in cells)
        values = {part.partition("=")[2] for part in features if part.startswith("Tense=")}
        tenses = {f"{AUXILIARY}{value}" for value in {*values, *MOODS, *MODALITY.values()}}
        trained.setdefault("UPOS tag", frozenset(cell.upos for cell in cells))
        trained["XPOS tag"] = frozenset(cell.xpos for cell in cells)
        trained["feature"] = frozenset(features | tenses | {CLOSED})
    return trained


class RealizedSentence(NamedTuple):
    """A sentence of a tree; trees and ranks count from 1, the score is a weighted log."""

    tree: int
    rank: int
    score: float
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class RealizedSentences(RealizerResult):
    """Sentences for trees, the best of each tree first."""

    inserted: int = 0
    """Number of function words and marks inserted into the best sentences."""


def realize_trees(
    model: RealizerModel,
    trees: InputTrees | Treebank,
    n_best: int = 1,
    *,
    inputs: str = "words",
    realizer: str | None = None,
    complete: Sequence[str] = (),
    keep: Sequence[str] = (),
    detokenise: bool = False,
    progress: Progress = silent,
) -> RealizedSentences:
    """Generate sentences for trees, which may leave words out.

    Args:
        model: as `open_realizer` returns it.
        trees: as `read_trees` or `read_input` returns them; only the latter can be completed with
            function words. Function words and marks that a tree has stay as they are; nothing is
            inserted at words with the feature `Complete=No`.
        n_best: number of sentences for each tree.
        inputs: for `read_input`: `words`; `all` for words with UPOS tags and relations, and
            features for `complete`; `relations` for words and relations; `lemmas` for lemmas with
            tags, features and relations.
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
    request = RealizationRequest.checked(model, trees, inputs, complete, keep, realizer)
    inputs, slots = request.inputs, request.slots
    check_best("n_best", n_best)
    if detokenise and inputs != "lemmas":
        raise InputError(
            f"inputs={inputs}: text is written from lemmas: give --inputs lemmas, or leave "
            f"--detokenise out"
        )
    if isinstance(trees, Treebank):
        trees = to_inputs(trees, inputs)
        trees = input_trees(trees, inputs) if slots is None else trees
    rows: list[RealizedSentence] = []
    n_inserted = 0
    if isinstance(trees, InputTrees):
        orders = model.best(inputs, realizer).realize(trees, n_best, progress=progress)
        lm = model.language_model(inputs, realizer) if request.complete else None
        texts, n_marks = _write_orders(model, trees, orders, lm, detokenise)
        rows += _rank_rows(orders, texts)
        n_inserted = sum(n for row, n in zip(rows, n_marks, strict=True) if row.rank == 1)
    else:
        content_realizer = ContentRealizer(model, inputs, slots or (), realizer)
        for first, block in content_realizer.realize_all(trees, n_best, progress=progress):
            rows += _rank_rows(block.orders, block.texts(detokenise=detokenise), first)
            n_inserted += int((block.inserted.sources < 0).sum())
    ordered_inputs = inputs if slots is None else "all"
    settings: dict[str, object] = {
        "inputs": inputs,
        "n_best": n_best,
        "realizer": model.realizer_name(ordered_inputs, realizer),
        **request.completion_settings,
    }
    settings |= {"detokenise": detokenise} if inputs == "lemmas" else {}
    fallback = model.fallback_notes(ordered_inputs, realizer, completed=slots is not None)
    notes = (*fallback, *note_unseen_labels(model, trees, inputs))
    return RealizedSentences(trees.name, tuple(rows), settings, notes, inserted=n_inserted)


def _write_orders(
    model: RealizerModel,
    trees: InputTrees,
    orders: Orders,
    lm: LanguageModel | None,
    detokenise: bool,
) -> tuple[list[str], list[int]]:
    """Return the text of every order, and the number of marks that a language model inserted."""
    if trees.inputs == "lemmas":
        forms = model.lemma_realizer().inflection.forms(trees, orders)
        marked_forms = forms if lm is None else forms.with_marks(partial(_punctuate_words, lm))
        texts = marked_forms.texts(detokenise=detokenise)
        return texts, (np.diff(marked_forms.starts) - np.diff(forms.starts)).tolist()
    plain_texts = trees.sentences(orders)
    texts = plain_texts if lm is None else punctuate(lm, plain_texts)
    pairs = zip(texts, plain_texts, strict=True)
    return texts, [marked.count(" ") - plain.count(" ") for marked, plain in pairs]


def _rank_rows(orders: Orders, texts: Iterable[str], first: int = 0) -> Iterator[RealizedSentence]:
    """Yield a row for the text of every order of every tree, numbered after `first` trees."""
    remaining = iter(texts)
    for number, tree_orders in enumerate(orders, first + 1):
        for rank, order in enumerate(tree_orders, 1):
            yield RealizedSentence(number, rank, order.score, next(remaining))


COMMA = ","
FINAL = (".", "?", "!")
SPOKEN_SYMBOLS = frozenset("#%&/@§¶‰")
"""Symbols that are read as words, though Unicode classes them as punctuation."""


def punctuate(lm: LanguageModel, sentences: Sequence[str]) -> list[str]:
    """Insert punctuation into sentences without any, where the language model expects it.

        best = argmax over sentences with commas inside and one mark at the end of log p(sentence)

    The marks are hidden events of an n-gram model that was trained on text with them. The best
    final mark is chosen first; then commas are added greedily, as long as one increases the
    probability. Symbols that are read as words ($, % and &) do not count as punctuation.
    """
    return [" ".join(_punctuate_words(lm, sentence.split(" "))) for sentence in sentences]


def _punctuate_words(lm: LanguageModel, words: list[str]) -> list[str]:

    def is_punctuation(word: str) -> bool:
        characters = unicodedata.normalize("NFKC", word)
        return all(
            unicodedata.category(c)[0] == "P" and c not in SPOKEN_SYMBOLS for c in characters
        )

    def likeliest(choices: list[list[str]]) -> list[str]:
        """Return the likeliest choice; of equal ones the first."""
        scores = lm.score([" ".join(words) for words in choices], threads=1)
        return choices[int(np.argmax(scores))]

    if any(map(is_punctuation, words)):
        return words
    words = likeliest([[*words, mark] for mark in FINAL])
    while True:
        places = [i for i in range(1, len(words) - 1) if COMMA not in words[i - 1 : i + 1]]
        better = likeliest([words, *([*words[:i], COMMA, *words[i:]] for i in places)])
        if better == words:
            return words
        words = better
