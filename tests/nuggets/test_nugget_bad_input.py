"""What is wrong with keys, runs and judgements is said in one sentence, with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from karat.evalset.reading import Reading
from karat.nuggets.formats.loading import KNOWN, read_nuggets
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.nuggets.sets.nugget_set import NuggetDraft, remarks

KEY = "q1 1 vital a fact\nq1 2 okay another\n"
GOOD = {"id": "1", "importance": "vital", "descriptions": ["a"]}


def sentence(folder: Path, key: str = KEY, run: str = "", judged: str = "") -> str:
    """What is said of these files, without the folder."""
    paths = {"key": key, "run": run, "judged": judged}
    for name, text in paths.items():
        (folder / name).write_text(text, "utf-8", newline="")
    with pytest.raises(kt.InputError) as caught:
        kt.load_nuggets(
            folder / "key",
            [folder / "run"] if run else [],
            [folder / "judged"] if judged else [],
        )
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (KEY + "q1 2 okay again\n", "key, line 3: question q1 has nugget 2 already (key, line 2)"),
        (KEY + "q1 3 maybe x\n", "key, line 3: found 'maybe', expected vital or okay"),
        (KEY + "q1 3 vital/x y\n", "key, line 3: found 'vital/x', expected vital or okay"),
        (KEY + "q1 3\n", "key, line 3: found 2 fields, expected QID NUGGET vital|okay DESCRIPTION"),
        (KEY + " q1 3 vital x\n", "key, line 3: found 4 fields, expected"),
        (KEY + "q1 3 vital\n", "key, line 3: nugget 3 has no description, expected words"),
        (KEY + "q1 3 vital  \t \n", "key, line 3: nugget 3 has no description"),
        (KEY + "q1 3 also x\n", "key, line 3: a further description of nugget 3, which no line"),
        (KEY + "q1 - question x\n", "key, line 3: question q1 again (first key, line 1)"),
        ("q - question x\n", "key, line 1: question q has no nuggets"),
        ("", "key, line 1: found '', expected a key"),
        ("nothing like it\n", "key, line 1: found 'nothing like it', expected a key"),
        ("{}\n", "key, line 1: found nothing for 'run', expected a string"),
        ("{\n", "key, line 1: not a JSON object"),
    ],
)
def test_keys(tmp_path: Path, key: str, expected: str) -> None:
    assert sentence(tmp_path, key).startswith(expected)


def test_all_problems_are_kept_and_counted(tmp_path: Path) -> None:
    message = sentence(tmp_path, KEY + "q1 1 okay x\nq1 2 okay y\n")
    assert message.endswith("(and 1 more: karat nuggets describe lists them)")
    reading = Reading()
    with pytest.raises(kt.InputError):
        read_nuggets(tmp_path / "key", [], [], NuggetDraft("key", reading))
    assert len(reading.problems) == 2


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("q9 A d text\n", "run, line 1: a response to question 'q9', which is not in the key"),
        ("q1 A d x\nq1 A d\n", "run, line 2: found 3 fields, expected QID TAG DOCID RESPONSE"),
        ("q1 A\n", "run, line 1: found 2 fields, expected QID TAG DOCID RESPONSE"),
    ],
)
def test_runs(tmp_path: Path, run: str, expected: str) -> None:
    assert sentence(tmp_path, run=run).startswith(expected)


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ("q9 A 1 d x\nq9 A 1 1\n", "judged, line 2: a judgement of question 'q9', which is not"),
        (
            "q1 A 1 d x\nq1 A 1 7\n",
            "judged, line 2: a judgement of nugget '7', which question q1 does not have (1, 2)",
        ),
        ("q1 A 1 d x\nq1 A 2 1\n", "judged, line 2: item 2, which no line of part 1 has"),
        ("q1 A 1 d x\nq1 A 1 d y\n", "judged, line 2: item 1 again (first judged, line 1)"),
        ("q1 A 1 d x\nq1 A 1 1=9\n", "judged, line 2: found the value 9.0, expected 0, 0.5 or 1"),
        ("q1 A 1 d x\nq1 A 1 1=y\n", "judged, line 2: found '1=y', expected NUGGET or NUGGET=0"),
        ("q1 A 1\n", "judged, line 1: found 3 fields, expected QID TAG ITEM DOCID RESPONSE"),
    ],
)
def test_judgements(tmp_path: Path, judged: str, expected: str) -> None:
    assert sentence(tmp_path, judged=judged).startswith(expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"question": "q", "nuggets": []}, "question q has no nuggets"),
        ({"question": "q", "nuggets": 1}, "found 1 for 'nuggets', expected an array"),
        ({"question": 7, "nuggets": []}, "found 7 for 'question', expected a string"),
        ({"question": "", "nuggets": [GOOD]}, "question '': expected a name"),
        ({"question": "q", "nuggets": [{**GOOD, "votes": -1}]}, "found the nugget"),
        ({"question": "q", "nuggets": [{**GOOD, "votes": True}]}, "found the nugget"),
        ({"question": "q", "nuggets": [{**GOOD, "more": 1}]}, "found the nugget"),
        ({"question": "q", "nuggets": [{**GOOD, "descriptions": []}]}, "found the nugget"),
        ({"question": "q", "nuggets": ["x"]}, "found the nugget 'x', expected id, importance"),
        ({"question": "q", "nuggets": [GOOD, GOOD]}, "question q has nugget 1 already"),
        ({"question": "q", "other": 1, "nuggets": [GOOD]}, "found the name 'other', expected"),
        ({"run": "A", "question": "q1"}, "found nothing for 'response', expected a string"),
        ({"run": "A\tB"}, r"run 'A\tB': expected a name"),
        (
            {"question": "q1", "nugget": "1", "response": "r", "value": "1"},
            "found the value '1', expected 0, 0.5 or 1",
        ),
        (
            {"question": "q1", "nugget": "1", "response": "r", "value": 0.7},
            "found the value 0.7, expected 0, 0.5 or 1",
        ),
        ([1], "found '[1]', expected a JSON object"),
    ],
)
def test_json_lines(tmp_path: Path, line: object, expected: str) -> None:
    first = json.dumps({"question": "q1", "nuggets": [GOOD]})
    message = sentence(tmp_path, f"{first}\n{json.dumps(line)}\n")
    assert message.startswith(f"key, line 2: {expected}")


def rag(**changes: object) -> str:
    nuggets = [{"text": "a", "importance": "vital", "assignment": "support"}]
    record = {"qid": "q", "run_id": "A", "answer_text": "x", "nuggets": nuggets, **changes}
    return json.dumps(record) + "\n"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "run A answers question q already (key, line 1)"),
        ({"qid": 1}, "found 1 for 'qid', expected a string"),
        ({"run_id": None}, "found None for 'run_id', expected a string"),
        ({"run_id": "B", "answer_text": 1}, "found 1 for 'answer_text', expected a string"),
        ({"nuggets": {}}, "found {} for 'nuggets', expected an array"),
        ({"nuggets": [{"text": "a", "importance": "x"}]}, "found the nugget"),
        (
            {"nuggets": [{"text": "a", "importance": "okay", "assignment": "yes"}]},
            "found the nugget",
        ),
        (
            {"run_id": "B", "nuggets": [{"text": "b", "importance": "vital"}]},
            "found other nuggets for question q than before (key, line 1)",
        ),
    ],
)
def test_rag(tmp_path: Path, changes: dict[str, object], expected: str) -> None:
    assert sentence(tmp_path, rag() + rag(**changes)).startswith(f"key, line 2: {expected}")


def test_units(tmp_path: Path) -> None:
    for folder in ("summaries", "labels"):
        (tmp_path / folder).mkdir()
    (tmp_path / "ids.txt").write_text("d1\nd2\n")
    (tmp_path / "SCUs.txt").write_text("one\ttwo\n")
    with pytest.raises(kt.InputError, match=r"SCUs.txt: found 1 lines, expected 2, as ids.txt has"):
        kt.load_nuggets(tmp_path)
    (tmp_path / "SCUs.txt").write_text("one\ttwo\nthree\n")
    (tmp_path / "summaries" / "A.summary").write_text("x\ny\n")
    (tmp_path / "labels" / "A.label").write_text("1\t2\n1\n")
    with pytest.raises(kt.InputError, match=r"A.label, line 1: .* expected 2 labels 0 or 1"):
        kt.load_nuggets(tmp_path)
    (tmp_path / "labels" / "A.label").write_text("1\t1\n")
    with pytest.raises(kt.InputError, match=r"A.label: found 1 lines, expected 2"):
        kt.load_nuggets(tmp_path)


@pytest.mark.parametrize("name", ["key", "run", "judged"])
def test_bytes_that_are_not_utf8(tmp_path: Path, name: str) -> None:
    files = {"key": KEY, "run": "q1 A d x\n", "judged": "q1 A 1 d x\n"}
    for other, text in files.items():
        (tmp_path / other).write_text(text)
    with (tmp_path / name).open("ab") as file:
        file.write(b"q1 \xff\n")
    with pytest.raises(kt.InputError, match=rf"{name}, line \d: not valid UTF-8"):
        kt.load_nuggets(tmp_path / "key", [tmp_path / "run"], [tmp_path / "judged"])


def test_places_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kt.InputError, match=r"no such folder or file, nor a known set \(demo-nugg"):
        kt.load_nuggets(tmp_path / "none")
    with pytest.raises(kt.InputError, match=r"expected a folder with key.txt"):
        kt.load_nuggets(tmp_path)
    monkeypatch.delenv("KARAT_DATA", raising=False)
    with pytest.raises(kt.InputError, match="rag24 is a known set, and KARAT_DATA is not set"):
        kt.load_nuggets("rag24")
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    with pytest.raises(kt.InputError, match=f"has no .*{KNOWN['realsumm'].place}"):
        kt.load_nuggets("realsumm")
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8bnot really")
    with pytest.raises(kt.InputError, match="not a complete gzip file"):
        kt.load_nuggets(tmp_path / "x.gz")
    with pytest.raises(kt.InputError, match="format 'x': expected one of jsonl"):
        kt.load_nuggets("demo-nuggets", format="x")


def test_nuggets_themselves() -> None:
    with pytest.raises(kt.InputError, match="nugget 1 has no description"):
        Nugget("1", ())
    with pytest.raises(kt.InputError, match="-1 votes"):
        Nugget("1", ("a",), votes=-1)


# ---------------------------------------------------------------------- what is only remarked


def test_contradictions_name_both_lines_and_the_most_favourable_counts(tmp_path: Path) -> None:
    judged = "q1 A 1 d same words\nq1 B 1 d Same  words\nq1 A 1 1\n"
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "judged").write_text(judged)
    nuggets = kt.load_nuggets(tmp_path / "key", judgements=[tmp_path / "judged"])
    assert nuggets.judgements.values["q1", "1", "same words"] == 1
    (note,) = remarks(nuggets)
    assert note.replace(f"{tmp_path}/", "") == (
        "contradictory judgements, of which the highest counts: question q1, nugget 1: the same "
        "response was judged 1 (judged, line 3) and 0 (judged, line 2)"
    )


def test_remarks_on_keys_and_runs(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("q1 1 okay a\nq2 1 vital b\nq2 2 vital c\n")
    (tmp_path / "run").write_text("q1 A d \nq1 B d x\nq2 B d y\n")
    assert remarks(kt.load_nuggets(tmp_path / "key", [tmp_path / "run"])) == [
        "no vital nuggets, so no F and no V: question q1",
        "one nugget only: question q1",
        "run A: no response, which scores 0: question q2",
        "run A: an empty response: question q1",
    ]


def test_questions_that_the_key_does_not_have_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "run").write_text("q1 A d x\nq9 A d x\nq9 A d y\n")
    nuggets = kt.load_nuggets(tmp_path / "key", [tmp_path / "run"], skip_unknown=True)
    assert list(nuggets.runs["A"].answers) == ["q1"]
    assert remarks(nuggets) == ["left out: 2 responses to 1 questions that the key does not have"]
