"""Pivot F1 against the paper's example and against enumeration of everything."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import pivot_enumeration as oracle
from oracles.small_tables import PAPER, PLAIN, Counts, table

from karat.errors import InputError, Interrupted
from karat.paraphrase.pem.features import PivotSettings, f1, pivot_statistics, pooled_f1
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.text.tokens import tokenize

R, P = "Morning , sir .", "Hello , Querrien ."
WHOLE = PivotSettings(edge=0, ngram=0)


def test_the_worked_example() -> None:
    stats = pivot_statistics(table(PAPER), [R], [P], PivotSettings(edge=0))
    np.testing.assert_allclose(stats.sum(axis=1), [[3.8, 10, 10]], rtol=1e-15)
    assert pooled_f1(stats).tolist() == [0.38]
    np.testing.assert_allclose(f1(stats)[0], [2.9 / 4, 0.9 / 3, 0, 0], rtol=1e-15)
    assert pooled_f1(stats, 1)[0] == pytest.approx(2.9 / 4, rel=1e-15)


def test_the_example_either_way_round() -> None:
    both = pivot_statistics(table(PAPER), [R, P], [P, R])
    np.testing.assert_array_equal(both[0], both[1][:, [0, 2, 1]])


def test_pruned_edges_weigh_nothing_unless_renormalised() -> None:
    pruned = pivot_statistics(table(PAPER), [R], [P])  # an edge of 0.1 is not above 0.1
    np.testing.assert_allclose(pruned[0, :, 1], [3.8, 2.8, 1.8, 0.9])
    again = pivot_statistics(table(PAPER), [R], [P], PivotSettings(renormalise=True))
    np.testing.assert_allclose(again[0, :, 1], [4, 3, 2, 1])


def segmented(of: PhraseTable, sentence: str) -> list[tuple[str, ...]]:
    tokens = tokenize([sentence], "none")
    _, lengths, _ = of.kernel.segment(tokens.ids, tokens.offsets, of.maps(tokens.vocab).source)
    ends = np.cumsum(lengths).tolist()
    words = tokens[0]
    return [tuple(words[end - n : end]) for end, n in zip(ends, lengths.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("sentence", "phrases"),
    [
        (R, [tuple(R.split())]),
        (P, [("Hello", ","), ("Querrien",), (".",)]),
        ("", []),
        (".", [(".",)]),
        ("sir Morning", [("sir",), ("Morning",)]),
    ],
)
def test_segmentation(sentence: str, phrases: list[tuple[str, ...]]) -> None:
    assert segmented(table(PAPER), sentence) == phrases


def test_ties_have_fewest_phrases_then_the_longest_first() -> None:
    even = table({"a b": {"x": 2}, "b c": {"x": 2}, "a": {"x": 1}, "c": {"x": 1}})
    assert segmented(even, "a b c") == [("a", "b"), ("c",)]
    # of a total of 16, 1 for (a b) is as probable as 4 and 4 for (a) (b)
    tied = table({"a b": {"x": 1}, "a": {"x": 4}, "b": {"x": 4}, "c": {"x": 7}})
    assert segmented(tied, "a b") == [("a", "b")]
    less = table({"a b": {"x": 1}, "a": {"x": 4}, "b": {"x": 5}, "c": {"x": 7}})
    assert segmented(less, "a b") == [("a",), ("b",)]


# ------------------------------------------------------------------------------- enumeration

phrases = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)
pivots = st.lists(st.sampled_from("abxy"), min_size=1, max_size=3).map(" ".join)
found = st.dictionaries(pivots, st.integers(1, 4), min_size=1, max_size=3)
tables = st.dictionaries(phrases, found, min_size=1, max_size=8)
sentences = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)
rules = st.builds(
    PivotSettings,
    order=st.integers(1, 5),
    edge=st.sampled_from([0, 0.1, 0.3, 0.9]),
    ngram=st.sampled_from([0, 0.01, 0.3]),
    renormalise=st.booleans(),
)


def exact(value: float) -> Fraction:
    return Fraction(str(value))


def distance_from_limits(counts: Counts, sentence: str, rule: PivotSettings) -> float:
    """How close any n-gram's weight comes to the limit; at the limit itself, rounding decides."""
    if not rule.ngram:
        return 1.0
    bag = oracle.sentence_bag(
        counts, sentence, rule.order, exact(rule.edge), Fraction(0), rule.renormalise
    )
    return min((abs(float(w - exact(rule.ngram))) for w in bag.values()), default=1.0)


