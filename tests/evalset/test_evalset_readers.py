"""The readers of what others publish, on small files: good ones, odd ones and bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.evalset.loading import detect, read_evalset
from karat.evalset.reading import Reading

Files = Mapping[str, str | bytes | None]


def mqm(*rows: str) -> str:
    """Rows as `system seg rater target category severity`."""
    lines = ["system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"]
    for row in rows:
        system, segment, rater, target, category, severity = row.split("|")
        fields = (
            system,
            "doc1",
            "1",
            segment,
            rater,
            f"source {segment}",
            target,
            category,
            severity,
        )
        lines.append("\t".join(fields))
    return "\n".join(lines) + "\n"


MQM_ROWS = (
    "A|1|r1|one <v>two</v>|Accuracy/Mistranslation|Major",
    "A|1|r1|<v>one</v> two|Fluency/Punctuation|Minor",
    "A|1|r2|one two|No-error|No-error",
    "A|2|r1|<v>three</v>|Non-translation!|Major",
    "B|1|r1|<v>uno</v> dos|Style/Awkward|Minor",
    "B|2|r2|tres|Fluency/Grammar|Neutral",
    "refA|1|r1|eins zwei|No-error|No-error",
    "refA|2|r1|drei|No-error|No-error",
)
BELIEVABLE: Files = {
    "annotations/xx-en/xx-en.ad.annot.raw.csv": (
        "SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,ANNOTATOR_01,ANNOTATOR_02\n"
        "1,xx-en,ad,9,50.0,nan\n2,xx-en,ad,1,0.0,100.0\n"
    ),
    "annotations/xx-en/xx-en.fl.annot.raw.csv": (
        "SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,ANNOTATOR_01\n1,xx-en,fl,1,70.0\n"
    ),
    "annotations/xx-en/xx-en.bl.annot.raw.csv": "SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,ANNOTATOR_01\n",
    "text/mt_output/xx-en.general.tok.en": "out 1\nout 2\n",
    "text/test/ted_test1.tok.en": "ref 1\nref 2\n",
    "text/test/ted_test1.raw.en": "Ref 1\nRef 2\n",
    "text/test/ted_test1_en-xx.raw.xx": "src 1\nsrc 2\n",
}
RATED = "_worker_id,mr_id,sys1,sys2,sys3,sys4,sys5,{0}1,{0}2,{0}3,{0}4,{0}5\n"
FIVE = "ABCDE"
E2E: Files = {
    "testset_w_refs.csv": 'mr,ref\n"in, 1",r1\n"in, 1",r1b\n"in, 2",r2\n',
    "naturalness.nopii.csv": RATED.format("natur")
    + "w1,1,A,B,C,D,E,100,50,50,20,111111\nw1,1,A,C,B,D,E,9,8,7,6,5\n",
    "quality.nopii.csv": RATED.format("quality") + "w1,2,A,B,C,D,E,1,1,1,1,1\n",
    "primary/A.tsv": "\ufeffMR\toutput\r\r\n"
    '"in, 1"\t"the ""A"" one"\r\r\n\r\r\n"in, 2"\tA two\r\r\n',
    "primary/B.tsv": "MR\toutput\n'in, 1'\t'B one'\n'in, 2'\t'B two'\n",
    **{f"primary/{name}.tsv": "MR\toutput\nin, 1\tone\nin, 2\ttwo\n" for name in "CDE"},
}
REALSUMM: Files = {
    "ids.txt": "d1\nd2",
    "documents.txt": "doc 1\ndoc 2",
    "references.txt": "<t> one . </t> <t> two . </t>\nthree",
    "SCUs.txt": "u1\tu2\tu3\tu4\nu1",
    "summaries/A.summary": "sum 1\nsum 2",
    "labels/A.label": "1\t0\t0\t0\n1",
}
SUMMEVAL = {
    "id": "d1",
    "source": "s",
    "references": ["r1", "r2"],
    "systems": {"M1": {"summary": "x", "scores": {"coherence": 1.5, "fluency": 5}}},
}
NUGGETS = [("n1", "vital"), ("n2.", "vital"), ("n3", "okay")]
MTME: Files = {
    "sources/xx-en.txt": "s1\ns2\n",
    "references/xx-en.refA.txt": "ra1\nra2\n",
    "references/xx-en.refB.txt": "rb1\nrb2\n",
    "system-outputs/xx-en/S1.txt": "o1\no2\n",
    "system-outputs/xx-en/refA.txt": "ra1\nra2\n",
    "documents/xx-en.docs": "news doc1\nnews\tdoc2\n",
    "human-scores/xx-en.mqm.seg.score": "S1\t-1.5\nS1\tNone\nrefA\t-1\nrefA\t-2\n",
    "human-scores/xx-en.mqm.sys.score": "S1\t-1.5\n",
}
TWITTER = "source\treference\tcandidate\tscore\na\tA\tx\t0.2\na\tA\ty\t1.0\nb\tB\tx\t0\n"


def answer(run: str, labels: str, nuggets: list[tuple[str, str]] = NUGGETS) -> dict[str, Any]:
    meaning = {"s": "support", "p": "partial_support", "n": "not_support"}
    return {
        "qid": "q1",
        "run_id": run,
        "query": "why",
        "answer_text": f"by {run}\nbecause",
        "nuggets": [
            {"text": text, "importance": weight, "assignment": meaning[label]}
            for (text, weight), label in zip(nuggets, labels, strict=True)
        ],
    }


def lines(*objects: object) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in objects)


SETS: dict[str, Files] = {
    "mqm": {"rows.tsv": mqm(*MQM_ROWS)},
    "believability": BELIEVABLE,
    "e2e": E2E,
    "realsumm": REALSUMM,
    "summeval": {"s.jsonl": lines(SUMMEVAL)},
    "rag24": {"n.jl": lines(answer("X", "spn"), answer("Y", "nns"))},
    "mt-metrics-eval": MTME,
    "paraphrases": {"p.tsv": TWITTER},
}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the files of a format, some of them changed, to a folder."""

    def run(format: str, changed: Files | None = None) -> Path:
        for name, content in {**SETS[format], **(changed or {})}.items():
            if content is not None:
                path = tmp_path / "set" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "set"

    return run


