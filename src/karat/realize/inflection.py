"""Inflection: the forms of lemmas, their capitals, and the spaces between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from karat import __version__
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.realize.completion import InsertedTrees, InsertionPlace
from karat.realize.content import CLASSES
from karat.realize.forms import Cell, FormTable
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


class OrderedForms(NamedTuple):
    """Sentences one after the other: sentence i has the words `starts[i]` to `starts[i + 1]`.

    Forms are in lower case, lemmas as they are written; `tags` are UPOS and XPOS. `nodes` are
    places in the columns of the trees, -1 for words that were added.
    """

    nodes: Ints
    starts: Ints
    forms: list[str]
    lemmas: list[str]
    tags: list[str]

    def sentences(self, words: Sequence[str]) -> list[str]:
        """Return words, one for each form, as sentences with spaces between them."""
        return [" ".join(words[a:b]) for a, b in self._spans()]

    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True))

    def with_marks(
        self, punctuate: Callable[[list[str]], list[str]], tag: Callable[[str], str]
    ) -> OrderedForms:
        """Return the sentences with marks of punctuation added.

        Args:
            punctuate: returns the words of a sentence with marks among them.
            tag: returns the tags of a mark.
        """
        rows: list[tuple[int, str, str, str]] = []
        starts = [0]
        for first, end in self._spans():
            at = first
            for word in punctuate(self.forms[first:end]):
                if at < end and word == self.forms[at]:
                    rows.append((int(self.nodes[at]), word, self.lemmas[at], self.tags[at]))
                    at += 1
                else:
                    rows.append((-1, word, word, tag(word)))
            starts.append(len(rows))
        nodes, forms, lemmas, tags = (list(column) for column in zip(*rows, strict=True))
        return OrderedForms(np.array(nodes), np.array(starts), forms, lemmas, tags)


MAX_TRAINING_WORDS = 60_000
"""Words that teach capitals and spaces."""


@dataclass(frozen=True, eq=False)
class Inflection:
    """All that turns ordered lemmas into text."""

    inflector: Inflector
    capitals: LogLinear
    spacing: Spacing

    @classmethod
    def train(cls, bank: Treebank, *, progress: Progress = silent) -> Inflection:
        """Learn from a treebank with lemmas."""
        progress(0, 2, "capitals and spaces")
        sample = _few_sentences(bank)
        tags = tags_of(sample.upos, sample.xpos)
        words = [plain(word) for word in sample.words]
        lowered = [word.lower() for word in words]
        lemmas = [plain(lemma) for lemma in sample.lemmas]
        capitals = train_capitals(Spellings(lowered, lemmas, tags, sample.offsets), words)
        spacing = Spacing.train(words, tags, sample.surfaces, sample.offsets)
        progress(1, 2, "inflection")
        # Rounded as it is stored, so that a model is the same before and after.
        inflection = cls(train_inflector(bank), capitals, spacing)
        return cls.stored(ModelStore(bank.name, *inflection.parts()))

    def with_forms(self, bank: Treebank) -> Treebank:
        """Return a treebank with forms guessed by its trees instead of its words."""
        return replace(bank, words=self.inflector.first_forms(Nodes.of_treebank(bank)))

    def capitalise(self, ordered: OrderedForms) -> list[str]:
        """Return ordered forms with their capitals."""
        lemmas = [plain(lemma) for lemma in ordered.lemmas]
        return capitalise(
            self.capitals, Spellings(ordered.forms, lemmas, ordered.tags, ordered.starts)
        )

    def texts(self, ordered: OrderedForms, words: list[str]) -> list[str]:
        """Return ordered words as text, with spaces where the treebank has them."""
        return self.spacing.text(words, ordered.tags, ordered.starts)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored model: its description and its arrays."""
        arrays = {
            "table": _as_bytes(self.inflector.table.text()),
            "fused": _as_bytes(format_fused(self.spacing.fused)),
            **self.inflector.by_tree.arrays("tree"),
            **self.inflector.by_neighbours.arrays("neighbours"),
            **self.capitals.arrays("capitals"),
            **self.spacing.model.arrays("spaces"),
        }
        return {"karat": __version__}, arrays

    @classmethod
    def stored(cls, store: ModelStore) -> Inflection:
        """Return the model in a store that has its parts."""
        arrays = store.arrays
        try:
            check_arrays(
                arrays, {n: ModelLayout("uint8", f"bytes of {n}") for n in ("table", "fused")}
            )
            table = FormTable.of_text(_as_text(arrays["table"]))
            by_tree, by_neighbours, capitals, spaces = (
                LogLinear.stored(name, arrays)
                for name in ("tree", "neighbours", "capitals", "spaces")
            )
            fused = parse_fused_lines(_as_text(arrays["fused"]))
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(store.name, str(error)) from error
        return cls(Inflector(table, by_tree, by_neighbours), capitals, Spacing(fused, spaces))


def tags_of(upos: list[str], xpos: list[str]) -> list[str]:
    """Return both tags of every word as one."""
    return [f"{upper} {fine}" for upper, fine in zip(upos, xpos, strict=True)]


