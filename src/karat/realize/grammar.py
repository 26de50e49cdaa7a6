"""The grammar: supertags (elementary trees of a lexicalised TAG), extracted from a treebank.

The paper took its elementary trees from XTAG; here they are extracted from the treebank. The
supertag of a node is its category (UPOS), its relation to the mother, and its frame: the argument
slots in their order around the head, such as `nsubj * obj`. Relations in `ARGUMENTS` fill slots
(substitution); all others adjoin, with sides and orders counted in the adjunction table
(csrc/realize/fergus/precedence.hpp). Frames that occur once, or have more than `MAX_SLOTS` slots,
are dropped: their nodes have the free frame, in which arguments adjoin too.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import NDArray, np
from karat.errors import InputError, quoted
from karat.realize.input_trees import InputTrees
from karat.storage import schema
from karat.storage.schema import ModelLayout, integer, list_of
from karat.storage.store import ModelStore, damaged
from karat.text.word_table import word_arrays, word_table

_SUBJECTS = {f"{kind}{more}" for kind in ("nsubj", "csubj") for more in ("", ":pass", ":outer")}
ARGUMENTS = frozenset({*_SUBJECTS, "obj", "iobj", "ccomp", "xcomp", "expl"})
"""Relations that fill slots of a frame; all others adjoin."""

MAX_SLOTS = 6
FREE = -1
OTHER = "_"
"""Placeholder for a tag or relation that the treebank does not have."""

MIN_OPEN_COUNT = 20
"""Rarer labels are not tried for unknown words."""

MAX_RARE_COUNT = 4
"""Words up to this count model unknown words."""

Slots = tuple[tuple[str, int], ...]
Int32s = NDArray[np.int32]


class Supertag(NamedTuple):
    """An elementary tree: its frequency, and the share of occurrences left of the mother."""

    tag: str
    relation: str
    kind: str
    frame: str
    times: int
    left: float | None


@dataclass(frozen=True, eq=False)
class Grammar:
    """Tags, relations and frames by number; the last tag and relation are `OTHER`.

    A label is `tag * len(relations) + relation`. `arrays` has the words with their labels, the open
    labels, and the supertags with their counts.
    """

    tags: tuple[str, ...]
    relations: tuple[str, ...]
    frames: tuple[Slots, ...]
    tag_frames: tuple[tuple[int, ...], ...]
    arrays: dict[str, NDArray[Any]]

    @cached_property
    def words(self) -> _kernel.WordTable:
        """The words of the treebank."""
        return word_table(self.arrays, "words")

    @cached_property
    def kernel(self) -> _kernel.Grammar:
        """The grammar in the kernel's form."""
        number = {relation: i for i, relation in enumerate(self.relations)}
        slots = [[number[r] * 2 + side for r, side in frame] for frame in self.frames]
        return _kernel.Grammar(
            len(self.tags),
            len(self.relations),
            number["root"],
            np.array([r in ARGUMENTS for r in self.relations], dtype=np.int32),
            *_rows(slots),
            *_rows(self.tag_frames),
            self.arrays["label_offsets"],
            self.arrays["labels"],
        )

    def labels(self, tags: Sequence[str], relations: Sequence[str]) -> Int32s:
        """Return the numbers of labels; an unknown tag or relation counts as `OTHER`."""
        tag_number = {tag: i for i, tag in enumerate(self.tags)}
        number = {relation: i for i, relation in enumerate(self.relations)}
        numbers = [
            tag_number.get(tag, len(tag_number) - 1) * len(number)
            + number.get(relation, len(number) - 1)
            for tag, relation in zip(tags, relations, strict=True)
        ]
        return np.array(numbers, dtype=np.int32)

    def label(self, number: int) -> tuple[str, str]:
        """Return the tag and the relation of a label."""
        tag, relation = divmod(number, len(self.relations))
        return self.tags[tag], self.relations[relation]

    def find(self, words: Sequence[str]) -> Int32s:
        """Return the numbers of words, -1 for unknown words."""
        vocab = _kernel.Vocab()
        ids = vocab.add(list(words))
        word_numbers: Int32s = self.words.find(vocab)[ids]
        return word_numbers

    def supertags(self) -> list[Supertag]:
        """Return all supertags, the most frequent first."""
        columns = (self.arrays[f"supertag_{name}"].tolist() for name in _COLUMNS)
        supertags = []
        for label, frame, times, left in zip(*columns, strict=True):
            tag, relation = self.label(label)
            text = frame_text(self.frames[frame] if frame >= 0 else ())
            kind, share = "argument" if relation in ARGUMENTS else "adjunct", left / times
            if relation == "root":
                kind, share = "initial", None
            supertags.append(Supertag(tag, relation, kind, text, times, share))
        return supertags

    def about(self) -> dict[str, Any]:
        """Return the stored description."""
        return {name: getattr(self, name) for name in ("tags", "relations", "frames", "tag_frames")}


