"""Trees as the ordering model sees them: a symbol for every word, tag and relation.

A symbol is a hash of 32 bits, so a model needs no vocabulary, and unknown words are words like any
other. A word has two symbols more: its last three characters, and its shape (`a` for letters, `0`
for digits, other characters as they are). A labeller also looks at other beginnings and ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.realize.input_trees import InputTrees

Symbols = NDArray[np.uint32]

AFFIXES = (slice(3), slice(4), slice(5), slice(-2, None), slice(-4, None))
"""Characters of a word that a labeller sees, in the kernel's order."""
_NO_SYMBOLS = np.empty(0, dtype=np.uint32)
_NO_AFFIXES = np.empty((0, len(AFFIXES)), dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """The columns of many trees, one entry a node; `offsets` tell where each tree begins."""

    words: Symbols
    endings: Symbols
    shapes: Symbols
    tags: Symbols
    fine: Symbols
    relations: Symbols
    heads: NDArray[np.int32]
    offsets: Ints
    affixes: Symbols = field(default_factory=lambda: _NO_AFFIXES)
    """A row a node; none where nothing will be labelled."""
    others: Symbols = field(default_factory=lambda: _NO_SYMBOLS)
    """Relations that are less probable, 0 where there is no doubt; none if all were given."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.words)

    @cached_property
    def kernel(self) -> _kernel.TreeColumns:
        """The columns as the kernel takes them, checked."""
        seen = self.words, self.endings, self.shapes, self.tags, self.fine, self.relations
        others = self.others if len(self.others) else np.zeros(self.nodes, dtype=np.uint32)
        return _kernel.TreeColumns(*seen, others, self.heads, self.offsets)

    def blank(self) -> NodeColumns:
        """Return the trees without labels."""
        empty = np.zeros(self.nodes, dtype=np.uint32)
        return replace(self, tags=empty, fine=empty, relations=empty)

    def nodes_of(self, trees: Ints) -> Ints:
        """Return the nodes of some trees, one tree after the other."""
        parts = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in trees]
        return np.concatenate(parts) if parts else np.arange(0)


def columns_of(trees: InputTrees) -> NodeColumns:
    """Return the symbols of unordered trees.

    `fine` is XPOS with features where they are given, else the tag until a labeller knows more.
    """
    tags, words = symbols(trees.tags), trees.words
    fine = fine_symbols(trees.fine, trees.features) if trees.fine else tags
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    known = {word: word_shape(word) for word in number}  # each distinct word is looked at once
    endings, shapes = [word[-3:] for word in words], [known[word] for word in words]
    seen = symbols(words), symbols(endings), symbols(shapes), tags, fine, symbols(trees.relations)
    affixes = np.stack([symbols([word[part] for word in number]) for part in AFFIXES], axis=1)
    return NodeColumns(*seen, trees.heads, trees.offsets, affixes[[number[word] for word in words]])


def fine_symbols(tags: list[str], features: list[str]) -> Symbols:
    """Return the symbols of the treebank's own tags with features."""
    return symbols([f"{tag} {some}" for tag, some in zip(tags, features, strict=True)])


def symbols(strings: list[str]) -> Symbols:
    """Return the symbol of every string."""
    return _kernel.symbols(_kernel.Views.from_strings(strings, 0, len(strings)))


def word_shape(word: str) -> str:
    """Return the kinds of characters of a word, at most six: `a`, `0`, `a-a`, `$0.0`."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", word))[:6]