@pytest.mark.parametrize("format", SETS)
def test_the_format_is_found(write: Write, format: str) -> None:
    assert detect(write(format))[0] == format


@pytest.mark.parametrize("format", SETS)
def test_line_ends_and_byte_order_marks_change_nothing(write: Write, format: str) -> None:
    plain = kt.load_evalset(write(format))
    odd: dict[str, str | bytes | None] = {}
    for name, content in SETS[format].items():
        assert isinstance(content, str)
        if not content.startswith("\ufeff"):
            odd[name] = "\ufeff" + content.replace("\n", "\r\n")
    assert kt.load_evalset(write(format, odd)) == plain


def test_mqm(write: Write) -> None:
    evalset = kt.load_evalset(write("mqm"))
    assert evalset.systems == {"A": ("one two", "three"), "B": ("uno dos", "tres")}
    assert evalset.references == (("eins zwei",), ("drei",))
    assert (evalset.groups, evalset.sources) == (("doc1", "doc1"), ("source 1", "source 2"))
    values = {row[:4]: row.value for row in evalset.judgements}
    assert values["A", "1", "r1", "mqm"] == 5.1
    assert values["A", "1", "r1", "accuracy"] == 5
    assert values["A", "1", "r1", "fluency"] == 0.1
    assert values["A", "1", "r2", "mqm"] == 0
    assert values["A", "2", "r1", "mqm"] == 25
    assert values["B", "1", "r1", "mqm"] == 1
    assert values["B", "1", "r1", "fluency"] == 0
    assert values["B", "2", "r2", "fluency"] == 0
    np.testing.assert_array_equal(evalset.human("mqm"), [[-2.55, -25], [-1, 0]])


def test_mqm_with_other_weights_dimensions_and_references(write: Write) -> None:
    evalset = kt.load_evalset(
        write("mqm"),
        weights={"major": 10, "Minor": 2, "Neutral": 0, "No-error": 0},
        dimensions={"style": "Style"},
        references=(),
        leave_out="A",
    )
    assert list(evalset.systems) == ["B", "refA"]
    assert [row.value for row in evalset.judgements] == [2, 0, 0, 0]
    assert evalset.references == ((), ())


def test_believability(write: Write) -> None:
    evalset = kt.load_evalset(write("believability"))
    assert list(evalset.judgements) == [
        ("xx-en", "1", "xx-en/01", "adequacy", 50),
        ("xx-en", "2", "xx-en/01", "adequacy", 0),
        ("xx-en", "2", "xx-en/02", "adequacy", 100),
        ("xx-en", "1", "xx-en/01", "fluency", 70),
    ]
    assert evalset.references == (("ref 1",), ("ref 2",))
    raw = kt.load_evalset(write("believability"), reference="raw", pairs="xx-en")
    assert (raw.references[0], raw.sources) == (("Ref 1",), ("src 1", "src 2"))


