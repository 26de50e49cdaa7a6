"""Further rows of the table of attacks: requests on the key that no page of the studio sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.judged_store import make_store, nugget_texts
from studio.web.attacks import Attack, World, body, get
from studio.web.studio_server import Client, StudioServer

from karat.studio.store.people import invite
from karat.studio.store.store import Store
from karat.studio.web.guard import MAX_BODY

EDITS = "/api/key/edits"
UUID = "6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e70"
GOOD: dict[str, Any] = {"uuid": UUID, "item": 1, "what": "importance", "concerns": 0}
GOOD |= {"nugget": "n1", "importance": "okay", "supersedes": None}
"""An edit that the owner could make."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("attacked")
    store = make_store(folder / "judged.sqlite", nugget_texts(), 2, tasks={"nuggets": {}})
    invite(store, "olga", "owner")
    with store.read() as connection:
        (GOOD["nugget"],) = connection.execute(
            "SELECT nugget FROM nugget WHERE item = 1 AND importance = 'vital'"
        ).fetchone()
    store.close()
    server = StudioServer(folder, "judged")
    ann, zoe, olga = (Client(server, name) for name in ("ann", "zoe", "olga"))
    yield World(server, ann, zoe, olga, Client(server, None), ann.next(), {})
    server.stop()


def edit(who: str = "owner", **more: Any) -> Attack:
    """A good edit with a part that is not."""
    return lambda world: getattr(world, who).ask("POST", EDITS, {**GOOD, **more}).status


def headers(who: str = "owner", **named: str | None) -> Attack:
    """A good edit with headers that are not."""
    sent = {name.replace("_", "-"): value for name, value in named.items()}
    return lambda world: getattr(world, who).ask("POST", EDITS, GOOD, sent).status


def other_csrf(world: World) -> int:
    return world.owner.ask("POST", EDITS, GOOD, {"X-Karat-CSRF": world.ada.csrf}).status


def without(name: str) -> Attack:
    def attack(world: World) -> int:
        sent = {key: value for key, value in GOOD.items() if key != name}
        return world.owner.ask("POST", EDITS, sent).status

    return attack