@settings(max_examples=80)
@given(counts=tables, sentence=st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join))
def test_segmentation_is_the_best_of_all(counts: Counts, sentence: str) -> None:
    assert segmented(table(counts), sentence) == oracle.best_segmentation(
        counts, tuple(sentence.split())
    )


@settings(max_examples=80)
@given(counts=tables, r=sentences, p=sentences, rule=rules)
def test_bags_are_those_of_all_paths(counts: Counts, r: str, p: str, rule: PivotSettings) -> None:
    if min(distance_from_limits(counts, s, rule) for s in (r, p)) < 1e-9:
        return
    limits = exact(rule.edge), exact(rule.ngram)
    actual_bag, expected_bag = (
        oracle.sentence_bag(counts, s, rule.order, *limits, rule.renormalise) for s in (p, r)
    )
    expected = oracle.statistics(actual_bag, expected_bag, rule.order)
    got = pivot_statistics(table(counts), [r], [p], rule)[0]
    np.testing.assert_allclose(got, expected, atol=1e-12)


@settings(max_examples=40)
@given(counts=tables, sentence=sentences, rule=rules)
def test_a_bag_lists_its_ngrams(counts: Counts, sentence: str, rule: PivotSettings) -> None:
    if distance_from_limits(counts, sentence, rule) < 1e-9:
        return
    expected = oracle.sentence_bag(
        counts, sentence, rule.order, exact(rule.edge), exact(rule.ngram), rule.renormalise
    )
    assert bag(table(counts), sentence, rule) == pytest.approx(
        {gram: float(weight) for gram, weight in expected.items()}
    )


def bag(of: PhraseTable, sentence: str, rule: PivotSettings) -> Mapping[tuple[str, ...], float]:
    tokens = tokenize([sentence], "none")
    kernel_bag = of.kernel.bag(tokens.ids, tokens.offsets, *of.maps(tokens.vocab), rule.rules)
    assert kernel_bag is not None
    ids, offsets, weights = kernel_bag
    pivot_words = of.pivot.words(np.arange(len(of.pivot), dtype=np.int32))
    words = [*pivot_words, *tokens.vocab.words(0, len(tokens.vocab))]
    rows = [ids[a:b].tolist() for a, b in pairwise(offsets.tolist())]
    grams = [tuple(words[i] for i in row) for row in rows]
    assert len(set(grams)) == len(grams)
    return dict(zip(grams, weights.tolist(), strict=True))


def test_the_bags_of_the_paper() -> None:
    weights = bag(table(PAPER), P, PivotSettings(edge=0))
    assert weights["Bonjour", ",", "Querrien", "."] == pytest.approx(0.9)
    assert weights[",", "Querrien"] == 1
    assert len(weights) == 14


# ----------------------------------------------------------------------------------- edge cases


def test_sentences_of_one_word_and_of_none() -> None:
    stats = pivot_statistics(table(PAPER), [".", "", "", "."], [".", "", ".", "x"])
    np.testing.assert_array_equal(stats[:, 0], [[1, 1, 1], [0, 0, 0], [0, 1, 0], [0, 1, 1]])
    assert not stats[:, 1:].any()
    assert pooled_f1(stats).tolist() == [1, 0, 0, 0]


def test_unseen_words_are_their_own_translations() -> None:
    stats = pivot_statistics(table(PAPER), ["u v w", "Salut"], ["v w u", "Salut"])
    np.testing.assert_array_equal(stats[0, :, 0], [3, 1, 0, 0])
    np.testing.assert_array_equal(stats[1, 0], [1, 1, 1])


def test_an_unseen_word_equals_the_pivot_word_of_its_spelling() -> None:
    stats = pivot_statistics(table({"hi": {"Salut": 1}}), ["hi"], ["Salut"])
    assert pooled_f1(stats).tolist() == [1]


def test_a_word_of_phrases_that_is_none_by_itself_is_unseen() -> None:
    of = table({"a b": {"x": 3}})
    assert bag(of, "b a", WHOLE) == {("b",): 1, ("b", "a"): 1, ("a",): 1}


