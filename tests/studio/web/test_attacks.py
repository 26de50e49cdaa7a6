"""Requests that no page of the studio sends: refused or inert, by a real server on loopback.

The table has one row for each attack: who sends it, what, and the status that refuses it. After
all of them the store has the judgements that were there before.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.attacks import (
    RATED,
    Attack,
    World,
    body,
    chunked,
    cookie,
    forged,
    get,
    look_at_other,
    other_csrf,
    post,
    raw,
    sent,
    signature_of_another,
    to_other,
    undo_other,
)
from studio.web.studio_server import (
    HOSTILE,
    SYSTEMS,
    Client,
    StudioServer,
    judgement,
    write_set,
)

from karat.studio.web.guard import MAX_BODY
from karat.studio.web.server import MAX_CONNECTIONS
from karat.studio.web.studio import SESSION_SECONDS

OWNED = (
    *("/owner", "/owner/live", "/owner/events", "/adjudicate", "/browse", "/browse/segments/1"),
    *("/browse/outputs", "/browse/reports"),
)
"""Pages of owners."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("attacked")
    people = ("--assessor", "ada", "--assessor", "ben", "--assessor", f"eve {HOSTILE}")
    server = StudioServer(folder, write_set(folder), *people, "--show", "source")
    ada, ben, owner = (Client(server, name) for name in ("ada", "ben", "owner"))
    item, other = ada.next(), ben.next()
    yield World(server, ada, ben, owner, Client(server, None), item, other)
    server.stop()


UUID = '"uuid": "6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e70", "assignment": ASSIGNMENT, "ms": 1'
DISPUTE = '{"task": "ratings", "item": 1, "output": 1, "about": "quality"}'
DECISION = (
    DISPUTE[:-1] + ', "uuid": "6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e72", '
    '"answer": {"ratings": {"quality": 3}}, "supersedes": null}'
)
LOCAL = "Host: 127.0.0.1:PORT"

