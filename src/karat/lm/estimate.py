"""From counts to a model: what is too rare is left out, the rest gets its logarithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from karat import _kernel
from karat.arithmetic import log, quick_log
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.lm.counting import BOS, Counted
from karat.lm.katz import Katz, gt_min
from karat.lm.kneser_ney import KneserNey
from karat.lm.scratch import Scratch
from karat.lm.smoothing import Contexts, Histograms, Rule, Smoothing
from karat.lm.tables import ZERO, marked
from karat.progress import Progress
from karat.text.tokens import check_choice

if TYPE_CHECKING:
    Logarithms = NDArray[np.float32]

_BATCH = 1 << 16  # n-grams that are estimated at a time

SMOOTHING: dict[str, Callable[[], Smoothing]] = {"kneser-ney": KneserNey, "katz": Katz}
"""Name -> a smoothing for one model."""


def check_min_counts(order: int, smoothing: str, given: Sequence[int] | None) -> tuple[int, ...]:
    """Return the smallest count of the n-grams that are kept, for each length: never falling.

    So the n-grams within a kept n-gram are kept too. The default keeps all with Kneser-Ney; with
    Katz it is SRILM's.
    """
    check_choice("smoothing", smoothing, SMOOTHING)
    if given is None:
        return tuple(gt_min(n) if smoothing == "katz" else 1 for n in range(1, order + 1))
    found = tuple(given)
    shown = ",".join(map(str, found))
    if len(found) != order or found[:1] != (1,):
        raise InputError(
            f"min_counts={shown}: expected {order} numbers, one for each length, the first of them "
            f"1 (for rare words, limit the vocabulary)"
        )
    if any(low > high for low, high in pairwise(found)):
        raise InputError(f"min_counts={shown}: expected numbers that do not fall")
    return found


class Estimated(NamedTuple):
    """The logarithms of words; those of longer n-grams are where the n-grams are."""

    p: Logarithms
    backoff: Logarithms
    notes: tuple[str, ...]


def estimate(
    counted: Counted,
    smoothing: str,
    min_counts: Sequence[int],
    scratch: Scratch,
    progress: Progress,
) -> Estimated:
    """Estimate the probabilities of all n-grams, one length after the other."""
    ngrams, chosen = counted.ngrams, SMOOTHING[smoothing]()
    counts = ngrams.words()
    p = chosen.words(counts, counts if counted.order == 1 else ngrams.preceding())
    for n in range(2, counted.order + 1):
        seen = Histograms(ngrams.adjusted(n).tolist(), ngrams.counts(n).tolist())
        rule = chosen.rule(n, seen, len(counts))
        with scratch.writing():
            _estimate_length(ngrams, n, p, rule, min_counts[n - 1], progress)
    logs = _logs(p)
    logs[BOS] = ZERO
    backoff = ngrams.word_backoffs() if counted.order > 1 else np.full(len(p), -0.0, np.float32)
    return Estimated(logs, backoff, tuple(chosen.notes))


def _estimate_length(
    ngrams: _kernel.NgramTraining, n: int, p: Floats, rule: Rule, least: int, progress: Progress
) -> None:
    """Estimate the n-grams of one length, batches of whole contexts at a time."""

    def check() -> None:
        progress(ngrams.done, ngrams.total, f"estimating {n}-grams")

    ngrams.gather(n, p, check)
    while True:
        some = Contexts(*ngrams.batch(_BATCH))
        if not some.size:
            break
        keep = some.counts >= least
        found, weights = rule(some, keep)
        is_context = np.bincount(some.contexts, keep, some.size) > 0
        ngrams.put(found, _logs(found), marked(_logs(weights), is_context), check)
        check()
    ngrams.scatter(check)
    check()


def _logs(values: Floats) -> Logarithms:
    return np.maximum(quick_log(values) / log(10), ZERO).astype(np.float32)