NEW = {"what": "add", "nugget": None, "importance": "vital"}
ATTACKS: dict[str, tuple[Attack, int]] = {
    # Where it comes from
    "edit without a csrf header": (headers(X_Karat_CSRF=None), 403),
    "edit with a wrong csrf header": (headers(X_Karat_CSRF="0" * 64), 403),
    "edit with the csrf header of an assessor": (other_csrf, 403),
    "edit from another site": (headers(Origin="http://evil.example"), 403),
    "edit without an origin": (headers(Origin=None), 403),
    "edit under another name": (headers(Host="evil.example"), 421),
    "edit as a form": (headers(Content_Type="application/x-www-form-urlencoded"), 415),
    "key from another site": (get("/api/key/1", "owner", Sec_Fetch_Site="cross-site"), 403),
    # Roles: ada is an assessor, ben an adjudicator whom nobody allowed it
    "key by an assessor": (get("/key"), 403),
    "key by an adjudicator": (get("/key", "ben"), 403),
    "key by a stranger": (get("/key", "stranger"), 401),
    "questions by an assessor": (get("/api/key"), 403),
    "questions by an adjudicator": (get("/api/key", "ben"), 403),
    "one question by an assessor": (get("/api/key/1"), 403),
    "key as a file by an assessor": (get("/key/key.jsonl"), 403),
    "key as a file by a stranger": (get("/key/key.jsonl", "stranger"), 401),
    "edit by an assessor": (edit("ada"), 403),
    "edit by an adjudicator": (edit("ben"), 403),
    "edit by a stranger": (edit("stranger"), 403),
    "permission by an assessor": (body('{"adjudicators": true}', "/api/key/allow"), 403),
    "permission by an adjudicator": (
        body('{"adjudicators": true}', "/api/key/allow", "ben"),
        403,
    ),
    "permission that is none": (body('{"adjudicators": 1}', "/api/key/allow", "owner"), 422),
    "permission for others": (body('{"assessors": true}', "/api/key/allow", "owner"), 422),
    # Sizes
    "edit that is too large": (body(b" " * (MAX_BODY + 1), EDITS, "owner"), 413),
    "words that are too long": (edit(**NEW, descriptions=["a" * 2001]), 422),
    "too many wordings": (edit(**NEW, descriptions=[str(k) for k in range(21)]), 422),
    "very long search": (get(f"/api/key?q={'a' * 5000}", "owner"), 422),
    "very long id": (edit(nugget="a" * 100_000), 422),
    # Ids
    "question that is none": (get("/api/key/99", "owner"), 404),
    "question of a huge number": (get("/api/key/99999999999999999999999", "owner"), 404),
    "question in SQL": (get("/api/key/1-or-1", "owner"), 404),
    "question in percent signs": (get("/api/key/%31", "owner"), 404),
    "edit of no question": (edit(item=99), 422),
    "edit of question zero": (edit(item=0), 422),
    "edit of a question in words": (edit(item="1"), 422),
    "edit of a list of questions": (edit(item=[1]), 422),
    "edit of a nugget that is none": (edit(nugget="nowhere"), 422),
    "edit of a nugget in SQL": (edit(nugget="' OR 1=1 --"), 422),
    "edit of a nugget of a list": (edit(nugget=[GOOD["nugget"]]), 422),
    "edit after one that is none": (edit(supersedes=UUID), 422),
    "uuid that is none": (edit(uuid="'; DROP TABLE key_edit; --"), 422),
    # Parts
    "edit that is none": (edit(what="truncate"), 422),
    "edit of a list": (edit(what=["drop"]), 422),
    "other importance": (edit(importance="grave"), 422),
    "importance as an object": (edit(importance={"a": 1}), 422),
    "concerns nothing that it says": (edit(concerns=7), 422),
    "concerns below zero": (edit(concerns=-1), 422),
    "concerns a truth value": (edit(concerns=False), 422),
    "words of a drop": (edit(what="drop", importance=None, descriptions=["x"]), 422),
    "no words": (edit(**NEW, descriptions=[]), 422),
    "blank words": (edit(**NEW, descriptions=["\u00a0 \n"]), 422),
    "words in an object": (edit(**NEW, descriptions={"0": "x"}), 422),
    "words that are numbers": (edit(**NEW, descriptions=[1]), 422),
    "NUL in words": (edit(**NEW, descriptions=["a\0b"]), 422),
    "undo of nothing": (edit(what="undo", nugget=None, importance=None), 422),
    "another editor's name": (edit(assessor=1), 422),
    "an id of one's own": (edit(id="1"), 422),
    "a time of one's own": (edit(time="2020-01-01"), 422),
    "edit without a uuid": (without("uuid"), 422),
    "edit without a question": (without("item"), 422),
    "edit without a count": (without("concerns"), 422),
    # Methods
    "edit by GET": (get(EDITS, "owner"), 404),
    "permission by GET": (get("/api/key/allow", "owner"), 404),
    "writing to the page": (
        lambda world: world.owner.ask("POST", "/key", GOOD).status,
        405,
    ),
    "removing a question": (get("/api/key/1", "owner", method="DELETE"), 405),
}


def rows(world: World) -> list[int]:
    with Store.reading(world.server.store) as store, store.read() as connection:
        tables = ("judgement", "key_edit", "nugget", "event")
        return [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables
        ]


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_refused(world: World, name: str) -> None:
    attack, status = ATTACKS[name]
    before = rows(world)
    assert attack(world) == status
    assert rows(world) == before


def test_same_requests_without_the_attack_are_answered(world: World) -> None:
    answer = world.owner.ask("GET", "/api/key/1")
    assert answer.status == 200
    nugget = next(entry for entry in answer.json["nuggets"] if entry["nugget"] == GOOD["nugget"])
    assert nugget["importance"] == "vital"
    assert world.owner.ask("POST", EDITS, GOOD).json == {"id": 1, "duplicate": False}
    assert world.owner.ask("POST", EDITS, GOOD).json == {"id": 1, "duplicate": True}
    other = json.dumps({**GOOD, "importance": "vital"}).encode()
    assert world.owner.ask("POST", EDITS, other).status == 422
    assert rows(world)[1] == 1