ATTACKS: dict[str, tuple[Attack, int]] = {
    # Host: names that are not the studio's, whatever they resolve to
    "host of another site": (get("/", Host="evil.example"), 421),
    "rebinding name with the right port": (post(Host="evil.example:8642"), 421),
    "name that begins like ours": (get("/", Host="127.0.0.1.evil.example"), 421),
    "name that ends like ours": (get("/", Host="evil-localhost"), 421),
    "address in other digits": (get("/", Host="0x7f000001"), 421),
    "wildcard address": (get("/", Host="0.0.0.0"), 421),
    "address of the network": (get("/", Host="192.168.0.1"), 421),
    "host with a user": (get("/", Host="localhost@evil.example"), 421),
    "host with a port that is none": (get("/", Host="localhost:x"), 421),
    "empty host": (get("/", Host=""), 421),
    "no host": (raw("GET / HTTP/1.0"), 421),
    "two hosts": (raw("GET / HTTP/1.1", LOCAL, "Host: evil.example"), 400),
    "forwarded host alone": (get("/", Host="evil.example", X_Forwarded_Host="localhost"), 421),
    # Origin: writes of other pages
    "origin of another site": (post(Origin="http://evil.example"), 403),
    "origin null": (post(Origin="null"), 403),
    "no origin": (post(Origin=None), 403),
    "empty origin": (post(Origin=""), 403),
    "origin of another port": (post(Origin="http://127.0.0.1:1"), 403),
    "origin with our host as a user": (post(Origin="http://127.0.0.1@evil.example"), 403),
    "fetch from another site": (post(Sec_Fetch_Site="cross-site"), 403),
    "fetch from another port": (post(Sec_Fetch_Site="same-site"), 403),
    "reading from another site": (get("/api/next", Sec_Fetch_Site="cross-site"), 403),
    # The header against forged requests
    "no csrf header": (post(X_Karat_CSRF=None), 403),
    "empty csrf header": (post(X_Karat_CSRF=""), 403),
    "wrong csrf header": (post(X_Karat_CSRF="0" * 64), 403),
    "csrf header not in ASCII": (post(X_Karat_CSRF="\xe9" * 64), 403),
    "csrf header of another session": (other_csrf, 403),
    "very long csrf header": (post(X_Karat_CSRF="0" * 9000), 403),
    # Tokens and cookies
    "no cookie": (get("/api/next", "stranger"), 401),
    "page without a cookie": (get("/", "stranger"), 401),
    "write without a cookie": (post("stranger"), 403),
    "wrong token": (get("/join/wrong", "stranger"), 403),
    "empty token": (get("/join/", "stranger"), 404),
    "very long token": (get(f"/join/{'a' * 380}", "stranger"), 403),
    "longer than any path": (get(f"/join/{'a' * 5000}", "stranger"), 404),
    "token in percent signs": (get("/join/%61%61", "stranger"), 404),
    "cookie of another studio": (forged(b"k" * 32), 401),
    "expired cookie": (forged(None, -SESSION_SECONDS - 1), 401),
    "cookie of another assessor's id": (signature_of_another, 401),
    "empty cookie": (cookie(""), 401),
    "cookie of dots": (cookie("..."), 401),
    "cookie without numbers": (cookie("a.b.c"), 401),
    "very long cookie": (cookie("1" * 4000), 401),
    "cookie with letters of other scripts": (cookie("٣.٣.٣".encode().decode("latin-1")), 401),
    # Roles
    "owner's page by an assessor": (get("/owner"), 403),
    "invitation by an assessor": (body('{"name": "x"}', "/api/owner/invite"), 403),
    "freeze by an assessor": (body("{}", "/api/owner/freeze"), 403),
    "reveal by an assessor": (body('{"anyway": true}', "/api/owner/reveal"), 403),
    "withdrawal by an assessor": (body('{"assessor": 1}', "/api/owner/withdraw"), 403),
    "owner's page by a stranger": (get("/owner", "stranger"), 401),
    "invitation to a role that is none": (
        body('{"name": "x", "role": "god"}', "/api/owner/invite", "owner"),
        422,
    ),
    "invitation with a name that is none": (
        body('{"name": ["x"]}', "/api/owner/invite", "owner"),
        422,
    ),
    "reveal before the freeze": (body("{}", "/api/owner/reveal", "owner"), 422),
    "live numbers by an assessor": (get("/owner/live"), 403),
    "live numbers by a stranger": (get("/owner/live", "stranger"), 401),
    "audit trail by an assessor": (get("/owner/events"), 403),
    "export by an assessor": (get("/owner/export/all"), 403),
    "export by a stranger": (get("/owner/export/log", "stranger"), 401),
    "export before the reveal": (get("/owner/export/log", "owner"), 403),
    "export that is none": (get("/owner/export/passwd", "owner"), 404),
    "export of a parent folder": (get("/owner/export/..%2f..%2fkeys", "owner"), 404),
    "new link by an assessor": (body('{"assessor": 1}', "/api/owner/renew"), 403),
    "new link for nobody": (body('{"assessor": 99}', "/api/owner/renew", "owner"), 422),
    "estimates by an assessor": (body("{}", "/api/owner/estimates"), 403),
    "owner who withdraws the own invitation": (
        body('{"assessor": 1}', "/api/owner/withdraw", "owner"),
        422,
    ),
    "adjudication by an assessor": (get("/adjudicate"), 403),
    "adjudication by a stranger": (get("/adjudicate", "stranger"), 401),
    "disputes by an assessor": (get("/api/disputes"), 403),
    "one dispute by an assessor": (get("/api/disputes/1?about=quality"), 403),
    "disputes from another site": (get("/api/disputes", "owner", Sec_Fetch_Site="cross-site"), 403),
    "decision by an assessor": (body(DECISION, "/api/adjudications"), 403),
    "decision on what nobody disputes": (body(DECISION, "/api/adjudications", "owner"), 422),
    "decision without a csrf header": (
        post("owner", "/api/adjudications", X_Karat_CSRF=None),
        403,
    ),
    "decision from another site": (
        post("owner", "/api/adjudications", Origin="http://evil.example"),
        403,
    ),
    "decision by GET": (get("/api/adjudications", "owner"), 405),
    "names by an assessor": (body(DISPUTE, "/api/names"), 403),
    "names of what nobody disputes": (body(DISPUTE, "/api/names", "owner"), 422),
    "names of a list": (body('{"task": ["ratings"], "item": 1}', "/api/names", "owner"), 422),
    "dispute that is none": (get("/api/disputes/9?about=quality", "owner"), 404),
    "dispute in SQL": (get("/api/disputes/1-or-1", "owner"), 404),
    "segments by an assessor": (get("/browse"), 403),
    "one segment by an assessor": (get("/browse/segments/1"), 403),
    "outputs by an assessor": (get("/browse/outputs"), 403),
    "outputs as a file by an assessor": (get("/browse/outputs.csv"), 403),
    "reports by an assessor": (get("/browse/reports"), 403),
    "a report by an assessor": (get("/browse/reports/agreement"), 403),
    "an explanation by an assessor": (get("/browse/segments/1/outputs/1"), 403),
    "segments by a stranger": (get("/browse", "stranger"), 401),
    "system before the reveal": (get("/browse?system=SECRETalpha", "owner"), 422),
    "report that tells who leads": (get("/browse/reports/meta", "owner"), 403),
    "report that is a path": (get("/browse/reports/..%2f..%2fserver.py", "owner"), 404),
    "metric that is a path": (get("/browse/outputs?metrics=../../x", "owner"), 422),
    "metric that reads a file": (get("/browse/outputs?metrics=bleu:stop=set.jsonl", "owner"), 422),
    "metric with a model": (get("/browse/outputs?metrics=bleu:tok=spm:set.jsonl", "owner"), 422),
    "page that is no number": (get("/owner/events?page=1;drop", "owner"), 422),
    "very long search": (get(f"/browse?q={'a' * 5000}", "owner"), 422),
    "writing to a page": (post("owner", "/browse"), 405),
    # Objects of others
    "answer to another's assignment": (to_other, 422),
    "undo of another's answer": (undo_other, 422),
    "look at another's assignment": (look_at_other, 404),
    "assignment that is none": (get("/api/item/999999"), 404),
    "assignment of a huge number": (get("/api/item/99999999999999999999999"), 404),
    "assignment below zero": (get("/api/item/-1"), 404),
    "assignment in SQL": (get("/api/item/1-or-1"), 404),
    # Paths
    "parent folder": (get("/static/../../keys.py"), 404),
    "parent folder in percent signs": (get("/static/%2e%2e/server.py"), 404),
    "slash in percent signs": (get("/static/..%2fserver.py"), 404),
    "two slashes": (get("//static/judge.js"), 404),
    "backslashes": (get("/static/..\\server.py"), 404),
    "NUL in a path": (get("/static/judge.js%00.css"), 404),
    "absolute path": (get("/static//etc/passwd"), 404),
    "hidden file": (get("/static/.git"), 404),
    "source of the server": (get("/static/server.py"), 404),
    "the store": (get("/judged.sqlite"), 404),
    "the keys": (get("/judged.sqlite.keys"), 404),
    "other site as the target": (raw("GET http://evil.example/ HTTP/1.1", LOCAL), 404),
    "other site as a path": (get("//evil.example/"), 404),
    "slash at the end": (get("/api/next/"), 404),
    # Methods
    "PUT": (get("/api/judgements", method="PUT"), 405),
    "DELETE": (get("/api/judgements", method="DELETE"), 405),
    "OPTIONS from another site": (
        get("/api/judgements", method="OPTIONS", Origin="http://evil.example"),
        405,
    ),
    "TRACE": (get("/", method="TRACE"), 405),
    "writing by GET": (get("/api/judgements"), 405),
    "method in a header": (get("/api/undo", X_HTTP_Method_Override="POST"), 405),
    "reading by POST": (post(path="/api/next"), 405),
    "upgrade to a web socket": (
        get("/api/judgements", Upgrade="websocket", Connection="Upgrade"),
        405,
    ),
    # Bodies
    "announced body that is too large": (post(Content_Length=str(MAX_BODY + 1)), 413),
    "body that is too large": (body(b" " * (MAX_BODY + 1)), 413),
    "chunked body that is too large": (chunked(MAX_BODY + 8192), 413),
    "negative length": (raw("POST /api/judgements HTTP/1.1", LOCAL, "Content-Length: -1"), 400),
    "two lengths": (raw("POST / HTTP/1.1", LOCAL, "Content-Length: 1", "Content-Length: 2"), 400),
    "headers without an end": (raw("GET / HTTP/1.1", LOCAL, f"X-A: {'a' * 300_000}"), 400),
    "header with a line break": (
        raw("GET / HTTP/1.1", LOCAL, "X-A: a\nSet-Cookie: b=c", "\x00"),
        400,
    ),
    "form": (post(Content_Type="application/x-www-form-urlencoded"), 415),
    "plain text": (post(Content_Type="text/plain"), 415),
    "no type": (post(Content_Type=None), 415),
    "other letters": (post(Content_Type="application/json; charset=utf-16"), 415),
    "packed body": (post(Content_Encoding="gzip"), 415),
    "empty body": (body(b""), 422),
    "no JSON": (body("{"), 422),
    "a list": (body("[1]"), 422),
    "deep JSON": (body('{"value":' + "[" * 100_000 + "]" * 100_000 + "}"), 422),
    "rather deep JSON": (body('{"value":' + "[" * 20 + "]" * 20 + "}"), 422),
    "key that stands twice": (body(f'{{{UUID}, "ms": 2, "value": {json.dumps(RATED)}}}'), 422),
    "NaN": (body(f'{{{UUID}, "value": {{"ratings": {{"quality": NaN}}}}}}'), 422),
    "infinite number": (body(f'{{{UUID}, "value": {{"ratings": {{"quality": 1e999}}}}}}'), 422),
    "huge number": (body(f'{{{UUID}, "value": {{"ratings": {{"quality": {"9" * 5000}}}}}}}'), 422),
    "rather huge number": (
        body(f'{{{UUID}, "value": {{"ratings": {{"quality": {"9" * 400}}}}}}}'),
        422,
    ),
    "half a character": (
        body(f'{{{UUID}, "value": {{"comment": "\\ud800", "done": false}}}}'),
        422,
    ),
    "NUL in a text": (body(f'{{{UUID}, "value": {{"comment": "\\u0000", "done": false}}}}'), 422),
    "bytes that are no UTF-8": (body(b'{"uuid": "\xff"}'), 422),
    "UTF-16": (body('{"uuid": 1}'.encode("utf-16")), 422),
    # Answers
    "value off the scale": (sent({"ratings": {"quality": 8}}), 422),
    "value between the points": (sent({"ratings": {"quality": 1.5}}), 422),
    "truth value": (sent({"ratings": {"quality": True}}), 422),
    "other dimension": (sent({"ratings": {"__proto__": 1}}), 422),
    "answer of another task": (sent({"choice": "first"}), 422),
    "no value": (sent(None), 422),
    "comment that is too long": (sent({**RATED, "comment": "a" * 2001}), 422),
    "uuid that is none": (sent(uuid="'; DROP TABLE judgement; --"), 422),
    "assignment as a text": (sent(assignment="1"), 422),
    "assignment as a list": (sent(assignment=[1]), 422),
    "negative time": (sent(ms=-1), 422),
    "endless time": (sent(ms=10**14), 422),
    "replaces what is not the newest": (
        sent(supersedes="6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e71"),
        422,
    ),
    "another key": (sent(role="owner"), 422),
    "another assessor's name": (sent(assessor=1), 422),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_refused(world: World, name: str) -> None:
    attack, status = ATTACKS[name]
    before = world.rows()
    assert attack(world) == status
    assert world.rows() == before


def test_same_requests_without_the_attack_are_answered(world: World) -> None:
    assert get("/")(world) == 200
    assert get("/", Host="localhost")(world) == 200
    assert get("/", Host="[::1]:1")(world) == 200
    assert get("/owner", "owner")(world) == 200
    assert get("/static/judge.js", "stranger")(world) == 200
    item = world.ben.next()
    stored = world.ben.judge(item, {**RATED, "comment": HOSTILE})
    assert (stored.status, stored.json["duplicate"]) == (200, False)
    sent_item = world.ben.ask("GET", f"/api/item/{item['assignment']}").json["item"]
    assert sent_item["value"]["comment"] == HOSTILE


def test_the_same_uuid_is_stored_once_and_never_for_other_content(world: World) -> None:
    again = judgement(world.ben.next(), RATED)
    first, second = (world.ben.ask("POST", "/api/judgements", again) for _ in range(2))
    assert (first.json["duplicate"], second.json["duplicate"]) == (False, True)
    assert first.json["id"] == second.json["id"]
    other = {**again, "value": {"ratings": {"quality": 1}}}
    assert world.ben.ask("POST", "/api/judgements", other).status == 422


def test_every_answer_has_the_headers_that_protect_it(world: World) -> None:
    paths = ("/", "/api/next", "/static/judge.js", "/nowhere", "/../x", "/join/wrong", "/browse")
    answers = [world.ada.ask("GET", path) for path in paths]
    answers += [world.owner.ask("GET", path) for path in OWNED]
    for headers in (answer.headers for answer in answers):
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(world: World) -> None:
    cookie = world.stranger.ask("GET", world.server.links["ada"]).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_pages_escape_every_text(world: World) -> None:
    pages = [world.ada.ask("GET", "/").text]
    pages += [world.owner.ask("GET", path).text for path in OWNED]
    pages.append(world.owner.ask("GET", f"/browse?q={quote(HOSTILE)}").text)
    pages.append(Client(world.server, f"eve {HOSTILE}").ask("GET", "/").text)
    for page in pages:
        assert "<script>hostile" not in page
        assert "<img" not in page
        assert "&lt;script&gt;hostile" in page
        assert "{{7*7}}" in page


def test_no_answer_names_a_system(world: World) -> None:
    paths = ("/", "/api/next", f"/api/item/{world.own['assignment']}", "/api/progress")
    answers = [client.ask("GET", path) for client in (world.ada, world.owner) for path in paths]
    answers += [world.owner.ask("GET", path) for path in (*OWNED, "/api/disputes")]
    for answer in answers:
        assert not any(name in answer.text + str(answer.headers) for name in SYSTEMS)


def test_silent_connections_leave_room_for_others(world: World) -> None:
    address = ("127.0.0.1", world.server.port)
    with ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + 20):
            line = stack.enter_context(socket.create_connection(address, timeout=20))
            line.sendall(b"GET / HT")
        assert world.ada.ask("GET", "/api/next").status == 200


def test_withdrawn_and_frozen_studios_take_no_answers(world: World) -> None:
    """The last test: what it does to the project is not undone."""
    ask = world.owner.ask
    invited = ask("POST", "/api/owner/invite", {"name": "kay"}).json["link"]
    world.server.links["kay"] = invited
    kay = Client(world.server, "kay")
    assert kay.ask("GET", "/api/next").status == 200
    assert ask("POST", "/api/owner/withdraw", {"assessor": 5}).status == 200
    assert kay.ask("GET", "/api/next").status == 401
    assert world.stranger.ask("GET", invited).status == 403
    open_item = world.ada.next()
    assert ask("POST", "/api/owner/freeze", {}).status == 200
    before = world.rows()
    assert world.ada.judge(open_item, RATED).status == 422
    assert world.ada.ask("GET", "/api/next").status == 422
    assert world.rows() == before
