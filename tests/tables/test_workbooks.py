"""Workbooks: sheets, titles, merged cells, formulas, percentages, errors, and what is refused."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.storage.unpacking import FLOOR
from karat.tables.files import Table, is_table, read_table
from karat.tables.options import ReadingOptions

openpyxl = pytest.importorskip("openpyxl")

Rows = list[list[Any]]
TABLE: Rows = [["id", "response", "score"], ["a", "hello there", 3], ["b", "good bye", 4.5]]
RECORDS = [
    {"id": "a", "response": "hello there", "score": 3},
    {"id": "b", "response": "good bye", "score": 4.5},
]


def write(path: Path, change: Callable[[Any], object] = id, /, **sheets: Rows) -> Path:
    """A workbook with these sheets, after a change."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in (sheets or {"Sheet": TABLE}).items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    change(book)
    book.save(path)
    return path


def read(path: Path, limit: int | None = None, **options: Any) -> Table:
    return read_table(path, ReadingOptions(**options), limit=limit)


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value).replace(str(path), "t.xlsx")
    assert len(message.splitlines()) == 1
    return message


def test_a_plain_sheet(tmp_path: Path):
    table = read(write(tmp_path / "t.xlsx"))
    assert table.records == RECORDS
    assert (table.form, table.system, table.sheet, table.remarks) == ("xlsx", "t", "Sheet", ())
    assert list(table.lines) == [2, 3]
    assert str(table.location(1)).endswith("t.xlsx, sheet 'Sheet', row 3")
    assert read(tmp_path / "t.xlsx", limit=1).records == RECORDS[:1]


def test_workbooks_are_known_by_their_content(tmp_path: Path):
    data = write(tmp_path / "t.xlsx").read_bytes()
    for name in ("t.csv", "t", "t.xlsm"):
        (tmp_path / name).write_bytes(data)
        assert is_table(tmp_path / name)
        assert read(tmp_path / name).records == RECORDS


def test_a_title_an_empty_column_and_notes(tmp_path: Path):
    rows = [["Ratings of May"], [], *([None, *row] for row in TABLE), [], [None, "Note: fine"]]
    table = read(write(tmp_path / "t.xlsx", Sheet=rows))
    assert table.records == RECORDS
    assert table.remarks == (
        "the header is in row 3",
        "1 row of notes below the table: left out",
    )


def test_numbers_dates_truth_and_rich_text(tmp_path: Path):
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    rich = CellRichText("a ", TextBlock(InlineFont(b=True), "bold"), " word")
    day = datetime.datetime(2026, 4, 3)
    rows = [
        ["id", "response", "score", "ok"],
        [1001.0, rich, day, True],
        [2**60, " x ", 0.1, "  "],
    ]
    table = read(write(tmp_path / "t.xlsx", Sheet=rows))
    assert table.records == [
        {"id": 1001, "response": "a bold word", "score": day, "ok": True},
        {"id": 2**60, "response": " x ", "score": 0.1, "ok": None},
    ]
    assert isinstance(table.records[0]["id"], int)


def test_percentages_are_fractions(tmp_path: Path):
    rows = [["id", "response", "coverage"], ["a", "x", 0.5], ["b", "y", "70%"], ["c", "z", 1]]

    def show_percent(book: Any) -> None:
        for row in (2, 4):
            book["Sheet"].cell(row, 3).number_format = "0.0%"

    table = read(write(tmp_path / "t.xlsx", show_percent, Sheet=rows))
    assert [record["coverage"] for record in table.records] == [0.5, 0.7, 1]
    table = read(write(tmp_path / "t.xlsx", Sheet=rows))
    assert table.records[1]["coverage"] == "70%"


def test_errors_are_empty_and_counted(tmp_path: Path):
    table = read(
        write(tmp_path / "t.xlsx", Sheet=[*TABLE, ["c", "x", "#N/A"], ["d", "y", "#REF!"]])
    )
    assert [record["score"] for record in table.records] == [3, 4.5, None, None]
    assert table.remarks == ("2 cells with an error such as #N/A: empty",)


def test_merged_cells_hold_for_all_rows(tmp_path: Path):
    rows = [["question", "model", "answer"], ["why?", "a", "x"], [None, "b", "y"]]
    rows += [["who?", "a", "z"], [None, "b", None]]

    def merge(book: Any) -> None:
        book["Sheet"].merge_cells("A2:A3")
        book["Sheet"].merge_cells("A4:A5")

    table = read(write(tmp_path / "t.xlsx", merge, Sheet=rows))
    assert [record["question"] for record in table.records] == ["why?", "why?", "who?", "who?"]
    assert table.records[3]["answer"] is None
    assert table.remarks == ("merged cells hold for all of their rows (2 cells filled)",)
    assert read(write(tmp_path / "t.xlsx", Sheet=rows)).records[1]["question"] is None


