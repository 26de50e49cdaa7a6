"""Data frames, lists of dictionaries and data sets: scored as lists are, joined, refused by row."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
import karat.pandas
import karat.polars
from karat.metrics.names import metric

A = ["the cat sat on the mat", "a dog", "it is far", "größer 日本", ""]
B = ["a cat on mat", "the dog ran", "it was far away", "größer", "no"]
R = [["the cat sat on a mat", "x"], ["a dog ran"], ["it is far away"], ["größer 日本"], ["no", "n"]]
WIDE = {"gpt": A, "llama": B, "references": R}
LONG = {
    "model": ["gpt"] * 5 + ["llama"] * 5,
    "segment": [*range(5)] * 2,
    "prediction": A + B,
    "references": R * 2,
}
SHUFFLED = [7, 0, 3, 9, 1, 8, 5, 2, 6, 4]
METRICS = ["bleu", "chrf", "ter"]
QUICK: dict[str, Any] = {"examples": 2}


def dataset(data: dict[str, Any]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict(data)


def chunks(data: dict[str, Any]) -> pa.Table:
    """An Arrow table in several batches."""
    table = pa.table(data)
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 1), table.slice(3)])


def arrays(data: dict[str, Any]) -> pd.DataFrame:
    """References as pandas reads them from parquet: numpy arrays."""
    return pd.DataFrame({**data, "references": [np.array(refs) for refs in data["references"]]})


def records(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with objects": lambda data: pd.DataFrame(data).astype(object),
    "pandas with arrays": arrays,
    "pandas in Arrow": lambda data: chunks(data).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "pyarrow": chunks,
    "a record batch": pa.RecordBatch.from_pydict,
    "datasets": dataset,
    "records": records,
}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def scores(scoring: kt.Scoring) -> list[tuple[Any, ...]]:
    return [(row.system, row.metric, row.score, row.low, row.high) for row in scoring.rows]


def column(table: Any, name: str) -> list[Any]:
    if isinstance(table, list):
        return [row[name] for row in table]
    column_values = table[name]
    return list(column_values.to_pylist() if hasattr(column_values, "to_pylist") else column_values)


# ---------------------------------------------------------------------------- as lists are scored


@every_frame
def test_a_wide_table_is_scored_as_lists_are(make: Callable[[dict[str, Any]], Any]) -> None:
    expected = kt.score({"gpt": A, "llama": B}, R, METRICS, segments=True, intervals=True)
    scoring = kt.score(
        make(WIDE), candidate=["gpt", "llama"], metrics=METRICS, segments=True, intervals=True
    )
    assert scores(scoring) == scores(expected)
    assert scoring.values.keys() == expected.values.keys()
    for key, values in expected.values.items():
        assert scoring.values[key].tolist() == values.tolist()


@every_frame
def test_a_wide_table_is_compared_as_lists_are(make: Callable[[dict[str, Any]], Any]) -> None:
    expected = kt.compare({"llama": B, "gpt": A}, R, METRICS, **QUICK)
    comparison = kt.compare(make(WIDE), candidate=["llama", "gpt"], metrics=METRICS, **QUICK)
    assert comparison.baseline == "llama"
    assert comparison.rows == expected.rows
    assert comparison.examples == expected.examples


@every_frame
def test_a_long_table_in_any_order_is_scored_as_lists_are(
    make: Callable[[dict[str, Any]], Any],
) -> None:
    table = make({name: [values[i] for i in SHUFFLED] for name, values in LONG.items()})
    expected = kt.score({"gpt": A, "llama": B}, R, METRICS, intervals=True)
    scoring = kt.score(table, metrics=METRICS, by="model", id="segment", intervals=True)
    assert scores(scoring) == scores(expected)
    compared = kt.compare(table, metrics=METRICS, by="model", id="segment", **QUICK)
    assert compared.rows == kt.compare({"gpt": A, "llama": B}, R, METRICS, **QUICK).rows


@every_frame
def test_scores_come_back_as_columns_of_the_same_table(
    make: Callable[[dict[str, Any]], Any],
) -> None:
    shuffled = {name: [values[i] for i in SHUFFLED] for name, values in LONG.items()}
    table = make(shuffled)
    joined = kt.score(table, metrics=METRICS, by="model", segments=True).join()
    assert type(joined) is type(table)
    assert column(joined, "prediction") == shuffled["prediction"]
    for name in ("bleu:eff=yes", "chrf", "ter"):
        expected = metric(name).segments(A + B, R * 2).tolist()
        assert column(joined, name) == [expected[i] for i in SHUFFLED]
    wide = kt.score(make(WIDE), candidate=["gpt", "llama"], metrics="chrf", segments=True).join()
    for name, texts in (("gpt", A), ("llama", B)):
        assert column(wide, f"{name}/chrf") == metric("chrf").segments(texts, R).tolist()


def test_a_duckdb_relation_is_scored_and_has_no_rows_to_join() -> None:
    relation = duckdb.from_arrow(chunks(WIDE))
    scoring = kt.score(relation, candidate="gpt", segments=True)
    assert scoring.rows[0].score.value == kt.score(A, R).rows[0].score.value
    with pytest.raises(kt.InputError, match="a DuckDBPyRelation cannot be joined with its scores"):
        scoring.join()


def test_a_stream_is_read_once() -> None:
    stream = chunks(WIDE).to_reader()
    scoring = kt.score(stream, candidate="gpt", segments=True)
    assert scoring.rows[0].score.value == kt.score(A, R).rows[0].score.value
    with pytest.raises(kt.InputError, match="a RecordBatchReader cannot be joined"):
        scoring.join()


def test_a_streamed_data_set_is_scored() -> None:
    stream = dataset(WIDE).to_iterable_dataset()
    scoring = kt.score(stream, candidate="gpt", segments=True)
    assert scoring.rows[0].score.value == kt.score(A, R).rows[0].score.value
    with pytest.raises(kt.InputError, match="a streamed data set cannot be joined"):
        scoring.join()


def test_rows_of_a_data_set_that_were_selected_keep_their_order() -> None:
    chosen = dataset(WIDE).select([3, 0, 2])
    joined = kt.score(chosen, candidate="gpt", metrics="chrf", segments=True).join()
    assert list(joined["chrf"]) == metric("chrf").segments(A, R)[[3, 0, 2]].tolist()


def test_single_columns_are_texts_as_before() -> None:
    for frame in (pd.DataFrame(WIDE), arrays(WIDE)):
        scoring = kt.score(frame["gpt"], frame["references"], METRICS)
        assert scores(scoring) == scores(kt.score(A, R, METRICS))
    scoring = kt.score(pl.DataFrame(WIDE)["gpt"], pl.DataFrame(WIDE)["references"].to_list())
    assert scores(scoring) == scores(kt.score(A, R))


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), min_size=1, max_size=3)), min_size=1))
def test_any_texts_give_the_same_scores_in_any_frame(rows: list[tuple[str, list[str]]]) -> None:
    texts, refs = [text for text, _ in rows], [refs for _, refs in rows]
    try:
        expected = scores(kt.score(texts, refs, ["chrf", "ter"]))
    except kt.InputError:  # half of a surrogate pair
        return
    data = {"output": texts, "references": refs}
    for make in (pd.DataFrame, records, pl.DataFrame):
        assert scores(kt.score(make(data), metrics=["chrf", "ter"])) == expected


# ---------------------------------------------------------------------------- kinds of columns


@pytest.mark.parametrize("kind", ["category", "string[python]", "string[pyarrow]", object, "str"])
def test_every_kind_of_text_of_pandas(kind: Any) -> None:
    frame = pd.DataFrame({"output": pd.Series(A[:3], dtype=kind), "reference": R[0] + R[1]})
    expected = kt.score(A[:3], R[0] + R[1], METRICS)
    assert scores(kt.score(frame, metrics=METRICS)) == scores(expected)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(A[:3])])
def test_every_kind_of_text_of_polars(kind: Any) -> None:
    frame = pl.DataFrame({"output": pl.Series(A[:3], dtype=kind), "reference": R[0] + R[1]})
    assert scores(kt.score(frame)) == scores(kt.score(A[:3], R[0] + R[1]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_kind_of_text_of_arrow(kind: Any) -> None:
    table = pa.table({"output": pa.array(A[:3], kind), "reference": R[0] + R[1]})
    assert scores(kt.score(table)) == scores(kt.score(A[:3], R[0] + R[1]))


@pytest.mark.parametrize(
    ("systems", "names"),
    [([1, 1, 2], ["1", "2"]), ([True, False, True], ["false", "true"]), (["b", "a", "b"], "ab")],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, records])
def test_systems_by_number_or_truth(make: Any, systems: list[Any], names: Any) -> None:
    frame = make({"output": A[:3], "reference": B[:3], "by": systems})
    assert [row.system for row in kt.score(frame, by="by").rows] == [*names]


def test_several_columns_of_references() -> None:
    frame = pd.DataFrame({"output": A[:3], "first": B[:3], "second": R[0] + R[1]})
    expected = kt.score(A[:3], list(zip(B[:3], R[0] + R[1], strict=True)))
    assert scores(kt.score(frame, reference=["first", "second"])) == scores(expected)


def test_texts_among_lists_are_lists_of_one() -> None:
    mixed = [R[0], "a dog ran", tuple(R[2])]
    frame = pd.DataFrame({"output": A[:3], "references": mixed})
    assert scores(kt.score(frame)) == scores(kt.score(A[:3], R[:3]))


# ---------------------------------------------------------------------------- frames stay as given


def test_a_frame_with_a_duplicate_index_keeps_it() -> None:
    frame = pd.DataFrame(WIDE, index=["x", "x", "y", "y", "x"])
    joined = frame.karat.segments("chrf", candidate="gpt")
    assert list(joined.index) == ["x", "x", "y", "y", "x"]
    assert (
        joined["chrf"].tolist()
        == kt.score(A, R, "chrf", segments=True).values["candidate", metric("chrf")].tolist()
    )
    assert "chrf" not in frame.columns


def test_a_frame_that_is_changed_later_is_joined_as_it_was() -> None:
    frame = pd.DataFrame(WIDE)
    scoring = kt.score(frame, candidate="gpt", metrics="chrf", segments=True)
    frame.insert(0, "gpt2", frame.pop("gpt"))
    frame["new"] = 1
    joined = scoring.join()
    assert joined["gpt"].tolist() == A
    assert "new" not in joined.columns


def test_a_column_of_the_name_is_not_overwritten() -> None:
    frame = pd.DataFrame({**WIDE, "chrf": [1.0] * 5})
    scoring = kt.score(frame, candidate="gpt", metrics="chrf", segments=True)
    with pytest.raises(kt.InputError, match="has a column 'chrf' already, where the scores would"):
        scoring.join()


def test_accessors() -> None:
    for frame in (pd.DataFrame(WIDE), pl.DataFrame(WIDE)):
        scoring = frame.karat.score(["chrf"], candidate=["gpt", "llama"])
        assert scores(scoring) == scores(kt.score({"gpt": A, "llama": B}, R, ["chrf"]))
        compared = frame.karat.compare("chrf", candidate=["gpt", "llama"], **QUICK)
        assert compared.rows == kt.compare({"gpt": A, "llama": B}, R, "chrf", **QUICK).rows
        joined = frame.karat.segments(["bleu", "chrf"], candidate="llama")
        assert list(joined.columns) == ["gpt", "llama", "references", "bleu:eff=yes", "chrf"]
    assert karat.pandas.__name__ == "karat.pandas"
    assert karat.polars.__name__ == "karat.polars"


WITHOUT = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd, numpy as np, karat as kt
frame = pd.DataFrame({"output": ["a b c", "d e"], "references": [np.array(["a b"]), ["d e", "f"]],
                      "model": ["x", "y"]}, index=["p", "q"])
found = kt.score(frame, by="model", metrics=["chrf"], segments=True)
print([row.score.value for row in found.rows] == [
    kt.score(["a b c"], [["a b"]], "chrf").rows[0].score.value,
    kt.score(["d e"], [["d e", "f"]], "chrf").rows[0].score.value])
print(found.join().columns.tolist(), found.join().index.tolist())
frame.loc["q", "output"] = None
try:
    kt.score(frame)
except kt.InputError as error:
    print(error)
"""


