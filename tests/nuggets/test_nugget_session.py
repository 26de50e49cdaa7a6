"""A session: whatever is done and undone, the log says what was answered, and nothing else."""

from __future__ import annotations

import tempfile
from collections import deque
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.nuggets.judging.asking import queue
from karat.nuggets.judging.likelihood import overlap
from karat.nuggets.judging.log import Log
from karat.nuggets.judging.session import ANSWER, NUGGET, SKIP, WORDS, Session
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run

KEY = make_key(
    [
        Question("q", (Nugget("1", ("red lens",)), Nugget("2", ("blue bees",), False))),
        Question("p", (Nugget("1", ("salt",)),)),
    ]
)
RUN = make_run(
    "A", [("q", Response("A red lens")), ("q", Response("no bees")), ("p", Response("salt"))]
)
SET = NuggetSet("s", KEY, MappingProxyType({"A": RUN}))


def read(folder: Path) -> NuggetSet:
    """The key with what the log says."""
    kt.save_nuggets(SET, folder / "set.jsonl") if not (folder / "set.jsonl").exists() else None
    log = folder / "log"
    return kt.load_nuggets(folder / "set.jsonl", log=log if log.exists() else None)


ACTIONS = st.lists(
    st.sampled_from(["y", "p", "n", "skip", "words", "nugget", "undo", "undo"]), max_size=14
)


