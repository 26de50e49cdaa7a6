"""CSV, TSV and their dialects: separators, quotes, line ends, headers, rows of a wrong length."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.tables.files import Table, is_table, read_table
from karat.tables.options import ReadingOptions

PLAIN = "id,response,score\n1,hello there,3\n2,good bye,4\n"
RECORDS = [
    {"id": "1", "response": "hello there", "score": "3"},
    {"id": "2", "response": "good bye", "score": "4"},
]


def read(folder: Path, text: str | bytes, name: str = "t.csv", **options: Any) -> Table:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, ReadingOptions(**options))


def refusal(folder: Path, text: str | bytes, name: str = "t.csv", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, name, **options)
    message = str(caught.value).replace(str(folder), ".")
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.tab", "t"])
def test_separators_and_line_ends(tmp_path: Path, separator: str, end: str, name: str):
    table = read(tmp_path, PLAIN.replace(",", separator).replace("\n", end), name)
    assert table.records == RECORDS
    assert table.columns == ("id", "response", "score")
    assert table.lines == [2, 3]
    assert table.texts_only
    assert table.system == "t"


def test_packed_files_are_known_by_their_content(tmp_path: Path):
    for name in ("t.csv.gz", "t.csv"):
        assert read(tmp_path, gzip.compress(PLAIN.encode()), name).records == RECORDS
    assert read(tmp_path, gzip.compress(PLAIN.encode()), "run.csv.gz").system == "run"


def test_separator_line_of_excel(tmp_path: Path):
    table = read(tmp_path, 'sep=;\r\nid;text\r\n1;"a;b"\r\n2;c,d\r\n')
    assert table.records == [{"id": "1", "text": "a;b"}, {"id": "2", "text": "c,d"}]
    assert table.lines == [3, 4]


def test_quoted_fields_hold_separators_quotes_and_line_ends(tmp_path: Path):
    table = read(tmp_path, 'id,text\r\n1,"a, ""b""\r\nc"\r\n2,d\r\n')
    assert table.records == [{"id": "1", "text": 'a, "b"\r\nc'}, {"id": "2", "text": "d"}]
    assert table.lines == [2, 4]
    assert str(table.location(1)).endswith("t.csv, line 4")


def test_quotes_after_a_space_and_quotes_with_a_backslash(tmp_path: Path):
    table = read(tmp_path, 'id, text\n1, "a, b"\n2, "c"\n')
    assert table.records == [{"id": "1", "text": "a, b"}, {"id": "2", "text": "c"}]
    table = read(tmp_path, 'id,text\n1,"a \\"b\\", c"\n2,d\n')
    assert table.records[0]["text"] == 'a "b", c'
    assert table.remarks == ("quotes in fields have a backslash",)


def test_quotes_in_tab_separated_text_are_text_unless_they_are_needed(tmp_path: Path):
    table = read(tmp_path, 'id\ttext\n1\t"Hello," he said\n2\t"Bye."\n', "t.tsv")
    assert [r["text"] for r in table.records] == ['"Hello," he said', '"Bye."']
    table = read(tmp_path, 'id\ttext\n1\t"a ""b"""\n2\t"c\td"\n', "t.tsv")
    assert [r["text"] for r in table.records] == ['a "b"', "c\td"]
    table = read(tmp_path, '"id"\t"text"\n"1"\t"a"\n', "t.tsv")
    assert table.records == [{"id": "1", "text": "a"}]


def test_empty_rows_and_columns_are_skipped(tmp_path: Path):
    table = read(tmp_path, "\nid,text,,\n\n1,a,,\n,,,\n2,b,,\n\n")
    assert table.records == [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]
    assert table.lines == [4, 6]


def test_empty_cells_are_none(tmp_path: Path):
    assert read(tmp_path, "id,text\n1,\n2, \n3,x\n").records == [
        {"id": "1", "text": None},
        {"id": "2", "text": None},
        {"id": "3", "text": "x"},
    ]


def test_an_index_of_numbers_is_left_out_and_an_index_of_names_is_kept(tmp_path: Path):
    assert read(tmp_path, ",text,score\n0,a,3\n1,b,4\n").columns == ("text", "score")
    assert read(tmp_path, ",text,score\nq7,a,3\nq9,b,4\n").columns == ("", "text", "score")


def test_a_column_without_a_name_is_kept(tmp_path: Path):
    table = read(tmp_path, "id,text,,score\n1,a,x,3\n2,b,y,4\n")
    assert table.columns == ("id", "text", "column 3", "score")
    assert table.remarks == ("column 3 has no name",)


