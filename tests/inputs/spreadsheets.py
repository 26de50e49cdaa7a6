"""Excel workbooks: sheets, merged cells, formulas, dates, hidden columns, offsets, percentages."""

from __future__ import annotations

import datetime
import importlib
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from case_format import (
    BIKE_SYSTEMS,
    TEXTS,
    Cases,
    Row,
    cell,
    rating,
    reading,
    zip_archive,
)

BIKES = TEXTS["bikes"]
DATE = datetime.datetime(2026, 10, 2, 12, 0, 0)


def add_cases(cases: Cases) -> None:
    """Write the workbooks and add their expectations."""
    _one_sheet(cases)
    _sheet_per_system(cases)
    _instructions_first(cases)
    _merged_cells(cases)
    _formulas(cases)
    _dates(cases)
    _hidden_columns(cases)
    _offset(cases)
    _percentages(cases)


def new_workbook() -> Any:
    """Return a workbook of openpyxl with one sheet."""
    workbook = importlib.import_module("openpyxl").Workbook()
    workbook.properties.created = DATE
    return workbook


def fill(sheet: Any, rows: list[Row], top: int = 1, left: int = 1) -> None:
    """Write header and rows with their upper left corner at this cell."""
    lines = [list(rows[0])] + [list(row.values()) for row in rows]
    for i, line in enumerate(lines):
        for j, value in enumerate(line):
            if value is not None:
                sheet.cell(top + i, left + j, value)


def saved(workbook: Any, results: Mapping[str, str | float] | None = None) -> bytes:
    """Return the workbook as a file.

    `results` are the values of formulas on the first sheet, as Excel stores them beside each
    formula. The dates of the archive and of the last change are fixed.
    """
    stream = io.BytesIO()
    workbook.save(stream)
    with zipfile.ZipFile(stream) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    core = members["docProps/core.xml"].decode()
    core = re.sub(r"(<dcterms:modified[^>]*>)[^<]*", r"\g<1>2026-10-02T12:00:00Z", core)
    members["docProps/core.xml"] = core.encode()
    name = "xl/worksheets/sheet1.xml"
    sheet = members[name].decode()
    for place, value in (results or {}).items():
        kind = "n" if isinstance(value, float) else "e" if value.startswith("#") else "str"
        pattern = rf'<c r="{place}"([^>]*?)>(<f>.*?</f>)<v\s*/?>(</v>)?</c>'
        stored = rf'<c r="{place}" t="{kind}">\g<2><v>{escape(str(value))}</v></c>'
        sheet, count = re.subn(pattern, stored, sheet)
        if count != 1:
            raise ValueError(f"no formula in {place}")
    members[name] = sheet.encode()
    return zip_archive(members)


def _one_sheet(cases: Cases) -> None:
    rows: list[Row] = [
        {"ID": f"FAQ-{number + 1}", "Question": item["question"], "Category": item["topic"]}
        | {"Chatbot response": item["gpt-4o-mini"], "Ideal answer": item["reference"]}
        for number, item in enumerate(BIKES)
    ]
    workbook = new_workbook()
    fill(workbook.active, rows)
    cases.write("FAQ_evaluation.xlsx", saved(workbook))
    cases.expect(
        "FAQ_evaluation.xlsx",
        "A service manager with one Excel sheet: question, answer of the bot, ideal answer.",
        "outputs",
        12,
        {
            "id": "ID",
            "question": "Question",
            "candidate": "Chatbot response",
            "reference": "Ideal answer",
        },
        items=12,
        optional={"unit": "Category"},
        sheet="Sheet",
        cells=[cell(0, "id", "FAQ-1"), cell(11, "candidate", BIKES[11]["gpt-4o-mini"])],
    )


def _sheet_per_system(cases: Cases) -> None:
    workbook = new_workbook()
    workbook.remove(workbook.active)
    for system in BIKE_SYSTEMS[:2]:
        rows: list[Row] = [
            {"question": item["question"], "answer": item[system], "reference": item["reference"]}
            for item in BIKES[:8]
        ]
        fill(workbook.create_sheet(system), rows)
    cases.write("bot_results.xlsx", saved(workbook))
    cases.expect(
        "bot_results.xlsx",
        "A service manager with a workbook that has a sheet per model, all with the same columns.",
        "outputs",
        16,
        {"question": "question", "candidate": "answer", "reference": "reference"},
        items=8,
        systems=2,
        sheet=BIKE_SYSTEMS[:2],
        system_names=BIKE_SYSTEMS[:2],
        cells=[cell(8, "candidate", "It costs €1.50.")],
        ambiguous=True,
        readings=[
            reading("Each sheet is a system; 16 rows."),
            reading(
                "The first sheet is the data, the others are ignored.",
                rows=8,
                counts={"systems": 1},
            ),
        ],
    )


