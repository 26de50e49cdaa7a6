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
