"""String accuracies and WER: the paper's example cell by cell, formulas, properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import edit_tables
from oracles.strategies import any_text, corpora

import karat as kt

REFERENCE = "There was no cost estimate for the second phase"
RESULT = "There was estimate for phase the second no cost"


def test_the_papers_example_simple():
    score = kt.metric("simple_accuracy").corpus([RESULT], [REFERENCE])
    assert dict(score.parts) == {
        "unchanged": 6,
        "substitutions": 1,
        "insertions": 2,
        "deletions": 2,
        "tokens": 9,
    }
    assert round(score.value, 2) == 0.44


def test_the_papers_example_generation():
    """The paper's first table prints 0.67, which its own counts do not give: 1 - 4/9 = 0.56."""
    score = kt.metric("generation_accuracy").corpus([RESULT], [REFERENCE])
    assert dict(score.parts) == {
        "unchanged": 6,
        "substitutions": 1,
        "insertions": 1,
        "deletions": 1,
        "moves": 1,
        "tokens": 9,
    }
    assert round(score.value, 2) == 0.56


def expected(name: str, candidate: str, reference: str) -> float:
    """A segment's score from the table and the formula."""
    c, r = candidate.split(), reference.split()
    costs = edit_tables.UNIT if name == "wer" else edit_tables.ACCURACY
    s, i, d, m = edit_tables.counts(r, c, costs)
    errors = s + i + d - (m if name == "generation_accuracy" else 0)
    rate = errors / len(r) if r else float(errors > 0)
    return 100 * rate if name == "wer" else 1 - rate


NAMES = ("simple_accuracy", "generation_accuracy", "wer")


@pytest.mark.parametrize("name", NAMES)
@given(corpora(any_text))
def test_segments_equal_the_formulas(name, corpus):
    metric = kt.metric(name)
    segment_scores = metric.segments(*corpus)
    best = min if metric.sign < 0 else max
    for value, candidate, group in zip(segment_scores, *corpus, strict=True):
        assert value == pytest.approx(best(expected(name, candidate, r) for r in group), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_is_scored_by_its_sums(name):
    metric = kt.metric(name)
    candidates, references = ["a b c", "x"], ["a c", "a b c d e f"]
    rows = metric.stats(candidates, references)
    assert metric.corpus(candidates, references).value == metric.score(rows.sum(axis=0)).value


@given(st.data(), st.lists(st.sampled_from("abcdef"), max_size=30))
def test_a_permutation_has_equal_rests_that_no_more_than_substitutions(data, words):
    moved = data.draw(st.permutations(words))
    score = kt.metric("generation_accuracy").corpus([" ".join(moved)], [" ".join(words)])
    assert score.parts["insertions"] == score.parts["deletions"] <= score.parts["substitutions"]


@given(any_text, any_text)
def test_generation_accuracy_is_never_below_simple(candidate, reference):
    simple, generation = (
        kt.metric(name).corpus([candidate], [reference]).value
        for name in ("simple_accuracy", "generation_accuracy")
    )
    assert generation >= simple


@pytest.mark.parametrize(
    ("candidate", "reference", "accuracy", "wer"),
    [("", "", 1, 0), ("a", "", 0, 100), ("", "a b", 0, 100), ("a b c d", "x", -3, 400)],
)
def test_empty_texts_and_negative_accuracy(candidate, reference, accuracy, wer):
    assert kt.metric("simple_accuracy").corpus([candidate], [reference]).value == accuracy
    assert kt.metric("wer").corpus([candidate], [reference]).value == wer


def test_settings_are_in_the_name_and_the_signature():
    metric = kt.metric("simple_accuracy:case=lower,tok=13a")
    assert str(metric) == "simple_accuracy:tok=13a,case=lower"
    assert metric.corpus(["The cat."], ["the cat ."]).value == 1
    assert metric.signature().startswith("simple_accuracy:tok=13a,case=lower|nrefs=1|")
    assert str(kt.metric("Simple-Accuracy")) == "simple_accuracy"


@given(corpora(any_text, segments=3))
def test_threads_change_nothing(corpus):
    candidates, references = corpus.candidates * 200, corpus.references * 200
    for name in (*NAMES, "ter"):
        score, two = (kt.metric(name).corpus(candidates, references, threads=t) for t in (1, 2))
        assert score == two
