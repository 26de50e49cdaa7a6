"""The grammar: supertags read off a treebank, elementary trees of a lexicalised TAG.

The paper took its elementary trees from XTAG; here they come from the treebank itself. A node's
supertag is its category (UPOS), its relation to the mother, and its frame: the argument slots in
their order around the head, such as `nsubj * obj`. Relations in `ARGUMENTS` fill slots
(substitution); all others adjoin, and the adjunction table counts where (csrc/precedence.hpp).
Frames that occur once, or that have more than `MOST_SLOTS` slots, are left out: their nodes have the
free frame, in which arguments adjoin too.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.errors import InputError
from karat.realize.trees import InputTrees

ARGUMENTS = frozenset(
    "nsubj nsubj:pass nsubj:outer csubj csubj:pass csubj:outer obj iobj ccomp xcomp expl".split()
)
"""The relations that fill slots of a frame; all others adjoin."""

MOST_SLOTS = 6
FREE = -1
OTHER = "_"
"""What stands for a tag or relation that the treebank does not have."""

RARE = 4
"""Words seen no more often tell what unknown words are like."""

Slots = tuple[tuple[str, int], ...]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Tags, relations and frames by number; the last tag and relation are `OTHER`.

    A label is `tag * len(relations) + relation`. `tag_frames[t]` are the frames seen with tag t,
    `word_labels[w]` the labels seen with word w, the most frequent first.
    """

    tags: tuple[str, ...]
    relations: tuple[str, ...]
    frames: tuple[Slots, ...]
    tag_frames: tuple[tuple[int, ...], ...]
    words: tuple[str, ...]
    word_labels: tuple[tuple[int, ...], ...]

    def label(self, tag: str, relation: str) -> int:
        """The number of a label; what is not known counts as any other."""
        return self._tag_numbers().get(tag, len(self.tags) - 1) * len(
            self.relations
        ) + self._relation_numbers().get(relation, len(self.relations) - 1)

    def _tag_numbers(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.tags)}

    def _relation_numbers(self) -> dict[str, int]:
        return {relation: i for i, relation in enumerate(self.relations)}

    def labels(self, tags: Sequence[str], relations: Sequence[str]) -> Ints:
        """The numbers of many labels."""
        tag, relation = self._tag_numbers(), self._relation_numbers()
        last = len(self.tags) - 1, len(self.relations) - 1
        found = [
            tag.get(t, last[0]) * len(self.relations) + relation.get(r, last[1])
            for t, r in zip(tags, relations, strict=True)
        ]
        return np.array(found, dtype=np.int32)

    def kernel(self) -> _kernel.Grammar:
        """The grammar as the kernel reads it."""
        number = self._relation_numbers()
        slots = [[number[r] * 2 + side for r, side in frame] for frame in self.frames]
        return _kernel.Grammar(
            len(self.tags),
            len(self.relations),
            number["root"],
            np.array([r in ARGUMENTS for r in self.relations], dtype=np.int32),
            *_rows(slots),
            *_rows(self.tag_frames),
            *_rows(self.word_labels),
        )


def gold_frames(trees: InputTrees) -> list[Slots]:
    """The frame of every node, as its treelet stands in the treebank."""
    found: list[list[tuple[int, str, int]]] = [[] for _ in trees.words]
    for i in range(len(trees)):
        start, part = int(trees.offsets[i]), trees.slice(i)
        heads, places = trees.heads[part].tolist(), trees.places[part].tolist()
        for j, head in enumerate(heads):
            relation = trees.relations[start + j]
            if head >= 0 and relation in ARGUMENTS:
                side = int(places[j] > places[head])
                found[start + head].append((places[j], relation, side))
    return [tuple((r, side) for _, r, side in sorted(slots)) for slots in found]


def extract_grammar(trees: InputTrees, frames: Sequence[Slots]) -> Grammar:
    """The grammar of a treebank, whose trees have tags and relations; `frames` are its nodes'."""
    tags = (*sorted(set(trees.tags) - {OTHER}), OTHER)
    relations = (*sorted({*trees.relations, "root"} - {OTHER}), OTHER)
    by_tag = Counter(zip(trees.tags, frames, strict=True))
    seen: Counter[Slots] = Counter()
    for (_, frame), count in by_tag.items():
        seen[frame] += count
    kept = [f for f, n in seen.items() if f and n > 1 and len(f) <= MOST_SLOTS]
    ordered = ((), *sorted(kept, key=lambda f: (-seen[f], f)))
    number = {frame: i for i, frame in enumerate(ordered)}
    tag_frames = [
        tuple(sorted({0, *(number[f] for t, f in by_tag if t == tag and f in number)}))
        for tag in tags
    ]
    words, word_labels = _words(trees, tags, relations)
    return Grammar(tags, relations, ordered, tuple(tag_frames), words, word_labels)


def _words(
    trees: InputTrees, tags: Sequence[str], relations: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    counts: dict[str, Counter[int]] = {}
    tag = {t: i * len(relations) for i, t in enumerate(tags)}
    relation = {r: i for i, r in enumerate(relations)}
    for word, t, r in zip(trees.words, trees.tags, trees.relations, strict=True):
        counts.setdefault(word, Counter())[tag[t] + relation[r]] += 1
    words = tuple(sorted(counts))
    return words, tuple(
        tuple(sorted(counts[w], key=lambda label: (-counts[w][label], label))) for w in words
    )


def frame_numbers(grammar: Grammar, frames: Iterable[Slots]) -> Ints:
    """The frames' numbers; what the grammar does not have is free."""
    number = {frame: i for i, frame in enumerate(grammar.frames)}
    return np.array([number.get(frame, FREE) for frame in frames], dtype=np.int32)


def suffixes(words: Sequence[str]) -> Ints:
    """Three numbers a word for what unknown words are guessed by, the most specific first."""
    known = {word: _suffixes(word) for word in set(words)}
    found = [known[word] for word in words]
    return np.array(found, dtype=np.int32).reshape(-1)


def _suffixes(word: str) -> tuple[int, int, int]:
    plain = re.sub(r"\d", "0", word)
    shape = re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", "a", plain))[:8]
    return _number(f"3 {plain[-3:]}"), _number(f"2 {plain[-2:]} {shape}"), _number(f"1 {shape}")


def _number(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


def _rows(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Ints]:
    """Lists of lists as offsets and values."""
    sizes = [0, *(len(row) for row in rows)]
    values = [value for row in rows for value in row]
    return np.cumsum(sizes, dtype=np.int64), np.array(values, dtype=np.int32)


def check_trees(trees: InputTrees) -> None:
    """Raise InputError if trees cannot teach: they need tags and relations."""
    if trees.inputs != "all" or not any(trees.tags):
        raise InputError(f"{trees.name}: no tags: expected a treebank with UPOS and DEPREL")
