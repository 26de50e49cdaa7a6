"""The same rows as parquet, CSV, TSV and JSON lines have the same statistics and rows."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from karat.arrow.columns import Columns
from karat.arrow.jobs import TableJob
from karat.arrow.pieces import plan_pieces, table_format
from karat.arrow.statistics import TableStatistics
from karat.arrow.tables import sign_metric, sums_table
from karat.errors import InputError
from karat.metrics.names import metric

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ("candidate", "reference", "system", "id")
WORDS = ("the", "cat", 'said "yes"', "naïve", "価格", "a,b", "two\nlines", "tab\there", "")
METRICS = tuple(sign_metric(metric(name)) for name in ("bleu", "chrf", "rougeL"))


def rows(count: int = 5000) -> list[tuple[str, ...]]:
    dice = random.Random(7)
    return [
        (*(" ".join(dice.choices(WORDS, k=6)) for _ in "cr"), dice.choice("AB"), f"s{i // 2}")
        for i in range(count)
    ]


def write(folder: Path, ending: str) -> str:
    path = folder / f"t.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table(list(zip(*rows(), strict=True)), NAMES), path)
    elif ending.startswith("jsonl"):
        lines = [json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows()]
        data = "".join(lines).encode()
        path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    else:
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t" if ending == "tsv" else ",")
            writer.writerows([NAMES, *rows()])
    return str(path)


def measure_file(path: str, out: Path | None = None) -> TableStatistics:
    columns = Columns(("candidate",), ("reference",), "system", "id")
    job = TableJob(columns, METRICS, buckets=16, rows=None if out is None else str(out))
    (piece,) = plan_pieces([path])
    return job.measure_piece(piece, threads=2)


ENDINGS = ("parquet", "csv", "tsv", "jsonl", "jsonl.gz")


def test_statistics_are_equal(tmp_path: Path) -> None:
    sums_tables = [
        pa.table(sums_table(measure_file(write(tmp_path, ending)))) for ending in ENDINGS
    ]
    assert sums_tables[0].num_rows > 2 * len(METRICS)
    for other in sums_tables[1:]:
        assert other.equals(sums_tables[0])


def test_scores_of_rows_are_equal(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    tables = []
    for ending in ("parquet", "csv", "jsonl"):
        measure_file(write(tmp_path, ending), tmp_path / "out")
        (written,) = (tmp_path / "out").iterdir()
        tables.append(pq.read_table(written))
        written.unlink()
    assert [tuple(row[name] for name in NAMES) for row in tables[0].to_pylist()] == rows()
    for other in tables[1:]:
        assert other.column_names == tables[0].column_names
        for name in other.column_names:
            assert other.column(name).equals(tables[0].column(name))
    assert np.ptp(tables[0].column(tables[0].num_columns - 1).to_numpy()) > 0


def test_whole_numbers_as_ids(tmp_path: Path) -> None:
    """Ids of JSON lines may be whole numbers, which count like those of parquet."""
    id_columns = {"candidate": ["a b", "c d"], "reference": [["a b", "x"], ["d"]], "id": [3, 4]}
    pq.write_table(pa.table(id_columns), tmp_path / "t.parquet")
    lines = [
        dict(zip(id_columns, row, strict=True)) for row in zip(*id_columns.values(), strict=True)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    job = TableJob(Columns(id="id"), METRICS, buckets=16)
    results = []
    for ending in ("parquet", "jsonl"):
        (piece,) = plan_pieces([str(tmp_path / f"t.{ending}")])
        results.append(pa.table(sums_table(job.measure_piece(piece))))
    assert results[0].equals(results[1])
    assert results[0].num_rows


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_missing_column_is_refused_even_without_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    path.write_text({"csv": "candidate,x\n", "tsv": "candidate\tx\n"}.get(ending, '{"x": "y"}\n'))
    (piece,) = table_format(str(path)).pieces(str(path))
    with pytest.raises(InputError, match=r"has no column '(reference|candidate)'"):
        TableJob(Columns(), METRICS).measure_piece(piece)
