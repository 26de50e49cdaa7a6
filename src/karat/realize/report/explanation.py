"""The report of `karat realize explain`: what the realisers made of one tree, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.realize.report.lattice import lattice_figure, orders_figure
from karat.realize.report.sentences import frame_text
from karat.report.model.cells import several
from karat.report.model.table import Column, Document, Figure, Row, Table

if TYPE_CHECKING:
    from karat.realize.fergus.explanation import (
        Explained,
        NodeSupertag,
        OrderExplained,
        OrderingExplained,
        Supertagging,
        SupertagsExplained,
    )
    from karat.realize.input_trees import InputTrees
    from karat.realize.ordering.model import TreeletParts

Blocks = list[Table | Figure]

_RANK = Column("rank", "Rank", align="right")
_SCORE = Column("score", "Score", 2, align="right")
_SENTENCE = Column("sentence", "Sentence", wrap=True)
_RESULTS = (
    Column("model", "Model"),
    Column("exact", "Exact", help="Whether it is the sentence of the file."),
    _SENTENCE,
)
_OUTLINE = (
    Column("outline", "Word", readers="people", help="Below its mother, a dot deeper."),
    Column("node", "Node", readers="programs"),
    Column("word", "Word", readers="programs"),
    Column("mother", "Mother", readers="programs"),
)
_SUPERTAG = (
    Column("tag", "Category"),
    Column("relation", "Relation"),
    Column("attached", "Attached"),
    Column("frame", "Frame", help="* is the head, the rest are the slots of arguments."),
)
_NODES = _OUTLINE + _SUPERTAG
_ASSIGNMENTS = (
    _RANK,
    Column("score", "Log p", 2, align="right"),
    Column("changes", "Differs from the best in", wrap=True),
    _SENTENCE,
)
_ASSIGNED = (_RANK, *_NODES[1:], Column("differs", "Differs"))
_TREELETS = (
    Column("head", "Head"),
    Column("states", "States", align="right"),
    Column("arcs", "Arcs", align="right"),
    Column("paths", "Orders", 0, align="right"),
    Column("pruned", "Pruned"),
)
_ARCS = (
    Column("head", "Head", align="right"),
    Column("start", "From", align="right"),
    Column("end", "To", align="right"),
    Column("node", "Node", align="right"),
    Column("word", "Word"),
    Column("score", "Score", align="right"),
)
_PATHS = (
    _RANK,
    _SCORE,
    Column("table", "Adjunction table", 2, align="right"),
    Column("lm", "Language model", 2, align="right"),
    _SENTENCE,
)
_LABELS = (
    *_OUTLINE,
    Column("tag", "Category"),
    Column("fine", "Tag", help="Of the treebank's own."),
    Column("relation", "Relation"),
)
_ORDERS = (
    _RANK,
    _SCORE,
    Column("features", "Features", 2, align="right", help="The sum over all treelets."),
    Column("lm", "Language model", 2, align="right", help="The rest of the score."),
    _SENTENCE,
)
_TREELET = Column(
    "treelet", "Treelet", wrap=True, help="In the order chosen; the head in brackets."
)
_SUM = Column("sum", "Sum", 2, align="right")
_GROUPS = {
    "side": ("Side", "Daughters before or after the head."),
    "pair": ("Pair", "Which of two daughters comes first."),
    "neighbour": ("Neighbours", "Two in a row."),
    "triple": ("Triples", "Three in a row."),
    "across": ("Across", "One before the head, one after it."),
    "order": ("Order", "All items as they stand."),
}
"""What the groups of features are called, and what they look at."""
_OTHER = (
    Column("heading", "Order", readers="people"),
    Column("rank", "Rank", readers="programs"),
)
_LESS = Column("less", "Than the best", 2, align="right", signed=True, help="Sum minus the best's.")


def explain_document(found: Explained, number: int, command: str) -> Document:
    """The sentences, then how each realiser came to its own."""
    blocks: Blocks = [_results(found)]
    if found.supertags is not None:
        blocks += _supertags(found.tree, found.supertags)
    if found.ordering is not None:
        blocks += _ordering(found.tree, found.ordering)
    return Document(f"Tree {number} of {found.tree.name}", tuple(blocks), command, {})


def _results(found: Explained) -> Table:
    """What every realiser writes; the last is what `generate` does."""
    reference = found.tree.sentence(0, found.tree.reference(0))
    written = []
    if found.supertags is not None:
        written.append(("supertags", found.supertags.paths[0].order))
    if found.ordering is not None:
        written.append(("ordering model", found.ordering.orders[0].order))
    rows: list[Row] = []
    for name, order in written:
        sentence = found.tree.sentence(0, order.nodes)
        rows.append({"model": name, "exact": sentence == reference, "sentence": sentence})
    rows.append({"model": "the file", "sentence": reference})
    note = f"karat realize generate writes the sentence of the {written[-1][0]}."
    notes = (note, found.fallback) if found.fallback else (note,)
    return Table("results", "Sentences", _RESULTS, rows, notes=notes)


# ------------------------------------------------------------------------------ supertags


def _supertags(tree: InputTrees, found: SupertagsExplained) -> Blocks:
    lattice = found.lattice
    size = (
        f"{lattice.states:,} states, {len(lattice.arcs):,} arcs, {lattice.sequences:,.0f} word "
        f"sequences{', pruned' if lattice.pruned else ''}."
    )
    best = found.supertaggings[0]
    chosen = f"Log probability of the supertags: {best.score:.2f}."
    return [
        Table("nodes", "Tree Chooser: supertags", _NODES, _nodes(tree, best), notes=(chosen,)),
        Table("assignments", "Tree Chooser: the best assignments", *_assignments(tree, found)),
        _assigned(tree, found.supertaggings),
        Table("treelets", "Unraveler: treelets", _TREELETS, _treelets(found), notes=(size,)),
        Table("arcs", "Unraveler: arcs", _ARCS, _arcs(found), readers="programs"),
        lattice_figure(lattice, found.paths[0].order.nodes),
        Table("paths", "LP Chooser: the best paths", _PATHS, _paths(tree, found)),
    ]


def _outline(tree: InputTrees, node: int) -> Row:
    """A node in the tree: its word and number, its mother's, and a dot for each step down."""
    depth, above = 0, int(tree.heads[node])
    while above >= 0:
        depth, above = depth + 1, int(tree.heads[above])
    mother = int(tree.heads[node])
    return {
        "outline": "· " * depth + tree.words[node],
        "node": node,
        "word": tree.words[node],
        "mother": mother if mother >= 0 else None,
    }