_COLUMNS = ("label", "frame", "count", "left")


def frame_text(frame: Slots) -> str:
    """Return a frame as text: slots in their order, with * for the head."""
    left = [relation for relation, side in frame if not side]
    return " ".join([*left, "*", *(relation for relation, side in frame if side)])


def stored_grammar(store: ModelStore) -> Grammar:
    """Return the grammar of a store."""
    try:
        about = store.about["grammar"]
        schema.check_fields(about, ABOUT)
        max_label = len(about["tags"]) * len(about["relations"]) - 1
        columns = {  # the kernel checks the labels of words
            "label_offsets": ModelLayout("int64", "words + 1"),
            "labels": ModelLayout("int32", "labels of words"),
            "open": ModelLayout("int32", "open labels", 0, max_label),
            "supertag_label": ModelLayout("int32", "supertags", 0, max_label),
            "supertag_frame": ModelLayout("int32", "supertags", FREE, len(about["frames"]) - 1),
            "supertag_count": ModelLayout("int32", "supertags", 0),
            "supertag_left": ModelLayout("int32", "supertags", 0),
            **schema.word_columns("words"),
        }
        schema.check_arrays(store.arrays, columns)
        grammar = Grammar(
            tuple(about["tags"]),
            tuple(about["relations"]),
            tuple(tuple((r, side) for r, side in frame) for frame in about["frames"]),
            tuple(tuple(row) for row in about["tag_frames"]),
            {name: store.arrays[name] for name in columns},
        )
        len(grammar.words)  # checks the words
        return grammar
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(store.name, f"its grammar: {error}") from error


def _slot(value: object, location: str) -> None:
    """Check that a value is a relation, and 0 or 1 for its side."""
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{location}: found {quoted(value)}, expected a relation and a side")
    schema.text(value[0], location)
    integer(0, 1)(value[1], location)


ABOUT = schema.record(
    {
        "tags": list_of(schema.text, 1),
        "relations": list_of(schema.text, 1),
        "frames": list_of(list_of(_slot), 1),
        "tag_frames": list_of(list_of(integer(0, 2**31 - 1))),
    }
)
"""Schema of a grammar's description."""


def gold_frames(trees: InputTrees) -> list[Slots]:
    """Return the frame of every node in the treebank."""
    slots_of_node: list[list[tuple[int, str, int]]] = [[] for _ in trees.words]
    mothers = trees.mothers().tolist()
    places = trees.places.tolist()
    for node, (mother, relation) in enumerate(zip(mothers, trees.relations, strict=True)):
        if mother >= 0 and relation in ARGUMENTS:
            side = int(places[node] > places[mother])
            slots_of_node[mother].append((places[node], relation, side))
    return [tuple((r, side) for _, r, side in sorted(slots)) for slots in slots_of_node]


