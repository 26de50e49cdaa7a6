"""Recipes over the Arrow hook: Spark's `mapInArrow` and Ray Data give the bits of `kt.score`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from scale.cluster_tasks import pieces_in, write_tables

import karat as kt

METRICS = ["bleu", "chrf"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("recipes")
    write_tables(target)
    return target


def expected(folder: Path) -> dict[tuple[str, str], Any]:
    """The scores of the plain function on lists of strings."""
    import pyarrow.parquet as pq

    rows = [row for p in pieces_in(folder) for row in pq.read_table(p.path).to_pylist()]
    results = {}
    for system in "AB":
        system_rows = [row for row in rows if row["system"] == system]
        texts, references = ([row[c] for row in system_rows] for c in ("candidate", "reference"))
        scored = kt.score({system: texts}, references, METRICS)
        results.update({(system, m): scored[system, m].score for m in METRICS})
    return results


def check(folder: Path, tables: Any) -> None:
    scored = kt.arrow.merge(tables).score()
    expected_scores = expected(folder)
    assert {key: scored[key].score for key in expected_scores} == expected_scores


def test_spark_map_in_arrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").getOrCreate()
    try:
        df = spark.read.parquet(str(folder))

        def sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield pa.record_batch(kt.arrow.sums(batch, METRICS, by="system"))

        check(folder, df.mapInArrow(sums, kt.arrow.SUMS_SCHEMA).toArrow())
    finally:
        spark.stop()


def test_ray_data_map_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    ray.init(
        num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False,
        object_store_memory=200 << 20,
    )  # fmt: skip
    try:
        dataset = ray.data.read_parquet(str(folder)).map_batches(
            lambda table: pa.table(kt.arrow.sums(table, METRICS, by="system")),
            batch_format="pyarrow",
        )
        check(folder, list(dataset.iter_batches(batch_format="pyarrow", batch_size=None)))
    finally:
        ray.shutdown()
