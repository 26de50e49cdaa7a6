"""Names of the server, cookies and the private file: what they take and what they refuse."""

from __future__ import annotations

import socket
from multiprocessing import get_context
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.studio.store.store import Store
from karat.studio.web.guard import Hosts, parse
from karat.studio.web.studio import SESSION_SECONDS, Keys, Sessions


@pytest.mark.parametrize(
    ("bound", "header", "is_known"),
    [
        ("127.0.0.1", "127.0.0.1:8642", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.1", "::1", False),
        ("127.0.0.1", "10.0.0.7", False),
        ("127.0.0.1", "localhost.", False),
        ("127.0.0.1", "localhost:80:80", False),
        ("10.0.0.7", "10.0.0.7:8642", True),
        ("10.0.0.7", "10.0.0.8:8642", False),
        ("0.0.0.0", "10.0.0.7:8642", True),
        ("0.0.0.0", "[fe80::1]:8642", True),
        ("0.0.0.0", socket.gethostname(), True),
        ("0.0.0.0", "evil.example", False),
        ("0.0.0.0", "10.0.0.7.evil.example", False),
    ],
)
def test_names_of_a_server(bound: str, header: str, is_known: bool) -> None:
    assert Hosts.for_address(bound).accepts(header) is is_known


def test_a_session_ends_and_belongs_to_one_key() -> None:
    time = [1000.0]
    sessions = Sessions(b"a" * 32, lambda: time[0])
    cookie = sessions.begin(7, "hash")
    time[0] += SESSION_SECONDS - 1
    assert sessions.read(cookie) == (7, sessions.mark("hash"))
    time[0] += 1
    assert sessions.read(cookie) is None
    other = Sessions(b"b" * 32, lambda: 1000.0)
    assert other.read(cookie) is None
    assert other.cookie != sessions.cookie
    assert not other.is_csrf(sessions.csrf(cookie), cookie)


def test_keys_are_kept_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    keys = Keys.for_store(path)
    with Store.create(path) as store:
        keys.add(store, "ada", "token")
    assert Keys.for_store(path) == keys
    for text in ("", "{", "[]", '{"key": "00", "tokens": {}}', '{"key": 1, "tokens": []}'):
        keys.path.write_text(text)
        with pytest.raises(InputError, match="is not a file of keys"):
            Keys.for_store(path)


def _add_tokens(path: Path, worker: int) -> None:
    with Store.open(path, exclusive=False) as store:
        keys = Keys.for_store(path)
        for k in range(10):
            keys.add(store, f"{worker}-{k}", "token")


def test_processes_keep_the_tokens_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    Store.create(path).close()
    Keys.for_store(path)
    processes = [get_context("spawn").Process(target=_add_tokens, args=(path, k)) for k in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    names = {f"{worker}-{k}" for worker in range(3) for k in range(10)}
    assert Keys.for_store(path).tokens.keys() == names


def test_json_is_read_as_it_is() -> None:
    assert parse('{"a": [1, -2.5, "é\\ud83d\\ude00", null, true]}'.encode()) == {
        "a": [1, -2.5, "é😀", None, True]
    }
