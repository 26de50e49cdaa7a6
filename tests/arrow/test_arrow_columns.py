"""Columns in every layout that Arrow has, and what cannot be used, by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karat as kt

TEXTS = ["the cat sat", "", "größer als 5 %", "日本 の 猫", "a b c d e f g h i j k l m n o p", "x"]
REFERENCES = [
    "the cat sat down",
    "nothing",
    "größer als 5%",
    "日本 の 犬",
    "a b c d f g i j k l m n",
    "x",
]
GROUPS = [[text] if i % 2 else [text, "the cat", "x y z"] for i, text in enumerate(REFERENCES)]
METRICS = ["bleu", "chrf", "rougeL"]


def table_scores(table: Any, **how: Any) -> list[kt.Score]:
    return [row.score for row in kt.arrow.merge(kt.arrow.sums(table, METRICS, **how)).score().rows]


def expected(references: Any) -> list[kt.Score]:
    return [row.score for row in kt.score(TEXTS, references, METRICS).rows]


TYPES: list[Callable[[list[str]], Any]] = [
    lambda texts: pa.array(texts, pa.string()),
    lambda texts: pa.array(texts, pa.large_string()),
    lambda texts: pa.array(texts, pa.string_view()),
    lambda texts: pa.array(texts).dictionary_encode(),
    lambda texts: pa.array(texts, pa.large_string()).dictionary_encode(),
    lambda texts: pa.chunked_array([texts[:2], texts[2:2], texts[2:]]),
    lambda texts: pa.array(["cut", "off", *texts, "too"], pa.string())[2:-1],
    lambda texts: pa.array(["cut", *texts], pa.string_view())[1:],
    lambda texts: pa.array(["cut", *texts]).dictionary_encode()[1:],
]


@pytest.mark.parametrize("type_", TYPES)
def test_texts_of_any_layout(type_: Callable[[list[str]], Any]) -> None:
    table = pa.table({"candidate": type_(TEXTS), "reference": type_(REFERENCES)})
    assert table_scores(table) == expected(REFERENCES)


LISTS = [
    pa.list_(pa.string()),
    pa.large_list(pa.large_string()),
    pa.list_(pa.string_view()),
    pa.list_view(pa.string()),
    pa.large_list_view(pa.string()),
    pa.list_(pa.dictionary(pa.int8(), pa.string())),
]


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_lists_of_any_layout(kind: pa.DataType) -> None:
    groups = pa.array([["cut"], *GROUPS, ["off"]], kind)[1:-1]
    assert table_scores(pa.table({"candidate": TEXTS, "reference": groups})) == expected(GROUPS)


def test_lists_of_one_length() -> None:
    pairs = [[text, "the cat"] for text in REFERENCES]
    table = pa.table({"candidate": TEXTS, "reference": pa.array(pairs, pa.list_(pa.string(), 2))})
    assert table_scores(table) == expected(pairs)


def test_slices_and_chunks_of_tables() -> None:
    full_table = pa.table(
        {"candidate": ["no", *TEXTS, "no"], "reference": ["no", *REFERENCES, "no"]}
    )
    assert table_scores(full_table.slice(1, len(TEXTS))) == expected(REFERENCES)
    parts = [
        pa.table({"candidate": TEXTS[a:b], "reference": REFERENCES[a:b]})
        for a, b in ((0, 1), (1, 6))
    ]
    assert table_scores(pa.concat_tables(parts)) == expected(REFERENCES)
    batch = pa.record_batch({"candidate": TEXTS, "reference": REFERENCES})
    assert table_scores(batch) == expected(REFERENCES)
    reader = pa.RecordBatchReader.from_batches(
        batch.schema, iter([batch.slice(0, 4), batch.slice(4)])
    )
    assert table_scores(reader) == expected(REFERENCES)


def test_a_structure_that_starts_later() -> None:
    rows = [
        {"candidate": a, "reference": b}
        for a, b in zip(["cut", *TEXTS], ["cut", *REFERENCES], strict=True)
    ]
    assert table_scores(pa.array(rows)[1:]) == expected(REFERENCES)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(frame: Callable[..., Any]) -> None:
    assert table_scores(frame({"candidate": TEXTS, "reference": GROUPS})) == expected(GROUPS)


def test_several_columns_are_several_references() -> None:
    table = pa.table({"candidate": TEXTS, "a": REFERENCES, "b": TEXTS[::-1]})
    both = list(zip(REFERENCES, TEXTS[::-1], strict=True))
    assert table_scores(table, reference=["a", "b"]) == expected(both)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["B", "A", "B", "A", "B", "A"]),
        pa.array(["B", "A", "B", "A", "B", "A"]).dictionary_encode(),
        pa.array([10, 2, 10, 2, 10, 2], pa.uint8()),
        pa.array([True, False] * 3),
    ],
    ids=["text", "dictionary", "numbers", "truth"],
)
def test_systems_of_any_kind(column: pa.Array) -> None:
    table = pa.table({"candidate": TEXTS, "reference": REFERENCES, "by": column})
    rows = kt.arrow.merge(kt.arrow.sums(table, "bleu", by="by")).score().rows
    names = {"string": ["A", "B"], "bool": ["false", "true"], "uint8": ["2", "10"]}
    kind = "string" if pa.types.is_dictionary(column.type) else str(column.type)
    assert [row.system for row in rows] == names[kind]
    second = kt.score(TEXTS[::2], REFERENCES[::2]).rows[0].score
    assert rows[1].score == second


def test_texts_that_end_with_nul_and_long_ones() -> None:
    texts = ["a\0", "\0", "x" * 100_000 + " end"]
    table = pa.table({"candidate": texts, "reference": texts[::-1]})
    assert table_scores(table) == [row.score for row in kt.score(texts, texts[::-1], METRICS).rows]


GOOD = {"candidate": TEXTS, "reference": REFERENCES}
INVALID = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 3], np.int32)), pa.py_buffer(b"ok\xff")]
)
BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {**GOOD, "candidate": [*TEXTS[:-1], None]},
        {},
        r"row 6: column 'candidate' is null; every row",
    ),
    ({**GOOD, "reference": [None, *REFERENCES[1:]]}, {}, r"row 1: column 'reference' is null"),
    ({**GOOD, "reference": [["a"], [], *([["b"]] * 4)]}, {}, r"row 2: .* is an empty list"),
    ({**GOOD, "reference": [["a"], ["a", None], *([["b"]] * 4)]}, {}, r"row 2: .* is null"),
    ({**GOOD, "reference": [["a"], None, *([["b"]] * 4)]}, {}, r"row 2: .* is null"),
    ({"candidate": INVALID, "reference": ["a", "b"]}, {}, r"row 2: .* is not valid UTF-8"),
    ({**GOOD, "reference": [1, 2, 3, 4, 5, 6]}, {}, r"holds whole numbers, expected text or lists"),
    ({**GOOD, "candidate": [[t] for t in TEXTS]}, {}, r"holds lists of text, expected text"),
    ({**GOOD, "reference": [[[t]] for t in TEXTS]}, {}, r"holds lists of lists of text"),
    ({**GOOD, "candidate": [None] * 6}, {}, r"holds nulls, expected text"),
    ({**GOOD, "candidate": [t.encode() for t in TEXTS]}, {}, r"holds bytes"),
    (GOOD, {"candidate": "candidat"}, r"no column 'candidat'; did you mean candidate\?"),
    (GOOD, {"by": "system"}, r"no column 'system' \(it has candidate, reference\)"),
    (GOOD, {"reference": "candidate"}, r"named as candidate and as reference"),
    (GOOD, {"reference": []}, r"at least one is needed"),
    ({**GOOD, "by": ["a", "", "b", "c", "d", "e"]}, {"by": "by"}, r"row 2: column 'by' is empty"),
    ({**GOOD, "by": [1.5] * 6}, {"by": "by"}, r"holds floats"),
    (
        {**GOOD, "id": [1, None, 3, 4, 5, 6]},
        {"id": "id", "buckets": 2},
        r"row 2: column 'id' is null",
    ),
    (GOOD, {"buckets": 2}, r"name the column that has them"),
]


@pytest.mark.parametrize(("columns", "settings", "message"), BAD)
def test_what_cannot_be_used_is_refused_by_row(columns: Any, settings: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.arrow.sums(pa.table(columns), **settings)


def test_rows_are_counted_over_all_batches() -> None:
    texts = ["a"] * 9000 + [None]
    table = pa.table(
        {"candidate": pa.chunked_array([texts[:5], texts[5:]]), "reference": ["a"] * 9001}
    )
    with pytest.raises(kt.InputError, match="row 9,001: column 'candidate' is null"):
        kt.arrow.sums(table, threads=2)


@pytest.mark.parametrize("value", [[1, 2], "text", pa.array(["a"]), None, 3])
def test_what_is_no_table_is_refused(value: Any) -> None:
    with pytest.raises(kt.InputError, match="expected a table"):
        kt.arrow.sums(value)


def test_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array(["a"])] * 3, ["candidate", "reference", "candidate"])
    with pytest.raises(kt.InputError, match="two columns 'candidate'"):
        kt.arrow.sums(table)


def test_a_stream_that_fails_is_named() -> None:
    def batches() -> Any:
        yield pa.record_batch(GOOD)
        raise ValueError("the disk is on fire")

    schema = pa.record_batch(GOOD).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(kt.InputError, match="disk is on fire"):
        kt.arrow.sums(reader)


def test_a_code_outside_its_dictionary_is_refused() -> None:
    codes = pa.array([0, 5], pa.int8())
    bad = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    with pytest.raises(kt.InputError, match="damaged"):
        kt.arrow.sums(pa.table({"candidate": bad, "reference": ["a", "b"]}))


def test_segments_that_are_too_large_are_named_with_their_row(monkeypatch: Any) -> None:
    monkeypatch.setattr("karat.metrics.pairs.MAX_LCS_CELLS", 4)
    table = pa.table({"candidate": ["x", "a b c"], "reference": ["x", "d e f"]})
    with pytest.raises(kt.InputError, match=r"table: segment 2: .*too many"):
        kt.arrow.sums(table, "rougeL")


def test_whole_numbers_may_be_in_a_dictionary() -> None:
    by = pa.array([30, 7, 30, 7, 30, 7]).dictionary_encode()
    ids = pa.chunked_array(
        [pa.array([5, 5, 6]).dictionary_encode(), pa.array([6, 9, 9]).dictionary_encode()]
    )
    table = pa.table({"candidate": TEXTS, "reference": REFERENCES, "by": by, "id": ids})
    plain = pa.table(
        {
            "candidate": TEXTS,
            "reference": REFERENCES,
            "by": by.cast(pa.int64()),
            "id": ids.cast(pa.int64()),
        }
    )
    settings: dict[str, Any] = {"by": "by", "id": "id"}
    comparison = kt.arrow.merge(kt.arrow.stats(table, "bleu", **settings)).compare()
    assert [row.system for row in comparison.rows] != ["0", "1"]
    expected = kt.arrow.merge(kt.arrow.stats(plain, "bleu", **settings)).compare()
    assert comparison.rows == expected.rows


def test_rows_that_are_null_are_refused() -> None:
    rows = pa.array([{"candidate": "a", "reference": "a"}, None])
    with pytest.raises(kt.InputError, match="row 2 of a batch is null"):
        kt.arrow.sums(rows)
