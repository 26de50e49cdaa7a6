"""AEv against the formulas, with every setting that it has."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from oracles.definers import porter, words
from oracles.family import Family
from oracles.strategies import Corpus, corpora, easy_text, float_settings
from sizes import examples

from karat.metrics.names import metric as parse
from karat.metrics.ngram import AEv
from karat.text.tokens import stop_words

STOPS = frozenset({"the", "of", "a", "don't", "."})
_SNOWBALL = Stemmer.Stemmer("porter")
STEMS: dict[str, Callable[[str], str]] = {
    "none": lambda word: word,
    "porter": _SNOWBALL.stemWord,
    "porter-nltk": porter,
}


@pytest.fixture(scope="module")
def stop_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stop list of our own."""
    path = tmp_path_factory.mktemp("stops") / "stops.txt"
    path.write_text("# ours\n" + "\n".join(sorted(STOPS)), "utf-8")
    return path


@st.composite
def members(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of AEv, apart from tokeniser, case and stop list."""
    n = draw(st.integers(1, 5))
    item = st.sampled_from([0.0, 1.0, 0.25, 3.0])
    weights = draw(st.none() | st.lists(item, min_size=n, max_size=n).filter(any).map(tuple))
    return {
        "alpha": draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
        "n": n,
        "weights": weights,
        "b": draw(st.sampled_from([0.5, 1.0, 1.5, math.inf])),
        "w": draw(st.sampled_from([0.5, 1.0, 2.0, math.inf])),
        "wp": draw(st.sampled_from(["corrected", "printed"])),
        "smooth": draw(st.sampled_from(["none", "exp", "floor", "add-k"])),
        "smooth_value": draw(st.none() | float_settings(0.0, 2.0)),
    }


def cut(corpus: Corpus, tok: str, lower: bool) -> tuple[list[list[str]], list[list[list[str]]]]:
    """A corpus as tokens; a typographic apostrophe is read as ' by stop lists only."""
    actual = [words(tok, text, lower) for text in corpus.candidates]
    peer = [[words(tok, text, lower) for text in group] for group in corpus.references]
    return actual, peer


def check(metric: AEv, family: Family, corpus: Corpus, lower: bool = False) -> None:
    """Segments and, where references are not chosen among, the corpus."""
    actual, peer = cut(corpus, metric.tok, lower)
    counts = [family.counts(c, r) for c, r in zip(actual, peer, strict=True)]
    expected = [family.score(item) for item in counts]
    assert metric.segments(*corpus).tolist() == pytest.approx(expected, abs=1e-9)
    if family.refs != "best":  # of references that score alike, either may be taken
        total_score = metric.corpus(*corpus).value
        assert total_score == pytest.approx(family.corpus(actual, peer), abs=1e-9)


@pytest.mark.parametrize("refs", ["all", "best", "average"])
@given(corpus=corpora(easy_text), member=members(), lower=st.booleans())
@examples(30, 100)
def test_equal_to_the_formula(
    refs: str, corpus: Corpus, member: dict[str, Any], lower: bool
) -> None:
    metric = AEv(**member, refs=refs, case="lower" if lower else "mixed")
    check(metric, Family(**member, refs=refs), corpus, lower)


@pytest.mark.parametrize("tok", ["13a", "intl", "zh", "char", "none", "rouge"])
@given(corpus=corpora(), member=members())
@examples(12, 30)
def test_equal_to_the_formula_for_every_tokeniser(
    tok: str, corpus: Corpus, member: dict[str, Any]
) -> None:
    check(AEv(**member, tok=tok), Family(**member), corpus)


@pytest.mark.parametrize("scope", ["sequence", "unigrams"])
@pytest.mark.parametrize("stem", STEMS)
@given(corpus=corpora(easy_text), member=members(), refs=st.sampled_from(["all", "average"]))
@examples(12, 40)
def test_equal_to_the_formula_with_stems_and_stop_words(
    stop_file: Path, scope: str, stem: str, corpus: Corpus, member: dict[str, Any], refs: str
) -> None:
    corpus = Corpus(
        [text.replace("’", "'") for text in corpus.candidates],
        [[text.replace("’", "'") for text in group] for group in corpus.references],
    )
    metric = AEv(**member, stem=stem, stop=str(stop_file), stop_scope=scope, refs=refs)
    family = Family(**member, stem=STEMS[stem], stop=STOPS, stop_scope=scope, refs=refs)
    check(metric, family, corpus)


@given(corpus=corpora(easy_text), member=members())
def test_parts_are_those_of_the_formula(corpus: Corpus, member: dict[str, Any]) -> None:
    family = Family(**member)
    actual, peer = cut(corpus, "13a", lower=False)
    first = family.parts(family.counts(actual[0], peer[0]))
    row = AEv(**member).stats(*corpus)[0]
    actual_score = AEv(**member).score(row)
    for key in ("ps", "rs", "bp", "wp"):
        assert actual_score.parts[key] == pytest.approx(first[key], abs=1e-12), key


def test_best_takes_whole_references() -> None:
    # The second reference is the better one; its counts and its length are what is added up.
    corpus = (["a b c d", "x y"], [["a b", "a b c d e"], ["x y"]])
    metric = AEv(alpha=0.5, n=1, tok="none", refs="best")
    assert metric.stats(*corpus).tolist() == [[4, 5, 4, 4, 4, 5], [2, 2, 2, 2, 2, 2]]
    precision, recall = 6 / 6 * math.exp(1 - 7 / 6), 6 / 7
    expected = precision * recall / (0.5 * recall + 0.5 * precision)
    assert metric.corpus(*corpus).value == pytest.approx(expected, abs=1e-12)


def test_average_is_the_mean_of_the_rows() -> None:
    metric = AEv(n=1, tok="none", refs="average")
    actual_stats = metric.stats(["a b c d"], [["a b", "a b c d e"]])
    assert actual_stats.tolist() == [[4, 3.5, 3, 4, 3, 3.5]]


def test_all_clips_precision_and_sums_recall() -> None:
    metric = AEv(n=1, tok="none")
    actual_stats = metric.stats(["a a b"], [["a", "a a c c"]])
    assert metric.columns() == ("c", "r", "match_p1", "total_c1", "match_r1", "total_r1")
    assert actual_stats.tolist() == [[3, 4, 2, 3, 3, 5]]


def test_stop_words_of_both_scopes() -> None:
    candidate, reference = ["house of the cards"], ["house of cards"]
    sequence = AEv(alpha=1, n=2, tok="none", stop="en")
    unigrams = AEv(alpha=1, n=2, tok="none", stop="en", stop_scope="unigrams")
    assert sequence.corpus(candidate, reference).parts["p2"] == 1  # house cards
    assert unigrams.corpus(candidate, reference).parts["p1"] == 1  # house, cards
    assert unigrams.corpus(candidate, reference).parts["p2"] == pytest.approx(1 / 3)  # house of


def test_lengths_count_stop_words_in_both_scopes() -> None:
    for scope in ("sequence", "unigrams"):
        score = AEv(stop="en", stop_scope=scope, tok="none").corpus(["the cat of"], ["a cat"])
        assert score.parts["length"] == 3
        assert score.parts["reference_length"] == 2


def test_stop_words_are_compared_before_stemming_and_in_lower_case(tmp_path: Path) -> None:
    path = tmp_path / "stops"
    path.write_text("Running\n")
    metric = AEv(n=1, tok="none", stem="porter", stop=str(path))
    totals = metric.stats(["RUNNING running runs run"], ["x"])[
        :, metric.columns().index("total_c1")
    ]
    assert totals.tolist() == [2]


def test_an_order_without_weight_does_not_count_even_if_all_its_tokens_are_stop_words() -> None:
    # P(2) = R(2) = 1 and only order 2 has a weight, so AEv = 1 (aev.md, definitions).
    metric = AEv(n=2, weights=(0, 1), stop="en", stop_scope="unigrams")
    assert metric.corpus(["of the"], ["of the"]).value == pytest.approx(1)


def test_paper_preset_is_porter_and_our_list_for_unigrams() -> None:
    paper = AEv(case="lower", stem="porter", stop="en", stop_scope="unigrams")
    assert parse("aev:preset=paper") == paper
    assert parse("aev:preset=paper,case=mixed") == replace(paper, case="mixed")
    assert parse("aev:preset=paper,stop_scope=sequence") == replace(paper, stop_scope="sequence")
    alone = parse("aev:preset=paper,stop=none")
    assert (alone.stem, alone.stop) == ("porter", "none")


def test_paper_preset_by_hand() -> None:
    """Section 4.1: stop words are eliminated for unigrams, higher orders keep them.

    Unigrams: house, card in both texts. Bigrams: `house of` of `house of, of the, the card` and of
    `house of, of card`. |c| = 4 and |r| = 3, so both penalties are 1.
    """
    texts = ["house of the cards"], ["house of cards"]
    paper = {a: parse(f"aev:preset=paper,alpha={a},n=2").corpus(*texts) for a in (0, 0.5, 1)}
    ps, rs = math.sqrt(1 / 3), math.sqrt(1 / 2)
    both = ps * rs / (0.5 * rs + 0.5 * ps)
    assert [paper[a].value for a in (0, 0.5, 1)] == pytest.approx([rs, both, ps])
    parts = [paper[0].parts[key] for key in ("p1", "p2", "r1", "r2", "bp", "wp")]
    assert parts == pytest.approx([1, 1 / 3, 1, 1 / 2, 1, 1])
    sequence = parse("aev:preset=paper,stop_scope=sequence,n=2").corpus(*texts)  # house card
    assert sequence.value == pytest.approx(1)


@given(corpus=corpora(easy_text), n=st.integers(1, 4), alpha=st.sampled_from([0.0, 0.3, 1.0]))
def test_paper_preset_is_the_formula(corpus: Corpus, n: int, alpha: float) -> None:
    corpus = Corpus(
        [text.replace("’", "'") for text in corpus.candidates],
        [[text.replace("’", "'") for text in group] for group in corpus.references],
    )
    metric = parse(f"aev:preset=paper,n={n},alpha={alpha}")
    assert isinstance(metric, AEv)
    lower = Corpus(
        [text.lower() for text in corpus.candidates],
        [[text.lower() for text in group] for group in corpus.references],
    )
    assert metric.corpus(*corpus) == metric.corpus(*lower)
    corpus = lower  # the oracle's words keep their case
    stops = {"stop": stop_words("en"), "stop_scope": "unigrams"}
    check(metric, Family(alpha=alpha, n=n, stem=STEMS["porter"], **stops), corpus)


def test_unigrams_alone_are_the_same_in_both_scopes() -> None:
    metrics = [AEv(n=1, stop="en", stop_scope=scope) for scope in ("sequence", "unigrams")]
    assert list(metrics[0].overlaps()) == list(metrics[1].overlaps())
    rows = [metric.stats(["the cat of a house"], ["a cat"]).tolist() for metric in metrics]
    assert rows[0] == rows[1] == [[5, 2, 1, 2, 1, 1]]


def test_notes_name_the_empty_orders() -> None:
    actual_score = AEv(n=4).corpus(["a b x c d"], ["a b y c d"])
    assert actual_score.value == 0
    assert actual_score.notes == ("no n-gram of order 3, 4 matched, so the score is 0",)


def test_notes_leave_out_orders_that_cannot_matter() -> None:
    assert AEv(n=2).corpus(["a b"], ["a b"]).notes == ()
    assert AEv(n=2, weights=(1, 0)).corpus(["a b"], ["b a"]).notes == ()
    assert AEv(n=2, smooth="exp").corpus(["a b"], ["b a"]).notes == ()


@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k"])
def test_a_score_of_zero_is_explained_with_smoothing_too(smooth: str) -> None:
    score = AEv(n=2, smooth=smooth).corpus(["a b"], ["c d"])
    assert score.value == 0
    assert "order 1" in " ".join(score.notes)
