"""Links from what an aligner believes about a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from karat.arrays import np
from karat.paraphrase.align.batches import batch_cuts, by_batches
from karat.paraphrase.align.learners import Learner
from karat.paraphrase.align.links import AnyLinks, Links, symmetrize
from karat.text.tokens import Tokens


class Linked(NamedTuple):
    """Links of a text, the number of word pairs that stand together, and the memory they took."""

    links: AnyLinks
    pairs: int
    nbytes: int


def link_words(learner: Learner, kernel: Any, source: Tokens, pivot: Tokens, **work: Any) -> Links:
    """Return the links of a text by the learner's aligner; `work` is `threads` and `progress`."""
    cuts = batch_cuts(source, pivot)

    def decoded(rule: str) -> Links:
        decode = learner.decode(kernel, rule)
        found = by_batches(decode, cuts, what="linking words", **work)
        return _joined(Links(*batch) for batch in found)

    decoding = learner.how.decoding
    if decoding == "posterior":
        return decoded("mean")
    return symmetrize(source, pivot, decoded("forward"), decoded("backward"), decoding)


def _joined(batches: Iterable[Links]) -> Links:
    """Join the links of all batches; the kernel gives ends of sentences within a batch."""
    parts, held = [(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))], 0
    for batch in batches:
        parts.append((batch.source, batch.pivot, batch.offsets + held))
        held += len(batch.source)
    return Links(*map(np.concatenate, zip(*parts, strict=True)))
