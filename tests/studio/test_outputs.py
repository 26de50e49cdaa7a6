"""Folders of text files, and tables, as sets of the studio."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studio.store_rows import current

from karat.errors import InputError
from karat.progress import silent
from karat.studio.opening import open_store
from karat.studio.options import StudioOptions
from karat.studio.outputs import is_text_folder, read_text_folder
from karat.studio.store.projects import project
from karat.studio.store.store import Store
from karat.tables.options import ReadingOptions

TABLE = """id,source,reference,first,second
a,Die Katze saß.,The cat sat.,A cat sat there.,Cat sat.
b,Es regnet.,It rains.,It is raining now.,
"""


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text, "utf-8")
    return path


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    evalset = read_text_folder(
        folder(tmp_path / "own", first="x\nz\n", second="y\n\n", source="S1\nS2\n")
    )
    assert evalset.name == "own"
    assert {name: [*texts] for name, texts in evalset.systems.items()} == {
        "first": ["x", "z"],
        "second": ["y", ""],
    }
    assert [*(evalset.sources or ())] == ["S1", "S2"]
    assert [*evalset.segments] == ["1", "2"]
    assert not any(evalset.references or ())


def open_table(path: Path, text: str, store: Path, **reading: Any) -> list[str]:
    """Open a studio's store on a table; return what it says."""
    path.write_text(text, "utf-8")
    lines: list[str] = []
    options = StudioOptions(reading=ReadingOptions(**reading))
    open_store(path, store, options, silent, lines.append).close()
    return lines


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_says_how_it_was_read(tmp_path: Path, suffix: str) -> None:
    text = TABLE if suffix == ".csv" else TABLE.replace(",", "\t")
    columns = {"system": "first,second"}
    lines = open_table(tmp_path / f"own{suffix}", text, tmp_path / "own.sqlite", columns=columns)
    assert "2 rows; id=id, reference=reference" in lines[0]
    assert lines[0].endswith("systems side by side: first, second")
    assert lines[-1].endswith("is new: judgements are saved there")
    with Store.reading(tmp_path / "own.sqlite") as store:
        assert project(store).name == "own"


def test_options_of_tables_choose_the_columns(tmp_path: Path) -> None:
    text = "nr,reply,note\n1,Hello there.,x\n2,Good bye.,y\n"
    lines = open_table(
        *(tmp_path / "own.csv", text, tmp_path / "own.sqlite"),
        columns={"candidate": "reply", "id": "nr", "ignore": "note"},
    )
    assert "id=nr, candidate=reply" in lines[0]


def test_ratings_are_never_taken_for_systems(tmp_path: Path) -> None:
    text = "item,model,text,alice,bob\n1,a,A cat.,4,5\n1,b,Cat.,3,2\n2,a,Rain.,5,5\n2,b,Wet.,1,1\n"
    (line, *_) = open_table(tmp_path / "own.csv", text, tmp_path / "own.sqlite")
    assert "ratings: alice, bob" in line
    assert "side by side" not in line


def test_a_table_without_texts_is_refused(tmp_path: Path) -> None:
    text = "system,item,judge,score\na,1,ann,4\na,2,ann,5\nb,1,ann,1\nb,2,ann,2\n"
    with pytest.raises(InputError, match="has ratings or scores and no texts"):
        open_table(tmp_path / "own.csv", text, tmp_path / "own.sqlite")
    assert not (tmp_path / "own.sqlite").exists()


def test_a_studio_opens_on_a_folder_and_continues(tmp_path: Path) -> None:
    place = folder(tmp_path / "own", first="x\nz\n", second="y\nw\n")
    lines: list[str] = []
    for _ in range(2):
        store: Store = open_store(
            place, tmp_path / "own.sqlite", StudioOptions(), silent, lines.append
        )
        store.close()
    assert lines[0].endswith("is new: judgements are saved there")
    assert lines[1].endswith("continues: own")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"first": "x\n", "second": "y\nz\n"}, r"has 2 lines, expected 1 as in first.txt"),
        ({"source": "x\n"}, "has no outputs: expected files of systems"),
    ],
)
def test_folders_that_cannot_be_judged(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_text_folder(folder(tmp_path / "own", **files))


def test_names_of_files(tmp_path: Path) -> None:
    evalset = read_text_folder(folder(tmp_path / "own", id="a\nb\n", item="x\nz\n"))
    assert ([*evalset.segments], [*evalset.systems]) == (["a", "b"], ["item"])


def test_other_folders_are_left_to_the_readers_of_sets(tmp_path: Path) -> None:
    place = folder(tmp_path / "own", first="x\n")
    (place / "karat.toml").write_text("")
    assert not is_text_folder(place)
    assert not is_text_folder(tmp_path / "none")


def test_a_studio_goes_on_where_a_set_stopped(tmp_path: Path) -> None:
    outputs = [{"id": str(k), "outputs": {"first": f"x{k}", "second": f"y{k}"}} for k in range(3)]
    judged = {"system": "first", "segment": "0", "judge": "ann", "dimension": "quality", "value": 5}
    head = {"evalset": "own", "dimensions": [{"name": "quality", "low": 1, "high": 7}]}
    lines = [json.dumps(row) for row in (head, *outputs, judged)]
    place = tmp_path / "own.jsonl"
    place.write_text("\n".join(lines), "utf-8")
    told_lines: list[str] = []
    with open_store(
        place, tmp_path / "own.sqlite", StudioOptions(earlier=True), silent, told_lines.append
    ) as store:
        (row,) = current(store)
    assert row.value == {"ratings": {"quality": 5}}
    assert told_lines[0] == "Judgements of 1 assessor were taken over."
    place.write_text("\n".join(lines[:-1]), "utf-8")
    with pytest.raises(InputError, match="has no judgements by people"):
        open_store(
            place, tmp_path / "none.sqlite", StudioOptions(earlier=True), silent, told_lines.append
        )
    assert not (tmp_path / "none.sqlite").exists()
