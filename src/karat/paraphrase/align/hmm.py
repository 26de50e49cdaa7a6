"""Word alignment: two HMMs, one for each direction, that learn to agree.

After Liang, Taskar & Klein (2006): IBM model 1 first, then the HMM, both directions together. In
the E-step a link counts as far as both directions believe in it; the M-step is EM's. Nothing is
random, and expectations are added up as whole numbers: the result is the same for any number of
threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Ints, np
from karat.errors import InputError
from karat.paraphrase.align.batches import by_batches
from karat.paraphrase.align.links import RULES, Links, check_sentences, symmetrize
from karat.paraphrase.align.parallel_text import Parallel, parallel_tokens
from karat.progress import Progress, silent
from karat.results import Result
from karat.text.recipe import Recipe, check_choice
from karat.text.tokens import Tokens

AGREEMENTS = {
    "root": "the square root of the product of what both directions expect",
    "product": "the product, as in the paper",
}
DECODINGS = {
    "posterior": "links in which both directions believe with at least `threshold` on average",
    **{rule: f"each direction's best links, joined: {text}" for rule, text in RULES.items()},
}

WORDS = Recipe("none", "lower")
"""The default recipe: what white space separates, lower-cased."""

_CELLS = 1 << 20  # of one batch: pairs of words, about a tenth of a second
_STORED_CELLS = 1 << 28  # beyond it, entries of the table are looked for each time: 1 GB is saved


@dataclass(frozen=True)
class Aligner:
    """Settings of word alignment: iterations, agreement, decoding, and the longest sentences."""

    model1: int = 5
    hmm: int = 5
    agreement: str = "root"
    decoding: str = "posterior"
    threshold: float = 0.5
    longest: int = 200

    def __post_init__(self) -> None:
        check_choice("agreement", self.agreement, AGREEMENTS)
        check_choice("decoding", self.decoding, DECODINGS)
        for name in ("model1", "hmm"):
            if getattr(self, name) < 0:
                raise InputError(f"{name}={getattr(self, name)}: expected at least 0 iterations")
        if not 0 < self.threshold <= 1:
            raise InputError(f"threshold={self.threshold}: expected more than 0 and at most 1")
        if self.longest < 1:
            raise InputError(f"longest={self.longest}: expected at least one word")

    def __str__(self) -> str:
        how = f"{self.agreement},{self.decoding}"
        how += f">={self.threshold:g}" if self.decoding == "posterior" else ""
        return f"hmm-joint:model1={self.model1},hmm={self.hmm},{how},longest={self.longest}"


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

    links: Links
    rows: tuple[AlignmentRow]
    pairs: int
    nbytes: int
    """The memory of the table of word pairs."""
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str


def align_words(
    source: Tokens,
    pivot: Tokens,
    aligner: Aligner | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Learn from two texts that are aligned line by line, and link their words."""
    check_sentences(source, pivot)
    how = aligner or Aligner()
    lengths = np.diff(source.offsets), np.diff(pivot.offsets)
    cuts = _cuts(*lengths)
    progress(0, len(source), "finding word pairs")
    texts = (source.ids, source.offsets, pivot.ids, pivot.offsets)
    kernel = _kernel.JointAligner(*texts, how.longest, _STORED_CELLS, how.agreement == "root")
    for name, hmm, iterations in (("model 1", False, how.model1), ("HMM", True, how.hmm)):
        for iteration in range(1, iterations + 1):
            what = f"{name}, iteration {iteration} of {iterations}"
            expect = partial(kernel.expect, hmm=hmm)
            deque(by_batches(expect, cuts, threads, progress, what), maxlen=0)
            kernel.update(hmm)

    def decoded(rule: str) -> Links:
        def decode(start: int, stop: int) -> Links:
            return Links(*kernel.decode(start, stop, how.hmm > 0, rule, how.threshold))

        return _joined(by_batches(decode, cuts, threads, progress, "linking words"))

    if how.decoding == "posterior":
        links = decoded("mean")
    else:
        links = symmetrize(source, pivot, decoded("forward"), decoded("backward"), how.decoding)
    without = (lengths[0] == 0) | (lengths[1] == 0)
    empty = int(without.sum())
    too_long = int((~without & (np.maximum(*lengths) > how.longest)).sum())
    row = AlignmentRow(len(links), len(links.source), empty, too_long)
    whys = {"with an empty side": empty, f"with more than {how.longest} words on a side": too_long}
    notes = tuple(
        f"no links for {'1 sentence pair' if n == 1 else f'{n:,} sentence pairs'} {why}"
        for why, n in whys.items()
        if n
    )
    sizes = kernel.pairs, kernel.nbytes
    return WordAlignment(links, (row,), *sizes, vars(how), notes, str(how))


def align_text(
    text: Parallel,
    source: Recipe = WORDS,
    pivot: Recipe = WORDS,
    aligner: Aligner | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> WordAlignment:
    """Align the words of a parallel text, cut by a recipe for each side."""
    tokens = parallel_tokens([text], source, pivot, threads=threads, progress=progress)
    return align_words(*tokens, aligner, threads=threads, progress=progress)


def _cuts(source: Ints, pivot: Ints) -> list[tuple[int, int]]:
    """Return batches of sentences of about equal work, cut by the text alone."""
    if not len(source):
        return []
    before = np.concatenate([[0], np.cumsum(source * pivot + 1)])
    ends = np.flatnonzero(np.diff(before // _CELLS)) + 1
    bounds = [0, *ends.tolist(), len(source)]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


def _joined(batches: Iterable[Links]) -> Links:
    """Join the links of all batches; the kernel gives ends of sentences within a batch."""
    parts, held = [(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))], 0
    for batch in batches:
        parts.append((batch.source, batch.pivot, batch.offsets + held))
        held += len(batch.source)
    return Links(*map(np.concatenate, zip(*parts, strict=True)))