def test_of_edges_that_are_all_improbable_the_best_is_kept() -> None:
    many = table({"a": {"z": 2, **{f"w{i}": 1 for i in range(20)}}})
    assert bag(many, "a", PivotSettings()) == {("z",): pytest.approx(2 / 22)}
    equals = table({"a": {f"w{i:02}": 1 for i in reversed(range(20))}})
    assert list(bag(equals, "a", PivotSettings())) == [("w00",)]


def test_stems_are_those_of_the_table() -> None:
    of = table({"dog": {"chien": 1}}, {**PLAIN, "case": "lower", "stem": "porter"})
    assert pooled_f1(pivot_statistics(of, ["DOGS"], ["dog"])).tolist() == [1]
    assert pooled_f1(pivot_statistics(table({"dog": {"chien": 1}}), ["dogs"], ["dog"])) == 0


def test_threads_change_nothing() -> None:
    words = np.random.default_rng(1).choice(list("abcde"), (9000, 5))
    texts = [" ".join(row) for row in words]
    of = table({"a b": {"x y": 2, "y": 1}, "c": {"y z": 1, "x": 1}, "a": {"x": 4, "z z z": 2}})
    single_threaded, three = (pivot_statistics(of, texts, texts[::-1], threads=n) for n in (1, 3))
    np.testing.assert_array_equal(single_threaded, three)


def test_progress_is_reported() -> None:
    reports: list[tuple[int, int]] = []
    pivot_statistics(
        table(PAPER), [R], [P], progress=lambda done, all_, _: reports.append((done, all_))
    )
    assert reports == [(1, 1)]


def test_a_long_sentence_takes_no_more_than_its_length() -> None:
    """Four edges for each of 3,000 words: the network has 4^3000 paths."""
    of = table({"a": {f"w{i}": 1 for i in range(4)}})
    long = " ".join(["a"] * 3000)
    stats = pivot_statistics(of, [long], [long], PivotSettings(ngram=0))
    np.testing.assert_allclose(stats[0, :, 0], [3000, 2999, 2998, 2997])


def test_too_many_ngrams_are_refused() -> None:
    of = table({"a": {f"w{i}": 1 for i in range(100)}})
    with pytest.raises(
        InputError, match="segment 2: too many pivot n-grams with edge=0 and order=4"
    ):
        pivot_statistics(of, ["b", "a a a a a"], ["b", "a"], WHOLE)
    with pytest.raises(InputError, match="segment 1: too many"):
        pivot_statistics(of, ["b"], ["a a a a a"], WHOLE)
    unigrams = PivotSettings(1, 0, 0)
    assert pooled_f1(pivot_statistics(of, ["a a a a a"], ["a a a a a"], unigrams)) == pytest.approx(
        1
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"order": 0}, "order=0"), ({"edge": 1.1}, "edge=1.1"), ({"ngram": -0.1}, "ngram=-0.1")],
)
def test_settings_out_of_range(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        PivotSettings(**wrong)  # type: ignore[arg-type]


def test_unequal_texts_are_refused() -> None:
    with pytest.raises(InputError, match="they must be equal"):
        pivot_statistics(table(PAPER), [R, R], [P])


def test_long_work_can_be_stopped() -> None:
    of, tokens = table(PAPER), tokenize(["a b c " * 3000], "none")
    text, starts = (tokens.ids, tokens.offsets), np.array([0, 1], dtype=np.int64)

    def stop() -> None:
        raise Interrupted("stopped")

    with pytest.raises(Interrupted):
        of.kernel.overlaps(*text, *text, starts, *of.maps(tokens.vocab), WHOLE.rules, stop)


def test_the_kernel_refuses_what_does_not_fit() -> None:
    of, tokens = table(PAPER), tokenize([R], "none")
    maps = of.maps(tokens.vocab)
    with pytest.raises(ValueError, match="not in the map"):
        of.kernel.segment(tokens.ids, tokens.offsets, maps.source[:2].copy())
    with pytest.raises(ValueError, match="offsets"):
        of.kernel.segment(tokens.ids, tokens.offsets[:1].copy(), maps.source)
    starts = np.array([0, 2], dtype=np.int64)
    text = (tokens.ids, tokens.offsets)
    with pytest.raises(ValueError, match="starts"):
        of.kernel.overlaps(*text, *text, starts, *maps, WHOLE.rules, None)
