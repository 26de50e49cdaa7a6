"""Sessions beside other local applications, and their end with the link that began them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.person import Person, values
from studio.web.studio_server import Client, StudioServer, write_set

RATED = {"ratings": {"quality": 5}}
FOREIGN = (
    'prefs={"theme":"dark"}',
    "prefs={'a': [1, 2]}",
    'quoted="a; b"',
    'open="never closed',
    "comma=a,b",
    "space=a b",
    "path=C:\\Users\\me",
    "slash=a/b?c=d&e",
    "equals=a=b==",
    "novalue",
    "=noname",
    "",
    ";;;",
    "empty=",
    "bracket[0]=1",
    "colon:name=1",
    "at@name=x",
    "percent=%7B%22a%22%3A1%7D",
    "utf8=caf\xc3\xa9",
    "Path=/; Domain=x; HttpOnly; expires=Thu, 01 Jan 1970",
    "$Version=1; $Path=/",
    "control=\x01\x02",
)
"""Cookies that other applications on the same host may set."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    folder = tmp_path_factory.mktemp("sessions")
    people = [word for name in ("ada", "ben", "cleo") for word in ("--assessor", name)]
    server = StudioServer(folder, write_set(folder), *people, "--overlap", "3")
    yield server
    server.stop()


@pytest.mark.parametrize("place", ["before", "after", "in another header"])
def test_cookies_of_other_applications_do_not_matter(server: StudioServer, place: str) -> None:
    ada = Client(server, "ada")
    own_cookie = ada.cookie
    for foreign in FOREIGN:
        ada.cookie = {
            "before": f"{foreign}; {own_cookie}",
            "after": f"{own_cookie}; {foreign}",
        }.get(place, own_cookie)
        more: dict[str, str | None] = {} if place != "in another header" else {"cookie": foreign}
        assert ada.ask("GET", "/api/next", headers=more).status == 200, foreign
        answer = ada.ask("POST", "/api/judgements", {}, more)
        assert answer.status == 422, foreign  # past the guard: an empty answer is refused
    ada.cookie = "; ".join((*FOREIGN, own_cookie))
    assert ada.judge(ada.next(), RATED).status == 200


def test_a_cookie_of_the_same_name_takes_nothing_away(server: StudioServer) -> None:
    ben = Client(server, "ben")
    name = ben.cookie.partition("=")[0]
    ben.cookie = f"{name}=stale; {name}=1.2.3.4; {ben.cookie}; {name}="
    assert ben.judge(ben.next(), RATED).status == 200


def test_large_cookies_of_other_applications_do_not_matter(server: StudioServer) -> None:
    ben = Client(server, "ben")
    ben.cookie = "; ".join([*(f"big{k}={'x' * 4000}" for k in range(10)), ben.cookie])
    assert ben.judge(ben.next(), RATED).status == 200


class _OtherApplication(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        for cookie in ('prefs={"theme":"dark"}', "list=[1,2,3]", 'note="half open', "a=b c"):
            self.send_header("Set-Cookie", f"{cookie}; Path=/")
        self.end_headers()
        self.wfile.write(b"<p>another application</p>")

    def log_message(self, *_: object) -> None:
        pass


def test_judging_in_a_browser_that_another_application_gave_cookies(
    browser: Any, server: StudioServer
) -> None:
    other = ThreadingHTTPServer(("127.0.0.1", 0), _OtherApplication)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    context = browser.new_context()
    context.new_page().goto(f"http://127.0.0.1:{other.server_address[1]}/")
    assert {entry["name"] for entry in context.cookies()} >= {"prefs", "list"}
    cleo = Person(browser, server, "cleo", context)
    cleo.press("4")
    cleo.go_on()
    cleo.saved()
    assert [entry["ratings"] for entry in values(server, "cleo")] == [{"quality": 4}]
    other.shutdown()
    other.server_close()


def test_a_new_link_ends_the_sessions_of_the_old_one(server: StudioServer) -> None:
    owner, old = Client(server, "owner"), Client(server, "ada")
    (ada,) = [id for id in (1, 2, 3, 4) if _name(server, id) == "ada"]
    open_item = old.next()
    renewed = owner.ask("POST", "/api/owner/renew", {"assessor": ada})
    assert renewed.status == 200
    assert old.ask("GET", "/api/next").status == 401
    assert old.ask("GET", "/").status == 401
    assert old.judge(open_item, RATED).status == 401
    server.links["ada"] = renewed.json["link"]
    new = Client(server, "ada")
    assert new.judge(new.next(), RATED).status == 200
    assert owner.ask("GET", "/owner").status == 200  # sessions of other links go on


def test_a_new_link_of_the_own_ends_the_session_of_an_owner(server: StudioServer) -> None:
    owner = Client(server, "owner")
    server.links["owner"] = owner.ask("POST", "/api/owner/renew", {"assessor": 1}).json["link"]
    assert owner.ask("GET", "/owner").status == 401
    assert Client(server, "owner").ask("GET", "/owner").status == 200


def _name(server: StudioServer, id: int) -> str:
    from karat.studio.store.people import active_link
    from karat.studio.store.store import Store

    with Store.reading(server.store) as store:
        link = active_link(store, id)
    return link[0].name if link else ""


def test_a_chosen_token_is_the_link_of_the_owner_until_it_is_renewed(tmp_path: Path) -> None:
    token = "chosen-by-the-owner-1"
    (tmp_path / "token").write_text(f"{token}\n")
    server = StudioServer(tmp_path, write_set(tmp_path, 3), "--token-file", "token")
    arguments = Path(f"/proc/{server.process.pid}/cmdline")
    assert not arguments.exists() or token.encode() not in arguments.read_bytes()
    assert server.links["owner"] == f"/join/{token}"
    owner = Client(server, "owner")
    server.stop()
    server.start()
    assert owner.ask("GET", "/owner").status == 200  # the same token, the same session
    assert owner.ask("POST", "/api/owner/renew", {"assessor": 1}).status == 200
    assert owner.ask("GET", "/owner").status == 401
    assert Client(server, None).ask("GET", f"/join/{token}").status == 403
    server.stop()
    assert token not in server.store.with_name("judged.sqlite.keys").read_text()
    server.options = ()
    server.start()
    assert server.links["owner"] != f"/join/{token}"
    server.stop()