def test_repeated_names_get_numbers(tmp_path: Path):
    table = read(tmp_path, "id,score,score,score (2),score\n1,2,3,4,5\n")
    assert table.columns == ("id", "score", "score (3)", "score (2)", "score (4)")


def test_rows_of_a_wrong_length_are_refused(tmp_path: Path):
    text = "id,text\n1,hello\n2,hello, world\n3,a,b,c\n"
    message = refusal(tmp_path, text)
    assert "./t.csv, line 3: found 3 fields, expected 2" in message
    assert "(and 1 more row)" in message
    assert "quote fields" in message
    assert "line 2: found 1 field," in refusal(tmp_path, "id,a,b\nx\ny,2,3\n")


def test_an_open_quote_is_refused_with_its_line(tmp_path: Path):
    message = refusal(tmp_path, 'id,text\n1,"a\nb"\n2,"hello\n3,x\n')
    assert message.startswith("./t.csv, line 4: a quote that is opened in this row is not closed")


def test_titles_above_the_header(tmp_path: Path):
    for title in ("Ratings, of May\n\n", "Ratings of May,,\n,,\n", "Date:,2026-05-01\nBy:,me\n"):
        table = read(tmp_path, title + PLAIN)
        assert table.records == RECORDS
        assert table.remarks == ("the header is in line 3",)


def test_header_rows_that_a_user_names(tmp_path: Path):
    text = "x,y,z\nid,response,score\n1,hello there,3\n2,good bye,4\n"
    assert read(tmp_path, text, header="2").records == RECORDS
    assert read(tmp_path, PLAIN, header="none").columns == ("1", "2", "3")
    assert len(read(tmp_path, PLAIN, header="none").records) == 3
    assert read(tmp_path, text, header="1-2").columns == ("x/id", "y/response", "z/score")
    assert "expected a line such as 3" in refusal(tmp_path, PLAIN, header="first")
    assert "is not a row" in refusal(tmp_path, PLAIN, header="90")


def test_two_header_rows_are_joined(tmp_path: Path):
    for text in (
        "bart,,t5,\nalice,bob,alice,bob\n1,2,3,4\n3,4,5,5\n",
        "bart,bart,t5,t5\nalice,bob,alice,bob\n1,2,3,4\n3,4,5,5\n",
    ):
        table = read(tmp_path, text)
        assert table.columns == ("bart/alice", "bart/bob", "t5/alice", "t5/bob")
        assert table.records[0] == dict(zip(table.columns, "1234", strict=True))
        assert table.remarks == ("the header is in lines 1 to 2, joined with /",)
    table = read(tmp_path, ",bart,,t5,\nitem,alice,bob,alice,bob\na,1,2,3,4\nb,3,4,5,5\n")
    assert table.columns == ("item", "bart/alice", "bart/bob", "t5/alice", "t5/bob")


def test_the_header_of_a_pivot_table_of_pandas(tmp_path: Path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [("a", "bart", "x", 1), ("a", "bart", "y", 2), ("a", "t5", "x", 3), ("a", "t5", "y", 4),
         ("b", "bart", "x", 2), ("b", "bart", "y", 2), ("b", "t5", "x", 3), ("b", "t5", "y", 5)],
        columns=["item", "system", "judge", "score"],
    )  # fmt: skip
    pivot = frame.pivot_table(index="item", columns=["system", "judge"], values="score")
    pivot.columns.names = [None, None]
    pivot.to_csv(tmp_path / "p.csv")
    table = read_table(tmp_path / "p.csv")
    assert table.columns == ("item", "bart/x", "bart/y", "t5/x", "t5/y")
    assert [r["item"] for r in table.records] == ["a", "b"]


def test_a_table_without_a_header_is_refused(tmp_path: Path):
    message = refusal(tmp_path, "1,Hello.,5\n2,Bye.,4\n")
    assert "found data (1, Hello., 5)" in message
    assert "--header none" in message
    assert "--header none" in refusal(tmp_path, "bart,q1,hello\nbart,q2,bye\nt5,q1,hi\n")
    assert "--header none" in refusal(
        tmp_path, "The cat sat.\tDie Katze saß.\nA dog ran.\tEin Hund lief.\n", "t.tsv"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Hello\tHallo\nHow are you doing today my friend\tWie geht es dir heute mein Freund\n" * 2,
        "cat\tKatze\ndog\tHund\nhouse\tHaus\n",
        "yes,3\nwhy not,no\nnever,4\n",
        "0,1,2\n3,4,5\n",
        "alpha,beta\ngamma,delta\nepsilon,zeta\n",
    ],
)
def test_a_first_row_that_may_be_data_is_refused(tmp_path: Path, text: str):
    message = refusal(tmp_path, text, "t.tsv" if "\t" in text else "t.csv")
    assert "--header none" in message
    assert len(read(tmp_path, text, header="none").records) == len(text.splitlines())


