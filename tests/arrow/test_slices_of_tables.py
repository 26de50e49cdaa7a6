"""Slices of tables: those of the same texts, whatever the order and the format of the rows."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import karat as kt
from karat.errors import InputError

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "ran", "far", "away"]
HOW: dict[str, Any] = {"by": "system", "id": "id"}
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True, scope="module")
def short_ranges() -> Any:
    """Ranges of seven rows, so that a small table has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.arrow.batches.ROWS_PER_RANGE", 7)
        yield


def make_rows(answers: int = 1) -> Rows:
    rng = random.Random(4)
    rows = []
    for number in range(40):
        reference = " ".join(rng.choices(WORDS, k=rng.randint(3, 12)))
        for system, share in (("atlas", 0.2), ("beacon", 0.4)):
            for _ in range(answers):
                words = [
                    rng.choice(WORDS) if rng.random() < share else w for w in reference.split()
                ]
                row = {"system": system, "id": f"{number:02}", "candidate": " ".join(words)}
                domain = "news" if number % 2 else "chat"
                rows.append({**row, "reference": reference, "domain": domain, "level": number % 3})
    return rows


ROWS = make_rows()


@pytest.mark.parametrize("column", ["domain", "level", "length"])
def test_slices_are_those_of_the_texts(column: str) -> None:
    texts: dict[str, list[str]] = {}
    for row in ROWS:
        texts.setdefault(row["system"], []).append(row["candidate"])
    base = [row for row in ROWS if row["system"] == "atlas"]
    labels = "length" if column == "length" else [row[column] for row in base]
    references = [row["reference"] for row in base]
    expected = kt.compare(texts, references, ["bleu", "chrf"], slices=labels)
    comparison = kt.compare(ROWS, metrics=["bleu", "chrf"], slices=column, **HOW)
    assert comparison.slices == expected.slices
    assert comparison.slicing == column


@pytest.mark.parametrize("column", ["domain", "length"])
def test_the_order_and_the_format_of_rows_do_not_matter(column: str, tmp_path: Path) -> None:
    expected = kt.compare(ROWS, metrics="chrf", slices=column, **HOW).slices
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert kt.compare(shuffled, metrics="chrf", slices=column, **HOW).slices == expected
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in shuffled))
    assert kt.compare(path, metrics="chrf", slices=column, **HOW).slices == expected
    table = pa.Table.from_pylist(shuffled)
    assert kt.compare(table, metrics="chrf", slices=column, **HOW).slices == expected


def test_a_wide_table_has_slices() -> None:
    wide = [
        {"ref": a["reference"], "atlas": a["candidate"], "beacon": b["candidate"], "d": a["domain"]}
        for a, b in zip(ROWS[::2], ROWS[1::2], strict=True)
    ]
    columns = {"candidate": ["atlas", "beacon"], "reference": "ref"}
    comparison = kt.compare(wide, metrics="chrf", slices="d", **columns)
    expected = kt.compare(ROWS, metrics="chrf", slices="domain", **HOW)
    assert comparison.slices == expected.slices


def test_repeated_answers_are_counted_as_segments_and_added_by_id() -> None:
    comparison = kt.compare(make_rows(3), metrics="chrf", slices="domain", **HOW)
    assert [(r.slice, r.segments, r.units) for r in comparison.slices] == [
        ("chat", 60, 20),
        ("news", 60, 20),
    ]


def test_skipped_rows_are_in_no_slice() -> None:
    rows = [{**row, "candidate": None} if row["id"] == "01" else row for row in ROWS]
    comparison = kt.compare(rows, metrics="chrf", slices="domain", skip_missing=True, **HOW)
    assert {r.slice: r.segments for r in comparison.slices} == {"chat": 20, "news": 19}


def with_value(column: str, value: object) -> Rows:
    return [{**row, column: value} if row["id"] == "02" else row for row in ROWS]


@pytest.mark.parametrize(
    ("rows", "settings", "problem"),
    [
        (ROWS, {"slices": "domains"}, "no column 'domains'; did you mean domain?"),
        (with_value("domain", None), {}, "column 'domain' is null; every row needs the label of"),
        (with_value("domain", ""), {}, "column 'domain' is empty; every row needs the label of"),
        (with_value("level", None), {"slices": "level"}, "column 'level' is null; every row needs"),
        (ROWS, {"slices": "system"}, "id '00' is in the slices 'atlas' and 'beacon'"),
        (ROWS, {"slices": ["news"] * 80}, "slices of a table are in a column: name it"),
        (ROWS, {"buckets": 4}, "slices need single segments, and intervals use 4 buckets"),
    ],
)
def test_bad_slices_are_refused(rows: Rows, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as error:
        kt.compare(rows, metrics="chrf", **{"slices": "domain", **settings, **HOW})
    assert problem in str(error.value)


def test_too_many_slices_are_refused() -> None:
    rows = [{**row, "name": f"n{at}"} for at, row in enumerate(ROWS)]
    with pytest.raises(InputError, match="expected at most 50: use labels with fewer values"):
        kt.compare(rows, metrics="chrf", slices="name", **{**HOW, "id": "name"})


def test_a_stream_is_refused() -> None:
    table = pa.Table.from_pylist(ROWS)
    with pytest.raises(InputError, match="this table may be a stream that can be read once"):
        kt.compare(table.to_reader(), metrics="chrf", slices="domain", **HOW)


def test_labels_that_are_too_many_for_buckets_need_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above two million rows, a table is put into buckets."""
    monkeypatch.setattr("karat.arrow.table_scores.MAX_ROWS", 30)
    monkeypatch.setattr("karat.arrow.statistics.BUCKETS", 8)
    with pytest.raises(InputError, match="slices need single segments, and intervals use 8 buck"):
        kt.compare(ROWS, metrics="chrf", slices="domain", **HOW)
    comparison = kt.compare(ROWS, metrics="chrf", slices="domain", buckets=0, **HOW)
    assert len(comparison.slices) == 2
