"""Any partition of the rows, any order, any number of threads, any retry: the same bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.strategies import easy_text, hard_text

import karat as kt
from karat.metrics.names import METRICS

TREES = (
    "generation_tree_accuracy",
    "quality_accuracy",
    "simple_tree_accuracy",
    "understandability_accuracy",
)
"""Metrics of dependency trees: a table has none."""
MODEL = resources.files("karat") / "data" / "paraphrase" / "model.npz"
EVERY = [
    {"pivot_f1": f"pivot_f1:table={MODEL}", "regex": 'regex:pattern="[aeiou], |\\d"'}.get(
        name, name
    )
    for name in METRICS.entries()
    if name
    not in (*TREES, "given", "estimate", "bertscore", "cosine", "entail", "number", "support")
    # these have tests
]
COSINE = pytest.param(
    "cosine:model=wordllama",
    marks=pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is not installed"),
)
MORE = [
    COSINE,
    *(
        "bleu:tok=intl,smooth=add-k",
        "aev:refs=best,alpha=0.3",
        "aev:preset=paper,stop_scope=unigrams",
    ),
    *(
        "chrf++",
        "chrf:eps=yes",
        "gtm:e=1.5",
        "gtm:e=2,search=exact",
        "rouge2:stem=porter-nltk,stop=en",
    ),
    *("rouge3", "ter:norm=yes", "wer"),
]

text = st.one_of(easy_text, easy_text, hard_text).map(
    lambda text: text.encode("utf-8", "ignore").decode()
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A long table of two systems on the same segments, with one or more references each."""
    count = draw(st.integers(1, 6))
    references = draw(
        st.lists(st.lists(text, min_size=1, max_size=3), min_size=count, max_size=count)
    )
    outputs = draw(st.lists(text, min_size=2 * count, max_size=2 * count))
    return pa.table(
        {
            "candidate": outputs,
            "reference": references + references,
            "system": ["A"] * count + ["B"] * count,
            "id": [*range(count)] * 2,
        }
    )


def partition(table: pa.Table, order: Sequence[int], cuts: Sequence[int]) -> list[pa.Table]:
    mixed = table.take(list(order))
    ends = [0, *sorted(cuts), len(table)]
    return [mixed.slice(a, b - a) for a, b in pairwise(ends) if b > a]


@pytest.fixture(autouse=True, scope="module")
def short_ranges() -> Iterator[None]:
    """Ranges of two rows, so that several threads have some of a small table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.arrow.batches.ROWS_PER_RANGE", 2)
        yield


HOW: dict[str, Any] = {"by": "system", "id": "id"}


def result_rows(result: Any) -> list[Any]:
    """Every number of a result, to the last bit."""
    numbers = [[getattr(row, name) for name in row._fields] for row in result.rows]
    parts = [dict(row.score.parts) for row in result.rows]
    return [repr(numbers), repr(parts), result.signature]


ADDITIVE = [*(name for name in EVERY if not kt.metric(name).by_unit), *MORE]
"""Metrics whose scores need only sums; means over questions need rows."""


@pytest.mark.parametrize("name", ADDITIVE, ids=lambda name: name.partition("=/")[0])
@given(table=tables(), data=st.data())
@settings(max_examples=8)
def test_any_partition_order_threads_and_retry(name: str, table: pa.Table, data: Any) -> None:
    size = len(table)
    order = data.draw(st.permutations(range(size)))
    cuts = data.draw(st.lists(st.integers(0, size), max_size=4))
    threads = data.draw(st.sampled_from([1, 2, 3]))
    parts = partition(table, order, cuts)
    summed = [kt.arrow.sums(part, name, **HOW, threads=threads) for part in parts]
    again = data.draw(st.integers(0, len(parts) - 1))
    summed[again] = kt.arrow.sums(parts[again], name, **HOW)  # its worker died
    merged = kt.arrow.merge(summed)
    merged_whole = kt.arrow.merge(kt.arrow.sums(table, name, **HOW))
    assert result_rows(merged.score()) == result_rows(merged_whole.score())
    halves = (
        [kt.arrow.merge(summed[:1]), kt.arrow.merge(summed[1:])] if len(parts) > 1 else [merged]
    )
    assert result_rows(kt.arrow.merge(halves).score()) == result_rows(merged_whole.score())

    rows = table.to_pydict()
    count = size // 2
    systems = {"A": rows["candidate"][:count], "B": rows["candidate"][count:]}
    given_texts = kt.score(systems, rows["reference"][:count], name)
    assert result_rows(merged_whole.score()) == result_rows(given_texts)


TESTS = {
    "jackknife": None,
    "sacrebleu-bootstrap": 20,
    "sacrebleu-ar": 20,
}
"""Tests, and their numbers of trials."""


@pytest.mark.parametrize("test", TESTS)
@given(table=tables(), data=st.data())
@settings(max_examples=8)
def test_intervals_and_tests_are_those_of_lists(test: str, table: pa.Table, data: Any) -> None:
    metrics = ["bleu", "rougeL", "gtm", "ter"]
    order = data.draw(st.permutations(range(len(table))))
    parts = partition(table, order, data.draw(st.lists(st.integers(0, len(table)), max_size=3)))
    rows, count = table.to_pydict(), len(table) // 2
    systems = {"A": rows["candidate"][:count], "B": rows["candidate"][count:]}
    call_settings: dict[str, Any] = {"test": test, "trials": TESTS[test]}
    expected = kt.compare(systems, rows["reference"][:count], metrics, **call_settings)
    merged_rows = kt.arrow.merge([kt.arrow.stats(part, metrics, **HOW) for part in parts])
    assert result_rows(merged_rows.compare(**call_settings)) == result_rows(expected)
    if count >= 2:
        expected_result = kt.compare(
            systems, rows["reference"][:count], metrics, **call_settings, buckets=2
        )
        sums = [kt.arrow.sums(part, metrics, **HOW, buckets=2) for part in parts]
        merged = kt.arrow.merge(sums).compare(**call_settings)
        counts = ("wins", "losses", "ties")
        without = [row._replace(**dict.fromkeys(counts)) for row in expected_result.rows]
        assert repr([*merged.rows]) == repr(without)
        assert merged.signature == expected_result.signature


@given(table=tables(), data=st.data())
@settings(max_examples=10)
def test_tables_of_sums_are_the_same_bytes(table: pa.Table, data: Any) -> None:
    metrics = ["rougeL", "gtm", "chrf"]
    order = data.draw(st.permutations(range(len(table))))
    parts = partition(table, order, data.draw(st.lists(st.integers(0, len(table)), max_size=3)))
    merged_parts = kt.arrow.merge([kt.arrow.sums(p, metrics, **HOW, buckets=4) for p in parts])
    merged_whole = kt.arrow.merge(kt.arrow.sums(table, metrics, **HOW, buckets=4))

    def canonical(merged: kt.arrow.TableStatistics) -> Any:
        return pa.table(merged).sort_by([(c, "ascending") for c in ("system", "metric", "bucket")])

    assert canonical(merged_parts) == canonical(merged_whole)