def _supertag(tree: InputTrees, node: int, one: NodeSupertag) -> Row:
    return {
        **_outline(tree, node),
        "tag": one.tag,
        "relation": one.relation,
        "attached": _attached(one) if tree.heads[node] >= 0 else "",
        "frame": _frame(one),
    }


def _attached(one: NodeSupertag) -> str:
    return f"slot {one.slot + 1}" if one.slot >= 0 else "adjoined"


def _frame(one: NodeSupertag) -> str:
    return "free" if one.frame is None else frame_text(one.frame)


def _nodes(tree: InputTrees, found: Supertagging) -> list[Row]:
    return [_supertag(tree, node, one) for node, one in enumerate(found.nodes)]


def _assignments(
    tree: InputTrees, found: SupertagsExplained
) -> tuple[tuple[Column, ...], list[Row]]:
    """The k best, each by what it changes of the best and the sentence that it leads to."""
    best = found.supertaggings[0]
    rows: list[Row] = [
        {
            "rank": rank,
            "score": one.score,
            "changes": "; ".join(_changes(tree, best, one)),
            "sentence": tree.sentence(0, one.order.nodes),
        }
        for rank, one in enumerate(found.supertaggings, 1)
    ]
    return _ASSIGNMENTS, rows


def _changes(tree: InputTrees, best: Supertagging, other: Supertagging) -> Iterable[str]:
    for node in other.differs(best):
        theirs, mine = _said(best.nodes[node]), _said(other.nodes[node])
        pairs = [(a, b) for a, b in zip(theirs, mine, strict=True) if a != b]
        new, old = (", ".join(pair[i] for pair in pairs) for i in (1, 0))
        yield f"{tree.words[node]}: {new} instead of {old}"


def _said(one: NodeSupertag) -> tuple[str, ...]:
    return one.tag, one.relation, _attached(one), f"[{_frame(one)}]"


