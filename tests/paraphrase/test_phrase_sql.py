"""Phrases that are counted in SQL, as the documentation says: the table that Karat makes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.paraphrase.align.alignment import align_words
from karat.paraphrase.align.parallel_text import parallel_tokens, read_parallel
from karat.paraphrase.table.moses import read_moses, write_moses
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, PhraseTable
from karat.paraphrase.table.training import extract_phrases, train_pivot

duckdb: Any = pytest.importorskip("duckdb")
pa: Any = pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
SENTENCES = 700


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    """The function and the queries of the section, as they stand there."""
    page = (ROOT / "docs" / "how-to" / "paraphrases.md").read_text("utf-8")
    section = page.split("### Count phrases in SQL", 1)[1]
    code = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    names: dict[str, Any] = {"extract_phrases": extract_phrases}
    exec(code, names)
    return names


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginning of the bundled text."""
    with (ROOT / "src/karat/data/paraphrase/en-fr.tsv").open(encoding="utf-8") as file:
        lines = [next(file) for _ in range(SENTENCES)]
    path = tmp_path_factory.mktemp("text") / "en-fr.tsv"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def counted(recipe: dict[str, Any], text: Path) -> Any:
    """A database with the phrase pairs of a hundred sentences at a time."""
    source, pivot = parallel_tokens([read_parallel(text)], ENGLISH, PIVOT)
    links = align_words(source, pivot).links
    batches = list(recipe["phrase_rows"](source, pivot, links, 100))
    assert len(batches) == SENTENCES // 100
    database = duckdb.connect()
    database.register("phrases", pa.concat_tables(batches))
    return database


@pytest.fixture(scope="module")
def table(text: Path) -> PhraseTable:
    """Karat's own."""
    return train_pivot([read_parallel(text)])


def test_counts_and_probabilities_are_the_same(
    recipe: dict[str, Any], counted: Any, table: PhraseTable, tmp_path: Path
) -> None:
    columns = "phrase, translation, inverse, direct, translation_seen, phrase_seen, seen"
    rows = counted.sql(f"SELECT {columns} FROM ({recipe['PROBABILITIES']})").fetchall()
    write_moses(table, tmp_path / "table.txt")
    expected = {}
    for line in (tmp_path / "table.txt").read_text("utf-8").splitlines():
        source, pivot, scores, _, counts = (part.strip() for part in line.split("|||"))
        inverse, _, direct, _ = map(float, scores.split())
        expected[source, pivot] = (inverse, direct, *map(int, counts.split()))
    assert len(rows) == len(expected) == table.pairs
    assert max(count for *_, count in rows) > 100  # in several batches
    assert {(source, pivot): tuple(values) for source, pivot, *values in rows} == expected


def test_what_the_query_writes_is_the_table(
    recipe: dict[str, Any], counted: Any, table: PhraseTable, tmp_path: Path
) -> None:
    lines = [f"{line}\n" for (line,) in counted.sql(recipe["MOSES"]).fetchall()]
    (tmp_path / "counted.txt").write_text("".join(lines), encoding="utf-8")
    phrase_table = read_moses(tmp_path / "counted.txt", table.about)
    assert list(phrase_table.arrays) == list(table.arrays)
    for name, array in table.arrays.items():
        np.testing.assert_array_equal(phrase_table.arrays[name], array, name)
