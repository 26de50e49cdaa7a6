"""Phrase tables: the translations of phrases into a pivot language, with probabilities.

    Pr(f|e) = count(e, f) / N(e)        N(e) = sum_f count(e, f)        Pr(e) = N(e) / sum N

A table is made from counted pairs or from a Moses file, stored as flat arrays and mapped. Words and
phrases are sorted by their text, the translations of a phrase by falling probability, then by their
text; so the same pairs give the same table, whatever their source.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, short
from karat.storage.arrays import forget_pages
from karat.storage.schema import ModelLayout, check_arrays, check_fields, record, text, word_columns
from karat.storage.store import Arrays, damaged, read_store, store_digest, write_store
from karat.text.tokens import CASES, TOKENIZERS, Ragged, Recipe, Vocab, stemmers
from karat.text.word_table import WordTable, word_arrays, word_table

KIND = "phrase table"
VERSION = 1

ENGLISH = Recipe("13a", "lower", "porter")
"""Default recipe of the source language: Porter-stemmed English."""

PIVOT = Recipe("13a", "lower")  # default recipe of the pivot language

_SIDES = ("source", "pivot")
_LARGE = 1 << 26  # bytes; the pages of a larger table are released after it was checked

_COLUMNS = {
    "phrase_ids": ModelLayout("int32", "words of phrases"),
    "phrase_offsets": ModelLayout("int64", "phrases + 1"),
    "phrase_counts": ModelLayout("float64", "phrases", low=0),
    "phrase_slots": ModelLayout("int32", "slots of phrases"),
    "edge_offsets": ModelLayout("int64", "phrases + 1"),
    "edge_pivots": ModelLayout("int32", "edges"),
    "edge_probabilities": ModelLayout("float64", "edges", low=0, high=1),
    "pivot_phrase_ids": ModelLayout("int32", "words of pivot phrases"),
    "pivot_phrase_offsets": ModelLayout("int64", "pivot phrases + 1"),
}
"""The arrays of phrases, in the order of the kernel, which checks their references."""

_WORDS = {**word_columns("source"), **word_columns("pivot")}

ABOUT = record({side: record({"tok": text, "case": text, "stem": text}) for side in _SIDES})
"""Schema of a table's description."""

_About = Mapping[str, Any] | None


class Translation(NamedTuple):
    """A pivot phrase and its probability."""

    words: tuple[str, ...]
    probability: float


