"""Links from what an aligner believes about a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import np
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.batches import batch_cuts, by_batches
from karat.paraphrase.align.links import AnyLinks, Links, symmetrize
from karat.text.tokens import Tokens


class Linked(NamedTuple):
    """Links of a text, the number of word pairs that stand together, and the memory they took."""

    links: AnyLinks
    pairs: int
    nbytes: int


def link_words(
    kernel: _kernel.JointAligner, source: Tokens, pivot: Tokens, how: Aligner, **work: Any
) -> Links:
    """Return the links of a text; `work` is `threads` and `progress`."""
    cuts = batch_cuts(source, pivot)

    def decoded(rule: str) -> Links:
        def decode(start: int, stop: int) -> Links:
            return Links(*kernel.decode(start, stop, how.hmm > 0, rule, how.threshold))

        return _joined(by_batches(decode, cuts, what="linking words", **work))

    if how.decoding == "posterior":
        return decoded("mean")
    return symmetrize(source, pivot, decoded("forward"), decoded("backward"), how.decoding)


def _joined(batches: Iterable[Links]) -> Links:
    """Join the links of all batches; the kernel gives ends of sentences within a batch."""
    parts, held = [(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))], 0
    for batch in batches:
        parts.append((batch.source, batch.pivot, batch.offsets + held))
        held += len(batch.source)
    return Links(*map(np.concatenate, zip(*parts, strict=True)))
