"""Units of tables: a column, or ids that repeat; the same bits for any partition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from karat.arrow import pieces
from karat.arrow.formats import parquet
from karat.arrow.shards import KIND, VERSION, read_shard
from karat.stats.jackknife import jackknife
from karat.storage.store import read_store, write_store

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "ran", "far", "away"]
HOW: dict[str, Any] = {"by": "system", "id": "id"}
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True, scope="module")
def short_ranges() -> Iterator[None]:
    """Ranges of three rows, so that a small table has several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.arrow.batches.ROWS_PER_RANGE", 3)
        yield


def sentence(seed: int) -> str:
    return " ".join(WORDS[(seed * 7 + k * k * (seed % 5 + 1)) % 10] for k in range(4 + seed % 6))


def make_rows(n_ids: int = 24, n_answers: int = 1, units: int = 8) -> Rows:
    return [
        {
            "system": system,
            "id": id,
            "doc": f"doc {id % units}",
            "candidate": sentence(id + shift * (answer + 1)),
            "reference": sentence(id),
        }
        for shift, system in enumerate("AB", 1)
        for id in range(n_ids)
        for answer in range(n_answers)
    ]


ROWS = make_rows()
ANSWERS = make_rows(10, 4, 5)


def numbers(result: Any) -> str:
    """Every number of a result, to the last bit."""
    return repr([*result.rows]) + result.signature


def by_systems(rows: Rows, column: str) -> dict[str, list[Any]]:
    return {name: [r[column] for r in rows if r["system"] == name] for name in ("A", "B")}


# ---------------------------------------------------------------------------- a column of units


def test_units_of_a_column_are_those_of_lists() -> None:
    texts, references = by_systems(ROWS, "candidate"), by_systems(ROWS, "reference")["A"]
    labels, metrics = by_systems(ROWS, "doc")["A"], ["bleu", "chrf", "gtm"]
    expected = kt.compare(texts, references, metrics, units=labels)
    compared = kt.compare(ROWS[::-1], metrics=metrics, **HOW, units="doc")
    assert len({row.units for row in compared.rows if row.units}) == 1
    for row, expected_row in zip(compared.rows, expected.rows, strict=True):
        assert row[:2] == expected_row[:2]
        pairs = list(zip(row[3:9], expected_row[3:9], strict=True))
        assert len([value for value, _ in pairs if value is None]) in (0, 4)
        for value, expected_value in pairs:
            assert value is expected_value or value == pytest.approx(expected_value, rel=1e-12)
        assert row.verdict == expected_row.verdict
        assert row.units == expected_row.units
    assert compared.signatures["bleu"] == expected.signatures["bleu"].replace("=unit", "=doc")
    expected_scores = kt.score(texts, references, metrics, units=labels, intervals=True)
    scored = kt.score(ROWS, metrics=metrics, **HOW, units="doc", intervals=True)
    for row, expected_score in zip(scored.rows, expected_scores.rows, strict=True):
        assert row[2].value == expected_score[2].value
        assert row[3:] == pytest.approx(expected_score[3:], rel=1e-12)


def test_units_do_not_change_scores_or_wins() -> None:
    with_units = kt.compare(ROWS, **HOW, units="doc", examples=2)
    without = kt.compare(ROWS, **HOW, examples=2)
    for row, plain in zip(with_units.rows, without.rows, strict=True):
        assert (row.score.value, row.delta, row.wins) == (
            plain.score.value,
            plain.delta,
            plain.wins,
        )
        assert row.low != plain.low
    assert with_units.examples == without.examples
    assert len(with_units.examples) == 2


@pytest.mark.parametrize("units", ["segment", "id", None])
def test_a_segment_is_a_unit_without_a_column(units: str | None) -> None:
    assert numbers(kt.compare(ROWS, **HOW, units=units)) == numbers(kt.compare(ROWS, **HOW))


def test_a_column_that_is_called_segment_can_have_the_units() -> None:
    rows = [{**row, "segment": row["doc"]} for row in ROWS]
    compared, expected = (kt.compare(rows, **HOW, units=name).rows for name in ("segment", "doc"))
    assert [row._replace(unit="doc")[3:] for row in compared] == [row[3:] for row in expected]


