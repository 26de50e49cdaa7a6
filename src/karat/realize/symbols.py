"""Trees as the ordering model sees them: a symbol for every word, tag and relation.

A symbol is a 32-bit hash, so a model needs no vocabulary, and unknown words are treated like any
other. A word has two more symbols: its last three characters, and its shape (`a` for letters, `0`
for digits, other characters unchanged). A labeller also uses other prefixes and suffixes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.realize.input_trees import InputTrees
from karat.realize.treebank import FlatTrees

Symbols = NDArray[np.uint32]

AFFIXES = (slice(3), slice(4), slice(5), slice(-2, None), slice(-4, None))
"""Characters of a word that a labeller sees, in the kernel's order."""
_NO_SYMBOLS = np.empty(0, dtype=np.uint32)
_NO_AFFIXES = np.empty((0, len(AFFIXES)), dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class NodeColumns(FlatTrees):
    """The columns of many trees, with an entry for each node; `offsets` are those of trees."""

    words: Symbols
    endings: Symbols
    shapes: Symbols
    tags: Symbols
    fine: Symbols
    relations: Symbols
    heads: NDArray[np.int32]
    offsets: Ints
    affixes: Symbols = field(default_factory=lambda: _NO_AFFIXES)
    """A row for each node; empty if nothing will be labelled."""
    doubtful_relations: Symbols = field(default_factory=lambda: _NO_SYMBOLS)
    """Second most probable relations, 0 if the first is certain; empty if all were given."""

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.words)

    @cached_property
    def kernel(self) -> _kernel.TreeColumns:
        """The columns in the kernel's form, checked."""
        columns = self.words, self.endings, self.shapes, self.tags, self.fine, self.relations
        doubtful = self.doubtful_relations
        doubtful = doubtful if len(doubtful) else np.zeros(self.nodes, dtype=np.uint32)
        return _kernel.TreeColumns(*columns, doubtful, self.heads, self.offsets)

    def blank(self) -> NodeColumns:
        """Return the trees without labels."""
        empty = np.zeros(self.nodes, dtype=np.uint32)
        return replace(self, tags=empty, fine=empty, relations=empty)

    def nodes_of(self, trees: Ints) -> Ints:
        """Return the nodes of some trees, one tree after the other."""
        parts = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in trees]
        return np.concatenate(parts) if parts else np.arange(0)


def to_columns(trees: InputTrees) -> NodeColumns:
    """Return the symbols of unordered trees.

    `fine` is XPOS with features if they are given, else the tag until a labeller predicts it.
    """
    tags, words = symbols(trees.tags), trees.words
    fine = fine_symbols(trees.fine, trees.features) if trees.fine else tags
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    shape_of_word = {word: word_shape(word) for word in number}
    affixes = np.stack([symbols([word[part] for word in number]) for part in AFFIXES], axis=1)
    return NodeColumns(
        words=symbols(words),
        endings=symbols([word[-3:] for word in words]),
        shapes=symbols([shape_of_word[word] for word in words]),
        tags=tags,
        fine=fine,
        relations=symbols(trees.relations),
        heads=trees.heads,
        offsets=trees.offsets,
        affixes=affixes[[number[word] for word in words]],
    )


def fine_symbols(tags: list[str], features: list[str]) -> Symbols:
    """Return the symbols of treebank-specific tags with features."""
    return symbols([f"{tag} {feature}" for tag, feature in zip(tags, features, strict=True)])


def symbols(strings: list[str]) -> Symbols:
    """Return the symbol of every string."""
    return _kernel.symbols(_kernel.Views.from_strings(strings, 0, len(strings)))