def _few_sentences(bank: Treebank) -> Treebank:
    """Return sentences from all over a treebank, of `MOST` words or somewhat more."""
    step = len(bank.words) // MAX_TRAINING_WORDS + 1
    sentences = np.repeat(np.arange(len(bank)), np.diff(bank.offsets))
    sample = bank.keep(sentences % step == 0)
    return replace(
        sample, offsets=np.unique(sample.offsets)
    )  # without sentences that have no words


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def _as_text(array: NDArray[Any]) -> str:
    return bytes(array).decode("utf-8")


@dataclass(frozen=True, eq=False)
class LemmaRealizer:
    """Inflection, and the ordering model that it writes for."""

    name: ClassVar[str] = "inflection, ordering model"
    """Name in reports."""

    inflection: Inflection
    ordering: OrderingModel

    def inflected(self, trees: InputTrees) -> InputTrees:
        """Return the trees with forms, guessed without their order, instead of lemmas."""
        if trees.inputs != "lemmas":
            raise InputError(f"{trees.name}: trees of lemmas are read with inputs='lemmas'")
        return replace(trees, words=self.inflection.inflector.first_forms(nodes_of(trees)))

    def realize(self, trees: InputTrees, k: int = 1, *, progress: Progress = silent) -> Orders:
        """Return the k best orders of every tree, the best first; fewer if fewer were found."""
        return self.ordering.realize(self.inflected(trees), k, progress=progress)

    def forms(self, trees: InputTrees, orders: Orders) -> OrderedForms:
        """Return the forms of all orders of all trees, neighbours considered."""
        return ordered_forms(self.inflection, trees, nodes_of(trees), orders)


def nodes_of(trees: InputTrees) -> Nodes:
    """Return the nodes of trees of lemmas."""
    columns = trees.words, trees.tags, trees.fine, trees.features
    return Nodes.of(columns, trees.relations, trees.mothers(), trees.offsets)


def ordered_forms(
    inflection: Inflection, trees: InputTrees, nodes: Nodes, orders: Orders
) -> OrderedForms:
    """Return the forms of all orders of trees of lemmas, neighbours considered."""
    order, cuts = _nodes_in_order(trees, orders)
    forms = inflection.inflector.forms_in_order(nodes, order, cuts)
    tags, node_list = tags_of(trees.tags, trees.fine), order.tolist()
    lemmas = [trees.lemmas[j] for j in node_list]
    return OrderedForms(order, cuts, forms, lemmas, [tags[j] for j in node_list])


def _nodes_in_order(trees: InputTrees, orders: Orders) -> tuple[Ints, Ints]:
    """Return the nodes of all orders of all trees, and where each order begins."""
    parts = [
        np.array(order.nodes, dtype=np.int64) + start
        for start, tree_orders in zip(trees.offsets.tolist(), orders, strict=False)
        for order in tree_orders
    ]
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64)


class _Word(NamedTuple):
    """A node as a tree of lemmas has it; `lemma` is as it is written."""

    lemma: str
    fine: str
    features: str


@dataclass(frozen=True, eq=False)
class CompletedLemmas:
    """Trees of lemmas with inserted words, and their nodes, some of which have known forms."""

    trees: InputTrees
    nodes: Nodes

    def forms(self, inflection: Inflection, orders: Orders) -> OrderedForms:
        """Return the forms of all orders of all trees, neighbours considered."""
        return ordered_forms(inflection, self.trees, self.nodes, orders)


def lemmatize_completed(
    inserted: InsertedTrees, treebank: Treebank, table: FormTable
) -> CompletedLemmas:
    """Return completed trees as trees of lemmas.

    Args:
        inserted: trees that were made of `treebank`.
        treebank: content words with their lemmas.
        table: forms of all lemmas.
    """
    trees, words, fixed_forms = inserted.trees, list[_Word](), dict[int, str]()
    for node, source in enumerate(inserted.sources.tolist()):
        if source >= 0:
            words.append(_input_lemma(treebank, source))
            continue
        form, tag = plain(trees.words[node]), trees.tags[node]
        cell = None if _is_mark(inserted.places[node]) else table.cell_of(form, tag)
        if cell is None:
            fixed_forms[node] = form
            words.append(_Word(form, table.usual_tags(form, tag).partition(" ")[2], ""))
        else:
            words.append(_cell_lemma(cell))
    lemmas, fine, features = map(list, zip(*words, strict=True))
    lowered = [lemma.lower() for lemma in lemmas]
    lemma_trees = replace(
        trees, inputs="lemmas", words=lowered, fine=fine, features=features, lemmas=lemmas
    )
    return CompletedLemmas(lemma_trees, replace(nodes_of(lemma_trees), fixed_forms=fixed_forms))


def _is_mark(place: InsertionPlace | None) -> bool:
    return place is not None and place.slot[0] in CLASSES["punctuation"]


def _input_lemma(treebank: Treebank, j: int) -> _Word:
    return _Word(treebank.lemmas[j], treebank.xpos[j], treebank.features[j])


def _cell_lemma(cell: Cell) -> _Word:
    return _Word(cell.lemma, cell.xpos, cell.features)