def test_units_in_every_kind_of_table(tmp_path: Path) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = numbers(kt.compare(ROWS, **HOW, units="doc"))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "t.parquet")
    tables = [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)]
    for table in (*tables, tmp_path / "t.jsonl", str(tmp_path / "t.parquet")):
        assert numbers(kt.compare(table, **HOW, units="doc")) == expected
    for module in ("karat.pandas", "karat.polars"):
        import_module(module)
    for frame in tables[:2]:
        assert numbers(frame.karat.compare(**HOW, units="doc")) == expected


def test_units_of_a_wide_table_without_ids() -> None:
    texts = by_systems(ROWS, "candidate")
    wide = [
        {"A": a, "B": b, "reference": row["reference"], "doc": row["doc"]}
        for a, b, row in zip(texts["A"], texts["B"], ROWS, strict=False)
    ]
    compared = kt.compare(wide, candidate=["A", "B"], units="doc")
    assert compared.rows == kt.compare(ROWS, **HOW, units="doc").rows


# --------------------------------------------------------------- added beforehand, and partitions


def added_by(table: pa.Table, unit: str) -> pa.Table:
    """Add the rows of a table of `karat.arrow.stats` by unit."""
    columns = [name for name in table.column_names if "/" in name]
    sums = table.group_by(["system", unit]).aggregate(
        [(name, "sum") for name in columns] + [("references", "max")]
    )
    renamed = {f"{name}_sum": name for name in columns} | {"references_max": "references"}
    return sums.rename_columns(
        ["id" if name == unit else renamed.get(name, name) for name in sums.column_names]
    )


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Answers of two systems to the same ids, unequally many, in units."""
    n_ids = draw(st.integers(2, 7))
    rows = []
    for id in range(n_ids):
        doc = draw(st.integers(0, 3))
        for system in "AB":
            for _ in range(draw(st.integers(1, 3))):
                seed = draw(st.integers(0, 30))
                texts = {"candidate": sentence(seed), "reference": sentence(id)}
                rows.append({"system": system, "id": id, "doc": doc, **texts})
    return draw(st.permutations(rows))


@given(rows=tables(), cuts=st.lists(st.integers(0, 20), max_size=3))
@settings(max_examples=25)
def test_an_interval_by_unit_is_that_of_rows_added_beforehand(rows: Rows, cuts: list[int]) -> None:
    table, metrics = pa.Table.from_pylist(rows), ["bleu", "chrf", "ter"]
    scored = kt.score(table, metrics=metrics, **HOW, units="doc", intervals=True)
    for m in metrics:  # `stats` has the units' hashes, by which their rows are added
        stats = pa.table(kt.arrow.stats(table, m, **HOW, units="doc"))
        merged = kt.arrow.merge(added_by(stats, "unit=doc")).score(intervals=True)
        for row in merged.rows:
            assert row[2].value == scored[row.system, m].score.value
            assert row[3:] == scored[row.system, m][3:]


@given(rows=tables())
@settings(max_examples=25)
def test_repeated_ids_are_units_as_if_added_beforehand(rows: Rows) -> None:
    table = pa.Table.from_pylist(rows)
    stats = pa.table(kt.arrow.stats(table, "bleu", **HOW))
    merged = kt.arrow.merge(added_by(stats, "id")).compare()
    compared = kt.compare(table, **HOW)
    for row, expected in zip(compared.rows, merged.rows, strict=True):
        assert row[3:9] == expected[3:9]
        assert row.verdict == expected.verdict


def test_an_interval_by_unit_is_the_jackknife_of_a_loop_over_units() -> None:
    m = kt.metric("bleu")
    rows = [row for row in ANSWERS if row["system"] == "A"]
    segments = m.stats([r["candidate"] for r in rows], [r["reference"] for r in rows])
    sums: dict[str, Any] = {}
    for row, segment in zip(rows, segments, strict=True):
        sums[row["doc"]] = sums.get(row["doc"], 0) + segment
    table = np.array([*sums.values()])
    estimate = jackknife(lambda s: m.measure(s)["value"], table, np.ones(len(table), bool))
    scored = kt.score(ANSWERS, **HOW, units="doc", intervals=True)["A", "bleu"]
    assert (scored.low, scored.high) == pytest.approx(estimate.interval())


@given(rows=tables(), data=st.data())
@settings(max_examples=25)
def test_any_partition_gives_the_same_bits(rows: Rows, data: Any) -> None:
    metrics, options = ["bleu", "rougeL"], {**HOW, "units": "doc"}
    ends = [0, *sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3))), len(rows)]
    order = data.draw(st.permutations(rows))
    parts = [pa.Table.from_pylist(order[a:b]) for a, b in pairwise(ends) if b > a]
    expected = kt.compare(rows, metrics=metrics, **options)
    threads = data.draw(st.sampled_from([1, 3]))
    merged = kt.arrow.merge([kt.arrow.stats(p, metrics, **options, threads=threads) for p in parts])
    assert numbers(merged.compare()) == numbers(expected)
    bucketed = kt.score(rows, metrics=metrics, **options, buckets=4, intervals=True)
    merged_sums = kt.arrow.merge([kt.arrow.sums(p, metrics, **options, buckets=4) for p in parts])
    assert numbers(merged_sums.score(intervals=True)) == numbers(bucketed)
    again = kt.arrow.merge(merged_sums)  # a table of sums
    assert numbers(again.score(intervals=True)) == numbers(bucketed)


# ------------------------------------------------------------------------------ repeated answers


def test_repeated_answers_are_units_by_id_and_a_remark_says_so() -> None:
    compared = kt.compare(ANSWERS, **HOW, examples=3)
    assert compared.remarks == (
        "40 answers to 10 ids: intervals by id.",
        "Wins, losses and examples are left out: they need one answer per id.",
    )
    assert compared.signatures["bleu"].endswith("|ci=jackknife|unit=id")
    assert {row.units for row in compared.rows} == {None, 10}
    assert {row.wins for row in compared.rows} == {None}
    assert not compared.examples
    assert not compared.values
    assert "40 segments in 10 ids" in compared.render("text")


def test_unequal_numbers_of_answers_are_reported() -> None:
    fewer = [row for row in ANSWERS if row["id"] != 3 or row["system"] == "A"]
    fewer += [row for row in ANSWERS if row["id"] == 3 and row["system"] == "B"][:1]
    compared = kt.compare(fewer, metrics="chrf", **HOW)
    assert compared.remarks[0] == "37 to 40 answers to 10 ids (1 to 4 each): intervals by id."
    scored = kt.score(fewer, metrics="chrf", **HOW, intervals=True, units="doc")
    assert scored.remarks == ("37 to 40 answers to 10 ids (1 to 4 each): intervals by doc.",)
    with pytest.raises(kt.InputError, match=r"unequal numbers of answers .* add --buckets 0"):
        kt.compare(fewer, metrics="chrf", **HOW, buckets=4)


def test_systems_need_the_same_ids_if_ids_repeat() -> None:
    rows = [row for row in ANSWERS if row["id"] != 3 or row["system"] == "A"]
    with pytest.raises(kt.InputError, match="A and B differ: B has no segment with id 3"):
        kt.compare(rows, **HOW)


def test_skipped_answers_leave_the_others_of_their_id() -> None:
    rows = [dict(row) for row in ANSWERS]
    rows[0]["candidate"] = None  # an answer of A to id 0
    compared = kt.compare(rows, metrics="chrf", **HOW, skip_missing=True)
    assert compared.remarks[0] == "39 to 40 answers to 10 ids (3 to 4 each): intervals by id."
    for row in rows[4:8]:  # all answers of A to id 1
        row["candidate"] = None
    compared = kt.compare(rows, metrics="chrf", **HOW, skip_missing=True)
    assert "Systems are compared on 9 ids: those with a text from every system." in compared.notes


def test_external_scores_of_repeated_answers() -> None:
    rows = [{**row, "score": float(i % 7)} for i, row in enumerate(ANSWERS)]
    rows[5]["score"] = None
    compared = kt.compare(rows, metrics="given:column=score", **HOW)
    assert {row.units for row in compared.rows} == {None, 10}
    assert {row.wins for row in compared.rows} == {None}
    assert not compared.values


def test_segments_of_files_are_left_out_if_ids_repeat(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ANSWERS))
    scored = kt.score(path, **HOW, segments=True)
    assert not scored.values
    assert scored.remarks[-1] == (
        "The scores of single answers are left out: they need one answer per id."
    )
    joined = kt.score(pa.Table.from_pylist(ANSWERS), **HOW, segments=True).join()
    assert len(joined) == len(ANSWERS)


@pytest.mark.parametrize("test", ["sacrebleu-bootstrap", "sacrebleu-ar"])
def test_tests_of_segments_are_refused_if_ids_repeat(test: str) -> None:
    with pytest.raises(kt.InputError, match="draws single segments, and ids repeat"):
        kt.compare(ANSWERS, **HOW, test=test)


# --------------------------------------------------------------------------------------- buckets


def test_buckets_hold_whole_units() -> None:
    """All units are in buckets of their own, so buckets are the units."""
    rows = make_rows(60, 1, 7)
    by_unit = kt.score(rows, **HOW, units="doc", intervals=True)
    in_buckets = kt.score(rows, **HOW, units="doc", intervals=True, buckets=1 << 16)
    for row, bucketed in zip(by_unit.rows, in_buckets.rows, strict=True):
        assert row[3:] == pytest.approx(bucketed[3:], rel=1e-12)
    assert in_buckets.signatures["bleu"].endswith("|ci=jackknife|unit=doc|buckets=65536")
    compared = kt.compare(rows, **HOW, units="doc", buckets=1 << 16)
    assert {row.units for row in compared.rows} == {None, 7}
    assert "60 segments in 7 buckets" in compared.render("text")


def test_buckets_detect_units_and_ids_that_differ() -> None:
    for column, value in (("doc", "doc 9"), ("id", 99)):
        rows = [dict(row) for row in ROWS]
        rows[-1][column] = value
        with pytest.raises(kt.InputError, match=r"same ids in the same units \(column 'doc'\)"):
            kt.compare(rows, **HOW, units="doc", buckets=4)


def test_exchanged_units_in_one_bucket_are_detected() -> None:
    """Two buckets: many pairs of units share one, and counts and sums of ids stay equal."""
    rows = [dict(row) for row in ROWS]
    seen = 0
    for other in range(1, 8):
        changed = [dict(row) for row in rows]
        changed[-1]["doc"], changed[-1 - other]["doc"] = rows[-1 - other]["doc"], rows[-1]["doc"]
        with pytest.raises(kt.InputError, match="do not have the same ids in the same units"):
            kt.compare(changed, **HOW, units="doc", buckets=2)
        seen += 1
    assert seen == 7


def test_many_rows_are_put_into_buckets_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = kt.score(ROWS, **HOW, units="doc", intervals=True, buckets=16)
    for name in ("stats.buckets", "arrow.table_scores"):
        monkeypatch.setattr(f"karat.{name}.MAX_ROWS", len(ROWS) - 1)
    for name in ("stats.buckets", "arrow.statistics"):
        monkeypatch.setattr(f"karat.{name}.BUCKETS", 16)
    assert numbers(kt.score(ROWS, **HOW, units="doc", intervals=True)) == numbers(expected)


# ---------------------------------------------------------------------------------------- shards


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of several pieces."""
    monkeypatch.setattr(parquet, "ROWS_PER_PIECE", 20)
    pq.write_table(pa.Table.from_pylist(ANSWERS), tmp_path / "data.parquet", row_group_size=11)
    assert len(pieces.plan_pieces([str(tmp_path / "data.parquet")])) > 2
    return tmp_path / "data.parquet"


