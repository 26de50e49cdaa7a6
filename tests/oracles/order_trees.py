"""Small trees for the kernel of the ordering model, with weights and a language model."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles.order_features import Tree

from karat.lm.model import LanguageModel
from karat.realize.symbols import NodeColumns, symbols, word_shape

BITS = 10
WORDS = ("a", "b", "c", "it", "3", "?")
LABELS = ("x", "y", "z")
NOTHING = np.empty(0, dtype=np.int32)


@st.composite
def trees(draw: st.DrawFn, most: int = 5) -> tuple[NodeColumns, list[str], list[int]]:
    """A tree of a few nodes, its words and its heads."""
    n = draw(st.integers(1, most))
    heads = [-1, *(draw(st.integers(0, i)) for i in range(n - 1))]
    words, tags, fine, relations = (
        draw(st.lists(st.sampled_from(alphabet), min_size=n, max_size=n))
        for alphabet in (WORDS, LABELS, LABELS, LABELS)
    )
    columns = NodeColumns(
        symbols(words),
        symbols([word[-3:] for word in words]),
        symbols([word_shape(word) for word in words]),
        symbols(tags),
        symbols(fine),
        symbols(relations),
        np.array(heads, dtype=np.int32),
        np.array([0, n], dtype=np.int64),
    )
    if draw(st.booleans()):
        return columns, words, heads
    other_relations = st.lists(
        st.sampled_from([0, *symbols(["u", "v"]).tolist()]), min_size=n, max_size=n
    )
    doubts = np.array(draw(other_relations), dtype=np.uint32)
    return replace(columns, doubtful_relations=doubts), words, heads


@cache
def language_model() -> LanguageModel:
    return LanguageModel.train(["a b c it", "it a 3", "b b a"], 3, tok="none")


atexit.register(language_model.cache_clear)  # or the kernel reports at the end that it was leaked


def weights(seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 0.1, 1 << BITS).astype(np.float32)


def places_of(order: Sequence[int]) -> NDArray[np.int32]:
    places = np.empty(len(order), dtype=np.int32)
    places[list(order)] = np.arange(len(order))
    return places


def ordered(columns: NodeColumns, heads: Sequence[int], order: Sequence[int]) -> Tree:
    """A tree in some order, for the oracles."""
    names = ("word", "ending", "shape", "tag", "fine", "relation", "other")
    symbol_columns = (columns.words, columns.endings, columns.shapes)
    doubts = columns.doubtful_relations
    doubts = doubts if len(doubts) else np.zeros_like(columns.words)
    symbol_columns += (columns.tags, columns.fine, columns.relations, doubts)
    return Tree(
        heads,
        {name: column.tolist() for name, column in zip(names, symbol_columns, strict=True)},
        order,
    )
