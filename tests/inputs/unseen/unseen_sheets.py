"""Spreadsheets and surveys in other languages and odd layouts."""

from __future__ import annotations

from typing import Any

from case_format import Cases, Row, cell, csv_text, json_text, rating, reading
from spreadsheets import fill, new_workbook, saved
from unseen_tools import MUSEUM, TEXTS, WEATHER


def add_cases(cases: Cases) -> None:
    """Write the files and add their expectations."""
    _qualtrics(cases)
    _french_marks(cases)
    _chinese_workbook(cases)
    _russian_code_page(cases)
    _system_and_judge_columns(cases)
    _mean_row(cases)
    _no_header(cases)
    _transposed(cases)
    _ranks(cases)


def _qualtrics(cases: Cases) -> None:
    texts = (1, 2, 3)
    aspects = ("Fluency", "Coverage")
    names = ["StartDate", "EndDate", "Status", "Progress", "Duration (in seconds)", "Finished"]
    names += ["RecordedDate", "ResponseId", "UserLanguage"]
    questions = [f"Q{text}_{k}" for text in texts for k in (1, 2)]
    labels = [f"How good is summary {text}? - {aspect}" for text in texts for aspect in aspects]
    header: list[Row] = [
        dict(zip(names + questions, names + labels, strict=True)),
        {
            name: json_text({"ImportId": name if name in names else f"QID{name[1:]}"}, None).strip()
            for name in names + questions
        },
    ]
    rows: list[Row] = []
    for number in range(6):
        person = f"R_{number}kXb9Qa"
        date = f"2026-09-2{number} 10:0{number}:00"
        values: list[Any] = [date, date, "IP Address", "100", 140 + number, "True", date, person]
        values += ["EN"]
        values += [rating(text, "bart", person, a) for text in texts for a in aspects]
        rows.append(dict(zip(names + questions, values, strict=True)))
    rows[2]["Q3_2"] = None
    cases.write("Summaries_September 28, 2026_10.15.csv", csv_text(header + rows))
    cases.expect(
        "Summaries_September 28, 2026_10.15.csv",
        "A researcher with the CSV export of a Qualtrics survey: names, questions and import ids "
        "in three header rows, then a row per participant.",
        "ratings",
        6,
        {"judge": "ResponseId"},
        header_rows=[0, 1, 2],
        columns={
            f"Q{text}_{k}": {"id": f"Q{text}", "dimension": aspect}
            for text in texts
            for k, aspect in enumerate(aspects, 1)
        },
        items=3,
        judges=6,
        dimensions=2,
        missing={"score": 1},
        cells=[cell(0, "judge", "R_0kXb9Qa")],
        ambiguous=True,
        readings=[
            reading("Columns encode item and dimension; rows are judges."),
            reading(
                "Each column is an item of one dimension; rows are judges.",
                counts={"items": 6, "dimensions": 1},
            ),
        ],
    )


def _french_marks(cases: Cases) -> None:
    marks = ["17,5", "9", "16", "12,25", "18", "4,5", "15", "8,5", "17", "11", "16,5", "3"]
    rows: list[Row] = [
        {
            "N°": number + 1,
            "Texte source": item["src"],
            "Traduction automatique": item["mt"],
            "Évaluateur": person,
            "Note /20": marks[2 * number + k],
            "Commentaire": "contresens" if number == 5 else "",
        }
        for number, item in enumerate(TEXTS["french"])
        for k, person in enumerate(("Chloé", "Benoît"))
    ]
    cases.write("notes_traduction.csv", csv_text(rows, ";", "\r\n"), "utf-8-sig")
    cases.expect(
        "notes_traduction.csv",
        "A French teacher whose two colleagues gave marks out of 20, with decimal commas.",
        "ratings",
        12,
        {
            "id": "N°",
            "source": "Texte source",
            "candidate": "Traduction automatique",
            "judge": "Évaluateur",
            "score": "Note /20",
        },
        items=6,
        judges=2,
        dimensions=1,
        cells=[
            cell(0, "score", 17.5),
            cell(3, "score", 12.25),
            cell(1, "judge", "Benoît"),
            cell(11, "candidate", "Le café est dans l’entraîneur cinq."),
        ],
    )


def _chinese_workbook(cases: Cases) -> None:
    workbook = new_workbook()
    sheet = workbook.active
    sheet.title = "评测结果"
    rows: list[Row] = [
        {"编号": f"T{number + 1:03d}", "模型": model, "问题": item["q"], "回答": item[key]}
        | {"参考答案": item["ref"]}
        | {f"评委{judge}": rating(number, key, str(judge)) for judge in (1, 2, 3)}
        for number, item in enumerate(TEXTS["chinese"])
        for model, key in (("通义", "a"), ("基线", "b"))
    ]
    rows[4]["评委2"] = None
    fill(sheet, rows)
    cases.write("评测结果.xlsx", saved(workbook))
    cases.expect(
        "评测结果.xlsx",
        "A Chinese library that rated two models in a workbook: number, model, question, answer, "
        "reference and a column per judge.",
        "ratings",
        12,
        {
            "id": "编号",
            "system": "模型",
            "question": "问题",
            "candidate": "回答",
            "reference": "参考答案",
        },
        judge_columns=["评委1", "评委2", "评委3"],
        items=6,
        systems=2,
        judges=3,
        dimensions=1,
        missing={"score": 1},
        sheet="评测结果",
        cells=[
            cell(4, "score", None, judge="评委2"),
            cell(4, "score", rows[4]["评委3"], judge="评委3"),
            cell(1, "candidate", "不知道。"),
        ],
    )


