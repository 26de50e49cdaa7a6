"""CSV and TSV files as tables: values, refusals, and the kernel against Python's csv module."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.arrow.formats import delimited, text_lines
from karat.arrow.formats.delimited import COMMAS, TABS, Dialect
from karat.arrow.pieces import TablePiece, table_format
from karat.errors import InputError

pa = pytest.importorskip("pyarrow")


def rows_of(batches: Any) -> list[tuple[Any, ...]]:
    """All rows of record batches."""
    return [tuple(row.values()) for batch in batches for row in pa.record_batch(batch).to_pylist()]


def read(path: Path, columns: list[str] | None = None) -> list[tuple[Any, ...]]:
    format = table_format(str(path))
    return rows_of(b for piece in format.pieces(str(path)) for b in format.read(piece, columns))


def written(folder: Path, data: str | bytes, name: str = "t.csv") -> Path:
    content = data.encode() if isinstance(data, str) else data
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


# Rows by which the readers are tried: text -> values.
GOOD = [
    ("a,b\n1,2\n", [("1", "2")]),
    ("a,b\n1,2", [("1", "2")]),
    ("a,b\r\n1,2\r\n3,4\n", [("1", "2"), ("3", "4")]),
    ("\ufeffa,b\n1,2\n", [("1", "2")]),
    ("a,b\n,\n", [("", "")]),
    ('a,b\n"",""\n', [("", "")]),
    ('a,b\n"x,y","say ""hi"""\n', [("x,y", 'say "hi"')]),
    ('a,b\n"x\ny","x\r\ny"\n', [("x\ny", "x\r\ny")]),
    ('"a","b"\nx"y,x""y\n', [('x"y', 'x""y')]),
    ('a,b\n "x", \n', [(' "x"', " ")]),
    ('a,b\n1,""""\n', [("1", '"')]),
    ("a,b\nNULL,nan\n", [("NULL", "nan")]),
    ("a,b\n\n1,2\n\r\n\n", [("1", "2")]),
    ("a,b\nnaïve,価格\u2028\x85\n", [("naïve", "価格\u2028\x85")]),
    ("a,b\n#1,\\n\n", [("#1", "\\n")]),
    ('a\nx\n""\n', [("x",), ("",)]),
    ("a,b\n", []),
]


@pytest.mark.parametrize(("data", "expected"), GOOD)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv"])
def test_values(tmp_path: Path, data: str, expected: list[tuple[str, ...]], name: str) -> None:
    if name == "t.tsv":
        swap = str.maketrans(",\t", "\t,")
        data, expected = (
            data.translate(swap),
            [tuple(text.translate(swap) for text in row) for row in expected],
        )
    path = written(tmp_path, data, name)
    assert read(path) == expected
    dialect = TABS if name == "t.tsv" else COMMAS
    piece = TablePiece(str(path), dialect.format, 0)
    assert rows_of(delimited.read_carefully(dialect, piece, None)) == expected