def test_merged_headers_are_joined(tmp_path: Path):
    rows = [["item", "bart", None, "t5", None], [None, "alice", "bob", "alice", "bob"],
            ["a", 1, 2, 3, 4], ["b", 2, 3, 4, 5]]  # fmt: skip

    def merge(book: Any) -> None:
        for cells in ("A1:A2", "B1:C1", "D1:E1"):
            book["Sheet"].merge_cells(cells)

    table = read(write(tmp_path / "t.xlsx", merge, Sheet=rows))
    assert table.columns == ("item", "bart/alice", "bart/bob", "t5/alice", "t5/bob")
    assert table.records[0] == dict(zip(table.columns, ["a", 1, 2, 3, 4], strict=True))
    assert "the header is in rows 1 to 2, joined with /" in table.remarks


def test_notes_and_empty_sheets_are_passed_over(tmp_path: Path):
    path = write(tmp_path / "t.xlsx", Notes=[["Please rate."], ["Thanks!"]], Data=TABLE, Empty=[])
    table = read(path)
    assert table.records == RECORDS
    assert table.sheet == "Data"
    assert table.remarks == ("sheet Data", "sheets that are not tables: Notes")
    assert read(path, sheet="data").records == RECORDS


def test_a_sheet_that_cannot_be_read_is_not_passed_over(tmp_path: Path):
    rows = [["id", "response", "mean"], ["a", "x", "=AVERAGE(A1:A2)"]]
    assert "no stored value" in refusal(write(tmp_path / "t.xlsx", bart=TABLE, t5=rows))


def test_several_tables_are_refused_unless_one_is_named(tmp_path: Path):
    path = write(tmp_path / "t.xlsx", bart=TABLE, t5=TABLE, Notes=[["x"]])
    message = refusal(path)
    assert "('bart', 't5')" in message
    assert "--sheet NAME, or each sheet as a system with --sheet '*'" in message
    assert read(path, sheet="t5").records == RECORDS
    table = read(path, sheet="*")
    assert table.columns == ("sheet", "id", "response", "score")
    assert [r["sheet"] for r in table.records] == ["bart", "bart", "t5", "t5"]
    assert table.remarks == ("sheets bart, t5",)
    assert str(table.location(3)).endswith("t.xlsx, sheet 't5', row 3")
    assert "has no sheet 'T6'" in refusal(path, sheet="T6")
    assert "(it has bart, t5, Notes)" in refusal(path, sheet="T6")
    path = write(
        tmp_path / "t.xlsx", bart=TABLE, legend=[["score", "text"], [1, "bad"], [5, "good"]]
    )
    assert "--sheet '*'" not in refusal(path)
    assert "have different columns" in refusal(path, sheet="*")


def test_hidden_sheets_are_read_only_by_name(tmp_path: Path):
    def hide(book: Any) -> None:
        book["t5"].sheet_state = "hidden"

    path = write(tmp_path / "t.xlsx", hide, bart=TABLE, t5=[["id", "response"], ["a", "x"]])
    assert read(path).sheet == "bart"
    assert read(path, sheet="t5").records == [{"id": "a", "response": "x"}]


def test_hidden_rows_and_columns_are_data(tmp_path: Path):
    def hide(book: Any) -> None:
        book["Sheet"].column_dimensions["B"].hidden = True
        book["Sheet"].row_dimensions[2].hidden = True

    assert read(write(tmp_path / "t.xlsx", hide)).records == RECORDS


def _store_values(path: Path, values: dict[str, float | str]) -> None:
    """Give formulas the values that a spreadsheet program computes for columns or cells."""
    members = _members(path)
    name = "xl/worksheets/sheet1.xml"

    def with_value(match: re.Match[str]) -> str:
        cell, formula = match[1], match[2]
        value = values.get(cell, values.get(cell[0], 0))
        kind = ' t="str"' if isinstance(value, str) else ""
        return f'<c r="{cell}"{kind}><f>{formula}</f><v>{value}</v></c>'

    pattern = r'<c r="([A-Z]\d+)"[^>]*><f>([^<]*)</f><v ?(?:/>|></v>)</c>'
    text, count = re.subn(pattern, with_value, members[name].decode())
    assert count
    _pack(path, {**members, name: text.encode()})


