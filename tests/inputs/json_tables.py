"""Texts in JSON, and cases of several files or of rows that contradict each other."""

from __future__ import annotations

from typing import Any

from case_format import (
    BIKE_SYSTEMS,
    LETTER_SYSTEMS,
    TEXTS,
    Cases,
    Row,
    cell,
    compressed,
    csv_text,
    json_text,
    jsonl_text,
)

BIKES = TEXTS["bikes"]


def add_cases(cases: Cases) -> None:
    """Write the files and add their expectations."""
    _plain_array(cases)
    _data_object(cases)
    _split_object(cases)
    _nested_lines(cases)
    _varying_keys(cases)
    _mixed_types(cases)
    _reference_lists(cases)
    _compressed_lines(cases)
    _two_versions(cases)
    _other_ids(cases)
    _duplicate_rows(cases)


def _plain_array(cases: Cases) -> None:
    rows = [
        {
            "query": item["question"],
            "llm_output": item["llama-3.1-8b"],
            "gold_answer": item["reference"],
        }
        for item in BIKES
    ]
    cases.write("answers.json", json_text(rows))
    cases.expect(
        "answers.json",
        "A developer whose script dumps a list of dictionaries.",
        "outputs",
        12,
        {"question": "query", "candidate": "llm_output", "reference": "gold_answer"},
        items=12,
        cells=[cell(8, "candidate", "Yes, they have a green dot in the app.")],
    )


def _data_object(cases: Cases) -> None:
    rows = [
        {"qid": f"Q{number}", "question": item["question"], "completion": item["gpt-4o-mini"]}
        | {"ideal": item["reference"]}
        for number, item in enumerate(BIKES[:9])
    ]
    document = {
        "version": "1.2",
        "created": "2026-10-02",
        "model": {"name": "gpt-4o-mini", "temperature": 0},
        "metrics": [{"name": "accuracy", "value": 0.78}],
        "data": rows,
    }
    cases.write("run_42.json", json_text(document))
    cases.expect(
        "run_42.json",
        "A developer whose service returns an object with the rows under `data` and settings "
        "beside them.",
        "outputs",
        9,
        {"id": "qid", "question": "question", "candidate": "completion", "reference": "ideal"},
        items=9,
        records="data",
        optional={"system": "/model.name"},
        cells=[cell(8, "id", "Q8"), cell(8, "reference", BIKES[8]["reference"])],
    )


def _split_object(cases: Cases) -> None:
    letters = TEXTS["letters"]
    columns = ["src", "translation", "reference"]
    data = [[item["en"], item["inhouse-nmt"], item["ref"]] for item in letters]
    document = {"columns": columns, "index": list(range(12)), "data": data}
    cases.write("frame_split.json", json_text(document, None))
    cases.expect(
        "frame_split.json",
        "A data scientist who wrote a pandas frame with to_json(orient='split'): columns, index "
        "and lists of cells.",
        "outputs",
        12,
        {"source": "src", "candidate": "translation", "reference": "reference"},
        items=12,
        records="data",
        cells=[cell(0, "candidate", "Danke für Ihr Schreiben von 3 März.")],
    )


def _nested_lines(cases: Cases) -> None:
    rows = [
        {
            "sample": {"id": number, "input": {"prompt": item["question"], "lang": "en"}},
            "output": {"text": item[system], "finish_reason": "stop", "tokens": 20 + number},
            "gold": {"answers": [item["reference"]]},
            "meta": {"model": {"name": system, "size": "8B"}, "seed": 1},
        }
        for number, item in enumerate(BIKES[:10])
        for system in BIKE_SYSTEMS[1:]
    ]
    cases.write("generations_nested.jsonl", jsonl_text(rows))
    cases.expect(
        "generations_nested.jsonl",
        "A research engineer whose pipeline logs nested objects, one line per generation.",
        "outputs",
        20,
        {
            "id": "sample.id",
            "question": "sample.input.prompt",
            "candidate": "output.text",
            "reference": "gold.answers",
            "system": "meta.model.name",
        },
        items=10,
        systems=2,
        cells=[cell(3, "system", "mistral-small"), cell(3, "id", 1)],
    )


def _varying_keys(cases: Cases) -> None:
    rows: list[Row] = []
    for number, item in enumerate(BIKES[:10]):
        row: Row = {"question": item["question"], "response": item["gpt-4o-mini"]}
        if number % 5 != 1:
            row["reference"] = item["reference"]
        if number > 6:
            row |= {"retries": 1, "id": f"late-{number}"}
        if number == 4:
            row = {"error": "timeout", "question": item["question"], "reference": item["reference"]}
        rows.append(row)
    cases.write("log_varying.jsonl", jsonl_text(rows))
    cases.expect(
        "log_varying.jsonl",
        "A developer whose log format grew: not every line has a reference, one has an error "
        "instead of a response, and only late lines have an id.",
        "outputs",
        10,
        {"question": "question", "candidate": "response", "reference": "reference"},
        items=10,
        missing={"reference": 2, "candidate": 1},
        cells=[
            cell(1, "reference", None),
            cell(4, "candidate", None),
            cell(9, "reference", BIKES[9]["reference"]),
        ],
        problem="Two rows have no reference, one has no response. Three of ten rows have an id, "
        "which cannot identify the items.",
    )


