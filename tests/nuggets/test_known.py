"""Known judgements win, by words; silence of assessors speaks; the rest is guessed."""

from __future__ import annotations

import numpy as np

from karat.nuggets.judgements import Judged, Judgements
from karat.nuggets.keys import Nugget, Question, make_key
from karat.nuggets.known import decide, known_values
from karat.nuggets.pool import Pool, make_pool
from karat.nuggets.runs import Response, make_run

KEY = make_key([Question("q", (Nugget("a", ("one",)), Nugget("b", ("two",))))])


def pool(**runs: list[str]) -> Pool:
    made = [make_run(tag, [("q", Response(text)) for text in said]) for tag, said in runs.items()]
    return make_pool(KEY, made)


def told(*rows: Judged) -> Judgements:
    return Judgements(rows)


def test_known_judgements_win_over_guesses() -> None:
    mine = pool(new=["The  FIRST", "other words"])
    rows = told(Judged("q", "a", "the first", 0.0), Judged("q", "b", "the first", 0.5))
    found = decide(mine, np.array([9.0, 0.0, 9.0, 0.0]), 1.0, rows)
    assert found.known.tolist() == [True, True, False, False]
    assert found.guessed.tolist() == [False, False, True, True]
    assert found.value.tolist() == [0, 0.5, 1, 0]
    assert found.share_known == 0.5


def test_a_score_must_exceed_the_threshold() -> None:
    found = decide(pool(new=["x"]), np.array([1.0, 1.1]), 1.0)
    assert found.value.tolist() == [0, 1]
    assert not found.known.any()


def test_thresholds_may_differ_by_cell() -> None:
    found = decide(pool(new=["x"]), np.array([1.0, 1.0]), np.array([0.5, 2.0]))
    assert found.value.tolist() == [1, 0]


def test_of_contradicting_judgements_the_favourable_counts() -> None:
    rows = told(Judged("q", "a", "x", 1.0, "r"), Judged("q", "a", "X", 0.0, "s"))
    assert known_values(pool(new=["x"]), rows)[0] == 1.0


def test_silence_about_a_judged_run_is_a_negative() -> None:
    rows = told(Judged("q", "a", "x", 1.0, "old"))
    mine = pool(old=["x", "y"], new=["x", "y", "z"])
    found = known_values(mine, rows).reshape(-1, 2)
    # `old` carries a with its x; of its y nothing is known for a, but b is nowhere in it.
    assert found[0].tolist() == [1, 0]
    assert np.isnan(found[1, 0])
    assert found[1, 1] == 0
    # The same words are judged the same in another run; other words are not.
    assert found[2].tolist() == [1, 0]
    assert found[3, 1] == 0
    assert np.isnan(found[4]).all()


def test_silence_about_a_run_left_out_says_nothing() -> None:
    rows = told(Judged("q", "a", "x", 1.0, "old")).without(["old"])
    assert np.isnan(known_values(pool(old=["x", "y"]), rows)).all()


def test_rows_without_a_run_imply_nothing() -> None:
    found = known_values(pool(new=["x"]), told(Judged("q", "a", "x", 1.0)))
    assert found[0] == 1
    assert np.isnan(found[1])


def test_an_empty_pool_is_known_by_nobody() -> None:
    assert decide(pool(new=[]), np.zeros(0), 1.0, told()).share_known == 0.0