def test_e2e_ratings_are_shares_of_comparisons_won(write: Write) -> None:
    evalset = kt.load_evalset(write("e2e"))
    assert evalset.systems["A"] == ('the "A" one', "A two")
    assert evalset.systems["B"] == ("B one", "B two")
    assert evalset.references == (("r1", "r1b"), ("r2",))
    values = {(row.system, row.segment, row.dimension): row.value for row in evalset.judgements}
    # The worker saw each of these five twice: wins out of 8.
    first = {"A": 3 + 4, "B": 1.5 + 2, "C": 1.5 + 3, "D": 0 + 1, "E": 4 + 0}
    assert {name: values[name, "1", "naturalness"] * 8 for name in FIVE} == first
    assert {values[name, "2", "quality"] for name in FIVE} == {0.5}
    assert evalset.judgements.judges == ("naturalness/w1", "quality/w1")


def test_realsumm(write: Write) -> None:
    evalset = kt.load_evalset(write("realsumm"))
    assert evalset.references == (("one . two .",), ("three",))
    np.testing.assert_array_equal(evalset.human("coverage"), [[0.25, 1]])


def test_summeval(write: Write) -> None:
    evalset = kt.load_evalset(write("summeval"))
    assert evalset.references == (("r1", "r2"),)
    assert [row[3:] for row in evalset.judgements] == [("coherence", 1.5), ("fluency", 5)]


def test_rag24(write: Write) -> None:
    evalset = kt.load_evalset(write("rag24"))
    assert evalset.systems["X"] == ("by X\nbecause",)
    assert evalset.references == (("n1. n2. n3.",),)
    scores = {name: evalset.human(name)[:, 0].tolist() for name in evalset.dimensions}
    assert scores == {
        "all": [1.5 / 3, 1 / 3],
        "vital": [0.75, 0],
        "weighted": [1.5 / 2.5, 0.5 / 2.5],
        "strict-all": [1 / 3, 1 / 3],
        "strict-vital": [0.5, 0],
        "strict-weighted": [1 / 2.5, 0.5 / 2.5],
    }
    listed = kt.load_evalset(write("rag24"), references="listed")
    assert listed.references == (("n1", "n2.", "n3"),)


def test_a_topic_without_vital_nuggets_has_no_vital_score(write: Write) -> None:
    only = [("n1", "okay")]
    evalset = kt.load_evalset(write("rag24", {"n.jl": lines(answer("X", "s", only))}))
    assert np.isnan(evalset.human("vital")).all()
    assert evalset.human("weighted").tolist() == [[1.0]]


def test_mt_metrics_eval(write: Write) -> None:
    evalset = kt.load_evalset(write("mt-metrics-eval"))
    assert evalset.name == "set-xx-en"
    assert evalset.systems == {"S1": ("o1", "o2")}
    assert evalset.references == (("ra1",), ("ra2",))
    assert evalset.groups == ("doc1", "doc2")
    assert list(evalset.judgements) == [("S1", "1", "all", "mqm", -1.5)]
    both = kt.load_evalset(write("mt-metrics-eval"), references="refA,refB")
    assert both.references == (("ra1", "rb1"), ("ra2", "rb2"))
    assert both.remarks == ()
    other = kt.load_evalset(write("mt-metrics-eval"), references="refB", humans="yes")
    assert list(other.systems) == ["S1", "refA"]
    assert len(other.judgements) == 3
    assert list(kt.load_evalset(write("mt-metrics-eval"), references="refB").systems) == ["S1"]


REFS = {f"references/xx-en.{name}.txt": f"{name}1\n{name}2\n" for name in ("refA", "refB")}
MADE_UP = {"references/xx-en.a_synthetic_ref.txt": "x\ny\n"}
OUTPUTS = {f"system-outputs/xx-en/{n}.txt": "x\ny\n" for n in ("refB", "synthetic_ref")}


