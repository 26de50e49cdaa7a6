"""BLEU equals sacreBLEU's, corpus and segments, whatever the text and the settings."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
import sacrebleu.metrics
from hypothesis import given
from hypothesis import strategies as st
from oracles.definers import words
from oracles.family import Family
from oracles.peers import bleu_corpus, bleu_segments, streams
from oracles.strategies import Corpus, corpora, float_settings
from sizes import examples

import karat as kt
from karat.metrics.ngram import BLEU

TOKENIZERS = ["13a", "intl", "zh", "char", "none"]


@st.composite
def same_settings(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings for Karat, and the same for sacreBLEU."""
    n = draw(st.integers(1, 6))
    smooth = draw(st.sampled_from(["exp", "floor", "add-k", "none"]))
    value = draw(st.none() | float_settings(0.0, 2.0))
    eff, lower = draw(st.booleans()), draw(st.booleans())
    actual = {"n": n, "smooth": smooth, "smooth_value": value, "eff": eff}
    peer = {"max_ngram_order": n, "smooth_method": smooth, "smooth_value": value}
    return (
        {**actual, "case": "lower" if lower else "mixed"},
        {**peer, "effective_order": eff, "lowercase": lower},
    )


@pytest.mark.parametrize("tok", TOKENIZERS)
@given(corpus=corpora(), both=same_settings())
@examples(30, 90)
def test_equal_to_sacrebleu(
    tok: str, corpus: Corpus, both: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    metric = BLEU(tok=tok, **both[0])
    expected = bleu_segments(*corpus, tokenize=tok, **both[1])
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)
    wanted_corpus = bleu_corpus(*corpus, tokenize=tok, **both[1])
    assert metric.corpus(*corpus).value == pytest.approx(wanted_corpus, abs=1e-9)


@given(corpus=corpora())
@examples(30, 90)
def test_parts_are_sacrebleus(corpus: Corpus) -> None:
    peer = sacrebleu.metrics.BLEU(force=True).corpus_score(
        corpus.candidates, streams(corpus.references)
    )
    parts = BLEU().corpus(*corpus).parts
    assert [parts[f"p{n}"] for n in (1, 2, 3, 4)] == pytest.approx(peer.precisions, abs=1e-9)
    assert parts["bp"] == pytest.approx(peer.bp, abs=1e-12)
    assert (parts["length"], parts["reference_length"]) == (peer.sys_len, peer.ref_len)


@given(corpus=corpora(), n=st.integers(1, 5))
def test_equal_to_the_formula(corpus: Corpus, n: int) -> None:
    family = Family(alpha=1, n=n, smooth="exp")
    cut = [words("13a", text) for text in corpus.candidates]
    cut_refs = [[words("13a", text) for text in group] for group in corpus.references]
    expected = 100 * family.corpus(cut, cut_refs)
    assert BLEU(n=n).corpus(*corpus).value == pytest.approx(expected, abs=1e-9)


CASES = [
    ([""], [[""]]),
    ([""], [["a"]]),
    (["a"], [[""]]),
    (["a"], [["", "a"]]),
    ([" "], [["\u3000"]]),
    (["a b c d", ""], [["a b c d"], ["e f"]]),
    (["", "a b c d"], [["a", "b"], ["a b c d", ""]]),
    (["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]]),
    (["a b c"], [["a b", "a b c d"]]),  # both lengths are equally close: the shorter counts
]


@pytest.mark.parametrize(("candidates", "references"), CASES)
@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k", "none"])
@pytest.mark.parametrize("eff", [False, True])
def test_empty_and_odd_texts(
    candidates: list[str], references: list[list[str]], smooth: str, eff: bool
) -> None:
    metric = BLEU(smooth=smooth, eff=eff)
    peer = {"smooth_method": smooth, "effective_order": eff}
    expected = bleu_segments(candidates, references, **peer)
    assert metric.segments(candidates, references).tolist() == pytest.approx(expected, abs=1e-9)
    total_score = bleu_corpus(candidates, references, **peer)
    assert metric.corpus(candidates, references).value == pytest.approx(total_score, abs=1e-9)


def test_papineni_clips_the_the_the() -> None:
    references = [["The cat is on the mat .", "There is a cat on the mat ."]]
    parts = BLEU(n=1, smooth="none", case="lower").corpus([" ".join(["the"] * 7)], references).parts
    assert parts["p1"] == pytest.approx(100 * 2 / 7)


# ------------------------------------------------------------------------------------ segments


@given(corpus=corpora())
def test_segments_are_sacrebleus_sentence_bleu(corpus: Corpus) -> None:
    """Which has effective order by default, as WMT's sentence BLEU."""
    pairs = zip(corpus.candidates, corpus.references, strict=True)
    expected = [sacrebleu.sentence_bleu(c, list(r)).score for c, r in pairs]
    assert BLEU().segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)
    scoring = kt.score(*corpus, "bleu", segments=True)
    assert scoring.segment_scores("candidate", "bleu").tolist() == pytest.approx(expected, abs=1e-9)
    assert list(scoring.values) == [("candidate", BLEU(eff=True))]
    total_score = bleu_corpus(*corpus)
    assert scoring["candidate", "bleu"].score.value == pytest.approx(total_score, abs=1e-9)


def test_effective_order_is_a_matter_of_the_level_unless_it_is_said() -> None:
    texts = ["a short one"], ["a short one"]
    assert BLEU().segments(*texts).tolist() == pytest.approx([100])
    assert BLEU(eff=False).segments(*texts).tolist() == [0]
    assert BLEU().corpus(*texts).value == BLEU(eff=False).corpus(*texts).value == 0
    assert BLEU(eff=True).corpus(*texts).value == pytest.approx(100)
    assert [str(m.of_segments()) for m in (BLEU(), BLEU(eff=False), BLEU(eff=True))] == [
        "bleu:eff=yes",
        "bleu:eff=no",
        "bleu:eff=yes",
    ]
    assert "eff=no|" in BLEU().signature()
    assert "eff=yes|" in BLEU().of_segments().signature()


def test_wins_and_examples_of_a_comparison_are_by_segments() -> None:
    systems = {"worse": ["a b", "a b c d e"], "better": ["a short one", "a b c d e"]}
    comparison = kt.compare(systems, ["a short one", "a b c d e"], "bleu")
    row = comparison["better", "bleu"]
    assert (row.wins, row.losses, row.ties) == (1, 0, 1)
    (gap,) = comparison.differences("worse", "better", "bleu", 3)
    assert gap.second == pytest.approx(100)