# What is refused: text -> parts of the sentence.
BAD = [
    ("", "is empty"),
    ("\n1,2\n", "line 1: blank"),
    ("a,\n1,2\n", "line 1: column 2 of 2 has no name"),
    ("a,a\n1,2\n", "line 1: two columns are named 'a'"),
    ("a,b\n1,2\n1\n", "line 3: found 1 field, expected 2"),
    ("a,b\n1,2,3\n", "line 2: found 3 fields, expected 2"),
    ('a,b\n1,"x\ny"\n1,2,3\n', "line 4: found 3 fields"),
    ('a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote that is opened in this row is not closed"),
    ('a,b\n1,"', "line 2: a quote that is opened"),
    ('a,b\n"x"y,1\n', "line 2: text follows the closing quote"),
    ('a,b\n"x" ,1\n', "line 2: text follows the closing quote"),
    ("a,b\nx\ry,1\n", "line 2: a carriage return without a line feed"),
    ("a,b\n1,2\n3,\0\n", "line 3: a NUL byte"),
    (b"a,b\n1,2\n3,\xff\n", "line 3: not valid UTF-8"),
    (b"a,b\n1,\xed\xa0\x80\n", "line 2: not valid UTF-8"),
    ("a\tb\n1\t2\n", "line 1: found one column, whose name holds '\\t'"),
    ('{"a": "x", "b": "y"}\n', "is JSON: expected a CSV table; name it .jsonl"),
    ("a\nx\n\n", "line 3: blank, in a table of one column"),
    (b"PAR1....PAR1", "is a Parquet table: expected a CSV table; name it .parquet"),
    (b"\xfd7zXZ\x00abc", "is an xz file"),
    (b"PK\x03\x04\x00\x00", "is a zip archive"),
    (gzip.compress(b"a,b\n1,2\n", mtime=0), "is a gzip file"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), BAD)
def test_refused(tmp_path: Path, data: str | bytes, message: str) -> None:
    path = written(tmp_path, data)
    with pytest.raises(InputError) as error:
        read(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_wanted_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n1,2,3\n")
    assert read(path, ["c", "a"]) == [("3", "1")]
    assert table_format(str(path)).columns(str(path)) == ["a", "b", "c"]
    with pytest.raises(
        InputError, match=r"has no column 'bb'; did you mean b\? \(it has a, b, c\)"
    ):
        read(path, ["bb"])


def test_no_file_and_no_address(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        read(tmp_path / "d.csv")
    with pytest.raises(InputError, match="read from this machine alone"):
        table_format("s3://bucket/t.csv").pieces("s3://bucket/t.csv")


@pytest.mark.parametrize("cut", [5, 30, -5])
def test_damaged_gz(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, "a,b\n" + "some,thing\n" * 1000, "t.csv.gz")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match="not a complete gzip file"):
        read(path)
    (tmp_path / "plain.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InputError, match="not a complete gzip file"):
        read(tmp_path / "plain.csv.gz")


@pytest.mark.parametrize("strange", ["", "\r"])
def test_long_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strange: str) -> None:
    """A field may be as long as a row; with the kernel, and without where a row is strange."""
    many, long = 3 << 20, "x\n" * (3 << 19)
    path = written(tmp_path, f'a,b\n1,"{long}"\n2,3{strange}')
    assert [tuple(map(len, row)) for row in read(path)] == [(1, many), (1, 1)]
    monkeypatch.setattr(text_lines, "MAX_ROW_BYTES", 1 << 20)
    monkeypatch.setattr(delimited, "MAX_ROW_BYTES", 1 << 20)
    with pytest.raises(InputError, match="a row of more than 1 MB"):
        read(path)


def test_batches_are_bounded(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n" + f"1,{'x' * 1000}\n" * 20_000)
    piece = TablePiece(str(path), "csv", 0)
    for reader in (delimited.read_delimited, delimited.read_carefully):
        sizes = [pa.record_batch(b).nbytes for b in reader(COMMAS, piece, None)]
        assert len(sizes) > 1
        assert max(sizes) < 10 << 20


# --------------------------------------------------------------- the kernel against the csv module

PARTS = ('"', '""', '","', ",", "\n", "\r\n", "\r", "a", "bc", "é", "💡", " ", "\t", "\0", "1,2\n")


def outcome(reader: Any, dialect: Dialect, path: Path) -> Any:
    try:
        return rows_of(reader(dialect, TablePiece(str(path), dialect.format, 0), None))
    except InputError as error:
        return str(error)


@given(
    st.sampled_from(["a\n", "a,b\n", "a,b,c\r\n"]),
    st.lists(st.sampled_from(PARTS), max_size=12),
    st.integers(1, 9),
)
@example("a,b\n", ['"', "1,2\n"], 3)
@example("a,b\n", ["a", ",", "\r\n", "\r\n", "1,2\n"], 1)
def test_kernel_equals_csv(
    tmp_path_factory: pytest.TempPathFactory, head: str, parts: list[str], size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.csv"
    path.write_bytes((head + "".join(parts)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "BYTES_READ", size)
        rows_of_kernel = outcome(delimited.read_delimited, COMMAS, path)
    assert rows_of_kernel == outcome(delimited.read_carefully, COMMAS, path)


texts = st.text(st.sampled_from('ab",\t\n\r é💡'), max_size=6)


@given(
    st.lists(st.tuples(texts, texts), max_size=6),
    st.sampled_from([COMMAS, TABS]),
    st.integers(1, 50),
)
def test_what_csv_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    dialect: Dialect,
    size: int,
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=dialect.delimiter).writerows([("a", "b"), *rows])
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_bytes(out.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "BYTES_READ", size)
        assert outcome(delimited.read_delimited, dialect, path) == rows
