"""The identities of the family: which named metric is which of its points."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.peers import bleu_corpus, rouge_segments
from oracles.strategies import Corpus, any_text, corpora, easy_text

from karat.metrics.names import metric as parse
from karat.metrics.ngram import BLEU, AEv
from karat.metrics.rouge import RougeN

SMOOTHINGS = ["exp", "floor", "add-k", "none"]


@given(corpus=corpora(), n=st.integers(1, 5))
def test_alpha_one_is_ps_and_alpha_zero_is_rs(corpus: Corpus, n: int) -> None:
    middle = AEv(n=n, alpha=0.5).corpus(*corpus)
    assert AEv(n=n, alpha=1).corpus(*corpus).value == middle.parts["ps"]
    assert AEv(n=n, alpha=0).corpus(*corpus).value == middle.parts["rs"]


@given(corpus=corpora(easy_text), n=st.integers(1, 3), alpha=st.floats(0, 1))
def test_every_alpha_lies_between_its_ends(corpus: Corpus, n: int, alpha: float) -> None:
    score = AEv(n=n, alpha=alpha, smooth="add-k").corpus(*corpus)
    ps, rs = score.parts["ps"], score.parts["rs"]
    assert min(ps, rs) - 1e-12 <= score.value <= max(ps, rs) + 1e-12


def test_the_nearer_alpha_is_to_one_the_more_precision_counts() -> None:
    candidate, reference = ["a b c"], ["a b c d e f"]  # P = 1, R = 1/2
    alphas = [k / 10 for k in range(11)]
    score = [AEv(alpha=a, n=1, b=9).corpus(candidate, reference).value for a in alphas]
    assert score == sorted(score)
    assert score[0] == pytest.approx(0.5)
    assert score[-1] == pytest.approx(1)
    assert len(set(score)) == 11


@pytest.mark.parametrize("smooth", SMOOTHINGS)
@given(corpus=corpora(), n=st.integers(1, 5), value=st.none() | st.floats(0, 2))
@settings(max_examples=60)
def test_bleu_is_alpha_one(smooth: str, corpus: Corpus, n: int, value: float | None) -> None:
    point = AEv(alpha=1, n=n, smooth=smooth, smooth_value=value)
    bleu = BLEU(n=n, smooth=smooth, smooth_value=value)
    assert point.corpus(*corpus).value == pytest.approx(bleu.corpus(*corpus).value / 100, abs=1e-12)
    alone = replace(bleu, eff=False)
    assert point.segments(*corpus) == pytest.approx(alone.segments(*corpus) / 100, abs=1e-12)


@given(corpus=corpora())
@settings(max_examples=60)
def test_ps_of_four_orders_is_sacrebleus_bleu(corpus: Corpus) -> None:
    corpus_score = parse("ps:smooth=exp").corpus(*corpus).value
    assert corpus_score == pytest.approx(bleu_corpus(*corpus) / 100, abs=1e-11)


def rouge_point(n: int, alpha: float, stem: str = "none") -> AEv:
    """ROUGE-N as a member of the family."""
    weights = (0.0,) * (n - 1) + (1.0,)
    return AEv(alpha, n, weights, b=math.inf, w=math.inf, tok="rouge", stem=stem)


@pytest.mark.parametrize("stem", ["none", "porter-nltk"])
@given(corpus=corpora(any_text, references=1), n=st.integers(1, 9))
@settings(max_examples=60)
def test_rouge_n_is_a_point_of_the_family(stem: str, corpus: Corpus, n: int) -> None:
    name = f"rouge{n}"
    peer = rouge_segments([name], *corpus, stem=stem != "none")[name]
    for alpha, column in ((1.0, 0), (0.0, 1), (0.5, 2)):
        segment_scores = rouge_point(n, alpha, stem).segments(*corpus).tolist()
        assert segment_scores == pytest.approx([parts[column] for parts in peer], abs=1e-9)
        actual_segment_scores = RougeN(n=n, alpha=alpha, stem=stem).segments(*corpus).tolist()
        assert segment_scores == pytest.approx(actual_segment_scores, abs=1e-12)


@pytest.mark.parametrize(("weights", "expected"), [("1", 1), ("0/1", 1 / 3), ("0/0/1", 0)])
def test_lin_and_hovy_2003(weights: str, expected: float) -> None:
    # Punctuation and the stop word go; the 0.5 printed there for bigrams is an error.
    n = weights.count("/") + 1
    metric = parse(f"rs:n={n},weights={weights},w=inf,tok=rouge,stop=en")
    score = metric.corpus(
        ["United States, Japan, and Taiwan"], ["United States, Taiwan, and Japan"]
    )
    assert score.value == pytest.approx(expected, abs=1e-12)


def test_lin_and_hovy_ngram_i_to_j() -> None:
    # Ngram(1, 2) = exp(0.5 log(1) + 0.5 log(1/3)).
    metric = parse("rs:n=2,w=inf,tok=rouge,stop=en")
    score = metric.corpus(
        ["United States, Japan, and Taiwan"], ["United States, Taiwan, and Japan"]
    )
    assert score.value == pytest.approx(math.sqrt(1 / 3), abs=1e-12)


def test_the_printed_penalty_punishes_a_text_of_the_references_length() -> None:
    text = ["a b c d"]
    assert parse("rs:n=1,wp=printed").corpus(text, text).value == pytest.approx(math.exp(1 - 2))
    assert parse("rs:n=1").corpus(text, text).value == 1


@given(corpus=corpora(easy_text))
def test_the_printed_penalty_without_limit_makes_every_score_zero(corpus: Corpus) -> None:
    assert parse("rs:n=1,wp=printed,w=inf").corpus(*corpus).value == 0


def test_the_corrected_penalty_starts_at_w_times_the_reference() -> None:
    metric = parse("rs:n=1,tok=none")
    assert metric.corpus(["a a a a"], ["a a"]).parts["wp"] == 1
    score = metric.corpus(["a a a a a"], ["a a"])
    assert score.parts["wp"] == pytest.approx(math.exp(1 - 5 / 4))
    assert parse("rs:n=1,tok=none,w=inf").corpus(["a " * 50], ["a a"]).parts["wp"] == 1


def test_the_brevity_penalty_ends_at_the_reference_over_b() -> None:
    assert parse("ps:n=1").corpus(["a b"], ["a b c"]).parts["bp"] == pytest.approx(math.exp(-0.5))
    assert parse("ps:n=1,b=1.5").corpus(["a b"], ["a b c"]).parts["bp"] == 1
    assert parse("ps:n=1,b=inf").corpus(["a"], ["a b c d e f"]).parts["bp"] == 1


@given(text=easy_text.filter(lambda text: len(text.split()) >= 4), n=st.integers(1, 4))
def test_a_text_against_itself_is_perfect(text: str, n: int) -> None:
    assert AEv(n=n).corpus([text], [text]).value == pytest.approx(1)
    assert BLEU(n=n).corpus([text], [text]).value == pytest.approx(100)


@given(words=st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=12), at=st.integers(0, 11))
def test_a_wrong_word_never_helps(words: list[str], at: int) -> None:
    reference = " ".join(words)
    wrong = " ".join("x" if i == at % len(words) else word for i, word in enumerate(words))
    for name in ("bleu", "aev:n=2", "rouge1", "rougeL", "chrf", "rs:n=1", "ps:n=1"):
        metric = parse(name)
        best = metric.corpus([reference], [reference]).value
        assert metric.corpus([wrong], [reference]).value < best
