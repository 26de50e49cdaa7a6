"""Tree accuracies: the paper's example, exhaustive walks, how words are tied to nodes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawn_trees import trees
from hypothesis import given
from hypothesis import strategies as st
from oracles import treelet_walks as walks

import karat as kt
from karat import _kernel
from karat.errors import InputError, MissingExtra

WORDS = ("There", "was", "no", "cost", "estimate", "for", "the", "second", "phase")
TREE = kt.Tree(WORDS, (5, 5, 5, 5, 0, 5, 9, 9, 6), "wsj")
RESULT = "There was estimate for phase the second no cost"


def parts(name: str, candidate: str, tree: kt.Tree) -> dict[str, float]:
    """The parts of one segment's score."""
    return dict(kt.metric(name).corpus([candidate], [tree]).parts)


def test_the_papers_example_simple_tree():
    expected = {"unchanged": 6, "substitutions": 0, "insertions": 3, "deletions": 3, "tokens": 9}
    assert parts("simple_tree_accuracy", RESULT, TREE) == expected
    assert round(kt.metric("simple_tree_accuracy").corpus([RESULT], [TREE]).value, 2) == 0.33


def test_the_papers_example_generation_tree():
    expected = {
        "unchanged": 6,
        "substitutions": 0,
        "insertions": 0,
        "deletions": 0,
        "moves": 3,
        "tokens": 9,
    }
    assert parts("generation_tree_accuracy", RESULT, TREE) == expected
    assert round(kt.metric("generation_tree_accuracy").corpus([RESULT], [TREE]).value, 2) == 0.67


def test_published_regressions():
    sta = 1 - 6 / 9
    for name, slope, penalty, offset, scale in (
        ("understandability_accuracy", 1.3147, 0.1039, 0.4458, 0.8689),
        ("quality_accuracy", 1.0192, 0.0869, 0.3553, 0.6639),
    ):
        metric = kt.metric(name)
        perfect = (slope - offset) / scale
        first = (slope * sta - offset) / scale
        reversed_ = " ".join(WORDS[::-1])
        s = parts("simple_tree_accuracy", reversed_, TREE)
        value = kt.metric("simple_tree_accuracy").corpus([reversed_], [TREE]).value
        second = (slope * value - penalty * s["substitutions"] - offset) / scale
        segment_scores = metric.segments([RESULT, str(TREE), reversed_], [TREE] * 3)
        assert segment_scores == pytest.approx([first, perfect, second])
        corpus = metric.corpus([RESULT, str(TREE), reversed_], [TREE] * 3)
        assert corpus.value == pytest.approx((first + perfect + second) / 3)


results = st.lists(st.sampled_from("abcdex"), max_size=7)


def tie(tree: kt.Tree, result: list[str]) -> dict[int, int]:
    """The kernel's places of the nodes."""
    vocab = _kernel.Vocab()
    words, actual_actual = vocab.add(list(tree.words)), vocab.add(result)
    actual = _kernel.tie_nodes(actual_actual, words, np.array(tree.heads, np.int32)).tolist()
    return {p: q for p, q in enumerate(actual) if q >= 0}


@given(trees("abcde", 6), results)
def test_tying_by_distance_is_one_to_one_maximal_and_least(tree, result):
    places = tie(tree, result)
    assert len(set(places.values())) == len(places)
    assert all(tree.words[p] == result[q] for p, q in places.items())
    most = sum(min(tree.words.count(w), result.count(w)) for w in set(tree.words))
    assert len(places) == most
    fixed = walks.anchors(list(tree.words), result)
    assert all(places[p] == q for p, q in fixed.items())
    distance = sum(
        abs(walks.expected(p, tree.heads, fixed) - q) for p, q in places.items() if p not in fixed
    )
    assert distance == walks.least_distance(list(tree.words), tree.heads, result)


def edits(tree: kt.Tree, result: list[str]) -> tuple[float, ...]:
    """S, I, D and M as the metrics report them."""
    simple = parts("simple_tree_accuracy", " ".join(result), tree)
    generation = parts("generation_tree_accuracy", " ".join(result), tree)
    assert simple["unchanged"] == len(tree) - simple["substitutions"] - simple["deletions"]
    assert simple["insertions"] - generation["insertions"] == generation["moves"]
    names = ("substitutions", "insertions", "deletions")
    return (*(simple[name] for name in names), generation["moves"])


@given(trees("abcde", 6), results)
def test_errors_are_the_fewest_of_all_ways_to_tie(tree, result):
    placements = walks.all_ties(tree.words, result)
    actual = edits(tree, result)
    walked = {tuple(walks.errors(tree.words, tree.heads, result, method)) for method in placements}
    if len(placements) <= 1000:
        assert actual in walked
        least = min((sum(w[:3]), -w[3]) for w in walked)
        assert (sum(actual[:3]), -actual[3]) == least
    else:
        start = walks.errors(tree.words, tree.heads, result, tie(tree, result))
        assert actual in walked
        assert sum(actual[:3]) <= sum(start[:3])


@given(st.data(), trees("ab", 12))
def test_many_ways_are_never_worse_than_tying_by_distance(data, tree):
    result = list(data.draw(st.permutations(tree.words)))
    start = walks.errors(tree.words, tree.heads, result, tie(tree, result))
    assert sum(edits(tree, result)[:3]) <= sum(start[:3])


