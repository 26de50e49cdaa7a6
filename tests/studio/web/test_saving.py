"""Saving: requests that are repeated, reordered or lost, other tabs, lost sessions, a full disk."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.store_rows import history
from studio.web.person import Person, rows, values
from studio.web.studio_server import Answer, Client, StudioServer, write_set

from karat.studio.store.store import Store

PEOPLE = ("ada", "ben", "cy", "dee", "eli", "fay", "gil", "hal")
INVITED = [word for name in PEOPLE for word in ("--assessor", name)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    folder = tmp_path_factory.mktemp("saving")
    studio = StudioServer(folder, write_set(folder, 8), "--overlap", "9", *INVITED)
    yield studio
    studio.stop()


class Lossy:
    """A client whose requests come twice, too early, changed, at the same time or not at all."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client, self.random = client, random.Random(seed)
        self.newest: dict[int, str | None] = {}
        self.waiting: list[tuple[str, dict[str, Any]]] = []
        self.arrived: set[str] = set()
        self.stored: list[tuple[str, dict[str, Any]]] = []
        self.wanted: list[tuple[int, str, Any, str | None]] = []
        """Assignment, uuid, value, and the uuid that is replaced: what the store must hold."""

    def act(self, assignment: int, value: Any) -> None:
        """Answer, or take back (None)."""
        uuid, before = str(UUID(int=self.random.getrandbits(128))), self.newest.get(assignment)
        sent: dict[str, Any] = {"uuid": uuid, "assignment": assignment, "supersedes": before}
        path = "/api/undo"
        if value is not None:
            path, sent = "/api/judgements", {**sent, "value": value, "ms": len(self.wanted)}
        self.newest[assignment] = uuid
        self.waiting.append((path, sent))
        self.wanted.append((assignment, uuid, value, before))

    def deliver(self) -> None:
        """Send what waits until all of it is acknowledged."""
        while self.waiting:
            chance, first = self.random.random(), self.waiting[0]
            if chance < 0.2:
                continue  # lost on the way
            if chance < 0.4 and self.stored:
                path, sent = self.random.choice(self.stored)  # again
                assert self.client.ask("POST", path, sent).json["duplicate"]
                changed = self.client.ask("POST", path, {**sent, "assignment": 10**6})
                assert changed.status == 422
            elif chance < 0.6:
                path, sent = self.random.choice(self.waiting)  # perhaps too early
                early = sent["supersedes"] not in (None, *self.arrived)
                assert self.send(path, sent).status == (422 if early else 200)
            elif chance < 0.7:
                with ThreadPoolExecutor(2) as pool:  # at the same time
                    answers = [*pool.map(lambda _, request=first: self.send(*request), "ab")]
                assert [request.status for request in answers] == [200, 200]
                assert any(request.json["duplicate"] for request in answers)
            elif chance < 0.8:
                self.send(*first)  # the answer is lost
            else:
                assert self.send(*first).status == 200
                self.stored.append(self.waiting.pop(0))

    def send(self, path: str, sent: dict[str, Any]) -> Answer:
        answer = self.client.ask("POST", path, sent)
        if answer.status == 200:
            self.arrived.add(sent["uuid"])
        return answer


def rating(value: int, done: bool) -> dict[str, Any]:
    return {"ratings": {"quality": value}, "done": done}


@pytest.mark.parametrize(("name", "seed"), [("ada", 1), ("ben", 2)])
def test_a_lossy_connection_makes_the_same_store(
    server: StudioServer, name: str, seed: int
) -> None:
    lossy = Lossy(Client(server, name), seed)
    assignments: list[int] = []
    for k in range(4):
        assignments.append(lossy.client.next()["assignment"])
        for value in (rating(k + 1, False), None, rating(k + 2, False), rating(k + 2, True)):
            lossy.act(assignments[-1], value)
        lossy.deliver()
    for k in range(10):  # revisions of all of them, in any order
        entry = lossy.random.choice(assignments)
        lossy.act(entry, rating(k % 7 + 1, k % 4 > 0))
    lossy.deliver()
    judgements = rows(server, name, history)
    names = {row.id: row.uuid for row in judgements}
    for assignment in assignments:
        expected = [entry[1:] for entry in lossy.wanted if entry[0] == assignment]
        stored = [row for row in judgements if row.assignment == assignment]
        assert [(row.uuid, row.value, names.get(row.supersedes or 0)) for row in stored] == expected
    assert len(judgements) == len(lossy.wanted)
    last = {assignment: value for assignment, _, value, _ in lossy.wanted}
    done = sum(value["done"] for value in last.values())
    assert (
        lossy.client.ask("GET", "/api/progress").json["done"] == done == len(values(server, name))
    )
    with Store.reading(server.store) as store:
        assert store.check().problems == ()