def _russian_code_page(cases: Cases) -> None:
    rows: list[Row] = [
        {"Вопрос": item["q"], "Ответ модели": item["a"], "Эталон": item["ref"]}
        for item in TEXTS["russian"]
    ]
    cases.write("voprosy.csv", csv_text(rows, ";", "\r\n"), "cp1251")
    cases.expect(
        "voprosy.csv",
        "A Russian museum that saved an Excel sheet as CSV: semicolons and code page 1251, which "
        "is readable nonsense in code page 1252.",
        "outputs",
        6,
        {"question": "Вопрос", "candidate": "Ответ модели", "reference": "Эталон"},
        items=6,
        cells=[
            cell(0, "candidate", "Музей открывается в десять."),
            cell(5, "candidate", "Магазин сувениров — у выхода."),
        ],
    )


def _system_and_judge_columns(cases: Cases) -> None:
    places = [(system, person) for system in ("DeepL", "Google") for person in ("Anna", "Marco")]
    rows: list[Row] = [
        {"Frase": number + 1}
        | {f"{system} – {person}": rating(number, system, person) for system, person in places}
        for number in range(10)
    ]
    rows[7]["Google – Anna"] = None
    workbook = new_workbook()
    workbook.active.title = "Valutazioni"
    fill(workbook.active, rows)
    cases.write("valutazioni.xlsx", saved(workbook))
    cases.expect(
        "valutazioni.xlsx",
        "An Italian agency with a column per system and person, joined with a dash.",
        "ratings",
        10,
        {"id": "Frase"},
        columns={f"{s} – {p}": {"system": s, "judge": p} for s, p in places},
        items=10,
        systems=2,
        judges=2,
        dimensions=1,
        missing={"score": 1},
        sheet="Valutazioni",
        cells=[
            cell(7, "score", None, system="Google", judge="Anna"),
            cell(2, "score", rows[2]["DeepL – Marco"], system="DeepL", judge="Marco"),
        ],
    )


def _mean_row(cases: Cases) -> None:
    rows: list[Row] = [
        {"Item": f"W{number + 1}", "System": system, "Translation": item[system]}
        | {name: rating(number, system, "x", name) for name in ("Fluency", "Adequacy")}
        for number, item in enumerate(WEATHER[:6])
        for system in ("nmt", "llm")
    ]
    workbook = new_workbook()
    sheet = workbook.active
    sheet.title = "Scores"
    last: Row = {"Item": "Mean", "System": None, "Translation": None}
    last |= {"Fluency": "=AVERAGE(D2:D13)", "Adequacy": "=AVERAGE(E2:E13)"}
    fill(sheet, [*rows, last])
    means = {
        f"{column}14": sum(row[name] for row in rows) / 12
        for column, name in (("D", "Fluency"), ("E", "Adequacy"))
    }
    cases.write("scores_with_mean.xlsx", saved(workbook, means))
    cases.expect(
        "scores_with_mean.xlsx",
        "An analyst whose sheet ends with a row of means below the ratings.",
        "ratings",
        12,
        {"id": "Item", "system": "System", "candidate": "Translation"},
        dimension_columns=["Fluency", "Adequacy"],
        items=6,
        systems=2,
        judges=1,
        dimensions=2,
        sheet="Scores",
        cells=[cell(11, "score", rows[11]["Adequacy"], dimension="Adequacy")],
        problem="The last row has means of the columns and is not a rating.",
    )


def _no_header(cases: Cases) -> None:
    rows: list[Row] = [{"1": i["en"], "2": i["nmt"], "3": i["ref"]} for i in WEATHER]
    cases.write("dev.en-de.tsv", csv_text(rows, "\t", header=False))
    cases.expect(
        "dev.en-de.tsv",
        "A translation researcher with source, translation and reference in three columns, "
        "without a header.",
        "outputs",
        8,
        {"source": "1", "candidate": "2", "reference": "3"},
        items=8,
        header_rows=[],
        cells=[cell(0, "source", WEATHER[0]["en"]), cell(7, "reference", WEATHER[7]["ref"])],
        problem="No row has column names; a reader that takes the first row for them loses it.",
        note="roles has the numbers of the columns, from 1.",
    )


def _transposed(cases: Cases) -> None:
    fields = (("Question", "question"), ("Answer", "qwen-2.5"), ("Gold answer", "reference"))
    rows: list[Row] = [
        {"": name} | {f"Item {number + 1}": item[key] for number, item in enumerate(MUSEUM[:6])}
        for name, key in fields
    ]
    cases.write("transposed.csv", csv_text(rows))
    cases.expect(
        "transposed.csv",
        "A manager whose table has a column per question, and question, answer and gold answer in "
        "its rows.",
        "outputs",
        6,
        {"question": "Question", "candidate": "Answer", "reference": "Gold answer"},
        items=6,
        cells=[cell(4, "candidate", "No, dogs must stay outside.")],
        problem="Rows and columns are exchanged; the six columns are items, not systems.",
    )


def _ranks(cases: Cases) -> None:
    systems = ("nmt", "llm", "human")
    rows: list[Row] = []
    for number in range(6):
        for person in ("Lena", "Omar"):
            order = sorted(systems, key=lambda s: -rating(number, s, person) + systems.index(s) / 9)
            rows += [
                {"sentence": number + 1, "annotator": person, "system": system}
                | {"rank": order.index(system) + 1}
                for system in systems
            ]
    cases.write("ranking.csv", csv_text(rows))
    cases.expect(
        "ranking.csv",
        "A lecturer whose annotators ranked three translations of each sentence; rank 1 is best.",
        "ratings",
        36,
        {"id": "sentence", "judge": "annotator", "system": "system", "score": "rank"},
        items=6,
        systems=3,
        judges=2,
        dimensions=1,
        better="lower",
        cells=[cell(1, "system", "llm"), cell(1, "score", rows[1]["rank"])],
        problem="Lower ranks are better.",
    )
