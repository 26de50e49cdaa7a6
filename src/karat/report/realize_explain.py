"""The report of `karat realize explain`: supertags, lattice and paths of one tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from karat.report.realize import frame_text
from karat.report.realize_lattice import lattice_figure
from karat.report.table import Column, Document, Figure, Row, Table

if TYPE_CHECKING:
    from karat.realize.grammar import Grammar
    from karat.realize.ordering import TreeletParts
    from karat.realize.tree_chooser import Supertags
    from karat.realize.trees import InputTrees, Order
    from karat.realize.unraveler import TreeLattice

_NODES = (
    Column("word", "Word"),
    Column("mother", "Mother"),
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("attached", "Attached"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
)
_TREELETS = (
    Column("head", "Head"),
    Column("states", "States", align="right"),
    Column("arcs", "Arcs", align="right"),
    Column("paths", "Orders", 0, align="right"),
    Column("pruned", "Pruned"),
)
_PATHS = (
    Column("rank", "Rank", align="right"),
    Column("score", "Score", 2, align="right"),
    Column("table", "Adjunction table", 2, align="right"),
    Column("lm", "Language model", 2, align="right"),
    Column("sentence", "Sentence", wrap=True),
)
_ORDERED = (
    Column("treelet", "Treelet", wrap=True, help="In the order chosen; the head in brackets."),
    Column("side", "Side", 2, align="right", help="Daughters before or after the head."),
    Column("pair", "Pair", 2, align="right", help="Which of two daughters comes first."),
    Column("neighbour", "Neighbours", 2, align="right"),
    Column("triple", "Triples", 2, align="right", help="Three in a row."),
    Column("across", "Across", 2, align="right", help="One before the head, one after it."),
    Column("order", "Order", 2, align="right", help="All items as they stand."),
)


class Ordered(NamedTuple):
    """The order that the ordering model chose, and what its features say for each treelet."""

    order: Order
    treelets: Sequence[TreeletParts]


class Explained(NamedTuple):
    """Everything that was decided about one tree."""

    grammar: Grammar
    tree: InputTrees
    supertags: Sequence[Supertags]
    lattice: TreeLattice
    orders: Sequence[Order]
    lm_parts: Sequence[float]
    ordered: Ordered | None = None


def explain_document(found: Explained, number: int, command: str) -> Document:
    """What the three modules made of a tree: the supertags, the lattice, the best paths."""
    lattice = found.lattice
    size = (
        f"{lattice.states:,} states, {len(lattice.arcs):,} arcs, {lattice.sequences:,.0f} word "
        f"sequences{', pruned' if lattice.pruned else ''}."
    )
    scores = ", ".join(f"{float(s.scores[0]):.2f}" for s in found.supertags)
    chosen = f"Log probability of the supertags: {scores}."
    blocks: tuple[Table | Figure, ...] = (
        Table("nodes", "Tree Chooser: supertags", _NODES, _nodes(found), notes=(chosen,)),
        Table("treelets", "Unraveler: treelets", _TREELETS, _treelets(found), notes=(size,)),
        lattice_figure(lattice),
        Table("paths", "LP Chooser: the best paths", _PATHS, _paths(found)),
    )
    if found.ordered is not None:
        blocks = (*blocks, _ordered(found.tree, found.ordered))
    return Document(f"Tree {number} of {found.tree.name}", blocks, command, {})


def _ordered(tree: InputTrees, found: Ordered) -> Table:
    """What the ordering model makes of the tree, which is what `generate` writes."""
    rows: list[Row] = [{"treelet": _bracketed(one), **one.parts} for one in found.treelets]
    note = (
        f"karat realize generate writes: {tree.sentence(0, found.order.nodes)} "
        f"(score {found.order.score:.2f}, with the language model)"
    )
    return Table("ordered", "Ordering model: treelets", _ORDERED, rows, notes=(note,))


def _bracketed(treelet: TreeletParts) -> str:
    words = enumerate(treelet.words)
    return " ".join(f"[{word}]" if i == treelet.head else word for i, word in words)


def _nodes(found: Explained) -> list[Row]:
    best, rows = found.supertags[0], []
    for node, word in enumerate(found.tree.words):
        tag, relation = found.grammar.label(int(best.labels[node]))
        mother, frame = int(found.tree.heads[node]), int(best.frames[node])
        cells: Row = {
            "word": word,
            "mother": found.tree.words[mother] if mother >= 0 else "",
            "tag": tag,
            "relation": relation,
            "attached": _attached(mother, int(best.slots[node])),
            "frame": frame_text(found.grammar.frames[frame]) if frame >= 0 else "free",
        }
        rows.append(cells)
    return rows


def _attached(mother: int, slot: int) -> str:
    if mother < 0:
        return ""
    return f"slot {slot + 1}" if slot >= 0 else "adjoined"


def _treelets(found: Explained) -> list[Row]:
    arcs = [arc.head for arc in found.lattice.arcs]
    return [
        {
            "head": found.tree.words[treelet.head],
            "states": treelet.states,
            "arcs": arcs.count(treelet.head),
            "paths": treelet.paths,
            "pruned": "yes" if treelet.pruned else "no",
        }
        for treelet in found.lattice.treelets
    ]


def _paths(found: Explained) -> list[Row]:
    pairs = zip(found.orders, found.lm_parts, strict=True)
    return [
        {
            "rank": rank,
            "score": order.score,
            "table": order.score - lm,
            "lm": lm,
            "sentence": found.tree.sentence(0, order.nodes),
        }
        for rank, (order, lm) in enumerate(pairs, 1)
    ]