def test_pandas_without_pyarrow() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    unchanged, columns, refused = done.stdout.splitlines()
    assert unchanged == "True"
    assert columns == "['output', 'references', 'model', 'chrf'] ['p', 'q']"
    assert refused == (
        "table, row 2 (index 'q'): column 'output' is null; every row needs a text: drop the "
        "row, fill it in, or skip rows without a candidate or a reference (--skip-missing, in "
        "Python skip_missing=True)"
    )


# ---------------------------------------------------------------------------- refused


def frame(**more: Any) -> pd.DataFrame:
    data = {"output": A[:2], "reference": B[:2], "model": ["a", "b"], **more}
    return pd.DataFrame(data, index=["q7", "q9"])


NAMED = {"candidate": "output", "reference": "reference"}
REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "missing": (frame(output=["a", None]), {}, r"row 2 \(index 'q9'\): column 'output' is null"),
    "NaN": (
        frame(reference=[float("nan"), "b"]),
        {},
        r"row 1 \(index 'q7'\): column 'reference' is null; every row needs at least one reference",
    ),
    "NA": (
        pd.DataFrame({"output": pd.array(["a", pd.NA], dtype="string"), "reference": B[:2]}),
        {},
        r"row 2 \(index 1\): column 'output' is null",
    ),
    "null in a list": (
        frame(reference=[["a"], ["b", None]]),
        {},
        r"row 2 \(index 'q9'\): column 'reference' is a list that holds null",
    ),
    "empty list": (frame(reference=[["a"], []]), {}, r"\(index 'q9'\).* is an empty list"),
    "empty array": (
        frame(reference=[np.array(["a"]), np.array([], object)]),
        {},
        r"\(index 'q9'\): column 'reference' is an empty list",
    ),
    "too deep": (
        frame(reference=[[["a"]], [["b"]]]),
        {},
        "column 'reference' holds lists of lists of text, expected text or lists of text",
    ),
    "too deep later": (
        frame(reference=[["a"], [["b"]]]),
        {},
        r"row 2 \(index 'q9'\): column 'reference' is a list that holds a list that holds texts",
    ),
    "lists of candidates": (
        frame(output=[["a"], ["b"]]),
        NAMED,
        "column 'output' holds lists of text, expected text",
    ),
    "numbers": (frame(output=[1, 2]), NAMED, "column 'output' holds whole numbers, expected text"),
    "floats": (frame(output=[1.5, 2]), NAMED, "column 'output' holds floats, expected text"),
    "a number among texts": (
        frame(output=["a", 7]),
        NAMED,
        r"row 2 \(index 'q9'\): column 'output' is 7 \(whole number\); every row needs a text",
    ),
    "all missing": (
        frame(output=[None, None]),
        NAMED,
        "column 'output' holds nulls, expected text",
    ),
    "no such column": (
        frame(),
        {"candidate": "outputs"},
        r"table has no column 'outputs'; did you mean output\? \(it has output, reference, model\)",
    ),
    "no such system column": (frame(), {"by": "modle"}, "no column 'modle'; did you mean model"),
    "a column twice": (
        pd.concat([frame(), frame()[["output"]]], axis=1),
        {"candidate": "output"},
        "table has two columns 'output': rename one of them",
    ),
    "a system named by floats": (frame(model=[1.5, 2.5]), {"by": "model"}, "holds floats"),
    "dates": (
        frame(model=pd.to_datetime(["2026-01-01", "2026-01-02"])),
        {"by": "model"},
        "column 'model' holds dates or times",
    ),
    "empty": (frame().head(0), {}, "table has no rows"),
    "empty, Polars": (pl.DataFrame({"output": [], "reference": []}), {}, "holds nulls|no rows"),
    "no columns": (
        pd.DataFrame(),
        {},
        "table has no columns",
    ),
    "columns without names": (pd.DataFrame([[1, 2]]), {}, "its columns are named by int, as in 0"),
    "wide and long": (
        frame(),
        {"candidate": ["output", "model"], "by": "model"},
        "2 columns of candidates and a column of systems",
    ),
    "a column is named twice": (
        frame(),
        {"candidate": ["output", "output"]},
        "column 'output' is named twice",
    ),
    "no columns named": (frame(), {"candidate": []}, "no column of candidates was named"),
    "a column as a number": (frame(), {"candidate": 0}, "a column is named by int 0, expected a s"),
    "its own reference": (
        frame(),
        {"candidate": ["model", "output"], "reference": "output"},
        "column 'output' is named as candidate and as reference",
    ),
    "references twice": (
        frame(),
        {"references": B[:2]},
        "a table has its references in a column: leave references out, and name the column",
    ),
    "a lazy frame": (pl.LazyFrame({"output": A}), {}, r"LazyFrame: collect\(\) it first"),
    "tables by name": (
        {"train": frame()},
        {},
        r"systems\['train'\] is a table: expected one table, or texts by system",
    ),
    "columns of texts": (A, {"references": B, "by": "model"}, "by= names a column of a table"),
    "a record lacks a name": (
        [{"output": "a", "reference": "b"}, {"output": "a"}],
        {},
        r"row 2 \(index 1\): expected a dictionary with 'reference', and it is missing",
    ),
    "a record is none": (
        [{"output": "a", "reference": "b"}, "a"],
        {},
        r"row 2 \(index 1\): expected a dictionary with 'output', and it is str",
    ),
    "a column of references twice": (
        frame(),
        {"reference": ["reference", "reference"]},
        "column 'reference' is named twice: it would be two references",
    ),
    "two columns of one name": (
        pd.DataFrame([["a", "b", "c"]], columns=["output", "reference", "reference"]),
        {},
        "table has two columns 'reference': rename one of them",
    ),
    "texts as systems": (
        frame(),
        {"by": "output"},
        r"column 'output' is named as text and as system \(by\)",
    ),
    "columns of several levels": (
        pd.DataFrame([["a", "b"]], columns=pd.MultiIndex.from_product([["x"], ["o", "r"]])),
        {"candidate": ("x", "o")},
        r"its columns are named by tuple, as in \('x', 'o'\), expected str: rename them",
    ),
    "a huge id": (
        frame().assign(id=[1 << 70, 1]),
        {"id": "id", "intervals": True},
        "every row needs a number of at most 64 bits, or a text",
    ),
    "long without ids": (
        frame(),
        {"by": "model", "intervals": True},
        "intervals and tests on tables need ids",
    ),
}


