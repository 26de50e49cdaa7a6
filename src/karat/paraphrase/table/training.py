"""From parallel text to a phrase table: words, links, phrases, probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.links import AnyLinks
from karat.paraphrase.align.parallel_text import Parallel, parallel_tokens
from karat.paraphrase.align.stored_tokens import Words
from karat.paraphrase.table.phrase_pairs import (
    LONGEST,
    PhraseCounts,
    extract_phrases,
    sorted_phrases,
)
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseTable, said
from karat.paraphrase.table.table_files import TableFiles, text_order, whole_phrases
from karat.progress import Progress, silent
from karat.storage.arrays import as_memory
from karat.text.tokens import Recipe

_BYTES_OF_PAIR = 256  # a pair takes 40, and as much again while batches are merged


def train_pivot(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: AnyLinks | None = None,
    longest: int = LONGEST,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseTable:
    """Build the phrase table of one or more parallel texts.

    Args:
        corpora: parallel texts, used together.
        source, pivot: tokenisation of the two languages.
        aligner: settings of the aligner.
        links: word alignment of another aligner, for all texts in order.
        longest: words of the longest phrases.
        memory: bytes of memory to use; beyond it, temporary files are used, with the same result.
            By default a quarter of the memory of this machine.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    text = align_corpora(corpora, source, pivot, aligner=aligner, links=links, **work)
    return text.table(longest, **work)


@dataclass(frozen=True, eq=False)
class AlignedText:
    """The words of parallel texts, all taken together, and the links between them."""

    source: Words
    pivot: Words
    links: AnyLinks
    about: Mapping[str, Any]

    def phrases(
        self, longest: int = LONGEST, *, memory: int | None = None, **work: Any
    ) -> PhraseCounts:
        """Return the phrase pairs that are consistent with the links."""
        most = most_pairs(memory)
        return extract_phrases(self.source, self.pivot, self.links, longest, most_rows=most, **work)

    def table(
        self, longest: int = LONGEST, *, memory: int | None = None, **work: Any
    ) -> PhraseTable:
        """Return the table of the phrase pairs; a large one lies in temporary files, mapped."""
        vocabs = self.source.vocab, self.pivot.vocab
        about = {**self.about, "longest": longest}
        order, progress = text_order(*vocabs), work["progress"]
        given, most = (self.source, self.pivot, self.links, longest, order), most_pairs(memory)
        with ExitStack() as stack:
            held = stack.enter_context(sorted_phrases(*given, most_rows=most, **work))
            files = TableFiles(stack, longest)
            for pairs in whole_phrases(held.merged(progress), longest, most):
                files.add(pairs)
            held.close()
            if not files.pieces:
                raise InputError("no phrase pair was found: the parallel text has no words to link")
            files.number_pivots(progress)
            files.sort_edges(progress)
            arrays = files.arrays(order, *vocabs)
        return PhraseTable.of_arrays("the phrase table", about, arrays)


def most_pairs(memory: int | None) -> int:
    """Return how many phrase pairs may be in memory before they go to files."""
    return max(as_memory(memory) // _BYTES_OF_PAIR, 1)


def align_corpora(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: AnyLinks | None = None,
    **work: Any,
) -> AlignedText:
    """Cut parallel texts into words and link those, unless links are given."""
    about = about_corpora(corpora, source, pivot)
    words, pivot_words = parallel_tokens(corpora, source, pivot, **work)
    if links is None:
        links, more = link_corpora(words, pivot_words, aligner, **work)
        about |= more
    return AlignedText(words, pivot_words, links, about)


def link_corpora(
    source: Words, pivot: Words, aligner: Aligner | None, **work: Any
) -> tuple[AnyLinks, dict[str, Any]]:
    """Link the words of parallel texts; what the table says of the links."""
    found = align_words(source, pivot, aligner, **work)
    _, _, empty, too_long = found.rows[0]
    return found.links, {"aligner": found.signature, "empty": empty, "too_long": too_long}


def about_corpora(corpora: Sequence[Parallel], source: Recipe, pivot: Recipe) -> dict[str, Any]:
    """Return what a table says of its texts: recipes, names without folders, sizes."""
    about: dict[str, Any] = {"source": said(source), "pivot": said(pivot)}
    about["corpora"] = [_corpus(one) for one in corpora]
    return about


def _corpus(one: Parallel) -> dict[str, Any]:
    """Return the names of a parallel text's two sides, without their folders, and its size."""
    names = {side: os.path.basename(getattr(one, side).name) for side in ("source", "pivot")}
    return {**names, "segments": len(one)}
