"""JSON and JSON lines: lists of objects, columns, pandas' forms, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.tables.files import Table, read_table
from karat.tables.options import NamedTexts, ReadingOptions

ITEMS = [{"id": 1, "response": "x", "tags": ["a"]}, {"id": 2, "more": {"n": 1.5}}]
COLUMNS = ("id", "response", "tags", "more")


def read(folder: Path, text: str | bytes, name: str = "t.json", records: str = "") -> Table:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    columns = NamedTexts({"records": records} if records else {})
    return read_table(path, ReadingOptions(columns=columns))


def lines(*items: Any) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in items)


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t.txt"])
def test_json_lines_are_known_by_their_content(tmp_path: Path, name: str):
    table = read(tmp_path, "\n" + lines(*ITEMS), name)
    assert table.records == ITEMS
    assert table.columns == COLUMNS
    assert table.form == "jsonl"
    assert table.lines == [2, 3]
    assert not table.texts_only
    assert read(tmp_path, gzip.compress(lines(*ITEMS).encode()), name).records == ITEMS


def test_one_line_of_json_lines(tmp_path: Path):
    item = {"id": 1, "contexts": ["a", "b"], "references": ["c", "d"]}
    assert read(tmp_path, lines(item), "t.jsonl").records == [item]


@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_and_concatenated_objects(tmp_path: Path, indent: int | None):
    table = read(tmp_path, json.dumps(ITEMS, indent=indent))
    assert table.records == ITEMS
    assert table.document == ITEMS
    assert table.form == "json"
    table = read(tmp_path, "\n".join(json.dumps(item, indent=indent) for item in ITEMS))
    assert table.records == ITEMS
    assert table.lines == ([1, 2] if indent is None else [1, 8])


def test_columns(tmp_path: Path):
    table = read(tmp_path, json.dumps({"id": [1, 2], "response": ["x", None]}))
    assert table.records == [{"id": 1, "response": "x"}, {"id": 2, "response": None}]
    document = {"model": "m", "id": list(range(9)), "response": list("abcdefghi")}
    table = read(tmp_path, json.dumps(document))
    assert len(table.records) == 9
    assert table.remarks == ("members that are not columns: model (/NAME in --column)",)
    assert table.document["model"] == "m"


@pytest.mark.parametrize("orient", ["columns", "index", "records", "split", "table", None])
@pytest.mark.parametrize("index", [None, ["u7", "u8", "u9"]])
def test_what_pandas_writes(tmp_path: Path, orient: Any, index: list[str] | None):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"response": ["x", "y", "z"], "score": [1.5, 2, 3]}, index=index)
    table = read(tmp_path, frame.to_json(orient=orient))
    rows = zip("xyz", (1.5, 2, 3), strict=True)
    expected = [{"response": response, "score": score} for response, score in rows]
    if index and orient != "records":
        label = "index" if orient == "table" else ""
        expected = [{label: i, **item} for i, item in zip(index, expected, strict=True)]
    assert table.records == expected


def test_objects_by_label_need_an_option(tmp_path: Path):
    document = {"u7": {"xx": "x"}, "u8": {"xx": "y"}}
    table = read(tmp_path, json.dumps(document))
    assert table.records == []
    assert "--column records=PATH" in table.unsettled
    table = read(tmp_path, json.dumps(document), records="*")
    assert table.records == [{"": "u7", "xx": "x"}, {"": "u8", "xx": "y"}]


def test_the_longest_list_of_objects(tmp_path: Path):
    document = {"run": {"results": [{"a": i} for i in range(6)]}, "prompts": [{"b": 1}] * 3}
    table = read(tmp_path, json.dumps(document))
    assert table.records == document["run"]["results"]  # type: ignore[index]
    assert table.remarks == ("records from run.results",)
    assert read(tmp_path, json.dumps(document), records="prompts").columns == ("b",)
    assert read(tmp_path, json.dumps(document), records="/run.results").columns == ("a",)


def test_lists_of_similar_length_are_refused_with_their_paths(tmp_path: Path):
    document = {"results": [{"a": i} for i in range(5)], "more": {"prompts": [{"b": 1}] * 3}}
    table = read(tmp_path, json.dumps(document))
    assert table.records == []
    assert table.document == document
    assert "results (5), more.prompts (3)" in table.unsettled
    with pytest.raises(InputError, match=r"no value at 'results\.x'"):
        read(tmp_path, json.dumps(document), records="results.x")
    with pytest.raises(InputError, match="'more' is not a list of objects"):
        read(tmp_path, json.dumps(document), records="more")


def test_keys_with_dots_and_positions_in_paths(tmp_path: Path):
    document = {"a.b": [{"x": 1}], "runs": [{"y": [{"z": 1}, {"z": 2}]}]}
    assert read(tmp_path, json.dumps(document), records="a.b").columns == ("x",)
    assert read(tmp_path, json.dumps(document), records="runs.-1.y").columns == ("z",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}\n', "line 1: not usable JSON .*'a' occurs twice"),
        ('{"a": 1}\n{"a": Infinity}\n', "line 2: not usable JSON .Infinity is not a finite"),
        ('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n", "line 2: not usable JSON"),
        ('{"a": 1}\n{"a": "\\ud800"}\n', "line 2: half of a character"),
        ('{"a": 1}\n' + '{"a":' * 100_000, "line 2: not usable JSON .values are nested too deep"),
        ('{"a": 1}\n{"a": \n', "not JSON"),
        ('{"a": 1}\n3\n', "line 2: found 3, expected a JSON object"),
        ('[{"a": 1}, 3]', "item 2 of the array is 3"),
        ("[1, 2]", "item 1 of the array is 1"),
        ("[]", "item 1 of the array is nothing"),
        ('{"a": [1, 2], "b": [3, 4], "c": 5}', "may be one record or 2 rows"),
    ],
)
def test_refused_json(tmp_path: Path, text: str, problem: str):
    try:
        message = read(tmp_path, text).unsettled
    except InputError as error:
        message = str(error)
    assert re.search(problem, message)
    assert len(message) < 1600


def test_nan_is_missing(tmp_path: Path):
    table = read(tmp_path, '{"a": NaN}\n{"a": 1}\n{"a": NaN}\n')
    assert table.records == [{"a": None}, {"a": 1}, {"a": None}]
    assert table.remarks == ("2 NaNs read as missing",)


def test_the_first_records_of_a_large_file(tmp_path: Path):
    many = [{"id": i, "text": f"x{i}"} for i in range(50_000)]
    path = tmp_path / "t.jsonl"
    path.write_text(lines(*many) + "{broken\n")
    assert read_table(path, limit=2).records == many[:2]
    assert read_table(path, limit=1).records == many[:1]
    path.write_text(json.dumps(many)[:-1])
    assert read_table(path, limit=2).records == many[:2]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"data": many}))
    assert read_table(path, limit=2).records == many[:2]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(st.dictionaries(TEXTS, JSON), min_size=2, max_size=5),
    st.sampled_from(["lines", "array", "concatenated", "list"]),
    st.booleans(),
)
def test_records_that_python_writes_are_read_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]], form: str, plain: bool
):
    def dump(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=not plain, indent=indent)

    if form == "lines":
        text = "\n".join(map(dump, items))
    elif form == "concatenated":
        text = "\n".join(dump(item, 1) for item in items)
    else:
        text = dump(items if form == "array" else {"config": 1, "rows": items}, 1)
    path = tmp_path_factory.mktemp("t") / "t.json"
    path.write_text(text, "utf-8", newline="")
    columns = NamedTexts({"records": "rows"} if form == "list" else {})
    assert read_table(path, ReadingOptions(columns=columns)).records == items
