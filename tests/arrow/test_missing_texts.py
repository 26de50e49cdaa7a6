"""Rows without a candidate or a reference: refused before the work, or skipped and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat as kt
from karat.arrow import jobs, table_scores
from karat.arrow.formats.parquet import duckdb_has_nulls, parquet_has_nulls, parquet_pieces
from karat.arrow.parts import TableMeasure
from karat.cli.main import main

WORDS = ("sat", "ran", "slept", "ate", "hid", "lay", "stood", "fell")
ROWS: list[dict[str, Any]] = [
    {
        "system": system,
        "id": number,
        "output": f"{article} cat {word} on a mat",
        "references": [f"the cat {word} on the mat", f"the cat {word} there"],
    }
    for system, article in (("A", "a"), ("B", "the"))
    for number, word in enumerate(WORDS)
]
HOW: dict[str, Any] = {"by": "system"}
SKIP: dict[str, Any] = {**HOW, "skip_missing": True}


def with_gaps() -> list[dict[str, Any]]:
    """System A lacks a candidate (id 2), B a reference (id 5) and a candidate (id 7)."""
    rows = [dict(row) for row in ROWS]
    rows[2]["output"] = None
    rows[8 + 5]["references"] = []
    rows[8 + 7]["output"] = None
    return rows


def without_gaps() -> list[dict[str, Any]]:
    gaps = with_gaps()
    return [row for row in gaps if row["output"] is not None and row["references"]]


def in_form(rows: list[dict[str, Any]], form: str, folder: Path) -> Any:
    """Return a table in a form: a file of it, or a table in memory."""
    if form == "jsonl":
        path = folder / f"{len(list(folder.iterdir()))}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path
    if form == "parquet":
        path = folder / f"{len(list(folder.iterdir()))}.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=5)
        return path
    makers = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pylist}
    return rows if form == "records" else makers[form](rows)


FORMS = ("jsonl", "parquet", "pandas", "polars", "pyarrow", "records")


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(result: Any) -> str:
    return repr([*result.rows]) + result.signature


# ------------------------------------------------------------------------------------- skipping


def test_skipped_rows_do_not_count(form: str, tmp_path: Path) -> None:
    table = in_form(with_gaps(), form, tmp_path)
    expected = kt.score(in_form(without_gaps(), form, tmp_path), metrics=["bleu", "chrf"], **HOW)
    scored = kt.score(table, metrics=["bleu", "chrf"], **SKIP)
    assert numbers(scored) == numbers(expected)
    assert scored.skipped == {"A": 1, "B": 2}
    assert scored.notes[0] == (
        "3 rows were skipped because a candidate or a reference is missing (A 1, B 2)."
    )
    assert [row["skipped"] for row in scored.records()] == [1, 2, 1, 2]


def test_nothing_is_reported_as_skipped_where_all_texts_are_there(
    form: str, tmp_path: Path
) -> None:
    table = in_form(ROWS, form, tmp_path)
    scored = kt.score(table, metrics="chrf", **SKIP)
    assert scored.skipped == {}
    assert scored.notes == ("No row was skipped: every row has its texts.",)
    assert [row["skipped"] for row in scored.records()] == [0, 0]
    plain = kt.score(table, metrics="chrf", **HOW)
    assert (plain.skipped, plain.notes) == (None, ())
    assert "skipped" not in plain.records()[0]
    assert numbers(scored) == numbers(plain)


def test_systems_are_compared_on_the_segments_that_all_have(form: str, tmp_path: Path) -> None:
    complete = [row for row in ROWS if row["id"] not in (2, 5, 7)]
    settings: dict[str, Any] = {"metrics": "chrf", "id": "id", "examples": 2}
    expected = kt.compare(in_form(complete, form, tmp_path), **HOW, **settings)
    compared = kt.compare(in_form(with_gaps(), form, tmp_path), **SKIP, **settings)
    assert numbers(compared) == numbers(expected)
    assert compared.examples == expected.examples
    assert compared.skipped == {"A": 1, "B": 2}
    message = "Systems are compared on 5 segments: those with a text from every system."
    assert message in compared.notes
    all_there = kt.compare(in_form(ROWS, form, tmp_path), **SKIP, **settings)
    assert not [note for note in all_there.notes if "are compared on" in note]


def test_a_wide_row_is_skipped_for_all_systems(tmp_path: Path) -> None:
    rows = [
        {"x": a["output"], "y": b["output"], "references": a["references"]}
        for a, b in zip(ROWS[:8], ROWS[8:], strict=True)
    ]
    gaps = [dict(row) for row in rows]
    gaps[3]["y"] = None
    settings: dict[str, Any] = {"candidate": ["x", "y"], "metrics": "chrf"}
    expected = kt.score(rows[:3] + rows[4:], **settings)
    scored = kt.score(in_form(gaps, "jsonl", tmp_path), **settings, skip_missing=True)
    assert numbers(scored) == numbers(expected)
    assert scored.skipped == {"x": 1, "y": 1}
    joined = kt.score(pd.DataFrame(gaps), **settings, segments=True, skip_missing=True).join()
    assert joined["x/chrf"].isna().tolist() == [False] * 3 + [True] + [False] * 4


def test_segments_keep_their_row_numbers(tmp_path: Path) -> None:
    rows = [{"output": r["output"], "reference": r["references"][0]} for r in ROWS[:5]]
    rows[0]["output"], rows[4]["output"] = None, "x"
    scored = kt.score(
        in_form(rows, "jsonl", tmp_path),
        metrics="chrf",
        segments=True,
        skip_missing=True,
        candidate="output",
    )
    assert scored.worst(1).rows[0].text.id == "5"
    message = "1 row was skipped because a candidate or a reference is missing (candidate 1)."
    assert message in scored.worst(1).notes
    assert message in scored.document().notes
    assert [row["segment"] for row in scored.records()] == ["2", "3", "4", "5"]
    frame = kt.score(rows, metrics="chrf", segments=True, skip_missing=True)
    assert frame.worst(1).rows[0].text.id == "row 5 (index 4)"
    joined = frame.join()
    assert [row["chrf"] is None or row["chrf"] != row["chrf"] for row in joined] == [
        *(True, False, False, False, False),
    ]


def test_rows_are_written_with_empty_scores(tmp_path: Path) -> None:
    for form in ("jsonl", "parquet"):
        table = in_form(with_gaps(), form, tmp_path)
        out = tmp_path / f"out-{form}"
        kt.score_table(table, "chrf", **SKIP, rows=out)
        scores = pq.read_table(out)["chrf"].to_pylist()
        assert [at for at, value in enumerate(scores) if value is None] == [2, 13, 15]


def test_shards_know_what_was_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(in_form(with_gaps(), "jsonl", tmp_path))
    shards = str(tmp_path / "shards")
    words = ["score", table, "--by", "system", "--id", "id", "-m", "chrf", "--skip-missing"]
    assert main([*words, "--shards", shards, "--shard", "1/1"]) == 0
    capsys.readouterr()
    assert main(["merge", shards, "-f", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["skipped"] for row in report["rows"]] == [1, 2]
    assert report["notes"][0].startswith("3 rows were skipped")
    assert main(["merge", shards, "--compare", "-f", "json"]) == 0
    assert "compared on 5 segments" in json.loads(capsys.readouterr().out)["notes"][-1]


def test_nulls_in_the_first_rows_do_not_decide_what_a_column_holds(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS]
    rows[0]["output"], rows[1]["references"] = None, None
    scored = kt.score(in_form(rows, "jsonl", tmp_path), metrics="chrf", **SKIP)
    assert scored.skipped == {"A": 2}


def test_a_system_without_a_row_is_refused(form: str, tmp_path: Path) -> None:
    rows = [{**row, "output": None} if row["system"] == "B" else row for row in ROWS]
    with pytest.raises(kt.InputError, match=r"^every row of system 'B' was skipped"):
        kt.score(in_form(rows, form, tmp_path), metrics="chrf", **SKIP)


def test_ids_and_systems_are_never_skipped(tmp_path: Path) -> None:
    for column in ("system", "id"):
        rows = [dict(row) for row in ROWS]
        rows[3][column] = None
        with pytest.raises(kt.InputError, match=f"column '{column}' is null"):
            kt.compare(in_form(rows, "parquet", tmp_path), metrics="chrf", **SKIP, id="id")


@pytest.mark.parametrize("missing", [[], [None], ["x", None]])
def test_a_list_without_a_text_is_missing_in_a_column_of_texts(
    missing: list[Any], tmp_path: Path
) -> None:
    rows = [{"output": row["output"], "reference": row["references"][0]} for row in ROWS[:8]]
    rows[5]["reference"] = missing
    table = in_form(rows, "jsonl", tmp_path)
    with pytest.raises(kt.InputError, match=r"line 6.*or skip rows without a candidate"):
        kt.score(table, metrics="chrf", candidate="output")
    scored = kt.score(table, metrics="chrf", candidate="output", skip_missing=True)
    assert scored.skipped == {"candidate": 1}


def test_a_missing_id_is_not_said_to_be_skipped(tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS]
    rows[3]["id"] = None
    with pytest.raises(kt.InputError, match=r"column 'id' is null.*: drop the line or fill it in$"):
        kt.compare(in_form(rows, "jsonl", tmp_path), metrics="chrf", **HOW, id="id")


def test_systems_with_different_skipped_rows_are_said_to_differ_in_rows(tmp_path: Path) -> None:
    sentence = "Systems are scored on different rows, since some were skipped."
    gaps, both = with_gaps(), [dict(row) for row in ROWS]
    both[2]["output"] = both[8 + 2]["output"] = None
    assert sentence in kt.score(gaps, metrics="chrf", **SKIP).document().answer
    assert sentence not in kt.score(both, metrics="chrf", **SKIP).document().answer
    assert sentence not in kt.score(ROWS, metrics="chrf", **SKIP).document().answer


def test_skipped_rows_and_buckets(tmp_path: Path) -> None:
    settings = {**SKIP, "id": "id", "metrics": "chrf"}
    with pytest.raises(kt.InputError, match="leave out segments with skipped rows, add --buckets"):
        kt.compare(with_gaps(), **settings, buckets=4)
    short = [row for row in ROWS if row["id"] or row["system"] == "A"]
    with pytest.raises(kt.InputError, match=r"every system; for unequal numbers of answers"):
        kt.compare(short, **settings, buckets=4)


def test_paired_rows_of_files_with_gaps(tmp_path: Path) -> None:
    """Row numbers pair the rows of two files; rows that one of them lacks are left out."""
    files = {}
    for system, system_texts in (("A", ROWS[:8]), ("B", ROWS[8:])):
        rows = [
            {"output": row["output"], "reference": row["references"][0]} for row in system_texts
        ]
        rows[2 if system == "A" else 6]["output"] = None
        files[system] = in_form(rows, "jsonl", tmp_path)
    compared = kt.compare(files, metrics="chrf", skip_missing=True)
    assert any("2 segments are left out" in note for note in compared.notes)
    assert len(compared.values["A", compared.rows[0].metric]) == 6
    swapped = [json.loads(line) for line in files["B"].read_text().splitlines()]
    swapped[0], swapped[1] = swapped[1], swapped[0]
    files["B"] = in_form(swapped, "jsonl", tmp_path)
    reordered = kt.compare(files, metrics="chrf", skip_missing=True)  # aligned by references
    assert [row.score.value for row in reordered.rows] == [r.score.value for r in compared.rows]


# ------------------------------------------------------------------------------------- refusing


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: whatever is refused is refused before the work."""

    def measured_parts(*_: Any, **__: Any) -> Any:
        raise AssertionError("a row was scored")

    monkeypatch.setattr(TableMeasure, "parts", measured_parts)


