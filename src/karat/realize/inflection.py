"""Inflection: the forms of lemmas, their capitals, and the spaces between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from karat import __version__
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.realize.completion import InsertedTrees
from karat.realize.content import CLASSES
from karat.realize.forms import FormTable
from karat.realize.inflector import Inflector, Nodes, train_inflector
from karat.realize.input_trees import InputTrees, Orders
from karat.realize.log_linear import LogLinear
from karat.realize.orthography import (
    Spacing,
    Spellings,
    capitalise,
    format_fused,
    parse_fused_lines,
    plain,
    train_capitals,
)
from karat.realize.treebank import Treebank
from karat.storage.schema import ModelLayout, check_arrays
from karat.storage.store import ModelStore, damaged

if TYPE_CHECKING:
    from karat.realize.ordering import OrderingModel


@dataclass(frozen=True, eq=False)
class OrderedForms:
    """Forms of sentences: sentence i has the words `starts[i]` to `starts[i + 1]`.

    Forms are in lower case, lemmas in their original case; `tags` are UPOS and XPOS. `order` has
    the positions of words in the columns of `nodes`, -1 for inserted words.
    """

    inflection: Inflection
    nodes: Nodes
    order: Ints
    starts: Ints
    forms: list[str]
    lemmas: list[str]
    tags: list[str]

    @cached_property
    def best(self) -> dict[int, str]:
        """Node -> its form in the best order of its tree."""
        forms = dict[int, str]()
        for node, form in zip(self.order.tolist(), self.forms, strict=True):
            forms.setdefault(node, form)
        return forms

    def sentences(self, words: Sequence[str]) -> list[str]:
        """Return sentences of words, one for each form, separated by spaces."""
        return [" ".join(words[a:b]) for a, b in pairwise(self.starts.tolist())]

    def texts(self, *, detokenise: bool = False) -> list[str]:
        """Return sentences with capitals; with `detokenise`, spaced as in the treebank."""
        lemmas = [plain(lemma) for lemma in self.lemmas]
        spellings = Spellings(self.forms, lemmas, self.tags, self.starts)
        words = capitalise(self.inflection.capitals, spellings)
        if detokenise:
            return self.inflection.spacing.text(words, self.tags, self.starts)
        return self.sentences(words)

    def with_marks(self, punctuate: Callable[[list[str]], list[str]]) -> OrderedForms:
        """Return the sentences with the marks that `punctuate` inserts."""
        table = self.inflection.inflector.table
        rows: list[tuple[int, str, str, str]] = []
        starts = [0]
        for first, end in pairwise(self.starts.tolist()):
            position = first
            for word in punctuate(self.forms[first:end]):
                if position < end and word == self.forms[position]:
                    rows.append(
                        (
                            int(self.order[position]),
                            word,
                            self.lemmas[position],
                            self.tags[position],
                        )
                    )
                    position += 1
                else:
                    rows.append((-1, word, word, table.usual_tags(word, "PUNCT")))
            starts.append(len(rows))
        order, forms, lemmas, tags = (list(column) for column in zip(*rows, strict=True))
        places = np.array(order), np.array(starts)
        return OrderedForms(self.inflection, self.nodes, *places, forms, lemmas, tags)


MAX_TRAINING_WORDS = 60_000
"""Approximate number of words for training of capitals and spaces."""


@dataclass(frozen=True, eq=False)
class Inflection:
    """The models that turn ordered lemmas into text."""

    inflector: Inflector
    capitals: LogLinear
    spacing: Spacing

    @classmethod
    def train(cls, bank: Treebank, *, progress: Progress = silent) -> Inflection:
        """Train on a treebank with lemmas."""
        progress(0, 2, "capitals and spaces")
        # Sentences spread over the treebank, with about MAX_TRAINING_WORDS words.
        step = len(bank.words) // MAX_TRAINING_WORDS + 1
        sentences = np.repeat(np.arange(len(bank)), np.diff(bank.offsets))
        sample = bank.keep(sentences % step == 0)
        sample = replace(sample, offsets=np.unique(sample.offsets))  # without empty sentences
        tags = tags_of(sample.upos, sample.xpos)
        words = [plain(word) for word in sample.words]
        lowered = [word.lower() for word in words]
        lemmas = [plain(lemma) for lemma in sample.lemmas]
        capitals = train_capitals(Spellings(lowered, lemmas, tags, sample.offsets), words)
        spacing = Spacing.train(words, tags, sample.surfaces, sample.offsets)
        progress(1, 2, "inflection")
        # Round as in storage, so that a model does not change when it is saved.
        inflection = cls(train_inflector(bank), capitals, spacing)
        return cls.from_store(ModelStore(bank.name, *inflection.parts()))

    def with_forms(self, bank: Treebank) -> Treebank:
        """Return a treebank whose words are forms predicted from its trees."""
        return replace(bank, words=self.inflector.forms_from_tree(Nodes.of_treebank(bank)))

    def forms(
        self, trees: InputTrees, orders: Orders, fixed_forms: Mapping[int, str] | None = None
    ) -> OrderedForms:
        """Return the forms of all orders of trees of lemmas, by tree and neighbours.

        `fixed_forms` has the forms of nodes that are not inflected.
        """
        sentences = [
            np.array(order.nodes, dtype=np.int64) + start
            for start, tree_orders in zip(trees.offsets.tolist(), orders, strict=False)
            for order in tree_orders
        ]
        order = np.concatenate(sentences)
        starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        nodes = replace(Nodes.of_trees(trees), fixed_forms=fixed_forms or {})
        forms = self.inflector.forms_in_order(nodes, order, starts)
        tags, places = tags_of(trees.tags, trees.fine), order.tolist()
        lemmas = [trees.lemmas[j] for j in places]
        tags_in_order = [tags[j] for j in places]
        return OrderedForms(self, nodes, order, starts, forms, lemmas, tags_in_order)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
        table, fused = self.inflector.table.text(), format_fused(self.spacing.fused)
        arrays: dict[str, NDArray[Any]] = {
            "table": np.frombuffer(table.encode("utf-8"), dtype=np.uint8),
            "fused": np.frombuffer(fused.encode("utf-8"), dtype=np.uint8),
            **self.inflector.by_tree.arrays("tree"),
            **self.inflector.by_neighbours.arrays("neighbours"),
            **self.capitals.arrays("capitals"),
            **self.spacing.model.arrays("spaces"),
        }
        return {"karat": __version__}, arrays

    @classmethod
    def from_store(cls, store: ModelStore) -> Inflection:
        """Return the model of a store."""
        texts = {name: ModelLayout("uint8", f"bytes of {name}") for name in ("table", "fused")}
        models = ("tree", "neighbours", "capitals", "spaces")
        try:
            check_arrays(store.arrays, texts)
            table, fused = (bytes(store.arrays[name]).decode("utf-8") for name in texts)
            by_tree, by_neighbours, capitals, spaces = (
                LogLinear.from_arrays(name, store.arrays) for name in models
            )
            inflector = Inflector(FormTable.of_text(table), by_tree, by_neighbours)
            return cls(inflector, capitals, Spacing(parse_fused_lines(fused), spaces))
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error


def tags_of(upos: list[str], xpos: list[str]) -> list[str]:
    """Return both tags of every word, joined."""
    return [f"{upper} {fine}" for upper, fine in zip(upos, xpos, strict=True)]


@dataclass(frozen=True, eq=False)
class LemmaRealizer:
    """Realizer of lemmas: inflect by the tree, order, inflect by the neighbours.

    Forms are predicted before ordering, because the ordering model needs forms, and again when the
    neighbours are known (`Inflection.forms`).
    """

    name: ClassVar[str] = "inflection, ordering model"
    """Name in reports."""

    inflection: Inflection
    ordering: OrderingModel

    def inflected(self, trees: InputTrees) -> InputTrees:
        """Return the trees with forms, predicted without word order, instead of lemmas."""
        if trees.inputs != "lemmas":
            raise InputError(f"{trees.name}: trees of lemmas are read with inputs='lemmas'")
        return replace(
            trees, words=self.inflection.inflector.forms_from_tree(Nodes.of_trees(trees))
        )

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first; fewer if fewer were found."""
        return self.ordering.realize(self.inflected(trees), k, progress=progress)