def extract_grammar(trees: InputTrees, frames: Sequence[Slots]) -> Grammar:
    """Return the grammar of trees with tags and relations, given the frames of their nodes."""
    if trees.inputs != "all" or not set(trees.tags) - {"", OTHER}:
        raise InputError(f"{trees.name}: no tags: expected a treebank with UPOS and DEPREL")
    tags = (*sorted(set(trees.tags) - {OTHER}), OTHER)
    relations = (*sorted({*trees.relations, "root"} - {OTHER}), OTHER)
    frame_counts = Counter(frames)
    frequent = [f for f, n in frame_counts.items() if f and n > 1 and len(f) <= MAX_SLOTS]
    ordered = ((), *sorted(frequent, key=lambda f: (-frame_counts[f], f)))
    number = {frame: i for i, frame in enumerate(ordered)}
    by_tag: dict[str, set[int]] = {tag: {0} for tag in tags}
    for tag, frame in zip(trees.tags, frames, strict=True):
        by_tag[tag].add(number.get(frame, 0))
    tag_frames = tuple(tuple(sorted(by_tag[tag])) for tag in tags)
    bare = Grammar(tags, relations, ordered, tag_frames, {})
    labels = bare.labels(trees.tags, trees.relations)
    numbers = frame_numbers(bare, frames)
    arrays = _word_arrays(trees.words, labels) | _supertag_arrays(trees, labels, numbers)
    return Grammar(tags, relations, ordered, tag_frames, arrays)


def _word_arrays(words: Sequence[str], labels: Int32s) -> dict[str, NDArray[Any]]:
    counts: dict[str, Counter[int]] = {}
    for word, label in zip(words, labels.tolist(), strict=True):
        counts.setdefault(word, Counter())[label] += 1
    sorted_words = sorted(counts)
    by_count = [counts[word].items() for word in sorted_words]
    ranked = (sorted(pairs, key=lambda pair: (-pair[1], pair[0])) for pairs in by_count)
    offsets, values = _rows([[label for label, _ in pairs] for pairs in ranked])
    vocab = _kernel.Vocab()
    vocab.add(sorted_words)
    return word_arrays(vocab, "words") | {"label_offsets": offsets, "labels": values}


def _supertag_arrays(trees: InputTrees, labels: Int32s, frames: Int32s) -> dict[str, NDArray[Any]]:
    mothers = trees.mothers()
    is_left = (mothers >= 0) & (trees.places < trees.places[np.maximum(mothers, 0)])
    keys = list(zip(labels.tolist(), frames.tolist(), strict=True))
    counts = Counter(keys)
    lefts = Counter(k for k, on_left in zip(keys, is_left, strict=True) if on_left)
    ranked = sorted(counts, key=lambda key: (-counts[key], key))
    rows = [(*key, counts[key], lefts[key]) for key in ranked]
    columns = np.array(rows, dtype=np.int32).reshape(-1, 4)
    arrays = {f"supertag_{name}": columns[:, i].copy() for i, name in enumerate(_COLUMNS)}
    distinct, times = np.unique(labels, return_counts=True)
    open_labels = distinct[times >= min(MIN_OPEN_COUNT, int(times.max()))]
    return arrays | {"open": open_labels.astype(np.int32)}


def frame_numbers(grammar: Grammar, frames: Iterable[Slots]) -> Int32s:
    """Return the numbers of frames; unknown frames are free."""
    number = {frame: i for i, frame in enumerate(grammar.frames)}
    return np.array([number.get(frame, FREE) for frame in frames], dtype=np.int32)


def suffixes(words: Sequence[str]) -> Int32s:
    """Return three hashes per word by which unknown words are classified, most specific first."""
    hashes = {}
    for word in set(words):
        plain = re.sub(r"\d", "0", word)
        shape = re.sub(r"(.)\1+", r"\1", re.sub(r"[^\W\d_]", "a", plain))[:8]
        texts = (f"3 {plain[-3:]}", f"2 {plain[-2:]} {shape}", f"1 {shape}")
        encoded = (text.encode("utf-8", "surrogatepass") for text in texts)
        hashes[word] = [zlib.crc32(data) & 0x7FFFFFFF for data in encoded]
    return np.array([hashes[word] for word in words], dtype=np.int32).reshape(-1)


def _rows(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Int32s]:
    """Return rows as offsets and values."""
    sizes = [0, *map(len, rows)]
    values = [value for row in rows for value in row]
    return np.cumsum(sizes, dtype=np.int64), np.array(values, dtype=np.int32)
