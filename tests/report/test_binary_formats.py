"""XLSX and parquet: reports of all commands have the values of their JSON, and stable bytes."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from report_commands import COMMANDS, write_inputs

import karat as kt
from karat.cli import show
from karat.cli.main import main
from karat.errors import OutputError
from karat.report.model import Document, Table
from karat.report.render import parquet, workbook
from karat.report.render.records import record_columns, record_table, record_tables
from karat.report.render.renderers import render, render_pieces, save
from karat.results import DOCUMENTS, Column, Result, number

MORE_COMMANDS = {
    "wide": "score atlas.txt drift.txt -r ref1.txt -m bleu -m ter --intervals --wide",
    "power": "power atlas.txt drift.txt -r ref1.txt -m chrf",
    "fit": "meta fit demo -m chrf -m wer@substitutions -d fluency",
    "reliability": "meta reliability demo -m chrf",
    "check": "data check demo",
    "drawn": "data draw demo 5",
    "judges": "data judges demo",
    "tuned": "nuggets tune demo-nuggets",
    "described": "nuggets describe demo-nuggets",
    "evaluated": "nuggets evaluate demo-nuggets",
    "agreed": "nuggets agree demo-nuggets l.jsonl",
    "grammar": "realize grammar treebank.conllu",
    "plan": "judge ratings demo -d x --scale 1-3 --endpoint demo -o l.jsonl --dry-run",
    "prompts": "judge prompts",
    "trained": "lm train ref1.txt -o model.lm",
    "probabilities": "lm score some.txt --model model.lm --words",
    "reproduced": "reproduce aev --data bundled",
    "signatures": "score atlas.txt -r ref1.txt -m bleu -f json --signature-only",
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """What each command shows."""
    folder = tmp_path_factory.mktemp("documents")
    shown: dict[str, Document] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        many = write_inputs(folder)
        for name, command in (COMMANDS | MORE_COMMANDS).items():

            def collect(document: Document, *args: Any, name: str = name, **options: Any) -> Any:
                shown[name] = document
                return render_pieces(document, *args, **options)

            patch.setattr(show, "render_pieces", collect)
            assert main(command.replace("{many}", many).split()) in (0, 1), command
    return shown


def xlsx(document: Document) -> bytes:
    return b"".join(map(bytes, render_pieces(document, "xlsx")))  # type: ignore[arg-type]


def parquet_table(document: Document) -> pa.Table:
    data = b"".join(map(bytes, render_pieces(document, "parquet")))  # type: ignore[arg-type]
    return pq.read_table(io.BytesIO(data))


def sheets(document: Document) -> dict[str, list[tuple[Any, ...]]]:
    """The values of all sheets."""
    book = openpyxl.load_workbook(io.BytesIO(xlsx(document)))
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


def as_spreadsheet(value: Any) -> Any:
    """A value of JSON as a spreadsheet has it: an empty text is an empty cell."""
    if isinstance(value, str):
        lines = value.replace("\r\n", "\n").replace("\r", "\n")
        return workbook._ILLEGAL.sub(lambda match: kt.errors.visible(match[0]), lines) or None
    return value


def test_every_command_has_a_report(documents: dict[str, Document]) -> None:
    assert set(documents) == {*COMMANDS, *MORE_COMMANDS}


def test_sheets_have_the_values_of_json(documents: dict[str, Document]) -> None:
    n_cells = 0
    for name, document in documents.items():
        members = json.loads(render(document, "json"))
        *tables, about = sheets(document).values()
        assert len(tables) == len(record_tables(document)) > 0, name
        for table, (header, *rows) in zip(record_tables(document), tables, strict=True):
            keys = [column.key for column in record_columns(table)]
            assert list(header) == keys, name
            expected = [tuple(as_spreadsheet(row[k]) for k in keys) for row in members[table.key]]
            assert rows == expected, (name, table.key)
            flags = [[isinstance(cell, bool) for cell in row] for row in rows]
            assert flags == [[isinstance(cell, bool) for cell in row] for row in expected], name
            n_cells += sum(map(len, rows))
        assert about[0] == ("Subject", "Name", "Content")
        assert ("Report", "title", document.title) in about
        content = {row[2] for row in about}
        assert {as_spreadsheet(note) for note in document.notes or ()} <= content, name
        assert {as_spreadsheet(text) for text in (document.signatures or {}).values()} <= content
    assert n_cells > 10_000


def test_parquet_has_the_rows_of_json_with_types(documents: dict[str, Document]) -> None:
    kinds = set()
    for name, document in documents.items():
        members = json.loads(render(document, "json"))
        key = record_table(document).key
        table = parquet_table(document)
        assert table.to_pylist() == members[key], name
        for field, column in zip(table.schema, table.columns, strict=True):
            is_missing = column.null_count == len(column)
            assert pa.types.is_null(field.type) == is_missing, (name, field)
            kinds.add(str(field.type))
        about = json.loads(table.schema.metadata[b"karat"])
        assert about["command"] == members["command"]
        assert about["signature"] == members["signature"]
        assert about["notes"] == members["notes"]
        assert about["table"] == key
    assert {"string", "int64", "double", "bool"} <= kinds


def test_the_same_document_becomes_the_same_bytes(documents: dict[str, Document]) -> None:
    for name, document in documents.items():
        for format in ("xlsx", "parquet"):
            first, again = ([*render_pieces(document, format)] for _ in range(2))
            assert first == again, (name, format)
    archive = zipfile.ZipFile(io.BytesIO(xlsx(documents["score"])))
    assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    core = archive.read("docProps/core.xml").decode()
    assert core.count("1980-01-01T00:00:00Z") == 2


def test_settings_have_plain_values(documents: dict[str, Document]) -> None:
    """An address of an object would differ between two runs."""
    for name, document in documents.items():
        about = json.loads(parquet_table(document).schema.metadata[b"karat"])
        assert " object at 0x" not in json.dumps(about["settings"]), name
        assert "<function" not in json.dumps(about["settings"]), name


# ------------------------------------------------------------------------------------ workbooks


def one_table(rows: list[dict[str, Any]], *columns: Column, title: str = "T") -> Document:
    return Document("Title", (Table("rows", title, columns, tuple(rows)),), "karat", {})


def cells(document: Document) -> list[Any]:
    """The cells of the first column below the header."""
    book = openpyxl.load_workbook(io.BytesIO(xlsx(document)))
    return [row[0] for row in book.worksheets[0].iter_rows(min_row=2)]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "#N/A", "=", "1:30", "=cmd|' /C"])
def test_text_is_never_a_formula(text: str) -> None:
    document = one_table([{"a": text}], Column("a", "A"))
    (cell,) = cells(document)
    assert (cell.value, cell.data_type) == (text, "s")
    assert cell.quotePrefix == text.startswith(("=", "+", "-", "@"))
    sheet = zipfile.ZipFile(io.BytesIO(xlsx(document))).read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x1b", r"a\x00b\x1b"),
        ("\ufffe\uffff", r"\ufffe\uffff"),
        ("\udc80", r"\udc80"),
        ("a\r\nb\rc\n\td", "a\nb\nc\n\td"),
        (" spaces ", " spaces "),
        ("\u202e日本語😀", "\u202e日本語😀"),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_characters_that_xml_cannot_hold_are_visible(text: str, expected: str) -> None:
    (cell,) = cells(one_table([{"a": text}], Column("a", "A")))
    assert cell.value == expected


def test_long_texts_are_cut_with_a_note() -> None:
    document = one_table(
        [{"a": "x" * 32_767}, {"a": "y" * 32_768}, {"a": "😀" * 20_000}], Column("a", "A")
    )
    values = [cell.value for cell in cells(document)]
    assert values == ["x" * 32_767, "y" * 32_767, "😀" * 16_383]
    note = "2 texts are longer than the 32,767 characters of a cell, and cut to fit. "
    about = sheets(document)["About"]
    assert ("Note", None, f"{note}CSV, JSON and parquet have the whole texts.") in about
    assert parquet_table(document).column("a")[1].as_py() == "y" * 32_768


def test_numbers_are_exact_and_have_the_digits_of_reports() -> None:
    values = [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 2**53, None, True]
    document = one_table([{"a": value} for value in values], number("a", "A", 2))
    assert [cell.value for cell in cells(document)] == values
    assert [cell.data_type for cell in cells(document)] == ["n"] * 6 + ["b"]
    formats = [cell.number_format for cell in cells(document)]
    assert formats == ["0.00"] * 3 + ["General"] * 4
    (large,) = cells(one_table([{"a": 2**53 + 1}], number("a", "A")))
    assert (large.value, large.data_type) == (str(2**53 + 1), "s")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (number("a", "A"), "General"),
        (number("a", "A", 0), "0"),
        (number("a", "A", 3), "0.000"),
        (number("a", "A", 1, signed=True), "+0.0;-0.0;0.0"),
        (number("a", "A", 4, positive=True), '[<0.00005]"<0.0001";0.0000'),
        (number("a", "A", lambda row: row["digits"]), "0.0"),
    ],
)
def test_formats_of_fractions(column: Column, expected: str) -> None:
    (cell,) = cells(one_table([{"a": 0.5, "digits": 1}], column))
    assert cell.number_format == expected
    assert cell.value == 0.5  # not a date


@pytest.mark.parametrize(("is_signed", "expected"), [(False, "General"), (True, "+0;-0;0")])
def test_integers_have_no_decimals(is_signed: bool, expected: str) -> None:
    (cell,) = cells(one_table([{"a": 7}], number("a", "A", 2, signed=is_signed)))
    assert cell.number_format == expected


def test_the_header_is_bold_and_frozen_and_columns_fit() -> None:
    rows = [{"a": "x", "b": "y" * 30, "c": "z" * 500}]
    document = one_table(rows, Column("a", "A"), Column("b", "B"), Column("c", "C", wrap=True))
    book = openpyxl.load_workbook(io.BytesIO(xlsx(document)))
    for sheet in book:
        assert sheet.freeze_panes == "A2"
        assert all(cell.font.bold for cell in sheet[1])
        assert not any(cell.font.bold for cell in sheet[2])
    widths = [book.worksheets[0].column_dimensions[letter].width for letter in "ABC"]
    assert widths == [8, 32, 60]
    assert book.worksheets[0]["C2"].alignment.wrap_text


def test_emphasized_cells_are_bold() -> None:
    table = Table("rows", "T", (number("a", "A"),), ({"a": 1}, {"a": 2}), emphasis={(1, "a")})
    assert [cell.font.bold for cell in cells(Document("", (table,)))] == [False, True]


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["Scores: a/b [x]?*\\"], ["Scores a b x"]),
        (["About", "about", "History"], ["About (2)", "about (3)", "History (2)"]),
        (["x" * 40, "X" * 40], ["x" * 31, f"{'X' * 27} (2)"]),
        (["'quoted'", "", "[]"], ["quoted", "Table", "Table (2)"]),
        (["😀" * 20], ["😀" * 15]),
        (["a\x1bb"], ["a x1bb"]),
    ],
)
def test_names_of_sheets(titles: list[str], expected: list[str]) -> None:
    assert workbook.sheet_names(titles) == expected
    columns, rows = (Column("a", "A"),), ({"a": 1},)
    tables = [Table(f"t{at}", title or "[]", columns, rows) for at, title in enumerate(titles)]
    assert list(sheets(Document("", tables))) == [*expected, "About"]


def test_tables_that_are_too_large_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    rows = range(workbook.MAX_ROWS)
    document = Document("", (Table("rows", "T", (Column("a", "A"),), rows),))
    problem = "table rows has 1,048,576 rows, and a sheet holds 1,048,575 below its header: write"
    with pytest.raises(OutputError, match=problem):
        save(document, path)
    columns = tuple(Column(f"c{n}", "") for n in range(workbook.MAX_COLUMNS + 1))
    with pytest.raises(OutputError, match="16,385 columns, and a sheet holds 16,384: write CSV"):
        save(Document("", (Table("rows", "T", columns, ()),)), path)
    assert list(tmp_path.iterdir()) == []


def test_pandas_reads_the_rows(documents: dict[str, Document], tmp_path: Path) -> None:
    save(documents["compare"], tmp_path / "x.xlsx")
    save(documents["compare"], tmp_path / "x.parquet")
    from_xlsx = pd.read_excel(tmp_path / "x.xlsx")
    from_parquet = pd.read_parquet(tmp_path / "x.parquet")
    assert list(from_xlsx["delta"].dropna()) == list(from_parquet["delta"].dropna()) != []
    assert list(from_xlsx.columns) == list(from_parquet.columns)


# -------------------------------------------------------------------------------------- parquet


def test_types_of_columns() -> None:
    big = 1 << 70
    rows = [
        {"int": 1, "mixed": 1, "text": "a", "flag": True, "any": 1, "large": 1},
        {"int": None, "mixed": 0.5, "text": "\udc80", "flag": None, "any": "x", "large": big},
    ]
    names = ("int", "mixed", "text", "flag", "any", "large", "none")
    table = parquet_table(one_table(rows, *(Column(name, name) for name in names)))
    types = ["int64", "double", "string", "bool", "string", "string", "null"]
    assert [str(field.type) for field in table.schema] == types
    assert table.to_pylist()[1] == {
        **rows[1],
        "text": r"\udc80",
        "large": str(big),
        "none": None,
    }
    assert table.to_pylist()[0]["any"] == "1"


def test_many_rows_are_written_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 10)
    rows = [{"a": n if n % 7 else None} for n in range(25)]
    document = one_table(rows, Column("a", "A"))
    assert parquet_table(document).to_pylist() == rows
    data = b"".join(map(bytes, render_pieces(document, "parquet")))  # type: ignore[arg-type]
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 3


def test_a_table_without_rows_has_its_columns() -> None:
    document = one_table([], Column("a", "A"), Column("b", "B"))
    assert parquet_table(document).column_names == ["a", "b"]
    assert sheets(document)["T"] == [("a", "b")]


# ------------------------------------------------------------------------------ Python interface


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_results_are_saved(tmp_path: Path, ending: str) -> None:
    result = kt.score({"a": ["x y"] * 3}, ["x y z"] * 3, ["bleu", "chrf"])
    assert isinstance(result, Result)
    assert type(result).__name__ in DOCUMENTS
    path = tmp_path / f"x.{ending}"
    result.save(path)
    frame = pd.read_excel(path) if ending == "xlsx" else pd.read_parquet(path)
    assert list(frame["score"]) == [row["score"] for row in result.records()]
    with pytest.raises(OutputError, match=f"{ending} is not text: save it to a file, such as"):
        result.render(ending)
    with pytest.raises(OutputError, match=f"for csv and tsv, and the output is {ending}"):
        result.save(path, spreadsheet_safe=True)


@pytest.mark.parametrize(
    ("ending", "module", "message"),
    [
        (
            "xlsx",
            "openpyxl.writer.excel",
            r"XLSX files need openpyxl.*install 'karat-eval\[xlsx\]'",
        ),
        ("parquet", "pyarrow.parquet", r"need pyarrow, which.*install 'karat-eval\[arrow\]'"),
    ],
)
def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, module: str, message: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(kt.MissingExtra, match=message):
        kt.score({"a": ["x y"]}, ["x y z"], "bleu").save(tmp_path / f"x.{ending}")
    assert list(tmp_path.iterdir()) == []
