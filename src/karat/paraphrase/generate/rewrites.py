"""Rewrites: phrases that may stand for each other, as they are translated alike.

After Bannard & Callison-Burch (2005), who go from a phrase e to its translations f and back:

    Pr(e'|e) = sum_f Pr(f|e) Pr(e'|f)        the mean over those pivot languages that have e

The result is a phrase table from a language to itself. A rewrite must be probable both ways round:
else every word would have frequent words beside it to which it was linked by mistake. A phrase that
only leaves words out at the ends, or adds some, is none: words without links stand in phrases or
not, as it happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.table import phrase_table
from karat.paraphrase.table.phrase_pairs import PhraseCounts
from karat.paraphrase.table.phrase_table import PhrasePairs, PhraseTable, distinct, padded, starts
from karat.text.recipe import Ragged, Recipe
from karat.text.tokens import Vocab

_PRONOUNS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""English personal pronouns: a rewrite that changes them speaks of somebody else."""

_WIDEST = 16  # words of a phrase that may be rewritten
_ROWS = 1 << 22  # of paths through a pivot that are held in memory at a time


@dataclass(frozen=True)
class RewriteLimits:
    """Limits that keep the noise of rare links out, and the table small."""

    forward: float = 0.01
    """Pr(f|e) must be at least this."""
    backward: float = 0.002
    """Pr(e'|f) must be at least this."""
    rewrite: float = 0.01
    """Pr(e'|e) and Pr(e|e') must be at least this."""
    most: int = 20
    """The rewrites of a phrase, at most."""


class PivotPhrases(NamedTuple):
    """The phrase pairs of one pivot language, and the words of their first side."""

    counts: PhraseCounts
    vocab: Vocab


class _Paths(NamedTuple):
    """From phrase to phrase, with the sum over all ways to go."""

    source: Ints
    target: Ints
    p: Floats


def rewrite_table(
    languages: Sequence[PivotPhrases], recipe: Recipe, limits: RewriteLimits | None = None
) -> PhraseTable:
    """Make the table of rewrites that pivot languages suggest; `recipe` cuts the words."""
    how = limits or RewriteLimits()
    vocab = Vocab()
    sides, paths, seen = [], [], []
    for one in languages:
        phrases, N, found = _pivoted(one.counts, how)
        sides.append(Ragged(vocab.merge(one.vocab)[phrases.ids], phrases.offsets))
        paths.append(found)
        seen.append(N)
    lengths = np.concatenate([side.lengths for side in sides])
    ids = np.concatenate([side.ids for side in sides])
    number, phrases = distinct(Ragged(ids, starts(lengths)))
    numbers = np.split(number, np.cumsum([len(N) for N in seen])[:-1])
    both = zip(numbers, paths, strict=True)
    joined = _mean([_Paths(k[p.source], k[p.target], p.p) for k, p in both])
    kept = _best(joined, phrases, how)
    if not len(kept.p):
        raise InputError("no phrase has a rewrite: no two phrases of the text are translated alike")
    counts = _totals(number, np.concatenate(seen))
    source, target = (_rows(phrases, side) for side in (kept.source, kept.target))
    pairs = PhrasePairs(source, target, kept.p, counts[kept.source])
    about = {"source": phrase_table.said(recipe), "pivot": phrase_table.said(recipe)}
    return PhraseTable.from_pairs(pairs, vocab, vocab, about)


def trusted(table: PhraseTable, least: float) -> Flags:
    """Return which rewrites of a table may be written.

    They have at least the probability `least`, keep the numbers, punctuation and personal pronouns
    of their phrase, and do not only add or drop words.
    """
    arrays = table.arrays
    vocab = Vocab()  # words of rewrites come first, then those of phrases
    ids = vocab.add(phrase_table.every_word(table.source))
    words = [*phrase_table.every_word(table.pivot), *vocab.words(0, len(vocab))]
    old = Ragged(table.maps(vocab).own[ids][arrays["phrase_ids"]], arrays["phrase_offsets"])
    new = Ragged(arrays["pivot_phrase_ids"], arrays["pivot_phrase_offsets"])
    phrases, pivots = table.phrase_of_edges(), arrays["edge_pivots"].astype(np.int64)
    short = (old.lengths[phrases] <= _WIDEST) & (new.lengths[pivots] <= _WIDEST)
    found: Flags = short & (arrays["edge_probabilities"] >= least)
    both = (_rows(old, phrases[found]), _rows(new, pivots[found]))
    a, b = (padded(rows, _WIDEST) for rows in both)
    fixed = _fixed(words)
    same = (_packed(fixed[a]) == _packed(fixed[b])).all(axis=1)
    found[found] = same & ~(_among(a, b) | _among(b, a))
    return found


def _fixed(words: Sequence[str]) -> NDArray[np.int32]:
    """Number the words that a rewrite must keep; -1 for others and, at last, for no word.

    Languages differ in what their pronouns tell apart (`son` is his and her); `he'll` is `he`.
    """
    known: dict[str, int] = {}
    bare = [word.lower().replace("’", "'").partition("'")[0] or word for word in words]
    kept = [word in PRONOUNS or not any(map(str.isalpha, word)) for word in bare]
    found = [known.setdefault(w, len(known)) if k else -1 for w, k in zip(bare, kept, strict=True)]
    return np.array([*found, -1], dtype=np.int32)