@pytest.mark.parametrize(
    ("changed", "reference", "reason"),
    [
        ({**REFS, **MADE_UP}, "refA", "the first of the standard names"),
        (
            {**REFS, **{f"metric-scores/xx-en/{m}-refB.seg.score": "" for m in "MN"}},
            "refB",
            "which most metric scores in the folder use",
        ),
        (
            {**REFS, **{f"metric-scores/xx-en/M-{r}.seg.score": "" for r in ("refB", "refA")}},
            "refA",
            "which most metric scores",
        ),
    ],
)
def test_the_standard_reference_is_the_default_and_the_reader_says_so(
    write: Write, changed: Files, reference: str, reason: str
) -> None:
    evalset = kt.load_evalset(write("mt-metrics-eval", {**changed, **OUTPUTS}))
    assert evalset.references == ((f"{reference}1",), (f"{reference}2",))
    (remark,) = evalset.remarks
    assert remark.startswith(f"Reference: {reference}, {reason}")
    assert "references=NAME" in remark
    assert list(evalset.systems) == ["S1"]  # neither human nor made-up translations
    assert evalset.select(systems=["S1"]).remarks == evalset.remarks


def test_wmts_own_standard_is_known_by_the_name_of_the_folder(write: Write) -> None:
    written = write("mt-metrics-eval", REFS)
    folder = written.rename(written.parent / "wmt23")
    for place in ("sources/{}.txt", "references/{}.refA.txt", "references/{}.refB.txt"):
        (folder / place.format("xx-en")).rename(folder / place.format("he-en"))
    (folder / "system-outputs" / "xx-en").rename(folder / "system-outputs" / "he-en")
    evalset = kt.load_evalset(folder)
    assert evalset.references == (("refB1",), ("refB2",))
    assert evalset.remarks[0].startswith("Reference: refB, WMT's standard.")


def rating(*scores: float, **more: object) -> str:
    return json.dumps({"errors": [{"start": 0, "end": 1, "score": s, **more} for s in scores]})


def test_ratings_are_judgements_by_their_raters(write: Write) -> None:
    merged = f"S1\t{rating(5, 0.5)}\tann\nS1\tNone\nrefA\t{rating()}\tben\nrefA\tNone\n"
    files: Files = {"human-scores/xx-en.mqm.merged.seg.rating": merged}
    evalset = kt.load_evalset(write("mt-metrics-eval", files))
    assert list(evalset.dimensions) == ["mqm.rating", "mqm"]
    assert ("S1", "1", "ann", "mqm.rating", -5.5) in list(evalset.judgements)
    assert len(evalset.judgements) == 2
    more = json.dumps({"errors": [{"severity": "minor", "category": "fluency/punctuation"}]})
    for name, first, second in (("ann", rating(5), rating()), ("ben", "None", more)):
        files[f"human-scores/xx-en.mqm.{name}.seg.rating"] = f"S1\t{first}\nS1\t{second}\n"
    rated = kt.load_evalset(write("mt-metrics-eval", files))  # merged holds the same again
    assert [row for row in rated.judgements if row.dimension == "mqm.rating"] == [
        ("S1", "1", "ann", "mqm.rating", -5.0),
        ("S1", "2", "ann", "mqm.rating", 0.0),
        ("S1", "2", "ben", "mqm.rating", -0.1),
    ]


def test_paraphrases_are_items_of_one_pseudo_system(write: Write) -> None:
    evalset = kt.load_evalset(write("paraphrases"))
    assert (evalset.segments, evalset.groups) == (("1.1", "1.2", "2.1"), ("1", "1", "2"))
    assert evalset.human("similarity").tolist() == [[0.2, 1.0, 0.0]]


# --------------------------------------------------------------------------------- bad input

