"""The search for paraphrases against a list of everything that can be written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import rewriting_enumeration as oracle
from oracles.small_tables import PLAIN, table

from karat import _kernel
from karat.errors import Interrupted
from karat.lm.model import LanguageModel
from karat.paraphrase.generate.generator import Generator
from karat.text.tokens import tokenize

Rewrites = Mapping[str, Mapping[str, int]]
TEXT = ["a b c d", "b a d", "c c a b", "d e a", "e b c a d", "a a b e"]
WIDE = 1 << 20
CLASSES = 3


@cache
def language() -> LanguageModel:
    return LanguageModel.train(TEXT, 3, tok="none")


@cache
def log10_p(text: str) -> float:
    return float(language().score([text])[0])


class Result(NamedTuple):
    """What the kernel found."""

    words: tuple[str, ...]
    score: float
    changes: int


def search(
    rewrites: Rewrites, sentences: list[str], most: int, beam: int = WIDE, weight: float = 0.5
) -> list[list[Result]]:
    generator = Generator(table(rewrites, PLAIN), language(), {})
    kernel = _kernel.Paraphraser(
        generator.rewrites.kernel, language().kernel, weight, beam, CLASSES
    )
    tokens = tokenize(sentences, "none")
    maps, lm = generator.rewrites.maps(tokens.vocab), generator.model_words(tokens.vocab)
    cuts, scores, changes, starts, lengths, edges = (
        column.tolist()
        for column in kernel.search(tokens.ids, tokens.offsets, *maps, lm, most, None)
    )
    rewritings = []
    for i, (a, b) in enumerate(pairwise(cuts)):
        rows = [
            written(generator, tokens[i], list(zip(lengths, edges, strict=True))[start:stop])
            for start, stop in pairwise(starts[a : b + 1])
        ]
        rewritings.append(list(map(Result, rows, scores[a:b], changes[a:b])))
    return rewritings


def written(
    generator: Generator, words: list[str], steps: list[tuple[int, int]]
) -> tuple[str, ...]:
    new_words: list[str] = []
    at = 0
    arrays = generator.rewrites.arrays
    for length, edge in steps:
        if edge < 0:
            new_words += words[at : at + length]
        else:
            phrase = arrays["edge_pivots"][edge]
            first, last = arrays["pivot_phrase_offsets"][phrase : phrase + 2]
            new_words += generator.rewrites.pivot.words(arrays["pivot_phrase_ids"][first:last])
        at += length
    assert at == len(words)
    return tuple(new_words)


phrases = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)
others = st.lists(st.sampled_from("abce"), min_size=1, max_size=3).map(" ".join)
choices = st.dictionaries(others, st.integers(1, 4), min_size=1, max_size=3)
tables = st.dictionaries(phrases, choices, min_size=1, max_size=5)
sentences = st.lists(st.sampled_from("abcdx"), max_size=5).map(" ".join)


@settings(max_examples=60)
@given(rewrites=tables, sentence=sentences, weight=st.sampled_from([0.5, 1.0]))
def test_everything_is_found_once_with_its_best_score(
    rewrites: Rewrites, sentence: str, weight: float
) -> None:
    expected = oracle.ranked(rewrites, sentence, log10_p, weight, CLASSES)
    (rewritings,) = search(rewrites, [sentence], 1 << 20, weight=weight)
    assert len({rewriting.words for rewriting in rewritings}) == len(rewritings)
    assert {rewriting.words for rewriting in rewritings} == oracle.outputs(expected, sentence)
    for rewriting in rewritings:
        assert rewriting.score == pytest.approx(
            expected[rewriting.changes][rewriting.words], abs=1e-4
        )


@settings(max_examples=60)
@given(rewrites=tables, sentence=sentences, most=st.integers(1, 8))
def test_a_few_are_the_best_of_each_class_in_turn(
    rewrites: Rewrites, sentence: str, most: int
) -> None:
    (all_rewritings,) = search(rewrites, [sentence], 1 << 20)
    (best_few,) = search(rewrites, [sentence], most)
    assert best_few == all_rewritings[:most]
    for changes in range(CLASSES + 1):
        scores = [rewriting.score for rewriting in all_rewritings if rewriting.changes == changes]
        assert scores == sorted(scores, reverse=True)
    turns = [
        [rewriting.changes for rewriting in all_rewritings].index(c)
        for c in sorted({o.changes for o in all_rewritings})
    ]
    assert turns == list(range(len(turns)))


@settings(max_examples=40)
@given(rewrites=tables, sentence=sentences, beam=st.integers(1, 3))
def test_a_narrow_beam_finds_some_of_them_and_no_score_that_is_too_high(
    rewrites: Rewrites, sentence: str, beam: int
) -> None:
    expected = oracle.ranked(rewrites, sentence, log10_p, 0.5, CLASSES)
    (rewritings,) = search(rewrites, [sentence], 1 << 20, beam)
    assert len({rewriting.words for rewriting in rewritings}) == len(rewritings)
    for rewriting in rewritings:
        assert rewriting.score <= expected[rewriting.changes][rewriting.words] + 1e-4


def test_sentences_do_not_disturb_each_other() -> None:
    rewrites = {"a": {"b": 1, "c": 2}, "b c": {"e": 1}, "c": {"a a": 1}}
    sentences = ["a b c", "", "x", "c a", "a b c"]
    together = search(rewrites, sentences, 9)
    assert together == [search(rewrites, [sentence], 9)[0] for sentence in sentences]
    assert together[0] == together[4] != []
    assert together[1] == together[2] == []


def test_words_that_the_model_lacks_stay_apart() -> None:
    """Unknown words are one to the language model, not to the reader."""
    rewritings = search({"a": {"b": 1}}, ["x a", "y a"], 9)
    assert [[rewriting.words for rewriting in of_sentence] for of_sentence in rewritings] == [
        [("x", "b")],
        [("y", "b")],
    ]


def test_time_and_results_of_a_long_sentence_are_bounded() -> None:
    """Three rewrites for each of 600 words: 4^600 ways."""
    (rewritings,) = search({"a": {"b": 1, "c": 1, "e": 1}}, [" ".join(["a"] * 600)], 50, beam=4)
    assert len({rewriting.words for rewriting in rewritings}) == len(rewritings) == 50


def test_long_work_can_be_stopped() -> None:
    def stop() -> None:
        raise Interrupted("stopped")

    of, tokens = table({"a": {"b": 1}}), tokenize(["a " * 200], "none")
    generator = Generator(of, language(), {})
    lm = generator.model_words(tokens.vocab)
    with pytest.raises(Interrupted):
        generator.search.search(tokens.ids, tokens.offsets, *of.maps(tokens.vocab), lm, 5, stop)


def test_the_kernel_refuses_what_does_not_fit() -> None:
    of, tokens = table({"a": {"b": 1}}), tokenize(["a b"], "none")
    generator = Generator(of, language(), {})
    source, pivot_ids = of.maps(tokens.vocab)
    lm, kernel = generator.model_words(tokens.vocab), generator.search
    text = (tokens.ids, tokens.offsets)
    with pytest.raises(ValueError, match="not in the map"):
        kernel.search(*text, source[:1].copy(), pivot_ids[:1].copy(), lm, 5, None)
    with pytest.raises(ValueError, match="unequal"):
        kernel.search(*text, source, pivot_ids[:1].copy(), lm, 5, None)
    with pytest.raises(ValueError, match="language model"):
        kernel.search(*text, source, pivot_ids, lm[:1].copy(), 5, None)
    with pytest.raises(ValueError, match="offsets"):
        kernel.search(tokens.ids, np.array([0], dtype=np.int64), source, pivot_ids, lm, 5, None)
    with pytest.raises(ValueError, match="beam"):
        _kernel.Paraphraser(of.kernel, language().kernel, 1.0, 0, 3)
