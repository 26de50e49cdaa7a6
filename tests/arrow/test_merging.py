"""What is merged belongs together: metrics and parts in any order, or one sentence."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest

import karat as kt
from karat.arrow import statistics as module

COUNT = 12
A = [f"the cat {i % 5} sat on mat {i % 3}" for i in range(COUNT)]
B = [f"a cat {i % 4} sat on the mat" for i in range(COUNT)]
REFERENCES = [f"the cat {i % 6} sat on the mat {i % 3}" for i in range(COUNT)]
HOW: dict[str, Any] = {"by": "system", "id": "id"}


def part(texts: list[str], system: str, rows: range) -> pa.Table:
    return pa.table(
        {
            "candidate": [texts[i] for i in rows],
            "reference": [REFERENCES[i] for i in rows],
            "system": [system] * len(rows),
            "id": list(rows),
        }
    )


PARTS = [part(A, "A", range(7)), part(A, "A", range(7, COUNT)), part(B, "B", range(COUNT))]


def test_metrics_may_come_in_tables_of_their_own_in_any_order() -> None:
    metrics = ["bleu", "rougeL"]
    expected_by_first = {
        names[0]: kt.compare({"A": A, "B": B}, REFERENCES, names)
        for names in (metrics, metrics[::-1])
    }
    tables = {
        (m, at): kt.arrow.stats(PARTS[at] if m == "bleu" else PARTS[::-1][at], m, **HOW)
        for m in metrics
        for at in range(3)
    }
    for order in list(permutations(tables))[::97]:
        comparison = kt.arrow.merge([tables[key] for key in order]).compare()
        expected = expected_by_first[order[0][0]]
        assert {row[:2]: row for row in comparison.rows} == {row[:2]: row for row in expected.rows}


def test_what_does_not_cover_the_same_rows_is_refused() -> None:
    full_table = pa.concat_tables(PARTS)
    for make_table in (kt.arrow.sums, kt.arrow.stats):
        with pytest.raises(kt.InputError, match="bleu and chrf were not measured on the same rows"):
            kt.arrow.merge(
                [make_table(full_table, "bleu", **HOW), make_table(PARTS[0], "chrf", **HOW)]
            )
        with pytest.raises(kt.InputError, match="not measured on the same rows"):
            kt.arrow.merge(
                [make_table(PARTS[0], "bleu", **HOW), make_table(full_table, "chrf", **HOW)]
            )
    shifted = full_table.set_column(
        3, "id", pa.array([i + 1 for i in full_table["id"].to_pylist()])
    )
    with pytest.raises(kt.InputError, match="not measured on the same rows"):
        kt.arrow.merge(
            [kt.arrow.stats(full_table, "bleu", **HOW), kt.arrow.stats(shifted, "chrf", **HOW)]
        )


def test_sums_and_rows_are_not_mixed() -> None:
    with pytest.raises(kt.InputError, match="cannot be merged"):
        kt.arrow.merge([kt.arrow.stats(PARTS[0], **HOW), kt.arrow.sums(PARTS[1], **HOW)])
    with pytest.raises(kt.InputError, match="4 and no buckets cannot be merged"):
        kt.arrow.merge([kt.arrow.sums(PARTS[0], **HOW, buckets=4), kt.arrow.sums(PARTS[1], **HOW)])


def test_many_rows_are_put_into_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ROWS", 2 * COUNT - 1)
    monkeypatch.setattr(module, "BUCKETS", 4)
    comparison = kt.arrow.merge(kt.arrow.stats(part_, **HOW) for part_ in PARTS).compare()
    expected_result = kt.compare({"A": A, "B": B}, REFERENCES, buckets=4)
    assert comparison.signature == expected_result.signature
    assert [row.low for row in comparison.rows] == [row.low for row in expected_result.rows]


def test_a_part_twice_has_every_id_twice() -> None:
    merged = kt.arrow.merge([kt.arrow.stats(PARTS[0], **HOW)] * 2).score(intervals=True)
    assert merged.remarks == ("14 answers to 7 ids: intervals by id.",)


@pytest.mark.parametrize("tables", [[], (), "tables", 3, [pa.table({"x": [1]})], [pa.table({})]])
def test_what_is_no_table_of_ours_is_refused(tables: Any) -> None:
    with pytest.raises(kt.InputError, match=r"not a table|expected a? ?tables?|nothing to merge"):
        kt.arrow.merge(tables)


def test_damaged_tables_of_sums_are_refused() -> None:
    good = pa.table(kt.arrow.sums(PARTS[0], **HOW, buckets=4))
    for column, values in {
        "buckets": [-3, 1, 1 << 40],
        "bucket": [-1, 4],
        "sums": [[1, 2]],
    }.items():
        for value in values:
            place = good.column_names.index(column)
            bad = good.set_column(place, column, pa.array([value] * len(good), good[column].type))
            with pytest.raises(kt.InputError, match="not a row that"):
                kt.arrow.merge(bad)
    other = good.set_column(1, "metric", pa.array(["bleu|karat=0.0.1"] * len(good)))
    with pytest.raises(kt.InputError, match="a signature of Karat"):
        kt.arrow.merge(other)
