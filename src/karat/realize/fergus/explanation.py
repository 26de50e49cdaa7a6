"""Why a tree was realised as it was: what each module decided, as data.

For the paper's realiser the k best supertaggings, the lattice of the best, and its best paths; for
the ordering model its guesses of labels and its best orders, with what each group of features adds
to every treelet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from karat.errors import InputError
from karat.progress import Progress, silent
from karat.realize.fergus.fergus import Fergus
from karat.realize.fergus.grammar import Grammar, Slots
from karat.realize.fergus.tree_chooser import Supertags
from karat.realize.fergus.unraveler import TreeLattice, unravel
from karat.realize.input_trees import InputTrees, Order
from karat.realize.model import RealizerModel
from karat.realize.ordering.model import OrderingModel, TreeletParts
from karat.realize.ordering.symbols import Columns, columns_of, symbols


class NodeSupertag(NamedTuple):
    """The supertag of one node; `slot` is the one it fills (-1: it adjoins), `frame` None: free."""

    tag: str
    relation: str
    slot: int
    frame: Slots | None


class Supertagging(NamedTuple):
    """A supertag for every node, the log probability of all, and the sentence it leads to."""

    score: float
    nodes: tuple[NodeSupertag, ...]
    order: Order

    def differs(self, other: Supertagging) -> list[int]:
        """The nodes whose supertags are others than there."""
        pairs = enumerate(zip(self.nodes, other.nodes, strict=True))
        return [node for node, (mine, theirs) in pairs if mine != theirs]


class Path(NamedTuple):
    """An order that the lattice allows, and the parts of its score."""

    order: Order
    table: float
    lm: float


class SupertagsExplained(NamedTuple):
    """A tree through Tree Chooser, Unraveler and LP Chooser."""

    supertaggings: tuple[Supertagging, ...]
    lattice: TreeLattice
    paths: tuple[Path, ...]


class Labels(NamedTuple):
    """What the ordering model takes a node for; `fine` is a tag of the treebank's own."""

    tag: str
    fine: str
    relation: str


class OrderExplained(NamedTuple):
    """An order of the ordering model, with what the features say of each treelet."""

    order: Order
    treelets: tuple[TreeletParts, ...]

    @property
    def features(self) -> float:
        """What all features add up to."""
        return sum(treelet.score for treelet in self.treelets)

    @property
    def lm(self) -> float:
        """The rest of the score: what the language model says."""
        return self.order.score - self.features


class OrderingExplained(NamedTuple):
    """A tree through the ordering model."""

    labels: tuple[Labels, ...]
    orders: tuple[OrderExplained, ...]


class Explained(NamedTuple):
    """Everything that the realisers of a model decided about one tree, the only one of `tree`."""

    tree: InputTrees
    supertags: SupertagsExplained | None
    ordering: OrderingExplained | None
    fallback: str = ""
    """Why there is no `ordering`, though the model has one for other inputs."""


def explain_tree(
    model: RealizerModel,
    trees: InputTrees,
    tree: int,
    k: int = 5,
    *,
    progress: Progress = silent,
) -> Explained:
    """What a model makes of one of the trees, with the k best of everything."""
    model.best(trees.inputs)  # an error if there is none for these inputs
    if not 0 <= tree < len(trees):
        raise InputError(
            f"{trees.name}: there is no tree {tree + 1}; the last is tree {len(trees):,}"
        )
    one = trees.choose([tree])
    fergus, ordering = model.fergus, model.ordering.get(trees.inputs)
    return Explained(
        one,
        None if fergus is None else explain_supertags(fergus, one, k, progress=progress),
        None if ordering is None else explain_ordering(ordering, one, k, progress=progress),
        model.fallback(trees.inputs),
    )


def explain_supertags(
    fergus: Fergus, tree: InputTrees, k: int = 5, *, progress: Progress = silent
) -> SupertagsExplained:
    """The three modules' work on the only tree."""
    progress(0, k + 2, "choosing supertags")
    found = fergus.chooser.choose_best(tree, 0, k)
    lattice = unravel(fergus.chooser, tree, found[0], fergus.weights.wider(k))
    progress(1, len(found) + 2, "choosing paths")
    (orders,), lms = fergus.linearize_with_parts(tree, found[0], k)
    paths = [Path(o, o.score - lm, lm) for o, lm in zip(orders, lms.tolist(), strict=True)]
    supertaggings = []
    for done, one in enumerate(found, 2):
        progress(done, len(found) + 2, "realising supertags")
        supertaggings.append(_supertagging(fergus, tree, one))
    return SupertagsExplained(tuple(supertaggings), lattice, tuple(paths))


def _supertagging(fergus: Fergus, tree: InputTrees, found: Supertags) -> Supertagging:
    nodes = tuple(_named(fergus.chooser.grammar, found))
    return Supertagging(float(found.scores[0]), nodes, fergus.linearize(tree, found)[0][0])


def _named(grammar: Grammar, found: Supertags) -> Iterator[NodeSupertag]:
    columns = (found.labels.tolist(), found.slots.tolist(), found.frames.tolist())
    for label, slot, frame in zip(*columns, strict=True):
        yield NodeSupertag(
            *grammar.label(label), slot, grammar.frames[frame] if frame >= 0 else None
        )


def explain_ordering(
    model: OrderingModel, tree: InputTrees, k: int = 5, *, progress: Progress = silent
) -> OrderingExplained:
    """The ordering model's work on the only tree."""
    orders = model.realize(tree, k)[0]
    explained = []
    for done, order in enumerate(orders):
        progress(done, len(orders), "explaining orders")
        explained.append(OrderExplained(order, tuple(model.explain(tree, 0, order))))
    return OrderingExplained(tuple(_labels(model, tree)), tuple(explained))


def _labels(model: OrderingModel, tree: InputTrees) -> Iterator[Labels]:
    """Given or guessed, as the features see them."""
    given = columns_of(tree)
    found: Columns = model.labeller.label(given if model.inputs == "all" else given.blank())
    listed = {name for said in model.labeller.about() for name in said["names"]}
    names = sorted(listed | set(tree.tags) | set(tree.relations))
    named = dict(zip(symbols(names).tolist(), names, strict=True))
    columns = (found.tags.tolist(), found.fine.tolist(), found.relations.tolist())
    for numbers in zip(*columns, strict=True):
        yield Labels(*(named.get(number, "") for number in numbers))
