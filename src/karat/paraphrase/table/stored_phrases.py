"""Phrase pairs and links in files: results of stages, which are mapped and not read."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

from karat.arrays import np
from karat.paraphrase.align.links import AnyLinks, Links, StoredLinks
from karat.paraphrase.table.phrase_pairs import PhraseCounts, SortedPhrases
from karat.paraphrase.table.phrase_table import starts
from karat.progress import Progress
from karat.storage.arrays import ArrayFile, forget_pages
from karat.storage.store import read_store, write_store
from karat.text.tokens import Vocab
from karat.text.word_table import word_arrays, word_table

_PHRASES, _LINKS = "file of phrase pairs", "file of links"
_VERSION = 1
_PURPOSE = "phrase pairs are written there"


def write_phrases(path: Path, phrases: SortedPhrases, vocab: Vocab, progress: Progress) -> None:
    """Write all phrase pairs, and the words of their first side."""
    longest = phrases.longest
    with ExitStack() as stack:
        kinds = ("int32", "int64", "int32", "int64", "int64")
        columns = [ArrayFile(kind, _PURPOSE) for kind in kinds]
        for column in columns:
            stack.callback(column.close)
        for offsets in (columns[1], columns[3]):
            offsets.append(np.zeros(1, np.int64))
        for piece in phrases.merged(progress):
            for side, at in ((piece.ids[:, :longest], 0), (piece.ids[:, longest:], 2)):
                columns[at + 1].append(len(columns[at]) + starts((side >= 0).sum(axis=1))[1:])
                columns[at].append(side[side >= 0])
            columns[4].append(piece.counts)
        names = [field.name for field in fields(PhraseCounts)]
        arrays = {name: column.mapped() for name, column in zip(names, columns, strict=True)}
        write_store(path, _PHRASES, _VERSION, {}, arrays | word_arrays(vocab, "words"))


def read_phrases(path: Path) -> tuple[PhraseCounts, Vocab]:
    """Map phrase pairs, and read the words of their first side."""
    arrays = read_store(path, _PHRASES, _VERSION).arrays
    words, vocab = word_table(arrays, "words"), Vocab()
    vocab.add(words.words(np.arange(len(words), dtype=np.int32)))
    forget_pages(arrays.values())
    return PhraseCounts(*(arrays[field.name] for field in fields(PhraseCounts))), vocab


def write_links(path: Path, links: AnyLinks, about: Mapping[str, Any]) -> None:
    """Write the links of a text, and what is said of them."""
    arrays = links.mapped() if isinstance(links, StoredLinks) else vars(links)
    write_store(path, _LINKS, _VERSION, about, arrays)


def read_links(path: Path) -> tuple[Links, dict[str, Any]]:
    """Map the links of a text."""
    store = read_store(path, _LINKS, _VERSION)
    forget_pages(store.arrays.values())
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    return Links(*(store.arrays[field.name] for field in fields(Links))), about
