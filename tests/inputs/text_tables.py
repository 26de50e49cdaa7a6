"""Tables of texts in CSV and its relatives: encodings, quoting, odd headers, translations."""

from __future__ import annotations

from case_format import (
    BIKE_SYSTEMS,
    LETTER_SYSTEMS,
    TEXTS,
    Cases,
    Row,
    cell,
    compressed,
    csv_text,
    noise,
    rating,
    reading,
)

BIKES = TEXTS["bikes"]
LETTERS = TEXTS["letters"]


def add_cases(cases: Cases) -> None:
    """Write the files and add their expectations."""
    _byte_order_mark(cases)
    _semicolons(cases)
    _latin_1(cases)
    _tabs(cases)
    _quotes(cases)
    _utf16(cases)
    _gzip(cases)
    _trailing_rows(cases)
    _two_header_rows(cases)
    _title_row(cases)
    _duplicate_headers(cases)
    _separator_line(cases)
    _numbers_as_text(cases)
    _index_column(cases)
    _many_columns(cases)
    _translations(cases)
    _several_references(cases)
    _latency_and_cost(cases)


def _answers(system: str, count: int, names: tuple[str, str, str]) -> list[Row]:
    question, answer, reference = names
    return [
        {question: item["question"], answer: item[system], reference: item["reference"]}
        for item in BIKES[:count]
    ]


def _byte_order_mark(cases: Cases) -> None:
    rows = [
        {"id": f"de-{number}", "Frage": item["frage"], "Antwort": item["antwort"]}
        | {"Musterlösung": item["muster"]}
        for number, item in enumerate(TEXTS["german"])
    ]
    cases.write("antworten_utf8.csv", csv_text(rows, end="\r\n"), "utf-8-sig")
    cases.expect(
        "antworten_utf8.csv",
        "A clerk with German texts who saved 'CSV UTF-8' in an English Excel: a byte order mark.",
        "outputs",
        8,
        {"id": "id", "question": "Frage", "candidate": "Antwort", "reference": "Musterlösung"},
        items=8,
        cells=[cell(0, "id", "de-0"), cell(1, "reference", "2,50 € bis 14 Jahre.")],
    )


def _semicolons(cases: Cases) -> None:
    rows = [
        {"Frage": item["frage"], "Erwartet": item["muster"], "Ausgabe": item["antwort"]}
        for item in TEXTS["german"]
    ]
    cases.write("antworten.csv", csv_text(rows, ";", "\r\n"), "cp1252")
    cases.expect(
        "antworten.csv",
        "A German clerk who saved an Excel sheet as plain CSV: semicolons, code page 1252 (euro "
        "sign and curved quotes), commas within texts.",
        "outputs",
        8,
        {"question": "Frage", "reference": "Erwartet", "candidate": "Ausgabe"},
        items=8,
        cells=[
            cell(1, "candidate", "Kinder bis 14 Jahre zahlen 2,50 €."),
            cell(3, "candidate", "Ja – nur am „Familiensonntag“ sind Flossen nicht erlaubt."),
        ],
    )


def _latin_1(cases: Cases) -> None:
    rows = [
        {"pregunta": item["pregunta"], "respuesta": item["respuesta"]}
        | {"respuesta_esperada": item["esperada"]}
        for item in TEXTS["spanish"]
    ]
    cases.write("preguntas_trenes.csv", csv_text(rows), "latin-1")
    cases.expect(
        "preguntas_trenes.csv",
        "A Spanish railway's old script, which writes Latin-1.",
        "outputs",
        8,
        {"question": "pregunta", "candidate": "respuesta", "reference": "respuesta_esperada"},
        items=8,
        cells=[
            cell(0, "question", "¿A qué hora sale el último tren?"),
            cell(7, "reference", "No, sólo efectivo."),
        ],
    )


def _tabs(cases: Cases) -> None:
    rows = [
        {"article": item["article"], "hyp": item["bart"], "ref": item["summary"]}
        for item in TEXTS["news"]
    ]
    cases.write("summaries.tsv", csv_text(rows, "\t"))
    cases.expect(
        "summaries.tsv",
        "A summarization researcher with article, hypothesis and reference in a TSV file.",
        "outputs",
        8,
        {"source": "article", "candidate": "hyp", "reference": "ref"},
        items=8,
        cells=[cell(4, "reference", TEXTS["news"][4]["summary"])],
    )


