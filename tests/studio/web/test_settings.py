"""Options of `karat studio`: what is shown beside outputs, calibration, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.studio_server import Client, StudioServer, free_port
from studio.web.test_command import refused

from karat.studio.store.projects import project
from karat.studio.store.store import Store

ROWS = [
    {"id": str(k), "group": f"d{k // 2}", "source": f"Source {k}.", "references": [f"Ref {k}."]}
    for k in range(4)
]


def write(folder: Path, *without: str, name: str = "given.jsonl") -> str:
    """Write a set of two systems without some of its texts."""
    rows = [{key: value for key, value in row.items() if key not in without} for row in ROWS]
    items = [{**row, "outputs": {"A": f"A {row['id']}", "B": f"B {row['id']}"}} for row in rows]
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in items))
    return name


SHOWN = [
    ((), (), "source context"),
    ((), ("--show", "reference"), "references"),
    ((), ("--show", "context", "--show", "source"), "source context"),
    ((), ("-d", "adequacy"), "source context"),
    (("source",), ("-d", "adequacy"), "references"),
    (("source",), ("-d", "fluency"), ""),
]


@pytest.mark.parametrize(
    ("without", "options", "expected"),
    [*SHOWN[:2], *(pytest.param(*one, marks=pytest.mark.long) for one in SHOWN[2:])],
)
def test_texts_are_shown_as_the_owner_sets(
    tmp_path: Path, without: tuple[str, ...], options: tuple[str, ...], expected: str
) -> None:
    server = StudioServer(tmp_path, write(tmp_path, *without), *options, "--seed", "3")
    try:
        owner, shown_parts, orders = Client(server, "owner"), set(), []
        for _ in range(8):
            item = owner.next()
            shown_parts |= {part for part in ("source", "context", "references") if item[part]}
            orders.append(item["outputs"][0]["text"])
            if item["context"]:
                number = int(orders[-1].split()[1])
                assert item["context"] == f"Source {number - 1}."  # of the same group alone
            names = [scale["dimension"] for scale in item["settings"]["scales"]]
            owner.judge(item, {"ratings": dict.fromkeys(names, 3)})
        assert shown_parts == {*expected.split()}
        assert orders != sorted(orders)
    finally:
        server.stop()


def test_what_cannot_be_compared_is_refused(tmp_path: Path, run_karat: Any) -> None:
    full, bare = write(tmp_path), write(tmp_path, "source", "references", name="bare.jsonl")
    port = ("--port", str(free_port()))
    for name in ("adequacy", "dissimilarity", "paraphrase", "coverage"):
        message = refused(run_karat, tmp_path, bare, "-d", name, *port)
        assert f"{name} compares an output with another text, and segment 0 of bare has" in message
        assert "neither source nor reference" in message
    message = refused(run_karat, tmp_path, full, "-d", "adequacy", "--show", "context", *port)
    assert message.endswith("shows none: add --show source or --show reference")
    message = refused(run_karat, tmp_path, bare, "--show", "reference", *port)
    assert "--show reference: bare has no references: leave it out" in message
    message = refused(run_karat, tmp_path, bare, "--show", "context", *port)
    assert "bare has no groups with sources" in message


RIGHT = {"outputs": ["A cat sat."], "value": {"ratings": {"quality": 6}}}
CALIBRATION = [
    ({"outputs": ["x"]}, "known.jsonl, line 1: value is missing"),
    ({"value": {}}, "outputs is missing: expected outputs and value"),
    ({**RIGHT, "value": 3}, "found value=3, expected an object"),
    ({**RIGHT, "outputs": "x"}, "found outputs='x', expected a list of texts"),
    ({**RIGHT, "outputs": ["x", "y"]}, "calibration item 1: expected one output"),
    ({**RIGHT, "colour": 1}, "found the name 'colour', expected outputs, value, source"),
    ({**RIGHT, "value": {"ratings": {}}}, "calibration item 1: no value for quality"),
    ({**RIGHT, "value": {"done": False}}, "calibration item 1: the answer is a draft"),
    ({**RIGHT, "value": {"ratings": {"quality": 9}}}, "found quality=9, expected a whole"),
    ([], "line 1: found '[]', expected a JSON object"),
    (None, "expected calibration items, one JSON object a line"),
]


@pytest.mark.parametrize(("item", "message"), CALIBRATION)
def test_wrong_calibration_is_refused(
    tmp_path: Path, run_karat: Any, item: Any, message: str
) -> None:
    name = write(tmp_path)
    text = "" if item is None else json.dumps(item) + "\n"
    (tmp_path / "known.jsonl").write_text(text)
    options = ("--calibration", "known.jsonl", "--port", str(free_port()))
    assert message in refused(run_karat, tmp_path, name, *options)


def test_other_bad_options_are_refused(tmp_path: Path, run_karat: Any) -> None:
    name, port = write(tmp_path), ("--port", str(free_port()))
    (tmp_path / "folder").mkdir()
    compared = ("-d", "adequacy", "--calibration", "known.jsonl")
    (tmp_path / "known.jsonl").write_text(
        json.dumps({**RIGHT, "value": {"ratings": {"adequacy": 6}}})
    )
    wrong = {
        compared: "calibration item 1: adequacy compares an output with another text: add source",
        ("--store", "folder"): "--store folder is a folder: expected a file",
        ("--assessor", "owner"): "--assessor owner: that is the name of your own link",
        ("--scale", "9"): "--scale 9: expected 5, 7, 100 or a name such as quality-7",
        ("--quota", "0"): "Invalid value for '--quota'",
        ("--predictor", "nonsense"): "judge 'nonsense'",
        ("--random-share", "2"): "Invalid value for '--random-share'",
        ("--host", "192.0.2.1", "--token", "a" * 16): "choose an address of this machine",
        ("--run", "my.run"): "--run is for nugget sets",
    }
    for options, message in wrong.items():
        assert message in refused(run_karat, tmp_path, name, *options, *port)


def test_an_import_that_was_cut_off_begins_again(tmp_path: Path) -> None:
    Store.create(tmp_path / "judged.sqlite").close()  # as a kill during the import leaves it
    server = StudioServer(tmp_path, write(tmp_path))
    try:
        assert Client(server, "owner").next()["outputs"]
    finally:
        server.stop()


def test_calibration_predictor_and_overlap_are_kept(tmp_path: Path, run_karat: Any) -> None:
    name = write(tmp_path)
    (tmp_path / "known.jsonl").write_text(json.dumps(RIGHT) + "\n")
    options = ("--calibration", "known.jsonl", "--predictor", "chrf", "--overlap", "3")
    server = StudioServer(tmp_path, name, *options, "--assessor", "ada")
    server.stop()
    assert "--overlap 3 needs 3 people, and 2 are invited" in "".join(server.said)
    again = (name, "--store", "judged.sqlite", "--port", str(free_port()))
    message = refused(run_karat, tmp_path, *again, "--random-share", "0.5")
    assert "was made with another --random-share" in message
    with Store.reading(server.store) as store:
        settings = project(store).settings
    assert settings.calibration[0].outputs == ("A cat sat.",)
    assert (settings.predictor, settings.random_share) == ("chrf", 0.2)
