"""Parquet files: DuckDB reads the same as pyarrow, where that is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from karat.arrow.formats import parquet
from karat.arrow.pieces import TablePiece
from karat.errors import InputError, MissingExtra

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")


@pytest.fixture
def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda name: None if name == "pyarrow" else name)

    def missing(name: str) -> Any:
        raise MissingExtra(name)

    monkeypatch.setattr(parquet, "pyarrow_module", missing)


def table() -> Any:
    count = 3000
    return pa.table(
        {
            "candidate": [f"text {i} é" for i in range(count)],
            "references": [[f"a {i}", ""][: 1 + i % 2] for i in range(count)],
            'odd "name"': pa.array(["x", "y", "x"] * (count // 3)).dictionary_encode(),
            "id": list(range(count)),
            "none": [None, "z", None] * (count // 3),
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file whose name and folder mean something to DuckDB, unless they are escaped."""
    (tmp_path / "k=v").mkdir()
    path_read = tmp_path / "k=v" / "a[1]?*.parquet"
    pq.write_table(table(), path_read, row_group_size=700)
    return str(path_read)


def rows_of(pieces: list[TablePiece], columns: list[str] | None) -> list[dict[str, Any]]:
    batches = (batch for piece in pieces for batch in parquet.read_parquet(piece, columns))
    return [row for batch in batches for row in pa.record_batch(batch).to_pylist()]


def test_same_pieces_and_rows(
    path: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("karat.arrow.formats.parquet.ROWS_PER_PIECE", 1000)
    pieces, names = parquet.parquet_pieces(path), parquet.parquet_columns(path)
    column_choices = [None, ["references", 'odd "name"'], ["none"]]
    expected = [rows_of(pieces[1:], columns) for columns in column_choices]
    assert [piece.rows for piece in pieces] == [1400, 1400, 200]
    request.getfixturevalue("without_pyarrow")
    assert parquet.parquet_pieces(path) == pieces
    assert parquet.parquet_columns(path) == names == table().column_names
    assert [rows_of(pieces[1:], columns) for columns in column_choices] == expected
    assert rows_of([TablePiece(path, "parquet", 0)], None) == table().to_pylist()


@pytest.mark.usefixtures("without_pyarrow")
def test_refused_by_duckdb(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="has no column 'candidates'; did you mean candidate"):
        rows_of([TablePiece(path, "parquet", 0)], ["candidates"])
    (tmp_path / "no.parquet").write_bytes(b"some text that is no table at all")
    with pytest.raises(InputError, match="not a parquet file that can be read"):
        parquet.parquet_pieces(str(tmp_path / "no.parquet"))
    with pytest.raises(InputError, match="No such file"):
        parquet.parquet_pieces(str(tmp_path / "none.parquet"))
    with pytest.raises(InputError, match="is a directory"):
        parquet.parquet_columns(str(tmp_path))
    with pytest.raises(InputError, match="read by pyarrow, which is not installed"):
        parquet.parquet_columns("s3://bucket/x.parquet")


@pytest.mark.usefixtures("without_pyarrow")
def test_memory_is_bounded(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(parquet._DUCKDB_SETTINGS, "memory_limit", "100KB")
    with pytest.raises(InputError, match="DuckDB needs more than 1GB; read it with pyarrow"):
        rows_of([TablePiece(path, "parquet", 0)], None)


@pytest.mark.usefixtures("without_pyarrow")
def test_damaged_pages_are_refused(path: str) -> None:
    data = bytearray(Path(path).read_bytes())
    data[40 : len(data) // 2] = b"\xff" * (len(data) // 2 - 40)
    Path(path).write_bytes(data)
    with pytest.raises(InputError, match="not a parquet file that can be read"):
        rows_of([TablePiece(path, "parquet", 0)], ["candidate", "references"])
