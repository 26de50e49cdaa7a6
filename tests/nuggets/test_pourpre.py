"""Pourpre and idf against plain loops, by hand, and on the sources of idf."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from oracles import nugget_loops

import karat as kt
from karat.nuggets.scores.official import answer_length
from karat.nuggets.scores.pourpre import DEFAULT, WITHOUT_STOP_WORDS, Pourpre, score_rouge
from karat.nuggets.scores.words import DocumentFrequencies, corpus_idf, count_weights, pooled_idf
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

near = pytest.approx
PORTER = Stemmer.Stemmer("porter")


def question_of(*texts: str | tuple[str, ...], vital: Sequence[bool] = ()) -> Question:
    kinds = [*vital, *[True] * len(texts)]
    return Question(
        "q",
        tuple(
            Nugget(str(i), (text,) if isinstance(text, str) else text, kinds[i])
            for i, text in enumerate(texts)
        ),
    )


def responses(*texts: str) -> list[Response]:
    return [Response(text) for text in texts]


def test_a_match_is_the_best_of_single_responses() -> None:
    matches = Pourpre().match(
        question_of("designed the first reactor", "named the neutrino"),
        responses("he designs things", "the reactor was first", "neutrinos were named by him"),
    )
    assert matches.tolist() == near([3 / 4, 2 / 3])


def test_stems_are_what_is_compared() -> None:
    key, answer = question_of("designed reactors"), responses("a design for a reactor")
    assert Pourpre().match(key, answer).tolist() == [1]
    assert Pourpre(stem="none").match(key, answer).tolist() == [0]


def test_the_best_description_counts() -> None:
    matches = Pourpre().match(question_of(("one two three", "four")), responses("four one"))
    assert matches.tolist() == [1]


def test_punctuation_and_case_do_not_count_and_stop_words_only_if_wanted() -> None:
    key, answer = question_of("The bomb, an 'evil' thing!"), responses("EVIL (bomb)")
    assert Pourpre().match(key, answer).tolist() == near([2 / 5])
    assert Pourpre(stop="en").match(key, answer).tolist() == near([2 / 3])


def test_a_description_of_stop_words_matches_nothing() -> None:
    assert Pourpre(stop="en").match(question_of("the of and"), responses("the")).tolist() == [0]


def test_threshold_and_partial_allowance() -> None:
    key = question_of("a b c d", "e f", vital=[True, False])
    run = make_run("A", [("q", Response("a e " + "x" * 98))])
    plain = Pourpre().score(run, make_key([key])).questions[0]
    assert (plain.recall, plain.allowance, plain.length) == (0.25, 200, 100)
    part = Pourpre(partial_allowance=True).score(run, make_key([key])).questions[0]
    assert (part.allowance, part.precision) == (75, 0.75)
    high = Pourpre(threshold=0.5).score(run, make_key([key])).questions[0]
    assert (high.recall, high.allowance, high.okay_returned) == (0, 100, 1)  # 0.5 reaches it


def test_no_vital_nuggets_and_no_responses() -> None:
    key = make_key([question_of("a", vital=[False])])
    assert Pourpre().score(make_run("A", []), key).skipped == ("q",)
    silent = Pourpre().score(make_run("A", []), make_key([question_of("a")]))
    assert (silent.micro.f, silent.macro.f) == (0, 0)


def test_bad_settings() -> None:
    with pytest.raises(kt.InputError, match=r"threshold=2: expected a number from 0 to 1"):
        Pourpre(threshold=2)
    with pytest.raises(kt.InputError, match="beta=-1"):
        Pourpre(beta=-1)


words = st.sampled_from(
    ["runs", "running", "run", "cat", "cats", "the", "of", "salt", "salted", "400", "x"]
)
texts = st.lists(words, max_size=6).map(" ".join)


@given(
    nuggets=st.lists(texts, min_size=1, max_size=4),
    given_texts=st.lists(texts, max_size=3),
    idf=st.booleans(),
)
def test_matches_are_those_of_plain_loops(
    nuggets: list[str], given_texts: list[str], idf: bool
) -> None:
    weigh = (
        DocumentFrequencies(10, {"run": 10, "cat": 3, "salt": 2, "the": 9}, "porter")
        if idf
        else count_weights
    )
    matches = Pourpre(weigh=weigh).match(question_of(*nuggets), responses(*given_texts))
    expected = [
        nugget_loops.pourpre_match(
            nugget_loops.plain_words(nugget),
            [nugget_loops.plain_words(text) for text in given_texts],
            lambda word: float(weigh([word])[0]),
            PORTER.stemWord,
        )
        for nugget in nuggets
    ]
    assert matches.tolist() == near(expected)


@given(
    nuggets=st.lists(texts, min_size=1, max_size=4),
    given_texts=st.lists(texts, max_size=3),
    beta=st.sampled_from([1.0, 3.0]),
)
def test_scores_are_those_of_plain_loops(
    nuggets: list[str], given_texts: list[str], beta: float
) -> None:
    vital = [i % 2 == 0 for i in range(len(nuggets))]
    key = question_of(*nuggets, vital=vital)
    pourpre = Pourpre(beta=beta)
    run = make_run("A", [("q", response) for response in responses(*given_texts)])
    match = pourpre.match(key, run.responses("q")).tolist()
    size = answer_length(run.responses("q"))
    allowed = 100 * sum(x > 0 for x in match)
    expected = nugget_loops.f_beta(match, [float(v) for v in vital], allowed, size, beta)
    assert expected is not None
    assert pourpre.score(run, make_key([key])).micro == near(expected, nan_ok=True)


# ---------------------------------------------------------------------------------------- idf


def test_idf_from_a_corpus(tmp_path: Path) -> None:
    text = "The cat runs. The cat!\nA cat, running\nnothing\n"
    (tmp_path / "c.txt").write_text(text)
    idf = corpus_idf(tmp_path / "c.txt")
    assert idf(["cat", "the", "unheard"]).tolist() == near(
        [math.log(3 / 2), math.log(3), math.log(3)]
    )
    stemmed = corpus_idf(tmp_path / "c.txt", "porter")
    assert stemmed(["run", "runs", "cats"]).tolist() == near([math.log(3 / 2)] * 3)
    (tmp_path / "c.gz").write_bytes(gzip.compress(text.encode()))
    assert corpus_idf(tmp_path / "c.gz").counts == idf.counts


def test_idf_does_not_depend_on_how_the_corpus_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"w{i % 7} w{i % 11} new{i}" for i in range(2000)]
    (tmp_path / "c.txt").write_text("\n".join(lines))
    idf = corpus_idf(tmp_path / "c.txt")
    monkeypatch.setattr("karat.nuggets.scores.words.BATCH", 256)
    cut = corpus_idf(tmp_path / "c.txt")
    assert (cut.documents, dict(cut.counts)) == (2000, dict(idf.counts))
    assert cut.counts["w3"] == sum("w3" in line.split() for line in lines)


def test_a_corpus_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"ok\n\xff\n")
    with pytest.raises(kt.InputError, match="line 2, byte 1: not valid UTF-8"):
        corpus_idf(tmp_path / "bad.txt")
    with pytest.raises(kt.InputError, match="No such file"):
        corpus_idf(tmp_path / "none.txt")


def test_idf_from_pooled_responses_counts_the_same_text_once() -> None:
    runs = make_run("A", [("q", Response("cat dog")), ("q", Response("cat"))])
    two = make_run("B", [("q", Response("cat dog")), ("r", Response("owl"))])
    idf = pooled_idf([runs, two])
    assert idf.documents == 3
    assert idf(["cat", "dog"]).tolist() == near([math.log(3 / 2), math.log(3)])
    with pytest.raises(kt.InputError, match="no responses to take idf from"):
        pooled_idf([make_run("A", [])])


def test_common_words_weigh_less_in_pourpre() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    weigh = pooled_idf(demo.runs.values(), "porter")
    key, answer = question_of("the lens"), responses("the lamp")
    assert Pourpre(weigh=weigh).match(key, answer)[0] < Pourpre().match(key, answer)[0] == 0.5


# -------------------------------------------------------------------------------------- ROUGE


def test_rouge_is_the_metric_against_all_nuggets() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    score = score_rouge(demo.runs["heron"], demo.key)
    question = demo.key.questions["aldis"]
    answer = "\n".join(responses.text for responses in demo.runs["heron"].responses("aldis"))
    reference = "\n".join(text for nugget in question.nuggets for text in nugget.descriptions)
    assert score.questions["aldis"] == kt.metric(DEFAULT).corpus([answer], [reference]).value
    assert score.value == near(np.mean(list(score.questions.values())))
    assert score_rouge(demo.runs["wren"], demo.key).questions["aldis"] == 0
    stop = score_rouge(demo.runs["heron"], demo.key, WITHOUT_STOP_WORDS)
    assert stop.value != score.value


def test_rouge_has_all_descriptions_of_a_nugget() -> None:
    nuggets = (Nugget("1", ("red fox", "crimson vixen")), Nugget("2", ("blue owl",)))
    key = make_key([Question("q", nuggets)])
    run = make_run("r", [("q", Response("a crimson vixen"))])
    reference = "red fox\ncrimson vixen\nblue owl"
    expected = kt.metric(DEFAULT).corpus(["a crimson vixen"], [reference]).value
    assert score_rouge(run, key).value == near(expected)
    assert expected > 0