def _quotes(cases: Cases) -> None:
    rows = TEXTS["emails"]
    cases.write("email_replies.csv", csv_text(rows))
    cases.expect(
        "email_replies.csv",
        "A support team with email replies: line breaks, commas, doubled quotes and an emoji "
        "within cells.",
        "outputs",
        7,
        {"question": "prompt", "candidate": "output", "reference": "expected"},
        items=7,
        cells=[
            cell(0, "candidate", rows[0]["output"]),
            cell(3, "candidate", '"Size 8.5" is the US size; in Europe it is called "42".'),
            cell(6, "candidate", "Thank you, that made our day! 🥾"),
        ],
    )


def _utf16(cases: Cases) -> None:
    rows = [
        {"English": item["en"], "Reference": item["ref"], "MT": item["mt"]}
        for item in TEXTS["japanese"]
    ]
    text = "\ufeff" + csv_text(rows, "\t", "\r\n")
    cases.write("japanese_unicode.txt", text, "utf-16-le")
    cases.expect(
        "japanese_unicode.txt",
        "A translator who saved an Excel sheet as 'Unicode Text': UTF-16 LE with tabs, .txt.",
        "outputs",
        8,
        {"source": "English", "reference": "Reference", "candidate": "MT"},
        items=8,
        cells=[
            cell(1, "reference", "美術館は月曜日が休館です。"),
            cell(7, "candidate", "傘を忘れた。☔"),
        ],
    )
    rows = [
        {"source_text": item["en"], "human_translation": item["ref"]}
        | {"machine_translation": item["hyp"]}
        for item in TEXTS["polish"]
    ]
    cases.write("signs_pl.csv", "\ufeff" + csv_text(rows), "utf-16-be")
    cases.expect(
        "signs_pl.csv",
        "A translation memory tool on an old server, which exports CSV in UTF-16 BE.",
        "outputs",
        7,
        {
            "source": "source_text",
            "reference": "human_translation",
            "candidate": "machine_translation",
        },
        items=7,
        cells=[
            cell(4, "reference", "Następny przystanek: ogród botaniczny."),
            cell(5, "candidate", "Uważaj na lukę."),
        ],
    )


def _gzip(cases: Cases) -> None:
    rows = [
        {"doc": number, "model": system, "Prediction": item[system], "gold": item["summary"]}
        for number, item in enumerate(TEXTS["news"])
        for system in ("bart", "t5")
    ]
    cases.write("predictions.csv.gz", compressed(csv_text(rows).encode()))
    cases.expect(
        "predictions.csv.gz",
        "A PhD student whose training script writes compressed predictions of two models.",
        "outputs",
        16,
        {"id": "doc", "system": "model", "candidate": "Prediction", "reference": "gold"},
        items=8,
        systems=2,
        optional={"unit": "doc"},
        cells=[cell(1, "system", "t5"), cell(15, "candidate", "Trams run every five minutes.")],
        note="`doc` is the only number of an item, so it is the id.",
    )


def _trailing_rows(cases: Cases) -> None:
    rows = _answers("gpt-4o-mini", 10, ("question", "answer", "expected_answer"))
    text = csv_text(rows, end="\r\n") + ",,\r\n" * 5 + "\r\n"
    cases.write("faq_with_empty_rows.csv", text)
    cases.expect(
        "faq_with_empty_rows.csv",
        "An office worker on Windows: CRLF line ends, five rows of commas and an empty line at the "
        "end.",
        "outputs",
        10,
        {"question": "question", "candidate": "answer", "reference": "expected_answer"},
        items=10,
        cells=[cell(9, "reference", "About 60 kilometres with a full battery.")],
        note="Rows without any value are not data.",
    )


def _two_header_rows(cases: Cases) -> None:
    people = ("alice", "bob")
    systems = ("bart", "t5")
    lines = ["system," + ",".join(system for system in systems for _ in people)]
    lines.append("judge," + ",".join(people * 2))
    lines.append("segment,,,,")
    table = {
        (number, system, person): rating(number, system, person)
        for number in range(9)
        for system in systems
        for person in people
    }
    lines += [
        ",".join([f"s{number}"] + [str(table[number, s, p]) for s in systems for p in people])
        for number in range(9)
    ]
    cases.write("pivot.csv", "\n".join(lines) + "\n")
    cases.expect(
        "pivot.csv",
        "A data scientist who wrote a pandas pivot table with to_csv: two header rows (system, "
        "judge) and a third line with the name of the index.",
        "ratings",
        9,
        {"id": "segment"},
        header_rows=[0, 1, 2],
        columns={f"{s}/{p}": {"system": s, "judge": p} for s in systems for p in people},
        items=9,
        systems=2,
        judges=2,
        dimensions=1,
        cells=[
            cell(0, "id", "s0"),
            cell(4, "score", table[4, "t5", "alice"], system="t5", judge="alice"),
        ],
        note="columns has the two header cells joined with /.",
    )


