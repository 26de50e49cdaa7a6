"""JSON lines as tables: values, kinds, and refusals by line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat import _kernel
from karat.arrow.batches import table_batches
from karat.arrow.columns import Columns, kind_of
from karat.arrow.formats import text_lines
from karat.arrow.formats.jsonl import read_carefully, read_jsonl
from karat.arrow.pieces import TablePiece, table_format
from karat.errors import InputError

pa = pytest.importorskip("pyarrow")


def tables(path: Path, columns: list[str] | None = None) -> list[Any]:
    format = table_format(str(path))
    return [b for piece in format.pieces(str(path)) for b in format.read(piece, columns)]


def read(path: Path, columns: list[str] | None = None) -> list[dict[str, Any]]:
    return [row for batch in tables(path, columns) for row in pa.record_batch(batch).to_pylist()]


def written(folder: Path, data: str | bytes, name: str = "t.jsonl") -> Path:
    content = data.encode() if isinstance(data, str) else data
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz"])
def test_values(tmp_path: Path, name: str) -> None:
    data = (
        '\ufeff{"c": "x", "r": ["a", "b"], "id": 7, "more": 1.5}\r\n'
        "\n  \t\r\n"
        ' {"id": -9223372036854775807, "r": ["é\\ud83d\\ude00"], "c": ""} '
    )
    path = written(tmp_path, data, name)
    assert read(path, ["id", "c", "r"]) == [
        {"id": 7, "c": "x", "r": ["a", "b"]},
        {"id": -9223372036854775807, "c": "", "r": ["é😀"]},
    ]
    assert table_format(str(path)).columns(str(path)) == ["c", "r", "id", "more"]


def test_all_columns_are_those_of_the_first_line(tmp_path: Path) -> None:
    first = {"c": "x", "r": ["a"], "n": 1, "m": {"k": [1, "é"]}, "f": 0.5, "z": None}
    second = {"c": "y", "r": ["b"], "m": "text", "z": [], "new": 3}
    path = written(tmp_path, "".join(json.dumps(row) + "\n" for row in (first, second)))
    (table,) = tables(path)
    schema, _ = table.__arrow_c_array__()
    names, formats = _kernel.arrow_columns(schema)
    kinds = dict(zip(names, map(kind_of, formats), strict=True))
    assert kinds == {
        "c": "text", "r": "lists of text", "n": "whole numbers",
        "m": "JSON values", "f": "JSON values", "z": "JSON values",
    }  # fmt: skip
    batch = pa.record_batch(table)
    assert batch.column("n").to_pylist() == [1, None]
    assert batch.column("c").null_count == 0
    column_values = {name: [_plain(v) for v in batch.column(name)] for name in "mfz"}
    assert column_values == {
        "m": ['{"k": [1, "é"]}', '"text"'],
        "f": ["0.5", None],
        "z": [None, "[]"],
    }


def _plain(value: Any) -> Any:
    """A value of a column of JSON, whether pyarrow knows that type or not."""
    return value.as_py()


def test_json_is_never_scored_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, '{"candidate": null, "reference": "x"}\n')
    (table,) = tables(path)
    with pytest.raises(InputError, match="column 'candidate' holds JSON values, expected text"):
        list(table_batches(table, Columns()))


def test_a_missing_value_is_refused_where_it_is_needed(tmp_path: Path) -> None:
    lines = ['{"candidate": "a", "reference": ["x"]}'] * 9 + ['{"candidate": "a"}']
    (table,) = tables(written(tmp_path, "\n".join(lines)))
    (rows,) = table_batches(table, Columns())
    with pytest.raises(InputError, match="row 10: column 'reference' is null"):
        rows.read()


# What is refused: lines -> parts of the sentence.
BAD = [
    ("", "is empty: expected JSON lines"),
    ("\n \n", "is empty: expected JSON lines"),
    ('{"a": "x"\n', "line 1: not valid JSON ("),
    ('{"a": "x"}\n{"a": "y",}\n', "line 2: not valid JSON ("),
    ('{"a": "x"}\n\n{"a": "y"} {"a": "z"}\n', "line 3: not valid JSON (Extra data"),
    ('{"a": "x\ty"}\n', "line 1: not valid JSON (Invalid control character"),
    ('{\n"a": "x"\n}\n', "line 1: not valid JSON ("),
    ('[{"a": "x"}]\n', "is a JSON array: expected JSON lines"),
    ('[\n{"a": "x"}]\n', "is a JSON array: expected JSON lines"),
    ('{"a": "x"}\n["a"]\n', "line 2: found a list of texts, expected a JSON object"),
    ('"a"\n', "line 1: found a text ('a'), expected a JSON object"),
    ("null\n", "line 1: found null, expected a JSON object"),
    ('{"a": "x", "a": "y"}\n', "line 1: the name 'a' occurs twice in one object"),
    ('{"a": "x", "b": {"c": 1, "c": 2}}\n', "line 1: the name 'c' occurs twice"),
    ('{"a": "\\ud800"}\n', "line 1: half of a surrogate pair"),
    ('{"a": "x", "b": "\\uDC00\\uD800"}\n', "line 1: half of a surrogate pair"),
    ('{"a": "x", "b": NaN}\n', "line 1: NaN is no JSON value"),
    ('{"a": "x", "b": -Infinity}\n', "line 1: -Infinity is no JSON value"),
    ('{"a": "x", "b": 1e400}\n', "line 1: 1e400 is beyond the range"),
    ('{"a": ' + "[" * 100_000 + "\n", "line 1: nested too deeply"),
    ('{"b": "x"}\n', "has no column 'a'"),
    ('{"a": "x"}\n{"b": "x"}\n', "line 2: no 'a'; expected a text, as in line 1"),
    ('{"a": "x"}\n{"a": null}\n', "line 2: column 'a' is null; expected a text"),
    ('{"a": "x"}\n{"a": 3}\n', "line 2: column 'a' is a whole number (3); expected a text"),
    ('{"a": "x"}\n{"a": 3.5}\n', "line 2: column 'a' is a number (3.5); expected a text"),
    ('{"a": "x"}\n{"a": true}\n', "line 2: column 'a' is true; expected a text"),
    ('{"a": "x"}\n{"a": {}}\n', "line 2: column 'a' is an object; expected a text"),
    ('{"a": "x"}\n{"a": ["x"]}\n', "line 2: column 'a' is a list of texts; expected a text"),
    ('{"a": ["x"]}\n{"a": "x"}\n', "line 2: column 'a' is a text ('x'); expected a list of texts"),
    ('{"a": ["x"]}\n{"a": []}\n', "line 2: column 'a' is an empty list; expected a list"),
    ('{"a": ["x"]}\n{"a": ["x", 1]}\n', "line 2: column 'a' is a list that holds a whole number"),
    ('{"a": ["x"]}\n{"a": [["x"]]}\n', "line 2: column 'a' is a list that holds a list of texts"),
    ('{"a": 1}\n{"a": "1"}\n', "line 2: column 'a' is a text ('1'); expected a whole number"),
    ('{"a": 1}\n{"a": true}\n', "line 2: column 'a' is true; expected a whole number"),
    ('{"a": 1}\n{"a": 9223372036854775808}\n', "line 2: column 'a' is a number beyond 64 bits"),
    ('{"a": null}\n', "line 1: column 'a' is null; expected a text, a list of texts or a whole"),
    ('{"a": []}\n', "line 1: column 'a' is an empty list; expected a text"),
    (b'{"a": "x"}\n{"a": "\xff"}\n', "line 2: not valid UTF-8"),
    (b'{"a": "x"}\n\0\n', "line 2: not valid JSON ("),
    (b"PAR1....PAR1", "is a Parquet table: expected JSON lines; name it .parquet"),
    (gzip.compress(b'{"a": "x"}', mtime=0), "is a gzip file: expected JSON lines"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), BAD)
def test_refused(tmp_path: Path, data: str | bytes, message: str) -> None:
    path = written(tmp_path, data)
    with pytest.raises(InputError) as error:
        read(path, ["a"])
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_damaged_gz_and_address(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": "some text"}\n' * 1000, "t.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="not a complete gzip file"):
        read(path)
    with pytest.raises(InputError, match="read from this machine alone"):
        table_format("s3://bucket/t.jsonl").pieces("s3://bucket/t.jsonl")


def test_long_lines(tmp_path: Path) -> None:
    long = "é" * (1 << 20)
    path = written(tmp_path, json.dumps({"a": long}) + "\n" + '{"a": "x"}\n')
    assert [len(row["a"]) for row in read(path)] == [1 << 20, 1]
    path = written(tmp_path, '{"a": "x"}\n{"a": "' + "x" * (16 << 20))
    with pytest.raises(InputError, match="line 2: a row of more than 16 MB"):
        read(path)


def test_batches_are_bounded(tmp_path: Path) -> None:
    path = written(tmp_path, f'{{"a": "{"x" * 4000}"}}\n' * 6000)
    sizes = [pa.record_batch(batch).nbytes for batch in tables(path)]
    assert sum(sizes) > 24_000_000
    assert max(sizes) < 10 << 20


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(
    st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=3), st.integers(-99, 1 << 62))),
    st.booleans(),
)
def test_what_json_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, list[str], int]],
    ascii: bool,
) -> None:
    records = [dict(zip("abc", row, strict=True)) for row in [("x", ["y"], 0), *rows]]
    path = tmp_path_factory.getbasetemp() / "written.jsonl"
    lines = [json.dumps(row, ensure_ascii=ascii) + "\n" for row in records]
    path.write_bytes("".join(lines).encode())
    assert read(path) == records
    assert read(path, ["c", "b"]) == [{"c": row["c"], "b": row["b"]} for row in records]


# ------------------------------------------------------------ the kernel against the json module

VALUES = (
    '"x"',
    '"\\u00e9\\n"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\udc00"',
    '"\\x"',
    '"é\\"',
    '""',
    '"\t"',
    '["x"]',
    '["x", "y"]',
    "[]",
    '["x",]',
    '["x", 1]',
    "[[]]",
    "1",
    "-0",
    "-7",
    "01",
    "1.",
    "1.5",
    "1e5",
    "1e999",
    "999999999999999999",
    "9223372036854775807",
    "9223372036854775808",
    "true",
    "nul",
    "null",
    "NaN",
    "{}",
    '{"k": 1}',
    '{"k": 1, "k": 2}',
    '{"k": [{}, null]}',
    "{1}",
    "",
)
members = st.tuples(
    st.sampled_from(['"a"', '"b"', '"\\u0061"', '"c"', "a"]), st.sampled_from(VALUES)
)
objects = st.lists(members, max_size=3).map(
    lambda found: "{" + ", ".join(f"{name} : {value}" for name, value in found) + "}"
)
good = st.sampled_from(['{"a": "x"}', '{"b": [1], "a": "y"}', '{"a": "\\u4fa1"} ', "", " \r"])
ends = st.sampled_from(["\n", "\r\n", " \n", "x\n", "", "\x00\n", "\f\n", "\ufeff\n"])


@given(
    st.sampled_from(['"x"', '["x"]', "1"]),
    st.lists(good | objects | st.sampled_from(["[]", "{", "1", "\ufeff"]), max_size=4),
    st.lists(ends, min_size=4, max_size=4),
    st.integers(1, 40),
)
@settings(max_examples=300)
def test_kernel_equals_json(
    tmp_path_factory: pytest.TempPathFactory,
    first: str,
    lines: list[str],
    ends: list[str],
    size: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.jsonl"
    first_line = f'{{"a": {first}}}\n'
    path.write_bytes((first_line + "".join(map("".join, zip(lines, ends, strict=False)))).encode())
    piece = TablePiece(str(path), "jsonl", 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "BYTES_READ", size)
        rows_of_kernel = outcome(read_jsonl(piece, ["a"]))
    assert rows_of_kernel == outcome(read_carefully(piece, ["a"]))


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("first", ['"x"', '["x"]', "1"])
@pytest.mark.parametrize("name", ["a", "other"])
def test_every_value_in_every_column(tmp_path: Path, value: str, first: str, name: str) -> None:
    good = f'{{"a": {first}, "other": 0}}\n'
    line = f'{{"a": {value}}}\n' if name == "a" else f'{{"other": {value}, "a": {first}}}\n'
    piece = TablePiece(str(written(tmp_path, good + good + line + good)), "jsonl", 0)
    rows_of_kernel = outcome(read_jsonl(piece, ["a"]))
    assert rows_of_kernel == outcome(read_carefully(piece, ["a"]))
    assert isinstance(rows_of_kernel, str) or len(rows_of_kernel) == 4


def outcome(batches: Any) -> Any:
    try:
        return [row for batch in batches for row in pa.record_batch(batch).to_pylist()]
    except InputError as error:
        return str(error)


maybe = st.none() | text


@given(
    st.lists(maybe), st.lists(st.none() | st.lists(text)), st.lists(st.none() | st.integers(-9, 9))
)
def test_columns_with_missing_values(
    texts: list[str | None], lists: list[list[str] | None], numbers: list[int | None]
) -> None:
    """What the kernel writes is what pyarrow reads, whatever is missing."""
    for values, add in (
        (texts, lambda t: t.strings("x", texts, True)),
        (lists, lambda t: t.text_lists("x", lists, True)),
        (numbers, lambda t: t.nullable_integers("x", numbers)),
    ):
        table = _kernel.ArrowTable()
        add(table)
        read_back = pa.RecordBatchReader._import_from_c_capsule(table.stream()).read_all()
        read_back.validate(full=True)
        assert read_back.column("x").to_pylist() == values