def _instructions_first(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    sheet.title = "Instructions"
    sheet["A1"] = "Please rate every answer from 1 (useless) to 5 (perfect)."
    sheet["A2"] = "Do not change the column names. Thank you!"
    rows: list[Row] = [
        {"Item": number + 1, "Bot": system, "Answer": item[system]}
        | {f"Rater {n}": rating(number, system, f"Rater {n}") for n in (1, 2)}
        for number, item in enumerate(BIKES[:7])
        for system in BIKE_SYSTEMS[:2]
    ]
    rows[3]["Rater 2"] = None
    fill(workbook.create_sheet("Ratings"), rows)
    summary: list[Row] = [{"Bot": name, "Mean": 3.5, "n": 7} for name in BIKE_SYSTEMS[:2]]
    fill(workbook.create_sheet("Summary"), summary)
    cases.write("rating_workbook.xlsx", saved(workbook))
    cases.expect(
        "rating_workbook.xlsx",
        "A project lead with a workbook of three sheets: instructions, ratings, a summary table.",
        "ratings",
        14,
        {"id": "Item", "system": "Bot", "candidate": "Answer"},
        judge_columns=["Rater 1", "Rater 2"],
        items=7,
        systems=2,
        judges=2,
        dimensions=1,
        missing={"score": 1},
        sheet="Ratings",
        cells=[
            cell(3, "score", None, judge="Rater 2"),
            cell(3, "score", rows[3]["Rater 1"], judge="Rater 1"),
        ],
        problem="The data is on the second of three sheets; if that is not clear, a reader asks "
        "which sheet.",
    )


def _merged_cells(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    rows: list[Row] = [
        {"No.": number + 1, "Question": item["question"], "Reference answer": item["reference"]}
        | {"Model": system, "Model answer": item[system]}
        for number, item in enumerate(BIKES[:8])
        for system in BIKE_SYSTEMS
    ]
    fill(sheet, rows)
    for top in range(2, 26, 3):
        for column in "ABC":
            sheet.merge_cells(f"{column}{top}:{column}{top + 2}")
    cases.write("merged_questions.xlsx", saved(workbook))
    cases.expect(
        "merged_questions.xlsx",
        "A linguist whose sheet has number, question and reference in cells merged over the rows "
        "of three models.",
        "outputs",
        24,
        {
            "id": "No.",
            "question": "Question",
            "reference": "Reference answer",
            "system": "Model",
            "candidate": "Model answer",
        },
        items=8,
        systems=3,
        sheet="Sheet",
        cells=[
            cell(2, "id", 1),
            cell(2, "reference", BIKES[0]["reference"]),
            cell(23, "question", "Who pays if I have an accident?"),
        ],
        note="A merged value holds for all rows of the merged cell; the file stores it once.",
    )


def _formulas(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    sheet.title = "Bewertung"
    fill(workbook.create_sheet("Key"), [{"id": f"Q{n + 1}", "gold": i["reference"]} for n, i in
                                        enumerate(BIKES[:8])])  # fmt: skip
    rows: list[Row] = []
    results: dict[str, str | float] = {}
    for number, item in enumerate(BIKES[:9]):
        line = number + 2
        scores = [rating(number, "llama-3.1-8b", person) for person in ("alice", "bob")]
        rows.append(
            {"ID": '="Q"&(ROW()-1)', "Answer": item["llama-3.1-8b"]}
            | {"Gold": f"=VLOOKUP(A{line},Key!A:B,2,FALSE)", "alice": scores[0], "bob": scores[1]}
            | {"mean": f"=AVERAGE(D{line}:E{line})"}
        )
        results |= {f"A{line}": f"Q{number + 1}", f"F{line}": sum(scores) / 2}
        results[f"C{line}"] = item["reference"] if number < 8 else "#N/A"
    fill(sheet, rows)
    cases.write("scores_with_formulas.xlsx", saved(workbook, results))
    cases.expect(
        "scores_with_formulas.xlsx",
        "An analyst whose workbook computes the id, looks up the reference and averages two raters "
        "with formulas (stored with their results, as Excel does).",
        "ratings",
        9,
        {"id": "ID", "candidate": "Answer", "reference": "Gold"},
        judge_columns=["alice", "bob"],
        items=9,
        judges=2,
        dimensions=1,
        missing={"reference": 1},
        sheet="Bewertung",
        cells=[
            cell(0, "id", "Q1"),
            cell(1, "reference", BIKES[1]["reference"]),
            cell(8, "reference", None),
            cell(0, "score", rows[0]["bob"], judge="bob"),
        ],
        note="The column `mean` is computed from the raters and is not a third one. The lookup of "
        "row 8 failed (#N/A).",
    )


def _dates(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "Date": DATE + datetime.timedelta(days=number // 3),
            "Reviewer": ["Ana", "Luis"][number % 2],
            "Text ID": 500 + number // 2,
            "Text": item["bart"],
            "Score": rating(number // 2, "bart", ["Ana", "Luis"][number % 2]),
        }
        for number, item in enumerate(entry for entry in TEXTS["news"] for _ in range(2))
    ]
    rows[9]["Score"] = datetime.datetime(2026, 5, 4)
    workbook = new_workbook()
    fill(workbook.active, rows)
    workbook.active["E11"].number_format = "d-mmm"
    cases.write("review_log.xlsx", saved(workbook))
    cases.expect(
        "review_log.xlsx",
        "An editor with a log of reviews: real dates in a column, and one score '4/5' that Excel "
        "turned into the 4th of May.",
        "ratings",
        16,
        {"id": "Text ID", "candidate": "Text", "judge": "Reviewer", "score": "Score"},
        items=8,
        judges=2,
        dimensions=1,
        sheet="Sheet",
        cells=[cell(0, "score", rows[0]["Score"]), cell(15, "id", 507)],
        problem="The score of row 9 is a date.",
    )


def _hidden_columns(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    rows: list[Row] = [
        {"key": f"A{number:03d}", "model": system, "Text": item[system]}
        | {"Source": item["article"], "Rating (1-5)": rating(number, system, "x")}
        for number, item in enumerate(TEXTS["news"])
        for system in ("bart", "t5")
    ]
    fill(sheet, rows)
    sheet.column_dimensions["A"].hidden = True
    sheet.column_dimensions["B"].hidden = True
    cases.write("blind_rating.xlsx", saved(workbook))
    cases.expect(
        "blind_rating.xlsx",
        "A researcher who hid the columns with key and model, so that the rater does not see them.",
        "ratings",
        16,
        {
            "id": "key",
            "system": "model",
            "candidate": "Text",
            "source": "Source",
            "score": "Rating (1-5)",
        },
        items=8,
        systems=2,
        judges=1,
        dimensions=1,
        sheet="Sheet",
        cells=[cell(1, "system", "t5"), cell(1, "candidate", "Elmbridge plants trees.")],
        note="Hidden columns are data.",
    )


def _offset(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    sheet.title = "Tabelle1"
    sheet["B2"] = "Testlauf Oktober"
    rows: list[Row] = [
        {"Ausgangstext": item["en"], "Maschinelle Übersetzung": item["Google"]}
        | {"Humanübersetzung": item["ref"]}
        for item in TEXTS["letters"][:10]
    ]
    fill(sheet, rows, top=5, left=2)
    cases.write("Testlauf.xlsx", saved(workbook))
    cases.expect(
        "Testlauf.xlsx",
        "A German translation office with a title in B2, empty rows, and the table from B5 on.",
        "outputs",
        10,
        {
            "source": "Ausgangstext",
            "candidate": "Maschinelle Übersetzung",
            "reference": "Humanübersetzung",
        },
        items=10,
        sheet="Tabelle1",
        header_rows=[4],
        cells=[cell(0, "candidate", "Danke für deinen Brief vom 3. März.")],
    )


def _percentages(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    rows: list[Row] = [
        {"Summary": item["bart"]}
        | {f"Coverage {person}": rating(number, "bart", person) / 5 for person in ("Kim", "Lee")}
        for number, item in enumerate(TEXTS["news"])
    ]
    rows[5]["Coverage Lee"] = "70%"
    fill(sheet, rows)
    for line in sheet.iter_rows(min_row=2, min_col=2, max_col=3):
        for place in line:
            place.number_format = "0%"
    cases.write("coverage_percent.xlsx", saved(workbook))
    cases.expect(
        "coverage_percent.xlsx",
        "A researcher whose two raters estimated covered content in percent; Excel stores "
        "fractions, and one value is text.",
        "ratings",
        8,
        {"candidate": "Summary"},
        columns={f"Coverage {p}": {"dimension": "Coverage", "judge": p} for p in ("Kim", "Lee")},
        items=8,
        judges=2,
        dimensions=1,
        sheet="Sheet",
        cells=[
            cell(0, "score", rows[0]["Coverage Kim"], judge="Kim"),
            cell(5, "score", 0.7, judge="Lee"),
        ],
        note="Percentages are fractions of 1 for all cells, the text '70%' as well.",
    )
