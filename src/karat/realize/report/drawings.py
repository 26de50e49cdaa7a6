"""Figures of word lattices, orders, alternatives and elementary trees.

A small lattice is drawn word by word, a larger one treelet by treelet. If the lattice of a treelet
is too large, only the arcs of its best paths are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from karat.realize.report.word_graph import Arcs, GraphArc, draw, graph_text
from karat.report.charts.svg import frame as svg
from karat.report.markup import element, quote
from karat.report.model import Figure, format_count, join_items
from karat.report.render.text import BOLD, DIM, TextLayout

if TYPE_CHECKING:
    from karat.realize.choices import OptionalWord
    from karat.realize.grammar import Supertag
    from karat.realize.input_trees import InputTrees, WordOrder
    from karat.realize.lattice import TreeLattice, TreeletSize


TITLE = "Word lattice"
BEST_ORDERS = "The best orders"
OPTIONAL = "Optional words"
NOTHING = "nothing"
"""Text for an empty slot."""
UNPRUNED = "Word lattice, unpruned and unweighted"
MAX_UNPRUNED_ARCS = 60
"""Larger unpruned lattices are drawn treelet by treelet."""
MAX_TREELET_ARCS = 36
"""Maximal number of arcs drawn for a treelet."""
MAX_DRAWN_ORDERS = 10
"""Maximal number of orders in one figure."""
HEADING = 24.0
MAX_WORD_LENGTH = 16
"""Maximal width of a word with a probability."""
Alternatives = tuple[str, float | None, Sequence[tuple[str, float]]]
"""A word, its probability, and the alternatives with their probabilities."""


class LatticePanel(NamedTuple):
    """One graph under its heading."""

    heading: str
    arcs: Arcs
    compact: bool = False


def lattice_figure(lattice: TreeLattice, order: Sequence[int]) -> Figure:
    """Return a figure of the lattice with the path of `order` marked."""
    expanded = lattice.expanded()
    if expanded is not None:
        panels = [LatticePanel("", _graph(expanded, order, lattice.words.__getitem__))]
        legend = "Every path is a word sequence that the supertags allow; the chosen one is marked."
        return _figure(TITLE, panels, legend)
    panels = [_panel(lattice, t, order) for t in lattice.treelets if t.head == 0 or t.paths > 1]
    caption = (
        "The treelets that have several orders, the chosen one marked; brackets stand for a whole "
        "subtree. Of large treelets only the best paths are drawn."
    )
    return _figure(TITLE, panels, caption)


def unpruned_figure(lattice: TreeLattice) -> Figure:
    """Return a figure of all orders that the supertags allow, none of them marked."""
    orders = lattice.orders()
    arcs = order_graph(orders) if orders else []
    total = format_count(int(lattice.sequences), "word sequence")
    if arcs and len(arcs) <= MAX_UNPRUNED_ARCS:
        plain = [arc._replace(word=lattice.words[int(arc.word)], best=False) for arc in arcs]
        caption = f"Every path is a word sequence that the supertags allow: {total}."
        return _figure(UNPRUNED, [LatticePanel("", plain)], caption)
    inner, panels = {arc.head for arc in lattice.arcs}, []
    for head, *_, paths, _ in lattice.treelets:
        if paths > 1 or head == 0:
            words = [  # subtrees of several words in brackets
                f"[… {word} …]" if node in inner and node != head else word
                for node, word in enumerate(lattice.words)
            ]
            graph = order_graph(lattice.treelet_orders(head))
            arcs = [arc._replace(word=words[int(arc.word)], best=False) for arc in graph]
            heading = f"{lattice.words[head]}: {format_count(int(paths), 'order')}"
            panels.append(LatticePanel(heading, arcs))
    caption = (
        f"The treelets that have several orders, with all of them; brackets stand for a whole "
        f"subtree: {total} in all."
    )
    return _figure(UNPRUNED, panels, caption)


def orders_figure(tree: InputTrees, orders: Sequence[WordOrder]) -> Figure:
    """Return the best orders of the only tree as one graph with shared beginnings and ends."""
    node_orders = [order.nodes for order in orders[:MAX_DRAWN_ORDERS]]
    marked = ", the best marked" if len(node_orders) > 1 else ""
    caption = f"{format_count(len(node_orders), 'order')}{marked}."
    arcs = [arc._replace(word=tree.words[int(arc.word)]) for arc in order_graph(node_orders)]
    return _figure(BEST_ORDERS, [LatticePanel("", arcs, compact=True)], caption)


def optional_figure(words: Sequence[OptionalWord]) -> Figure:
    """Return a completed sentence as a graph, with the alternatives below its words."""
    caption = (
        "The sentence is marked. Where a choice was in doubt, what else was possible is below it, "
        f'with probabilities from before ordering. "{NOTHING}": the place stays empty.'
    )
    shown_words = [
        (word or NOTHING, probability, [(text or NOTHING, p) for text, p in alternatives])
        for word, probability, alternatives in words
    ]
    return alternatives_figure(OPTIONAL, caption, shown_words)


def alternatives_figure(title: str, caption: str, words: Sequence[Alternatives]) -> Figure:
    """Return the words of a sentence as a graph, with the alternatives below each."""
    arcs: list[GraphArc] = []
    for place, (word, probability, alternatives) in enumerate(words):
        start, end = (_state(at, len(words)) for at in (place, place + 1))
        tooltip = "" if probability is None else _word_with_probability(word, probability)
        label = tooltip if alternatives and tooltip else word
        arcs.append(GraphArc(start, end, label, True, tooltip))
        arcs += [
            GraphArc(start, end, _word_with_probability(*alternative), tooltip=alternative[0])
            for alternative in alternatives
        ]
    return _figure(title, [LatticePanel("", arcs, compact=True)], caption)


def _word_with_probability(word: str, probability: float) -> str:
    """Return a word, shortened if necessary, with its probability."""
    return f"{svg.shorten(word, MAX_WORD_LENGTH)} / {probability:.2f}"


def _state(place: int, last: int) -> int:
    """Return the state before the word at a position: 0 is the first state, 1 the last."""
    return 0 if place == 0 else 1 if place == last else place + 1


def order_graph(orders: Sequence[Sequence[int]]) -> list[GraphArc]:
    """Return the minimal graph whose paths are some orders of equal length, the best first."""
    size = len(orders[0])
    prefixes = [sorted({tuple(order[:n]) for order in orders}) for n in range(size + 1)]
    state = {tuple(order): 1 for order in orders}  # every whole order ends in the same state
    state_of_ending: dict[tuple[tuple[int, int], ...], int] = {}
    for n in reversed(range(1, size)):  # prefixes with the same continuations share a state
        endings: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for longer in prefixes[n + 1]:
            endings.setdefault(longer[:n], []).append((longer[n], state[longer]))
        for prefix, after in endings.items():
            state[prefix] = state_of_ending.setdefault(tuple(after), len(state_of_ending) + 2)
    state[()] = 0
    steps = dict.fromkeys(
        (state[longer[:-1]], state[longer], longer[-1])
        for level in prefixes[1:]
        for longer in level
    )
    return _graph(list(steps), orders[0], str)


def _panel(lattice: TreeLattice, treelet: TreeletSize, order: Sequence[int]) -> LatticePanel:
    treelet_arcs = [arc for arc in lattice.arcs if arc.head == treelet.head]
    names = {
        arc.node: _name_subtree(lattice, treelet.head, arc.node, order) for arc in treelet_arcs
    }
    path = [node for node in order if node in names]
    arcs = _graph([arc[1:4] for arc in treelet_arcs], path, names.__getitem__)
    best_arcs = set(lattice.best_arcs(treelet.head, MAX_TREELET_ARCS))
    pairs = zip(arcs, treelet_arcs, strict=True)
    reached, reached_arcs = {0}, []
    for arc in sorted(arc for arc, treelet_arc in pairs if treelet_arc in best_arcs or arc.best):
        if arc.start in reached:
            reached.add(arc.end)
            reached_arcs.append(arc)
    total = format_count(int(treelet.paths), "order")
    return LatticePanel(f"{lattice.words[treelet.head]}: {total}", reached_arcs)


def _graph(
    steps: Sequence[tuple[int, int, int]], path: Sequence[int], name_of_node: Callable[[int], str]
) -> list[GraphArc]:
    """Return arcs for steps (state, state, node), with those of one path marked."""
    after = {(start, node): i for i, (start, _, node) in enumerate(steps)}
    state, best = 0, set[int]()
    for node in path:
        if (state, node) not in after:
            best.clear()
            break
        best.add(after[state, node])
        state = steps[after[state, node]][1]
    return [GraphArc(a, b, name_of_node(node), i in best) for i, (a, b, node) in enumerate(steps)]


def _name_subtree(lattice: TreeLattice, head: int, node: int, order: Sequence[int]) -> str:
    """Return the word of the head, or the ordered words of a daughter's subtree."""
    if node == head:
        return lattice.words[node]
    below = lattice.subtree(node)
    words = [lattice.words[n] for n in order if n in below]
    if len(words) == 1:
        return words[0]
    subtree_text = " ".join(words)
    is_brief = svg.extent(subtree_text) <= svg.extent("x" * 20)
    return f"[{subtree_text}]" if is_brief else f"[… {lattice.words[node]} …]"


