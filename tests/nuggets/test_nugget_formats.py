"""Keys, runs and judgements in all formats: what is read, what is written, and back again."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.cli.main import main
from karat.nuggets.formats.loading import FORMATS, KNOWN, detect
from karat.nuggets.formats.text_files import key_lines, run_lines
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, Run, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet, remarks

WRITTEN = [name for name in FORMATS if FORMATS[name].writer]
KEY = "q1 1 vital a fact\nq1 2 okay\tanother  fact \n\nq2 a VITAL 425 young women\n"
RUN = "q1 A d1 first\tresponse\nq1 A d2  second\nq2 B NIL third\n"
JUDGED = """\
q1 A 1 d1 first\tresponse
q1 A 2 d2 second
q1 B 1 d1 other
q1 A 2 1
"""


def write(folder: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, "utf-8", newline="")
    return [str(folder / f"{name}.txt") for name in files]


# --------------------------------------------------------------------------------------- TREC


def test_a_key_of_trec(tmp_path: Path) -> None:
    (path,) = write(tmp_path, key=KEY)
    questions = kt.load_nuggets(path).key.questions
    assert questions["q1"].nuggets == (
        Nugget("1", ("a fact",), vital=True),
        Nugget("2", ("another  fact ",), vital=False),
    )
    assert questions["q2"].nuggets == (Nugget("a", ("425 young women",)),)


def test_what_karat_adds_to_keys(tmp_path: Path) -> None:
    text = "q - question Who?\nq 1 vital/6 a\nq 2 okay/0 b\nq 1 also c d\n"
    (path,) = write(tmp_path, key=text)
    nuggets = kt.load_nuggets(path)
    assert nuggets.key.questions["q"] == Question(
        "q", (Nugget("1", ("a", "c d"), True, 6), Nugget("2", ("b",), False, 0)), "Who?"
    )
    assert sorted("".join(key_lines(nuggets.key)).splitlines()) == sorted(text.splitlines())


def test_runs_of_trec(tmp_path: Path) -> None:
    key, run = write(tmp_path, key=KEY, run=RUN)
    runs = kt.load_nuggets(key, [run]).runs
    assert list(runs) == ["A", "B"]
    assert runs["A"].responses("q1") == (
        Response("first\tresponse", "d1"),
        Response(" second", "d2"),
    )
    assert runs["A"].responses("q2") == ()
    assert "".join(run_lines(runs["A"])) == "q1 A d1 first\tresponse\nq1 A d2  second\n"


def test_judged_responses_of_trec_and_what_silence_says(tmp_path: Path) -> None:
    key, judged = write(tmp_path, key=KEY, judged=JUDGED)
    nuggets = kt.load_nuggets(key, judgements=[judged])
    assert nuggets.judgements.values == {
        ("q1", "1", "second"): 1,
        # nothing is known of A's other response and nugget 1: one of them was credited
        ("q1", "2", "first response"): 0,
        ("q1", "2", "second"): 0,
        ("q1", "1", "other"): 0,
        ("q1", "2", "other"): 0,
    }
    assert {row.run for row in nuggets.judgements.rows} == {"A", "B"}
    carried = next(row for row in nuggets.judgements.rows if row.value)
    assert carried.place == f"{judged}, line 4"
    assert list(nuggets.runs) == []


def test_what_karat_adds_to_part_two(tmp_path: Path) -> None:
    more = JUDGED + "q1 A 1 1=0\nq1 B 1 2=0.5\nq1 B 1 1=?\n"
    key, judged = write(tmp_path, key=KEY, judged=more)
    values = kt.load_nuggets(key, judgements=[judged]).judgements.values
    assert values["q1", "1", "first response"] == 0
    assert values["q1", "2", "other"] == 0.5
    assert ("q1", "1", "other") not in values


def test_a_nugget_id_may_hold_an_equals_sign(tmp_path: Path) -> None:
    key, judged = write(tmp_path, key="q x=0 vital a\n", judged="q A 1 d text\nq A 1 x=0\n")
    assert kt.load_nuggets(key, judgements=[judged]).judgements.values == {("q", "x=0", "text"): 1}


def test_a_folder_of_trec_takes_runs_from_judged_responses_if_it_must(tmp_path: Path) -> None:
    write(tmp_path, key=KEY, judged=JUDGED)
    nuggets = kt.load_nuggets(tmp_path)
    assert [responses.text for responses in nuggets.runs["A"].responses("q1")] == [
        "first\tresponse",
        "second",
    ]
    (tmp_path / "runs").mkdir()
    write(tmp_path / "runs", A=RUN)
    again = kt.load_nuggets(tmp_path)
    assert len(again.runs["A"].responses("q1")) == 2
    assert again.judgements == nuggets.judgements


def test_windows_line_ends_and_marks_and_gzip(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + KEY.replace("\n", "\r\n").encode()
    (tmp_path / "key.txt.gz").write_bytes(gzip.compress(data))
    (plain,) = write(tmp_path, key=KEY)
    assert kt.load_nuggets(tmp_path / "key.txt.gz").key == kt.load_nuggets(plain).key


# ---------------------------------------------------------------------------- JSON lines, RAG


def test_json_lines_in_any_order(tmp_path: Path) -> None:
    lines = [
        {"question": "q", "nugget": "1", "response": "r", "value": 0.5, "judge": "J"},
        {"run": "A", "question": "q", "response": "r", "document": "d"},
        {"question": "q", "nuggets": [{"id": "1", "importance": "okay", "descriptions": ["a"]}]},
        {"run": "A", "institution": "I"},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    nuggets = kt.load_nuggets(path)
    assert nuggets.runs == {"A": Run("A", {"q": (Response("r", "d"),)}, "I")}
    assert nuggets.judgements.rows == (
        JudgedResponse("q", "1", "r", 0.5, "", "J", f"{path}, line 1"),
    )
    assert nuggets.key.questions["q"].vital == ()


RAG = {
    "query": "Who?",
    "qid": "q",
    "run_id": "A",
    "answer_text": "x\ny",
    "response_length": 2,
    "nuggets": [
        {"text": "a", "importance": "vital", "assignment": "support"},
        {"text": "b", "importance": "okay", "assignment": "partial_support"},
        {"text": "c", "importance": "okay", "assignment": "not_support"},
        {"text": "d", "importance": "okay"},
    ],
}


def test_rag_gives_key_runs_and_judgements_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.jl"
    path.write_text(json.dumps(RAG) + "\n")
    nuggets = kt.load_nuggets(path)
    assert nuggets.key.questions["q"].text == "Who?"
    assert [nugget.id for nugget in nuggets.key.questions["q"].nuggets] == ["1", "2", "3", "4"]
    assert nuggets.runs["A"].responses("q") == (Response("x\ny"),)
    assert nuggets.judgements.values == {
        ("q", "1", "x y"): 1,
        ("q", "2", "x y"): 0.5,
        ("q", "3", "x y"): 0,
    }


def test_a_new_run_in_the_rag_layout_needs_no_nuggets(tmp_path: Path) -> None:
    (tmp_path / "all.jl").write_text(json.dumps(RAG) + "\n")
    answer = {"qid": "q", "run_id": "B", "answer_text": "z"}
    (tmp_path / "new.jl").write_text(json.dumps(answer) + "\n")
    nuggets = kt.load_nuggets(tmp_path / "all.jl", [tmp_path / "new.jl"])
    assert list(nuggets.runs) == ["B"]
    assert len(nuggets.judgements.rows) == 3  # those that come with the key


# ------------------------------------------------------------------------------ content units


def test_units(tmp_path: Path) -> None:
    for folder in ("summaries", "labels"):
        (tmp_path / folder).mkdir()
    (tmp_path / "ids.txt").write_text("d1\nd2\n")
    (tmp_path / "SCUs.txt").write_text("one unit\ttwo\nthree\n")
    (tmp_path / "summaries" / "A.summary").write_text("says one\n\n")
    (tmp_path / "labels" / "A.label").write_text("1\t0\n0\n")
    (tmp_path / "summaries" / "B.summary").write_text("x\ny\n")
    nuggets = kt.load_nuggets(tmp_path)
    assert nuggets.key.questions["d1"].nuggets == (
        Nugget("1", ("one unit",)),
        Nugget("2", ("two",)),
    )
    assert [row[:5] for row in nuggets.judgements.rows] == [
        ("d1", "1", "says one", 1, "A"),
        ("d1", "2", "says one", 0, "A"),
        ("d2", "1", "", 0, "A"),
    ]
    assert nuggets.runs["B"].responses("d2") == (Response("y"),)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """A folder of two documents, two systems and the labels of one."""
    files = {
        "ids.txt": "d1\nd2\n",
        "SCUs.txt": "one unit\ttwo\nthree\n",
        "summaries/A.summary": "says one\n\n",
        "labels/A.label": "1\t0\n0\n",
        "summaries/B.summary": "x\ny\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_files_of_units_are_runs_and_judgements(units: Path) -> None:
    folder = kt.load_nuggets(units)
    runs = [units / "summaries" / f"{name}.summary" for name in "AB"]
    nuggets = kt.load_nuggets(units, runs)
    assert (nuggets.runs, nuggets.judgements.rows) == (folder.runs, folder.judgements.rows)
    nuggets = kt.load_nuggets(units, runs[1:], [units / "labels" / "A.label"])
    assert list(nuggets.runs) == ["B"]
    assert nuggets.judgements.rows == folder.judgements.rows


def test_summaries_of_another_place_follow_the_key(units: Path) -> None:
    (units / "far" / "away").mkdir(parents=True)
    new = units / "far" / "away" / "new.summary"
    new.write_text("first\nsecond\n")
    nuggets = kt.load_nuggets(units, [new])
    assert nuggets.runs["new"].responses("d2") == (Response("second"),)
    new.write_text("first\n")
    with pytest.raises(kt.InputError, match="found 1 lines, expected 2, as the key has"):
        kt.load_nuggets(units, [new])
    lonely = units / "far" / "away" / "A.label"
    lonely.write_text("1\t0\n0\n")
    with pytest.raises(kt.InputError, match="expected the summaries that were judged in"):
        kt.load_nuggets(units, [], [lonely])


def test_the_command_takes_summaries(
    units: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(units.parent)
    files = sorted(str(path) for path in (units / "summaries").glob("*.summary"))
    assert main(["nuggets", "score", *files, "--key", str(units), "-f", "tsv"]) == 0
    by_file = capsys.readouterr().out
    assert main(["nuggets", "score", "A", "B", "--key", str(units), "-f", "tsv"]) == 0
    assert capsys.readouterr().out == by_file


# ------------------------------------------------------------------------------- there and back

plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd = st.sampled_from(["", " ", "a\tb", "a\nb", " x ", "1/2", "=", "A  b", "\u2028", "\x85", "é"])
texts = st.one_of(plain, odd)
described = texts.filter(lambda text: bool(text.strip()))
ids = st.text("abAB01=/.-%:", min_size=1, max_size=4).filter(lambda name: name != "-")


@st.composite
def nugget_sets(draw: st.DrawFn, one_response: bool = False) -> NuggetSet:
    questions = []
    for id in draw(st.lists(ids, min_size=1, max_size=3, unique=True)):
        names = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
        descriptions = st.lists(described, min_size=1, max_size=2).map(tuple)
        votes = st.none() | st.integers(0, 9)
        drawn_nuggets = [
            Nugget(name, draw(descriptions), draw(st.booleans()), draw(votes)) for name in names
        ]
        questions.append(
            Question(id, tuple(drawn_nuggets), draw(texts.filter(lambda t: t == t.strip())))
        )
    runs = {}
    for tag in draw(st.lists(ids, max_size=3, unique_by=str.lower)):
        rows: list[tuple[str, Response]] = []
        for question in questions:
            count = draw(st.integers(0, 1 if one_response else 2))
            rows += [(question.id, Response(draw(texts))) for _ in range(count)]
        if rows:
            runs[tag] = make_run(tag, rows)
    return NuggetSet("x", make_key(questions), runs, Judgements(draw(_judged(questions, runs))))


@st.composite
def _judged(
    draw: st.DrawFn, questions: list[Question], runs: dict[str, Run]
) -> tuple[JudgedResponse, ...]:
    rows = []
    for question in questions:
        for run in runs.values():
            for response in run.responses(question.id):
                for nugget in question.nuggets:
                    value = draw(st.sampled_from([None, 0.0, 0.5, 1.0]))
                    if value is not None:
                        rows.append(
                            JudgedResponse(question.id, nugget.id, response.text, value, run.tag)
                        )
    return tuple(rows)


def there_and_back(nuggets: NuggetSet, format: str) -> NuggetSet:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        kt.save_nuggets(nuggets, path, format)
        assert os.listdir(folder) == ["set"]
        return kt.load_nuggets(path)


def without_places(nuggets: NuggetSet) -> list[JudgedResponse]:
    return [row._replace(place="") for row in nuggets.judgements.rows]


@given(nuggets=nugget_sets())
def test_json_lines_keep_everything(nuggets: NuggetSet) -> None:
    again = there_and_back(nuggets, "jsonl")
    assert again.key == nuggets.key
    assert list(again.key.questions) == list(nuggets.key.questions)
    assert again.runs == nuggets.runs
    assert without_places(again) == without_places(nuggets)


def squeezed(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


@given(nuggets=nugget_sets())
def test_trec_keeps_all_but_line_ends(nuggets: NuggetSet) -> None:
    again = there_and_back(nuggets, "trec")
    for id, question in nuggets.key.questions.items():
        questions = again.key.questions[id]
        assert questions.text == squeezed(question.text)
        assert [n.id for n in questions.nuggets] == [n.id for n in question.nuggets]
        for read_nugget, nugget in zip(questions.nuggets, question.nuggets, strict=True):
            assert (read_nugget.vital, read_nugget.votes) == (nugget.vital, nugget.votes)
            assert read_nugget.descriptions == tuple(squeezed(text) for text in nugget.descriptions)
    assert set(again.runs) == set(nuggets.runs)
    for tag, run in nuggets.runs.items():
        for id, responses in run.answers.items():
            expected = [squeezed(response.text) for response in responses]
            assert [response.text for response in again.runs[tag].responses(id)] == expected
    # all that counts: the known values of responses that were judged at all
    assert again.judgements.values == nuggets.judgements.values


@given(nuggets=nugget_sets(one_response=True))
def test_rag_keeps_single_responses_and_their_labels(nuggets: NuggetSet) -> None:
    again = there_and_back(nuggets, "rag")
    assert again.key == nuggets.key
    assert again.runs == nuggets.runs
    assert again.judgements.values == nuggets.judgements.values


def test_several_responses_become_one_answer_with_the_best_labels(tmp_path: Path) -> None:
    demo = kt.load_nuggets("demo-nuggets")
    kt.save_nuggets(demo, tmp_path / "x.jl", "rag")
    again = kt.load_nuggets(tmp_path / "x.jl")
    (answer,) = again.runs["heron"].responses("marlow")
    assert answer.text.count("\n") == 3
    values = [again.judgements.values["marlow", str(i), answer.normal] for i in range(1, 8)]
    assert values == [1, 1, 0, 1, 0, 0, 1]


def test_units_of_rag_and_back(tmp_path: Path) -> None:
    judged = [JudgedResponse("q", "1", "a b", 0.5, "A"), JudgedResponse("q", "2", "a b", 0, "A")]
    question = Question("q", (Nugget("1", ("u",)), Nugget("2", ("w",), vital=False)))
    run = make_run("A", [("q", Response("a b"))])
    given_set = NuggetSet("x", make_key([question]), {"A": run}, Judgements(tuple(judged)))
    kt.save_nuggets(given_set, tmp_path / "u", "units")
    again = kt.load_nuggets(tmp_path / "u")
    assert again.runs == given_set.runs
    assert again.judgements.values == {("q", "1", "a b"): 1, ("q", "2", "a b"): 0}
    partly = NuggetSet("x", given_set.key, given_set.runs, Judgements((judged[0],)))
    with pytest.raises(kt.OutputError, match="not judged on all nuggets of question q"):
        kt.save_nuggets(partly, tmp_path / "no", "units")
    assert os.listdir(tmp_path) == ["u"]


@pytest.mark.parametrize("format", WRITTEN)
def test_nothing_is_overwritten(tmp_path: Path, format: str) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(kt.OutputError, match="exists already"):
        kt.save_nuggets(kt.load_nuggets("demo-nuggets"), tmp_path / "x", format)
    assert (tmp_path / "x").read_text() == "mine"
    assert os.listdir(tmp_path) == ["x"]


def test_ids_that_a_format_cannot_hold(tmp_path: Path) -> None:
    question = Question("q one", (Nugget("1", ("u",)),))
    given_set = NuggetSet("x", make_key([question]))
    with pytest.raises(kt.OutputError, match="'q one' has white space"):
        kt.save_nuggets(given_set, tmp_path / "x", "trec")
    assert os.listdir(tmp_path) == []
    with pytest.raises(kt.InputError, match="expected one of jsonl, rag, trec, units"):
        kt.save_nuggets(given_set, tmp_path / "x", "xml")


@pytest.mark.parametrize("format", WRITTEN)
def test_written_formats_are_recognised(tmp_path: Path, format: str) -> None:
    demo = kt.load_nuggets("demo-nuggets").select()
    kt.save_nuggets(demo, tmp_path / "x", format)
    assert detect(tmp_path / "x") == format


def test_the_bundled_set() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    assert repr(demo) == (
        "<NuggetSet demo-nuggets: 2 questions; 14 nuggets; 4 runs; 107 judgements>"
    )
    assert list(KNOWN) == ["demo-nuggets", "realsumm", "rag24"]
    assert remarks(demo) == ["run wren: no response, which scores 0: question aldis"]
    with pytest.raises(kt.InputError, match=r"has no run 'heros'; did you mean heron\?"):
        demo.run("heros")