def _packed(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Move the numbers of each row to its front, in their order, and the -1 behind them."""
    return np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)


def _among(few: NDArray[np.int32], many: NDArray[np.int32]) -> Flags:
    """Return whether the words of a row stand among those of another, in their order."""
    row, found = np.arange(len(few)), np.zeros(len(few), dtype=np.int64)
    sizes = (few >= 0).sum(axis=1)
    for k in range(many.shape[1]):
        next_one = few[row, np.minimum(found, few.shape[1] - 1)]
        found += (found < sizes) & (many[:, k] == next_one)
    return np.asarray(found == sizes)


def _pivoted(counts: PhraseCounts, how: RewriteLimits) -> tuple[Ragged, Floats, _Paths]:
    """Return the phrases of one language, N(e), and the paths from each there and back."""
    e, phrases = distinct(Ragged(counts.source_ids, counts.source_offsets))
    f, _ = distinct(Ragged(counts.pivot_ids, counts.pivot_offsets))
    times = counts.counts.astype(np.float64)
    N, M = _totals(e, times), _totals(f, times)
    there, back = times / N[e], times / M[f]
    backward = np.flatnonzero(back >= how.backward)
    backward = backward[np.argsort(f[backward], kind="stable")]
    first = starts(np.bincount(f[backward], minlength=len(M)))
    parts = [
        _summed(e[rows][steps], e[backward[ends]], there[rows][steps] * back[backward[ends]])
        for rows, steps, ends in _joins(e, f, np.flatnonzero(there >= how.forward), first)
    ]
    return phrases, N, _Paths(*map(np.concatenate, zip(*parts, strict=True)))


def _joins(e: Ints, f: Ints, forward: Ints, first: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield pairs (e, f) in batches of whole phrases e; for each way on, its pair and way back."""
    order = forward[np.argsort(e[forward], kind="stable")]
    ways = first[f[order] + 1] - first[f[order]]
    new = np.flatnonzero(np.diff(e[order], prepend=-1))
    before = np.concatenate(([0], np.cumsum(ways)))
    batches = np.flatnonzero(np.diff(before[new] // _ROWS, prepend=-1))
    bounds = [*new[batches].tolist(), len(order)]
    for begin, end in pairwise(bounds):
        rows, n = order[begin:end], ways[begin:end]
        steps = np.repeat(np.arange(len(rows)), n)
        within = np.arange(len(steps)) - np.repeat(before[begin:end] - before[begin], n)
        yield rows, steps, first[f[rows]][steps] + within


def _summed(source: Ints, target: Ints, p: Floats) -> _Paths:
    """Add up equal pairs, and sort them."""
    order = np.lexsort((target, source))
    source, target, p = source[order], target[order], p[order]
    new = np.ones(len(p), dtype=np.bool_)
    new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    at = np.flatnonzero(new)
    return _Paths(source[at], target[at], np.add.reduceat(p, at) if len(at) else p)


def _mean(languages: Sequence[_Paths]) -> _Paths:
    """Return the mean over the languages that have a phrase: those that lead back to it."""
    joined = _summed(*map(np.concatenate, zip(*languages, strict=True)))
    back = np.concatenate([one.source[one.source == one.target] for one in languages])
    times = np.bincount(back, minlength=int(joined.source.max(initial=0)) + 1)
    mean = joined.p / np.maximum(times[joined.source], 1)
    return joined._replace(p=np.minimum(mean, 1.0))  # a rounded sum may be more


def _best(paths: _Paths, phrases: Ragged, how: RewriteLimits) -> _Paths:
    """Return the most probable rewrites of each phrase."""
    width = int(max(paths.source.max(initial=0), paths.target.max(initial=0))) + 1
    keys, wanted = paths.source * width + paths.target, paths.target * width + paths.source
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)  # the way back: paths are sorted
    back = np.where(keys[at] == wanted, paths.p[at], 0.0)
    probable = _rows_of(paths, (paths.p >= how.rewrite) & (back >= how.rewrite))
    within = _within(phrases, probable.source, probable.target)
    around = _within(phrases, probable.target, probable.source)
    source, target, p = good = _rows_of(probable, ~(within | around))
    order = np.lexsort((target, -p, source))
    source = source[order]
    first = np.searchsorted(source, source)
    return _rows_of(good, order[np.arange(len(order)) - first < how.most])


def _rows_of(paths: _Paths, rows: NDArray[Any]) -> _Paths:
    return _Paths(*(column[rows] for column in paths))


def _within(phrases: Ragged, a: Ints, b: Ints) -> Flags:
    """Return whether phrase a stands in phrase b, or is it."""
    longest = int(phrases.lengths.max(initial=1))
    words = padded(phrases, 2 * longest)
    mine, found = words[a, :longest], np.zeros(len(a), dtype=np.bool_)
    for shift in range(longest):
        same = mine == words[b, shift : shift + longest]
        found |= (same | (mine < 0)).all(axis=1)
    return found


def _rows(phrases: Ragged, numbers: Ints) -> Ragged:
    """Return some phrases, in the order of their numbers."""
    lengths = phrases.lengths[numbers]
    offsets = starts(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Ragged(phrases.ids[np.repeat(phrases.offsets[numbers], lengths) + within], offsets)


def _totals(numbers: Ints, values: Floats) -> Floats:
    """Return the sum of the values of each number."""
    return np.asarray(np.bincount(numbers, values), dtype=np.float64)