def word_shape(word: str) -> str:
    """Return the kinds of characters of a word, at most six: `a`, `0`, `a-a`, `$0.0`."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", word))[:6]


Weights = NDArray[np.float32]
Bytes = NDArray[np.int8]

_MAX_EXPONENT = 100  # beyond this exponent, weights would not fit
LEVELS = 7
MAX_SCALED = np.float32(7.01)
"""Largest weight of a row in units of its scale: above 7, so that a weight of 7 units survives
rounding, and below 5 · √2, so that one of 5 units does."""


def to_bytes(weights: Weights, width: int) -> tuple[Bytes, Bytes]:
    """Return the bytes of all weights, and the exponents of their rows of `width`.

        weight = byte · 2 ^ exponent,  |byte| <= 127

    Storing is idempotent.
    """
    table = weights.reshape(-1, width)
    halves, exponents = np.frexp(np.abs(table).max(axis=1, initial=0) / np.float32(127))
    # The smallest sufficient exponent.
    exponents = np.clip(exponents - (halves == 0.5), -_MAX_EXPONENT, _MAX_EXPONENT)
    levels = np.rint(np.ldexp(table, -exponents[:, None]))
    return levels.astype(np.int8).reshape(-1), exponents.astype(np.int8)


def from_bytes(levels: Bytes, exponents: Bytes, width: int) -> Weights:
    """Return the weights; raise ValueError if bytes and exponents do not match."""
    _check_types(levels, np.int8, exponents)
    if len(exponents) and not -_MAX_EXPONENT <= exponents.min() <= exponents.max() <= _MAX_EXPONENT:
        raise ValueError("weights out of range")
    table = levels.reshape(len(exponents), width).astype(np.float32)
    # A product with a power of two is exact, and much faster than `ldexp` of each weight.
    table *= np.ldexp(np.float32(1), exponents.astype(np.int32))[:, None]
    return table.reshape(-1)


def to_half_bytes(weights: Weights, width: int) -> tuple[NDArray[np.uint8], Bytes]:
    """Return the levels of all weights, two per byte, and the exponents of rows of `width`.

        weight = level · 2 ^ (exponent / 2),  |level| <= 7

    Every sum has dozens of weights of a classifier, so rounding errors average out; half the space
    is better spent on twice the features.
    """
    table = weights.reshape(-1, width)
    largest = np.abs(table).max(axis=1, initial=0)
    parts, powers = np.frexp(largest / MAX_SCALED)  # a logarithm would round
    halves = 2 * powers - (parts <= np.float32(sqrt(0.5))) - (parts <= 0.5)
    halves = np.where(largest > 0, halves, -_MAX_EXPONENT)
    exponents = np.clip(halves, -_MAX_EXPONENT, _MAX_EXPONENT).astype(np.int8)
    levels = np.rint(table / _scales(exponents)[:, None]).astype(np.int8).reshape(-1) + LEVELS
    even = np.append(levels, 0) if len(levels) % 2 else levels
    pairs = even.astype(np.uint8).reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8), exponents


def from_half_bytes(levels: NDArray[np.uint8], exponents: Bytes, width: int) -> Weights:
    """Return the weights; raise ValueError if levels and exponents do not match."""
    _check_types(levels, np.uint8, exponents)
    count = len(exponents) * width
    if len(levels) != (count + 1) // 2:
        raise ValueError(f"{len(levels)} bytes for {count} weights")
    return _kernel.from_half_bytes(levels, _scales(exponents), width)


def _scales(exponents: Bytes) -> Weights:
    """Return 2 ^ (exponent / 2) of every row."""
    halved, odd = np.divmod(exponents.astype(np.int32), 2)
    scales: Weights = np.ldexp(np.where(odd == 1, np.float32(sqrt(2)), np.float32(1)), halved)
    return scales


def _check_types(levels: NDArray[np.generic], expected: type, exponents: Bytes) -> None:
    if levels.dtype != expected or exponents.dtype != np.int8:
        raise ValueError("weights of a wrong type")


def check_power_of_two(size: int, of: str) -> None:
    """Raise if the size of a table is not a power of two."""
    if size < 2 or size & (size - 1):
        raise ValueError(f"{size} {of}, expected a power of two")


def feature_rows(has_weight: Flags) -> NDArray[np.int32]:
    """Return the row of every feature in a table of weights, -1 without weights."""
    return np.where(has_weight, np.cumsum(has_weight) - 1, -1).astype(np.int32)


def positions_within(sizes: Ints) -> Ints:
    """Return 0, 1, 2, … within each of some consecutive groups of given sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