def _mixed_types(cases: Cases) -> None:
    answers: list[Any] = [
        1.5,
        "24 euros",
        15,
        True,
        "Profile > Contact",
        None,
        False,
        "yes",
        40,
        60,
    ]
    golds: list[Any] = [1.5, 24, 15, True, "Profile > Contact", 3, False, True, 40, 60]
    rows = [
        {"id": number, "question": BIKES[number]["question"], "prediction": answer, "answer": gold}
        for number, (answer, gold) in enumerate(zip(answers, golds, strict=True))
    ]
    cases.write("short_answers.json", json_text(rows))
    cases.expect(
        "short_answers.json",
        "A developer with short answers in JSON: numbers, booleans, strings and a null in one "
        "column; `answer` is the correct one, as `prediction` is beside it.",
        "outputs",
        10,
        {"id": "id", "question": "question", "candidate": "prediction", "reference": "answer"},
        items=10,
        missing={"candidate": 1},
        cells=[
            cell(1, "candidate", "24 euros"),
            cell(5, "candidate", None),
            cell(0, "candidate", "1.5"),
            cell(2, "reference", "15"),
        ],
        note="A value that is not a string is the text that JSON has for it.",
    )


def _reference_lists(cases: Cases) -> None:
    rows = [
        {"source": item["src"], "hypothesis": item["hyp"], "references": item["refs"]}
        for item in TEXTS["refs"]
    ]
    cases.write("signs_multi_reference.jsonl", jsonl_text(rows))
    cases.expect(
        "signs_multi_reference.jsonl",
        "A researcher with a list of references per line, two or three.",
        "outputs",
        8,
        {"source": "source", "candidate": "hypothesis", "reference": "references"},
        items=8,
        cells=[cell(2, "reference", ["Closed today.", "We are closed today."])],
    )


def _compressed_lines(cases: Cases) -> None:
    rows = [
        {"idx": number, "pred": item["t5"], "tgt": item["summary"], "src": item["article"]}
        for number, item in enumerate(TEXTS["news"])
    ]
    cases.write("generated_predictions.jsonl.gz", compressed(jsonl_text(rows).encode()))
    cases.expect(
        "generated_predictions.jsonl.gz",
        "A PhD student with compressed JSON lines and the abbreviations of a training script.",
        "outputs",
        8,
        {"id": "idx", "candidate": "pred", "reference": "tgt", "source": "src"},
        items=8,
        cells=[cell(2, "candidate", "Kruste closes 60 shops.")],
    )


def _two_versions(cases: Cases) -> None:
    for name, system in (("v1.jsonl", "llama-3.1-8b"), ("v2.jsonl", "gpt-4o-mini")):
        rows = [
            {"id": f"faq-{number}", "question": item["question"], "response": item[system]}
            | {"reference": item["reference"]}
            for number, item in enumerate(BIKES)
        ]
        cases.write(name, jsonl_text(rows if name == "v1.jsonl" else reversed(rows)))
    cases.expect(
        ["v1.jsonl", "v2.jsonl"],
        "A prompt engineer with the outputs of two prompt versions, a file each; the second is in "
        "another order.",
        "outputs",
        24,
        {"id": "id", "question": "question", "candidate": "response", "reference": "reference"},
        items=12,
        systems=2,
        system_names=["v1", "v2"],
        cells=[
            cell(1, "candidate", BIKES[1]["llama-3.1-8b"]),
            cell(12, "id", "faq-11"),
            cell(12, "candidate", BIKES[11]["gpt-4o-mini"]),
        ],
        note="The system is the file name; rows of the second file follow the first file's and "
        "match by id.",
    )


def _other_ids(cases: Cases) -> None:
    for name, system, numbers in (
        ("baseline.csv", "mistral-small", range(10)),
        ("finetuned.csv", "gpt-4o-mini", range(2, 12)),
    ):
        rows: list[Row] = [
            {"example_id": 1000 + n, "output": BIKES[n][system], "expected": BIKES[n]["reference"]}
            for n in numbers
        ]
        cases.write(name, csv_text(rows))
    cases.expect(
        ["baseline.csv", "finetuned.csv"],
        "An engineer who compares two runs on test sets that differ by two examples at each end.",
        "outputs",
        20,
        {"id": "example_id", "candidate": "output", "reference": "expected"},
        items=12,
        systems=2,
        system_names=["baseline", "finetuned"],
        cells=[cell(10, "id", 1002), cell(10, "candidate", BIKES[2]["gpt-4o-mini"])],
        problem="Only 8 of 12 ids are in both files (1002 to 1009); a comparison by row number "
        "would be wrong.",
    )


def _duplicate_rows(cases: Cases) -> None:
    rows: list[Row] = [
        {"segment_id": number, "engine": name, "hypothesis": item[name], "reference": item["ref"]}
        for number, item in enumerate(TEXTS["letters"][:8])
        for name in LETTER_SYSTEMS
    ]
    rows.insert(7, dict(rows[4]))  # an exact copy
    rows.append(rows[2] | {"hypothesis": "Danke für den Brief vom 3. März."})  # a second version
    cases.write("merged_runs.csv", csv_text(rows))
    cases.expect(
        "merged_runs.csv",
        "An engineer who merged two runs: one row is there twice, and one segment of one engine "
        "has two different texts.",
        "outputs",
        26,
        {
            "id": "segment_id",
            "system": "engine",
            "candidate": "hypothesis",
            "reference": "reference",
        },
        items=8,
        systems=3,
        cells=[cell(7, "candidate", rows[4]["hypothesis"]), cell(25, "system", "inhouse-nmt")],
        problem="Google has segment 1 twice with the same text (rows 4 and 7), inhouse-nmt has "
        "segment 0 twice with different texts (rows 2 and 25).",
    )