def _assigned(tree: InputTrees, found: Sequence[Supertagging]) -> Table:
    """Every supertag of every assignment, for programs."""
    rows: list[Row] = []
    for rank, one in enumerate(found, 1):
        changed = set(one.differs(found[0]))
        for node, row in enumerate(_nodes(tree, one)):
            rows.append({**row, "rank": rank, "differs": node in changed})
    return Table("assigned", "Assignments", _ASSIGNED, rows, readers="programs")


def _treelets(found: SupertagsExplained) -> list[Row]:
    heads = [arc.head for arc in found.lattice.arcs]
    return [
        {
            "head": found.lattice.words[treelet.head],
            "states": treelet.states,
            "arcs": heads.count(treelet.head),
            "paths": treelet.paths,
            "pruned": "yes" if treelet.pruned else "no",
        }
        for treelet in found.lattice.treelets
    ]


def _arcs(found: SupertagsExplained) -> list[Row]:
    words = found.lattice.words
    return [{**arc._asdict(), "word": words[arc.node]} for arc in found.lattice.arcs]


def _paths(tree: InputTrees, found: SupertagsExplained) -> list[Row]:
    return [
        {
            "rank": rank,
            "score": path.order.score,
            "table": path.table,
            "lm": path.lm,
            "sentence": tree.sentence(0, path.order.nodes),
        }
        for rank, path in enumerate(found.paths, 1)
    ]


# ------------------------------------------------------------------------------ ordering model


def _ordering(tree: InputTrees, found: OrderingExplained) -> Blocks:
    """The model's labels, its best orders, and the features' say in every treelet."""
    best, *others = found.orders
    parts = (_TREELET, *_groups(best.treelets), _SUM)
    labels: list[Row] = [
        {**_outline(tree, node), **one._asdict()} for node, one in enumerate(found.labels)
    ]
    is_given = tree.inputs == "all"
    told = "Categories and relations were given, tags guessed." if is_given else "All were guessed."
    blocks: Blocks = [
        Table("labels", "Ordering model: labels", _LABELS, labels, notes=(told,)),
        Table("orders", "Ordering model: the best orders", _ORDERS, _orders(tree, found.orders)),
        orders_figure(tree, [one.order for one in found.orders]),
        Table("ordered", "Ordering model: what features add", parts, _parts(best.treelets)),
    ]
    rows = [row for rank, one in enumerate(others, 2) for row in _other(rank, one, best)]
    if rows:
        title = "Ordering model: treelets of other orders"
        columns = (*_OTHER, *parts, _LESS)
        blocks.append(Table("other_treelets", title, columns, rows, group="heading"))
    return blocks


def _orders(tree: InputTrees, orders: Sequence[OrderExplained]) -> list[Row]:
    return [
        {
            "rank": rank,
            "score": one.order.score,
            "features": one.features,
            "lm": one.lm,
            "sentence": tree.sentence(0, one.order.nodes),
        }
        for rank, one in enumerate(orders, 1)
    ]


def _groups(treelets: Sequence[TreeletParts]) -> list[Column]:
    """A column for each group of features that the model has; one word has no treelet."""
    names = treelets[0].parts if treelets else ()
    shown = ((name, *_GROUPS.get(name, (name.capitalize(), ""))) for name in names)
    return [Column(name, title, 2, align="right", help=told) for name, title, told in shown]


def _parts(treelets: Iterable[TreeletParts]) -> list[Row]:
    return [{"treelet": _bracketed(one), **one.parts, "sum": one.score} for one in treelets]


def _other(rank: int, one: OrderExplained, best: OrderExplained) -> list[Row]:
    """The treelets that are not as in the best order; heads come in the same order in both."""
    pairs = list(zip(one.treelets, best.treelets, strict=True))
    changed = [(mine, its) for mine, its in pairs if mine != its]
    heading = f"Order {rank}: {several(len(changed), 'treelet')} other than in the best"
    return [
        {"heading": heading, "rank": rank, "less": mine.score - its.score, **row}
        for (mine, its), row in zip(changed, _parts(m for m, _ in changed), strict=True)
    ]


def _bracketed(treelet: TreeletParts) -> str:
    words = enumerate(treelet.words)
    return " ".join(f"[{word}]" if i == treelet.head else word for i, word in words)