def _figure(title: str, panels: Sequence[LatticePanel], caption: str) -> Figure:

    def text_lines(layout: TextLayout) -> list[str]:
        lines: list[str] = []
        for panel in panels:
            lines += [layout.ink(panel.heading, DIM)] if panel.heading else []
            lines += graph_text(panel.arcs, layout)
        return lines

    return Figure(title, partial(_svg, title, panels), caption, sketch=text_lines)


def _svg(title: str, panels: Sequence[LatticePanel]) -> str:
    parts: list[str] = []
    width, y = float(svg.WIDTH), 0.0
    for panel in panels:
        if panel.heading:
            parts.append(element("text", quote(panel.heading), x=0, y=y + 14, font_weight=600))
            y += HEADING / 2
        elements, panel_width, height = draw(panel.arcs, y, compact=panel.compact)
        parts += elements
        width, y = max(width, panel_width), height + HEADING
    arcs = [arc for panel in panels for arc in panel.arcs]
    description = f"{format_count(len(panels), 'graph')}, {format_count(len(arcs), 'arc')}"
    return svg.chart(title, description, y - HEADING, parts, width, fluid=False, class_="grid")


ANCHOR = "◇"
GAP = 24.0
HEIGHT = 104.0
LEGEND = f"{ANCHOR} the word itself; ↓ a slot for an argument; * what an adjunct adjoins to"


