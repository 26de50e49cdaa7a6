"""Readers of logs and campaigns: lm-evaluation-harness, inspect_ai, Appraise, SummEval's raters."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.evalset.loading import detect


def lines(path: Path, *objects: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(item)}\n" for item in objects))
    return path


# ---------------------------------------------------------------------- lm-evaluation-harness


def sampled(id: int, target: object, response: object, **more: Any) -> dict[str, Any]:
    """A line as lm_eval 0.4.13 writes it."""
    return {
        "doc_id": id,
        "doc": {"question": f"q{id}"},
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{id}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[f"raw {response}"]],
        "filtered_resps": [response],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "00",
        "exact_match": 1.0,
    } | more


LATER = "2026-01-02T10-00-00.000001"
EARLIER = "2026-01-01T10-00-00.000001"


def test_models_in_folders_are_systems(tmp_path: Path) -> None:
    for model, text in (("org__small", "a cat"), ("org__large", "the cat")):
        lines(
            tmp_path / model / f"samples_qa_{LATER}.jsonl",
            sampled(0, "the cat", text, exact_match=float(text == "the cat")),
            sampled(1, "['a dog', 'the dog']", "dog", exact_match=0.0),
        )
    lines(tmp_path / "org__small" / f"samples_qa_{EARLIER}.jsonl", sampled(0, "x", "old"))
    assert detect(tmp_path) == ("lm-eval", tmp_path)
    evalset = kt.load_evalset(tmp_path)
    assert evalset.systems == {"org__large": ("the cat", "dog"), "org__small": ("a cat", "dog")}
    assert evalset.segments == ("0", "1")
    assert evalset.groups is None
    assert evalset.references == (("the cat",), ("a dog", "the dog"))
    assert evalset.sources == ("Q: q0\nA:", "Q: q1\nA:")
    assert not evalset.dimensions  # the log's own scores are not human judgements
    assert evalset.remarks[0].endswith(f"left out: samples_qa_{EARLIER}.jsonl.")
    judged = kt.load_evalset(tmp_path, scores="exact_match")
    assert judged.human("exact_match").tolist() == [[1.0, 0.0], [0.0, 0.0]]
    as_text = kt.load_evalset(tmp_path, targets="text")
    assert as_text.references[1] == ("['a dog', 'the dog']",)


def test_tasks_filters_and_repeats(tmp_path: Path) -> None:
    item = lines(
        tmp_path / "m" / f"samples_gsm_{LATER}.jsonl",
        sampled(0, "7", "7", filter="strict"),
        sampled(0, "7", "8", filter="loose"),
    )
    with pytest.raises(kt.InputError, match=r"several filters \(strict, loose\): choose one"):
        kt.load_evalset(item)
    assert kt.load_evalset(item, filter="loose").systems == {"m": ("8",)}
    assert kt.load_evalset(item, filter="raw").systems == {"m": ("raw 8",)}
    with pytest.raises(
        kt.InputError, match="no responses of the filter 'x', only of strict, loose"
    ):
        kt.load_evalset(item, filter="x")
    lines(tmp_path / "m" / f"samples_qa_{LATER}.jsonl", sampled(0, "a", ["a", "b"], filter="loose"))
    evalset = kt.load_evalset(tmp_path, filter="loose")
    assert evalset.segments == ("gsm/0/1", "qa/0/1", "qa/0/2")
    assert evalset.groups == ("gsm/0", "qa/0", "qa/0")
    assert evalset.systems == {"m": ("8", "a", "b")}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (sampled(0, 1, ["-1.5", "False"]), "likelihoods of given answers, expected generated text"),
        (sampled(0, 1, "x", filtered_resps=["a", "b"]), "expected generated text"),
        (sampled(0, 1, "x", filtered_resps=None), "for 'filtered_resps', expected an array"),
        ({"doc_id": 0, "filtered_resps": ["a"], "filter": "none"}, "found no doc_id or no target"),
    ],
)
def test_bad_samples(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = lines(tmp_path / "m" / "samples_t.jsonl", sampled(5, "a", "b"), row)
    with pytest.raises(kt.InputError, match=message) as caught:
        kt.load_evalset(path, "lm-eval")
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_samples_that_do_not_fit_together(tmp_path: Path) -> None:
    lines(tmp_path / "a" / "samples_t.jsonl", sampled(0, "x", "y"), sampled(0, "x", "z"))
    lines(tmp_path / "b" / "samples_t.jsonl", sampled(0, "other", "y"))
    with pytest.raises(kt.InputError, match=r"line 2: sample '0' of a again .* \(and 1 more"):
        kt.load_evalset(tmp_path)
    (tmp_path / "a" / "samples_t.jsonl").unlink()
    with pytest.raises(kt.InputError, match="no score 'f1'"):
        kt.load_evalset(tmp_path, scores="f1")
    with pytest.raises(kt.InputError, match="NAME:higher or NAME:lower"):
        kt.load_evalset(tmp_path, scores="exact_match:down")


# ----------------------------------------------------------------------------------- inspect_ai


def logged(id: object, epoch: int, text: str, **more: Any) -> dict[str, Any]:
    """A sample as inspect_ai 0.3.285 writes it, without its events."""
    message = {"role": "assistant", "content": text, "source": "generate"}
    return {
        "id": id,
        "epoch": epoch,
        "input": f"say {id}",
        "target": f"the {id}",
        "messages": [],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": text},
        "scores": {"includes": {"value": "C"}, "f1": {"value": 0.5}},
        "attachments": {},
    } | more


HEADER = {"version": 2, "status": "success", "eval": {"model": "org/m", "task": "tiny"}}
SAMPLES = (
    logged("q1", 1, "the q1"),
    logged(2, 1, "two", target=["2", "attachment://aa"], attachments={"aa": "long two"}),
    logged("q1", 2, "a q1", scores={"includes": {"value": "I"}, "f1": {"value": {"p": 0.25}}}),
    logged(2, 2, "", error={"message": "no answer"}, target=["2", "long two"], scores={}),
)


def eval_file(path: Path, **members: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/") + ".json", json.dumps(content))
    return path


def test_both_forms_of_a_log(tmp_path: Path) -> None:
    name = "2026-01-02T10-00-00-00-00_tiny_AbC"
    full = tmp_path / f"{name}.json"
    full.write_text(json.dumps({**HEADER, "samples": SAMPLES}, indent=2))
    parts = {f"samples__{s['id']}_epoch_{s['epoch']}": s for s in SAMPLES}
    packed = eval_file(tmp_path / "log.eval", header=HEADER, **parts)
    assert detect(full)[0] == detect(packed)[0] == "inspect"
    evalset = kt.load_evalset(packed)
    assert evalset.systems == {"org/m": ("the q1", "two", "a q1", None)}
    assert evalset.segments == ("q1/1", "2/1", "q1/2", "2/2")
    assert evalset.groups == ("q1", "2", "q1", "2")
    assert evalset.references[1] == ("2", "long two")
    assert evalset.remarks == ("1 of 4 samples have no output.",)
    assert kt.load_evalset(full, name="log") == evalset
    judged = kt.load_evalset(full, scores="includes,f1.p:lower")
    assert judged.human("includes")[0].tolist()[:3] == [1.0, 1.0, 0.0]
    assert judged.human("f1.p")[0, 2] == -0.25


def test_scores_that_a_model_gave_are_its_judgements(tmp_path: Path) -> None:
    arguments = [
        {"role": "user", "content": "Right?"},
        {"role": "assistant", "model": "org/grader"},
    ]
    graded = {"value": "C", "metadata": {"grading": arguments}}
    several = {"value": {"a": 1}, "metadata": {"grading": arguments[:1]}}
    scores = {"graded": graded, "includes": {"value": "I"}, "several": several}
    log = {**HEADER, "samples": [logged("a", 1, "x", scores=scores)]}
    (tmp_path / "x.json").write_text(json.dumps(log))
    evalset = kt.load_evalset(tmp_path / "x.json", "inspect", scores="graded,includes,several.a")
    assert evalset.judgements.judge_kinds == {"org/grader": "model", "several": "model"}
    assert evalset.rated_by("org/grader", "graded").tolist() == [[1.0]]
    assert evalset.chosen_dimensions() == ("includes",)


def test_messages_and_parts_are_joined(tmp_path: Path) -> None:
    arguments = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    spoken = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Hello"}]
    output = {"choices": [{"message": {"role": "assistant", "content": spoken}}]}
    log = {**HEADER, "samples": [logged("a", 1, "", input=arguments, output=output)]}
    (tmp_path / "x.json").write_text(json.dumps(log))
    evalset = kt.load_evalset(tmp_path / "x.json", "inspect")
    assert (evalset.sources, evalset.systems) == (("Be brief.\nHi",), {"org/m": ("Hello",)})


def test_zstandard_members(tmp_path: Path) -> None:
    """As inspect_ai writes them; Python's zipfile cannot, so the file is put together here."""
    arrow = pytest.importorskip("pyarrow")
    path = eval_file(tmp_path / "a.eval", header=HEADER, samples__q1_epoch_1=SAMPLES[0])
    repacked = tmp_path / "z.eval"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(repacked, "w") as new:
        sizes = {}
        for name in old.namelist():
            data = old.read(name)
            sizes[name] = len(data)
            new.writestr(name, arrow.Codec("zstd").compress(data).to_pybytes())
        for info in new.infolist():
            info.compress_type, info.file_size = 93, sizes[info.filename]
    assert kt.load_evalset(repacked, name="a") == kt.load_evalset(path, name="a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK not a zip", "x.eval: not a zip file"),
        ({"samples__a": SAMPLES[0]}, "found no header.json"),
        ({"header": {"eval": {}}}, "found no eval with model and task"),
        ({"header": HEADER, "samples__a": {"id": 1}}, "samples/a.json: expected a sample with id"),
        ({"header": HEADER, "samples__a": [1]}, "samples/a.json: found .1., expected a JSON obj"),
        ({"header": HEADER}, "no segments: expected at least one"),
    ],
)
def test_bad_logs(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "x.eval"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        eval_file(path, **content)
    with pytest.raises(kt.InputError, match=message):
        kt.load_evalset(path)


# ------------------------------------------------------------------------------------- Appraise


def texts(folder: Path) -> Path:
    """Three segments of two documents."""
    kt.save_evalset(
        kt.make_evalset(
            "texts",
            {"A": ["a1", "a2", "a3"], "B": ["b1", "b2", "b3"]},
            references=["r1", "r2", "r3"],
            groups=["d", "d", "e"],
        ),
        folder / "texts",
    )
    return folder / "texts"


def campaign(*rows: str) -> str:
    """Rows as `annotator system item type score document spans end`."""
    built = []
    for row in rows:
        annotator, system, item, kind, score, document, spans, end = row.split("|")
        spans = '"' + spans.replace('"', '""') + '"'
        built.append(
            f"{annotator},{system},{item},{kind},eng,deu,{score},{document},False,{spans},1.0,{end}"
        )
    return "\n".join(built) + "\n"


MAJOR = '[{"start_i":1,"end_i":2,"severity":"major","error_type":null}]'


def test_items_are_segments_of_their_documents(tmp_path: Path) -> None:
    folder = texts(tmp_path)
    (tmp_path / "c.csv").write_text(
        campaign(
            f"ann|w.A|8|TGT|70|d#A|{MAJOR}|9",
            "ann|w.A|7|TGT|90|d#A|[]|8",
            "ann|w.A|7|TGT|95|d#A|[]|10",  # judged again, later
            "ann|w.A|9|BAD|10|e#A#bad1|[]|11",
            "ann|w.A|10|TGT|10|e#A#duplicate1|[]|11",
            "ann|w.B|3|TGT|50|d#B|[]|1",  # one of two segments: which?
            "ben|w.B|1|TGT|60|e#B|[]|1",
            "ben|tutorial|2|TGT|5|tutorial|[]|1",
            "ben|w.refA|4|TGT|5|d#refA|[]|1",
        )
    )
    evalset = kt.load_evalset(tmp_path / "c.csv", "appraise", texts=str(folder))
    scores = evalset.human("score")
    np.testing.assert_array_equal(scores, [[95, 70, np.nan], [np.nan, np.nan, 60]])
    np.testing.assert_array_equal(evalset.human("penalty")[0], [0, -5, np.nan])
    assert [row.judge for row in evalset.judgements if row.dimension == "score"] == ["ann"] * 2 + [
        "ben"
    ]
    (remark,) = evalset.remarks
    assert remark.startswith("3 items are read. Left out: ")
    for count in ("1 judged again", "2 for quality", "1 of documents judged in part", "1 of syst"):
        assert count in remark


def test_a_campaign_with_types_of_errors_has_no_scores(tmp_path: Path) -> None:
    typed = '[{"severity":"minor","error_type":["Linguistic conventions","Punctuation"]},'
    typed += '{"severity":"minor","error_type":["Style","Awkward style"]}]'
    (tmp_path / "c.csv").write_text(campaign(f"ann|w.A|1|TGT|0|e#A|{typed}|1"))
    evalset = kt.load_evalset(tmp_path / "c.csv", "appraise", texts=str(texts(tmp_path)))
    assert list(evalset.dimensions) == ["penalty"]
    assert evalset.human("penalty")[0, 2] == pytest.approx(-1.1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,b,c", "line 1: found 3 fields, expected 11, or 12 with error spans"),
        ("a,A,x,TGT,en,de,5,d#A,False,[],1,2", "expected annotator, system, item, type"),
        (f"a,A,{'9' * 5000},TGT,en,de,5,d#A,False,[],1,2", "expected annotator, system, item"),
        ("a,A,1,TGT,en,de,?,d#A,False,[],1,2", "expected annotator, system, item, type"),
        ("a,A,1,TGT,en,de,5,d#A,False,{,1,2", r"found \{ as error spans"),
        ('a,A,1,TGT,en,de,5,d#A,False,"[{""severity"":""odd""}]",1,2', "the severity 'odd'"),
    ],
)
def test_bad_campaigns(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "c.csv").write_text(row + "\n")
    with pytest.raises(kt.InputError, match=message):
        kt.load_evalset(tmp_path / "c.csv", "appraise", texts=str(texts(tmp_path)))


