"""The agenda: after every answer the order is that of a queue which knows the answer."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import world
from nuggets.test_nugget_asking import chances, nugget_set

import karat as kt
from karat.nuggets.judging.agenda import Agenda
from karat.nuggets.judging.asking import Ask, queue
from karat.nuggets.judging.likelihood import overlap
from karat.nuggets.sets.judgements import Judged, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet

RUNS = {"A": ["one", "two words", "Three"], "B": ["one", "four"], "C": ["four", "two words", "x y"]}


def told(nuggets: NuggetSet, ask: Ask, value: float) -> NuggetSet:
    row = Judged(ask.question.id, ask.nugget.id, ask.response.text, value)
    return replace(nuggets, judgements=Judgements((*nuggets.judgements.rows, row)))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=14))
def test_the_order_follows_the_answers(values: list[float]) -> None:
    nuggets = nugget_set(RUNS, [True, False, True], {("one", 0): 1.0})
    agenda = Agenda(nuggets, chances)
    for value in values:
        asks = queue(nuggets, chances)
        assert len(agenda) == len(asks)
        assert agenda.first() == asks[0]
        agenda.answer(value)
        nuggets = told(nuggets, asks[0], value)
    assert len(agenda) == len(queue(nuggets, chances))


def test_an_answer_changes_what_is_asked_next() -> None:
    """Of two responses that may carry a nugget, the second is of no use once the first does."""
    nuggets = nugget_set({"A": ["one", "two"], "B": ["three"]}, [True], {})
    half = lambda q, r: [[0.6 if x.text != "three" else 0.1] for x in r]  # noqa: E731
    for value, then in ((1.0, "three"), (0.0, "two")):
        agenda = Agenda(nuggets, half)
        first = agenda.first()
        assert first is not None
        agenda.answer(value)
        after = agenda.first()
        assert after is not None
        assert after.response.text == (then if first.response.text == "one" else "one")


@given(st.lists(st.sampled_from(["y", "n", "skip", "undo", "undo"]), max_size=20))
def test_undoing_brings_everything_back(actions: list[str]) -> None:
    nuggets = nugget_set(RUNS, [True, True], {})
    agenda = Agenda(nuggets, chances)
    past: list[tuple[Ask, bool]] = []
    for action in actions:
        first = agenda.first()
        if action == "undo" and past:
            ask, skipped = past.pop()
            agenda.take_back(ask, skipped)
            now = agenda.first()
            assert now is not None
            assert (now.response, now.nugget) == (ask.response, ask.nugget)
        elif action == "skip" and first:
            agenda.skip()
            past.append((first, True))
        elif action in "yn" and first:
            agenda.answer(float(action == "y"))
            past.append((first, False))
        answered = sum(not skipped for _, skipped in past)
        assert len(agenda) == len(queue(nuggets, chances)) - answered
    while past:
        agenda.take_back(*past.pop())
    seen = set()
    while (ask := agenda.first()) is not None:
        seen.add((ask.response.normal, ask.nugget.id))
        agenda.answer(0.0)
    assert seen == {(a.response.normal, a.nugget.id) for a in queue(nuggets, chances)}


def test_what_is_skipped_comes_at_the_end_in_its_order() -> None:
    agenda = Agenda(nugget_set(RUNS, [True], {}), chances)
    skipped = []
    for _ in range(2):
        skipped.append(agenda.first())
        agenda.skip()
    asked = []
    while (ask := agenda.first()) is not None:
        asked.append((ask.response, ask.nugget))
        agenda.answer(0.0)
    assert asked[-2:] == [(ask.response, ask.nugget) for ask in skipped if ask]


def test_likely_pairs_keep_their_order() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    bare = NuggetSet("bare", demo.key, demo.runs)
    agenda = Agenda(bare, overlap, likely=0.3)
    rng = random.Random(3)
    for ask in queue(bare, overlap, likely=0.3):
        first = agenda.first()
        assert first is not None
        assert (first.response, first.nugget, first.p) == (ask.response, ask.nugget, ask.p)
        agenda.answer(rng.choice([0.0, 1.0]))
    assert agenda.first() is None


def test_answers_pay() -> None:
    """With the order kept up to date, a run's recall is certain after fewer answers."""
    key, runs, judged = world(questions=4, runs=3)
    nuggets = NuggetSet("s", key, {runs[0].tag: runs[0]})
    agenda = Agenda(nuggets, overlap)
    before = [ask.use for ask in queue(nuggets, overlap)]
    for _ in range(4):
        ask = agenda.first()
        assert ask is not None
        agenda.answer(judged.known[ask.question.id, ask.nugget.id, ask.response.normal])
        nuggets = told(nuggets, ask, 1.0)
    left = sum(ask.use for ask in queue(nuggets, overlap))
    assert left == pytest.approx(sum(before[4:]))
