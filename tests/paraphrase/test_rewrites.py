"""Rewrites by pivoting, against sums that are written out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.small_tables import Counts, phrase_counts
from sizes import examples

from karat.errors import InputError
from karat.paraphrase.generate import rewrites
from karat.paraphrase.generate.rewrites import PivotPhrases, RewriteLimits, rewrite_table
from karat.paraphrase.table import training
from karat.paraphrase.table.phrase_table import PhraseCounts, pad_phrases, to_offsets
from karat.storage import arrays
from karat.text.tokens import Ragged, Recipe, Vocab

ALL = RewriteLimits(0, 0, 1e-12, 1000, min_ways=1)
HALF = Fraction(1, 2)
Rewrites = Mapping[str, Mapping[str, float]]


def listed_rewrites(languages: Sequence[Counts], limits: RewriteLimits = ALL) -> Rewrites:
    counted = [PivotPhrases(*phrase_counts(counts)[:2]) for counts in languages]
    table = rewrite_table(counted, Recipe("none"), limits)
    listed = {}
    for i in range(len(table)):
        rows = table.translations(i)
        listed[" ".join(table.phrase(i))] = {" ".join(words): p for words, p in rows}
    return listed


def pivoted(counts: Counts) -> dict[str, dict[str, Fraction]]:
    """sum_f Pr(f|e) Pr(e'|f), as it is written; a half is taken from each count."""
    of_f: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for e, row in counts.items():
        for f, n in row.items():
            of_f[f][e] = n
    sums: defaultdict[str, defaultdict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for e, row in counts.items():
        for f, n in row.items():
            for other, m in of_f[f].items():
                forward, back = (n - HALF) / sum(row.values()), (m - HALF) / sum(of_f[f].values())
                sums[e][other] += forward * back
    return {e: dict(row) for e, row in sums.items()}


def expected(languages: Sequence[Counts]) -> Rewrites:
    pivoted_languages = [pivoted(counts) for counts in languages]
    p: defaultdict[str, dict[str, Fraction]] = defaultdict(dict)
    for e in {e for language in pivoted_languages for e in language}:
        have = [language[e] for language in pivoted_languages if e in language]
        for other in {other for row in have for other in row}:
            total = sum((row.get(other, Fraction(0)) for row in have), start=Fraction(0))
            p[e][other] = total / len(have)
    return {
        e: {
            other: math.sqrt(forward * p[other][e])
            for other, forward in row.items()
            if f" {e} " not in f" {other} " and f" {other} " not in f" {e} "
        }
        for e, row in p.items()
    }


phrases = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)
rows = st.dictionaries(st.sampled_from("xyz"), st.integers(1, 4), min_size=1, max_size=3)
tables = st.dictionaries(phrases, rows, min_size=1, max_size=7)


@settings(max_examples=80)
@given(languages=st.lists(tables, min_size=1, max_size=3), run=st.sampled_from([1, 7, 1 << 22]))
def test_the_sums_over_pivots(languages: list[Counts], run: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewrites, "_MAX_JOINED_PATHS", run)
        expected_rows = {e: row for e, row in expected(languages).items() if row}
        if not expected_rows:
            with pytest.raises(InputError, match="translated alike"):
                listed_rewrites(languages)
            return
        got = listed_rewrites(languages)
    assert got.keys() == expected_rows.keys()
    for e, row in expected_rows.items():
        assert got[e] == pytest.approx(row)


def in_order(counts: PhraseCounts, vocab: Vocab) -> PivotPhrases:
    """Sort pairs as extraction does."""
    sides = [(counts.source_ids, counts.source_offsets), (counts.pivot_ids, counts.pivot_offsets)]
    tables = [pad_phrases(Ragged(*side), 3) for side in sides]
    order = np.lexsort(np.concatenate(tables, axis=1).T[::-1])
    columns = []
    for table in tables:
        columns += [table[order][table[order] >= 0], to_offsets((table[order] >= 0).sum(axis=1))]
    return PivotPhrases(PhraseCounts(*columns, counts.counts[order]), vocab)


@examples(20, 60)
@given(
    languages=st.lists(tables, min_size=1, max_size=3),
    limits=st.sampled_from([ALL, RewriteLimits(), RewriteLimits(0.2, 0.2, 0.1, 2, 1)]),
    run=st.sampled_from([1, 3, 1 << 20]),
    limit=st.integers(1, 3000),
)
def test_rewrites_do_not_depend_on_memory(
    languages: list[Counts], limits: RewriteLimits, run: int, limit: int
) -> None:
    counted = [in_order(*phrase_counts(counts)[:2]) for counts in languages]
    try:
        expected_table = rewrite_table(counted, Recipe("none"), limits)
    except InputError:
        expected_table = None
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_MAX_JOINED_PATHS", "_ROWS_PER_PIECE"):
            patch.setattr(rewrites, name, run)
        patch.setattr(training, "_PAIRS", run)
        patch.setattr(arrays, "MIN_MEMORY", 1)
        if expected_table is None:
            with pytest.raises(InputError, match="translated alike"):
                rewrite_table(counted, Recipe("none"), limits, memory=limit)
            return
        got = rewrite_table(counted, Recipe("none"), limits, memory=limit)
    assert list(got.arrays) == list(expected_table.arrays)
    for name, array in expected_table.arrays.items():
        np.testing.assert_array_equal(got.arrays[name], array, name)


TEXT: Counts = {"big": {"grand": 3}, "large": {"grand": 1}, "tall": {"grand": 1, "haut": 3}}


def test_an_example() -> None:
    """Pr(large|big) = 2.5/3 * 0.5/5, Pr(big|large) = 0.5 * 2.5/5; the root of their product."""
    assert listed_rewrites([TEXT])["big"] == pytest.approx(
        {"large": math.sqrt(2.5 / 30 * 0.25), "tall": math.sqrt(2.5 / 30 * 0.0625)}
    )
    assert listed_rewrites([TEXT])["tall"]["big"] == listed_rewrites([TEXT])["big"]["tall"]


def test_improbable_ones_are_left_out_whichever_way_round() -> None:
    got = listed_rewrites([TEXT], RewriteLimits(0, 0, 0.08, 20))
    p = pytest.approx(math.sqrt(2.5 / 30 * 0.25))
    assert got == {"big": {"large": p}, "large": {"big": p}}  # Pr(big|tall) is 0.0625


def test_the_best_few_are_kept() -> None:
    got = listed_rewrites([TEXT], RewriteLimits(0, 0, 1e-9, 1))
    assert {e: list(row) for e, row in got.items()} == {
        "big": ["large"],
        "large": ["big"],
        "tall": ["big"],
    }


def test_rare_translations_are_left_out() -> None:
    got = listed_rewrites([TEXT], RewriteLimits(0.3, 0, 1e-9, 20))
    assert {e: list(row) for e, row in got.items()} == {"big": ["large"], "large": ["big"]}
    with pytest.raises(InputError, match="no phrase has a rewrite"):
        listed_rewrites([TEXT], RewriteLimits(0, 0.5, 1e-9, 20))


def test_of_two_languages_two_pivot_phrases_must_lead_to_a_rewrite() -> None:
    """One of each language, or two of one; a rewrite that one of them suggests may be chance."""
    other: Counts = {"big": {"gross": 2}, "large": {"gross": 2}, "high": {"hoch": 1}}
    got = listed_rewrites([TEXT, other], RewriteLimits(0, 0, 1e-9, 20))
    assert {e: list(row) for e, row in got.items()} == {"big": ["large"], "large": ["big"]}
    both: Counts = {"big": {"gross": 2, "stark": 1}, "high": {"gross": 1, "stark": 2}}
    got = listed_rewrites([TEXT, both], RewriteLimits(0, 0, 1e-9, 20))
    assert {e: list(row) for e, row in got.items()} == {"big": ["high"], "high": ["big"]}
