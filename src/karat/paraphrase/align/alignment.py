"""Word alignment: two HMMs, one for each direction, that learn to agree.

After Liang, Taskar & Klein (2006): IBM model 1 first, then the HMM, both directions together. In
the E-step a link counts as far as both directions believe in it. Words are learned by their first
characters; links are those of words. Nothing is random, and expectations are added up as whole
numbers: the result is the same for any number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.batches import batch_cuts, by_batches, text_size
from karat.paraphrase.align.by_parts import align_by_parts, batch_cells
from karat.paraphrase.align.learners import learner_of, shortened
from karat.paraphrase.align.linking import Linked, link_words
from karat.paraphrase.align.links import AnyLinks, check_lengths
from karat.paraphrase.align.parallel_text import Parallel, parallel_tokens
from karat.paraphrase.align.stored_tokens import Words, word_count
from karat.progress import Progress, silent
from karat.results import Result
from karat.storage.arrays import as_memory
from karat.text.tokens import Recipe, Tokens

WORDS = Recipe("none", "lower")
"""The default recipe: what white space separates, lower-cased."""

MOST_WORDS = 2**31 - 1
"""Words that a side may have: sums of expectations over all of them fit into 64 bits."""
_STORED_CELLS = 1 << 28  # beyond it, entries of the table are looked for each time: 1 GB is saved


class AlignmentRow(NamedTuple):
    """The number of sentence pairs and links, and of pairs that have none.

    Those with an empty side (`empty`) or with more than `longest` words on a side (`too_long`).
    """

    sentences: int
    links: int
    empty: int
    too_long: int


@dataclass(frozen=True, eq=False, repr=False)
class WordAlignment(Result):
    """The links of two texts; `pairs` is the number of word pairs that stand together."""

    links: AnyLinks
    rows: tuple[AlignmentRow]
    pairs: int
    nbytes: int
    """The memory of the table of word pairs."""
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def align_words(
    source: Words,
    pivot: Words,
    aligner: Aligner | None = None,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Learn from two texts that are aligned line by line, and link their words.

    Beyond `memory` bytes (default: a quarter of this machine's) the text is looked at part by part
    and the table of word pairs lies in temporary files; the links are the same.
    """
    check_lengths(source, pivot)
    _check_size(source, pivot)
    how = (aligner or Aligner()).resolved()
    source, pivot = shortened(source, how.prefix), shortened(pivot, how.prefix)
    size = text_size(source, pivot, how.longest)
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    most = batch_cells(as_memory(memory))
    if size.cells > most:
        found = align_by_parts(source, pivot, how, most, **work)
    else:
        found = _align_at_once(source.part(0, size.pairs), pivot.part(0, size.pairs), how, **work)
    row = AlignmentRow(size.pairs, found.links.size, size.empty, size.too_long)
    long = f"with more than {how.longest} words on a side"
    whys = {"with an empty side": size.empty, long: size.too_long}
    notes = tuple(
        f"no links for {'1 sentence pair' if n == 1 else f'{n:,} sentence pairs'} {why}"
        for why, n in whys.items()
        if n
    )
    return WordAlignment(found.links, (row,), found.pairs, found.nbytes, vars(how), notes, str(how))


def _check_size(source: Words, pivot: Words) -> None:
    """Refuse a text whose counts would not fit."""
    words = max(map(word_count, (source, pivot)))
    if words > MOST_WORDS:
        raise InputError(
            f"a side of the parallel text has {words:,} words, and at most {MOST_WORDS:,} can be "
            "aligned together: cut the text into parts, and align each by itself"
        )


def _align_at_once(source: Tokens, pivot: Tokens, how: Aligner, **work: Any) -> Linked:
    """Align with all word pairs in memory."""
    cuts, learner = batch_cuts(source, pivot), learner_of(source, pivot, how)
    work["progress"](0, len(source), "finding word pairs")
    texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
    kernel: Any = learner.whole(texts, _STORED_CELLS)
    for step in how.iterations():
        expect = learner.expect(kernel, step)
        deque(by_batches(expect, cuts, what=step.what, **work), maxlen=0)
        learner.update(kernel, step)
    return Linked(link_words(learner, kernel, source, pivot, **work), kernel.pairs, kernel.nbytes)


def align_text(
    text: Parallel,
    source: Recipe = WORDS,
    pivot: Recipe = WORDS,
    aligner: Aligner | None = None,
    *,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Align the words of a parallel text, cut by a recipe for each side."""
    work: dict[str, Any] = {"memory": memory, "threads": threads, "progress": progress}
    tokens = parallel_tokens([text], source, pivot, **work)
    return align_words(*tokens, aligner, **work)