class TreeDrawing(NamedTuple):
    """A tree of two levels: its root, leaves and a remark."""

    top: str
    leaves: tuple[str, ...]
    remark: str


def tree_figure(supertags: Sequence[Supertag]) -> Figure:
    """Return a figure of some elementary trees."""
    trees = []
    for supertag in supertags:
        leaves = [ANCHOR if slot == "*" else f"{slot}↓" for slot in supertag.frame.split(" ")]
        if supertag.kind == "adjunct":
            leaves = [*leaves, "*"] if (supertag.left or 0) > 0.5 else ["*", *leaves]
        remark = f"{supertag.relation}, {supertag.times:,} times"
        trees.append(TreeDrawing(supertag.tag, tuple(leaves), remark))
    svg_text = partial(_draw_trees, trees, "Elementary trees")
    return Figure("Elementary trees", svg_text, LEGEND, sketch=partial(_sketch_trees, trees))


def _draw_trees(trees: Sequence[TreeDrawing], title: str) -> str:
    parts: list[str] = []
    x, y = 0.0, 0.0
    for tree in trees:
        leaf_widths = [svg.extent(leaf) + GAP / 2 for leaf in tree.leaves]
        width = max(sum(leaf_widths), svg.extent(tree.remark)) + GAP
        if x + width > svg.WIDTH and x:
            x, y = 0.0, y + HEIGHT
        middle, top = x + width / 2, y + 20
        parts.append(svg.label(middle, top, tree.top, "middle"))
        begin = middle - sum(leaf_widths) / 2
        for leaf, leaf_width in zip(tree.leaves, leaf_widths, strict=True):
            at = begin + leaf_width / 2
            parts.append(svg.line(middle, top + 5, at, top + 28, svg.RULE))
            color = svg.ACCENT if leaf.endswith("↓") else svg.WARM if leaf == "*" else None
            parts.append(svg.label(at, top + 42, leaf, "middle", color))
            begin += leaf_width
        parts.append(svg.label(middle, top + 60, tree.remark, "middle", svg.MUTED))
        x += width
    description = join_items(
        [f"{tree.top}: {' '.join(tree.leaves)} ({tree.remark})" for tree in trees]
    )
    return svg.chart(title, description, y + HEIGHT, parts)


def _sketch_trees(trees: Sequence[TreeDrawing], layout: TextLayout) -> list[str]:
    """Return three lines for each tree: the category, the branches, the leaves."""
    lines: list[str] = []
    for tree in trees:
        middles, at = [], 0
        for leaf in tree.leaves:
            middles.append(at + len(leaf) // 2)
            at += len(leaf) + 2
        first, last = middles[0], middles[-1]
        marks = dict.fromkeys(middles, "┬") | {first: "┌", last: "┐"}
        row = "".join(marks.get(place, "─") for place in range(first, last + 1))
        top = " " * max((first + last) // 2 - len(tree.top) // 2, 0) + tree.top
        lines += [""] if lines else []
        lines.append(f"  {layout.ink(top, BOLD)}  {layout.ink(tree.remark, DIM)}")
        lines.append("  " + " " * first + (row if len(tree.leaves) > 1 else "│"))
        lines.append("  " + "  ".join(tree.leaves))
    return lines
