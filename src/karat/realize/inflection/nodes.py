"""Nodes of many trees in flat columns, as the models of inflection see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from karat.arrays import Ints, np
from karat.realize.inflection.form_table import Cell
from karat.realize.inflection.log_linear import Features, Keys, mixed, symbols
from karat.realize.inflection.typography import plain
from karat.realize.treebank import Treebank

SIZES = (3, 6, 10, 15, 25, 40)
"""Trees with more nodes than this are larger."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Lemmas in lower case with their labels; `mothers` are places in the columns, -1 for roots.

    Tree i has the nodes `offsets[i]` to `offsets[i + 1]`. `known` has the forms of nodes that are
    not inflected.
    """

    cells: list[Cell]
    relations: list[str]
    mothers: Ints
    offsets: Ints
    known: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        columns: Sequence[Sequence[str]],
        relations: list[str],
        mothers: Ints,
        offsets: Ints,
    ) -> Nodes:
        """Make nodes of lemmas, UPOS, XPOS and features."""
        cells = [Cell(plain(lemma.lower()), *more) for lemma, *more in zip(*columns, strict=True)]
        return cls(cells, relations, mothers, offsets)

    @classmethod
    def of_treebank(cls, bank: Treebank) -> Nodes:
        """Return the words of a treebank."""
        starts = np.repeat(bank.offsets[:-1], np.diff(bank.offsets))
        mothers = np.where(bank.heads > 0, starts + bank.heads - 1, -1).astype(np.int64)
        columns = bank.lemmas, bank.upos, bank.xpos, bank.features
        return cls.of(columns, bank.relations, mothers, bank.offsets)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def lemmas(self) -> Keys:
        """Symbols of lemmas; the last, at -1, is of the mother that a root has not."""
        return symbols([*(cell.lemma for cell in self.cells), ""])

    @cached_property
    def tags(self) -> Keys:
        """Symbols of UPOS and XPOS."""
        return symbols([*(f"{cell.upos} {cell.xpos}" for cell in self.cells), ""])

    @cached_property
    def labels(self) -> Keys:
        """Symbols of relations."""
        return symbols([*self.relations, ""])

    @cached_property
    def morphology(self) -> Keys:
        """Symbols of features."""
        return symbols([*(cell.features for cell in self.cells), ""])

    @cached_property
    def sizes(self) -> Keys:
        """Classes of the sizes of the trees that the nodes belong to."""
        sizes = np.diff(self.offsets)
        return np.repeat(np.searchsorted(SIZES, sizes), sizes).astype(np.uint64)

    @cached_property
    def _daughters(self) -> tuple[Ints, Ints]:
        """Daughters by their mothers, and where those of each node begin."""
        order = np.argsort(self.mothers, kind="stable")
        order = order[np.count_nonzero(self.mothers < 0) :]
        starts = np.searchsorted(self.mothers[order], np.arange(len(self) + 1))
        return order, starts

    def daughters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the daughters of some nodes: which node's, and the daughters."""
        order, starts = self._daughters
        first, sizes = starts[nodes], starts[nodes + 1] - starts[nodes]
        which = np.repeat(np.arange(len(nodes)), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return which, order[first[which] + within]

    def sisters(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the other daughters of the nodes' mothers: which node's, and the sisters."""
        below = np.flatnonzero(self.mothers[nodes] >= 0)
        which, found = self.daughters(self.mothers[nodes[below]])
        others = found != nodes[below][which]
        return below[which[others]], found[others]


def tree_features(nodes: Nodes, chosen: Ints) -> Features:
    """Return what the tree tells of some nodes: mother, sisters, daughters, labels."""
    mothers = nodes.mothers[chosen]
    above = np.where(mothers >= 0, nodes.mothers[mothers], -1)
    lemma, tag, label, features = nodes.lemmas, nodes.tags, nodes.labels, nodes.morphology
    of_node = (
        (label[chosen],),
        (tag[chosen], features[chosen]),
        (lemma[mothers],),
        (lemma[mothers], label[chosen]),
        (tag[mothers], label[chosen]),
        (features[mothers], label[chosen]),
        (label[mothers], label[chosen]),
        (lemma[above], label[mothers]),
        (nodes.sizes[chosen],),
    )
    every = np.arange(len(chosen))
    found = [Features(every, mixed(n, *parts)) for n, parts in enumerate(of_node)]
    for n, (which, others) in enumerate((nodes.sisters(chosen), nodes.daughters(chosen))):
        of_other = (
            (label[others], lemma[others]),
            (lemma[others],),
            (label[others], tag[others]),
            (label[others], features[others]),
        )
        found += [
            Features(which, mixed(20 + 10 * n + i, *parts)) for i, parts in enumerate(of_other)
        ]
    return Features.joined(found)
