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

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.paraphrase.table import phrase_table
from karat.paraphrase.table.phrase_pairs import PhraseCounts, PhraseRows, SortedPhrases
from karat.paraphrase.table.phrase_table import PhrasePairs, PhraseTable, distinct, padded, starts
from karat.paraphrase.table.training import PhraseTableFiles, whole_phrases
from karat.progress import silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Ragged, Recipe, Vocab

_MAX_JOINED_PATHS = 1 << 22  # of paths through a pivot that are held in memory at a time, at most


@dataclass(frozen=True)
class RewriteLimits:
    """Limits that keep the noise of rare links out, and the table small."""

    forward: float = 0.005
    """Pr(f|e) must be at least this."""
    backward: float = 0.002
    """Pr(e'|f) must be at least this."""
    rewrite: float = 0.005
    """Pr(e'|e) and Pr(e|e') must be at least this."""
    most: int = 20
    """The rewrites of a phrase, at most."""
    ways: int = 2
    """Pivot phrases of all languages that must lead to a rewrite; one is enough of one language."""
    discount: float = 0.5
    """Share of one that is taken from each count: what was seen once may be chance."""

    def fewest_ways(self, languages: int) -> int:
        """Return the number of pivot phrases that must lead to a rewrite."""
        return min(self.ways, languages)


class PivotPhrases(NamedTuple):
    """The phrase pairs of one pivot language, and the words of their first side."""

    counts: PhraseCounts
    vocab: Vocab


class Paths(NamedTuple):
    """From phrase to phrase, with the sum over all ways to go."""

    source: Ints
    target: Ints
    p: Floats
    ways: Ints

    def some(self, rows: Any) -> Paths:
        """Return some of the paths: a slice, a mask, or numbers."""
        return Paths(*(column[rows] for column in self))