def lemmatize_completed(
    inserted: InsertedTrees, treebank: Treebank, table: FormTable
) -> tuple[InputTrees, dict[int, str]]:
    """Return completed trees as trees of lemmas, and the forms of nodes that are not inflected.

    Words of `treebank`, from which the trees were made, have their lemmas. An inserted word is a
    form with a tag: if its lemma is unambiguous, its form is chosen again by its neighbours (`a` or
    `an`, `de` or `d'`); otherwise it is not changed, and neither are marks.
    """
    trees, fixed_forms = inserted.trees, dict[int, str]()
    words: list[tuple[str, str, str]] = []  # lemma, XPOS, features
    for node, source in enumerate(inserted.sources.tolist()):
        if source >= 0:
            words.append(
                (treebank.lemmas[source], treebank.xpos[source], treebank.features[source])
            )
            continue
        form, tag, place = plain(trees.words[node]), trees.tags[node], inserted.places[node]
        is_mark = place is not None and place.slot[0] in CLASSES["punctuation"]
        cell = None if is_mark else table.cell_of(form, tag)
        if cell is None:
            fixed_forms[node] = form
            words.append((form, table.usual_tags(form, tag).partition(" ")[2], ""))
        else:
            words.append((cell.lemma, cell.xpos, cell.features))
    lemmas, fine, features = map(list, zip(*words, strict=True))
    lowered = [lemma.lower() for lemma in lemmas]
    lemma_trees = replace(
        trees, inputs="lemmas", words=lowered, fine=fine, features=features, lemmas=lemmas
    )
    return lemma_trees, fixed_forms
