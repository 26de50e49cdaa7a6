"""Which pairs an assessor is asked about, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import nugget_loops

import karat as kt
from karat.nuggets.judging.asking import Ask, none_of_the_others, queue
from karat.nuggets.judging.likelihood import excerpt, overlap, spoken, spoken_for
from karat.nuggets.sets.judgements import Judged, Judgements
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run

TEXTS = ["one", "two words", "Three", "four", ""]


def nugget_set(
    runs: dict[str, list[str]], vital: list[bool], known: dict[tuple[str, int], float]
) -> NuggetSet:
    """One question q with nuggets 0, 1 …"""
    nuggets = tuple(Nugget(str(j), (f"fact {j}",), is_vital) for j, is_vital in enumerate(vital))
    rows = tuple(Judged("q", str(j), text, value) for (text, j), value in known.items())
    made = {tag: make_run(tag, [("q", Response(t)) for t in texts]) for tag, texts in runs.items()}
    return NuggetSet(
        "s", make_key([Question("q", nuggets)]), MappingProxyType(made), Judgements(rows)
    )


def chance(text: str, nugget: int) -> float:
    """Some probability, the same for the same words."""
    return ((len(text) * 7 + nugget * 5) % 11) / 10 if text else 0.0


def chances(question: Question, responses: Sequence[Response]) -> NDArray[np.float64]:
    return np.array(
        [[chance(r.normal, j) for j in range(len(question.nuggets))] for r in responses]
    )


@given(
    st.lists(st.lists(st.sampled_from(TEXTS), max_size=5), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=1, max_size=3),
    st.dictionaries(
        st.tuples(st.sampled_from(TEXTS), st.integers(0, 2)), st.sampled_from([0, 0.5, 1])
    ),
)
def test_uses_and_order_are_those_of_loops(
    runs: list[list[str]], vital: list[bool], judged: dict[tuple[str, int], float]
) -> None:
    known = {(t.casefold(), j): v for (t, j), v in judged.items() if j < len(vital)}
    asks = queue(nugget_set({f"r{i}": run for i, run in enumerate(runs)}, vital, known), chances)
    folded = [[text.casefold() for text in run] for run in runs]
    expected = nugget_loops.undecided_uses(folded, vital, known, chance)
    found = {(ask.response.normal, int(ask.nugget.id)): ask.use for ask in asks}
    assert len(found) == len(asks)
    assert found == pytest.approx(expected, abs=1e-12)
    assert [ask.use for ask in asks] == sorted((ask.use for ask in asks), reverse=True)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=2)))
def test_none_of_the_others(rows: list[list[float]]) -> None:
    p = np.array(rows).reshape(-1, 2)
    expected = [
        [np.prod([1 - p[k, j] for k in range(len(p)) if k != i]) for j in range(2)]
        for i in range(len(p))
    ]
    assert none_of_the_others(p).tolist() == np.array(expected).reshape(-1, 2).tolist()


def ids(asks: list[Ask]) -> list[tuple[str, str]]:
    return [(ask.response.text, ask.nugget.id) for ask in asks]


def test_what_runs_share_is_asked_once_and_first() -> None:
    runs = {"A": ["mine", "shared"], "B": ["Shared", "yours"]}

    def half(question: Question, responses: Sequence[Response]) -> NDArray[np.float64]:
        return np.full((len(responses), 1), 0.5)

    asks = queue(nugget_set(runs, [True], {}), half)
    assert ids(asks) == [("shared", "0"), ("mine", "0"), ("yours", "0")]
    assert (asks[0].run, asks[0].use) == ("A", 2 * asks[1].use)


def test_a_nugget_that_the_run_has_anyway_is_asked_about_last() -> None:
    runs = {"A": ["one", "two"], "B": ["three"]}
    asks = queue(
        nugget_set(runs, [True], {("one", 0): 0.5}), lambda q, r: np.full((len(r), 1), 0.5)
    )
    assert ids(asks) == [("three", "0"), ("two", "0")]
    assert asks[-1].use == 0


def test_known_pairs_are_never_asked_about() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    assert all(
        (ask.question.id, ask.nugget.id, ask.response.normal) not in demo.judgements.known
        for ask in queue(demo, overlap)
    )


def test_likely_pairs_go_question_by_question() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    bare = NuggetSet("bare", demo.key, demo.runs)
    asks, every = queue(bare, overlap, likely=0.3), queue(bare, overlap)
    assert 0 < len(asks) < len(every)
    assert sorted(map(str, asks)) == sorted(str(ask) for ask in every if ask.p >= 0.3)
    order = list(demo.key.questions)
    assert asks == sorted(asks, key=lambda ask: (order.index(ask.question.id), -ask.p))
    assert len(queue(bare, overlap, likely=0)) == len(every)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), np.full((1, 2), 1.5), np.full((1, 2), np.nan)])
def test_probabilities_are_checked(wrong: NDArray[np.float64]) -> None:
    with pytest.raises(kt.InputError, match=r"question q, expected \(1, 2\), responses by nuggets"):
        queue(nugget_set({"A": ["one"]}, [True, False], {}), lambda q, r: wrong)


def test_progress_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    queue(kt.load_nuggets("demo-nuggets"), overlap, progress=lambda *args: told.append(args))
    assert told == [(1, 2, "looking for pairs"), (2, 2, "looking for pairs")]


# ------------------------------------------------------------------------------ words that speak


def test_the_share_of_the_words_of_the_best_description() -> None:
    nugget = Nugget("1", ("the rotating lens of Skerry Point", "lamps turn"))
    empty = Nugget("2", ("the of",))
    responses = [
        Response("LENS rotates"),
        Response("A lamp, turned!"),
        Response(""),
        Response("x"),
    ]
    found = overlap(Question("q", (nugget, empty)), responses)
    assert found[:, 0].tolist() == [0.5, 0.98, 0.02, 0.02]
    assert found[:, 1].tolist() == [0.02] * 4


def test_words_that_speak_keep_their_places() -> None:
    text = "\tThe LAMP,  turned\x1b[31m on\n"
    words = spoken(text, Nugget("1", ("a lamp", "it turns")))
    assert [(word.text, word.speaks) for word in words] == [
        ("The", False),
        ("LAMP,", True),
        ("turned\x1b[31m", False),
        ("on", False),
    ]
    assert all(text[word.start : word.end] == word.text for word in words)
    assert spoken("", Nugget("1", ("a",))) == []


def test_words_tell_all_nuggets_that_they_speak_for() -> None:
    nuggets = [Nugget("1", ("a lamp turns",)), Nugget("2", ("bees",)), Nugget("3", ("lamps",))]
    found = [(word.text, numbers) for word, numbers in spoken_for("Lamps and bees", nuggets)]
    assert found == [("Lamps", [0, 2]), ("and", []), ("bees", [1])]
    assert [word.text for word, _ in spoken_for("no nuggets", [])] == ["no", "nuggets"]


def test_chinese_characters_are_words() -> None:
    nugget = Nugget("1", ("設計燈塔",))
    words = spoken("她設計燈塔 lens。", nugget)
    assert [word.text for word in words if word.speaks] == list("設計燈塔")
    assert words[-1].text == "lens。"
    found = overlap(Question("q", (nugget,)), [Response("她設計了船")])
    assert found.tolist() == [[0.5]]


def test_an_excerpt_is_where_most_words_speak_for_the_nugget() -> None:
    nugget = Nugget("1", ("the red lens of glass",))
    short = "A red  lens."
    assert excerpt(short, nugget) == short
    text = " ".join([*["before"] * 50, "a red lens", *["between"] * 4, "of glass", *["after"] * 50])
    found = excerpt(text, nugget, most=13)
    assert found == f"… before a red lens {'between ' * 4}of glass after after after …"
    assert excerpt(text, Nugget("2", ("nothing",)), most=5).count("before") == 5
    assert excerpt("", nugget) == ""