@given(ACTIONS)
def test_the_log_is_what_was_done_and_not_undone(actions: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asks = queue(SET, overlap)
        with Log(folder / "log") as log:
            session = Session(asks, log, "Ann B")
            model = Model(asks)
            for action in actions:
                if model.waiting or action == "undo":
                    assert act(session, action) == model.act(action)
                assert session.left == len(model.waiting)
            found = read(folder)
            assert found.judgements.known == model.judged()
            assert [len(q.nuggets) for q in found.key.questions.values()] == model.nuggets()
            assert session.judged == sum(kind in "ypn" for kind, _ in model.done)
        left = queue(read(folder), overlap)
        assert {place(a) for a in left if a.nugget.id in "12"} == {place(a) for a in model.waiting}


def place(ask: object) -> tuple[str, str, str]:
    return ask.question.id, ask.nugget.id, ask.response.normal  # type: ignore[attr-defined]


VALUES = {"y": 1.0, "p": 0.5, "n": 0.0}


def act(session: Session, action: str) -> str | None:
    """Do it; what was undone, or that words were no news."""
    if action in VALUES:
        session.answer(VALUES[action])
    elif action == "skip":
        session.skip()
    elif action == "words":
        return None if session.describe("some words") else "known"
    elif action == "nugget":
        session.add("a new fact", True)
    else:
        return session.undo()
    return None


class Model:
    """The same in plain lists, undone by doing all but the last again."""

    def __init__(self, asks: list[object]) -> None:
        self.asks = asks
        self.done: list[tuple[str, object]] = []
        self._replay()

    def act(self, action: str) -> str | None:
        if action == "undo":
            if not self.done:
                return None
            kind, _ = self.done.pop()
            self._replay()
            return {"skip": SKIP, "words": WORDS, "nugget": NUGGET}.get(kind, ANSWER)
        ask = self.waiting[0]
        if action == "words" and any(
            kind == "words" and place(other)[:2] == place(ask)[:2] for kind, other in self.done
        ):
            return "known"
        self.done.append((action, ask))
        self._replay()
        return None

    def _replay(self) -> None:
        self.waiting = deque(self.asks)
        for kind, _ in self.done:
            if kind in VALUES:
                self.waiting.popleft()
            elif kind == "skip":
                self.waiting.append(self.waiting.popleft())

    def judged(self) -> dict[tuple[str, str, str], float]:
        found = {place(ask): VALUES[kind] for kind, ask in self.done if kind in VALUES}
        count = {"q": 2, "p": 1}
        for kind, ask in self.done:
            if kind == "nugget":
                question, _, text = place(ask)
                count[question] += 1
                found[question, f"{count[question]}-Ann-B", text] = 1.0
        return found

    def nuggets(self) -> list[int]:
        added = [place(ask)[0] for kind, ask in self.done if kind == "nugget"]
        return [2 + added.count("q"), 1 + added.count("p")]


def test_marked_words_are_shown_from_then_on(tmp_path: Path) -> None:
    with Log(tmp_path / "log") as log:
        session = Session(queue(SET, overlap), log)
        first = session.current
        assert first is not None
        assert session.describe("lens of a lamp")
        now = session.current
        assert now is not None
        assert now.nugget.descriptions == (*first.nugget.descriptions, "lens of a lamp")
        assert not session.describe("lens of a lamp")
        assert not session.describe(first.nugget.descriptions[0])
        session.undo()
        assert session.current == first
    assert not (tmp_path / "log").exists()


def test_logs_of_several_judges_go_together(tmp_path: Path) -> None:
    for judge in ("ann", "bob"):
        with Log(tmp_path / judge) as log:
            session = Session(queue(SET, overlap), log, judge)
            session.add(f"seen by {judge}", False)
            session.describe(f"words of {judge}")
    kt.save_nuggets(SET, tmp_path / "set.jsonl")
    logs = [tmp_path / "ann", tmp_path / "bob"]
    found = kt.load_nuggets(tmp_path / "set.jsonl", judgements=logs)
    asked = queue(SET, overlap)[0].question.id
    (question,) = (q for q in found.key.questions.values() if q.id == asked)
    added = {nugget.id: nugget.descriptions for nugget in question.nuggets}
    number = len(KEY.questions[asked].nuggets) + 1
    assert added[f"{number}-ann"] == ("seen by ann",)
    assert added[f"{number}-bob"] == ("seen by bob",)
    assert sum(texts[1:] == ("words of ann", "words of bob") for texts in added.values()) == 1


# ------------------------------------------------------------------- what assessors add to keys

KEY_LINES = (
    '{"question": "q", "nuggets": [{"id": "1", "importance": "vital", "descriptions": ["a"]}]}\n'
)
ADDED = '{"question": "q", "nugget": {"id": "2", "importance": "okay", "descriptions": ["new"]}}\n'
WORDS_LINE = '{"question": "q", "nugget": "2", "description": "news"}\n'
JUDGED_LINE = '{"question": "q", "nugget": "2", "response": "r", "value": 1}\n'


def load(folder: Path, log: str, *, skip_unknown: bool = False, key: str = KEY_LINES) -> NuggetSet:
    (folder / "key.jsonl").write_text(key)
    (folder / "log").write_text(log)
    return kt.load_nuggets(folder / "key.jsonl", log=folder / "log", skip_unknown=skip_unknown)


def test_lines_may_stand_in_any_order(tmp_path: Path) -> None:
    one = load(tmp_path, ADDED + WORDS_LINE + JUDGED_LINE)
    assert one.key == load(tmp_path, JUDGED_LINE + WORDS_LINE + ADDED).key
    assert one.key.questions["q"].nuggets[1] == Nugget("2", ("new", "news"), False)
    assert one.judgements.known == {("q", "2", "r"): 1.0}
    together = load(tmp_path, "", key=WORDS_LINE + ADDED + JUDGED_LINE + KEY_LINES)
    assert (together.key, together.judgements.known) == (one.key, one.judgements.known)


def test_what_the_key_has_already_is_not_added_again(tmp_path: Path) -> None:
    log = ADDED + WORDS_LINE + JUDGED_LINE
    once = load(tmp_path, log)
    kt.save_nuggets(once, tmp_path / "all.jsonl")
    again = kt.load_nuggets(tmp_path / "all.jsonl", log=tmp_path / "log")
    assert again.key == once.key
    assert load(tmp_path, log + log).key == once.key


def test_a_log_stands_beside_the_judgements_there_are(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("q 1 vital a b\n")
    (tmp_path / "log").write_text(JUDGED_LINE.replace('"2"', '"1"'))
    alone = kt.load_nuggets(tmp_path / "key.txt", log=tmp_path / "log")
    assert alone.judgements.known == {("q", "1", "r"): 1.0}  # a key is never read as judgements
    (tmp_path / "judged.txt").write_text("q A 1 d other\n")
    both = kt.load_nuggets(
        tmp_path / "key.txt", judgements=[tmp_path / "judged.txt"], log=tmp_path / "log"
    )
    assert both.judgements.known == {("q", "1", "r"): 1.0, ("q", "1", "other"): 0.0}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (ADDED.replace('"q"', '"x"'), "a nugget of question 'x', which is not in the key"),
        (WORDS_LINE.replace('"q"', '"x"'), "words for a nugget of question 'x', which is not in"),
        (WORDS_LINE, "words for nugget '2', which question q does not have (1)"),
        (WORDS_LINE.replace("news", " "), "no words for nugget 2, expected some"),
        (ADDED.replace('"2"', '"1"'), "question q has nugget 1 already ("),
        (ADDED.replace("new", " "), "nugget 2 has no description, expected words"),
        (ADDED.replace("okay", "odd"), "found the nugget {'id': '2', 'importance': 'odd'"),
        (ADDED.replace("}}", '}, "x": 1}'), "found the name 'x', expected question, nugget"),
        (WORDS_LINE.replace('"news"', "7"), "found 7 for 'description', expected a string"),
        (JUDGED_LINE, "a judgement of nugget '2', which question q does not have (1)"),
    ],
)
def test_bad_additions(tmp_path: Path, line: str, expected: str) -> None:
    with pytest.raises(kt.InputError) as caught:
        load(tmp_path, line)
    assert str(caught.value).startswith(f"{tmp_path / 'log'}, line 1: {expected}")


def test_additions_to_unknown_questions_may_be_left_out(tmp_path: Path) -> None:
    lines = (ADDED + WORDS_LINE + JUDGED_LINE).replace('"q"', '"x"')
    found = load(tmp_path, lines, skip_unknown=True)
    assert len(found.key.questions["q"].nuggets) == 1
    assert not found.judgements.rows


def test_additions_go_where_judgements_go(tmp_path: Path) -> None:
    """Judgements that are named replace those with the key, and so do additions."""
    (tmp_path / "all.jsonl").write_text(KEY_LINES + ADDED + WORDS_LINE)
    (tmp_path / "other.jsonl").write_text(JUDGED_LINE.replace('"2"', '"1"'))
    assert len(kt.load_nuggets(tmp_path / "all.jsonl").key.questions["q"].nuggets) == 2
    found = kt.load_nuggets(tmp_path / "all.jsonl", judgements=[tmp_path / "other.jsonl"])
    assert len(found.key.questions["q"].nuggets) == 1
