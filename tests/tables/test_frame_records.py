"""Tables in memory, parquet and Arrow files, standard input."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.tables import arrow_files
from karat.tables.files import is_table, read_table

RECORDS = [
    {"id": "a", "score": 1.5, "tags": ["x", "y"], "more": {"n": 1}},
    {"id": "b", "score": None, "tags": [], "more": None},
]
COLUMNS = {key: [record[key] for record in RECORDS] for key in RECORDS[0]}


def frames() -> dict[str, Any]:
    """The same records in each kind of frame."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    table = arrow.table(COLUMNS)
    return {
        "list of dicts": RECORDS,
        "dict of lists": COLUMNS,
        "pandas": pandas.DataFrame(COLUMNS),
        "pandas with arrow": table.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.DataFrame(COLUMNS),
        "pyarrow": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
        "duckdb": duckdb.from_arrow(table),
    }


@pytest.mark.parametrize(
    "kind",
    ["list of dicts", "dict of lists", "pandas", "pandas with arrow", "polars", "pyarrow", "batch",
     "reader", "duckdb"],
)  # fmt: skip
@pytest.mark.parametrize("limit", [None, 1])
def test_frames(kind: str, limit: int | None):
    frame = frames()[kind]
    assert is_table(frame)
    table = read_table(frame, limit=limit)
    assert table.records == RECORDS[:limit]
    assert table.columns == ("id", "score", "tags", "more")
    assert (table.name, table.form, list(table.lines)) == ("table", "frame", [1, 2][:limit])
    assert str(table.location(0)) == "table, row 1"


def test_missing_values_are_none():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "x": [1.5, math.nan],
            "y": pandas.array([1, None], "Int64"),
            "z": pandas.to_datetime(["2026-01-02", None]),
            "s": pandas.array(["a", None], "string"),
            "o": ["a", math.nan],
        }
    )
    table = read_table(frame)
    assert set(table.records[1].values()) == {None}
    assert table.records[0] == {
        "x": 1.5, "y": 1, "z": pandas.Timestamp("2026-01-02"), "s": "a", "o": "a",
    }  # fmt: skip
    assert type(table.records[0]["y"]) is int
    assert read_table([{"a": math.nan}]).records == [{"a": None}]


def test_indices_and_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2]})
    assert read_table(frame.set_index(pandas.Index(["p", "q"], name="id"))).columns == ("id", "x")
    assert read_table(frame.set_index(pandas.Index(["p", "q"]))).columns == ("index", "x")
    assert read_table(frame[::-1]).columns == ("x",)
    assert read_table(frame.iloc[[1]]).records == [{"x": 2}]
    labels = pandas.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    pairs = pandas.DataFrame([[1, 2]], columns=labels)
    assert read_table(pairs).columns == ("a/x", "a/y")
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    assert read_table(twice).records == [{"a": 1, "a (2)": 2}]
    assert read_table(pandas.DataFrame([[1, 2]])).columns == ("0", "1")


def test_data_sets():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(RECORDS)
    assert read_table(data).records == RECORDS


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "not a table"),
        ({}, "no rows"),
        (["a", "b"], "row 1: expected a dict, found str"),
        ([{"a": 1}, 3], "row 2: expected a dict, found int"),
        ({"a": [1], "b": [1, 2]}, "columns have different lengths"),
        ({"a": "x"}, "the column 'a' is str, expected a list"),
        ({"a": []}, "no rows"),
        (3, "int is not a table"),
        (None, "NoneType is not a table"),
    ],
)
def test_refused_frames(data: Any, problem: str):
    with pytest.raises(InputError, match=problem):
        read_table(data)


def test_lazy_frames_are_refused():
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"collect\(\) it first"):
        read_table(polars.DataFrame({"a": [1]}).lazy())


def test_texts_are_not_tables():
    for data in ([], ["a"], {"bart": "out.txt"}, "a", 3, None):
        assert not is_table(data)


# ---------------------------------------------------------------------------------- files


def write_parquet(path: Path) -> Path:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table(COLUMNS), path)
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.dat"])
def test_parquet(tmp_path: Path, name: str):
    path = write_parquet(tmp_path / name)
    assert is_table(path)
    table = read_table(path)
    assert table.records == RECORDS
    assert (table.form, table.system) == ("parquet", "t")
    assert read_table(path, limit=1).records == RECORDS[:1]
    assert str(table.location(1)).endswith(f"{name}, row 2")


def test_parquet_by_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("duckdb")
    path = write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(
        arrow_files, "find_spec", lambda name: None if name == "pyarrow" else object()
    )
    assert read_table(path).records == RECORDS
    assert read_table(path, limit=1).records == RECORDS[:1]
    path.write_bytes(path.read_bytes()[:-9] + b"x" * 5 + b"PAR1")
    with pytest.raises(InputError, match="not a parquet file that can be read"):
        read_table(path)


@pytest.mark.parametrize("form", ["file", "stream"])
def test_arrow_files(tmp_path: Path, form: str):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(COLUMNS)
    opened = arrow.ipc.new_file if form == "file" else arrow.ipc.new_stream
    with opened(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert read_table(tmp_path / "t.arrow").records == RECORDS


def test_damaged_files_are_refused(tmp_path: Path):
    for head in (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"):
        (tmp_path / "t").write_bytes(head + b"x" * 50)
        with pytest.raises(InputError, match=r"not a parquet file|not an Arrow file"):
            read_table(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"%PDF-1.4\n" + bytes(range(256)))
    with pytest.raises(InputError, match="is a PDF document: expected a table"):
        read_table(tmp_path / "t")


def test_missing_files_and_folders(tmp_path: Path):
    with pytest.raises(InputError, match="No such file"):
        read_table(tmp_path / "missing.csv")
    with pytest.raises(InputError, match="directory"):
        read_table(tmp_path)


READ_STDIN = """
import sys
from karat.tables.files import is_table, read_table
print(is_table("-"), read_table("-").records)
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_standard_input(tmp_path: Path, form: str):
    data = b"id\tscore\na\t1\nb\t2\n"
    expected = [{"id": "a", "score": "1"}, {"id": "b", "score": "2"}]
    if form == "parquet":
        data, expected = write_parquet(tmp_path / "t").read_bytes(), RECORDS  # type: ignore[assignment]
    result = subprocess.run(
        [sys.executable, "-c", READ_STDIN], input=data, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().strip() == f"True {expected}"
