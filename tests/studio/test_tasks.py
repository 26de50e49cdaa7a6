"""Tasks: answers that are right, and sentences for those that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from karat.errors import InputError
from karat.studio.store.settings import CalibrationItem, ProjectSettings, Show
from karat.studio.tasks import TASKS
from karat.studio.tasks.ratings import SCALES, make_scale, rating_error
from karat.studio.tasks.task import AssignmentView, NuggetView, OutputView

TEXT = "a𝒳cé"  # four code points, five units of UTF-16, eight bytes of UTF-8
OWN = {"dimension": "tone", "low": 0, "high": 1, "step": 0.25}
GIVEN: dict[str, dict[str, Any]] = {
    "ratings": {"scales": ["quality-7", OWN]},
    "pairs": {},
    "spans": {"scheme": "mqm"},
    "nuggets": {},
}


def make_view(task: str, **given: Any) -> AssignmentView:
    settings = TASKS[task].settings(given or GIVEN[task])
    outputs = tuple(OutputView(id, TEXT) for id in ((5, 2) if task == "pairs" else (5,)))
    nuggets = (NuggetView("1", "vital", ("x",)), NuggetView("b", "okay", ("y",)))
    return AssignmentView(1, task, settings, outputs, nuggets=nuggets if task == "nuggets" else ())


def span(start: object = 0, end: object = 4, **more: object) -> dict[str, object]:
    return {"start": start, "end": end, "severity": "major", "category": "Other", **more}


def labels(**more: object) -> dict[str, object]:
    return {"nuggets": {"1": {"label": "support"}, "b": {"label": "none", **more}}}


RIGHT: dict[str, list[Any]] = {
    "ratings": [
        {"ratings": {"quality": 7, "tone": 0.75}, "comment": "x" * 2000},
        {"ratings": {"quality": 1.0, "tone": 0}, "done": True},
        {"ratings": {"quality": 1}, "done": False},
        {"done": False},
    ],
    "pairs": [{"choice": "first"}, {"choice": "tie", "comment": ""}, {"done": False}],
    "spans": [
        {"spans": []},
        {"spans": [span(), span(1, 3), span(0, 4, note="why")]},
        {"done": False},
    ],
    "nuggets": [
        labels(),
        labels(label="partial", evidence=[{"start": 3, "end": 4}, {"start": 0, "end": 4}]),
        {"nuggets": {"b": {"label": "none"}}, "done": False},
        {"nuggets": {"b": {"evidence": [{"start": 0, "end": 1}]}}, "done": False},
    ],
}

WRONG: dict[str, list[tuple[Any, str]]] = {
    "ratings": [
        (None, "found None, expected an object with ratings, comment, done"),
        ({"rating": {}}, "found the key 'rating', expected ratings, comment, done"),
        ({"ratings": []}, "found ratings=[], expected an object of values by dimension"),
        ({"ratings": {"quality": 3}}, "no value for tone"),
        ({"ratings": {"x": 3}}, "found the dimension 'x', expected quality, tone"),
        ({"ratings": {"quality": 8}}, "found quality=8, expected a whole number from 1 to 7"),
        ({"ratings": {"quality": 2.5}}, "found quality=2.5, expected a whole number from 1"),
        ({"ratings": {"quality": True}}, "found quality=True, expected a whole number"),
        ({"ratings": {"quality": "3"}}, "found quality='3', expected a whole number"),
        ({"ratings": {"quality": float("nan")}}, "found quality=nan, expected a whole number"),
        ({"ratings": {"quality": 10**400}}, "found quality=1000"),
        ({"ratings": {"tone": 0.3}}, "found tone=0.3, expected a number from 0 to 1 in steps of"),
        ({"comment": 3}, "found comment=3, expected a text"),
        ({"comment": "x" * 2001}, "the comment has 2,001 characters, expected at most 2,000"),
        ({"comment": "\udc00"}, "the comment holds half a character"),
        ({"done": 1}, "found done=1, expected true or false"),
    ],
    "pairs": [
        ({}, "found choice=None, expected one of first, second, tie"),
        ({"choice": "left"}, "found choice='left', expected one of first, second, tie"),
        ({"choice": ["first"]}, "found choice=['first'], expected one of"),
    ],
    "spans": [
        ({}, "no spans: expected a list, which is empty if there is no error"),
        ({"spans": {}}, "found spans={}, expected a list"),
        ({"spans": [span()] * 201}, "found 201 spans, expected at most 200"),
        ({"spans": ["x"]}, "found 'x' among spans, expected objects with start and end"),
        ({"spans": [span(0, 5)]}, "from 0 to 5, expected whole numbers with 0 <= start < end <= 4"),
        ({"spans": [span(-1, 2)]}, "found a span from -1 to 2, expected"),
        ({"spans": [span(2, 2)]}, "found a span from 2 to 2, expected"),
        ({"spans": [span(False, 2)]}, "found a span from False to 2, expected"),
        ({"spans": [span(0.0, 2)]}, "found a span from 0.0 to 2, expected"),
        ({"spans": [span(severity="bad")]}, "found severity='bad', expected one of neutral, minor"),
        ({"spans": [span(category="x")]}, "found category='x', expected one of Accuracy/Addition"),
        ({"spans": [span(colour=1)]}, "found the key 'colour' in a span, expected start, end"),
        ({"spans": [span(note="x" * 501)]}, "the note has 501 characters"),
        ({"spans": [], "score": 5}, "found the key 'score', expected spans, comment, done"),
    ],
    "nuggets": [
        ({"nuggets": {"1": {"label": "none"}}}, "no label for nugget b"),
        ({"nuggets": {"2": {"label": "none"}}}, "found the nugget '2', expected 1, b"),
        ({"nuggets": 3}, "found nuggets=3, expected an object by nugget"),
        (
            labels(label="yes"),
            "nugget b: found label='yes', expected one of support, partial, none",
        ),
        ({"nuggets": {"1": {"evidence": []}}}, "nugget 1: found label=None, expected one of"),
        (labels(why="x"), "nugget b: found the key 'why', expected label and evidence"),
        ({"nuggets": {"1": "none"}}, "nugget 1: found 'none', expected an object with label"),
        (labels(evidence=[{"start": 0, "end": 9}]), "nugget b: found a span from 0 to 9"),
        (labels(evidence=[span()]), "nugget b: found other keys in the evidence"),
        (labels(evidence=3), "nugget b: found evidence=3, expected a list"),
    ],
}


@pytest.mark.parametrize(("task", "value"), [(t, v) for t in RIGHT for v in RIGHT[t]])
def test_a_right_answer_is_taken(task: str, value: object) -> None:
    assert TASKS[task].find_error(value, make_view(task)) == ""


@pytest.mark.parametrize(
    ("task", "value", "message"), [(t, *row) for t in WRONG for row in WRONG[t]]
)
def test_a_wrong_answer_is_refused_in_one_sentence(task: str, value: object, message: str) -> None:
    error = TASKS[task].find_error(value, make_view(task))
    assert message in error
    assert len(error) < 700


def test_ties_may_be_forbidden() -> None:
    error = TASKS["pairs"].find_error({"choice": "tie"}, make_view("pairs", ties=False))
    assert error == "found choice='tie', expected one of first, second"


def test_esa_has_a_score_and_no_categories() -> None:
    task, esa = TASKS["spans"], make_view("spans", scheme="esa")
    mark = {"start": 0, "end": 2, "severity": "minor"}
    assert task.find_error({"spans": [mark], "score": 70}, esa) == ""
    assert task.find_error({"spans": [mark], "score": 101}, esa).endswith("from 0 to 100")
    assert task.find_error({"spans": [mark]}, esa).startswith("found score=None, expected a whole")
    assert "found severity='critical'" in task.find_error(
        {"spans": [{**mark, "severity": "critical"}]}, esa
    )
    assert "found the key 'category'" in task.find_error({"spans": [span()]}, esa)


def test_what_is_judged_together() -> None:
    targets = {name: task.targets([4, 6, 9]) for name, task in TASKS.items()}
    assert targets.pop("pairs") == [(4, 6), (4, 9), (6, 9)]
    assert targets == {name: [(4,), (6,), (9,)] for name in ("ratings", "spans", "nuggets")}


def test_answers_become_judgements() -> None:
    rows = TASKS["ratings"].to_judgements({"ratings": {"quality": 3, "tone": 1}}, [5])
    assert rows == [(5, "quality", 3), (5, "tone", 1)]
    assert TASKS["pairs"].to_judgements({"choice": "second"}, [5, 2]) == [
        (5, "win", 0.0),
        (2, "win", 1.0),
    ]
    assert TASKS["pairs"].to_judgements({"choice": "tie"}, [5, 2])[0] == (5, "win", 0.5)
    assert TASKS["nuggets"].to_judgements(labels(label="partial"), [5]) == [
        (5, "1", 1.0),
        (5, "b", 0.5),
    ]
    rows = TASKS["spans"].to_judgements({"spans": [span()], "score": 3}, [5])
    assert rows == [(5, "spans", [span()]), (5, "score", 3)]


LIKENESS = [
    ("ratings", {"ratings": {"quality": 4, "tone": 1}}, {"ratings": {"quality": 7}}, 0.5),
    ("pairs", {"choice": "second"}, {"choice": "first"}, 1.0),  # shown swapped
    ("pairs", {"choice": "first"}, {"choice": "first"}, 0.0),
    ("pairs", {"choice": "tie"}, {"choice": "tie"}, 1.0),
    ("spans", {"spans": [span(0, 2)]}, {"spans": [span(1, 4)]}, 2 * 1 / 5),
    ("spans", {"spans": []}, {"spans": []}, 1.0),
    ("nuggets", labels(), labels(label="support"), 0.5),
]


@pytest.mark.parametrize(("task", "value", "answer", "expected"), LIKENESS)
def test_similarity_to_known_answers(task: str, value: Any, answer: Any, expected: float) -> None:
    assert TASKS[task].similarity(value, answer, make_view(task)) == pytest.approx(expected)


def test_scales_have_the_words_of_the_papers() -> None:
    quality, easy = SCALES["quality-7"], SCALES["understandability-7"]
    assert quality["guideline"] == "How well-written is this sentence?"
    assert quality["labels"] == {"7": "Extremely well-written", "4": "Pretty bad", "1": "Horrible"}
    assert easy["guideline"] == "How easy is this sentence to understand?"
    assert easy["labels"] == {"7": "Extremely easy", "4": "Just barely possible", "1": "Impossible"}
    assert SCALES["adequacy-5"]["guideline"] == "Is the meaning preserved adequately?"
    assert SCALES["paraphrase-5"]["labels"] == {"5": "Perfect", "1": "Unacceptable"}
    for name, scale in SCALES.items():
        assert name == f"{scale['dimension']}-{scale['high']}"
        assert scale["low"] == (0 if scale["high"] == 100 else 1)
        assert all(not rating_error(scale, int(value)) for value in scale["labels"])
        assert make_scale(scale) == make_scale(name) == scale


SETTINGS: list[tuple[Any, str]] = [
    ({"tasks": {}}, "a project needs a task: expected one of ratings, pairs, spans, nuggets"),
    ({"tasks": {"essay": {}}}, "no task 'essay': expected one of ratings"),
    ({"tasks": {"ratings": {}}}, "task ratings: expected scales, such as quality-7"),
    ({"tasks": {"ratings": {"scales": ["quality-9"]}}}, "no scale 'quality-9'"),
    ({"tasks": {"ratings": {"scales": [7]}}}, "no scale 7"),
    ({"tasks": {"ratings": {"scales": ["fluency-5"] * 2}}}, "two scales of fluency"),
    ({"tasks": {"ratings": {"scales": [OWN | {"low": 2}]}}}, "scale tone: found 2 to 1 in steps"),
    ({"tasks": {"ratings": {"scales": [OWN | {"x": 2}]}}}, "a scale of the owner's: found 'x'"),
    ({"tasks": {"ratings": {"scales": [{"low": 2}]}}}, "owner's: dimension is missing"),
    ({"tasks": {"ratings": {"scales": [OWN | {"better": "up"}]}}}, "found better='up'"),
    ({"tasks": {"ratings": {"scales": [OWN | {"compares": 1}]}}}, "found compares=1, expected"),
    ({"tasks": {"pairs": {"ties": 1}}}, "task pairs: found ties=1, expected true or false"),
    ({"tasks": {"pairs": {"x": 1}}}, "task pairs: found the setting 'x', expected ties, question"),
    ({"tasks": {"nuggets": {"x": 1}}}, "task nuggets: found the setting 'x', expected none"),
    ({"tasks": {"spans": {"scheme": "x"}}}, "task spans: found scheme='x', expected one of mqm"),
    ({"tasks": {"spans": {"severities": []}}}, "found severities=[], expected a list of names"),
    ({"tasks": {"spans": {"categories": ["a", "a"]}}}, "a name occurs twice among categories"),
    ({"overlap": 0}, "overlap=0: expected a whole number, 1 or more"),
    ({"quota": 1.5}, "quota=1.5: expected a whole number, 1 or more"),
    ({"lease_seconds": True}, "lease_seconds=True: expected a whole number"),
    ({"random_share": 1.5}, "random_share=1.5: expected a number from 0 to 1"),
    ({"seed": -1}, "seed=-1: expected a whole number, 0 or more"),
    ({"calibration": [CalibrationItem("spans", ("x",), {})]}, "the project has no task 'spans'"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        ProjectSettings(**{"tasks": {"pairs": {}}, **settings})
    assert message in str(caught.value)


def test_settings_are_stored_as_text_and_read_again() -> None:
    item = CalibrationItem("pairs", ("a", "b"), {"choice": "tie"}, "source", ("r",), ("n",))
    settings = ProjectSettings(
        GIVEN | {"spans": {"scheme": "esa", "severities": ["x"]}},
        Show(reference=True),
        overlap=3,
        quota=7,
        calibration=(item,),
        seed=5,
    )
    assert ProjectSettings.from_json(settings.to_json()) == settings


def test_scales_that_compare_say_so() -> None:
    comparing = {scale["dimension"] for scale in SCALES.values() if scale["compares"]}
    assert comparing == {"adequacy", "dissimilarity", "paraphrase", "coverage"}
    assert all(scale["compares"] == (scale["dimension"] in comparing) for scale in SCALES.values())