def test_an_array_without_dimensions_is_one_text() -> None:
    table = pd.DataFrame({"output": ["a b"], "reference": [np.array("a b")]}, dtype=object)
    assert kt.score(table, metrics="chrf").rows[0].score.value == 100


@pytest.mark.parametrize(("table", "settings", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_scored_is_refused_in_one_sentence(
    table: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(kt.InputError, match=message) as caught:
        kt.score(table, **settings)
    assert "\n" not in str(caught.value)


def test_splits_of_a_data_set_are_refused() -> None:
    splits = pytest.importorskip("datasets").DatasetDict({"test": dataset(WIDE)})
    with pytest.raises(kt.InputError, match=r"systems\['test'\] is a table"):
        kt.score(splits)


def test_scores_of_texts_have_no_table_to_join() -> None:
    with pytest.raises(kt.InputError, match="no table to join the scores to"):
        kt.score(A, R, segments=True).join()


# ---------------------------------------------------------------------------- files


def test_files_of_tables_go_through_the_same_door(tmp_path: Path) -> None:
    table = pa.table(LONG)
    pq.write_table(table, tmp_path / "t.parquet")
    with (tmp_path / "t.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in records(LONG))
    expected = scores(kt.score(table, metrics=METRICS, by="model", id="segment", intervals=True))
    for name in ("t.parquet", "t.jsonl"):
        for path in (tmp_path / name, str(tmp_path / name), [tmp_path / name]):
            scoring = kt.score(path, metrics=METRICS, by="model", id="segment", intervals=True)
            assert scores(scoring) == expected
    names = {"candidate": "prediction", "reference": "references"}
    assert scores(kt.score(tmp_path / "t.jsonl", **names)) == scores(kt.score(table, **names))
    with pytest.raises(kt.InputError, match=r"no output for 1 of 5 segments.*skip-missing"):
        kt.score(tmp_path / "t.jsonl")  # the column of systems is detected
    with pytest.raises(kt.InputError, match="no table to join the scores to"):
        kt.score(tmp_path / "t.parquet", segments=True, **names).join()


def test_the_rows_of_one_wide_file_are_segments(tmp_path: Path) -> None:
    pq.write_table(pa.table(WIDE), tmp_path / "t.parquet", row_group_size=2)
    comparison = kt.compare(tmp_path / "t.parquet", candidate=["gpt", "llama"], **QUICK)
    expected = kt.compare({"gpt": A, "llama": B}, R, **QUICK)
    assert (comparison.rows, comparison.examples) == (expected.rows, expected.examples)
    pq.write_table(pa.table(WIDE), tmp_path / "u.parquet")
    with pytest.raises(kt.InputError, match="need ids"):
        kt.compare(tmp_path, candidate=["gpt", "llama"], **QUICK)


def test_an_evaluation_set_in_a_file_is_still_one(tmp_path: Path) -> None:
    kt.convert_evalset("demo", tmp_path / "set.jsonl")
    assert scores(kt.score(tmp_path / "set.jsonl")) == scores(kt.score("demo"))


@pytest.mark.usefixtures("karat_data")
def test_a_real_set_as_a_wide_and_as_a_long_frame() -> None:
    systems, references = kt.load_evalset("ted-zhen").texts()
    expected = scores(kt.score(systems, references, ["chrf"], intervals=True))
    wide = pd.DataFrame({**systems, "references": list(references)})
    scoring = kt.score(wide, candidate=[*systems], metrics="chrf", intervals=True)
    assert scores(scoring) == expected
    melted = {"id_vars": ["segment", "references"], "var_name": "system", "value_name": "output"}
    long = pl.from_pandas(wide.rename_axis("segment").reset_index().melt(**melted))
    shuffled = long.sample(fraction=1, shuffle=True, seed=1)
    scoring = kt.score(shuffled, metrics="chrf", by="system", id="segment", intervals=True)
    assert sorted(map(str, scores(scoring))) == sorted(map(str, expected))