@pytest.mark.parametrize("buckets", [None, 8])
@pytest.mark.parametrize("units", [None, "doc"])
def test_shards_know_their_units(
    data: Path, tmp_path: Path, units: str | None, buckets: int | None
) -> None:
    options = {**HOW, "units": units, "buckets": buckets}
    for k in (2, 1):
        kt.write_shards(data, "chrf", shards=tmp_path / "s", shard=(k, 2), **options)
    expected = kt.compare_table(data, "chrf", **options)
    merged = kt.merge_shards(tmp_path / "s").compare()
    assert numbers(merged) == numbers(expected)
    assert merged.notes == expected.notes
    assert numbers(kt.compare_table(data, "chrf", **options, shards=tmp_path / "s")) == numbers(
        expected
    )


def test_units_of_shards_can_be_left_out_if_rows_are_kept(data: Path, tmp_path: Path) -> None:
    kt.score_table(data, "chrf", **HOW, units="doc", shards=tmp_path / "rows")
    expected = kt.compare_table(data, "chrf", **HOW)
    for units in ("segment", "id"):
        assert numbers(kt.merge_shards(tmp_path / "rows", units).compare()) == numbers(expected)
    options = {**HOW, "units": "doc", "buckets": 8}
    kt.score_table(data, "chrf", **options, shards=tmp_path / "buckets")
    for folder, units, reason in (
        ("buckets", "segment", "their segments were added by unit"),
        ("rows", "paragraph", "they were written with --unit doc"),
    ):
        with pytest.raises(kt.InputError, match=rf"units '{units}' are unknown: {reason}"):
            kt.merge_shards(tmp_path / folder, units)


