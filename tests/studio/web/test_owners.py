"""A project keeps an owner: whatever is sent, at once or in turn, and if all links are lost."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.judged_store import make_store
from studio.web.studio_server import Answer, Client, StudioServer, write_set

from karat.errors import InputError
from karat.studio.store.people import assessors, invite, read_trail, recover_owner, renew, withdraw
from karat.studio.store.store import Store


def owners(path: Path) -> list[str]:
    with Store.reading(path) as store:
        return [
            person.name for person in assessors(store) if person.active and person.role == "owner"
        ]


@pytest.fixture
def two_owners(tmp_path: Path) -> Any:
    server = StudioServer(tmp_path, write_set(tmp_path, 3))
    first = Client(server, "owner")
    invited = first.ask("POST", "/api/owner/invite", {"name": "olga", "role": "owner"})
    server.links["olga"] = invited.json["link"]
    yield server
    server.stop()


@pytest.mark.parametrize("action", ["withdraw", "renew"])
def test_an_id_is_a_whole_number(two_owners: StudioServer, action: str) -> None:
    owner = Client(two_owners, "owner")
    for id in ("1", 1.0, True, [1], {"id": 1}, None, "1 OR 1", 10**20, -1):
        assert owner.ask("POST", f"/api/owner/{action}", {"assessor": id}).status == 422, id
        assert owner.ask("GET", "/owner").status == 200, id
    assert owners(two_owners.store) == ["owner", "olga"]


def test_owners_who_withdraw_each_other_at_once(two_owners: StudioServer) -> None:
    people = [Client(two_owners, name) for name in ("owner", "olga")]
    answers: list[Answer] = []
    begin = threading.Barrier(2)

    def send(who: Client, other: int) -> None:
        begin.wait()
        answers.append(who.ask("POST", "/api/owner/withdraw", {"assessor": other}))

    threads = [threading.Thread(target=send, args=(who, 2 - k)) for k, who in enumerate(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status for answer in answers)[0] == 200
    assert len(owners(two_owners.store)) == 1


def test_the_last_owner_stays(tmp_path: Path) -> None:
    with make_store(tmp_path / "a.sqlite") as store:
        invite(store, "olga", "owner")
        invite(store, "owen", "owner")
        olga, owen = (person.id for person in assessors(store) if person.role == "owner")
        with pytest.raises(InputError, match="you cannot withdraw your own invitation"):
            withdraw(store, olga, olga)
        withdraw(store, olga, owen)
        with pytest.raises(InputError, match="your invitation was withdrawn"):
            withdraw(store, owen, olga)
        with pytest.raises(InputError, match="your invitation was withdrawn"):
            renew(store, owen, olga)
        with pytest.raises(InputError, match="the only owner of the project"):
            withdraw(store, owen)
        with pytest.raises(InputError, match="no active assessor"):
            withdraw(store, olga, owen)
        with pytest.raises(InputError, match="no active assessor"):
            renew(store, olga, owen)
    assert owners(tmp_path / "a.sqlite") == ["owen"]


def test_an_owner_is_recovered_while_the_studio_runs(tmp_path: Path, run_karat: Any) -> None:
    server = StudioServer(tmp_path, write_set(tmp_path, 3), "--assessor", "ada")
    before = Client(server, "owner")
    with sqlite3.connect(server.store) as outside:  # as an earlier version could leave it
        outside.execute("UPDATE assessor SET active = 0 WHERE role = 'owner'")
    outside.close()
    assert before.ask("GET", "/owner").status == 401
    done = run_karat("studio", "owner", server.store.name, "--port", str(server.port))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"owner (owner): {server.site}/join/")
    server.links["owner"] = done.stdout.strip().removeprefix(f"owner (owner): {server.site}")
    after = Client(server, "owner")
    assert "recover an owner&#39;s link" in after.ask("GET", "/owner/events").text
    assert before.ask("GET", "/owner").status == 401
    server.stop()
    links = dict(server.links)
    server.start()
    assert server.links == links  # the recovered link stays, too
    server.stop()


def test_a_studio_without_an_owner_says_what_to_do(tmp_path: Path) -> None:
    server = StudioServer(tmp_path, write_set(tmp_path, 3), "--assessor", "ada")
    assert not any("No owner is left" in line for line in server.said)
    server.stop()
    with sqlite3.connect(server.store) as outside:
        outside.execute("UPDATE assessor SET active = 0 WHERE role = 'owner'")
    outside.close()
    server.start()
    lines = [line for line in server.said if line.startswith("No owner is left")]
    assert lines == [f"No owner is left: make a link with `karat studio owner {server.store}`.\n"]
    server.stop()


def test_recovery_makes_nobody_else_an_owner(tmp_path: Path, run_karat: Any) -> None:
    with make_store(tmp_path / "a.sqlite") as store:
        token = recover_owner(store)
        assert token
        with pytest.raises(InputError, match="ann has the role assessor"):
            recover_owner(store, "ann")
        recover_owner(store, "olga")
        entries, _ = read_trail(store, 1, 10)
        assert [entry.event for entry in entries[:2]] == [
            "recover an owner's link from the command line"
        ] * 2
    assert owners(tmp_path / "a.sqlite") == ["owner", "olga"]
    (tmp_path / "text.txt").write_text("not a store")
    (tmp_path / "folder").mkdir()
    refused = {"nowhere.sqlite": "no such file", "text.txt": "not a store", "folder": "is a folder"}
    for name, sentence in refused.items():
        done = run_karat("studio", "owner", name)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert sentence in line


def test_an_empty_file_is_not_turned_into_a_store(tmp_path: Path, run_karat: Any) -> None:
    (tmp_path / "empty.sqlite").touch()
    with sqlite3.connect(tmp_path / "tableless.sqlite") as outside:
        outside.execute("PRAGMA user_version = 1")
    outside.close()
    for name in ("empty.sqlite", "tableless.sqlite"):
        before = (tmp_path / name).read_bytes()
        for words in (("owner", name), ("--check", name)):
            done = run_karat("studio", *words)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"karat: {name} is empty: expected a store of the studio\n"
        assert (tmp_path / name).read_bytes() == before
    files = sorted(path.name for path in tmp_path.glob("*.sqlite*"))
    assert files == ["empty.sqlite", "tableless.sqlite"]
