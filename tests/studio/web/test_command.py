"""`karat studio`: what it says, its links from start to start, and bad input in one sentence."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.studio_server import RUN, Client, StudioServer, free_port, write_set


def refused(run_karat: Any, folder: Path, *args: str) -> str:
    """What the command says when it refuses: one line, exit code 2, nothing new in the folder."""
    before = _files(folder)
    done = run_karat("studio", "--no-browser", *args)
    assert done.returncode == 2, done.stdout + done.stderr
    assert _files(folder) == before
    (line,) = done.stderr.splitlines()
    return str(line)


def _files(folder: Path) -> list[str]:
    """The files of a folder, without locks, which stay."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_links_stay_the_same_and_sessions_outlive_the_server(
    tmp_path: Path, run_karat: Any
) -> None:
    server = StudioServer(tmp_path, write_set(tmp_path, 3), "--assessor", "ada")
    ada = Client(server, "ada")
    item = ada.next()
    assert ada.judge(item, {"ratings": {"quality": 4}}).status == 200
    links = dict(server.links)
    begins = {name: Client(server, None).ask("GET", link).text for name, link in links.items()}
    assert 'href="/owner"' in begins["owner"]  # who only looks takes no unit from others
    assert 'href="/"' in begins["ada"]
    assert server.stop() == f"Stopped. Judgements: 1. All is saved in {server.store}.\n"
    assert server.process.returncode == 0
    keys = tmp_path / "judged.sqlite.keys"
    assert stat.S_IMODE(os.stat(keys).st_mode) == 0o600
    tokens = [link.rpartition("/")[2].encode() for link in links.values()]
    assert not any(token in server.store.read_bytes() for token in tokens)
    server.start()
    assert server.links == links
    assert ada.next()["assignment"] != item["assignment"]
    # Another process may not serve the store, but checks and copies it.
    port = str(free_port())
    message = refused(run_karat, tmp_path, "demo", "--store", "judged.sqlite", "--port", port)
    assert "is served by another process" in message
    look = [sys.executable, "-c", RUN, "studio"]
    checking = [*look, "--check", "judged.sqlite"]
    check = subprocess.check_output(checking, cwd=tmp_path, text=True)
    assert "1 judgement" in check
    assert check.endswith("No problems found.\n")
    subprocess.run([*look, "--backup", "judged.sqlite", "copy.sqlite"], cwd=tmp_path, check=True)
    with sqlite3.connect(tmp_path / "copy.sqlite") as copy:
        assert copy.execute("SELECT count(*) FROM judgement").fetchone() == (1,)
    server.stop()
    other = ("demo", "--store", "judged.sqlite", "--port", port)
    assert "was made for another task" in refused(run_karat, tmp_path, *other, "--task", "pairs")
    assert "another task" in refused(run_karat, tmp_path, *other, "--scale", "fluency-5")
    assert "has judgements of 'set <script>" in refused(run_karat, tmp_path, *other)
    same_arguments = (server.name, *other[1:])
    assert "with another --overlap" in refused(
        run_karat, tmp_path, *same_arguments, "--overlap", "2"
    )
    assert "with another --show" in refused(
        run_karat, tmp_path, *same_arguments, "--show", "reference"
    )
    assert "expected 1 to 100" in refused(
        run_karat, tmp_path, *same_arguments, "--assessor", "x" * 101
    )
    # Links that were lost are replaced by new ones; the old ones end.
    keys.unlink()
    server.start()
    assert server.links["ada"] != links["ada"]
    assert Client(server, None).ask("GET", links["ada"]).status == 403
    assert Client(server, "ada").next()
    server.stop()


def test_bad_input_is_refused_in_one_sentence(tmp_path: Path, run_karat: Any) -> None:
    empty = tmp_path / "empty.jsonl"
    rows = [{"evalset": "e", "systems": []}, {"id": "1", "references": ["a"], "outputs": {}}]
    empty.write_text("".join(json.dumps(row) + "\n" for row in rows))
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA application_id = 0x4B535444")
        database.execute("PRAGMA user_version = 99")
        database.execute("CREATE TABLE project (id)")
    (tmp_path / "other.txt").write_text("not a store")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        used = str(listener.getsockname()[1])
        port = ("--port", str(free_port()))
        assert f"port {used} (Address already in use)" in refused(
            run_karat, tmp_path, "demo", "--port", used
        )
        assert "no scale 'quality-9'" in refused(
            run_karat, tmp_path, "demo", "--scale", "quality-9", *port
        )
        mixed = ("--task", "pairs", "--scale", "5")
        assert "leave them out for pairs" in refused(run_karat, tmp_path, "demo", *mixed, *port)
        assert "has no nuggets" in refused(run_karat, tmp_path, "demo", "--task", "nuggets", *port)
        assert "version 99" in refused(
            run_karat, tmp_path, "demo", "--store", "newer.sqlite", *port
        )
        assert "not a store" in refused(run_karat, tmp_path, "demo", "--store", "other.txt", *port)
        assert "add --token" in refused(run_karat, tmp_path, "demo", "--host", "0.0.0.0", *port)
        weak = ("--host", "0.0.0.0", "--token", "short")
        assert "expected 16 to 200" in refused(run_karat, tmp_path, "demo", *weak, *port)
        assert "SET is missing" in refused(run_karat, tmp_path)
        assert "no systems" in refused(run_karat, tmp_path, "empty.jsonl", *port)
        assert "cannot" in refused(
            run_karat, tmp_path, "demo", "--store", "nowhere/x.sqlite", *port
        )
        assert "no such file" in refused(run_karat, tmp_path, "--check", "nowhere.sqlite")
