"""Moses phrase tables: one pair of phrases per line, plain or compressed (.gz).

    hello , ||| bonjour , ||| 0.6 0.4 0.9 0.5 ||| 0-0 1-1 ||| 15 10 9

The columns are the phrase, its translation, scores, word links, and counts. The third score is
Pr(f|e), the probability of the translation given the phrase ("direct" in Moses); the first is the
inverse probability, the second and fourth are lexical weights. The counts are those of the
translation, of the phrase (N(e)) and of both together. Without counts, every pair counts as seen
once, so N(e) is the number of translations of e; Pr(f|e) is still the score.

Written tables have the two probabilities, 1 for the lexical weights, which Karat does not have, and
no links. Numbers are written in full precision: reading the file gives the same table.
"""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from karat.arrays import np
from karat.errors import InputError, quoted
from karat.evalset.reading import parse_number as as_number
from karat.paraphrase.align.parallel_text import iterate_lines
from karat.paraphrase.table.phrase_table import PhrasePairs, PhraseTable, encode_phrases
from karat.progress import Progress, silent
from karat.storage.output import write_atomically
from karat.text.segments import Lines
from karat.text.tokens import Vocab

DIRECT = 3  # number of the score Pr(f|e), from 1

MAX_PHRASE_WORDS_READ = 100  # maximal length of a phrase

_BAR = "|||"


def read_moses(
    path: str | os.PathLike[str],
    about: Mapping[str, Any] | None = None,
    *,
    score: int = DIRECT,
    progress: Progress = silent,
) -> PhraseTable:
    """Read a table; `about` has the recipes of both sides, as for `PhraseTable.from_counts`."""
    lines = Lines(path, progress)
    lines_of: dict[tuple[str, str], int] = {}
    counts: dict[str, tuple[float | None, int]] = {}
    probabilities: list[float] = []
    for number, text in enumerate(iterate_lines(lines, progress), start=1):
        place = f"{lines.name}, line {number:,}"
        phrase, translation, probability, phrase_count = _parse_line(place, text, score)
        first = lines_of.setdefault((phrase, translation), number)
        if first != number:
            raise InputError(f"{place}: the same pair as line {first:,}; leave one of them out")
        count, before = counts.setdefault(phrase, (phrase_count, number))
        if count != phrase_count:
            count_text, first_count = (
                "no count" if n is None else f"a count of {n:g}" for n in (phrase_count, count)
            )
            raise InputError(
                f"{place}: the phrase {quoted(phrase)} has {count_text} here and {first_count} "
                f"on line {before:,}: they must be equal"
            )
        probabilities.append(probability)
    if len({count is None for count, _ in counts.values()}) > 1:
        raise InputError(
            f"{lines.name}: some phrases have counts and some have none: give all or none"
        )
    phrases = [phrase for phrase, _ in lines_of]
    N = dict.fromkeys(counts, 0.0)
    for phrase in phrases:
        N[phrase] = counts[phrase][0] or N[phrase] + 1
    source, pivot = Vocab(), Vocab()
    pairs = PhrasePairs(
        encode_phrases(phrases, source),
        encode_phrases([translation for _, translation in lines_of], pivot),
        np.asarray(probabilities, dtype=np.float64),
        np.asarray([N[phrase] for phrase in phrases], dtype=np.float64),
    )
    return PhraseTable.from_pairs(pairs, source, pivot, about)


def _parse_line(place: str, text: str, score_column: int) -> tuple[str, str, float, float | None]:
    """Return the phrase, its translation, Pr(f|e), and N(e) or None."""
    columns = [column.strip() for column in text.split(_BAR)]
    if len(columns) < 3:
        raise InputError(
            f"{place}: expected phrase ||| translation ||| scores, found {len(columns)} "
            f"column{'s' * (len(columns) > 1)}"
        )
    source, pivot = columns[0].split(), columns[1].split()
    for side, words in (("phrase", source), ("translation", pivot)):
        if not 1 <= len(words) <= MAX_PHRASE_WORDS_READ:
            raise InputError(
                f"{place}: a {side} of {len(words)} words, expected 1 to {MAX_PHRASE_WORDS_READ}"
            )
    scores = columns[2].split()
    if len(scores) < score_column:
        raise InputError(
            f"{place}: {len(scores)} scores, expected at least {score_column}: give the number of "
            f"Pr(translation|phrase) with score=…"
        )
    probability = _parse_number(
        place, scores[score_column - 1], "a probability above 0 and up to 1", 1.0
    )
    for text_of_score in scores:
        _parse_number(place, text_of_score, "a score of at least 0", math.inf, positive=False)
    counts = columns[4].split() if len(columns) > 4 else []
    if len(counts) == 1:
        raise InputError(f"{place}: one count, expected counts of translation, phrase and both")
    phrase_count = _parse_number(place, counts[1], "a count above 0", math.inf) if counts else None
    return " ".join(source), " ".join(pivot), probability, phrase_count


def _parse_number(
    place: str, text: str, expected: str, maximum: float, *, positive: bool = True
) -> float:
    value = as_number(text)
    if value is None or not 0 <= value <= maximum or (positive and value == 0):
        raise InputError(f"{place}: found {quoted(text)}, expected {expected}")
    return value


def write_moses(table: PhraseTable, path: str | os.PathLike[str]) -> None:
    """Write a table (atomic); compressed if the name ends in .gz."""
    data = "".join(_moses_lines(table)).encode()
    packed = os.fspath(path).endswith(".gz")
    write_atomically(path, gzip.compress(data, mtime=0) if packed else data)


def _moses_lines(table: PhraseTable) -> Iterator[str]:
    arrays = table.arrays
    phrases, pivots = _phrase_texts(table, "phrase"), _phrase_texts(table, "pivot_phrase")
    source = table.phrase_of_edges()
    both = arrays["edge_probabilities"] * arrays["phrase_counts"][source]
    rounded = np.rint(both)
    both = np.where(np.abs(both - rounded) < 1e-6 * rounded, rounded, both)  # integer counts
    pivot = arrays["edge_pivots"]
    pivot_counts = np.bincount(pivot, both, minlength=len(pivots))
    columns = (
        source,
        pivot,
        both / pivot_counts[pivot],
        arrays["edge_probabilities"],
        pivot_counts[pivot],
        both,
    )
    for e, f, inverse, direct, n_f, n in zip(*(c.tolist() for c in columns), strict=True):
        counts = " ".join(_format_number(x) for x in (n_f, float(arrays["phrase_counts"][e]), n))
        scores = f"{_format_number(inverse)} 1 {_format_number(direct)} 1"
        yield f"{phrases[e]} {_BAR} {pivots[f]} {_BAR} {scores} {_BAR}  {_BAR} {counts}\n"


def _phrase_texts(table: PhraseTable, name: str) -> list[str]:
    """Return all phrases of one side as text."""
    words = table.source if name == "phrase" else table.pivot
    flat = words.words(table.arrays[f"{name}_ids"])
    bad = next((word for word in flat if _BAR in word or word.split() != [word]), None)
    if bad is not None:
        raise InputError(f"{table.name}: a Moses file cannot contain the word {quoted(bad)}")
    return [" ".join(flat[a:b]) for a, b in pairwise(table.arrays[f"{name}_offsets"].tolist())]


def _format_number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
