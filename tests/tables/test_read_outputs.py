"""`read_outputs`: several files, repeated and missing rows, sets without texts, sets as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.evalset.loading import as_evalset


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


ONE = lines(
    {"id": "a", "question": "q1?", "response": "x one"},
    {"id": "b", "question": "q2?", "response": "y"},
)
TURNED = lines(
    {"id": "b", "question": "q2?", "response": "y two"},
    {"id": "a", "question": "q1?", "response": "x"},
)


def test_files_are_systems_aligned_by_id(write: Any) -> None:
    files = [write("v1.jsonl", ONE), write("v2.jsonl", TURNED)]
    evalset = kt.read_outputs(files)
    assert evalset.segments == ("a", "b")
    assert evalset.systems == {"v1": ("x one", "y"), "v2": ("x", "y two")}
    named = kt.read_outputs({"base": files[0], "new": files[1]})
    assert [*named.systems] == ["base", "new"]


def test_files_of_one_name_are_named_with_their_folders(write: Any) -> None:
    files = [write("a/out.jsonl", ONE), write("b/out.jsonl", TURNED)]
    assert [*kt.read_outputs(files).systems] == ["a/out", "b/out"]


def test_files_with_different_ids(write: Any) -> None:
    third = lines({"id": "b", "response": "z"}, {"id": "c", "response": "w"})
    files = [write("v1.jsonl", ONE), write("v3.jsonl", third)]
    expected = (
        r"different ids: 1 only in .*v1.jsonl \('a'\); 1 only in .*v3.jsonl \('c'\): "
        r"--skip-missing compares the 1 that they share"
    )
    with pytest.raises(kt.InputError, match=expected):
        kt.read_outputs(files)
    shared = kt.read_outputs(files, skip_missing=True)
    assert shared.segments == ("b",)
    assert shared.systems == {"v1": ("y",), "v3": ("z",)}


def test_files_without_ids_are_aligned_by_their_questions(write: Any) -> None:
    without = [text.replace('"id"', '"comment"') for text in (ONE, TURNED)]
    evalset = kt.read_outputs([write("v1.jsonl", without[0]), write("v2.jsonl", without[1])])
    assert evalset.systems == {"v1": ("x one", "y"), "v2": ("x", "y two")}
    assert "files are aligned by question" in evalset.remarks


def test_ids_of_runs_do_not_align_files(write: Any) -> None:
    other_ids = TURNED.replace('"b"', '"u"').replace('"a"', '"v"')
    evalset = kt.read_outputs([write("v1.jsonl", ONE), write("v2.jsonl", other_ids)])
    assert evalset.systems == {"v1": ("x one", "y"), "v2": ("x", "y two")}


def test_files_by_row_only_if_their_texts_agree(write: Any) -> None:
    first = write("a.csv", "question,response\nsame,x\nsame,y\n")
    second = write("b.csv", "question,response\nsame,u\nsame,v\n")
    assert kt.read_outputs([first, second]).systems == {"a": ("x", "y"), "b": ("u", "v")}
    third = write("c.csv", "question,response\nsame,u\nother,v\nother,w\n")
    with pytest.raises(kt.InputError, match=r"c.csv has 3 rows and .*a.csv 2, without ids"):
        kt.read_outputs([first, third])
    fourth = write("d.csv", "question,response\nother,u\nother,v\n")
    with pytest.raises(kt.InputError, match=r"d.csv, line 2: the question 'other' differs"):
        kt.read_outputs([first, fourth])
    with pytest.raises(kt.InputError, match=r"a.csv: no ids, and other files have them"):
        kt.read_outputs([first, write("v1.jsonl", ONE)])


MISSING = "id,response,reference\n1,x,\n2,,y\n3,z,z\n"


def test_missing_cells_stay_missing(write: Any) -> None:
    evalset = kt.read_outputs(write("e.csv", MISSING))
    assert evalset.systems == {"e": ("x", None, "z")}
    assert evalset.references == ((), ("y",), ("z",))
    assert "1 of 3 outputs is missing" in evalset.remarks
    assert "1 of 3 segments has no reference" in evalset.remarks


def test_skip_missing(write: Any) -> None:
    evalset = kt.read_outputs(write("e.csv", MISSING), skip_missing=True)
    assert evalset.segments == ("3",)
    skipped = "2 segments are left out: 1 without an output of every system, 1 without a reference"
    assert skipped in evalset.remarks
    with pytest.raises(kt.InputError, match="all 2 segments lack"):
        kt.read_outputs(write("f.csv", "id,response,reference\n1,,y\n2,z,\n"), skip_missing=True)


def test_balanced_repetition_is_repeated_answers(write: Any) -> None:
    table = "id,response,reference\n1,x,x\n1,y,x\n2,z,z\n2,w,z\n"
    evalset = kt.read_outputs(write("b.csv", table))
    assert evalset.segments == ("1/1", "1/2", "2/1", "2/2")
    assert evalset.groups == ("1", "1", "2", "2")
    assert evalset.systems == {"b": ("x", "y", "z", "w")}


def test_an_epoch_column_numbers_the_answers(write: Any) -> None:
    table = "id,epoch,response\n1,1,x\n1,2,y\n2,2,w\n2,1,z\n"
    evalset = kt.read_outputs(write("b.csv", table))
    assert dict(zip(evalset.segments, evalset.systems["b"], strict=True)) == {
        "1/1": "x",
        "1/2": "y",
        "2/1": "z",
        "2/2": "w",
    }


def test_other_repetition_is_refused(write: Any) -> None:
    file = write("b.csv", "id,response,reference\n1,x,x\n1,y,x\n2,z,z\n")
    problem = r"b.csv, line 3: the id '1' of b again \(first in .*b.csv, line 2\)"
    with pytest.raises(kt.InputError, match=problem):
        kt.read_outputs(file)
    assert kt.read_outputs(file, repeats="answers").segments == ("1/1", "1/2", "2/1")
    assert kt.read_outputs(file, repeats="first").systems == {"b": ("x", "z")}
    assert kt.read_outputs(file, repeats="last").systems == {"b": ("y", "z")}


def test_different_texts_of_one_id_are_refused(write: Any) -> None:
    table = "id,system,response,reference\n1,A,x,foo\n1,B,y,bar\n2,A,z,q\n2,B,w,q\n"
    problem = r"line 3: the reference 'bar' of id '1' differs from 'foo' in .*line 2"
    with pytest.raises(kt.InputError, match=problem):
        kt.read_outputs(write("r.csv", table))


def test_lists_of_references(write: Any) -> None:
    records = lines(
        {"response": "a", "references": ["x", "", "y"]},
        {"response": 3, "references": ["z"]},
        {"response": True, "references": []},
    )
    evalset = kt.read_outputs(write("l.jsonl", records))
    assert evalset.references == (("x", "y"), ("z",), ())
    assert evalset.systems == {"l": ("a", "3", "true")}
    python_lists = "response,references\na,\"['x', 'y']\"\nb,['z']\n"
    assert kt.read_outputs(write("l.csv", python_lists)).references == (("x", "y"), ("z",))
    text = kt.read_outputs(write("m.csv", "response,reference\na,[x] y\nb,z\n"))
    assert text.references == (("[x] y",), ("z",))


RATINGS = "item,model,alice,bob\n" + "".join(
    f"{item},{model},{value},{6 - value}\n"
    for model, values in {"A": (4, 2, 5), "B": (5, 1, 3)}.items()
    for item, value in enumerate(values, 1)
)


def test_ratings_without_texts(write: Any, tmp_path: Path) -> None:
    evalset = kt.read_outputs(write("r.csv", RATINGS))
    assert not evalset.has_texts
    assert evalset.human("score").tolist() == [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]
    assert evalset.judgements.judges == ("alice", "bob")
    with pytest.raises(kt.InputError, match="has ratings or scores and no texts"):
        evalset.outputs()
    for name in ("copy.jsonl", "folder"):
        kt.save_evalset(evalset, tmp_path / name)
        copy = kt.load_evalset(tmp_path / name)
        assert copy.digest == evalset.digest
        assert len(copy.judgements) == 12


def test_a_text_that_is_missing_cannot_be_rated(write: Any) -> None:
    table = "item,output,alice\n1,foo bar,4\n2,,5\n"
    with pytest.raises(kt.InputError, match=r"line 3: a judgement of .* which has no output"):
        kt.read_outputs(write("r.csv", table))


def test_contexts_are_kept(tmp_path: Path) -> None:
    records = [
        {"question": "a?", "response": "x", "contexts": ["p", "q"]},
        {"question": "b?", "response": "y", "contexts": []},
    ]
    evalset = kt.read_outputs(records)
    assert evalset.contexts == (("p", "q"), ())
    for name in ("copy.jsonl", "folder"):
        kt.save_evalset(evalset, tmp_path / name)
        copy = kt.load_evalset(tmp_path / name)
        assert copy.contexts == evalset.contexts
        assert copy.digest == evalset.digest
    assert evalset.select(segments=["2"]).contexts == ((),)
    without = kt.read_outputs([{**r, "contexts": None} for r in records])
    assert without.contexts is None
    assert without.digest != evalset.digest


def test_frames_and_records_are_sets() -> None:
    records = [{"id": "1", "response": "a", "reference": "b"}]
    assert [*as_evalset(records).systems.values()] == [("a",)]
    pandas = pytest.importorskip("pandas")
    evalset = as_evalset(pandas.DataFrame(records))
    assert evalset.references == (("b",),)


def test_a_table_is_a_set_of_the_format_table(write: Any) -> None:
    file = write("r.csv", RATINGS)
    by_detection, by_name = kt.load_evalset(file), kt.load_evalset(file, "table")
    assert by_detection.digest == by_name.digest
    options = {"columns": {"id": "item", "system": "model"}, "scale": "score=0..10"}
    assert kt.load_evalset(file, "table", **options).dimensions["score"].high == 10.0
    assert by_detection.remarks[0].startswith(f"{file}: 6 rows; id=item, system=model")


def test_sets_of_other_formats_stay_with_their_readers(write: Any, tmp_path: Path) -> None:
    demo = kt.load_evalset("demo")
    kt.save_evalset(demo, tmp_path / "demo.jsonl")
    assert kt.read_outputs(tmp_path / "demo.jsonl").digest == demo.digest
    assert kt.read_outputs("demo").digest == demo.digest
    sample = {
        "doc_id": 0,
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "2+2?"}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    logged = kt.read_outputs(write("samples_sums_2026-01-01T00-00-00.jsonl", lines(sample)))
    assert logged.description == "Samples of lm-evaluation-harness"


def test_scales(write: Any) -> None:
    table = "id,response,fluency (1-7),quality,errors\n1,a b,4,55,3\n2,c d,5,20,0\n"
    evalset = kt.read_outputs(write("s.csv", table))
    scales = {d.name: (d.low, d.high, d.better) for d in evalset.dimensions.values()}
    assert scales == {
        "fluency": (1.0, 7.0, "higher"),
        "quality": (0.0, 100.0, "higher"),
        "errors": (0.0, 5.0, "lower"),
    }
    declared = kt.read_outputs(write("s.csv", table), scale=["errors=10..0", "quality=0..60"])
    assert declared.dimensions["errors"].high == 10.0
    assert declared.dimensions["quality"].high == 60.0
    with pytest.raises(kt.InputError, match=r"line 2: found 55 in column 'quality', expected 0 to"):
        kt.read_outputs(write("s.csv", table), scale="quality=0..50")
    with pytest.raises(kt.InputError, match=r"tone: no such dimension"):
        kt.read_outputs(write("s.csv", table), scale="tone=0..50")


def test_scores_are_offered(write: Any) -> None:
    table = "id,system,response,bleu,latency\n1,A,a b,12.5,3\n1,B,c d,,4\n2,A,x,10,3\n2,B,y,20,5\n"
    evalset = kt.read_outputs(write("s.csv", table))
    scores = evalset.offered["bleu"]()
    assert scores.by_id == {"A": {"1": 12.5, "2": 10.0}, "B": {"2": 20.0}}
    assert not evalset.dimensions


def test_answers_to_questions_have_metrics_of_answers(write: Any) -> None:
    rows = "question,response,reference\nWhat sat?,the cat,a cat\nWho barked?,a dog,the dog\n"
    evalset = kt.read_outputs(write("r.csv", rows))
    assert evalset.answers_questions
    scored = kt.score(evalset, metrics=None)
    assert [str(row.metric) for row in scored.rows] == ["f1", "rougeL", "chrf"]
    assert scored.rows[0].score.value == 1.0
    assert any("answers to questions" in note for note in scored.notes)
    with_source = kt.read_outputs(write("s.csv", rows.replace("question", "source")))
    assert not with_source.answers_questions
