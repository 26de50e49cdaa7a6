"""Rules for tables that are easily misread: comparisons, grids, languages, codes, indices."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.errors import quoted
from karat.tables.files import read_table
from karat.tables.names import is_language, is_rater, role_rank
from karat.tables.options import ReadingOptions
from karat.tables.roles import infer_roles


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_text(text: Any, name: str = "t.csv", **options: Any) -> kt.EvalSet:
        path = tmp_path / name
        is_text = isinstance(text, str)
        path.write_text(text if is_text else json.dumps(text), encoding="utf-8")
        return kt.read_outputs(path, **options)

    return read_text


def refusal(read: Any, text: Any, name: str = "t.csv", **options: Any) -> str:
    with pytest.raises(kt.InputError) as error:
        read(text, name, **options)
    return str(error.value)


# ------------------------------------------------------------------------------------ promptfoo


def prompts(*systems: tuple[str, int, str]) -> dict[str, Any]:
    results = [
        {
            "testIdx": test,
            "promptIdx": number,
            "provider": {"id": provider},
            "prompt": {"label": label, "raw": label},
            "vars": {"q": f"question {test}?"},
            "response": {"output": f"{provider} {number} {test}"},
            "success": True,
            "score": 1,
        }
        for test in (0, 1)
        for provider, number, label in systems
    ]
    return {"results": {"results": results, "stats": {}}}


@pytest.mark.parametrize(
    ("systems", "names"),
    [
        ([("x:one", 0, "P"), ("x:two", 1, "P")], ["x:one", "x:two"]),
        ([("x:one", 0, "short"), ("x:one", 1, "long")], ["short", "long"]),
        ([("x:one", 0, "a\nb"), ("x:one", 1, "c\nd")], ["prompt 1", "prompt 2"]),
        (
            [("x:one", 0, "P"), ("x:two", 1, "P"), ("x:one", 2, "Q"), ("x:two", 3, "Q")],
            ["x:one P", "x:two P", "x:one Q", "x:two Q"],
        ),
    ],
)
def test_systems_of_promptfoo(read: Any, systems: Any, names: list[str]) -> None:
    assert [*read(prompts(*systems), "r.json").systems] == names


# ---------------------------------------------------------------------------------- comparisons

ARENA = (
    "question_id,model_a,model_b,winner,judge,response_a,response_b\n"
    "1,owl,elk,model_a,j1,Paris is it,It is Lyon\n"
    "2,elk,owl,tie (bothbad),j1,two and two,four\n"
    "3,fox,elk,model_b,j2,the moon,the sun here\n"
)


def pairs_of(evalset: kt.EvalSet) -> list[tuple[str, str, float, str]]:
    return [(p.system, p.segment, p.value, p.other) for p in evalset.pairs]


def test_two_systems_named_in_a_row(read: Any) -> None:
    evalset = read(ARENA)
    assert pairs_of(evalset) == [
        ("owl", "1", 1.0, "elk"),
        ("elk", "2", 0.5, "owl"),
        ("fox", "3", 0.0, "elk"),
    ]
    assert evalset.systems["elk"] == ("It is Lyon", "two and two", "the sun here")
    assert {p.judge for p in evalset.pairs} == {"j1", "j2"}


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ("a b tie", [1.0, 0.0, 0.5]),
        ("A B C_is_tie", None),
        ("left right tie", None),
        ("model_a model_b tie", [1.0, 0.0, 0.5]),
        ("A>B B>>A A=B", [1.0, 0.0, 0.5]),
        ("[[A]] [[B]] equal", [1.0, 0.0, 0.5]),
        ("0 1 0", None),
    ],
)
def test_words_for_the_winner(read: Any, values: str, shares: list[float] | None) -> None:
    rows = "".join(
        f"{i},owl,elk,text one {i},text two {i},{value}\n" for i, value in enumerate(values.split())
    )
    table = "id,model_a,model_b,output_a,output_b,winner\n" + rows
    if shares is None:
        sentence = refusal(read, table)
        assert "does not say whether owl or elk was better" in sentence
        assert len(read(table, columns=["ignore=winner"]).systems) == 2
    else:
        assert [value for _, _, value, _ in pairs_of(read(table))] == shares


def test_comparisons_of_columns_without_texts_and_one_hot(read: Any) -> None:
    wide = read("prompt,owl_x,bart,best\nwho is it now?,he is,she is,bart\nwhat?,it is,no,owl_x\n")
    assert pairs_of(wide) == [("owl_x", "1", 0.0, "bart"), ("owl_x", "2", 1.0, "bart")]
    bare = read(
        "item,rater,left_system,right_system,better\n1,ann,owl,elk,L\n2,ann,elk,owl,R\n"
        "1,bob,owl,elk,elk\n"
    )
    assert pairs_of(bare) == [
        ("owl", "1", 1.0, "elk"),
        ("elk", "2", 0.0, "owl"),
        ("owl", "1", 0.0, "elk"),
    ]
    columns = "id,model_a,model_b,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
    one_hot = read(columns + "1,m1,m2,aaa,bbb,1,0,0\n2,m2,m3,aac,bbc,0,0,1\n")
    assert pairs_of(one_hot) == [("m1", "1", 1.0, "m2"), ("m2", "2", 0.5, "m3")]
    assert not one_hot.offered


def test_two_systems_are_never_repeated_answers(read: Any) -> None:
    table = ARENA.replace(",winner", ",note").replace(",tie (bothbad)", ",x")
    assert {*read(table, columns=["ignore=note"]).systems} == {"owl", "elk", "fox"}
    numbered = "question,response_1,response_2,preferred\nwho?,he is,she is,1\nwhat?,it,no,2\n"
    assert pairs_of(read(numbered)) == [("1", "1", 1.0, "2"), ("1", "2", 0.0, "2")]


# ----------------------------------------------------------------------------- forms and surveys


@pytest.mark.parametrize("person", ["Your code", "Your name", "Participant", "Email Address"])
@pytest.mark.parametrize("time", ["Timestamp,", ""])
def test_grids_with_items_and_systems(read: Any, person: str, time: str) -> None:
    cell = "2026/05/04 10:00:00," if time else ""
    items = [f"Fluency [Item {i} - System {s}]" for i in (1, 2) for s in "AB"]
    table = f"{time}{person},{','.join(items)}\n{cell}KX1,4,3,5,2\n{cell}MB7,3,3,4,1\n"
    evalset = read(table)
    assert evalset.segments == ("Item 1", "Item 2")
    assert [*evalset.systems] == ["System A", "System B"]
    assert evalset.judgements.judges == ("KX1", "MB7")
    assert [*evalset.dimensions] == ["Fluency"]


def test_grids_of_dimensions_and_unknown_grids(read: Any) -> None:
    start = "Timestamp,Participant,"
    swapped = start + "Text 1 [Fluency],Text 1 [Adequacy],Text 2 [Fluency],Text 2 [Adequacy]\n"
    evalset = read(swapped + "x,P1,4,3,5,2\n")
    assert evalset.segments == ("Text 1", "Text 2")
    assert [*evalset.dimensions] == ["Fluency", "Adequacy"]
    unknown = start + "Good? [dog/x1],Good? [dog/x2],Good? [cat/x1],Good? [cat/x2]\nx,P1,4,3,5,2\n"
    assert "--column 'score={dimension}? [{id}/{system}]'" in refusal(read, unknown)
    settled = read(unknown, columns=["score={dimension}? [{id}/{system}]"])
    assert [*settled.systems] == ["x1", "x2"]
    scales = "item,text,Fluency [1-5],Adequacy [1-5]\n1,foo bar baz,3,4\n2,foo x,4,5\n"
    assert read(scales).has_texts


SURVEY = (
    "Participant,Code,Easy,Right\n"
    "P01,T1,Agree,Disagree\nP01,T2,Strongly agree,Agree\n"
    "P02,T1,Neutral,Agree\nP02,T2,Agree,Disagree\n"
)


def test_surveys_have_judges_items_and_one_scale(read: Any) -> None:
    evalset = read(SURVEY)
    assert evalset.segments == ("T1", "T2")
    assert evalset.judgements.judges == ("P01", "P02")
    values = {(r.judge, r.segment, r.dimension): r.value for r in evalset.judgements}
    assert values["P01", "T1", "Easy"] == values["P01", "T2", "Right"] == 4.0
    assert not evalset.has_texts


def test_words_without_a_common_scale_are_refused(read: Any) -> None:
    table = (
        "id,response,fluency,tone\n1,foo bar,good,good\n2,foo baz,bad,positive\n"
        "3,bar foo,bad,good\n4,baz foo,good,positive\n"
    )
    assert "order is not known" in refusal(read, table)
    shared = "id,response,fluency,tone\n1,foo bar,good,good\n2,foo baz,bad,terrible\n"
    options = ["fluency=bad,good", "tone=terrible,good"]
    assert read(shared, scale=options).dimensions["tone"].high == 1


@pytest.mark.parametrize("cells", [("TRUE", "FALSE"), ("yes", "no")])
def test_truth_values_beside_a_text_are_a_question(read: Any, cells: tuple[str, str]) -> None:
    yes, no = cells
    table = f"id,response,Okon,Pryanka\n1,foo bar baz,{yes},{no}\n2,x y z w,{no},{yes}\n"
    assert "--column judge=Okon,Pryanka for judges" in refusal(read, table)
    assert read(table, columns=["judge=Okon,Pryanka"]).judgements.judges == ("Okon", "Pryanka")
    assert [*read(table, columns=["dimension=Okon,Pryanka"]).dimensions] == ["Okon", "Pryanka"]
    single = f"id,response,Okon\n1,foo bar baz,{yes}\n2,x y z w,{no}\n"
    assert "--column score=Okon" in refusal(read, single)
    assert [*read(single.replace("Okon", "truncated")).offered] == (
        ["truncated"] if yes == "TRUE" else []
    )


# ------------------------------------------------------------------------------ judges and items

DIRECT = (
    "user,system,docID,segID,src,tgt,score\n"
    "u1,A,d1,1,Hallo du da,Hello you there,80\nu2,A,d1,1,Hallo du da,Hello you there,70\n"
    "u1,B,d1,1,Hallo du da,Hi you,60\nu2,A,d1,2,Guten Tag alle,Good day all,90\n"
    "u2,B,d1,2,Guten Tag alle,Good dy,40\nu1,A,d2,1,Wiedersehen ihr,Goodbye you,77\n"
    "u1,B,d2,1,Wiedersehen ihr,Bye bye,30\n"
)


@pytest.mark.parametrize("columns", [None, ["score=score"], ["judge=user"]])
@pytest.mark.parametrize("name", ["user", "annotator"])
def test_direct_assessments(read: Any, columns: list[str] | None, name: str) -> None:
    chosen = [text.replace("user", name) for text in columns] if columns else None
    evalset = read(DIRECT.replace("user", name), columns=chosen)
    assert evalset.segments == ("d1/1", "d1/2", "d2/1")
    assert evalset.groups == ("d1", "d1", "d2")
    assert evalset.judgements.judges == ("u1", "u2")
    assert len(evalset.judgements) == 7


def test_ratings_that_one_judge_repeats(read: Any) -> None:
    table = DIRECT + "u1,B,d2,1,Wiedersehen ihr,Bye bye,35\n"
    sentence = refusal(read, table)
    assert "judge 'u1' rates score of B on 'd2/1' again" in sentence
    assert "--repeated-ids first or last" in sentence
    values = [[r.value for r in read(table, repeats=x).judgements] for x in ("first", "last")]
    assert [sum(v) for v in values] == [447, 452]


def test_raters_that_are_not_known_are_refused(read: Any) -> None:
    table = (
        "id,shift,response,rating\n1,early,foo bar,3\n1,late,foo bar,4\n"
        "2,early,foo baz,2\n2,late,foo baz,2\n"
    )
    assert "--column judge=shift" in refusal(read, table)
    assert read(table, columns=["judge=shift"]).judgements.judges == ("early", "late")


def test_a_document_that_differs_between_rows_is_the_id(read: Any) -> None:
    table = "doc,system,summary\nd1,A,foo bar baz\nd2,A,x y z\nd1,B,foo bar\nd2,B,x y\n"
    evalset = read(table)
    assert evalset.segments == ("d1", "d2")
    assert evalset.groups is None
    assert read("document,mt,ref\nd1,foo bar,foo\nd2,x y,x\n").segments == ("d1", "d2")


# ------------------------------------------------------------------------------------ languages


def test_columns_named_by_languages(read: Any) -> None:
    rows = (
        "The dog sleeps in the house,Der Hund schläft im Haus,Der Hund schlummert im Haus\n"
        "The cat drinks milk,Die Katze trinkt Milch,Die Katze trinkt die Milch\n"
        "The car is red today,Das Auto ist heute rot,Das Auto ist heute ganz rot\n"
        "The tree is green,Der Baum ist grün,Ein Baum ist grün\n"
    )
    for header, roles in (
        ("English,MT,Reference", "candidate=MT, reference=Reference, source=English"),
        ("EN,Human,MT", "candidate=MT"),
        ("en,DE,MT", "candidate=MT, reference=DE, source=en"),
        ("English,German reference,Deutsch", "candidate=Deutsch, reference=German reference"),
        ("source,Deutsch,MT", "candidate=MT, reference=Deutsch, source=source"),
    ):
        if "Human" in header:
            assert "--column" in refusal(read, f"{header}\n{rows}")
        else:
            assert roles in read(f"{header}\n{rows}").remarks[0]
    assert [n for n in ("English text", "zh", "id", "no", "MT") if is_language(n)] == [
        "English text",
        "zh",
    ]


def test_long_texts_without_a_role_are_refused(read: Any) -> None:
    table = (
        "id,response,reference,Customer mail\n"
        "1,foo bar baz,foo bar,Dear sirs I would like to know about it\n"
        "2,x y z,x y,Hello I want to ask whether you open today\n"
    )
    assert "--column 'source=Customer mail'" in refusal(read, table)
    assert read(table, columns=["question=Customer mail"]).sources is not None
    assert read(table, columns=["ignore=Customer mail"]).sources is None


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Humanübersetzung", "Maschinelle Übersetzung"),
        ("human translation", "machine translation"),
        ("Post-edit", "MT"),
        ("traduction humaine", "traduction automatique"),
        ("traducción humana", "traducción automática"),
        ("traduzione umana", "traduzione automatica"),
        ("tradução humana", "tradução automática"),
        ("menselijke vertaling", "machinevertaling"),
        ("Nachbearbeitet", "Maschinenübersetzung"),
    ],
)
def test_compounds(read: Any, reference: str, candidate: str) -> None:
    table = (
        f"Nr,Quelle,{reference},{candidate}\n1,the dog,der Hund,Hund\n2,the cat,die Katze,Katz\n"
    )
    assert f"candidate={candidate}, reference={reference}, source=Quelle" in read(table).remarks[0]
    assert role_rank("reference", reference) is not None


# -------------------------------------------------------------------------------------- headers

PIVOT = "{0},owl,owl,elk,elk\n{1},pri,oko,pri,oko\nitem,,,,\n1,4,5,3,3\n2,3,4,2,2\n3,5,5,1,2\n"


@pytest.mark.parametrize("header", [None, "1-3"])
def test_levels_of_a_pivoted_table(read: Any, header: str | None) -> None:
    named = read(PIVOT.format("system", "judge"), header=header)
    assert [*named.systems] == ["owl", "elk"]
    assert named.judgements.judges == ("pri", "oko")
    assert named.segments == ("1", "2", "3")
    known = PIVOT.format("", "").replace("owl", "bart").replace("elk", "t5")
    known = known.replace("pri", "alice").replace("oko", "bob")
    assert read(known, header=header).judgements.judges == ("alice", "bob")
    sentence = refusal(read, PIVOT.format("", ""), header=header)
    for pattern in ("{system}/{judge}", "{judge}/{system}"):
        assert pattern in sentence
        assert len(read(PIVOT.format("", ""), columns=[f"score={pattern}"]).systems) == 2


def test_columns_of_one_name(read: Any) -> None:
    table = "id,response,score,score,score\n1,foo bar baz,4,5,3\n2,x y z,2,3,1\n"
    columns = "score=score,score (2),score (3)"
    assert columns in refusal(read, table)
    assert columns in refusal(read, table, columns=["score=score"])
    evalset = read(table, columns=[columns])
    assert evalset.judgements.judges == ("1", "2", "3")
    assert len(evalset.judgements) == 6
    only_one = read(table, columns=["score=score", "ignore=score (2),score (3)"])
    assert len(only_one.judgements) == 2
    assert not only_one.offered
    known = read("id,response,fluency,fluency\n1,foo bar,4,5\n2,x y,3,3\n")
    assert known.judgements.judges == ("1", "2")


def test_an_index_without_a_name(read: Any) -> None:
    rows = ("0,A,foo bar,3", "1,A,foo baz,4", "2,A,foo b,2", "0,B,x bar,3", "1,B,y,2", "2,B,z,5")
    table = "\n".join((",system,response,rating", *rows, ""))
    evalset = read(table)
    assert evalset.segments == ("0", "1", "2")
    assert len(evalset.judgements) == 6
    single = read("\n".join((",question,response,rating", *rows, "")).replace("A,", "who?,"))
    assert len(single.segments) == 6
    refused = refusal(read, table.replace("rating", "score"))
    assert "--column score=score " in refused
    assert "score= " not in refused


def test_sheets_are_systems_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sheet,id,response\nowl,1,a b\nowl,2,c d\nelk,1,e f\nelk,2,g h\n")
    table = replace(read_table(path), system_column="sheet")
    for options in (ReadingOptions(), ReadingOptions(repeats="first")):
        roles = infer_roles(table, options)
        assert (roles.system, roles.id) == ("sheet", "id")


# ----------------------------------------------------------------------------- nested data, cells


def test_objects_of_ratings(read: Any) -> None:
    records = [
        {
            "id": i,
            "question": f"what is {i} here?",
            "answer": f"answer text {i}",
            "judge_model": "owl-judge",
            "scores": {"relevance": i % 3 + 1, "zest": 4},
        }
        for i in range(4)
    ]
    for columns in (None, ["judge=judge_model", "score=scores.relevance,scores.zest"]):
        evalset = read(records, "t.json", columns=columns)
        assert evalset.judgements.judges == ("owl-judge",)
        assert [*evalset.dimensions] == ["relevance", "zest"]
    assert [name for name in ("scores", "rater a", "raterA", "A2") if is_rater(name)] == [
        "rater a",
        "raterA",
        "A2",
    ]


def test_lists_of_texts_are_answers(read: Any) -> None:
    one = [{"id": 1, "response": ["foo bar"]}, {"id": 2, "response": ["baz qux"]}]
    assert read(one, "t.json").systems == {"t": ("foo bar", "baz qux")}
    several = [{"id": 1, "response": ["foo", "bar"]}, {"id": 2, "response": ["baz", "qux"]}]
    evalset = read(several, "t.json")
    assert evalset.segments == ("1/1", "1/2", "2/1", "2/2")
    assert evalset.systems == {"t": ("foo", "bar", "baz", "qux")}


def test_text_in_a_column_of_scores(read: Any) -> None:
    table = "id,response,Score\n1,foo bar baz,4\n2,x y z,see comment\n3,q r s,3\n4,q r t,3\n"
    sentence = refusal(read, table)
    assert "line 3: found 'see comment' in column 'Score'" in sentence
    assert "--column ignore=Score" in sentence
    assert read(table, columns=["ignore=Score"]).has_texts


def test_dates_in_messages() -> None:
    assert quoted(datetime(2026, 5, 4)) == "2026-05-04"
    assert quoted(datetime(2026, 5, 4, 10, 30)) == "2026-05-04 10:30:00"


def test_likelihoods_of_a_log_are_scores(read: Any, tmp_path: Path) -> None:
    samples = "".join(
        json.dumps(
            {
                "doc_id": i,
                "doc": {"q": "x"},
                "target": "1",
                "arguments": [["a", " b"], ["a", " c"]],
                "resps": [[[-1.0, False]], [[-2.0, True]]],
                "filtered_resps": [[-1.0, False], [-2.0, True]],
                "acc": float(i % 2),
                "acc_norm": 1.0,
            }
        )
        + "\n"
        for i in range(4)
    )
    evalset = read(samples, "samples_task.jsonl")
    assert not evalset.has_texts
    assert [*evalset.offered] == ["acc", "acc_norm"]
    values = evalset.offered["acc"]().by_id[next(iter(evalset.systems))]
    assert values == {"0": 0.0, "1": 1.0, "2": 0.0, "3": 1.0}