def joins(
    e: Ints, f: Ints, forward: Ints, first: Ints, most: int = _MAX_JOINED_PATHS
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield pairs (e, f) in batches of whole phrases e; for each way on, its pair and way back.

    A batch has about `most` ways on. They take some 110 bytes each while they are added up.
    """
    order = forward[np.argsort(e[forward], kind="stable")]
    ways = first[f[order] + 1] - first[f[order]]
    new = np.flatnonzero(np.diff(e[order], prepend=-1))
    before = np.concatenate(([0], np.cumsum(ways)))
    batches = np.flatnonzero(np.diff(before[new] // min(most, _MAX_JOINED_PATHS), prepend=-1))
    bounds = [*new[batches].tolist(), len(order)]
    for begin, end in pairwise(bounds):
        rows, n = order[begin:end], ways[begin:end]
        steps = np.repeat(np.arange(len(rows)), n)
        within = np.arange(len(steps)) - np.repeat(before[begin:end] - before[begin], n)
        yield rows, steps, first[f[rows]][steps] + within


def add_up(paths: Paths) -> Paths:
    """Add up equal pairs, and sort them."""
    source, target, p, ways = paths.some(np.lexsort((paths.target, paths.source)))
    new = np.ones(len(p), dtype=np.bool_)
    new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    at = np.flatnonzero(new)
    if not len(at):
        return Paths(source, target, p, ways)
    return Paths(source[at], target[at], np.add.reduceat(p, at), np.add.reduceat(ways, at))


def single_ways(source: Ints, target: Ints, p: Floats) -> Paths:
    """Return paths of one way each."""
    return Paths(source, target, p, np.ones(len(p), np.int64))


def mean(languages: Sequence[Paths]) -> Paths:
    """Return the mean over the languages that have a phrase: those that lead back to it."""
    joined = add_up(Paths(*map(np.concatenate, zip(*languages, strict=True))))
    back = np.concatenate([one.source[one.source == one.target] for one in languages])
    back.sort()
    times = np.searchsorted(back, joined.source, "right") - np.searchsorted(back, joined.source)
    return joined._replace(p=np.minimum(joined.p / np.maximum(times, 1), 1.0))  # rounded: may be >1


def both_ways(paths: Paths, back: Floats) -> Paths:
    """Return paths with the geometric mean of Pr(e'|e) and Pr(e|e'), given as `back`."""
    return paths._replace(p=np.sqrt(paths.p * back))


def most_probable(paths: Paths, most: int) -> Paths:
    """Return the most probable paths from each phrase, in order; they come sorted by it."""
    order = np.lexsort((paths.target, -paths.p, paths.source))
    source = paths.source[order]
    first = np.searchsorted(source, source)
    return paths.some(order[np.arange(len(order)) - first < most])


def within(a: NDArray[np.int32], b: NDArray[np.int32]) -> Flags:
    """Return for rows of words, filled up with -1, whether one stands in the other, or is it."""
    longest = a.shape[1]
    around = np.pad(b, ((0, 0), (0, longest)), constant_values=-1)
    found = np.zeros(len(a), dtype=np.bool_)
    for shift in range(longest):
        same = a == around[:, shift : shift + longest]
        found |= (same | (a < 0)).all(axis=1)
    return found


_PURPOSE = "rewrites of phrases are found there"
_COLUMNS = ("int64", "int64", "float64", "int64")  # of paths
_ROWS_PER_PIECE = 1 << 20  # of phrase pairs or paths that are looked at together


def rewrite_pairs(
    languages: Sequence[PivotPhrases], vocab: Vocab, how: RewriteLimits, most: int
) -> PhrasePairs | None:
    """Return the rewrites as ids of a vocabulary, which grows; None if there are none.

    About `most` phrase pairs, or paths, are in memory at a time.
    """
    longest = max(_longest(one) for one in languages)
    with ExitStack() as stack:
        sorted_ones = [_Language(stack, one, vocab, longest, how, most) for one in languages]
        union = _Phrases(stack, sorted_ones, longest)
        paths = [one.paths(stack, numbers) for one, numbers in union.numbered()]
        good = _good_paths(stack, paths, union, how)
        kept = _best_paths(good, len(union.rows), how)
        if not len(kept.p):
            return None
        source, target = (union.phrases(side) for side in (kept.source, kept.target))
        return PhrasePairs(source, target, kept.p, union.counts[kept.source])


def _longest(one: PivotPhrases) -> int:
    """Return the number of words of the longest phrase."""
    longest = 1
    for offsets in (one.counts.source_offsets, one.counts.pivot_offsets):
        for start in range(0, len(offsets), _ROWS_PER_PIECE):
            longest = max(
                longest, int(np.diff(offsets[start : start + _ROWS_PER_PIECE + 1]).max(initial=1))
            )
        forget_pages([offsets])
    return longest


def _sorted_rows(one: PivotPhrases, words: NDArray[np.int32], longest: int) -> Iterator[PhraseRows]:
    """Yield the pairs of a language as words of all languages, sorted piece by piece."""
    counts = one.counts
    first = counts.source_ids, counts.source_offsets
    second = counts.pivot_ids, counts.pivot_offsets
    for start in range(0, len(counts), _ROWS_PER_PIECE):
        stop = min(start + _ROWS_PER_PIECE, len(counts))
        sides: list[Ragged] = []
        for ids, offsets in (first, second):
            cut = offsets[start : stop + 1]
            some = ids[cut[0] : cut[-1]]
            sides.append(Ragged(words[some] if not sides else some, cut - cut[0]))
        rows = np.concatenate([padded(side, longest) for side in sides], axis=1)
        order = np.lexsort(rows.T[::-1])
        yield PhraseRows(rows[order], counts.counts[start:stop][order])
        forget_pages([*first, *second, counts.counts])


class _Language:
    """The phrases e and f of a language, numbered, in files."""

    def __init__(
        self,
        stack: ExitStack,
        one: PivotPhrases,
        vocab: Vocab,
        longest: int,
        how: RewriteLimits,
        most: int,
    ) -> None:
        self.how, self.most = how, most
        self.files = PhraseTableFiles(stack, longest)
        held = SortedPhrases(longest, most)
        stack.callback(held.close)
        for rows in _sorted_rows(one, vocab.merge(one.vocab), longest):
            held.add(rows)
        for rows in whole_phrases(held.merged(silent), longest, most):
            self.files.add(rows)
        held.close()
        self.files.number_pivots(silent)
        self.M = np.zeros(len(self.files.pivot_offsets) - 1, np.int64)
        for _, f, seen, _ in self.pieces():
            _kernel.add_at(self.M, f.astype(np.int32), seen)

    def counts(self) -> Floats:
        """Return N(e) of all phrases."""
        found: Floats = self.files.phrase_counts.read()
        return found

    def pieces(self) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
        """Yield the pairs of some phrases: e, f, how often they were seen, and N(e)."""
        for phrase, offsets, numbers, seen in self.files.numbered_pairs():
            sizes = np.diff(offsets)
            N = self.files.phrase_counts.read(phrase, phrase + len(sizes))
            e = np.repeat(np.arange(len(sizes)), sizes)
            yield phrase + e, numbers.astype(np.int64), seen, N[e]

    def backward(self, stack: ExitStack) -> tuple[Ints, ArrayFile, ArrayFile]:
        """Return for each f where its ways back begin; in files e' and Pr(e'|f) of each."""
        targets, shares = ArrayFile("int64", _PURPOSE), ArrayFile("float64", _PURPOSE)
        for file in (targets, shares):
            stack.callback(file.close)
        sizes = np.zeros(len(self.M), np.int64)
        for _, f, seen, _ in self.pieces():
            good = f[(seen - self.how.discount) / self.M[f] >= self.how.backward]
            _kernel.add_at(sizes, good.astype(np.int32), np.ones(len(good), np.int64))
        first = starts(sizes)
        bounds = np.flatnonzero(np.diff(first[:-1] // self.most, prepend=-1))
        for low, high in zip(bounds, [*bounds[1:], len(sizes)], strict=True):
            parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
            for e, f, seen, _ in self.pieces():
                share = (seen - self.how.discount) / self.M[f]
                good = (share >= self.how.backward) & (f >= low) & (f < high)
                parts.append((f[good], e[good], share[good]))
            these, back, share = map(np.concatenate, zip(*parts, strict=True))
            order = np.argsort(these, kind="stable")
            targets.append(back[order])
            shares.append(share[order])
        return first, targets, shares

    def paths(self, stack: ExitStack, numbers: NDArray[np.int32]) -> Paths:
        """Return the paths from each phrase and back, mapped, as numbers of all languages."""
        with ExitStack() as own:
            first, targets, shares = self.backward(own)
            back, share = targets.mapped(), shares.mapped()
        files = [ArrayFile(kind, _PURPOSE) for kind in _COLUMNS]
        for file in files:
            stack.callback(file.close)
        for e, f, seen, N in self.pieces():
            there = (seen - self.how.discount) / N
            forward = np.flatnonzero(there >= self.how.forward)
            for rows, steps, ends in joins(e, f, forward, first, self.most):
                p = there[rows][steps] * share[ends]
                found = add_up(single_ways(e[rows][steps], back[ends], p))
                ends_of = [numbers[side] for side in (found.source, found.target)]
                for file, column in zip(files[:2], ends_of, strict=True):
                    file.append(column)
                files[2].append(found.p)
                files[3].append(found.ways)
                forget_pages([back, share])
        return Paths(*(file.mapped() for file in files))


class _Phrases:
    """The phrases of all languages, numbered together."""

    def __init__(self, stack: ExitStack, languages: Sequence[_Language], longest: int) -> None:
        self._languages = languages
        rows, numbers = ArrayFile("int32", _PURPOSE, longest), []
        parts = []
        for one in languages:
            mine = ArrayFile("int32", _PURPOSE, longest)
            stack.callback(mine.close)
            for piece in one.files.phrase_rows():
                mine.append(piece)
            parts.append(mine.mapped())
            numbers.append(np.empty(len(mine), np.int32))
        stack.callback(rows.close)
        union, at = _kernel.SortedUnion(parts, longest), [0] * len(parts)
        while not union.done:
            held = len(rows)
            found, some = union.next(_ROWS_PER_PIECE)
            rows.append(found)
            for k, new in enumerate(some):
                numbers[k][at[k] : at[k] + len(new)] = new + np.int32(held)
                at[k] += len(new)
            forget_pages(parts)
        self.rows, self._numbers = rows.mapped(), numbers
        self.counts = np.zeros(len(self.rows))
        for one, own in self.numbered():
            self.counts[own] += one.counts()

    def numbered(self) -> Iterator[tuple[_Language, NDArray[np.int32]]]:
        """Yield each language with the numbers of its phrases."""
        yield from zip(self._languages, self._numbers, strict=True)

    def phrases(self, numbers: Ints) -> Ragged:
        """Return some phrases."""
        rows = self.rows[numbers]
        return Ragged(rows[rows >= 0], starts((rows >= 0).sum(axis=1)))


def _good_paths(
    stack: ExitStack, languages: Sequence[Paths], all_phrases: _Phrases, how: RewriteLimits
) -> Paths:
    """Return probable paths to phrases that do not stand in each other, mapped."""
    files = [ArrayFile(kind, _PURPOSE) for kind in _COLUMNS]
    for file in files:
        stack.callback(file.close)
    for some in _together(languages):
        joined = mean(some)
        supported = joined.ways >= how.fewest_ways(len(languages))
        probable = joined.some(supported & (joined.p >= how.rewrite))
        a, b = (all_phrases.rows[side] for side in (probable.source, probable.target))
        free = ~(within(a, b) | within(b, a))
        for file, column in zip(files, probable, strict=True):
            file.append(column[free])
        forget_pages([all_phrases.rows, *(column for one in languages for column in one)])
    return Paths(*(file.mapped() for file in files))


def _together(languages: Sequence[Paths]) -> Iterator[list[Paths]]:
    """Yield the paths of all languages from the same phrases."""
    at = [0] * len(languages)
    while left := [k for k, one in enumerate(languages) if at[k] < len(one.p)]:
        low = min(int(languages[k].source[at[k]]) for k in left)
        lasts = [min(at[k] + _ROWS_PER_PIECE, len(languages[k].p)) - 1 for k in left]
        end = max(
            low + 1,
            min(
                int(languages[k].source[last]) + (last + 1 == len(languages[k].p))
                for k, last in zip(left, lasts, strict=True)
            ),
        )
        ends = [int(np.searchsorted(one.source, end)) for one in languages]
        cuts = zip(languages, at, ends, strict=True)
        yield [one.some(slice(a, b)) for one, a, b in cuts]
        at = ends


def _best_paths(paths: Paths, phrases: int, how: RewriteLimits) -> Paths:
    """Return the most probable of the paths that are probable both ways round."""
    width, kept = phrases + 1, [paths.some(slice(0, 0))]
    start, keys = 0, ArrayFile("int64", _PURPOSE)
    for at in range(0, len(paths.p), _ROWS_PER_PIECE):
        keys.append(
            paths.source[at : at + _ROWS_PER_PIECE] * width
            + paths.target[at : at + _ROWS_PER_PIECE]
        )
    known = keys.mapped()
    keys.close()
    while start < len(paths.p):
        last = min(start + _ROWS_PER_PIECE, len(paths.p)) - 1
        stop = int(np.searchsorted(paths.source, int(paths.source[last]), side="right"))
        some = paths.some(slice(start, stop))
        wanted = some.target * width + some.source
        at_back = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        both = known[at_back] == wanted  # all that are here are probable enough
        back = paths.p[at_back[both]]
        kept.append(most_probable(both_ways(some.some(both), back), how.most))
        forget_pages([known, *paths])
        start = stop
    return Paths(*map(np.concatenate, zip(*kept, strict=True)))


ARTICLES = ("a", "an")
"""Articles between which the next word decides; the language model knows which."""
_PRONOUNS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""Personal pronouns: a rewrite that changes them speaks of somebody else."""
_NEGATIONS = """
    no not never none nobody nothing nowhere neither nor cannot without
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words that deny: a rewrite that drops or adds one says the contrary."""
CONTRACTED_NEGATIONS = ("n't",)
"""Ends of words that deny."""


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