def test_formulas_have_their_stored_values(tmp_path: Path):
    rows: Rows = [["id", "alice", "bob", "mean", "note", "constant"]]
    for row in range(2, 6):
        mean, note = f"=AVERAGE(B{row}:C{row})", f'=IF(B{row}=9,"x","")'
        rows.append([f"q{row}", 2, 3, mean, note, "=Sheet!$H$1"])
    rows.append([None, "=AVERAGE(B2:B5)", "=AVERAGE(C2:C5)"])
    path = write(tmp_path / "t.xlsx", Sheet=rows)
    _store_values(path, {"D": 2.5, "E": "", "F": 7, "B6": 2, "C6": 3})
    table = read(path)
    assert table.computed == {"mean"}
    assert len(table.records) == 4
    assert table.records[0] == {
        "id": "q2", "alice": 2, "bob": 3, "mean": 2.5, "note": None, "constant": 7,
    }  # fmt: skip
    assert table.remarks == ("row 6 has totals: left out",)


def test_formulas_without_a_stored_value_are_refused(tmp_path: Path):
    path = write(tmp_path / "t.xlsx", Sheet=[["id", "a", "mean"], ["q1", 2, "=AVERAGE(B2:B2)"]])
    message = refusal(path)
    assert "row 2: a formula (=AVERAGE(B2:B2)) has no stored value" in message
    assert "open the workbook in a spreadsheet program and save it" in message


def test_escaped_characters_of_excel(tmp_path: Path):
    path = write(tmp_path / "t.xlsx", Sheet=[["id", "response"], ["a", "x_x000D_y"]])
    assert read(path).records[0]["response"] == "x\ry"


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _pack(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_formatted_rows_without_values_cost_little(tmp_path: Path):
    members = _members(write(tmp_path / "t.xlsx"))
    name = "xl/worksheets/sheet1.xml"
    text = members[name].decode()
    text = text.replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"/></row></sheetData>')
    text = text.replace('ref="A1:C3"', 'ref="A1:XFD1048576"')
    members[name] = text.encode()
    assert read(_pack(tmp_path / "t.xlsx", members)).records == RECORDS
    members[name] = text.replace('r="1048576"', 'r="2000000000"').encode()
    assert "more than 1,048,576 rows" in refusal(_pack(tmp_path / "t.xlsx", members))


def test_a_bomb_is_refused(tmp_path: Path):
    members = _members(write(tmp_path / "t.xlsx"))
    members["xl/worksheets/sheet1.xml"] += b" " * (FLOOR + 1)
    assert "it unpacks to more than" in refusal(_pack(tmp_path / "t.xlsx", members))


def test_other_files_are_refused_with_what_to_do(tmp_path: Path):
    path = tmp_path / "t.xlsx"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)
    path.write_bytes(ole)
    assert "save it as .xlsx or CSV" in refusal(path)
    path.write_bytes(ole + "EncryptedPackage".encode("utf-16-le") + bytes(100))
    assert refusal(path) == "t.xlsx is protected by a password: save it without one"
    _pack(path, {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b""})
    assert "an OpenDocument file (.ods): open it in a spreadsheet program" in refusal(path)
    _pack(path, {"[Content_Types].xml": b"", "xl/workbook.bin": b""})
    assert "a binary workbook (.xlsb)" in refusal(path)
    _pack(path, {"[Content_Types].xml": b"", "word/document.xml": b""})
    assert "without sheets" in refusal(path)
    _pack(path, {"a.txt": b"x"})
    assert "is a zip archive: unpack it" in refusal(path)
    path.write_bytes(write(tmp_path / "u.xlsx").read_bytes()[:-100])
    assert "not a workbook that can be read" in refusal(path)
    assert "is empty" in refusal(write(path, Sheet=[]))


def test_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path / "t.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    assert "pip install 'karat[xlsx]'" in refusal(path)


CELLS = (
    st.none()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e6, 1e6).map(lambda x: round(x, 4)).filter(lambda x: not x.is_integer())
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9)
)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5), st.booleans())
def test_sheets_that_openpyxl_writes_are_read_as_they_are(rows: Rows, below_title: bool):
    rows = [[f"k{at}x", *row] for at, row in enumerate(rows)]
    title: Rows = [["Ratings"], []] if below_title else []
    book = openpyxl.Workbook()
    for row in [*title, ["key", "response", "note"], *rows]:
        book.active.append(row)
    for line in book.active.iter_rows():
        for cell in line:
            if cell.data_type in ("f", "e"):  # texts that begin with =, or look like an error
                cell.data_type = "s"
    stream = io.BytesIO()
    book.save(stream)
    table = _read_bytes(stream.getvalue(), header=str(len(title) + 1))
    expected = [
        [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]
        for row in rows
    ]
    assert [list(record.values()) for record in table.records] == expected


def _read_bytes(data: bytes, **options: Any) -> Table:
    from karat.tables.files import FileContent
    from karat.tables.workbooks import read_workbook

    content = FileContent("t.xlsx", "t", "xlsx", None, iter([data]))
    return read_workbook(content, ReadingOptions(**options), None, lambda done, total, stage: None)