@pytest.mark.parametrize("column", ["output", "references"])
def test_a_null_is_refused_before_the_work(
    no_work: None, form: str, column: str, tmp_path: Path
) -> None:
    rows = [dict(row) for row in ROWS]
    rows[-1][column] = None
    with pytest.raises(kt.InputError, match=rf"(row|line) 16.*column '{column}' is null.*skip"):
        kt.score(in_form(rows, form, tmp_path), metrics="chrf", **HOW)


def test_an_empty_list_is_refused_before_the_work(no_work: None, form: str, tmp_path: Path) -> None:
    rows = [dict(row) for row in ROWS]
    rows[-1]["references"] = []
    with pytest.raises(kt.InputError, match=r"(row|line) 16.*'references' is an empty list.*skip"):
        kt.score(in_form(rows, form, tmp_path), metrics="chrf", **HOW)


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_nulls_elsewhere_are_no_reason_to_refuse(form: str, tmp_path: Path) -> None:
    rows = [{**row, "note": None, "tags": [], "output": f"{row['output']} null []"} for row in ROWS]
    table = in_form(rows, form, tmp_path)
    assert len(kt.score(table, metrics="chrf", **HOW).rows) == 2


def test_worst_segments_of_too_many_rows_are_refused_before_the_work(
    no_work: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (table_scores, jobs):
        monkeypatch.setattr(module, "MAX_ROWS", 10)
    monkeypatch.setattr("karat.stats.buckets.MAX_ROWS", 10)
    path = str(in_form(ROWS, "parquet", tmp_path))
    with pytest.raises(kt.InputError, match="scores of single segments are not kept"):
        kt.score_table(path, "chrf", **HOW, id="id", segments=True)


def test_worst_segments_need_ids_before_the_work(
    no_work: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("karat.tables.streams.LARGE", 1)
    path = str(in_form(ROWS, "jsonl", tmp_path))
    assert main(["score", path, "--by", "system", "-m", "chrf", "--worst", "3"]) == 2
    assert "need ids, and so do single segments" in capsys.readouterr().err


def test_rows_are_counted_from_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"output": "a b", "reference": "a b"}, {"output": "c", "reference": "d"}]
    path = str(in_form(rows, "jsonl", tmp_path))
    assert main(["score", path, "-m", "chrf", "--worst", "1", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["segment"] == 2


def test_skipping_is_for_tables(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(kt.InputError, match=r"^skip_missing= is for tables"):
        kt.score(["a"], ["a"], "chrf", skip_missing=True)
    assert main(["score", "a.txt", "-r", "b.txt", "--skip-missing"]) == 2
    assert capsys.readouterr().err.startswith("karat: --skip-missing is only for tables")


def test_duckdb_sees_the_nulls_that_pyarrow_sees(tmp_path: Path) -> None:
    complete = in_form(ROWS, "parquet", tmp_path)
    for column, gap in (("output", None), ("references", None), ("references", [])):
        rows = [dict(row) for row in ROWS]
        rows[-1][column] = gap
        (piece,) = parquet_pieces(str(in_form(rows, "parquet", tmp_path)))
        other = "references" if column == "output" else "output"
        for has_nulls in (parquet_has_nulls, duckdb_has_nulls):
            assert has_nulls(piece, [column])
            assert not has_nulls(piece, [other, "system", "id"])
    (piece,) = parquet_pieces(str(complete))
    assert not duckdb_has_nulls(piece, ["output", "references"])
