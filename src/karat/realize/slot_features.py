"""Features of slots, and their templates.

The first letter of a name is the node: `i` the node itself, `h` its head, `g` the head's head, `d`
a daughter or sister. The second is the column: `w` word, `l` its predicted lemma, `e` and `y` its
last three and two characters, `p` its first four, `r` relation, `t` tag, `F` all features, `k` size
of the subtree, `n` number of daughters, `D` their relations, `A` all slots filled so far; `f` is
one feature.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from karat.arrays import Ints, NDArray, np
from karat.realize.content import ContentTrees
from karat.realize.symbols import positions_within, symbols
from karat.realize.treebank import MISSING, Treebank

BASE = {
    "node": "ir,iw,ie,iy,ip,it,iF,ik,in,iD,iw ir,ie ir,iy ir,ip ir,it ir,iF ir,ik ir,in ir,iD ir,"
    "iD it,iD ir it,iD iw,it ik ir,iF iD,iF ir hr,hw,he,hr,ht,hF,hw ir,he ir,hp ir,ht ir,hr ir,"
    "hF ir,hw hr ir,it ir ht hr,iw hw,iw ir hw,ie ir hw,iw ir he,ie ir he,ip ir hp,iw ir ht,"
    "iw ir hp,ip ir hw,ik hk ir,hD ir,hD ir it,gw ir,gw hr ir,gr hr ir,gt ht it,gw hw ir,hD hw ir,"
    "iF hF ir,il,il ir,hl ir,il hl ir,il hl,il ir ht,gl ir,gl hl ir",
    "daughter": "dr,dr dw,dr iw,dr ir,dr ir it,dr de,dr dt,dr dF,dr dF iF,dr dw iw,dr dw ir,"
    "dr dt it,dr dk ir,dr dw iF,dr hw,dr ie ir,dr dk ik",
    "sister": "dr ir,dr ir hw,dr dw ir,dr iw ir,dr ir ht hr,dw ir hw,dr dw hw,dr dk ir ik,"
    "dr dt it ir,dr dw iw",
}
FEATURES = {
    "node": "f,f ir,f it,f it ir,f iD,f hw ir,f ie",
    "head": "f ir,f it ir,f iw",
    "daughter": "f dr,f dr iF,f dr it,f dr dw",
}
_NODE = "iA,iA ir,iA it ir,iA iw,hA ir,hA it ir,gA hr ir,iA hA ir,iA iF,hA hw ir,iA ik ir"
_NODE_SLOT = "i{k},i{k} ir,i{k} it,i{k} iw,i{k} ie,h{k} ir,h{k} iw,h{k} hw ir,i{k} h{k} ir"


def filled_templates(n_slots: int) -> dict[str, str]:
    """Return the templates of filled slots, whose columns are numbered."""
    numbers = range(n_slots)
    return {
        "node": ",".join([_NODE, *(_NODE_SLOT.format(k=k) for k in numbers)]),
        "daughter": ",".join(
            ["dr dA,dr dA ir,dr dA iw", *(f"d{k} dr,d{k} dr ir,d{k} dr iw" for k in numbers)]
        ),
        "sister": ",".join(["dr dA ir", *(f"d{k} dr ir,d{k} ir iw" for k in numbers)]),
    }


_DIGIT = re.compile(r"\d")


def learn_lemmas(treebank: Treebank) -> dict[str, str]:
    """Return form -> its most frequent lemma, both lower-cased, if they differ."""
    times = Counter(
        (word.lower(), lemma.lower())
        for word, lemma in zip(treebank.words, treebank.lemmas, strict=True)
        if lemma not in ("", MISSING)
    )
    lemmas: dict[str, str] = {}
    for (word, lemma), _ in sorted(times.items(), key=lambda item: (-item[1], item[0])):
        lemmas.setdefault(word, lemma)
    return {word: lemma for word, lemma in sorted(lemmas.items()) if word != lemma}


def lemma(word: str, lemmas: Mapping[str, str]) -> str:
    """Return the lemma of a form; for an unknown form, the form with digits replaced by 0."""
    return lemmas.get(word) or _DIGIT.sub("0", word)


Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Kind = tuple[str, str]
"""The relation and the tag of a node."""
Columns = dict[str, Hashes]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def mix(state: Hashes | np.uint64, value: Hashes) -> Hashes:
    """Return hashes of hashes and values."""
    mixed: Hashes = (state ^ value) * _FACTOR
    mixed ^= mixed >> _SHIFT
    return mixed


def hash_strings(column: Iterable[str]) -> Hashes:
    """Return a hash of every string; 0 for empty ones."""
    listed = list(column)
    numbers = {text: i for i, text in enumerate(dict.fromkeys(listed))}
    hashes = symbols(list(numbers)).astype(np.uint64) + np.uint64(1)
    if "" in numbers:
        hashes[numbers[""]] = 0
    numbered: Hashes = hashes[np.array([numbers[text] for text in listed], dtype=np.int64)]
    return numbered


class FeaturePairs(NamedTuple):
    """Pairs of nodes, sorted by the first."""

    nodes: Ints
    partners: Ints

    @classmethod
    def of(cls, nodes: Ints, partners: Ints) -> FeaturePairs:
        """Sort pairs by their nodes."""
        order = np.argsort(nodes, kind="stable")
        return cls(nodes[order], partners[order])


class FeatureBlock(NamedTuple):
    """Hashes of features: a row for every entry of `nodes`, which are sorted."""

    nodes: Ints
    hashes: Hashes


class NodeFeatures:
    """The columns of trees, and the features made of them.

    `inputs` is `all` or `relations`, without tags and features.
    """

    def __init__(self, trees: ContentTrees, inputs: str, lemmas: Mapping[str, str]) -> None:
        self.trees, self.n, self.heads, self.lemmas = trees, trees.nodes, trees.heads, lemmas
        blank = [""] * trees.nodes
        self.tags, self.features = (
            (trees.tags, trees.features) if inputs == "all" else (blank, blank)
        )
        self.kinds: list[Kind] = list(zip(trees.relations, self.tags, strict=True))
        self.themselves = FeaturePairs(np.arange(self.n), np.arange(self.n))
        below = np.flatnonzero(self.heads >= 0)
        self.above = FeaturePairs(below, self.heads[below])
        self.daughters = FeaturePairs.of(self.heads[below], below)
        self.sisters = _sisters(self.daughters)

    @cached_property
    def columns(self) -> Columns:
        """Columns of every node before any slot is filled."""
        trees, words = self.trees, self.trees.words
        columns = {
            "w": hash_strings(words),
            "l": hash_strings(lemma(word, self.lemmas) for word in words),
            "e": hash_strings(word[-3:] for word in words),
            "y": hash_strings(word[-2:] for word in words),
            "p": hash_strings(word[:4] for word in words),
            "r": hash_strings(trees.relations),
            "t": hash_strings(self.tags),
            "F": hash_strings(self.features),
            "k": self._sizes(),
            "n": np.minimum(np.bincount(self.daughters.nodes, minlength=self.n), 5),
        }
        columns["n"] = columns["n"].astype(np.uint64)
        bags = np.zeros(self.n, dtype=np.uint64)  # of the daughters' relations, in any order
        relations = columns["r"][self.daughters.partners]
        np.add.at(bags, self.daughters.nodes, mix(np.uint64(7), relations))
        return columns | {"D": bags}

    def _sizes(self) -> Hashes:
        """Return the size class of the subtree of every node."""
        sizes, heads = [1] * self.n, self.heads.tolist()
        for j in range(self.n - 1, -1, -1):
            if heads[j] >= 0:
                sizes[heads[j]] += sizes[j]
        size_classes: Hashes = np.searchsorted(SIZES, sizes).astype(np.uint64) + np.uint64(1)
        return size_classes

    def numbers(self, filled: Sequence[Hashes], nodes: Ints, bits: int) -> tuple[Numbers, Ints]:
        """Return the features of some nodes as hashes of `bits` bits, and the offsets of each node.

        `filled` has hashes of the fillings of all nodes, for every slot filled so far.
        """
        columns = dict(self.columns)
        together = np.zeros(self.n, dtype=np.uint64)
        for k, texts in enumerate(filled):
            columns[str(k)] = texts
            together = mix(together, texts)
        columns["A"] = together
        blocks = self._base
        if filled:
            blocks = blocks + self.blocks(columns, filled_templates(len(filled)), 2000)
        numbers, offsets = ragged(blocks, self.n, bits)
        counts = np.diff(offsets)[nodes]
        places = np.repeat(offsets[nodes], counts) + positions_within(counts)
        return numbers[places], np.append(0, np.cumsum(counts)).astype(np.int64)

    @cached_property
    def _base(self) -> list[FeatureBlock]:
        """Features common to all slots, with each morphological feature of nodes."""
        blocks = self.blocks(self.columns, BASE, 1)
        features = [text.split("|") if text else [] for text in self.features]
        begins = np.cumsum([0, *map(len, features)])
        values = hash_strings(part for parts in features for part in parts)
        kinds = {"node": self.themselves, "head": self.above, "daughter": self.daughters}
        for i, (kind, pairs) in enumerate(kinds.items(), 1):
            counts = np.diff(begins)[pairs.partners]
            nodes, partners = np.repeat(pairs.nodes, counts), np.repeat(pairs.partners, counts)
            feature = {"f": values[begins[partners] + positions_within(counts)]}
            templates, start = FEATURES[kind], 1000 + 200 * i
            blocks.append(self._block(self.columns, templates, start, nodes, partners, feature))
        return blocks

    def blocks(
        self, columns: Columns, templates: Mapping[str, str], start: int
    ) -> list[FeatureBlock]:
        """Return the features of templates for nodes, daughters and sisters."""
        kinds = {"node": self.themselves, "daughter": self.daughters, "sister": self.sisters}
        return [
            self._block(columns, templates[kind], start + 200 * i, *pairs)
            for i, (kind, pairs) in enumerate(kinds.items())
        ]

    def _block(
        self,
        columns: Columns,
        templates: str,
        start: int,
        nodes: Ints,
        partners: Ints,
        pair_columns: Mapping[str, Hashes] = MappingProxyType({}),
    ) -> FeatureBlock:
        """Return the features that templates, numbered from `start`, make of pairs of nodes."""
        mothers = np.append(self.heads, -1)  # at -1: the head of no node
        at = {"i": nodes, "h": mothers[nodes], "g": mothers[mothers[nodes]], "d": partners}
        values = dict(pair_columns)
        for name in {name for template in templates.split(",") for name in template.split()}:
            if name not in values:
                place, column = at[name[0]], columns[name[1:]]
                values[name] = np.where(place >= 0, column[place], np.uint64(3))
        hashes = []
        for number, template in enumerate(templates.split(","), start):
            state = mix(np.uint64(number), np.full(len(nodes), 0xABCD, dtype=np.uint64))
            for name in template.split():
                state = mix(state, values[name])
            hashes.append(mix(state, np.full(len(nodes), 0x51, dtype=np.uint64)))
        return FeatureBlock(nodes, np.stack(hashes, axis=1))


SIZES = np.array([1, 2, 3, 4, 6, 9, 14, 25])
"""Upper limits of size classes."""


def _sisters(daughters: FeaturePairs) -> FeaturePairs:
    """Return all pairs of sisters."""
    mothers, kids = daughters.nodes, daughters.partners
    begins = np.flatnonzero(np.append(True, mothers[1:] != mothers[:-1])) if len(kids) else kids
    counts = np.diff(np.append(begins, len(kids)))
    many = np.repeat(counts, counts)  # sisters of each, with herself
    first = np.repeat(kids, many)
    second = kids[np.repeat(np.repeat(begins, counts), many) + positions_within(many)]
    return FeaturePairs.of(first[first != second], second[first != second])


def ragged(blocks: Sequence[FeatureBlock], n: int, bits: int) -> tuple[Numbers, NDArray[np.int64]]:
    """Return the features of every node as hashes of `bits` bits, and the offsets of nodes."""
    counts_of_block = [np.bincount(block.nodes, minlength=n) for block in blocks]
    widths = [block.hashes.shape[1] for block in blocks]
    counts = sum(c * w for c, w in zip(counts_of_block, widths, strict=True))
    offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
    numbers_of_nodes = np.empty(int(offsets[-1]), dtype=np.int32)
    begins = offsets[:-1].copy()
    for block, count, width in zip(blocks, counts_of_block, widths, strict=True):
        places = begins[block.nodes] + positions_within(count) * width
        numbers = (block.hashes >> np.uint64(64 - bits)).astype(np.int32)
        numbers_of_nodes[places[:, None] + np.arange(width)] = numbers
        begins += count * width
    return numbers_of_nodes, offsets