class Maps(NamedTuple):
    """For each word of a vocabulary, its id among source words or -1, and among pivot words."""

    source: NDArray[np.int32]
    pivot: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PhraseCounts:
    """Pair k has phrases `ids[offsets[k]:offsets[k + 1]]` of both sides, seen `counts[k]` times.

    Pairs are unique and sorted by the ids of the source phrase, then of the pivot phrase; a phrase
    precedes its extensions.
    """

    source_ids: NDArray[np.int32]
    source_offsets: Ints
    pivot_ids: NDArray[np.int32]
    pivot_offsets: Ints
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<PhraseCounts: {len(self):,} pairs, seen {int(self.counts.sum()):,} times>"


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Phrases, N(e), and their translations with Pr(f|e); make one with `from_counts` or `open`."""

    name: str
    about: Mapping[str, Any]
    arrays: Arrays
    source: WordTable
    pivot: WordTable
    kernel: _kernel.PhraseTable

    @classmethod
    def from_counts(
        cls, counts: PhraseCounts, source_vocab: Vocab, pivot_vocab: Vocab, about: _About = None
    ) -> PhraseTable:
        """Return the table of counted pairs; `about` may have the recipes `source` and `pivot`."""
        source = Ragged(counts.source_ids, counts.source_offsets)
        pivot = Ragged(counts.pivot_ids, counts.pivot_offsets)
        number, _ = number_phrases(source)
        pair_counts = counts.counts.astype(np.float64)
        N = np.asarray(np.bincount(number, pair_counts)[number], dtype=np.float64)
        pairs = PhrasePairs(source, pivot, pair_counts / N, N)
        return cls.from_pairs(pairs, source_vocab, pivot_vocab, about)

    @classmethod
    def from_pairs(
        cls, pairs: PhrasePairs, source_vocab: Vocab, pivot_vocab: Vocab, about: _About = None
    ) -> PhraseTable:
        """Return the table of unique pairs, in any order."""
        source, words = _sort_by_text(pairs.source, source_vocab)
        pivot, pivot_words = _sort_by_text(pairs.pivot, pivot_vocab)
        arrays = word_arrays(words, "source") | word_arrays(pivot_words, "pivot")
        arrays |= _phrase_arrays(pairs._replace(source=source, pivot=pivot))
        description = {
            "source": describe_recipe(ENGLISH),
            "pivot": describe_recipe(PIVOT),
            **(about or {}),
        }
        return cls.of_arrays("the phrase table", description, arrays)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PhraseTable:
        """Map a stored table and check that its references are within bounds."""
        store = read_store(path, KIND, VERSION)
        about = store.description
        try:
            return cls.of_arrays(store.name, about, store.arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(store.name, str(error)) from error

    @classmethod
    def of_arrays(cls, name: str, about: Mapping[str, Any], arrays: Arrays) -> PhraseTable:
        """Return a stored table; raise ValueError or KeyError if its arrays are inconsistent."""
        check_fields(about, ABOUT)
        check_arrays(arrays, {**_COLUMNS, **_WORDS})
        for side in _SIDES:
            _read_recipe(about, side)
        source, pivot = word_table(arrays, "source"), word_table(arrays, "pivot")
        parts: list[Any] = [*(arrays[part] for part in _COLUMNS), len(source), len(pivot)]
        parts.append(lambda: forget_pages(arrays.values()))
        kernel = _kernel.PhraseTable(*parts)
        if sum(array.nbytes for array in arrays.values()) > _LARGE:
            forget_pages(arrays.values())
        return cls(name, about, arrays, source, pivot, kernel)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file (atomic)."""
        write_store(path, KIND, VERSION, self.about, self.arrays)

    def __len__(self) -> int:
        return len(self.kernel)

    @property
    def pairs(self) -> int:
        """Number of pairs of a phrase and a translation."""
        return len(self.arrays["edge_pivots"])

    @property
    def recipe(self) -> Recipe:
        """Recipe of the source language."""
        return _read_recipe(self.about, "source")

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(all_words(self.source))}

    def find(self, words: Sequence[str]) -> int | None:
        """Return the number of a phrase, or None."""
        ids = [self._words.get(word, -1) for word in words]
        phrase_number = self.kernel.find(np.asarray(ids, dtype=np.int32)) if ids else -1
        return phrase_number if phrase_number >= 0 else None

    def phrase(self, number: int) -> tuple[str, ...]:
        """Return the words of a phrase."""
        return tuple(self.source.words(_phrase_ids(self.arrays, "phrase", number)))

    def count(self, number: int) -> float:
        """Return N(e), the count of a phrase."""
        return float(self.arrays["phrase_counts"][number])

    @property
    def total(self) -> float:
        """The sum of N over all phrases."""
        return self.kernel.total

    def translations(self, number: int) -> list[Translation]:
        """Return the translations of a phrase, the most probable first."""
        first, last = self.arrays["edge_offsets"][number : number + 2].tolist()
        pivots = self.arrays["edge_pivots"][first:last].tolist()
        shares = self.arrays["edge_probabilities"][first:last].tolist()
        words = [
            self.pivot.words(_phrase_ids(self.arrays, "pivot_phrase", pivot)) for pivot in pivots
        ]
        return [Translation(tuple(w), p) for w, p in zip(words, shares, strict=True)]

    def phrase_of_edges(self) -> Ints:
        """Return the number of the phrase for each pair of a phrase and a translation."""
        return np.repeat(np.arange(len(self)), np.diff(self.arrays["edge_offsets"]))

    def select(self, edges: Flags) -> PhraseTable:
        """Return the table of the pairs in a mask; phrases without pairs are removed."""
        n_translations = np.bincount(self.phrase_of_edges()[edges], minlength=len(self))
        has_translations, lengths = n_translations > 0, np.diff(self.arrays["phrase_offsets"])
        phrases = Ragged(
            self.arrays["phrase_ids"][np.repeat(has_translations, lengths)],
            to_offsets(lengths[has_translations]),
        )
        edge_offsets = to_offsets(n_translations[has_translations])
        edges_kept = (self.arrays[name][edges] for name in ("edge_pivots", "edge_probabilities"))
        counts = self.arrays["phrase_counts"][has_translations]
        selected = _source_arrays(phrases, counts, edge_offsets, *edges_kept)
        return PhraseTable.of_arrays(self.name, self.about, {**self.arrays, **selected})

    def maps(self, vocab: Vocab) -> Maps:
        """Map the words of a vocabulary to the table's; an unseen word is its own translation."""
        pivot_ids = self.pivot.find(vocab)
        new = len(self.pivot) + np.arange(len(vocab), dtype=np.int32)
        return Maps(
            self.source.find(vocab), np.where(pivot_ids >= 0, pivot_ids, new).astype(np.int32)
        )


def table_digest(path: str) -> str:
    """Return a digest of the table's content, without reading the whole file."""
    return store_digest(path, KIND)