def _title_row(cases: Cases) -> None:
    rows = _answers("mistral-small", 9, ("User question", "Bot answer", "Gold answer"))
    title = 'Evaluation of the FAQ bot,,\n"Exported by M. Weber, 2 October 2026",,\n,,\n'
    cases.write("report_with_title.csv", title + csv_text(rows))
    cases.expect(
        "report_with_title.csv",
        "A consultant with a title, a subtitle and an empty row above the header.",
        "outputs",
        9,
        {"question": "User question", "candidate": "Bot answer", "reference": "Gold answer"},
        items=9,
        header_rows=[3],
        cells=[cell(0, "candidate", "Single rides cost 2 euros for 30 minutes.")],
    )


def _duplicate_headers(cases: Cases) -> None:
    raters = ("r1", "r2", "r3")
    rows = [
        {"id": number, "text": item["bart"]} | {r: rating(number, "bart", r) for r in raters}
        for number, item in enumerate(TEXTS["news"])
    ]
    body = csv_text(rows, header=False)
    cases.write("three_scores.csv", "id,text,score,score,score\n" + body)
    cases.expect(
        "three_scores.csv",
        "A teacher who pasted the score columns of three colleagues side by side.",
        "ratings",
        8,
        {"id": "id", "candidate": "text"},
        judge_columns=["score", "score", "score"],
        items=8,
        judges=3,
        dimensions=1,
        cells=[cell(2, "candidate", TEXTS["news"][2]["bart"])],
        problem="Three columns have the same name; none of them may be lost.",
        ambiguous=True,
        readings=[
            reading("Three judges without names."),
            reading(
                "Three rounds or dimensions of one judge.", counts={"judges": 1, "dimensions": 3}
            ),
        ],
    )


def _separator_line(cases: Cases) -> None:
    rows = _answers("llama-3.1-8b", 8, ("Eingabe", "Modellantwort", "Referenz"))
    cases.write("excel_sep.csv", "sep=;\r\n" + csv_text(rows, ";", "\r\n"))
    cases.expect(
        "excel_sep.csv",
        "A Windows user whose tool starts CSV files with `sep=;` for Excel.",
        "outputs",
        8,
        {"question": "Eingabe", "candidate": "Modellantwort", "reference": "Referenz"},
        items=8,
        header_rows=[1],
        cells=[cell(0, "candidate", "It costs €1.50.")],
    )


def _numbers_as_text(cases: Cases) -> None:
    rows = [
        {"item_no": f"{number + 7:05d}", "hypothesis": item["Google"]}
        | {"grade": f"{rating(number, 'Google', 'x')}.0"}
        for number, item in enumerate(LETTERS[:9])
    ]
    cases.write("leading_zeros.csv", csv_text(rows, quote_all=True))
    cases.expect(
        "leading_zeros.csv",
        "A database administrator whose export quotes everything: ids with leading zeros, grades "
        'as text such as "4.0".',
        "ratings",
        9,
        {"id": "item_no", "candidate": "hypothesis", "score": "grade"},
        items=9,
        judges=1,
        dimensions=1,
        cells=[cell(0, "id", "00007"), cell(0, "score", float(rows[0]["grade"]))],
        note="The ids keep their zeros.",
    )


def _index_column(cases: Cases) -> None:
    rows = [
        {"": number, "model_name": system, "input_text": item["question"]}
        | {"generated_text": item[system], "target_text": item["reference"]}
        for system in BIKE_SYSTEMS[:2]
        for number, item in enumerate(BIKES[:8])
    ]
    cases.write("df.csv", csv_text(rows))
    cases.expect(
        "df.csv",
        "A data scientist who wrote a pandas frame with to_csv and its index: the first column has "
        "no name.",
        "outputs",
        16,
        {
            "system": "model_name",
            "question": "input_text",
            "candidate": "generated_text",
            "reference": "target_text",
        },
        items=8,
        systems=2,
        optional={"id": ""},
        cells=[cell(8, "system", "llama-3.1-8b"), cell(8, "candidate", "It costs €1.50.")],
        note="Question text or the index identifies an item; the index starts again per model.",
    )