def test_where_distance_does_not_decide_the_ways_to_tie_are_all_tried():
    tree = kt.Tree(("b", "a", "a", "c"), (3, 3, 0, 2))
    result = ["a", "c", "b", "a"]
    placements = walks.all_ties(tree.words, result)
    least = min(
        sum(walks.errors(tree.words, tree.heads, result, method)[:3]) for method in placements
    )
    assert sum(edits(tree, result)[:3]) == least


def test_repeated_words_stay_with_their_heads():
    tree = kt.Tree(("the", "cat", "chased", "the", "dog"), (2, 3, 0, 5, 3))
    actual = parts("generation_tree_accuracy", "the dog the cat chased", tree)
    assert actual["moves"] == 1  # the dog as a whole, within the treelet of chased


def test_missing_and_added_words_count_once():
    tree = kt.Tree(("the", "cat", "chased", "the", "dog"), (2, 3, 0, 5, 3))
    assert kt.metric("simple_tree_accuracy").corpus([""], [tree]).value == 0
    actual = parts("simple_tree_accuracy", "the cat saw the dog", tree)
    assert (actual["insertions"], actual["deletions"], actual["substitutions"]) == (1, 1, 0)


def test_the_best_of_several_trees_counts():
    flat = kt.Tree(("a", "b", "c"), (0, 1, 1))
    other = kt.Tree(("c", "b", "a"), (2, 0, 2))
    score = kt.metric("simple_tree_accuracy").corpus(["c b a"], [[flat, other]])
    assert score.value == 1
    assert "nrefs=2" in score.signature


def test_trees_serve_as_text_for_other_metrics():
    assert kt.metric("bleu").corpus([str(TREE)], [TREE]).value == pytest.approx(100)
    scoring = kt.score({"x": [RESULT]}, [TREE], ["bleu", "simple_tree_accuracy"])
    assert round(scoring["x", "simple_tree_accuracy"].score.value, 2) == 0.33


def test_case_and_threads():
    metric = kt.metric("simple_tree_accuracy:case=lower")
    assert metric.corpus(["THERE WAS no cost estimate for the second phase"], [TREE]).value == 1
    many = [RESULT, str(TREE)] * 5000
    score, two = (metric.corpus(many, [TREE] * 10_000, threads=t) for t in (1, 2))
    assert score == two


def test_text_references_are_refused_with_what_to_give():
    with pytest.raises(InputError, match=r"needs dependency trees as references: a \.conllu file"):
        kt.metric("simple_tree_accuracy").corpus(["a"], ["a"])


@pytest.mark.parametrize(
    ("words", "heads", "problem"),
    [
        ("ab", (0,), "2 words and 1 heads"),
        ("", (), "no words"),
        ("ab", (0, 0), "words 1 and 2 are both roots"),
        ("ab", (2, 1), "no root"),
        ("abc", (0, 3, 2), "a cycle"),
        ("ab", (0, 3), "a number from 0 to 2"),
        ("ab", (0, "1"), "a number from 0 to 2"),
    ],
)
def test_bad_trees(words, heads, problem):
    with pytest.raises(InputError, match=problem):
        kt.Tree(tuple(words), heads)


def test_different_numbers_of_trees_and_candidates():
    with pytest.raises(InputError, match="candidates has 2 segments and references has 1"):
        kt.metric("simple_tree_accuracy").corpus(["a", "b"], [kt.Tree(("a",), (0,))])
    with pytest.raises(InputError, match=r"references\[1\]: expected a Tree"):
        kt.metric("simple_tree_accuracy").corpus(["a", "b"], [TREE, []])


# -------------------------------------------------------------------------------- spaCy, an extra


class FakeToken:
    """As much of a spaCy token as is read."""

    def __init__(self, i: int, text: str) -> None:
        self.i, self.text, self.is_space, self.head = i, text, text.isspace(), self


class FakeDoc(list):
    """A text whose words hang from the one before; `.` ends a sentence."""

    def __init__(self, text: str) -> None:
        super().__init__(FakeToken(i, word) for i, word in enumerate(text.split(" ")))
        for before, token in itertools.pairwise(self):
            token.head = token if before.text == "." else before

    def has_annotation(self, name: str) -> bool:
        return name == "DEP"


def fake_spacy(monkeypatch, load):
    """Put a module called spacy in place."""
    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))


def test_references_parsed_by_a_pipeline(monkeypatch):
    from types import SimpleNamespace

    fake_spacy(monkeypatch, lambda name: SimpleNamespace(pipe=lambda texts: map(FakeDoc, texts)))
    (tree,) = kt.parse_references(["a b . \n c"])[0]
    assert tree == kt.Tree(("a", "b", ".", "c"), (0, 1, 2, 1))


def test_without_spacy_or_a_pipeline_there_is_a_sentence(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'karat-eval\[trees\]'"):
        kt.parse_references(["a"])

    def load(name):
        raise OSError(name)

    fake_spacy(monkeypatch, load)
    with pytest.raises(MissingExtra, match="no pipeline 'en_core_web_sm' here"):
        kt.parse_references(["a"])