@pytest.mark.parametrize(
    "header",
    [
        "Zeitstempel,Wie flüssig ist der Text? Bitte bewerten Sie von 1 bis 5.,Warum?",
        "Timestamp,How fluent is it? [Answer A],Please say why you chose this rating of it.",
        "Antwort A,Antwort B,Notiz",
        "bart,gpt-4,Llama 3",
        "modelA,modelB,model_C",
    ],
)
def test_headers_of_surveys_and_systems(tmp_path: Path, header: str):
    why = "because it was good and clear and I liked the words"
    rows = f"2026-05-01 10:00,4,{why}\n2026-05-01 10:01,5,{why} too\n"
    if "Z" not in header and "T" not in header:
        rows = f"{why} 1,{why} 2 and,{why} 3 of\n{why} x,{why} y,{why} z\n"
    table = read(tmp_path, f"{header}\n{rows}")
    assert table.columns == tuple(header.split(","))
    assert len(table.records) == 2


def test_columns_that_are_named_by_numbers(tmp_path: Path):
    table = read(tmp_path, "item,1,2,3\na,4,4,5\nb,3,2,1\n")
    assert table.columns == ("item", "1", "2", "3")
    assert len(table.records) == 2


def test_a_repeated_header_is_left_out(tmp_path: Path):
    table = read(tmp_path, PLAIN + PLAIN)
    assert table.records == RECORDS * 2
    assert table.remarks == ("the header occurs again in line 4: left out",)


def test_notes_and_totals_below_a_table_are_left_out(tmp_path: Path):
    table = read(tmp_path, PLAIN + ",,\nNote: two rows,,\n")
    assert table.records == RECORDS
    assert table.remarks == ("1 line of notes below the table: left out",)
    table = read(tmp_path, PLAIN + "Mean,,3.5\n")
    assert table.records == RECORDS
    assert table.remarks == ("line 4 has totals: left out",)
    assert len(read(tmp_path, PLAIN + "Mean,why,3\n").records) == 3


def test_question_texts_of_qualtrics(tmp_path: Path):
    text = (
        'ResponseId,Q1\nResponse ID,How good?\n"{""ImportId"":""_id""}","{""ImportId"":""Q1""}"\n'
    )
    table = read(tmp_path, text + "R_1,4\nR_2,5\n")
    assert table.records == [{"ResponseId": "R_1", "Q1": "4"}, {"ResponseId": "R_2", "Q1": "5"}]


def test_an_undecided_separator_is_refused(tmp_path: Path):
    text = "a;b,c;d\n1;2,3;4\n5;6,7;8\n"
    assert "--separator" in refusal(tmp_path, text)
    assert read(tmp_path, text, separator="comma", header="1").columns == ("a;b", "c;d")
    assert read(tmp_path, text, separator=";", header="1").columns == ("a", "b,c", "d")
    assert "expected one character" in refusal(tmp_path, text, separator="ab")


def test_decimal_commas(tmp_path: Path):
    table = read(tmp_path, "id;score\n1;3,5\n2;4\n")
    assert table.decimal == ","
    assert table.records[0]["score"] == "3,5"
    assert read(tmp_path, 'id,score\n1,"3,5"\n2,4\n').decimal == ","
    assert read(tmp_path, "id;score\n1;1.200,5\n2;4\n").decimal == ","
    assert read(tmp_path, 'id,score\n1,"1,200.5"\n2,4\n').decimal == "."
    assert read(tmp_path, "id,score\n1,3.5\n2,4\n").decimal == "."
    assert read(tmp_path, "id;score\n1;0,123\n2;0,456\n").decimal == ","


def test_mixed_decimal_separators_are_refused(tmp_path: Path):
    message = refusal(tmp_path, "id;score\n1;3,5\n2;4.5\n")
    assert "'3,5' and '4.5'" in message
    assert "--decimal" in message
    assert read(tmp_path, "id;score\n1;3,5\n2;4.5\n", decimal=",").decimal == ","
    assert "thousands" in refusal(tmp_path, 'id,score\n1,"1,234"\n2,"2,500"\n')


