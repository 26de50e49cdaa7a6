"""Tree accuracies that explain themselves: the parts are the score, and treelets the paper's."""

from __future__ import annotations

from fractions import Fraction

import pytest
from drawn_trees import trees
from hypothesis import given
from hypothesis import strategies as st
from oracles.treelet_walks import errors

import karat as kt
from karat.errors import InputError

REFERENCE = "There was no cost estimate for the second phase"
RESULT = "There was estimate for phase the second no cost"
TREE = kt.Tree(tuple(REFERENCE.split()), (5, 5, 5, 5, 0, 5, 9, 9, 6))
NAMES = ("simple_tree_accuracy", "generation_tree_accuracy")
KINDS = ("substitutions", "insertions", "deletions", "moves")


results = st.lists(st.sampled_from("abcdeFx"), max_size=10)


@pytest.mark.parametrize("name", NAMES)
@given(result=results, references=st.lists(trees("abcdeF", 9), min_size=1, max_size=3))
def test_the_parts_are_the_score(name: str, result: list[str], references: list[kt.Tree]) -> None:
    metric = kt.metric(f"{name}:case=lower")
    explanation = metric.explain(" ".join(result), references)
    score = metric.corpus([" ".join(result)], [references])
    assert (explanation.value, explanation.signature) == (score.value, score.signature)
    assert len(explanation.tree) == score.parts["tokens"]
    assert explanation.counts == {kind: score.parts.get(kind, 0) for kind in KINDS}
    parts = [treelet.errors for treelet in explanation.treelets]
    parts += [len(explanation.lacking), len(explanation.besides)]
    assert sum(parts) == explanation.errors
    left = 1 - Fraction(sum(parts), len(explanation.tree))
    assert explanation.value == explanation.accuracy == pytest.approx(float(left), abs=1e-15)


@given(result=results, tree=trees("abcdeF", 9))
def test_every_word_is_in_one_place(result: list[str], tree: kt.Tree) -> None:
    explanation = kt.GenerationTreeAccuracy().explain(" ".join(result), tree)
    places = [place for place in explanation.places if place is not None]
    assert sorted([*places, *explanation.besides]) == list(range(len(result)))
    for node, place in enumerate(explanation.places):
        assert place is None or result[place] == tree.words[node]
    for treelet in explanation.treelets:
        members = {treelet.head, *(n for n, h in enumerate(tree.heads) if h == treelet.head + 1)}
        assert set(treelet.nodes) == members - set(explanation.lacking)
        assert treelet.places == tuple(explanation.places[node] for node in treelet.nodes)
        assert treelet.alignment.reference == tuple(tree.words[n] for n in treelet.nodes)
        order = sorted(treelet.places)
        assert treelet.alignment.candidate == tuple(result[place] for place in order)


@given(result=results, tree=trees("abcdeF", 9))
def test_a_walk_over_the_tree_counts_the_same(result: list[str], tree: kt.Tree) -> None:
    explanation = kt.GenerationTreeAccuracy().explain(" ".join(result), tree)
    places = {node: place for node, place in enumerate(explanation.places) if place is not None}
    s, i, d, m = errors(tree.words, tree.heads, result, places)
    assert explanation.counts == dict(zip(KINDS, (s, i - m, d - m, m), strict=True))


def test_the_papers_example() -> None:
    explanation = kt.metric("generation_tree_accuracy").explain(RESULT, TREE)
    parts = {TREE.words[t.head]: (t.moves, t.errors) for t in explanation.treelets}
    assert parts == {"estimate": (2, 2), "for": (0, 0), "phase": (1, 1)}
    top = next(t for t in explanation.treelets if t.errors == 2)
    assert " ".join(top.alignment.reference) == "There was no cost estimate for"
    assert " ".join(top.alignment.candidate) == "There was estimate for no cost"
    assert explanation.counts == dict(zip(KINDS, (0, 0, 0, 3), strict=True))
    assert [explanation.share(t.errors) for t in explanation.treelets] == [2 / 9, 0, 1 / 9]
    simple = kt.metric("simple_tree_accuracy").explain(RESULT, TREE)
    assert simple.counts == dict(zip(KINDS, (0, 3, 3, 0), strict=True))
    assert simple.errors == 6


def test_words_that_are_lacking_and_besides() -> None:
    explanation = kt.metric("generation_tree_accuracy").explain("was there a cost estimate", TREE)
    assert [TREE.words[node] for node in explanation.lacking] == [
        *("There", "no", "for", "the", "second", "phase")
    ]
    assert [explanation.candidate[place] for place in explanation.besides] == ["there", "a"]
    assert explanation.counts == dict(zip(KINDS, (0, 2, 6, 0), strict=True))


def test_the_first_of_equally_good_trees_is_explained() -> None:
    good, other = kt.Tree(("a", "b"), (0, 1)), kt.Tree(("a", "c"), (0, 1))
    explanation = kt.metric("simple_tree_accuracy").explain("a b", [other, good, good])
    assert (explanation.reference, explanation.tree, explanation.value) == (1, good, 1.0)


def test_the_regressions_have_the_same_treelets() -> None:
    explanation = kt.metric("quality_accuracy").explain(RESULT, TREE)
    assert explanation.value == kt.metric("quality_accuracy").corpus([RESULT], [TREE]).value
    assert explanation.treelets == kt.metric("simple_tree_accuracy").explain(RESULT, TREE).treelets


def test_what_cannot_be_explained() -> None:
    metric = kt.metric("generation_tree_accuracy")
    with pytest.raises(InputError, match="no reference was given"):
        metric.explain("a", [])
    for references in ("a b", ["a b"], [TREE, None], 3):
        with pytest.raises(InputError, match="give a Tree or a list of them"):
            metric.explain("a", references)  # type: ignore[arg-type]
