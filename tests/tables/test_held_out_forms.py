"""Forms of tables that held-out files showed to be misread: numbers of tools, other languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_numbers_of_a_tool_are_no_ratings_of_a_person(tmp_path: Path) -> None:
    table = "question,answer,feedback.fluency,feedback.accuracy\n" + "".join(
        f"Question {i}?,Answer {i} here.,{i % 5 + 1},{i % 3 + 1}\n" for i in range(6)
    )
    with pytest.raises(kt.InputError, match=r"--column metric=feedback\.fluency,feedback\.accura"):
        kt.read_outputs(_write(tmp_path, "a.csv", table))


def test_a_judge_beside_unknown_numbers_is_refused(tmp_path: Path) -> None:
    table = "id,answer,judge,mystery\n" + "".join(
        f"{i},Answer {i} is this.,{judge},{i + 12.25}\n" for i in range(4) for judge in "xy"
    )
    with pytest.raises(kt.InputError, match="--column score=mystery"):
        kt.read_outputs(_write(tmp_path, "a.csv", table))


def test_outputs_in_lists_are_not_lost_beside_numbers(tmp_path: Path) -> None:
    records = [
        {
            "id": i,
            "model": "m",
            "tokens": i + 10,
            "parts": [{"turns": ["One text.", "Two texts."]}],
        }
        for i in range(4)
    ]
    path = _write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, records)))
    with pytest.raises(kt.InputError, match=r"candidate=parts\.0\.turns\.-1"):
        kt.read_outputs(path)
    evalset = kt.read_outputs(path, columns={"candidate": "parts.0.turns.0"})
    assert evalset.systems == {"m": ("One text.",) * 4}


@pytest.mark.parametrize(
    "header",
    ["Номер,Модель,Ответ,Эталон,Оценщик,Оценка", "编号,模型,回答,参考答案,评委,评分"],
)
def test_columns_are_named_in_other_scripts(tmp_path: Path, header: str) -> None:
    rows = [f"{i},{m},a {m} {i},r {i},{j},{i}" for i in (1, 2) for m in "mn" for j in "xy"]
    evalset = kt.read_outputs(_write(tmp_path, "a.csv", "\n".join([header, *rows])))
    assert evalset.systems == {"m": ("a m 1", "a m 2"), "n": ("a n 1", "a n 2")}
    assert evalset.references == (("r 1",), ("r 2",))
    assert {judgement.judge for judgement in evalset.judgements} == {"x", "y"}


def test_ranks_of_a_judge_are_ratings_of_which_lower_is_better(tmp_path: Path) -> None:
    rows = [f"{i},{j},{m},{r}" for i in (1, 2) for j in "xy" for r, m in enumerate("mn", 1)]
    table = "\n".join(["sentence,annotator,system,rank", *rows])
    evalset = kt.read_outputs(_write(tmp_path, "a.csv", table))
    assert len(evalset.judgements) == 8
    assert "lower is better" in evalset.remarks[0]


def test_references_in_another_file_are_joined_by_id(tmp_path: Path) -> None:
    outputs = _write(tmp_path, "a.csv", "id,prediction\n1,one text\n2,two texts\n")
    gold = _write(tmp_path, "gold.csv", "id,reference\n2,second gold\n1,first gold\n")
    evalset = kt.read_outputs([outputs, gold])
    assert evalset.systems == {"a": ("one text", "two texts")}
    assert evalset.references == (("first gold",), ("second gold",))


def test_exchanged_rows_and_columns_are_turned(tmp_path: Path) -> None:
    table = (
        ",Item 1,Item 2,Item 3\nQuestion,A b?,C d?,E f?\nAnswer,a a,c c,e e\nGold answer,b,d,f\n"
    )
    evalset = kt.read_outputs(_write(tmp_path, "a.csv", table))
    assert evalset.systems == {"a": ("a a", "c c", "e e")}
    assert any("exchanged" in remark for remark in evalset.remarks)


def test_a_document_may_have_a_list_for_each_system(tmp_path: Path) -> None:
    document = {
        name: [{"src": f"s {i}", "mt": f"{name} {i}", "ref": f"r {i}"} for i in range(3)]
        for name in ("m", "n")
    }
    evalset = kt.read_outputs(_write(tmp_path, "a.json", json.dumps(document)))
    assert evalset.systems == {n: tuple(f"{n} {i}" for i in range(3)) for n in ("m", "n")}


def test_a_scale_is_read_in_a_name(tmp_path: Path) -> None:
    table = "N°;Traduction;Évaluateur;Note /20\n1;un texte;Léa;12,5\n2;deux textes;Léa;9\n"
    evalset = kt.read_outputs(_write(tmp_path, "a.csv", table))
    assert [judgement.value for judgement in evalset.judgements] == [12.5, 9.0]
    [dimension] = evalset.dimensions.values()
    assert (dimension.low, dimension.high) == (0, 20)