def test_a_campaign_needs_texts(tmp_path: Path, run_karat: Any) -> None:
    (tmp_path / "c.csv").write_text(campaign("ann|w.A|1|TGT|70|d#A|[]|9"))
    done = run_karat("data", "judges", str(tmp_path / "c.csv"), "--read-as", "appraise")
    assert done.returncode == 2
    assert "--option texts=SET" in done.stderr


@pytest.mark.parametrize(
    ("campaign", "published", "dimension"),
    [("240315rc5ESA", "ESA-1", "score"), ("240315rc5MQM", "MQM-1", "penalty")],
)
def test_real_campaigns_equal_their_published_segment_scores(
    karat_data: Path, campaign: str, published: str, dimension: str
) -> None:
    folder = karat_data / "mt-wmt23-ende"
    if not folder.exists():
        pytest.skip("mt-wmt23-ende is not in KARAT_DATA")
    path = folder / "appraise" / f"{campaign}.scores.csv"
    evalset = kt.load_evalset(path, "appraise", texts=str(folder))
    visited, peer = Counter[str](), {}
    text = (folder / "human-scores-esa" / f"en-de.{published}.seg.score").read_text()
    for system, value in (line.split() for line in text.splitlines()):
        peer[system, visited[system]] = np.nan if value == "None" else float(value)
        visited[system] += 1
    human_scores = evalset.human(dimension)
    expected = np.array([[peer[s, i] for i in range(len(evalset))] for s in evalset.systems])
    judged = ~np.isnan(human_scores)
    assert judged.sum() == 1706
    np.testing.assert_allclose(human_scores[judged], expected[judged], atol=1e-9)


