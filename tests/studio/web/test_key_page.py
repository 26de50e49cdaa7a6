"""The key editor in a real browser, by keys and by mouse, and after kills and lost answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.judged_store import judge_all, make_store
from studio.web.browser_page import Visitor
from studio.web.studio_server import HOSTILE, SYSTEMS, Client, StudioServer

from karat.nuggets.formats.loading import load_nuggets
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.studio.key_editing import view_question
from karat.studio.store.people import invite
from karat.studio.store.store import Store

SAVED = "text => document.getElementById('saved').textContent.startsWith(text)"


def hostile_key() -> NuggetSet:
    """Questions, nuggets and responses of hostile text."""
    key = make_key(
        Question(
            f"q{k} {HOSTILE}",
            tuple(
                Nugget(f"{n} {HOSTILE}", (f"fact {k}.{n} {HOSTILE}",), n == 1) for n in (1, 2, 3)
            ),
            f"question {k} {HOSTILE}",
        )
        for k in range(3)
    )
    runs = [
        make_run(tag, [(id, Response(f"response {n} to {id}")) for id in key.questions])
        for n, tag in enumerate(SYSTEMS[:2])
    ]
    return NuggetSet(f"facts {HOSTILE}", key, {run.tag: run for run in runs})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudioServer]:
    store = make_store(tmp_path / "judged.sqlite", hostile_key(), 2, tasks={"nuggets": {}})
    judge_all(store)
    invite(store, "olga", "owner")
    store.close()
    studio = StudioServer(tmp_path, "judged")
    yield studio
    studio.stop()


def look(server: StudioServer, item: int = 1) -> dict[str, Any]:
    with Store.reading(server.store) as store:
        assert store.check().ok
        return view_question(store, item)


def words(server: StudioServer, item: int = 1) -> list[tuple[str, ...]]:
    nuggets = look(server, item)["nuggets"]
    return [(nugget["importance"], *nugget["descriptions"]) for nugget in nuggets]


def editor(browser: Any, server: StudioServer, **more: Any) -> Visitor:
    visitor = Visitor(browser, server, "olga", **more)
    visitor.open("/key")
    visitor.page.wait_for_selector(".nuggets > li")
    return visitor


def saved(visitor: Visitor, message: str) -> None:
    visitor.page.wait_for_function(SAVED, arg=f"Saved: {message}")
    visitor.page.evaluate("document.getElementById('saved').textContent = ''")


def test_a_key_is_edited_by_keys_alone(browser: Any, server: StudioServer) -> None:
    olga = editor(browser, server, viewport={"width": 390, "height": 800}, color_scheme="dark")
    old = words(server)
    olga.press("ArrowDown", "r")
    consequence = olga.page.text_content(".consequence")
    assert consequence == (
        "4 judgements and decisions on the old words will no longer count: "
        "the assessors will be asked again."
    )
    olga.press("Control+a")
    olga.page.keyboard.type("a u x <b>")
    olga.press("Enter")
    olga.page.keyboard.type("other words")
    olga.check_inert()
    olga.press("Control+Enter")
    saved(olga, "reworded")
    assert words(server)[1] == ("okay", "a u x <b>", "other words")
    olga.press("i")
    saved(olga, "importance changed")
    assert words(server)[1][0] == "vital"
    olga.press("a")
    assert olga.page.text_content(".consequence") == "No judgement is concerned."
    olga.page.keyboard.type("a third fact")
    olga.press("Control+Enter")
    saved(olga, "added")
    assert words(server)[-1] == ("vital", "a third fact")
    olga.press("ArrowUp", "x")
    assert "Drop this nugget?" in (olga.page.text_content(".editing") or "")
    olga.press("Enter")
    saved(olga, "dropped")
    assert len(words(server)) == 3
    for _ in range(4):
        olga.press("u", "Enter")
        saved(olga, "undone")
    assert words(server) == old
    assert len(look(server)["edits"]) == 8
    olga.press("Enter")
    olga.page.wait_for_function("() => location.hash === '#2'")
    olga.press("b")
    olga.page.wait_for_function("() => location.hash === '#1'")
    olga.press("/")
    olga.page.keyboard.type("question 2")
    olga.press("Enter")
    olga.page.wait_for_function("() => document.querySelectorAll('#list li').length === 1")
    olga.check_inert()
    received = olga.received()
    assert not any(name in text for text in received for name in SYSTEMS)


@pytest.mark.long
def test_a_key_is_edited_by_the_mouse(browser: Any, server: StudioServer) -> None:
    olga = editor(browser, server, viewport={"width": 1300, "height": 900})
    first = olga.page.locator(".nuggets > li").first
    first.get_by_role("button", name="Drop").click()
    olga.page.get_by_role("button", name="Cancel").click()
    assert olga.page.locator(".editing").count() == 0
    first.get_by_role("button", name="Drop").click()
    olga.page.locator(".editing button.main").click()
    saved(olga, "dropped")
    olga.page.locator("#add").click()
    olga.page.locator(".editing textarea").fill(HOSTILE)
    olga.page.locator(".editing select").select_option("okay")
    assert olga.page.text_content(".consequence") == (
        "4 complete judgements will be incomplete: the assessors will be asked about the new "
        "nugget."
    )
    olga.page.locator(".editing button.main").click()
    saved(olga, "added")
    assert words(server)[-1] == ("okay", HOSTILE)
    olga.page.locator(".nuggets > li").last.get_by_role("button", name="Make vital").click()
    saved(olga, "importance changed")
    olga.page.locator("details.table summary").click()
    olga.check_inert()
    olga.page.locator("#undo").click()
    olga.page.locator(".editing button.main").click()
    saved(olga, "undone")
    assert words(server)[-1] == ("okay", HOSTILE)
    olga.open("/owner/events")
    assert HOSTILE in (olga.page.text_content("table") or "")
    olga.check_inert()


def test_assessors_judge_what_is_new_and_nothing_else(browser: Any, server: StudioServer) -> None:
    ann = Client(server, "ann")
    assert ann.next() is None
    olga = editor(browser, server)
    olga.press("a")
    olga.page.keyboard.type("a new fact")
    olga.press("Control+Enter")
    saved(olga, "added")
    judging = Visitor(browser, server, "ann")
    judging.page.wait_for_selector(".nuggets > li.active")
    assert "a new fact" in (judging.page.text_content(".nuggets > li.active") or "")
    assert "The key of this question was edited" in (judging.page.text_content("#judge") or "")
    before = judging.page.text_content(".output")
    judging.press("1", "Enter")
    judging.page.wait_for_function(
        "text => ![null, undefined, text].includes(document.querySelector('.output')?.textContent)",
        arg=before,
    )
    judging.press("1", "Enter")
    judging.page.wait_for_function("() => !document.querySelector('.nuggets')")
    judging.check_inert()
    assert ann.next() is None
    assert look(server)["adding"] == 2


def test_a_lost_answer_and_a_killed_server_store_an_edit_once(
    browser: Any, server: StudioServer
) -> None:
    olga = editor(browser, server)
    olga.page.route("**/api/key/edits", lambda route: (route.fetch(), route.abort()))
    olga.press("i")
    olga.page.wait_for_function(SAVED, arg="Not saved: The studio does not answer.")
    olga.page.unroute("**/api/key/edits")
    server.kill()
    olga.press("i")
    olga.page.wait_for_timeout(100)
    olga.page.wait_for_function(SAVED, arg="Not saved: The studio does not answer.")
    server.start()
    olga.press("i")
    saved(olga, "importance changed")
    assert [past_edit["what"] for past_edit in look(server)["edits"]] == ["importance"]
    assert words(server)[0][0] == "okay"


def test_somebody_else_edits_meanwhile(browser: Any, server: StudioServer) -> None:
    olga = editor(browser, server)
    olga.press("r", "Control+a")
    olga.page.keyboard.type("my words")
    sent = {"uuid": str(uuid4()), "item": 1, "what": "drop", "concerns": 4, "supersedes": None}
    other = {**sent, "nugget": look(server)["nuggets"][2]["nugget"]}
    assert Client(server, "olga").ask("POST", "/api/key/edits", other).status == 200
    olga.press("Control+Enter")
    olga.page.wait_for_function(SAVED, arg="Not saved: somebody has edited this question")
    olga.page.wait_for_function("() => document.querySelectorAll('.nuggets > li').length === 2")
    assert olga.page.input_value(".editing textarea") == "my words"
    olga.press("Control+Enter")
    saved(olga, "reworded")
    assert words(server)[0] == ("vital", "my words")


def test_the_key_is_a_file_before_the_reveal_and_a_frozen_one_is_not_edited(
    browser: Any, server: StudioServer, tmp_path: Path
) -> None:
    owner, zoe, ann = (Client(server, name) for name in ("olga", "zoe", "ann"))
    assert [client.ask("GET", "/key").status for client in (owner, zoe, ann)] == [200, 403, 403]
    assert owner.ask("POST", "/api/key/allow", {"adjudicators": True}).status == 200
    assert [client.ask("GET", "/key").status for client in (owner, zoe, ann)] == [200, 200, 403]
    sent = {"uuid": str(uuid4()), "item": 2, "what": "drop", "concerns": 4}
    edit = {**sent, "nugget": look(server, 2)["nuggets"][0]["nugget"]}
    for duplicate in (False, True):
        stored = zoe.ask("POST", "/api/key/edits", edit)
        assert (stored.status, stored.json["duplicate"]) == (200, duplicate)
    key_file = owner.ask("GET", "/key/key.jsonl")
    assert not any(name in key_file.text for name in SYSTEMS)
    (tmp_path / "key.jsonl").write_text(key_file.text, "utf-8")
    key = load_nuggets(tmp_path / "key.jsonl").key
    assert [len(client.nuggets) for client in key.questions.values()] == [3, 2, 3]
    assert owner.ask("POST", "/api/owner/freeze", {}).status == 200
    again = {**edit, "uuid": str(uuid4()), "supersedes": edit["uuid"]}
    refused = owner.ask("POST", "/api/key/edits", again)
    assert refused.status == 422
    assert "its key is no longer edited" in json.loads(refused.text)["error"]
    olga = editor(browser, server)
    assert "frozen" in (olga.page.text_content(".place") or "")
    olga.press("x", "r", "a", "u", "i")
    assert olga.page.locator(".editing").count() == 0
    assert olga.page.locator(".nuggets button:enabled").count() == 0
