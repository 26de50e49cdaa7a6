"""The Unraveler: all orders that a supertagged tree allows, as a packed lattice.

Each treelet has a lattice (csrc/realize/fergus/lattice.hpp), whose arcs place the head or a
daughter; the arc of a daughter represents the whole lattice of her treelet. The number of word
sequences is the product of the numbers of paths of all treelets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain, count, product
from math import inf, prod
from typing import NamedTuple

from karat import _kernel
from karat.errors import InputError, quoted
from karat.realize.fergus import LpWeights, Supertags, TreeChooser
from karat.realize.input_trees import InputTrees

MAX_DRAWN_ARCS = 150
"""Lattices with more arcs are drawn treelet by treelet, not word by word."""


MAX_DAUGHTERS = 7
"""Daughters of a word in an unpruned lattice, which has up to 3^n states."""
MAX_ORDERS = 2000
"""Maximal number of word sequences that are enumerated."""
MAX_ENUMERATED_WORDS = 40
"""Maximal size of a tree whose word sequences are enumerated."""


class LatticeArc(NamedTuple):
    """An arc in the treelet of `head` between two states, which places `node` at a log cost."""

    head: int
    start: int
    end: int
    node: int
    score: float


class TreeletSize(NamedTuple):
    """Size of the lattice of one treelet, and whether it was pruned."""

    head: int
    states: int
    arcs: int
    paths: float
    pruned: bool


@dataclass(frozen=True)
class TreeLattice:
    """The packed lattice of one tree."""

    words: tuple[str, ...]
    arcs: tuple[LatticeArc, ...]
    treelets: tuple[TreeletSize, ...]

    def subtree(self, node: int) -> frozenset[int]:
        """Return a node and its descendants."""
        below: dict[int, set[int]] = {}
        for arc in self.arcs:
            below.setdefault(arc.head, set()).add(arc.node)
        nodes, ahead = {node}, [node]
        while ahead:
            new = below.get(ahead.pop(), set()) - nodes
            nodes |= new
            ahead += new
        return frozenset(nodes)

    def best_arcs(self, head: int, max_arcs: int) -> list[LatticeArc]:
        """Return up to about `max_arcs` arcs of a treelet, those on the best paths.

        Arcs of equally good paths are kept or dropped together.
        """
        arcs = [arc for arc in self.arcs if arc.head == head]
        from_start, to_end = {0: 0.0}, {max(arc.end for arc in arcs): 0.0}
        for arc in sorted(arcs, key=lambda arc: arc.start):
            score = from_start.get(arc.start, -inf) + arc.score
            from_start[arc.end] = max(from_start.get(arc.end, -inf), score)
        for arc in sorted(arcs, key=lambda arc: -arc.end):
            score = to_end.get(arc.end, -inf) + arc.score
            to_end[arc.start] = max(to_end.get(arc.start, -inf), score)
        path_scores = {a: round(from_start[a.start] + a.score + to_end[a.end], 6) for a in arcs}
        ranked = sorted(path_scores.values(), reverse=True)
        if len(ranked) <= max_arcs:
            return arcs
        limit = ranked[max_arcs]
        above = [arc for arc in arcs if path_scores[arc] > limit]
        return above or [arc for arc in arcs if path_scores[arc] == limit]

    @property
    def sequences(self) -> float:
        """Number of word sequences."""
        return prod(treelet.paths for treelet in self.treelets)

    @property
    def states(self) -> int:
        """Number of states of all treelets."""
        return sum(treelet.states for treelet in self.treelets)

    @property
    def pruned(self) -> bool:
        """True if orders were pruned."""
        return any(treelet.pruned for treelet in self.treelets)

    def treelet_orders(self, head: int) -> list[tuple[int, ...]]:
        """Return all orders of a head and its daughters, as nodes."""
        paths: dict[int, list[tuple[int, ...]]] = {0: [()]}
        for arc in (arc for arc in self.arcs if arc.head == head):  # sorted by first state
            longer = [(*path, arc.node) for path in paths[arc.start]]
            paths.setdefault(arc.end, []).extend(longer)
        return sorted(paths[max(paths)]) if len(paths) > 1 else [(head,)]

    def orders(self) -> list[tuple[int, ...]] | None:
        """Return all word sequences, as nodes; None if there are too many."""
        if self.sequences > MAX_ORDERS or len(self.words) > MAX_ENUMERATED_WORDS:
            return None

        def below(node: int) -> list[tuple[int, ...]]:
            """Return all orders of a subtree."""
            orders: list[tuple[int, ...]] = []
            for order in self.treelet_orders(node):
                parts = [[(item,)] if item == node else below(item) for item in order]
                orders += [tuple(chain(*choice)) for choice in product(*parts)]
            return orders

        return sorted(below(0))

    def expanded(self) -> list[tuple[int, int, int]] | None:
        """Return the lattice word by word, as (state, state, node); None if it is too large."""
        arcs: list[tuple[int, int, int]] = []
        treelets: dict[int, list[LatticeArc]] = {}
        for arc in self.arcs:
            treelets.setdefault(arc.head, []).append(arc)
        new = count(2)  # new states; state 0 is the first, 1 the last

        def put(node: int, start: int, end: int, depth: int = 0) -> bool:
            """Insert the lattice of a subtree between two states; return whether it fits."""
            if depth == MAX_DRAWN_ARCS:  # each level has at least one arc, so it does not fit
                return False
            if node not in treelets:
                arcs.append((start, end, node))
                return len(arcs) <= MAX_DRAWN_ARCS
            state_of = {0: start, max(arc.end for arc in treelets[node]): end}
            for arc in treelets[node]:
                a, b = (
                    state_of[s] if s in state_of else state_of.setdefault(s, next(new))
                    for s in arc[1:3]
                )
                if arc.node == node:
                    arcs.append((a, b, node))
                elif not put(arc.node, a, b, depth + 1):
                    return False
            return len(arcs) <= MAX_DRAWN_ARCS

        return arcs if put(0, 0, 1) else None


def check_small(trees: InputTrees) -> None:
    """Raise if the unpruned lattice of the only tree would be too large."""
    if len(trees.words) > MAX_ENUMERATED_WORDS:
        raise InputError(
            f"{trees.name}: the tree has {len(trees.words):,} words: a lattice that is not pruned "
            f"is for at most {MAX_ENUMERATED_WORDS}; choose another tree, or let it be pruned"
        )
    word, most = max(Counter(trees.heads.tolist()).items(), key=lambda pair: pair[1])
    if most > MAX_DAUGHTERS:
        raise InputError(
            f"{trees.name}: {quoted(trees.words[word])} has {most} daughters: a lattice that is "
            f"not pruned is for at most {MAX_DAUGHTERS}; choose another tree, or let it be pruned"
        )


def unravel(
    chooser: TreeChooser, trees: InputTrees, supertags: Supertags, weights: LpWeights
) -> TreeLattice:
    """Return the lattice of the only tree, given its supertags."""
    words, _, heads, suffixes, _ = chooser.columns(trees)
    tagged = words, supertags.labels, heads, suffixes, supertags.frames, supertags.slots
    arcs, sizes = _kernel.tree_lattice(chooser.kernel, *tagged, weights.values())
    lattice_arcs, arcs_of = tuple(LatticeArc(*arc) for arc in arcs), Counter(arc[0] for arc in arcs)
    treelets = [TreeletSize(h, states, arcs_of[h], paths, cut) for h, states, paths, cut in sizes]
    return TreeLattice(tuple(trees.words), lattice_arcs, tuple(treelets))
