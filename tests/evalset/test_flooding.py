"""Flooded answers: which, how many, with what, and what becomes of their ratings."""

from __future__ import annotations

from dataclasses import replace

import pytest

import karat as kt
from karat.errors import InputError
from karat.evalset.flooding import Flood, flood

LONG = "This is a sentence about topic {} that has quite enough words in it ."


def answers(low: float | None = 0.0, systems: int = 7, segments: int = 9) -> kt.EvalSet:
    """The k-th system is right on all but k segments; its second judge is half as kind."""
    outputs = {
        f"s{k}": [LONG.format(j) + " Short one ." for j in range(segments)] for k in range(systems)
    }
    rows = [
        (f"s{k}", str(j + 1), judge, "right", float(j >= k) * share)
        for k in range(systems)
        for j in range(segments)
        for judge, share in (("a", 1.0), ("b", 0.5))
    ]
    return kt.make_evalset(
        "answers",
        outputs,
        references=["x"] * segments,
        judgements=rows,
        dimensions=[kt.Dimension("right", low=low, high=1.0), kt.Dimension("other")],
    )


def test_two_thirds_of_the_correct_answers_of_the_paper_s_places_are_flooded() -> None:
    evalset = answers()
    actual_flooded = flood(evalset, Flood("right"))
    assert actual_flooded.systems == ("s0", "s1", "s2", "s5")
    counts = {
        name: sum(system == name for system, _ in actual_flooded.rows) for name in evalset.systems
    }
    assert counts == {"s0": 6, "s1": 5, "s2": 5, "s3": 0, "s4": 0, "s5": 3, "s6": 0}
    flooded = set(actual_flooded.rows)
    for name, texts in evalset.systems.items():
        for j, text in enumerate(texts):
            new = actual_flooded.evalset.systems[name][j] or ""
            if (name, str(j + 1)) not in flooded:
                assert new == text
                continue
            assert new.startswith(f"{text} ")
            added = new.removeprefix(f"{text} ")
            assert added.count("This is a sentence") == 2
            assert f"topic {j} " not in added
            assert j >= int(name[1:])  # it was correct
    for old, row in zip(evalset.judgements, actual_flooded.evalset.judgements, strict=True):
        share = 0.5 if (row.system, row.segment) in flooded else 1.0
        assert row == old._replace(value=share * old.value)
    assert actual_flooded.evalset.name == "answers-flooded"


@pytest.mark.parametrize(("scale", "correct"), [((0.0, 1.0), 0.5), ((1.0, 5.0), 3.0)])
def test_answers_are_correct_from_the_middle_of_the_scale(
    scale: tuple[float, float], correct: float
) -> None:
    low, high = scale
    evalset = answers()
    rows = replace(evalset.judgements, value=low + (high - low) * evalset.judgements.value)
    wider = replace(
        evalset,
        judgements=rows,
        dimensions={"right": kt.Dimension("right", low=low, high=high)},
    )
    flooded = flood(wider, Flood("right"))
    assert flooded.rows == flood(evalset, Flood("right")).rows  # the wrong answers stay as they are
    assert flooded.settings["correct"] == correct
    assert flooded.notes == (
        f"Answers count as correct at or above right {correct:g}, the middle of its scale, "
        f"{low:g} to {high:g}.",
    )
    assert flood(wider, Flood("right", correct=high)).notes == (
        f"Answers count as correct at or above right {high:g}.",
    )


def test_without_a_scale_the_lowest_correct_rating_must_be_set() -> None:
    bare = replace(answers(), dimensions={"right": kt.Dimension("right")})
    message = r"answers: right has no stated scale, so its middle is unknown; set .*--correct X"
    with pytest.raises(InputError, match=message):
        flood(bare, Flood("right"))
    assert flood(bare, Flood("right", correct=0.5)).rows


def test_ratings_fall_towards_the_lower_end_of_their_scale() -> None:
    evalset = answers(low=-1.0)
    flooded = flood(evalset, Flood("right", systems=("s0",), share=1, downgrade=0.25))
    assert len(flooded.rows) == 9
    values = {row.judge: row.value for row in flooded.evalset.judgements if row.system == "s0"}
    assert values == {"a": -1 + 0.25 * 2, "b": -1 + 0.25 * 1.5}


def test_a_seed_chooses_and_repeats() -> None:
    item, repeated, other = (flood(answers(), Flood("right", seed=s)) for s in (1, 1, 2))
    assert item.evalset == repeated.evalset
    assert item.rows != other.rows


def test_an_answer_that_is_not_there_is_not_flooded() -> None:
    evalset = answers()
    outputs = {name: list(texts) for name, texts in evalset.systems.items()}
    outputs["s0"][4] = None
    gone = replace(evalset, systems={name: tuple(texts) for name, texts in outputs.items()})
    flooded = flood(gone, Flood("right", systems=("s0",), share=1))
    assert flooded.evalset.systems["s0"][4] is None
    assert ("s0", "5") not in flooded.rows
    assert len(flooded.rows) == 8


def test_sentences_come_from_other_groups() -> None:
    evalset = replace(answers(), groups=("g", "g", "g", *"abcdef"))
    flooded = flood(evalset, Flood("right", systems=("s0",), share=1))
    for j in range(3):
        added = (flooded.evalset.systems["s0"][j] or "").removeprefix(
            evalset.systems["s0"][j] or ""
        )
        assert not any(f"topic {k} " in added for k in range(3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimension": "wrong"}, "answers has no dimension 'wrong'"),
        ({"systems": ("x",)}, r"answers has no system 'x' \(it has s0"),
        ({"systems": ("s1", "s1")}, "system 's1' is named twice"),
        ({"share": 1.5}, "share=1.5: expected 0 to 1"),
        ({"downgrade": float("nan")}, "downgrade=nan: expected 0 to 1"),
        ({"correct": float("nan")}, "correct=nan: expected a finite number"),
        ({"correct": float("inf")}, "correct=inf: expected a finite number"),
        ({"correct": 1.5}, "no answer can be correct, because the scale of right ends at 1"),
        ({"sentences": 0}, "sentences=0: expected at least 1"),
        ({"sentences": 100}, "sentences of 12 words or more outside segment"),
        ({"dimension": "other"}, "other has no judgements, so no answer is correct"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        flood(answers(), Flood(**{"dimension": "right", **settings}))  # type: ignore[arg-type]


def test_a_dimension_must_rise_and_have_a_lower_end() -> None:
    evalset = answers()
    turned = replace(evalset, dimensions={"right": kt.Dimension("right", better="lower")})
    with pytest.raises(InputError, match="right: flooding needs a dimension in which higher is"):
        flood(turned, Flood("right"))
    rows = replace(evalset.judgements, value=evalset.judgements.value - 3)
    below = replace(answers(low=None), judgements=rows)
    with pytest.raises(InputError, match="right: a rating below 0 cannot be lowered"):
        flood(below, Flood("right", correct=-5))