def test_a_second_tab_shows_what_the_first_one_saved(browser: Any, server: StudioServer) -> None:
    first = Person(browser, server, "cy")
    second = Person(browser, server, "cy", context=first.context)
    assert first.output() == second.output()
    first.page.bring_to_front()
    first.press("3")
    first.saved()
    second.page.bring_to_front()
    second.press("5")
    second.page.wait_for_selector("#saved.failed")
    assert "has a newer answer, perhaps of another tab" in second.page.text_content("#saved")
    second.press("Enter")
    second.page.wait_for_timeout(100)
    assert second.output() == first.output()  # it does not go on
    second.page.click("#saved button")
    second.page.wait_for_function("() => document.querySelector('input[value=\"3\"]').checked")
    second.saved()
    second.press("6")
    second.go_on()
    assert [value["ratings"] for value in values(server, "cy")] == [{"quality": 6}]


def test_another_assessor_in_the_same_browser_answers_for_nobody_else(
    browser: Any, server: StudioServer
) -> None:
    gil = Person(browser, server, "gil")
    hal = Person(browser, server, "hal", context=gil.context)
    gil.page.bring_to_front()
    gil.press("3")
    gil.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('load it again')"
    )
    hal.page.bring_to_front()
    hal.press("5")
    hal.saved()
    assert rows(server, "gil", history) == []
    assert [row.value["ratings"] for row in rows(server, "hal", history)] == [{"quality": 5}]


def test_a_session_that_ends_keeps_what_waits(browser: Any, server: StudioServer) -> None:
    dee = Person(browser, server, "dee")
    text = dee.output()
    dee.context.clear_cookies()
    dee.press("4", "Enter")
    dee.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('Not saved yet')"
    )
    assert dee.output() == text
    assert rows(server, "dee", history) == []
    assert dee.page.evaluate("Object.keys(localStorage).length") == 2
    dee.page.goto(server.site + server.links["dee"])
    dee.page.wait_for_function("() => document.getElementById('count')?.textContent[0] === '1'")
    assert [value["ratings"] for value in values(server, "dee")] == [{"quality": 4}]


def test_an_invitation_that_is_withdrawn_ends_judging(browser: Any, server: StudioServer) -> None:
    eli = Person(browser, server, "eli")
    text, owner = eli.output(), Client(server, "owner")
    id = 2 + PEOPLE.index("eli")
    assert owner.ask("POST", "/api/owner/withdraw", {"assessor": id}).status == 200
    eli.press("4", "Enter")
    eli.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('You are not signed in')"
    )
    assert eli.output() == text
    assert rows(server, "eli", history) == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
def test_judging_stops_where_saving_fails(browser: Any, server: StudioServer) -> None:
    import resource

    fay = Person(browser, server, "fay")
    text = fay.output()
    fay.press("2")
    fay.saved()
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    fay.press("7", "Enter")
    fay.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('nothing more is saved')"
    )
    assert str(server.folder) not in fay.page.text_content("#saved")
    assert fay.output() == text
    assert rows(server, "fay", history)[-1].value == {"ratings": {"quality": 2}, "done": False}
    server.kill()
    server.start()
    fay.page.wait_for_function("() => document.getElementById('count').textContent[0] === '1'")
    assert values(server, "fay") == [{"ratings": {"quality": 7}, "done": True}]
    with Store.reading(server.store) as store:
        assert store.check().problems == ()