# ------------------------------------------------------------------------------------- SummEval


def rated(document: str, model: str, *ratings: int, **more: Any) -> dict[str, Any]:
    def rows(values: tuple[int, ...]) -> list[dict[str, int]]:
        names = ("coherence", "consistency", "fluency", "relevance")
        return [dict.fromkeys(names, value) for value in values]

    return {
        "id": document,
        "model_id": model,
        "decoded": f"{model} on {document}",
        "references": ["r1", "r2"],
        "expert_annotations": rows(ratings),
        "turker_annotations": rows((1, 2)),
        "metric_scores_1": {},
    } | more


def test_each_annotator_is_a_judge(tmp_path: Path) -> None:
    rows = [rated(d, m, 1, 3, 5) for d in ("d1", "d2") for m in ("M0", "M1")]
    path = lines(tmp_path / "model_annotations.aligned.jsonl", *rows)
    assert detect(path)[0] == "summeval-annotations"
    loaded_evalset = kt.load_evalset(path)
    assert loaded_evalset.human("fluency").tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert {row.judge for row in loaded_evalset.judgements} == {"expert-1", "expert-2", "expert-3"}
    assert loaded_evalset.systems["M1"] == ("M1 on d1", "M1 on d2")
    evalset = kt.load_evalset(path, judges="all")
    assert len(evalset.judgements) == 4 * 4 * 5
    agreement = kt.judge_agreement(path, dimensions=["fluency"])
    assert agreement.rows[0].judges == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (rated("d1", "M0", 1), "line 2: a second summary of 'd1' by M0"),
        (rated("d1", "M1", 1, references=["x"]), "line 2: 'd1' has other references"),
        (rated("d1", "M1", 1, decoded=3), "line 2: found 3 for 'decoded', expected a string"),
        (rated("d1", "M1", 1, expert_annotations=[1]), "line 2: found an annotation that is not"),
        (rated("d1", "M1", 1, expert_annotations=[{}]), "line 2: found the value None"),
    ],
)
def test_bad_annotations(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = lines(tmp_path / "s.jsonl", rated("d1", "M0", 2), row)
    with pytest.raises(kt.InputError, match=message):
        kt.load_evalset(path)
    with pytest.raises(kt.InputError, match="judges='me': expected experts, turkers, all"):
        kt.load_evalset(path, judges="me")
