"""Rewrites: phrases that may stand for each other, as they are translated alike.

After Bannard & Callison-Burch (2005), who go from a phrase e to its translations f and back:

    Pr(e'|e) = sum_f Pr(f|e) Pr(e'|f)        the mean over those pivot languages that have e
    s(e, e') = sqrt(Pr(e'|e) Pr(e|e'))       stored as the probability of the rewrite

The result is a phrase table from a language to itself. A rewrite must be probable both ways round:
else every word would have frequent words beside it to which it was linked by mistake. With several
languages, at least two pivot phrases must lead to it: one may be a wrong link. A phrase that only
leaves words out at the ends, or adds some, is none: words without links stand in phrases or not, as
it happens.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.generate.english import CONTRACTED_NEGATIONS, NEGATIONS, PRONOUNS
from karat.paraphrase.generate.paths import (
    Paths,
    PivotPhrases,
    RewriteLimits,
    add_up,
    both_ways,
    joins,
    mean,
    most_probable,
    single_ways,
    within,
)
from karat.paraphrase.generate.rewrites_by_parts import rewrite_pairs
from karat.paraphrase.table import phrase_table
from karat.paraphrase.table.phrase_pairs import PhraseCounts
from karat.paraphrase.table.phrase_table import PhrasePairs, PhraseTable, distinct, padded, starts
from karat.storage.arrays import as_memory
from karat.text.tokens import Ragged, Recipe, Vocab

_WIDEST = 16  # words of a phrase that may be rewritten
_BYTES_OF_PAIR = 512  # while its paths are made


def rewrite_table(
    languages: Sequence[PivotPhrases],
    recipe: Recipe,
    limits: RewriteLimits | None = None,
    *,
    memory: int | None = None,
) -> PhraseTable:
    """Make the table of rewrites that pivot languages suggest; `recipe` cuts the words.

    Beyond `memory` bytes (default: a quarter of this machine's) they are found in temporary files;
    the table is the same.
    """
    how, vocab = limits or RewriteLimits(), Vocab()
    most = max(as_memory(memory) // _BYTES_OF_PAIR, 1)
    if sum(len(one.counts) for one in languages) > most:
        pairs = rewrite_pairs(languages, vocab, how, most)
    else:
        pairs = _rewrite_at_once(languages, vocab, how)
    if pairs is None:
        alike = "translated alike" if len(languages) == 1 else "translated alike in two ways"
        raise InputError(
            f"no phrase has a rewrite: no two phrases of the text are {alike}; train on more text, "
            "or with --no-generate to score only"
        )
    about = {"source": phrase_table.said(recipe), "pivot": phrase_table.said(recipe)}
    return PhraseTable.from_pairs(pairs, vocab, vocab, about)


def _rewrite_at_once(
    languages: Sequence[PivotPhrases], vocab: Vocab, how: RewriteLimits
) -> PhrasePairs | None:
    """Return the rewrites with all phrase pairs in memory."""
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
    joined = mean([p._replace(source=k[p.source], target=k[p.target]) for k, p in both])
    supported = joined.some(joined.ways >= how.fewest_ways(len(languages)))
    kept = _best(supported, phrases, how)
    if not len(kept.p):
        return None
    counts = _totals(number, np.concatenate(seen))
    source, target = (_rows(phrases, side) for side in (kept.source, kept.target))
    return PhrasePairs(source, target, kept.p, counts[kept.source])


def trusted(table: PhraseTable, names: Collection[str] = ()) -> Flags:
    """Return which rewrites of a table may be written.

    They keep the numbers, punctuation, names, personal pronouns and negations of their phrase, and
    do not only add or drop words.
    """
    arrays = table.arrays
    vocab = Vocab()  # words of rewrites come first, then those of phrases
    ids = vocab.add(phrase_table.every_word(table.source))
    words = [*phrase_table.every_word(table.pivot), *vocab.words(0, len(vocab))]
    old = Ragged(table.maps(vocab).own[ids][arrays["phrase_ids"]], arrays["phrase_offsets"])
    new = Ragged(arrays["pivot_phrase_ids"], arrays["pivot_phrase_offsets"])
    phrases, pivots = table.phrase_of_edges(), arrays["edge_pivots"].astype(np.int64)
    found: Flags = (old.lengths[phrases] <= _WIDEST) & (new.lengths[pivots] <= _WIDEST)
    both = (_rows(old, phrases[found]), _rows(new, pivots[found]))
    a, b = (padded(rows, _WIDEST) for rows in both)
    fixed = _fixed(words, names)
    same = (_packed(fixed[a]) == _packed(fixed[b])).all(axis=1)
    found[found] = same & ~(_among(a, b) | _among(b, a))
    return found


def _fixed(words: Sequence[str], names: Collection[str]) -> NDArray[np.int32]:
    """Number the words that a rewrite must keep; -1 for others and, at last, for no word.

    Languages differ in what their pronouns tell apart (`son` is his and her); `he'll` is `he`.
    Words that deny are one: `not ever` is `never`.
    """
    known: dict[str, int] = {}
    found = [
        -1 if kept is None else known.setdefault(kept, len(known))
        for kept in (_kept(word.lower().replace("’", "'"), names) for word in words)
    ]
    return np.array([*found, -1], dtype=np.int32)


def _kept(word: str, names: Collection[str]) -> str | None:
    """Return the word that a rewrite must keep in place of one; None if it may change it."""
    if word in NEGATIONS:
        return "not"
    bare = word.partition("'")[0] or word
    if bare in PRONOUNS or not any(map(str.isalpha, bare)):
        return bare
    return word if word in names or word.endswith(CONTRACTED_NEGATIONS) else None


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


def _pivoted(counts: PhraseCounts, how: RewriteLimits) -> tuple[Ragged, Floats, Paths]:
    """Return the phrases of one language, N(e), and the paths from each there and back."""
    e, phrases = distinct(Ragged(counts.source_ids, counts.source_offsets))
    f, _ = distinct(Ragged(counts.pivot_ids, counts.pivot_offsets))
    times = counts.counts.astype(np.float64)
    N, M = _totals(e, times), _totals(f, times)
    there, back = (times - how.discount) / N[e], (times - how.discount) / M[f]
    backward = np.flatnonzero(back >= how.backward)
    backward = backward[np.argsort(f[backward], kind="stable")]
    first = starts(np.bincount(f[backward], minlength=len(M)))
    parts = [
        add_up(
            single_ways(
                e[rows][steps], e[backward[ends]], there[rows][steps] * back[backward[ends]]
            )
        )
        for rows, steps, ends in joins(e, f, np.flatnonzero(there >= how.forward), first)
    ]
    return phrases, N, Paths(*map(np.concatenate, zip(*parts, strict=True)))


def _best(paths: Paths, phrases: Ragged, how: RewriteLimits) -> Paths:
    """Return the most probable rewrites of each phrase."""
    width = int(max(paths.source.max(initial=0), paths.target.max(initial=0))) + 1
    keys, wanted = paths.source * width + paths.target, paths.target * width + paths.source
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)  # the way back: paths are sorted
    back = np.where(keys[at] == wanted, paths.p[at], 0.0)
    good = (paths.p >= how.rewrite) & (back >= how.rewrite)
    probable = both_ways(paths.some(good), back[good])
    words = padded(phrases, int(phrases.lengths.max(initial=1)))
    a, b = words[probable.source], words[probable.target]
    return most_probable(probable.some(~(within(a, b) | within(b, a))), how.most)


def _rows(phrases: Ragged, numbers: Ints) -> Ragged:
    """Return some phrases, in the order of their numbers."""
    lengths = phrases.lengths[numbers]
    offsets = starts(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Ragged(phrases.ids[np.repeat(phrases.offsets[numbers], lengths) + within], offsets)


def _totals(numbers: Ints, values: Floats) -> Floats:
    """Return the sum of the values of each number."""
    return np.asarray(np.bincount(numbers, values), dtype=np.float64)
