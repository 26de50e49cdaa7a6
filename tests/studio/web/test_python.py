"""A studio from Python: open in the background, judged over HTTP, closed, read as a set."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.studio_server import Client

import karat as kt
from karat.studio.store.projects import project


class Served:
    """What a client needs to know of a studio."""

    def __init__(self, studio: kt.OpenStudio) -> None:
        links = {name: link.split("/", 3) for name, link in studio.links.items()}
        self.port = int(links["owner"][2].rpartition(":")[2])
        self.links = {name: f"/{parts[3]}" for name, parts in links.items()}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """The store of a studio in which ada rated all outputs of the demo set."""
    place = tmp_path / "demo.sqlite"
    with kt.open_studio(
        "demo", place, dimensions=["fluency"], scales=["5"], assessors=["ada"], port=0
    ) as studio:
        ada: Any = Client(Served(studio), "ada")  # type: ignore[arg-type]
        for number in range(4):
            item = ada.next()
            assert ada.judge(item, {"ratings": {"fluency": 1 + number}}).status == 200
        assert studio.judged == 4
    return place


def test_a_studio_from_python_is_judged_and_read(judged: Path, tmp_path: Path) -> None:
    evalset = kt.load_evalset(judged)
    assert sorted(row.value for row in evalset.judgements) == [1, 2, 3, 4]
    assert {row.judge for row in evalset.judgements} == {"ada"}
    assert kt.check_studio(judged).ok
    assert "set" in kt.export_studio(judged, tmp_path / "files")
    kt.import_studio(tmp_path / "files", tmp_path / "again.sqlite")
    again = kt.load_evalset(tmp_path / "again.sqlite")
    assert [*again.judgements] == [*evalset.judgements]
    with kt.open_studio(tmp_path / "again.sqlite", port=0) as studio:  # a store needs no set
        assert studio.store == tmp_path / "again.sqlite"
        assert sorted(studio.links) == ["ada", "owner"]
        assert studio.judged == 4


def test_a_closed_studio_frees_its_port_and_continues(judged: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for _ in range(2):
        with kt.open_studio("demo", judged, port=port) as studio:
            assert studio.judged == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": "guess"}, "no task 'guess'"),
        ({"overlap": 0}, "overlap=0"),
        ({"colour": "red"}, "colour"),
        ({"scheme": "mqm"}, "--scheme is for spans"),
        ({"host": "0.0.0.0"}, "add --token"),
        ({"assessors": ["owner"]}, "your own link"),
        ({"show": ["everything"]}, "everything"),
        ({"runs": ["a.run"]}, "--run is for"),
        ({"assessors": "ada"}, "assessors='ada': expected a list"),
        ({"dimensions": "fluency"}, "dimensions='fluency': expected a list"),
        ({"scales": 5}, "scales=5: expected a list"),
        ({"token": 5}, "token=5: expected a text"),
        ({"lease_seconds": 10**12}, "lease_seconds=1000000000000: expected at most"),
    ],
)
def test_bad_settings_make_nothing(tmp_path: Path, wrong: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.open_studio("demo", tmp_path / "new.sqlite", port=0, **wrong)
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize("wrong", [None, 3, b"demo", [3]])
def test_what_is_no_set_or_path_is_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(kt.InputError, match="expected an evaluation set, its name, a path"):
        kt.open_studio(wrong, tmp_path / "new.sqlite", port=0)
    with pytest.raises(kt.InputError, match=r"^log=.*: expected the path of a file"):
        kt.import_studio(wrong, tmp_path / "new.sqlite")
    for call in (kt.check_studio, lambda given: kt.export_studio(given, tmp_path / "out")):
        with pytest.raises(kt.InputError, match=r"^store=.*: expected the path of a file"):
            call(wrong)
    if wrong is not None:  # the default
        with pytest.raises(kt.InputError, match=r"^store=.*: expected the path of a file"):
            kt.open_studio("demo", wrong, port=0)
    assert not list(tmp_path.iterdir())


def test_a_store_made_with_other_settings_is_refused(judged: Path) -> None:
    with pytest.raises(kt.InputError, match="made with another --overlap"):
        kt.open_studio("demo", judged, overlap=2, port=0)
    with pytest.raises(kt.InputError, match="made for another task"):
        kt.open_studio("demo", judged, task="pairs", port=0)


def test_a_drafted_key_is_judged(tmp_path: Path) -> None:
    head = {"key": "draft", "drafted_by": "model", "signature": "s"}
    nuggets = [{"id": "1", "importance": "vital", "descriptions": ["Ida Marlow made it"]}]
    rows = [head, {"question": "lens", "text": "Who made it?", "nuggets": nuggets}]
    key, run = tmp_path / "key.jsonl", tmp_path / "run.jsonl"
    key.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run.write_text(json.dumps({"run": "A", "question": "lens", "response": "Ida did."}) + "\n")
    with kt.open_studio(key, tmp_path / "s.sqlite", port=0, runs=[run]) as studio:
        assert [*project(studio.opened).settings.tasks] == ["nuggets"]
