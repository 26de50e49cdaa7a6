"""chrF and chrF++ equal sacreBLEU's, corpus and segments, whatever the text and the settings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.chrf_formulas import chrf, chrf_eps, triples
from oracles.definers import chrf_words
from oracles.peers import chrf_corpus, chrf_segments
from oracles.strategies import Corpus, any_text, corpora, float_settings
from sizes import examples

from karat.metrics.chrf import ChrF


@st.composite
def same_settings(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings for Karat, and the same for sacreBLEU."""
    n, words = draw(st.integers(1, 8)), draw(st.integers(0, 4))
    beta = draw(st.sampled_from([0, 1, 2, 3]) | float_settings(0.0, 10.0))
    space, eps, lower = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    case = "lower" if lower else "mixed"
    return (
        {"n": n, "words": words, "beta": beta, "space": space, "eps": eps, "case": case},
        {
            "char_order": n,
            "word_order": words,
            "beta": beta,
            "whitespace": space,
            "eps_smoothing": eps,
            "lowercase": lower,
        },
    )


@given(corpus=corpora(), both=same_settings())
@examples(50, 150)
def test_equal_to_sacrebleu(corpus: Corpus, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    metric = ChrF(**both[0])
    expected = chrf_segments(*corpus, **both[1])
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)
    total_score = chrf_corpus(*corpus, **both[1])
    assert metric.corpus(*corpus).value == pytest.approx(total_score, abs=1e-9)


@pytest.mark.parametrize("words", [0, 2])
@given(corpus=corpora())
@examples(25, 80)
def test_the_two_named_ones_equal_sacrebleu(words: int, corpus: Corpus) -> None:
    metric = ChrF(words=words)
    expected = chrf_segments(*corpus, word_order=words)
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)
    total_score = chrf_corpus(*corpus, word_order=words)
    assert metric.corpus(*corpus).value == pytest.approx(total_score, abs=1e-9)


@given(candidate=any_text, reference=any_text, n=st.integers(1, 6), words=st.integers(0, 3))
def test_equal_to_the_formula(candidate: str, reference: str, n: int, words: int) -> None:
    both = ["".join(text.split()) for text in (candidate, reference)]
    counts = triples(*both, n) + triples(chrf_words(candidate), chrf_words(reference), words)
    plain, eps = ChrF(n=n, words=words), ChrF(n=n, words=words, eps=True)
    assert plain.segments([candidate], [reference])[0] == pytest.approx(chrf(counts, 2), abs=1e-9)
    assert eps.segments([candidate], [reference])[0] == pytest.approx(chrf_eps(counts, 2), abs=1e-9)


CASES = [
    ([""], [[""]]),
    ([""], [["a"]]),
    (["a"], [[""]]),
    (["a"], [["", "a", "b"]]),
    ([" "], [["\u3000"]]),
    (["ab", ""], [["abc"], ["de"]]),
    (["(hi)", "'s"], [["(hi )"], ["s"]]),
]


@pytest.mark.parametrize(("candidates", "references"), CASES)
@pytest.mark.parametrize("words", [0, 2])
@pytest.mark.parametrize("eps", [False, True])
@pytest.mark.parametrize("space", [False, True])
def test_empty_and_odd_texts(
    candidates: list[str], references: list[list[str]], words: int, eps: bool, space: bool
) -> None:
    metric = ChrF(words=words, eps=eps, space=space)
    peer = {"word_order": words, "eps_smoothing": eps, "whitespace": space}
    expected = chrf_segments(candidates, references, **peer)
    assert metric.segments(candidates, references).tolist() == pytest.approx(expected, abs=1e-9)
    total_score = chrf_corpus(candidates, references, **peer)
    assert metric.corpus(candidates, references).value == pytest.approx(total_score, abs=1e-9)


def test_parts_give_the_value() -> None:
    score = ChrF(beta=3).corpus(["the cat sat"], ["the cats sat on"])
    p, r = score.parts["precision"] / 100, score.parts["recall"] / 100
    assert score.value == pytest.approx(100 * 10 * p * r / (9 * p + r), abs=1e-9)


def test_of_references_that_score_alike_the_definers_one_is_taken() -> None:
    # All three give the same F to 1e-16; sacreBLEU, adding order by order, takes the first.
    candidates = ["abaa", "ab ab ab ab ab"]
    references = [[" a aa", "aaa  ", "aabb ba"], ["ab ab ab ab ab"]]
    expected = chrf_corpus(candidates, references, word_order=2, eps_smoothing=True)
    corpus_score = ChrF(words=2, eps=True).corpus(candidates, references).value
    assert corpus_score == pytest.approx(expected, abs=1e-9)
