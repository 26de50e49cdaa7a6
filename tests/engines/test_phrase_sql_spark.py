"""The query of the documentation that counts phrases gives on Spark what it gives elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "paraphrases.md"
PHRASES = [
    ("the house", "la maison", 3),
    ("the house", "la maison", 2),
    ("the house", "maison", 2),
    ("house", "maison", 4),
    ("a house", "une maison", 1),
]
WANTED = {  # seen, phrase_seen, translation_seen, direct, inverse
    ("the house", "la maison"): (5, 7, 5, 5 / 7, 1.0),
    ("the house", "maison"): (2, 7, 6, 2 / 7, 2 / 6),
    ("house", "maison"): (4, 4, 6, 1.0, 4 / 6),
    ("a house", "une maison"): (1, 1, 1, 1.0, 1.0),
}


def query() -> str:
    """The query as it stands in the documentation."""
    section = PAGE.read_text("utf-8").split("### Count phrases in SQL", 1)[1]
    return re.findall(r'PROBABILITIES = """(.*?)"""', section, re.DOTALL)[0]


def test_counts_and_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark: Any = builder.config("spark.log.level", "OFF").getOrCreate()
    try:
        names = ("phrase", "translation", "seen")
        columns = dict(zip(names, map(list, zip(*PHRASES, strict=True)), strict=True))
        spark.createDataFrame(pa.table(columns)).createOrReplaceTempView("phrases")
        chosen = "phrase, translation, seen, phrase_seen, translation_seen, direct, inverse"
        rows = spark.sql(f"SELECT {chosen} FROM ({query()})").collect()
    finally:
        spark.stop()
    assert {(row[0], row[1]): tuple(row[2:]) for row in rows} == WANTED
