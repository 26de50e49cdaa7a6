"""Rewrites of more phrase pairs than fit into memory: the table of `rewrite_table`, to the bit.

Each language's pairs are sorted by common words, into files. Paths from phrase to phrase are made
for some phrases at a time, and of all languages together only those that are probable are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
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
from karat.paraphrase.table.phrase_pairs import Rows, SortedPhrases
from karat.paraphrase.table.phrase_table import PhrasePairs, padded, starts
from karat.paraphrase.table.table_files import TableFiles, whole_phrases
from karat.progress import silent
from karat.storage.arrays import ArrayFile, forget_pages
from karat.text.tokens import Ragged, Vocab

_PURPOSE = "rewrites of phrases are found there"
_COLUMNS = ("int64", "int64", "float64", "int64")  # of paths
_ROWS = 1 << 20  # of phrase pairs or paths that are looked at together


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
        for start in range(0, len(offsets), _ROWS):
            longest = max(longest, int(np.diff(offsets[start : start + _ROWS + 1]).max(initial=1)))
        forget_pages([offsets])
    return longest


def _sorted_rows(one: PivotPhrases, words: NDArray[np.int32], longest: int) -> Iterator[Rows]:
    """Yield the pairs of a language as words of all languages, sorted piece by piece."""
    counts = one.counts
    first = counts.source_ids, counts.source_offsets
    second = counts.pivot_ids, counts.pivot_offsets
    for start in range(0, len(counts), _ROWS):
        stop = min(start + _ROWS, len(counts))
        sides: list[Ragged] = []
        for ids, offsets in (first, second):
            cut = offsets[start : stop + 1]
            some = ids[cut[0] : cut[-1]]
            sides.append(Ragged(words[some] if not sides else some, cut - cut[0]))
        rows = np.concatenate([padded(side, longest) for side in sides], axis=1)
        order = np.lexsort(rows.T[::-1])
        yield Rows(rows[order], counts.counts[start:stop][order])
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
        self.files = TableFiles(stack, longest)
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
            found, some = union.next(_ROWS)
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
        lasts = [min(at[k] + _ROWS, len(languages[k].p)) - 1 for k in left]
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
    for at in range(0, len(paths.p), _ROWS):
        keys.append(paths.source[at : at + _ROWS] * width + paths.target[at : at + _ROWS])
    known = keys.mapped()
    keys.close()
    while start < len(paths.p):
        last = min(start + _ROWS, len(paths.p)) - 1
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
