"""Folders of text files and tables as sets of the studio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studio.store_rows import current

from karat.errors import InputError
from karat.progress import silent
from karat.studio.opening import open_store
from karat.studio.options import StudioOptions
from karat.studio.outputs import is_output_files, read_outputs
from karat.studio.store.store import Store

TABLE = "id,group,source,reference,first,second\na,d,S1,R1,x,y\nb,d,S2,R2,z,\n"


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text, "utf-8")
    return path


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    evalset = read_outputs(
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


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"own{suffix}"
    place.write_text(TABLE if suffix == ".csv" else TABLE.replace(",", "\t"), "utf-8")
    evalset = read_outputs(place)
    assert [*evalset.segments] == ["a", "b"]
    assert [*(evalset.groups or ())] == ["d", "d"]
    assert [[*group] for group in evalset.references or ()] == [["R1"], ["R2"]]
    assert {name: [*texts] for name, texts in evalset.systems.items()} == {
        "first": ["x", "z"],
        "second": ["y", ""],
    }


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
        read_outputs(folder(tmp_path / "own", **files))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first\n", "expected a header and a row"),
        ("first,first\nx,y\n", "found 'first', expected a name of its own"),
        ("id,source\n1,x\n", "has no outputs"),
        ("first,second\nx\n", "line 2: found 1 columns, expected 2"),
        ("id,first\na,x\na,y\n", "a"),
    ],
)
def test_tables_that_cannot_be_judged(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "own.csv"
    place.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        read_outputs(place)


LONG = """item,model,text,alice,bob,source,reference
1,gpt,A cat sat.,4,5,S1,R1
1,base,Cat sat.,3,2,S1,R1
2,gpt,"Rain, again.",5,5,S2,R2
"""


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize(
    "header", ["item,model,text", "ID,System,Output", "seg_id,system,candidate"]
)
def test_a_long_table(tmp_path: Path, suffix: str, header: str) -> None:
    text = LONG.replace("item,model,text", header)
    if suffix == ".tsv":
        text = text.replace("Rain, again.", "Rain; again.").replace('"', "").replace(",", "\t")
    place = tmp_path / f"ratings{suffix}"
    place.write_text(text, "utf-8")
    lines: list[str] = []
    evalset = read_outputs(place, lines.append)
    assert [*evalset.segments] == ["1", "2"]
    rain = "Rain, again." if suffix == ".csv" else "Rain; again."
    assert {name: [*texts] for name, texts in evalset.systems.items()} == {
        "gpt": ["A cat sat.", rain],
        "base": ["Cat sat.", None],
    }
    assert [*(evalset.sources or ())] == ["S1", "S2"]
    assert [[*group] for group in evalset.references or ()] == [["R1"], ["R2"]]
    (line,) = lines
    assert line.endswith(f"ratings{suffix}: columns that are not used: alice, bob")


def test_names_of_files_and_columns(tmp_path: Path) -> None:
    evalset = read_outputs(folder(tmp_path / "own", id="a\nb\n", item="x\nz\n"))
    assert ([*evalset.segments], [*evalset.systems]) == (["a", "b"], ["item"])
    place = tmp_path / "own.csv"
    place.write_text("Item,Source,Reference,first\na,S,R,x\n", "utf-8")
    evalset = read_outputs(place)
    assert ([*evalset.segments], [*evalset.systems]) == (["a"], ["first"])
    assert [[*group] for group in evalset.references or ()] == [["R"]]


def test_a_long_table_with_a_row_for_each_rating(tmp_path: Path) -> None:
    place = tmp_path / "ratings.csv"
    place.write_text("item,system,text,judge,value\n1,a,x,ann,4\n1,a,x,bob,5\n1,b,y,ann,1\n")
    evalset = read_outputs(place)
    assert {name: [*texts] for name, texts in evalset.systems.items()} == {"a": ["x"], "b": ["y"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "item,model,answer,alice\n1,a,x,4\n",
            "found the columns item, model, answer, alice: rename the column of the text to text",
        ),
        ("item,text,alice\n1,x,4\n", "rename the column of the system to system"),
        ("model,text\na,x\n", "rename the column of the id to id"),
        (
            "id,item,first\n1,2,x\n",
            "found the columns 'id' and 'item', which both have the name of the id",
        ),
        ("id,first,second,alice\n1,x,y,4\n2,z,w,5.5\n", "the column 'alice' holds only numbers"),
        ("id,first,second,alice\n1,x,y,\n2,z,w,5\n", "the column 'alice' holds only numbers"),
        ("id,first,fluency_score\n1,x,good\n", "the column 'fluency_score' is called as ratings"),
        ("id,first,Annotator\n1,x,ann\n", "the column 'Annotator' is called as ratings"),
        ("item,system,text\n1,a,x\n1,a,y\n", "line 3: found another text of a for item 1"),
        ("item,system,text,source\n1,a,x,s\n1,b,y,t\n", "line 3: found another source of item 1"),
    ],
)
def test_ratings_are_never_taken_for_systems(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "ratings.csv"
    place.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        read_outputs(place)


def test_systems_with_some_numbers_are_systems(tmp_path: Path) -> None:
    place = tmp_path / "own.csv"
    place.write_text("id,first,scoreboard\n1,42,x\n2,no answer,7\n", "utf-8")
    assert [*read_outputs(place).systems] == ["first", "scoreboard"]


def test_other_folders_are_left_to_the_readers_of_sets(tmp_path: Path) -> None:
    place = folder(tmp_path / "own", first="x\n")
    (place / "karat.toml").write_text("")
    assert not is_output_files(place)
    assert not is_output_files(tmp_path / "none")


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