def test_the_first_records_of_a_large_file(tmp_path: Path):
    row = '{0},"some, text\nof {0}",3\n'
    path = tmp_path / "t.csv"
    path.write_text("id,text,score\n" + "".join(row.format(i) for i in range(100_000)))
    with path.open("ab") as file:
        file.write(b'9,"not closed\n')
    table = read_table(path, limit=3)
    assert [r["id"] for r in table.records] == ["0", "1", "2"]
    assert table.records[1]["text"] == "some, text\nof 1"
    with pytest.raises(InputError, match="not closed"):
        read_table(path)
    path.write_text(PLAIN)
    assert read_table(path, limit=1).records == RECORDS[:1]
    assert read_table(path, limit=9).records == RECORDS


def test_empty_files_are_refused(tmp_path: Path):
    assert refusal(tmp_path, "") == "./t.csv is empty: expected a table"
    assert refusal(tmp_path, ",,\n\n") == "./t.csv is empty: expected a table"
    assert refusal(tmp_path, "id,text\n") == "./t.csv: the table has no rows (columns: id, text)"


# ------------------------------------------------------------------------ text or a table


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat, the dog ran.\nHello, world.\nGood, bad, ugly.\n",
        "A sentence\twith a tab.\nAnother one\twith a tab.\nA third\tof them.\n",
        "cat\tKatze\ndog\tHund\nhouse\tHaus\n",
        "hello\nthere\nworld\n",
        "",
        "1\t2\n3\t4\n5\t6\n",
        "source text\tis here\nid\ttext\n1\tx\n2\n",
        '"quoted", she said\n"more", he said\n"less", they said\n',
        "[1] first line\n[2] second line\n[3] third line\n",
        "{ braces } in text\n{ more }\n{ again }\n",
    ],
)
def test_texts_are_not_tables(tmp_path: Path, text: str):
    (tmp_path / "out.txt").write_text(text)
    assert not is_table(tmp_path / "out.txt")


@pytest.mark.parametrize(
    "text",
    [
        "id\ttext\tscore\n1\tHello there.\t3\n2\tGood bye.\t4\n",
        "system\tsegment\tvalue\nbart\t1\t0.5\nt5\t1\t0.7\n",
        '{"id": 1, "response": "x"}\n{"id": 2, "response": "y"}\n',
        '[\n {"id": 1, "response": "x"}\n]\n',
    ],
)
def test_tables_in_text_files(tmp_path: Path, text: str):
    (tmp_path / "out.txt").write_text(text)
    assert is_table(tmp_path / "out.txt")
    (tmp_path / "out.hyp").write_bytes(text.encode("utf-16"))
    assert is_table(tmp_path / "out.hyp")


def test_endings_of_tables_and_other_paths(tmp_path: Path):
    (tmp_path / "t.csv").write_text("text\na\n")
    assert is_table(tmp_path / "t.csv")
    assert not is_table(tmp_path)
    assert not is_table(tmp_path / "missing.csv")
    assert not is_table("demo")


# ---------------------------------------------------------------------------------- properties

CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\"',;|"), max_size=12
)


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_tables_that_python_writes_are_read_as_they_are(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[list[str]],
    separator: str,
    end: str,
    encoding: str,
    quoting: Any,
):
    assume(all(cell == "" or not cell.isspace() for row in cells for cell in row))
    assume(any("," not in c for row in cells for c in row))
    rows = [[f"k{at}x", *row] for at, row in enumerate(cells)]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerows([["key", "response", "note", "reference"], *rows])
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_bytes(stream.getvalue().encode(encoding))
    try:
        table = read_table(path, ReadingOptions(header="1", decimal=".", separator=separator))
    except InputError as error:
        pytest.fail(f"{error}: {stream.getvalue()!r}")
    columns = ("key", "response", "note", "reference")
    expected = [
        {name: cell or None for name, cell in zip(columns, row, strict=True)} for row in rows
    ]
    assert table.records == expected


@given(st.binary(max_size=300), st.sampled_from(["t.csv", "t.tsv", "t.txt", "t.json"]))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
):
    path = tmp_path_factory.mktemp("t") / name
    path.write_bytes(data)
    try:
        message = read_table(path).unsettled
    except InputError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1
    is_table(path)
