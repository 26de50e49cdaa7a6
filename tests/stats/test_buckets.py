"""Buckets: which segments share one, their exact sums, and intervals from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.bucket_loops import bucket, cell_sums, splitmix64

import karat as kt
from karat import _kernel
from karat.arithmetic import ExactRows, carried, rounded
from karat.stats import buckets as module
from karat.stats.buckets import (
    CellSums,
    bucket_of,
    bucket_of_ids,
    join_cells,
    resolve_buckets,
    sum_cells,
)
from karat.stats.jackknife import jackknife

ids = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(ids=ids, buckets=st.integers(2, 5000))
def test_a_bucket_is_the_remainder_of_a_hash(ids: list[int], buckets: int) -> None:
    result = bucket_of(_kernel.hash_ids(np.array(ids, np.int64)), buckets)
    assert result.tolist() == [bucket(id, buckets) for id in ids]


@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_texts_are_hashed_by_their_bytes(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    views = _kernel.Views.from_strings(tuple(texts), 0, len(texts))
    assert bucket_of(_kernel.hash_views(views), 4096).tolist() == [bucket(t, 4096) for t in texts]


def test_splitmix64_gives_its_published_first_numbers() -> None:
    assert splitmix64(0) == 0xE220A8397B1DCDAF
    assert int(_kernel.hash_ids(np.array([0]))[0]) & (2**64 - 1) == 0xE220A8397B1DCDAF


def test_integer_ids_are_hashed() -> None:
    assert bucket_of_ids(np.arange(5, 8), 64).tolist() == [bucket(i, 64) for i in (5, 6, 7)]


def as_fractions(total: np.ndarray) -> list[list[Fraction]]:
    if total.ndim == 2:
        return [[Fraction(int(x)) for x in row] for row in total]
    return [
        [
            Fraction(int(w)) + Fraction(int(m), 2**32) + Fraction(int(low), 2**64)
            for w, m, low in zip(*row, strict=True)
        ]
        for row in total
    ]


@given(data=st.data(), unsplit=st.booleans())
def test_sums_of_cells_are_exact_however_they_are_cut(data: st.DataObject, unsplit: bool) -> None:
    value = st.integers(-(10**6), 10**6) if unsplit else numbers
    rows = data.draw(st.lists(st.tuples(value, value), min_size=1, max_size=12))
    cells = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    cut = data.draw(st.integers(0, len(rows)))
    table = np.array(rows, np.int64 if unsplit else np.float64)
    places = np.array(cells, np.int32)
    parts = [
        sum_cells(table[at], places[at]) for at in (slice(cut), slice(cut, None)) if len(table[at])
    ]
    sums = join_cells(parts[::-1], 4)
    assert sums.ndim == (2 if unsplit else 3)
    assert as_fractions(sums) == cell_sums(rows, cells, 4)
    again = join_cells([sum_cells(table, places)], 4)
    assert (sums == again).all()


def test_whole_numbers_and_others_add_up() -> None:
    cells = np.array([1], np.int32)
    parts = [sum_cells(np.array([[2, 3]]), cells), sum_cells(np.array([[0.5, -0.25]]), cells)]
    for order in (parts, parts[::-1]):
        assert as_fractions(join_cells(order, 2))[1] == [Fraction(5, 2), Fraction(11, 4)]


def test_limbs_are_rows_of_exact_sums() -> None:
    rows = np.array([[0.1, 5.0], [0.2, -7.5], [1e-9, 3.25]])
    limbs = np.stack([sum_cells(row[None], np.zeros(1, np.int32)).sums[0] for row in rows])
    counts = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
    assert (ExactRows([limbs]).sums(counts) == ExactRows([rows]).sums(counts)).all()


def test_sums_that_are_too_large_are_refused() -> None:
    with pytest.raises(kt.InputError, match="cannot be added exactly"):
        ExactRows([np.array([[1 << 33]])]).sums(np.ones((1, 1)))


def test_carrying_keeps_the_number() -> None:
    limbs = np.array([[[5], [-3], [2**33 + 1]]])
    assert as_fractions(carried(limbs)) == as_fractions(limbs)
    assert (
        rounded(np.moveaxis(carried(limbs), 1, 0)).tolist()
        == rounded(np.moveaxis(limbs, 1, 0)).tolist()
    )


def test_the_number_of_rows_alone_decides() -> None:
    assert resolve_buckets(2_000_000, None) is None
    assert resolve_buckets(2_000_001, None) == 4096
    assert resolve_buckets(10, 16) == 16
    with pytest.raises(kt.InputError, match="expected 2 to"):
        resolve_buckets(10, 1)


CANDIDATES = [f"the cat {i % 7} sat on mat {i % 3} ." for i in range(40)]
OTHERS = [f"a cat {i % 5} sat on the mat {i % 4} ." for i in range(40)]
REFERENCES = [f"the cat {i % 6} sat on the mat {i % 3} ." for i in range(40)]


def bucket_interval(ids: list[int], buckets: int) -> tuple[float, float]:
    """The interval of ROUGE-L, from the summed rows of segments whose ids share a bucket."""
    m = kt.metric("rougeL")
    rows = m.stats(CANDIDATES, REFERENCES)
    places = np.array([bucket(id, buckets) for id in ids])
    sums = np.array([rows[places == b].sum(axis=0) for b in range(buckets)])
    estimate = jackknife(lambda x: m.measure(x)["value"], sums, np.ones(buckets, bool))
    return estimate.interval()


def test_intervals_use_buckets_when_asked() -> None:
    scores = kt.score(CANDIDATES, REFERENCES, ["bleu", "rougeL"], intervals=True, buckets=8)
    assert scores.signature.count("|ci=jackknife|buckets=8") == 2
    assert scores.settings["buckets"] == 8
    plain = kt.score(CANDIDATES, REFERENCES, ["bleu", "rougeL"], intervals=True)
    assert [row.score.value for row in scores.rows] == [row.score.value for row in plain.rows]
    assert [row.low for row in scores.rows] != [row.low for row in plain.rows]
    row = scores["candidate", "rougeL"]
    assert (row.low, row.high) == pytest.approx(bucket_interval([*range(40)], 8), abs=1e-12)


def test_buckets_hold_whole_units() -> None:
    labels = [f"document {i // 2}" for i in range(40)]
    settings = {"intervals": True, "buckets": 4, "units": labels}
    scores = kt.score(CANDIDATES, REFERENCES, "rougeL", **settings)
    assert scores.signature.endswith("|ci=jackknife|unit=unit|buckets=4")
    row = scores["candidate", "rougeL"]
    expected = bucket_interval([i // 2 for i in range(40)], 4)
    assert (row.low, row.high) == pytest.approx(expected, abs=1e-12)
    comparison = kt.compare(
        {"A": CANDIDATES, "B": OTHERS}, REFERENCES, "rougeL", units=labels, buckets=4
    )
    assert comparison["B", "rougeL"].units == 4
    assert comparison["A", "rougeL"][3:5] == (row.low, row.high)


def test_many_segments_are_put_into_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ROWS", 79)
    monkeypatch.setattr(module, "BUCKETS", 16)
    both = {"A": CANDIDATES, "B": OTHERS}
    result = kt.compare(both, REFERENCES, ["bleu"])
    comparison = kt.compare(both, REFERENCES, ["bleu"], buckets=16)
    assert result.rows == comparison.rows
    assert result.settings["buckets"] == 16
    assert "by bucket of segments" in result.notes[0]
    monkeypatch.setattr(module, "MAX_ROWS", 80)
    assert "buckets" not in kt.compare(both, REFERENCES, ["bleu"]).settings


def test_fewer_segments_than_buckets_are_refused() -> None:
    with pytest.raises(kt.InputError, match="fewer than the 64 buckets"):
        kt.score(CANDIDATES, REFERENCES, intervals=True, buckets=64)
    labels = [i // 4 for i in range(40)]
    with pytest.raises(kt.InputError, match="fewer than the 16 buckets"):
        kt.score(CANDIDATES, REFERENCES, intervals=True, buckets=16, units=labels)


def test_a_signature_with_buckets_is_checked() -> None:
    settings = {"intervals": True, "buckets": 8}
    signature = kt.score(CANDIDATES, REFERENCES, **settings).signature
    assert kt.score(CANDIDATES, REFERENCES, [signature], **settings).signature == signature
    with pytest.raises(kt.MetricError, match="says buckets=8"):
        kt.score(CANDIDATES, REFERENCES, [signature], intervals=True)
    with pytest.raises(kt.MetricError, match="says ci=jackknife, but no ci was requested: add int"):
        kt.score(CANDIDATES, REFERENCES, [signature])


def test_signatures_in_sacrebleus_form_do_not_hide_buckets() -> None:
    scores = kt.score(CANDIDATES, REFERENCES, intervals=True, buckets=8, signature="sacrebleu")
    assert "buckets=8" in scores.signature


def test_cells_are_joined_from_parts() -> None:
    with pytest.raises(ValueError, match="no part"):
        join_cells([], 4)
    part = CellSums(np.array([0]), np.array([[1]]))
    assert join_cells([part, part], 2).tolist() == [[2], [0]]