AD = "annotations/xx-en/xx-en.ad.annot.raw.csv"
ADEQUATE = "SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,ANNOTATOR_01\n"
NATURAL = RATED.format("natur")
BAD: list[tuple[str, Files, str]] = [
    ("mqm", {"rows.tsv": "system\tdoc\trater\tcategory\tseverity\n"}, "line 1: found the columns"),
    ("mqm", {"rows.tsv": mqm(*MQM_ROWS) + "A\tdoc1\n"}, "line 10: found 2 fields, expected 9"),
    ("mqm", {"rows.tsv": mqm(*MQM_ROWS, "A|1|r3|other|No-error|No-error")}, "line 10: found anoth"),
    ("mqm", {"rows.tsv": mqm(*MQM_ROWS, "A|1|r3|one two|X|Huge")}, "line 10: no weight for sever"),
    ("mqm", {"rows.tsv": mqm()}, "no segments"),
    ("mqm", {"rows.tsv": mqm(*MQM_ROWS).encode() + b"\xff\n"}, "line 10: not valid UTF-8"),
    ("believability", {AD: "SEGID,LANGPAIR\n"}, "line 1: found the columns SEGID, LANGPAIR, exp"),
    ("believability", {AD: ADEQUATE + "1,yy-en,ad,1,5\n"}, "line 2: found yy-en ad, expected xx"),
    ("believability", {AD: ADEQUATE + "9,xx-en,ad,1,5\n"}, "line 2: a judgement of segment '9'"),
    ("believability", {AD: ADEQUATE + "1,xx-en,ad,1,x\n"}, "line 2: found the value 'x'"),
    ("believability", {AD: ADEQUATE + "1,xx-en,ad,1,5\n" * 2}, "line 3: judge 'xx-en/01' has"),
    ("believability", {AD: ADEQUATE + '1,xx-en,ad,1,"5\n'}, "line 2: a quote that is opened"),
    ("believability", {AD: None}, "annot.raw.csv: No such file"),
    ("believability", {AD: ""}, "found the columns nothing, expected SEGID"),
    ("believability", {"text/mt_output/xx-en.b.tok.en": ""}, "found 2 files xx-en.*, expected one"),
    ("believability", {"text/test/ted_test1.tok.en": "r\n"}, "system xx-en: found 2, expected 1"),
    ("e2e", {"primary/A.tsv": "MR\toutput\nin, 1\ta\n"}, "A.tsv: found 1 outputs, expected 2"),
    (
        "e2e",
        {"primary/A.tsv": "MR\toutput\nin, 2\ta\nin, 1\tb\n"},
        "line 2: found the input 'in, 2",
    ),
    ("e2e", {"primary/A.tsv": "MR\toutput\nin, 1\nin, 2\tb\n"}, "line 2: found 1 fields, expected"),
    (
        "e2e",
        {"testset_w_refs.csv": "mr;ref\n"},
        "line 1: found the columns mr;ref, expected mr, ref",
    ),
    (
        "e2e",
        {"naturalness.nopii.csv": NATURAL + "w,1,A,B,C,D,E,1,2,3,4,\n"},
        "line 2: found the rat",
    ),
    ("e2e", {"naturalness.nopii.csv": NATURAL + "w,1,A,B,C,D,Z,1,2,3,4,5\n"}, "of system 'Z', wh"),
    ("e2e", {"quality.nopii.csv": None}, "quality.nopii.csv: No such file"),
    ("realsumm", {"SCUs.txt": "u\n"}, "SCUs.txt: found 1 lines, expected 2"),
    (
        "realsumm",
        {"labels/A.label": "1\t0\t0\n1\n"},
        "A.label, line 1: found '1\\t0\\t0', expected 4",
    ),
    ("realsumm", {"labels/A.label": "1\t0\t0\t2\n1\n"}, "A.label, line 1: found"),
    ("realsumm", {"labels/A.label": "1\t0\t0\t0\n"}, "A.label: found 1 lines, expected 2"),
    ("realsumm", {"labels/A.label": None, "labels/B.label": ""}, "A.label: No such file"),
    ("realsumm", {"summaries/A.summary": "one"}, "system A: found 1, expected 2"),
    ("summeval", {"s.jsonl": lines(SUMMEVAL, SUMMEVAL)}, "segments 1 and 2 have the same id 'd1'"),
    ("summeval", {"s.jsonl": lines(SUMMEVAL) + "{\n"}, "s.jsonl, line 2: not a JSON object"),
    ("summeval", {"s.jsonl": lines({**SUMMEVAL, "source": 3})}, "line 1: found 3 for 'source'"),
    ("summeval", {"s.jsonl": lines({**SUMMEVAL, "systems": {"M": 1}})}, "found 1 for system M"),
    ("summeval", {"s.jsonl": lines({**SUMMEVAL, "systems": {"M": {}}})}, "nothing for 'summary'"),
    (
        "summeval",
        {"s.jsonl": lines(SUMMEVAL).replace("1.5", '"good"')},
        "line 1: found the value 'good'",
    ),
    ("summeval", {"s.jsonl": lines(SUMMEVAL).replace("coherence", "wit")}, "of dimension 'wit'"),
    ("rag24", {"n.jl": lines(answer("X", "spn")) + "\n[]\n"}, "n.jl, line 3: found '[]', expected"),
    ("rag24", {"n.jl": lines({**answer("X", "spn"), "answer_text": None})}, "found None for 'answ"),
    (
        "rag24",
        {"n.jl": lines(answer("X", "spn")).replace("okay", "so")},
        "line 1: expected nuggets",
    ),
    (
        "rag24",
        {"n.jl": lines(answer("X", "spn")).replace('"support"', "[]")},
        "expected nuggets wi",
    ),
    ("rag24", {"n.jl": lines({**answer("X", "", []), "nuggets": []})}, "expected nuggets"),
    (
        "rag24",
        {"n.jl": lines(answer("X", "s", NUGGETS[:1]), answer("Y", "spn"))},
        "found other nug",
    ),
    (
        "rag24",
        {"n.jl": lines(answer("X", "spn"), answer("X", "nnn"))},
        "line 2: judge 'assignment'",
    ),
    ("mt-metrics-eval", {"sources/yy-en.txt": "s\n"}, "no pair was given: choose one of xx-en, yy"),
    (
        "mt-metrics-eval",
        {"references/xx-en.refA.txt": "r\n"},
        "refA.txt: found 1 lines, expected 2",
    ),
    ("mt-metrics-eval", {"documents/xx-en.docs": "a b\nc\n"}, "xx-en.docs, line 2: found 'c', exp"),
    (
        "mt-metrics-eval",
        {"human-scores/xx-en.mqm.seg.score": "S1 1\n"},
        "system S1: found 1 scores",
    ),
    (
        "mt-metrics-eval",
        {"human-scores/xx-en.mqm.seg.score": "S1 1\n" * 3},
        "line 3: system S1 has more scores than segments",
    ),
    ("mt-metrics-eval", {"human-scores/xx-en.mqm.seg.score": "S1 1 2\n"}, "line 1: found 'S1 1 2'"),
    (
        "mt-metrics-eval",
        {"human-scores/xx-en.mqm.seg.score": "S2 1\n"},
        "line 1: a judgement of sys",
    ),
    (
        "mt-metrics-eval",
        {"human-scores/xx-en.a.seg.score": "S1 x\nS1 1"},
        "line 1: found the value",
    ),
    *(
        (
            "mt-metrics-eval",
            {"human-scores/xx-en.mqm.merged.seg.rating": f"S1\t{bad}\nS1\tNone\n"},
            "merged.seg.rating, line 1: found '",
        )
        for bad in ("{", "[]", '{"errors": [1]}', '{"errors": [{"score": "x"}]}', "a\tb\tc")
    ),
    ("paraphrases", {"p.tsv": TWITTER + "b\tB\n"}, "p.tsv, line 5: found 2 fields, expected 4"),
    ("paraphrases", {"p.tsv": TWITTER + "b\tB\tz\tbad\n"}, "p.tsv, line 5: found the value 'bad'"),
    ("paraphrases", {"p.tsv": TWITTER[: TWITTER.index("\n")]}, "no segments"),
    ("paraphrases", {"p.tsv": TWITTER.encode() + b"\xe9\n"}, "p.tsv, line 5: not valid UTF-8"),
]


