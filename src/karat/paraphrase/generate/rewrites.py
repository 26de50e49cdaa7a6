"""Rewrites: phrases that can replace each other because they have the same translations.

After Bannard & Callison-Burch (2005), from a phrase e to its translations f and back:

    Pr(e'|e) = sum_f Pr(f|e) Pr(e'|f)        the mean over the pivot languages that have e
    s(e, e') = sqrt(Pr(e'|e) Pr(e|e'))       stored as the probability of the rewrite

The result is a phrase table from a language to itself. A rewrite must be probable in both
directions: otherwise frequent words, which are often linked by mistake, would be rewrites of every
word. With several languages, at least two pivot phrases must lead to it, since one may be a wrong
link. A phrase that only adds or drops words at the ends is not a rewrite: whether unlinked words
are part of a phrase is arbitrary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.facts.comparing import fact_changes
from karat.facts.numbers import STRONG, WEAK, Number
from karat.facts.texts import text_facts
from karat.paraphrase.table import phrase_table
from karat.paraphrase.table.phrase_table import (
    PhraseCounts,
    PhrasePairs,
    PhraseTable,
    pad_phrases,
    to_offsets,
)
from karat.paraphrase.table.training import (
    PhraseRows,
    PhraseTableFiles,
    SortedPhrases,
    split_between_phrases,
)
from karat.progress import silent
from karat.storage.arrays import ArrayFile, as_memory, forget_pages
from karat.text.tokens import Ragged, Recipe, Vocab

_MAX_JOINED_PATHS = 1 << 22  # paths through a pivot phrase in memory at a time


@dataclass(frozen=True)
class RewriteLimits:
    """Limits that exclude the noise of rare links and keep the table small."""

    forward: float = 0.005  # Pr(f|e) must be at least this
    backward: float = 0.002  # Pr(e'|f) must be at least this
    rewrite: float = 0.005  # Pr(e'|e) and Pr(e|e') must be at least this
    most: int = 20  # maximal number of rewrites of a phrase
    min_ways: int = 2
    """Pivot phrases of all languages that must lead to a rewrite; 1 with a single language."""
    discount: float = 0.5  # subtracted from each count: a pair seen once may be chance


class PivotPhrases(NamedTuple):
    """The phrase pairs of one pivot language, and the vocabulary of their source side."""

    counts: PhraseCounts
    vocab: Vocab


class Paths(NamedTuple):
    """Paths from phrase to phrase: the sum of their probabilities, and their number."""

    source: Ints
    target: Ints
    p: Floats
    n_ways: Ints

    def select(self, rows: Any) -> Paths:
        """Return the paths of a slice, a mask or indices."""
        return Paths(*(column[rows] for column in self))


def join_paths(
    e: Ints, f: Ints, forward: Ints, first: Ints, max_paths: int = _MAX_JOINED_PATHS
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield pairs (e, f) in batches of whole phrases e; for each path its pair and its way back.

    A batch has about `max_paths` paths. Each needs about 110 bytes while they are summed.
    """
    order = forward[np.argsort(e[forward], kind="stable")]
    n_ways = first[f[order] + 1] - first[f[order]]
    new = np.flatnonzero(np.diff(e[order], prepend=-1))
    before = np.concatenate(([0], np.cumsum(n_ways)))
    batches = np.flatnonzero(np.diff(before[new] // min(max_paths, _MAX_JOINED_PATHS), prepend=-1))
    bounds = [*new[batches].tolist(), len(order)]
    for begin, end in pairwise(bounds):
        rows, n = order[begin:end], n_ways[begin:end]
        steps = np.repeat(np.arange(len(rows)), n)
        within = np.arange(len(steps)) - np.repeat(before[begin:end] - before[begin], n)
        yield rows, steps, first[f[rows]][steps] + within


def add_equal_paths(paths: Paths) -> Paths:
    """Return sorted paths, with equal ones summed."""
    source, target, p, n_ways = paths.select(np.lexsort((paths.target, paths.source)))
    new = np.ones(len(p), dtype=np.bool_)
    new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    at = np.flatnonzero(new)
    if not len(at):
        return Paths(source, target, p, n_ways)
    return Paths(source[at], target[at], np.add.reduceat(p, at), np.add.reduceat(n_ways, at))


def mean_over_languages(languages: Sequence[Paths]) -> Paths:
    """Return the mean over the languages that have a phrase, and so a path back to it."""
    joined = add_equal_paths(Paths(*map(np.concatenate, zip(*languages, strict=True))))
    back = np.concatenate([paths.source[paths.source == paths.target] for paths in languages])
    back.sort()
    ends = (np.searchsorted(back, joined.source, side) for side in ("right", "left"))
    n_languages = np.subtract(*ends)
    # Rounding may have made a probability larger than 1.
    return joined._replace(p=np.minimum(joined.p / np.maximum(n_languages, 1), 1.0))


def select_most_probable(paths: Paths, max_paths: int) -> Paths:
    """Return the most probable paths from each phrase, sorted by phrase and probability."""
    order = np.lexsort((paths.target, -paths.p, paths.source))
    source = paths.source[order]
    first = np.searchsorted(source, source)
    return paths.select(order[np.arange(len(order)) - first < max_paths])


def is_phrase_within(a: NDArray[np.int32], b: NDArray[np.int32]) -> Flags:
    """Return for each row of `a` whether the row of `b` contains it; rows are padded with -1."""
    longest = a.shape[1]
    around = np.pad(b, ((0, 0), (0, longest)), constant_values=-1)
    is_within = np.zeros(len(a), dtype=np.bool_)
    for shift in range(longest):
        is_equal = a == around[:, shift : shift + longest]
        is_within |= (is_equal | (a < 0)).all(axis=1)
    return is_within


_PURPOSE = "rewrites of phrases are found there"
_ROWS_PER_PIECE = 1 << 20  # phrase pairs or paths processed together


def rewrite_pairs(
    languages: Sequence[PivotPhrases], vocab: Vocab, limits: RewriteLimits, max_pairs: int
) -> PhrasePairs | None:
    """Return the rewrites as ids of a vocabulary, to which words are added; None without any.

    About `max_pairs` phrase pairs or paths are in memory at a time.
    """
    longest = max(_longest_phrase(language) for language in languages)
    numbered = [
        _NumberedLanguage(language, vocab, longest, limits, max_pairs) for language in languages
    ]
    rows, numbers = _number_all_phrases([language.files for language in numbered], longest)
    counts = np.zeros(len(rows))
    for language, language_numbers in zip(numbered, numbers, strict=True):
        counts[language_numbers] += language.files.phrase_counts.read()
    paths = [
        _store_paths(language.paths(language_numbers))
        for language, language_numbers in zip(numbered, numbers, strict=True)
    ]
    probable = _store_paths(_probable_paths(paths, rows, limits))
    best = _mutual_paths(probable, len(rows), limits)
    if not len(best.p):
        return None
    phrases = [rows[side] for side in (best.source, best.target)]
    source, target = (Ragged(p[p >= 0], to_offsets((p >= 0).sum(axis=1))) for p in phrases)
    return PhrasePairs(source, target, best.p, counts[best.source])


def _longest_phrase(language: PivotPhrases) -> int:
    """Return the number of words of the longest phrase."""
    longest = 1
    for offsets in (language.counts.source_offsets, language.counts.pivot_offsets):
        for start in range(0, len(offsets), _ROWS_PER_PIECE):
            lengths = np.diff(offsets[start : start + _ROWS_PER_PIECE + 1])
            longest = max(longest, int(lengths.max(initial=1)))
        forget_pages([offsets])
    return longest


def _sorted_rows(
    language: PivotPhrases, words: NDArray[np.int32], longest: int
) -> Iterator[PhraseRows]:
    """Yield sorted pieces of the pairs of a language; `words` maps to the common vocabulary."""
    counts = language.counts
    first = counts.source_ids, counts.source_offsets
    second = counts.pivot_ids, counts.pivot_offsets
    for start in range(0, len(counts), _ROWS_PER_PIECE):
        stop = min(start + _ROWS_PER_PIECE, len(counts))
        sides: list[Ragged] = []
        for ids, offsets in (first, second):
            cut = offsets[start : stop + 1]
            side_ids = ids[cut[0] : cut[-1]]
            sides.append(Ragged(words[side_ids] if not sides else side_ids, cut - cut[0]))
        rows = np.concatenate([pad_phrases(side, longest) for side in sides], axis=1)
        order = np.lexsort(rows.T[::-1])
        yield PhraseRows(rows[order], counts.counts[start:stop][order])
        forget_pages([*first, *second, counts.counts])


class _NumberedLanguage:
    """The phrases e and f of a pivot language, numbered, in files."""

    def __init__(
        self,
        language: PivotPhrases,
        vocab: Vocab,
        longest: int,
        limits: RewriteLimits,
        max_pairs: int,
    ) -> None:
        self.limits, self.max_pairs = limits, max_pairs
        self.files = PhraseTableFiles(longest)
        phrases = SortedPhrases(longest, max_pairs)
        for rows in _sorted_rows(language, vocab.merge(language.vocab), longest):
            phrases.add(rows)
        for rows in split_between_phrases(phrases.merged(silent), longest, max_pairs):
            self.files.add(rows)
        self.files.number_pivots(silent)
        self.pivot_counts = np.zeros(len(self.files.pivots), np.int64)
        for _, f, counts, _ in self.pieces():
            _kernel.add_at(self.pivot_counts, f.astype(np.int32), counts)

    def pieces(self) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
        """Yield the pairs of some phrases: e, f, their count, and N(e)."""
        for phrase, offsets, numbers, counts in self.files.numbered_pairs():
            sizes = np.diff(offsets)
            N = self.files.phrase_counts.read(phrase, phrase + len(sizes))
            e = np.repeat(np.arange(len(sizes)), sizes)
            yield phrase + e, numbers.astype(np.int64), counts, N[e]

    def backward(self) -> tuple[Ints, NDArray[np.int64], Floats]:
        """Return the offsets of the ways back from each f, and e' and Pr(e'|f) of each way."""
        targets, shares = ArrayFile("int64", _PURPOSE), ArrayFile("float64", _PURPOSE)
        discount, threshold = self.limits.discount, self.limits.backward
        sizes = np.zeros(len(self.pivot_counts), np.int64)
        for _, f, counts, _ in self.pieces():
            good = f[(counts - discount) / self.pivot_counts[f] >= threshold]
            _kernel.add_at(sizes, good.astype(np.int32), np.ones(len(good), np.int64))
        first = to_offsets(sizes)
        bounds = np.flatnonzero(np.diff(first[:-1] // self.max_pairs, prepend=-1))
        for low, high in zip(bounds, [*bounds[1:], len(sizes)], strict=True):
            parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
            for e, f, counts, _ in self.pieces():
                share = (counts - discount) / self.pivot_counts[f]
                good = (share >= threshold) & (f >= low) & (f < high)
                parts.append((f[good], e[good], share[good]))
            pivots, back, share = map(np.concatenate, zip(*parts, strict=True))
            order = np.argsort(pivots, kind="stable")
            targets.append(back[order])
            shares.append(share[order])
        return first, targets.memory_map(), shares.memory_map()

    def paths(self, numbers: NDArray[np.int32]) -> Iterator[Paths]:
        """Yield the paths from each phrase and back; `numbers` are those of all languages.

        Pr(e'|e) = sum_f Pr(f|e) Pr(e'|f)
        """
        first, back, back_p = self.backward()
        for e, f, counts, N in self.pieces():
            forward_p = (counts - self.limits.discount) / N
            forward = np.flatnonzero(forward_p >= self.limits.forward)
            for rows, steps, ends in join_paths(e, f, forward, first, self.max_pairs):
                p = forward_p[rows][steps] * back_p[ends]
                one_way = np.ones(len(p), np.int64)
                added = add_equal_paths(Paths(e[rows][steps], back[ends], p, one_way))
                source, target = (
                    numbers[side].astype(np.int64) for side in (added.source, added.target)
                )
                yield added._replace(source=source, target=target)
                forget_pages([back, back_p])


def _store_paths(pieces: Iterable[Paths]) -> Paths:
    """Return paths in temporary files, mapped."""
    files = [ArrayFile(kind, _PURPOSE) for kind in ("int64", "int64", "float64", "int64")]
    for paths in pieces:
        for file, column in zip(files, paths, strict=True):
            file.append(column)
    return Paths(*(file.memory_map() for file in files))


def _number_all_phrases(
    languages: Sequence[PhraseTableFiles], longest: int
) -> tuple[NDArray[np.int32], list[NDArray[np.int32]]]:
    """Return the sorted phrases of all languages, and the numbers of each language's phrases."""
    rows, parts = ArrayFile("int32", _PURPOSE, longest), []
    for files in languages:
        phrase_file = ArrayFile("int32", _PURPOSE, longest)
        for phrases in files.phrase_pieces():
            phrase_file.append(pad_phrases(phrases, longest))
        parts.append(phrase_file.memory_map())
    numbers = [np.empty(len(part), np.int32) for part in parts]
    union, at = _kernel.SortedUnion(parts, longest), [0] * len(parts)
    while not union.done:
        n_before = len(rows)
        union_rows, new_numbers = union.next(_ROWS_PER_PIECE)
        rows.append(union_rows)
        for k, new in enumerate(new_numbers):
            numbers[k][at[k] : at[k] + len(new)] = new + np.int32(n_before)
            at[k] += len(new)
        forget_pages(parts)
    return rows.memory_map(), numbers


def _probable_paths(
    languages: Sequence[Paths], phrases: NDArray[np.int32], limits: RewriteLimits
) -> Iterator[Paths]:
    """Yield probable paths between phrases neither of which contains the other."""
    for same_sources in _group_by_source(languages):
        joined = mean_over_languages(same_sources)
        supported = joined.n_ways >= min(limits.min_ways, len(languages))
        probable = joined.select(supported & (joined.p >= limits.rewrite))
        a, b = (phrases[side] for side in (probable.source, probable.target))
        yield probable.select(~(is_phrase_within(a, b) | is_phrase_within(b, a)))
        forget_pages([phrases, *(column for language in languages for column in language)])


def _group_by_source(languages: Sequence[Paths]) -> Iterator[list[Paths]]:
    """Yield the paths of all languages from the same phrases."""
    at = [0] * len(languages)
    while unfinished := [k for k, paths in enumerate(languages) if at[k] < len(paths.p)]:
        low = min(int(languages[k].source[at[k]]) for k in unfinished)
        lasts = [min(at[k] + _ROWS_PER_PIECE, len(languages[k].p)) - 1 for k in unfinished]
        end = max(
            low + 1,
            min(
                int(languages[k].source[last]) + (last + 1 == len(languages[k].p))
                for k, last in zip(unfinished, lasts, strict=True)
            ),
        )
        ends = [int(np.searchsorted(paths.source, end)) for paths in languages]
        cuts = zip(languages, at, ends, strict=True)
        yield [paths.select(slice(a, b)) for paths, a, b in cuts]
        at = ends


def _mutual_paths(paths: Paths, n_phrases: int, limits: RewriteLimits) -> Paths:
    """Return the most probable of the paths that are probable in both directions.

    s(e, e') = sqrt(Pr(e'|e) Pr(e|e'))
    """
    width, selected = n_phrases + 1, [paths.select(slice(0, 0))]
    start, keys = 0, ArrayFile("int64", _PURPOSE)
    for at in range(0, len(paths.p), _ROWS_PER_PIECE):
        keys.append(
            paths.source[at : at + _ROWS_PER_PIECE] * width
            + paths.target[at : at + _ROWS_PER_PIECE]
        )
    sorted_keys = keys.memory_map()
    while start < len(paths.p):
        last = min(start + _ROWS_PER_PIECE, len(paths.p)) - 1
        stop = int(np.searchsorted(paths.source, int(paths.source[last]), side="right"))
        piece = paths.select(slice(start, stop))
        reverse_keys = piece.target * width + piece.source
        reverse_index = np.minimum(np.searchsorted(sorted_keys, reverse_keys), len(sorted_keys) - 1)
        has_reverse = sorted_keys[reverse_index] == reverse_keys
        mutual = piece.select(has_reverse)
        mutual = mutual._replace(p=np.sqrt(mutual.p * paths.p[reverse_index[has_reverse]]))
        selected.append(select_most_probable(mutual, limits.most))
        forget_pages([sorted_keys, *paths])
        start = stop
    return Paths(*map(np.concatenate, zip(*selected, strict=True)))


ARTICLES = ("a", "an")
"""Articles chosen by the next word, with the language model."""
_PRONOUNS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""Personal pronouns: a rewrite that changes one refers to someone else."""


_MAX_REWRITE_WORDS = 16  # maximal length of a phrase that is rewritten
_BYTES_OF_PAIR = 512  # memory for each pair while its paths are computed


def rewrite_table(
    pivot_phrases: Sequence[PivotPhrases],
    recipe: Recipe,
    limits: RewriteLimits | None = None,
    *,
    memory: int | None = None,
) -> PhraseTable:
    """Return the table of rewrites from the phrase pairs of pivot languages.

    `recipe` is the recipe of the phrases. Beyond `memory` bytes (default: a quarter of the memory
    of this machine) temporary files are used; the table is the same.
    """
    rewrite_limits, vocab = limits or RewriteLimits(), Vocab()
    max_pairs = max(as_memory(memory) // _BYTES_OF_PAIR, 1)
    pairs = rewrite_pairs(pivot_phrases, vocab, rewrite_limits, max_pairs)
    if pairs is None:
        condition = (
            "translated alike" if len(pivot_phrases) == 1 else "translated alike in two ways"
        )
        raise InputError(
            f"no phrase has a rewrite: no two phrases of the text are {condition}; train on more "
            "text, or with --no-generate to score only"
        )
    description = {
        "source": phrase_table.describe_recipe(recipe),
        "pivot": phrase_table.describe_recipe(recipe),
    }
    return PhraseTable.from_pairs(pairs, vocab, vocab, description)


def find_trusted(table: PhraseTable, names: Collection[str] = (), lang: str = "en") -> Flags:
    """Return which rewrites of a table are safe to use.

    They keep the digits, punctuation, names, personal pronouns and negations of their phrase, and
    do not merely add or drop words. Whether a rewrite keeps the facts of its sentence is checked
    there (`keeps_facts`).
    """
    arrays = table.arrays
    vocab = Vocab()  # words of rewrites come first, then those of phrases
    ids = vocab.add(phrase_table.all_words(table.source))
    words = [*phrase_table.all_words(table.pivot), *vocab.words(0, len(vocab))]
    old = Ragged(table.maps(vocab).pivot[ids][arrays["phrase_ids"]], arrays["phrase_offsets"])
    new = Ragged(arrays["pivot_phrase_ids"], arrays["pivot_phrase_offsets"])
    phrases, pivots = table.phrase_of_edges(), arrays["edge_pivots"].astype(np.int64)
    is_trusted: Flags = (old.lengths[phrases] <= _MAX_REWRITE_WORDS) & (
        new.lengths[pivots] <= _MAX_REWRITE_WORDS
    )
    sides = (_select_phrases(old, phrases[is_trusted]), _select_phrases(new, pivots[is_trusted]))
    a, b = (pad_phrases(rows, _MAX_REWRITE_WORDS) for rows in sides)
    fixed = _number_fixed_words(words, names, lang)
    left, right = (
        np.take_along_axis(rows, np.argsort(rows < 0, axis=1, kind="stable"), axis=1)
        for rows in (fixed[a], fixed[b])  # numbers first, then -1
    )
    keeps_fixed = (left == right).all(axis=1)
    is_trusted[is_trusted] = keeps_fixed & ~(_is_subsequence(a, b) | _is_subsequence(b, a))
    return is_trusted


def _number_fixed_words(
    words: Sequence[str], names: Collection[str], lang: str
) -> NDArray[np.int32]:
    """Number the words that a rewrite must keep; -1 for others and, in the last entry, for padding.

    Pronouns are kept because languages distinguish them differently (`son` is his and her); `he'll`
    counts as `he`. Negations that are not contracted count as one word: `not ever` is `never`.
    """
    number_by_word: dict[str, int] = {}
    numbers = []
    for word in (word.lower().replace("’", "'") for word in words):
        bare, fixed = word.partition("'")[0] or word, None
        is_negation = any(x.strength == STRONG for x in text_facts(word, lang).negations)
        if is_negation and "'" not in word:
            fixed = "not"
        elif bare in PRONOUNS or not any(map(str.isalpha, bare)):
            fixed = bare
        elif word in names or is_negation:
            fixed = word
        number = number_by_word.setdefault(fixed, len(number_by_word)) if fixed is not None else -1
        numbers.append(number)
    return np.array([*numbers, -1], dtype=np.int32)


def keeps_facts(text: str, original: str, lang: str = "en") -> bool:
    """Return whether a wording keeps the numbers, negations and names of its original.

    The rules are those of `karat.facts`. They let words such as `once`, `January` and `hardly`
    stand for other facts, and a number without a unit agree with one that has a unit. A wording
    must not exchange such numbers, nor change what is measured, nor the number of negations.
    """
    if fact_changes(text, [original], lang):
        return False
    written, expected = text_facts(text, lang), text_facts(original, lang)
    added = any(not expected.has_number(number) for number in written.numbers)
    missing = any(not written.has_number(number) for number in expected.numbers)
    return (
        not (added and missing)
        and all(_is_measured(number, expected.numbers) for number in written.numbers)
        and all(_is_measured(number, written.numbers) for number in expected.numbers)
        and len(written.negations) == len(expected.negations)
    )


def _is_measured(number: Number, numbers: Sequence[Number]) -> bool:
    """Return whether one of some numbers measures the same as a number: time, length, money.

    Weak numbers have no units: `half an hour` is thirty minutes.
    """
    return number.unit is None or any(
        candidate.unit.dimension == number.unit.dimension
        if candidate.unit is not None
        else candidate.strength == WEAK and not set(number.values).isdisjoint(candidate.values)
        for candidate in numbers
    )


def _is_subsequence(short_rows: NDArray[np.int32], long_rows: NDArray[np.int32]) -> Flags:
    """Return whether the words of a short row are a subsequence of the long row."""
    row, n_matched = np.arange(len(short_rows)), np.zeros(len(short_rows), dtype=np.int64)
    sizes = (short_rows >= 0).sum(axis=1)
    for k in range(long_rows.shape[1]):
        next_word = short_rows[row, np.minimum(n_matched, short_rows.shape[1] - 1)]
        n_matched += (n_matched < sizes) & (long_rows[:, k] == next_word)
    return np.asarray(n_matched == sizes)


def _select_phrases(phrases: Ragged, numbers: Ints) -> Ragged:
    """Return some phrases, in the order of their numbers."""
    lengths = phrases.lengths[numbers]
    offsets = to_offsets(lengths)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Ragged(phrases.ids[np.repeat(phrases.offsets[numbers], lengths) + within], offsets)
