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
    """Make the phrase table of one or more parallel texts, all taken together.

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

    def phrases(self, longest: int = LONGEST, **work: Any) -> PhraseCounts:
        """Return the phrase pairs that are consistent with the links."""
        return extract_phrases(self.source, self.pivot, self.links, longest, **work)

    def table(self, longest: int = LONGEST, **work: Any) -> PhraseTable:
        """Return the table of the phrase pairs."""
        counts = self.phrases(longest, **work)
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
    **work: Any,
) -> AlignedText:
    """Cut parallel texts into words and link those, unless links are given."""
    about: dict[str, Any] = {"source": said(source), "pivot": said(pivot)}
    about["corpora"] = [_corpus(one) for one in corpora]
    words, pivot_words = parallel_tokens(corpora, source, pivot, **work)
    if links is None:
        found = align_words(words, pivot_words, aligner, **work)
        _, _, empty, too_long = found.rows[0]
        about |= {"aligner": found.signature, "empty": empty, "too_long": too_long}
        links = found.links
    return AlignedText(words, pivot_words, links, about)


def _corpus(one: Parallel) -> dict[str, Any]:
    """Return the names of a parallel text's two sides, without their folders, and its size."""
    names = {side: os.path.basename(getattr(one, side).name) for side in ("source", "pivot")}
    return {**names, "segments": len(one)}