def test_shards_from_before_units(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    kt.score_table(data, "chrf", **HOW, shards=folder)
    for path in sorted(map(str, folder.iterdir())):
        store = read_store(path, KIND, VERSION)
        about = {k: v for k, v in store.about.items() if k not in ("unit", "id_column")}
        write_store(path, KIND, VERSION, about, {k: v.copy() for k, v in store.arrays.items()})
        assert not read_shard(path).has_units
    note = "An older version wrote these shards, without units: each id is a unit."
    merged = kt.merge_shards(folder)
    assert merged.remarks == (note,)
    assert numbers(merged.compare()) == numbers(kt.compare_table(data, "chrf", **HOW))
    assert merged.compare().remarks[0] == note
    with pytest.raises(kt.InputError, match="units 'doc' are unknown: an older version wrote them"):
        kt.merge_shards(folder, "doc")


Called = Callable[..., Any]


def test_the_command_takes_units(
    data: Path,
    folder: Path,
    output: Callable[..., str],
    run_karat: Called,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("karat.tables.streams.LARGE", 1)
    arguments = (str(data), "--by", "system", "--id", "id", "-m", "chrf")
    compared = output("compare", *arguments, "--unit", "doc", "-f", "tsv")
    assert compared == kt.compare(data, **HOW, units="doc", metrics="chrf").render("tsv")
    text = output("score", *arguments, "--unit", "doc", "--intervals")
    assert "40 answers to 10 ids: intervals by doc." in text
    for k in (1, 2):
        shard = ("--shards", "parts", "--shard", f"{k}/2")
        output("score", *arguments, "--unit", "doc", *shard)
    assert output("merge", "parts", "--compare", "-f", "tsv") == compared
    assert output("merge", "parts", "--compare", "--unit", "doc", "-f", "tsv") == compared
    for wrong in (
        ("merge", "parts", "--compare", "--unit", "paragraph"),
        ("compare", *arguments, "--unit", "paragraph"),
        ("score", *arguments, "--worst", "3"),
    ):
        done = run_karat(*wrong)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


# ------------------------------------------------------------------------------------- bad input


def changed(at: Sequence[int], column: str, value: Any, rows: Rows = ROWS) -> Rows:
    return [{**row, column: value} if i in at else row for i, row in enumerate(rows)]


BAD: dict[str, tuple[Rows, str, str]] = {
    "null": (changed([7], "doc", None), "doc", r"row 8 .*'doc' is null; .* the label of its unit"),
    "empty": (changed([7], "doc", ""), "doc", r"row 8 .*column 'doc' is empty; every row needs"),
    "missing": (ROWS, "dco", "no column 'dco'; did you mean doc"),
    "texts": (ROWS, "reference", "named as text and as unit"),
    "floats": ([{**row, "doc": 1.5} for row in ROWS], "doc", "column 'doc' holds floats"),
    "differ": (
        changed([24, 25, 30], "doc", "x"),
        "doc",
        r"A and B differ in the units \(column 'doc'\) of 3 of 24 ids, such as id '0'",
    ),
    "repeated": (
        changed([1], "doc", "x", ANSWERS),
        "doc",
        r"system A, column 'doc': 1 of 10 ids are in several units, such as id '0'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_units_are_refused_in_one_sentence(name: str) -> None:
    rows, units, message = BAD[name]
    with pytest.raises(kt.InputError, match=message):
        kt.compare(rows, **HOW, units=units)


def test_a_missing_unit_after_skipped_rows_is_found() -> None:
    rows = changed([2], "candidate", None, changed([7], "doc", ""))
    with pytest.raises(kt.InputError, match=r"row 8 .*column 'doc' is empty"):
        kt.compare(rows, **HOW, units="doc", skip_missing=True)


def test_units_need_ids() -> None:
    with pytest.raises(kt.InputError, match="need ids"):
        kt.compare(ROWS, by="system", units="doc")
    with pytest.raises(kt.InputError, match="sums keep units in buckets only"):
        kt.arrow.sums(pa.Table.from_pylist(ROWS), **HOW, units="doc")


def test_tables_of_other_units_are_not_merged() -> None:
    table = pa.Table.from_pylist(ROWS)
    for make, more in ((kt.arrow.sums, {"buckets": 4}), (kt.arrow.stats, {})):
        parts = [make(table, **HOW, **more), make(table, **HOW, units="doc", **more)]
        with pytest.raises(kt.InputError, match="units 'no units' and 'doc' cannot be merged"):
            kt.arrow.merge(parts)
