"""Folders of text files and tables as sets of the studio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.progress import silent
from karat.studio.opening.asked import Asked
from karat.studio.opening.outputs import is_outputs, read_outputs
from karat.studio.opening.stores import open_store
from karat.studio.store.judgements import current
from karat.studio.store.store import Store

TABLE = "id,group,source,reference,first,second\na,d,S1,R1,x,y\nb,d,S2,R2,z,\n"


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text, "utf-8")
    return path


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    found = read_outputs(
        folder(tmp_path / "own", first="x\nz\n", second="y\n\n", source="S1\nS2\n")
    )
    assert found.name == "own"
    assert {name: [*texts] for name, texts in found.systems.items()} == {
        "first": ["x", "z"],
        "second": ["y", ""],
    }
    assert [*(found.sources or ())] == ["S1", "S2"]
    assert [*found.segments] == ["1", "2"]
    assert not any(found.references or ())


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"own{suffix}"
    place.write_text(TABLE if suffix == ".csv" else TABLE.replace(",", "\t"), "utf-8")
    found = read_outputs(place)
    assert [*found.segments] == ["a", "b"]
    assert [*(found.groups or ())] == ["d", "d"]
    assert [[*group] for group in found.references or ()] == [["R1"], ["R2"]]
    assert {name: [*texts] for name, texts in found.systems.items()} == {
        "first": ["x", "z"],
        "second": ["y", ""],
    }


def test_a_studio_opens_on_a_folder_and_continues(tmp_path: Path) -> None:
    place = folder(tmp_path / "own", first="x\nz\n", second="y\nw\n")
    told: list[str] = []
    for _ in range(2):
        store: Store = open_store(place, tmp_path / "own.sqlite", Asked(), silent, told.append)
        store.close()
    assert told[0].endswith("is new: judgements are saved there")
    assert told[1].endswith("continues: own")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"first": "x\n", "second": "y\nz\n"}, r"has 2 lines, expected 1 as in first.txt"),
        ({"source": "x\n"}, "has no outputs: expected files of systems"),
    ],
)
def test_folders_that_cannot_be_judged(tmp_path: Path, files: dict[str, str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_outputs(folder(tmp_path / "own", **files))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("first\n", "expected a header and a row"),
        ("first,first\nx,y\n", "found 'first', expected a name of its own"),
        ("id,source\n1,x\n", "has no outputs"),
        ("first,second\nx\n", "line 2: found 1 columns, expected 2"),
        ("id,first\na,x\na,y\n", "a"),
    ],
)
def test_tables_that_cannot_be_judged(tmp_path: Path, text: str, told: str) -> None:
    place = tmp_path / "own.csv"
    place.write_text(text, "utf-8")
    with pytest.raises(InputError, match=told):
        read_outputs(place)


def test_other_folders_are_left_to_the_readers_of_sets(tmp_path: Path) -> None:
    place = folder(tmp_path / "own", first="x\n")
    (place / "karat.toml").write_text("")
    assert not is_outputs(place)
    assert not is_outputs(tmp_path / "none")


def test_a_studio_goes_on_where_a_set_stopped(tmp_path: Path) -> None:
    outputs = [{"id": str(k), "outputs": {"first": f"x{k}", "second": f"y{k}"}} for k in range(3)]
    judged = {"system": "first", "segment": "0", "judge": "ann", "dimension": "quality", "value": 5}
    head = {"evalset": "own", "dimensions": [{"name": "quality", "low": 1, "high": 7}]}
    lines = [json.dumps(row) for row in (head, *outputs, judged)]
    place = tmp_path / "own.jsonl"
    place.write_text("\n".join(lines), "utf-8")
    told: list[str] = []
    with open_store(
        place, tmp_path / "own.sqlite", Asked(earlier=True), silent, told.append
    ) as store:
        (row,) = current(store)
    assert row.value == {"ratings": {"quality": 5}}
    assert told[0] == "Judgements of 1 assessor were taken over."
    place.write_text("\n".join(lines[:-1]), "utf-8")
    with pytest.raises(InputError, match="has no judgements by people"):
        open_store(place, tmp_path / "none.sqlite", Asked(earlier=True), silent, told.append)
    assert not (tmp_path / "none.sqlite").exists()
