"""Values that are easily misread: numbers, choices, directions, scales, lists, empty cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.tables.cells import parse_choices, parse_rating


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


def scores(evalset: kt.EvalSet, metric: str) -> list[float]:
    """Return the scores of the only system, in the order of segments."""
    given = evalset.offered[metric]()
    return list(given.segment_scores(next(iter(evalset.systems)), evalset.segments, None))


# -------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        *(("1.234", ",", 1234), ("1.234,5", ",", 1234.5), ("3,5", ",", 3.5), ("3.5", ",", None)),
        *(
            ("3,5", ".", None),
            ("1,234", ".", 1234),
            ("1,234.5", ".", 1234.5),
            ("1.234", ".", 1.234),
        ),
        *(("85 %", ".", 85), ("85,5 %", ",", 85.5), ("3,5", "", 3.5), ("4.5.2024", ",", None)),
    ],
)
def test_numbers_have_the_separator_of_their_table(
    text: str, decimal: str, number: float | None
) -> None:
    assert parse_rating(text, decimal) == number


def table_of_costs(*cells: str) -> str:
    rows = [f"{i};the cat {i} sat;{cell};{i},5" for i, cell in enumerate(cells)]
    return "\n".join(["id;output;cost;latency", *rows, ""])


def test_points_are_thousands_in_a_table_with_commas(read: Any) -> None:
    evalset = read(table_of_costs("1.234", "2.000,25", "12"))
    assert scores(evalset, "cost") == [1234, 2000.25, 12]


def test_points_and_commas_are_refused(read: Any) -> None:
    assert "'latency' with decimal commas ('0,5')" in refusal(read, table_of_costs("1.5", "2.5"))


def test_thousands_follow_the_option(read: Any) -> None:
    text = 'id,output,cost\n1,the cat sat,"1,234"\n2,a dog ran,"2,345"\n'
    assert "--decimal , or --decimal ." in refusal(read, text)
    assert scores(read(text, decimal=","), "cost") == [1.234, 2.345]
    assert scores(read(text, decimal="."), "cost") == [1234, 2345]


# -------------------------------------------------------------------------------------- choices


@pytest.mark.parametrize(
    "text",
    ["4-May", "3 - Mai", "1:30", "10-20", "2-3", "3 (was 5)", "4.5.2024", "2.000,25", "1.0-beta"],
)
def test_other_texts_are_no_choices(text: str) -> None:
    assert not parse_choices([text, text, text])


def test_most_cells_are_choices() -> None:
    assert parse_choices(["4 - good", "5 - great", "4 - good"]) == {"4 - good": 4, "5 - great": 5}
    assert not parse_choices([1, 2, 3, 4, "4 - good"])
    assert not parse_choices(["4 - good", "4 - bad", "4 - good"])


def rated(cells: str) -> str:
    """Return a table with ratings of `alice` from 1 to 5, and those of a second judge."""
    rows = [f"q{i},the cat {i} sat,{1 + i % 5},{cell}" for i, cell in enumerate(cells.split(" "))]
    return "\n".join(["item,text,alice,bob", *rows, ""])


@pytest.mark.parametrize("cell", ["4-May", "2-3", "1:30", "five"])
def test_text_among_ratings_is_refused_with_its_line(read: Any, cell: str) -> None:
    message = refusal(read, rated(f"1 2 {cell} 4 5 3"))
    assert f"line 4: found '{cell}' in column 'bob'" in message


# ----------------------------------------------------------------------------------- directions


@pytest.mark.parametrize(
    ("name", "better"),
    [
        *((n, "lower") for n in ("rank", "mqm_errors", "issues", "mistakes", "penalty")),
        *((n, "lower") for n in ("error_rate", "errorRate", "Fehlerzahl", "fautes", "errores")),
        *((n, "higher") for n in ("fluency", "mqm", "no_errors", "accuracy_loss", "quality")),
    ],
)
def test_ratings_follow_the_words_of_their_name(read: Any, name: str, better: str) -> None:
    rows = [f"q{i},{judge},{name},{1 + i % 5}" for i in range(6) for judge in ("ann", "bob")]
    evalset = read("\n".join(["item,judge,dimension,score", *rows, ""]))
    assert evalset.dimensions[name].better == better


def test_the_direction_is_that_of_the_column(read: Any) -> None:
    evalset = read("id,system,comet,wer\n1,A,0.5,0.3\n2,A,0.6,0.2\n1,B,0.7,0.1\n2,B,0.8,0.1\n")
    assert kt.metric("given:metric=x,column=wer").sign == -1
    (comet,) = kt.metric("given:metric=ter,column=comet").for_evalset(evalset)
    assert comet.sign == 1
    with pytest.raises(kt.InputError, match="'wer' is the name of other scores"):
        kt.metric("given:metric=wer,column=comet").for_evalset(evalset)


# --------------------------------------------------------------------------------- plausibility


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("1 2 999 4 5 3", "line 4: found 999 in column 'bob', far from other ratings of score"),
        ("1 2 -99 4 5 3", "found -99"),
        ("1 2 55 4 5 3", "--rating-scale score=1..5, or leave the column out with"),
        ("1 2 80% 4 5 3", "line 4: found '80%' in column 'bob'"),
        ("20 40 60 80 100 60", "judges 'alice' and 'bob' seem to use different scales"),
        ("True False True True False True", "judges 'bob' and 'alice' seem to use different"),
        ("0.5 0.1 0.7 0.2 0.3 1", "judges 'bob' and 'alice' seem to use different"),
        ("1/10 2/10 3/10 4/10 5/10 1/10", "found '1/10' in column 'bob', where other ratings"),
        ("4-May 3-Apr 5-Jun 2-Jan 4-May 3-Apr", "line 2: found '4-May' in column 'bob'"),
        ("bad inf 3 4 5 1", "line 2: found 'bad' in column 'bob'"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(read: Any, cells: str, message: str) -> None:
    assert message in refusal(read, rated(cells))
    assert "judge alice;" in read(rated(cells), columns="ignore=bob").remarks[0]


def test_a_declared_scale_settles_scales(read: Any) -> None:
    text = rated("20 40 60 80 100 60")
    evalset = read(text, scale="score=1..100")
    assert (evalset.dimensions["score"].low, evalset.dimensions["score"].high) == (1, 100)
    message = refusal(read, rated("1 2 55 4 5 3"), scale="score=1..5")
    assert "line 4: found 55 in column 'bob', expected 1 to 5 for score" in message


def test_four_of_five_is_four(read: Any) -> None:
    evalset = read(rated("4/5 5/5 1/5 2/5 3/5 4/5"))
    plain = read(rated("4 5 1 2 3 4"))
    assert evalset.judgements == plain.judgements
    assert str(evalset.dimensions["score"]) == str(plain.dimensions["score"])


# ------------------------------------------------------------- units, lists, arguments, options


def documents(column: str, *empty: int) -> str:
    rows = [
        f"q{i},{'' if i in empty else f'd{i // 4}'},the cat {i} sat,the cat {i} ran"
        for i in range(16)
    ]
    return "\n".join([f"id,{column},reference,output", *rows, ""])


@pytest.mark.parametrize("column", ["doc", "document_id"])
def test_rows_without_a_unit_are_units(read: Any, column: str) -> None:
    evalset = read(documents(column, 5, 9))
    assert f"column '{column}' has no unit in 2 rows, which are units of their own" in str(
        evalset.remarks
    )
    assert evalset.groups[4:7] == ("d1", "q5", "d1")


def records(**changes: Any) -> str:
    """Return records of which the last has some other cells."""
    rows = [{"id": i, "output": f"the cat {i}", "reference": f"a cat {i}"} for i in range(4)]
    return "\n".join(json.dumps(row) for row in [*rows, {**rows[-1], "id": 4, **changes}])


def test_one_text_with_brackets_is_a_text(read: Any) -> None:
    text = '["a", "b"]'
    evalset = read(records(output=text, reference=text), "t.jsonl")
    assert evalset.references[-1] == (text,)
    assert evalset.systems["t"][-1] == text


@pytest.mark.parametrize("cell", [["a", "b"], {"a": "b"}, [{"a": "b"}]])
def test_objects_and_lists_are_no_outputs(read: Any, cell: object) -> None:
    assert "line 5: found a" in refusal(read, records(output=cell), "t.jsonl")


def test_columns_of_json_have_one_length(read: Any) -> None:
    document = {"output": ["the cat sat", "a dog ran"], "reference": ["the cat sat"]}
    message = refusal(read, document, "t.json")
    assert "columns have different lengths (output 2, reference 1)" in message


FRAME: dict[str, Any] = {"output": ["the cat sat", "a dog ran"], "reference": ["a cat", "a dog"]}


@pytest.mark.parametrize(
    "settings",
    [
        *({"columns": 3}, {"columns": {"candidate": None}}, {"columns": {"candidate": 3}}),
        *({"scale": 5}, {"name": 3}, {"progress": 3}, {"header": True}, {"header": 1.5}),
    ],
)
def test_arguments_of_other_types_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(kt.InputError, match="expected"):
        kt.read_outputs(FRAME, **settings)


def test_other_cells_are_refused_with_their_row() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for cell in (object(), b"abc", 10**5000):
        with pytest.raises(kt.InputError, match=r"row 2: found .* in column 'output'"):
            kt.read_outputs([{"output": "the cat sat"}, {"output": cell}])
    with pytest.raises(kt.InputError, match="contains itself"):
        kt.read_outputs([{"output": endless}])
    with pytest.raises(kt.InputError, match="is a class"):
        kt.read_outputs(dict)


def test_numbers_of_rows_of_a_frame_are_ignored() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FRAME)
    for changed in (frame.iloc[[1, 0]], frame.iloc[[1]], pandas.concat([frame, frame])):
        assert "candidate=output, reference=reference" in kt.read_outputs(changed).remarks[0]


TEXTS = "id,reference,A,B\nq1,the cat sat,the cat ran,a dog sat\nq2,a bird flew,a bird sang,a cow\n"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["candidate=A", "output=B"], "--column candidate=A and --column output=B name one role"),
        (["system=A", "model=B"], "--column system=A and --column model=B name one role"),
        (["system=A,B", "candidate=reference"], "names columns with the outputs of systems"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    read: Any, columns: list[str], message: str
) -> None:
    assert message in refusal(read, TEXTS, columns=columns)


def test_one_system_may_have_a_column(read: Any) -> None:
    evalset = read(TEXTS, columns=["system=A", "ignore=B"])
    assert evalset.systems == {"A": ("the cat ran", "a bird sang")}


@pytest.mark.parametrize("cell", ["bad", "inf"])
def test_a_wrong_score_is_refused_with_its_line(read: Any, cell: str) -> None:
    text = f"id,output,comet\n1,a cat sat,0.5\n2,a dog ran,{cell}\n3,a bird flew,0.7\n"
    assert f"line 3: found '{cell}' in column 'comet'" in refusal(read, text)


def test_one_is_singular(read: Any) -> None:
    text = "id,output,reference\n1,a cat sat,a\n2,,b\n3,a bird flew,c\n"
    remarks = str(read(text, skip_missing=True).remarks)
    assert "1 segment is left out" in remarks
    assert "1 of 3 outputs is missing" in str(read(text).remarks)
