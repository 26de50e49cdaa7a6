"""Adjudication in a real browser by the keyboard, and what the server takes for a decision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.store_rows import AdjudicationRow, decisions, events
from studio.web.browser_page import Visitor
from studio.web.judged_server import judged_server
from studio.web.studio_server import SYSTEMS, Client, StudioServer

from karat.studio.contents import read_contents
from karat.studio.export.formats import make_labels
from karat.studio.store.people import read_trail
from karat.studio.store.store import Store

DONE = "() => document.querySelector('.place')?.textContent.startsWith('Dispute {}') ?? false"


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[StudioServer]:
    judged = judged_server(tmp_path, getattr(request, "param", "ratings"), 4)
    yield judged
    judged.stop()


def stored_decisions(server: StudioServer, with_superseded: bool = False) -> list[AdjudicationRow]:
    with Store.reading(server.store) as store:
        return decisions(store, with_superseded)


def arrive(visitor: Visitor, number: int) -> None:
    visitor.page.wait_for_function(DONE.format(number))


def test_five_adjudications_by_keys(browser: Any, server: StudioServer) -> None:
    zoe = Visitor(browser, server, "zoe", viewport={"width": 390, "height": 800})
    zoe.open("/adjudicate")
    arrive(zoe, 1)
    statements = zoe.page.locator(".statement .said").all_text_contents()
    assert len(statements) == 3
    for k in range(5):
        arrive(zoe, k + 1)
        zoe.press("A" if k == 0 else str(k), "Enter")
    arrive(zoe, 6)
    zoe.check_inert()
    assert not any(name in text for text in zoe.received() for name in (*SYSTEMS, "ann", "cleo"))
    first, *rest = stored_decisions(server)
    assert str(first.value["value"]) == statements[0].partition(":")[0]
    assert [row.value for row in rest] == [{"value": k} for k in (1, 2, 3, 4)]
    assert all(len(row.seen) == 3 for row in (first, *rest))
    with Store.reading(server.store) as store:
        rows, total = read_trail(store, 1, 50)
        zoe_id = first.assessor
        decide_rows = [row for row in rows if row.event == "decide"]
        assert [row.assessor for row in decide_rows] == [zoe_id] * 5
        assert total == len(rows)
        labels = make_labels(read_contents(store))
        assert sum(row.basis == "adjudicated" for row in labels) == 5


def test_undoing_comments_and_names(browser: Any, server: StudioServer) -> None:
    zoe = Visitor(browser, server, "zoe", color_scheme="dark")
    zoe.open("/adjudicate")
    arrive(zoe, 1)
    zoe.press("Enter")  # nothing is chosen
    assert zoe.page.text_content("#told") != ""
    zoe.press("2", "c")
    zoe.page.keyboard.type("b A 5 <b>")
    zoe.press("Escape", "Enter")
    arrive(zoe, 2)
    assert [row.value for row in stored_decisions(server)] == [{"value": 2, "comment": "b A 5 <b>"}]
    zoe.press("u")
    zoe.page.wait_for_function("() => document.getElementById('saved').textContent === 'Undone'")
    assert stored_decisions(server) == []
    assert [row.value for row in stored_decisions(server, with_superseded=True)][1:] == [None]
    zoe.press("3", "Enter")
    arrive(zoe, 2)
    assert [row.value for row in stored_decisions(server)] == [{"value": 3}]
    assert "bob" not in zoe.page.text_content("#judge")
    zoe.press("W")
    zoe.page.wait_for_function("() => document.getElementById('judge').textContent.includes('bob')")
    with Store.reading(server.store) as store:
        (request_event,) = [row for row in events(store) if row.what == "names"]
        assert request_event.assessor == stored_decisions(server)[0].assessor
    assert zoe.faults == []


def test_drafts_stay_when_a_dispute_is_left(browser: Any, server: StudioServer) -> None:
    zoe = Visitor(browser, server, "zoe")
    zoe.open("/adjudicate")
    arrive(zoe, 1)
    zoe.press("2", "c")
    zoe.page.keyboard.type("not sure")
    zoe.press("Escape", "k")
    arrive(zoe, 2)
    assert zoe.page.input_value("#judge textarea") == ""
    zoe.press("c")
    zoe.page.keyboard.type("only a comment")
    zoe.press("Escape", "b")
    arrive(zoe, 1)
    assert zoe.page.input_value("#judge textarea") == "not sure"
    assert "your draft" in zoe.page.text_content(".place")
    zoe.page.reload()
    arrive(zoe, 1)
    assert zoe.page.input_value("#judge textarea") == "not sure"
    zoe.press("Enter")
    arrive(zoe, 2)
    assert zoe.page.input_value("#judge textarea") == "only a comment"
    assert [row.value for row in stored_decisions(server)] == [{"value": 2, "comment": "not sure"}]
    zoe.press("b")
    arrive(zoe, 1)
    assert "your draft" not in zoe.page.text_content(".place")


def test_the_second_of_two_decisions_is_told(browser: Any, server: StudioServer) -> None:
    owner, zoe = Visitor(browser, server, "owner"), Visitor(browser, server, "zoe")
    for person in (owner, zoe):
        person.open("/adjudicate")
        arrive(person, 1)
    owner.press("1", "Enter")
    arrive(owner, 2)
    zoe.press("4", "c")
    zoe.page.keyboard.type("mine")
    zoe.press("Escape", "Enter")
    zoe.page.wait_for_selector("#saved.failed")
    assert "somebody else decided this meanwhile" in zoe.page.text_content("#saved")
    assert "Decided: 1" in zoe.page.text_content(".place")
    assert zoe.page.input_value("#judge textarea") == "mine"
    assert [row.value for row in stored_decisions(server)] == [{"value": 1}]
    zoe.press("Enter")  # the other decision was seen
    arrive(zoe, 2)
    assert [row.value for row in stored_decisions(server)] == [{"value": 4, "comment": "mine"}]


def test_a_decision_outlives_a_restart_of_the_server(browser: Any, server: StudioServer) -> None:
    zoe = Visitor(browser, server, "zoe")
    zoe.open("/adjudicate")
    arrive(zoe, 1)
    server.kill()
    zoe.press("2", "Enter")
    zoe.page.wait_for_selector("#saved.failed")
    assert "does not answer" in zoe.page.text_content("#saved")
    server.start()
    zoe.press("Enter")
    arrive(zoe, 2)
    assert [row.value for row in stored_decisions(server, with_superseded=True)] == [{"value": 2}]


def test_adjudication_ends_with_the_reveal(browser: Any, server: StudioServer) -> None:
    owner, zoe = Client(server, "owner"), Visitor(browser, server, "zoe")
    assert owner.ask("POST", "/api/owner/freeze", {}).status == 200
    zoe.open("/adjudicate")
    arrive(zoe, 1)
    zoe.press("2", "Enter")
    arrive(zoe, 2)
    assert owner.ask("POST", "/api/owner/reveal", {}).status == 200
    zoe.press("3", "Enter")
    zoe.page.wait_for_selector("#saved.failed")
    assert "would not be blind" in zoe.page.text_content("#saved")
    assert [row.value for row in stored_decisions(server)] == [{"value": 2}]
    zoe.open("/adjudicate")
    assert "would not be blind" in zoe.page.text_content("main")
    zoe.check_inert()


@pytest.mark.parametrize("server", ["pairs", "spans", "nuggets"], indirect=True)
def test_decisions_on_other_tasks(browser: Any, server: StudioServer) -> None:
    zoe = Visitor(browser, server, "zoe")
    zoe.open("/adjudicate")
    for k in (1, 2):
        arrive(zoe, k)
        zoe.press("B", "Enter")
    arrive(zoe, 3)
    zoe.check_inert()
    rows = stored_decisions(server)
    assert len(rows) == 2
    with Store.reading(server.store) as store:
        labels = make_labels(read_contents(store))
    about = 4 if rows[0].task == "spans" else 2  # a score and a penalty for each output
    assert sum(label.basis == "adjudicated" for label in labels) == about


def dispute(client: Client) -> dict[str, Any]:
    first = client.ask("GET", "/api/disputes").json["disputes"][0]
    path = f"/api/disputes/{first['judgement']}?about={first['about']}"
    content: dict[str, Any] = client.ask("GET", path).json
    return content


def test_the_server_takes_only_answers_to_what_is_disputed(server: StudioServer) -> None:
    zoe = Client(server, "zoe")
    content = dispute(zoe)
    target = {name: content[name] for name in ("task", "item", "output", "about")}
    right = {"ratings": {content["about"]: 3}}

    def send(**more: Any) -> int:
        sent = {"uuid": str(uuid4()), **target, "answer": right, "supersedes": None, **more}
        return zoe.ask("POST", "/api/adjudications", sent).status

    wrong: tuple[dict[str, Any], ...] = (
        {"answer": {"ratings": {content["about"]: 99}}},
        {"answer": {"ratings": {"quality": 3, "fluency": 3}}},
        {"answer": {"ratings": {}}},
        {"answer": {**right, "done": False}},
        {"answer": 3},
        {"answer": {"choice": "first"}},
        {"item": 999},
        {"item": True},
        {"output": 999},
        {"output": "1"},
        {"about": "other"},
        {"about": 1},
        {"task": "pairs"},
        {"uuid": "none"},
        {"supersedes": str(uuid4())},
        {"seen": [1]},
        {"assessor": 1},
    )
    assert [send(**request) for request in wrong] == [422] * len(wrong)
    assert stored_decisions(server) == []
    once = str(uuid4())
    assert [send(uuid=once), send(uuid=once)] == [200, 200]
    assert len(stored_decisions(server)) == 1
    assert send() == 409  # it does not name the decision that it replaces
    assert send(supersedes=once) == 200
    assert zoe.ask("GET", "/api/disputes/999999?about=x").status == 404