@pytest.mark.parametrize(("format", "changed", "sentence"), BAD)
def test_what_is_wrong_is_named(write: Write, format: str, changed: Files, sentence: str) -> None:
    reading = Reading()
    with pytest.raises(kt.InputError) as caught:
        read_evalset(write(format, changed), reading)
    assert any(sentence in text for text in (*reading.all(), str(caught.value))), reading.all()


@pytest.mark.parametrize(
    ("format", "options", "sentence"),
    [
        ("mqm", {"references": "refZ"}, "has no system 'refZ'; did you mean refA"),
        ("mqm", {"reference": "refA"}, "format mqm has no option 'reference'; did you mean refer"),
        ("believability", {"pairs": "de-en"}, "has no pair 'de-en': it has xx-en"),
        ("believability", {"reference": "x"}, "reference='x': expected tok or raw"),
        ("rag24", {"references": "all"}, "references='all': expected joined or listed"),
        ("mt-metrics-eval", {"pair": "de-en"}, "pair=de-en was given: choose one of xx-en"),
        ("mt-metrics-eval", {"references": "refC"}, "has no reference 'refC'"),
        ("mt-metrics-eval", {"humans": "some"}, "humans=some: expected yes or no"),
    ],
)
def test_bad_options(write: Write, format: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.InputError, match=sentence):
        kt.load_evalset(write(format), **options)
