"""From parallel text to a phrase table: words, links, phrases, probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.errors import InputError
from karat.paraphrase.align.hmm import Aligner, align_words
from karat.paraphrase.align.links import Links
from karat.paraphrase.align.parallel_text import Parallel, parallel_tokens
from karat.paraphrase.table.phrase_pairs import LONGEST, PhraseCounts, extract_phrases
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseTable, said
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.tokens import Tokens


def train_pivot(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: Links | None = None,
    longest: int = LONGEST,
    threads: int | None = None,
    progress: Progress = silent,
) -> PhraseTable:
    """The phrase table of one or more parallel texts, all taken together.

    `links` from another aligner take the place of Karat's own; they run over all texts in order.
    """
    text = align_corpora(
        corpora, source, pivot, aligner=aligner, links=links, threads=threads, progress=progress
    )
    return text.table(longest, threads=threads, progress=progress)


@dataclass(frozen=True, eq=False)
class AlignedText:
    """The words of parallel texts, all taken together, and the links between them."""

    source: Tokens
    pivot: Tokens
    links: Links
    about: Mapping[str, Any]

    def phrases(
        self, longest: int = LONGEST, *, threads: int | None = None, progress: Progress = silent
    ) -> PhraseCounts:
        """The phrase pairs that are consistent with the links."""
        return extract_phrases(
            self.source, self.pivot, self.links, longest, threads=threads, progress=progress
        )

    def table(
        self, longest: int = LONGEST, *, threads: int | None = None, progress: Progress = silent
    ) -> PhraseTable:
        """The same as a phrase table."""
        counts = self.phrases(longest, threads=threads, progress=progress)
        if not len(counts):
            raise InputError("no phrase pair was found: the parallel text has no words to link")
        about = {**self.about, "longest": longest}
        return PhraseTable.from_counts(counts, self.source.vocab, self.pivot.vocab, about)


def align_corpora(
    corpora: Sequence[Parallel],
    source: Recipe = ENGLISH,
    pivot: Recipe = PIVOT,
    *,
    aligner: Aligner | None = None,
    links: Links | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> AlignedText:
    """Cut parallel texts into words and link those, unless links are given."""
    about: dict[str, Any] = {
        "source": said(source),
        "pivot": said(pivot),
        "corpora": [_corpus(one) for one in corpora],
    }
    words, pivot_words = parallel_tokens(corpora, source, pivot, threads=threads, progress=progress)
    if links is None:
        how = aligner or Aligner()
        links, told = _aligned(words, pivot_words, how, threads, progress)
        about |= told
    return AlignedText(words, pivot_words, links, about)


def _aligned(
    source: Tokens, pivot: Tokens, how: Aligner, threads: int | None, progress: Progress
) -> tuple[Links, dict[str, Any]]:
    """The links, and how they were made."""
    found = align_words(source, pivot, how, threads=threads, progress=progress)
    told = {"aligner": str(how), "empty": found.empty, "too_long": found.too_long}
    return found.links, told


def _corpus(one: Parallel) -> dict[str, Any]:
    """The names of a parallel text's two sides, without their folders, and its size."""
    names = {side: os.path.basename(getattr(one, side).name) for side in ("source", "pivot")}
    return {**names, "segments": len(one)}