def _many_columns(cases: Cases) -> None:
    rows: list[Row] = []
    for number, item in enumerate(BIKES[:6]):
        row: Row = {f"feature_{k:03d}": round(noise(number, k), 3) for k in range(96)}
        row |= {"sample_id": f"b{number}", "prediction": item["gpt-4o-mini"]}
        row |= {f"embedding.{k}": round(noise("e", number, k) - 0.5, 3) for k in range(100)}
        rows.append(row | {"label": item["reference"], "split": "test"})
    cases.write("features_200.csv", csv_text(rows))
    cases.expect(
        "features_200.csv",
        "A machine-learning engineer with a feature table of 200 columns; two of them hold texts.",
        "outputs",
        6,
        {"id": "sample_id", "candidate": "prediction", "reference": "label"},
        items=6,
        cells=[cell(5, "reference", BIKES[5]["reference"])],
        note="The 196 columns of numbers are neither judges nor systems.",
    )


def _translations(cases: Cases) -> None:
    rows = [{"source": i["en"], "mt": i["DeepL"], "ref": i["ref"]} for i in LETTERS]
    cases.write("src_mt_ref.csv", csv_text(rows))
    cases.expect(
        "src_mt_ref.csv",
        "A translator with source, machine translation and reference.",
        "outputs",
        12,
        {"source": "source", "candidate": "mt", "reference": "ref"},
        items=12,
        cells=[cell(0, "candidate", "Vielen Dank für Ihren Brief vom 3. März.")],
    )
    rows = [
        {"doc_id": item["doc"], "Source (EN)": item["en"], "Reference (DE)": item["ref"]}
        | {name: item[name] for name in LETTER_SYSTEMS}
        for item in LETTERS
    ]
    rows[6]["inhouse-nmt"] = ""
    cases.write("systems_side_by_side.csv", csv_text(rows))
    cases.expect(
        "systems_side_by_side.csv",
        "A localization manager who compares three engines, a column per engine, four letters.",
        "outputs",
        12,
        {"unit": "doc_id", "source": "Source (EN)", "reference": "Reference (DE)"},
        system_columns=LETTER_SYSTEMS,
        items=12,
        systems=3,
        missing={"candidate": 1},
        cells=[
            cell(0, "candidate", "Danke für deinen Brief vom 3. März.", system="Google"),
            cell(6, "candidate", None, system="inhouse-nmt"),
            cell(11, "unit", "letter-04"),
        ],
    )


def _several_references(cases: Cases) -> None:
    rows = [
        {"src": item["src"], "hyp": item["hyp"]}
        | {f"ref{n}": (item["refs"][n - 1 : n] or [""])[0] for n in (1, 2, 3)}
        for item in TEXTS["refs"]
    ]
    cases.write("three_references.csv", csv_text(rows))
    cases.expect(
        "three_references.csv",
        "A researcher with up to three references per sentence in columns ref1 to ref3.",
        "outputs",
        8,
        {"source": "src", "candidate": "hyp", "reference": ["ref1", "ref2", "ref3"]},
        items=8,
        missing={"reference": 2},
        cells=[
            cell(0, "reference", TEXTS["refs"][0]["refs"]),
            cell(2, "reference", ["Closed today.", "We are closed today."]),
        ],
        note="Rows 2 and 5 have two references; the third is empty.",
    )


def _latency_and_cost(cases: Cases) -> None:
    rows = [
        {"Test Case": f"TC{number + 1}", "Prompt": item["question"], "model": system}
        | {"llm_response": item[system], "ground_truth": item["reference"]}
        | {"latency_ms": 300 + 10 * number, "prompt_tokens": 40 + number}
        | {"cost_usd": round(0.001 * noise(system, number), 6), "temperature": 0.2}
        for number, item in enumerate(BIKES[:8])
        for system in BIKE_SYSTEMS
    ]
    cases.write("bakeoff.csv", csv_text(rows))
    cases.expect(
        "bakeoff.csv",
        "An engineer who compared three models and logged latency, tokens and cost.",
        "outputs",
        24,
        {
            "id": "Test Case",
            "question": "Prompt",
            "system": "model",
            "candidate": "llm_response",
            "reference": "ground_truth",
        },
        items=8,
        systems=3,
        cells=[cell(4, "system", "llama-3.1-8b"), cell(4, "id", "TC2")],
        note="Latency, tokens, cost and temperature have no role.",
    )
