"""Content words to sentences, from the trees of a treebank: inflected, completed, ordered, written.

Lemmas are inflected by the tree of content words; once words have been inserted and ordered, forms
are chosen again, with their neighbours. Trees are worked on in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from karat.progress import Progress, silent
from karat.realize.blocks import SENTENCES, blocks
from karat.realize.completion.completer import Completer
from karat.realize.completion.content import ContentTrees, content_trees
from karat.realize.completion.insertion import Place
from karat.realize.completion.realizing import RealizedContent, realize_content
from karat.realize.completion.slots import Filling
from karat.realize.inflection.completed_lemmas import CompletedLemmas, completed_lemmas
from karat.realize.inflection.inflection import Inflection
from karat.realize.inflection.ordered_forms import OrderedForms
from karat.realize.input_trees import check_lengths
from karat.realize.model import RealizerModel, check_orders_lemmas
from karat.realize.treebank import Treebank


@dataclass(frozen=True, eq=False)
class ContentLemmas:
    """Sentences from lemmas: the completed trees, and the forms of all orders."""

    inflection: Inflection
    completed: CompletedLemmas
    forms: OrderedForms

    @cached_property
    def best(self) -> dict[int, str]:
        """Node -> its form in the best order of its tree, as far as there is one."""
        found = dict[int, str]()
        for node, form in zip(self.forms.nodes.tolist(), self.forms.forms, strict=True):
            found.setdefault(node, form)
        return found

    def texts(self, detokenise: bool) -> list[str]:
        """Return all orders as sentences with capitals, or as text."""
        words = self.inflection.capitalised(self.forms)
        if detokenise:
            return self.inflection.texts(self.forms, words)
        return self.forms.sentences(words)


@dataclass(frozen=True, eq=False)
class ContentSentences:
    """Trees of content words, and what was made of them; `lemmas` if the input has these."""

    content: ContentTrees
    found: RealizedContent
    lemmas: ContentLemmas | None = None

    def texts(self, detokenise: bool = False) -> list[str]:
        """Return the sentences of all orders of all trees."""
        if self.lemmas is not None:
            return self.lemmas.texts(detokenise)
        trees = self.found.inserted.trees
        pairs = ((i, order) for i, few in enumerate(self.found.orders) for order in few)
        return [trees.sentence(i, order.nodes) for i, order in pairs]

    def fillings(self) -> Mapping[str, list[Filling]]:
        """Return what is in every slot, in the forms of the best order."""
        if self.lemmas is None:
            return self.found.fillings
        filled = {slot: list(column) for slot, column in self.found.fillings.items()}
        for node, place in enumerate(self.found.inserted.places):
            if place is not None:
                slot, j = place.slot
                filled[slot][j] = _with_form(filled[slot][j], place, self.lemmas.best[node])
        return filled


def _with_form(filling: Filling, place: Place, form: str) -> Filling:
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
        found = self.complete(content, k)
        made = completed_lemmas(found.inserted, bank, inflection.inflector.table)
        lemmas = ContentLemmas(inflection, made, made.forms(inflection, found.orders))
        return ContentSentences(content, found, lemmas)

    def complete(self, content: ContentTrees, k: int = 1) -> RealizedContent:
        """Return content words with what was inserted, and their k best orders."""
        orderer = self.model.content_orderer(self.realizer)
        return realize_content(self.completer, orderer, content, self.slots, k)

    def realize_all(
        self, treebank: Treebank, k: int = 1, *, most: int = SENTENCES, progress: Progress = silent
    ) -> Iterator[tuple[int, ContentSentences]]:
        """Yield the k best sentences of some trees after the other, with the number of the first.

        Args:
            treebank: trees of content words.
            k: number of sentences for each tree.
            most: number of trees that are worked on at a time, which changes no sentence.
            progress: function that is called with the progress.
        """
        check_lengths(treebank)
        for first, some in blocks(treebank, most):
            progress(first, len(treebank), "completing")
            yield first, self.realize(some, k)
        progress(len(treebank), len(treebank), "completing")
