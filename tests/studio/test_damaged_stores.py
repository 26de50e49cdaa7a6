"""Damaged stores: every command reads them or refuses in one sentence, and the check tells why."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from sizes import SHORT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.damaged_stores import SETTINGS, Damage, damages, make_judged, problem

from karat.errors import InputError
from karat.studio.export.formats import check_studio
from karat.studio.live import Worker
from karat.studio.store.schema import DamagedStore

FEW = 12
KNOWN = {
    "ratings": (
        Damage("decision", "UPDATE adjudication SET value = '{' WHERE id = 1"),
        Damage("role", "UPDATE assessor SET role = 'god' WHERE id = 1"),
        Damage("frontier", "UPDATE assessor SET frontier = -1000000000000"),
        Damage("round", "UPDATE draw SET round = 1000000000000"),
        Damage("answer", "UPDATE unit SET answer = '{\"ratings\": {}}' WHERE answer IS NOT NULL"),
        Damage("time", "UPDATE judgement SET time = '0001-01-01T00:00:00+00:00' WHERE id = 1"),
        Damage("event", "UPDATE event SET detail = '{\"of\": [1]}' WHERE id = 2"),
        Damage("digest", "UPDATE project SET set_digest = 'other'"),
        Damage("system", "UPDATE output SET system = 'other' WHERE id = 1"),
        Damage("trigger", "DROP TRIGGER judgement_UPDATE"),
    ),
    "pairs": (
        Damage("name", "UPDATE project SET name = x'ff'"),
        Damage("unit", "UPDATE unit SET outputs = '[1, 1]' WHERE id = 1"),
    ),
    "spans": (
        Damage("span", 'UPDATE judgement SET value = \'{"score": 4, "spans": [1]}\' WHERE id = 1'),
    ),
    "errors": (Damage("source", "UPDATE item SET source = x'ff' WHERE id = 1"),),
    "nuggets": (
        Damage("label", 'UPDATE judgement SET value = \'{"nuggets": {"1": {}}}\' WHERE id = 1'),
        Damage("words", "UPDATE nugget SET descriptions = '[]' WHERE id = 1"),
    ),
}
"""Damages that are of a kind of their own: each must be found by the check."""


@pytest.fixture(scope="module", params=SETTINGS)
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("judged") / f"{request.param}.sqlite"
    make_judged(path, request.param)
    return path


def damaged(judged: Path, folder: Path, damage: Damage) -> Path | None:
    """A damaged copy; None if the damage is not possible."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / judged.name
    copy.write_bytes(judged.read_bytes())
    return copy if damage.apply(copy) else None


def test_an_intact_store_is_read_by_every_command(judged: Path, tmp_path: Path) -> None:
    copy = tmp_path / judged.name
    copy.write_bytes(judged.read_bytes())
    assert check_studio(copy).problems == ()
    assert problem(copy) == ""


def test_known_damage_is_found_and_refused(judged: Path, tmp_path: Path) -> None:
    for damage in KNOWN[judged.stem]:
        copy = damaged(judged, tmp_path / "copy", damage)
        assert copy, damage.name
        assert check_studio(copy).problems, damage.name
        assert problem(copy) == "", damage.name


def test_the_process_of_live_results_refuses_damage(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "ratings.sqlite"
    make_judged(copy, "ratings")
    assert KNOWN["ratings"][0].apply(copy)
    worker = Worker(copy)
    for _ in range(2):  # it goes on after the first
        with pytest.raises(DamagedStore, match="is damaged: "):
            worker.request_results()
    copy.write_bytes(b"no store")
    gone = Worker(copy)
    with pytest.raises(InputError):
        gone.request_results()
    assert capfd.readouterr().err == ""


def test_the_command_tells_damage_from_none(judged: Path, run_karat: Any, folder: Path) -> None:
    copy = folder / "store.sqlite"
    copy.write_bytes(judged.read_bytes())
    done = run_karat("studio", "--check", copy.name)
    assert done.returncode == 0
    assert done.stdout.endswith("No problems found.\n")
    assert Damage("taken", "UPDATE unit SET taken = 9 WHERE id = 1").apply(copy)
    done = run_karat("studio", "--check", copy.name)
    assert done.returncode == 2
    assert "No problems found" not in done.stdout
    (line,) = done.stderr.splitlines()
    assert "store.sqlite is damaged: Found 1 units whose count of places taken is wrong" in line


def test_every_damage_is_read_or_refused(judged: Path, tmp_path: Path) -> None:
    all_damages = list(damages(judged))
    if SHORT:
        all_damages = random.Random(judged.stem).sample(all_damages, FEW)
    for damage in all_damages:
        if copy := damaged(judged, tmp_path / "copy", damage):
            assert problem(copy) == "", damage.name