class PhrasePairs(NamedTuple):
    """Pairs of phrases as ragged ids, with Pr(f|e) and N(e) for each pair."""

    source: Ragged
    pivot: Ragged
    probabilities: Floats
    counts: Floats


def _sort_by_text(phrases: Ragged, vocab: Vocab) -> tuple[Ragged, Vocab]:
    """Return the phrases as ids of a vocabulary of their words, sorted by text."""
    words = vocab.words(0, len(vocab))
    used = sorted(np.unique(phrases.ids).tolist(), key=words.__getitem__)
    rank = np.full(len(words), -1, dtype=np.int32)
    rank[used] = np.arange(len(used), dtype=np.int32)
    ordered = Vocab()
    ordered.add([words[i] for i in used])
    return Ragged(rank[phrases.ids], phrases.offsets), ordered


def number_phrases(phrases: Ragged) -> tuple[Ints, Ragged]:
    """Return the number of each phrase among the distinct ones, and these sorted by ids."""
    number, rows = number_rows(pad_phrases(phrases, phrases.lengths.max(initial=1)))
    return number, Ragged(rows[rows >= 0], to_offsets((rows >= 0).sum(axis=1)))


def number_rows(rows: NDArray[np.int32]) -> tuple[Ints, NDArray[np.int32]]:
    """Return the number of each row among the distinct ones, and these sorted."""
    order = np.lexsort(rows.T[::-1])
    new = is_new_row(rows[order])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return number, rows[order[new]]


def is_new_row(rows: NDArray[Any]) -> Flags:
    """Return for each of some sorted rows whether it differs from the row before."""
    new: Flags = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def pad_phrases(phrases: Ragged, width: int) -> NDArray[np.int32]:
    """Return a row of ids for each phrase, padded with -1."""
    is_word = np.arange(width) < phrases.lengths[:, None]
    rows = np.full(is_word.shape, -1, dtype=np.int32)
    rows[is_word] = phrases.ids
    return rows


def encode_phrases(phrases: Sequence[str], vocab: Vocab) -> Ragged:
    """Return the ids of the words of phrases, which are added to a vocabulary."""
    words = [phrase.split() for phrase in phrases]
    ids = vocab.add([word for phrase in words for word in phrase])
    return Ragged(ids, np.cumsum([0, *map(len, words)], dtype=np.int64))


def all_words(words: WordTable) -> list[str]:
    """Return all words of a table in the order of their numbers."""
    return words.words(np.arange(len(words), dtype=np.int32))


def to_offsets(lengths: Ints) -> Ints:
    """Return the offsets of rows with the given lengths."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _phrase_arrays(pairs: PhrasePairs) -> dict[str, NDArray[Any]]:
    source, phrases = number_phrases(pairs.source)
    pivot, pivots = number_phrases(pairs.pivot)
    order = np.lexsort((pivot, -pairs.probabilities, source))
    counts = np.zeros(len(phrases.lengths))
    counts[source] = pairs.counts
    edge_offsets = to_offsets(np.bincount(source, minlength=len(counts)))
    edges = pivot[order].astype(np.int32), pairs.probabilities[order]
    return _source_arrays(phrases, counts, edge_offsets, *edges) | {
        "pivot_phrase_ids": pivots.ids,
        "pivot_phrase_offsets": pivots.offsets,
    }


def _source_arrays(
    phrases: Ragged, counts: Floats, edge_offsets: Ints, pivots: Any, probabilities: Any
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the source phrases and their translations."""
    slots = _kernel.phrase_slots(*phrases)
    columns = (*phrases, counts, slots, edge_offsets, pivots, probabilities)
    return dict(zip(_COLUMNS, columns, strict=False))


def _phrase_ids(arrays: Arrays, name: str, number: int) -> NDArray[np.int32]:
    first, last = arrays[f"{name}_offsets"][number : number + 2].tolist()
    ids: NDArray[np.int32] = arrays[f"{name}_ids"][first:last]
    return ids


def describe_recipe(recipe: Recipe) -> dict[str, str]:
    """Return the description of a recipe, which must not remove stop words."""
    if recipe.stop != "none":
        raise InputError(f"stop={recipe.stop}: phrase tables keep all words, expected none")
    return {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}


def _read_recipe(about: Mapping[str, Any], side: str) -> Recipe:
    """Return the recipe of one side; raise ValueError if it is unknown."""
    fields = about[side]
    recipe = Recipe(fields["tok"], fields["case"], fields["stem"])
    if not (recipe.tok in TOKENIZERS and recipe.case in CASES and recipe.stem in stemmers()):
        raise ValueError(f"unknown recipe {short(recipe)}")
    return recipe
