"""Exports of tracing platforms, dataset hubs, annotation tools and online forms."""

from __future__ import annotations

import importlib
import io
import json
from typing import Any

from case_format import (
    BIKE_SYSTEMS,
    TEXTS,
    Cases,
    Row,
    cell,
    csv_text,
    json_text,
    jsonl_text,
    noise,
    rating,
    reading,
)

BIKES = TEXTS["bikes"]
ANNOTATORS = ["anna.k@example.org", "tomasz@example.org"]
USERS = ["0b7e1d4c-52a1-4a0e-9a55-6f1f0c0de001", "5d0c9a8e-77b3-4f3c-8a11-9b2b7c1de002"]


def add_cases(cases: Cases) -> None:
    """Write the files of these tools and add their expectations."""
    _langfuse_csv(cases)
    _langfuse_json(cases)
    _phoenix_spans(cases)
    _phoenix_answers(cases)
    _hub_chat(cases)
    _hub_squad(cases)
    _hub_preferences(cases)
    _label_studio(cases)
    _argilla(cases)
    _google_sheet(cases)
    _google_form(cases)


def parquet(columns: dict[str, list[Any]]) -> bytes:
    """Return a table as a parquet file."""
    arrow = importlib.import_module("pyarrow")
    stream = io.BytesIO()
    importlib.import_module("pyarrow.parquet").write_table(arrow.table(columns), stream)
    return stream.getvalue()


def _trace(number: int, prompt: Any, output: Any) -> Row:
    return {
        "id": f"7c1e{number:04d}-5f1b-4a77-b0d2-00000000{number:04d}",
        "timestamp": f"2026-10-0{1 + number // 4}T08:{10 + number}:12.431Z",
        "name": "bike-faq",
        "userId": f"user-{number % 5}",
        "sessionId": f"session-{number // 3}",
        "release": None,
        "version": None,
        "environment": "production",
        "tags": ["faq"],
        "bookmarked": False,
        "public": False,
        "input": prompt,
        "output": output,
        "metadata": {"model": "gpt-4o-mini"},
        "latency": round(0.4 + noise("latency", number), 3),
        "usage": {"promptTokens": 41, "completionTokens": 23, "totalTokens": 64},
        "inputCost": 0.00001,
        "outputCost": 0.00002,
        "totalCost": 0.00003,
        "level": "DEFAULT",
        "observationCount": 3,
        "helpfulness": [round(noise("help", number), 2)],
        "user-feedback": [1] if number % 4 else None,
    }


def _langfuse_csv(cases: Cases) -> None:
    rows = [
        _trace(number, {"question": item["question"]}, item["gpt-4o-mini"])
        for number, item in enumerate(BIKES)
    ]

    def flat(value: Any) -> Any:
        if isinstance(value, bool | dict | list):
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return value

    table = [{name: flat(value) for name, value in row.items()} for row in rows]
    name = "1790928732431-lf-traces-export-cmf2k1.csv"
    cases.write(name, csv_text(table, quote_all=True))
    cases.expect(
        name,
        "A product team that exported the traces table of Langfuse as CSV (columns of "
        "worker/src/features/database-read-stream/trace-stream.ts; objects are JSON in a cell).",
        "outputs",
        12,
        {"id": "id", "question": "input.question", "candidate": "output"},
        items=12,
        optional={"unit": "sessionId", "system": "metadata.model"},
        also_scores=["helpfulness", "user-feedback"],
        cells=[
            cell(2, "question", "What do I do if the station is full?"),
            cell(2, "candidate", BIKES[2]["gpt-4o-mini"]),
        ],
        note="There is no reference; latency and costs are neither ratings nor systems.",
    )


def _langfuse_json(cases: Cases) -> None:
    rows = []
    for number, item in enumerate(BIKES[:9]):
        messages = [
            {"role": "system", "content": "You answer questions about a bike sharing service."},
            {"role": "user", "content": item["question"]},
        ]
        output = {"role": "assistant", "content": item["mistral-small"]} if number != 4 else None
        rows.append(_trace(number, {"messages": messages}, output))
    name = "1790928800007-lf-traces-export-cmf2k1.json"
    cases.write(name, json_text(rows))
    cases.expect(
        name,
        "A product team that exported the traces table of Langfuse as JSON; input and output are "
        "chat messages.",
        "outputs",
        9,
        {"id": "id", "question": "input.messages.-1.content", "candidate": "output.content"},
        items=9,
        missing={"candidate": 1},
        optional={"unit": "sessionId", "system": "metadata.model"},
        also_scores=["helpfulness", "user-feedback"],
        cells=[cell(0, "candidate", BIKES[0]["mistral-small"]), cell(4, "candidate", None)],
        problem="The trace of row 4 has no output (null).",
    )


def _phoenix_spans(cases: Cases) -> None:
    spans: list[Row] = []
    for number, item in enumerate(BIKES[:8]):
        documents = [{"document.content": text, "document.score": 0.8} for text in item["contexts"]]
        root = f"{number:012x}aaaa"
        prompt = f"Context: {' '.join(item['contexts'])}\nQuestion: {item['question']}"
        answer = item["llama-3.1-8b"]
        kinds = [
            ("RetrievalQA", "CHAIN", None, root, item["question"], answer, None),
            (
                "Retriever",
                "RETRIEVER",
                root,
                f"{number:012x}bbbb",
                item["question"],
                None,
                documents,
            ),
            ("ChatOpenAI", "LLM", root, f"{number:012x}cccc", prompt, answer, None),
        ]
        for name, kind, parent, span, text, output, retrieved in kinds:
            spans.append(
                {
                    "context.span_id": span,
                    "name": name,
                    "span_kind": kind,
                    "parent_id": parent,
                    "start_time": f"2026-10-02T09:{number:02d}:00+00:00",
                    "end_time": f"2026-10-02T09:{number:02d}:01+00:00",
                    "status_code": "OK",
                    "status_message": "",
                    "context.trace_id": f"{number:032x}",
                    "attributes.input.value": text,
                    "attributes.output.value": output,
                    "attributes.llm.model_name": "llama-3.1-8b" if kind == "LLM" else None,
                    "attributes.llm.token_count.total": 90 if kind == "LLM" else None,
                    "attributes.retrieval.documents": retrieved,
                }
            )
    columns = {name: [span[name] for span in spans] for name in spans[0]}
    cases.write("phoenix_spans.parquet", parquet(columns))
    cases.expect(
        "phoenix_spans.parquet",
        "An engineer who saved Phoenix's get_spans_dataframe() as parquet: three spans per "
        "question (chain, retriever, model) with OpenInference attributes.",
        "outputs",
        8,
        {
            "id": "context.trace_id",
            "question": "attributes.input.value",
            "candidate": "attributes.output.value",
        },
        items=8,
        file_rows=24,
        records="spans without parent_id",
        optional={
            "contexts": "attributes.retrieval.documents",
            "system": "attributes.llm.model_name",
        },
        cells=[cell(3, "candidate", BIKES[3]["llama-3.1-8b"])],
        ambiguous=True,
        readings=[
            reading("A row per question: the 8 root spans, with the question as it was asked."),
            reading("A row per model call: the 8 spans of kind LLM, with the whole prompt."),
        ],
        problem="The retriever spans have no output; they are not answers.",
    )


def _phoenix_answers(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "context.span_id": f"{number:012x}aaaa",
            "input": item["question"],
            "output": item["mistral-small"],
            "reference": "\n\n".join(item["contexts"]),
        }
        for number, item in enumerate(BIKES[:10])
    ]
    cases.write("phoenix_qa.csv", csv_text(rows))
    cases.expect(
        "phoenix_qa.csv",
        "An engineer who saved Phoenix's get_qa_with_reference() as CSV: the column `reference` "
        "holds the retrieved documents, not a correct answer.",
        "outputs",
        10,
        {
            "id": "context.span_id",
            "question": "input",
            "candidate": "output",
            "contexts": "reference",
        },
        items=10,
        cells=[cell(0, "contexts", "\n\n".join(BIKES[0]["contexts"]))],
        ambiguous=True,
        readings=[
            reading("Known schema of Phoenix (context.span_id): reference holds contexts."),
            reading(
                "By its name, reference holds the correct answer.",
                roles={"reference": "reference", "contexts": None},
            ),
        ],
    )


def _hub_chat(cases: Cases) -> None:
    rows = [
        {
            "id": f"faq-{number:03d}",
            "messages": [
                {"role": "system", "content": "Answer in two sentences at most."},
                {"role": "user", "content": item["question"]},
                {"role": "assistant", "content": item["gpt-4o-mini"]},
            ],
            "source": "web" if number % 2 else "hotline",
            "num_turns": 1,
        }
        for number, item in enumerate(BIKES)
    ]
    cases.write("chat_train.jsonl", jsonl_text(rows))
    cases.expect(
        "chat_train.jsonl",
        "A fine-tuner with a Hugging Face chat dataset saved with to_json: a `messages` column; "
        "`source` is where the question came from, not a source text.",
        "outputs",
        12,
        {
            "id": "id",
            "question": "messages.-2.content",
            "candidate": "messages.-1.content",
        },
        items=12,
        cells=[
            cell(5, "question", "Why was my account blocked?"),
            cell(5, "candidate", BIKES[5]["gpt-4o-mini"]),
        ],
        note="-1 is the last message of the assistant, -2 the user's before it. No reference.",
    )


def _hub_squad(cases: Cases) -> None:
    items = BIKES[:9]
    columns = {
        "id": [f"56be4db0acb8000{number:03d}" for number in range(9)],
        "title": [item["topic"] for item in items],
        "context": [" ".join(item["contexts"]) for item in items],
        "question": [item["question"] for item in items],
        "answers": [
            {"text": [item["reference"], item["contexts"][0]], "answer_start": [0, 0]}
            for item in items
        ],
        "prediction_text": [item["mistral-small"] for item in items],
        "no_answer_probability": [round(noise("none", n), 3) for n in range(9)],
    }
    cases.write("validation-00000-of-00001.parquet", parquet(columns))
    cases.expect(
        "validation-00000-of-00001.parquet",
        "A student with predictions in a column beside SQuAD-like data of the Hugging Face hub "
        "(answers is a struct of lists).",
        "outputs",
        9,
        {
            "id": "id",
            "question": "question",
            "contexts": "context",
            "reference": "answers.text",
            "candidate": "prediction_text",
        },
        items=9,
        optional={"unit": "title"},
        cells=[
            cell(1, "reference", [BIKES[1]["reference"], BIKES[1]["contexts"][0]]),
            cell(1, "candidate", BIKES[1]["mistral-small"]),
        ],
    )


def _hub_preferences(cases: Cases) -> None:
    def messages(item: Row, system: str) -> list[Row]:
        user = {"role": "user", "content": item["question"]}
        return [user, {"role": "assistant", "content": item[system]}]

    columns = {
        "prompt": [item["question"] for item in BIKES],
        "chosen": [messages(item, "gpt-4o-mini") for item in BIKES],
        "rejected": [messages(item, "llama-3.1-8b") for item in BIKES],
        "score_chosen": [4.5] * 12,
        "score_rejected": [2.5] * 12,
    }
    cases.write("dpo_pairs.parquet", parquet(columns))
    cases.expect(
        "dpo_pairs.parquet",
        "A fine-tuner with a preference dataset for DPO from the Hugging Face hub (prompt, chosen, "
        "rejected).",
        "outputs",
        12,
        {"question": "prompt"},
        system_columns=["chosen", "rejected"],
        items=12,
        systems=2,
        cells=[cell(0, "candidate", BIKES[0]["gpt-4o-mini"], system="chosen")],
        note="The text of a list of messages is its last message.",
        ambiguous=True,
        readings=[
            reading("Two columns of answers to compare: the systems are chosen and rejected."),
            reading("Pairwise preferences: chosen beats rejected in each row.", kind="ratings"),
        ],
    )


def _label_studio_annotations() -> list[tuple[int, int, str, Row]]:
    """Return (task, annotation id, annotator, values); not every task has two annotators."""
    pairs = [(task, person) for task in range(8) for person in range(2) if (task, person) != (5, 1)]
    result = []
    for number, (task, person) in enumerate(pairs):
        system = BIKE_SYSTEMS[task % 3]
        stars = rating(task, system, ANNOTATORS[person])
        values: Row = {"quality": stars, "correct": "Yes" if stars > 2 else "No"}
        if (task, person) == (2, 0):
            values["comment"] = "Too short,\nbut correct"
        result.append((task, 901 + number, ANNOTATORS[person], values))
    return result


def _label_studio(cases: Cases) -> None:
    annotations = _label_studio_annotations()
    tasks = [
        {
            "prompt": BIKES[task]["question"],
            "response": BIKES[task][BIKE_SYSTEMS[task % 3]],
            "model": BIKE_SYSTEMS[task % 3],
        }
        for task in range(8)
    ]
    _label_studio_full(cases, tasks, annotations)
    dates = {"created_at": "2026-10-02T09:00:53.017Z", "updated_at": "2026-10-02T09:00:53.017Z"}
    records: list[Row] = [
        tasks[task]
        | {"id": 301 + task, "quality": [{"rating": values["quality"]}]}
        | {name: values[name] for name in ("correct", "comment") if name in values}
        | {"annotator": person, "annotation_id": key, **dates, "lead_time": 10.744 + key % 7}
        for task, key, person, values in annotations
    ]
    roles = {
        "id": "id",
        "question": "prompt",
        "candidate": "response",
        "system": "model",
        "judge": "annotator",
    }
    stars = annotations[3][3]["quality"]
    details: dict[str, Any] = {
        "dimension_columns": ["quality.0.rating", "correct"],
        "items": 8,
        "systems": 3,
        "judges": 2,
        "dimensions": 2,
        "cells": [
            cell(3, "score", stars, dimension="quality.0.rating"),
            cell(3, "judge", ANNOTATORS[1]),
            cell(3, "candidate", tasks[1]["response"]),
        ],
        "note": "Each task has one model; `comment` is a remark and lead_time are seconds.",
    }
    name = "project-12-at-2026-10-02-09-15-min.json"
    cases.write(name, json_text(records))
    cases.expect(
        name,
        "A labelling lead with the JSON-MIN export of Label Studio: one record per annotation, the "
        "star rating in a list (label_studio_converter).",
        "ratings",
        15,
        roles,
        **details,
    )
    columns = ["annotation_id", "annotator", "comment", "correct", "created_at", "id", "lead_time"]
    columns += ["model", "prompt", "quality", "response", "updated_at"]
    table = [
        {key: json.dumps(row[key]) if key == "quality" else row.get(key) for key in columns}
        for row in records
    ]
    name = "project-12-at-2026-10-02-09-15.csv"
    cases.write(name, csv_text(table))
    cases.expect(
        name,
        "A labelling lead with the CSV export of the same Label Studio project: columns in "
        "alphabetical order, the star rating as JSON in its cell.",
        "ratings",
        15,
        roles,
        **details,
    )


def _label_studio_full(cases: Cases, tasks: list[Row], annotations: list[Any]) -> None:
    def results(values: Row) -> list[Row]:
        forms = {
            "quality": ("rating", {"rating": values["quality"]}),
            "correct": ("choices", {"choices": [values["correct"]]}),
            "comment": ("textarea", {"text": [values.get("comment")]}),
        }
        return [
            {"id": name[:6], "type": kind, "value": value, "origin": "manual"}
            | {"to_name": "response", "from_name": name}
            for name, (kind, value) in forms.items()
            if name in values
        ]

    def annotation(key: int, person: str, answers: list[Row]) -> Row:
        people = {"id": 1 + ANNOTATORS.index(person), "email": person, "first_name": ""}
        return {
            "id": key,
            "completed_by": people,
            "result": answers,
            "was_cancelled": not answers,
            "ground_truth": False,
            "created_at": "2026-10-02T09:00:53.017134Z",
            "lead_time": 10.744,
            "result_count": len(answers),
        }

    documents = []
    for number, data in enumerate(tasks):
        answers = [
            annotation(key, who, results(v)) for task, key, who, v in annotations if task == number
        ]
        if number == 5:
            answers.append(annotation(950, ANNOTATORS[1], []))
        document = {"id": 301 + number, "annotations": answers, "drafts": [], "predictions": []}
        document |= {"file_upload": "d06c405d-bikes.json", "data": data, "meta": {}}
        documents.append(document | {"inner_id": number + 1, "project": 12})
    name = "project-12-at-2026-10-02-09-15-full.json"
    cases.write(name, json_text(documents, None))
    first = annotations[0][3]
    cases.expect(
        name,
        "A labelling lead with the raw JSON export of Label Studio (task, annotations, result; "
        "docs/source/guide/export.md).",
        "ratings",
        15,
        {
            "id": "id",
            "question": "data.prompt",
            "candidate": "data.response",
            "system": "data.model",
            "judge": "annotations.completed_by.email",
            "dimension": "annotations.result.from_name",
            "score": "annotations.result.value",
        },
        items=8,
        systems=3,
        judges=2,
        dimensions=2,
        file_rows=8,
        records="annotations of each task; one of 16 was skipped (was_cancelled) and has no result",
        cells=[
            cell(0, "score", first["quality"], dimension="quality"),
            cell(0, "score", first["correct"], dimension="correct"),
            cell(14, "judge", ANNOTATORS[1]),
        ],
        note="value is {rating: number} or {choices: [word]}; `comment` is a remark, not a rating.",
    )


def _argilla(cases: Cases) -> None:
    nested: list[Row] = []
    flat: list[Row] = []
    for number, item in enumerate(BIKES[:10]):
        system = BIKE_SYSTEMS[number % 2]
        people = USERS[: 1 if number == 6 else 2]
        scores = [rating(item["question"], system, user, "quality") for user in people]
        fields = {"prompt": item["question"], "response": item[system]}
        server = f"c0ffee00-0000-4000-8000-{number:012d}"
        pairs = zip(people, scores, strict=True)
        nested.append(
            {
                "id": f"rec-{number}",
                "fields": fields,
                "metadata": {"model": system},
                "suggestions": {"quality": {"value": 3, "score": None, "agent": "gpt-4o"}},
                "responses": {"quality": [{"value": v, "user_id": user} for user, v in pairs]},
                "vectors": {},
                "_server_id": server,
            }
        )
        flat.append(
            {"id": f"rec-{number}", "_server_id": server, **fields, "model": system}
            | {"quality.responses": str(scores), "quality.responses.users": str(people)}
            | {"quality.responses.status": str(["submitted"] * len(people))}
            | {"quality.suggestion": 3, "quality.suggestion.score": None}
            | {"quality.suggestion.agent": "gpt-4o"}
        )
    cases.write("argilla_records.json", json_text(nested))
    cases.expect(
        "argilla_records.json",
        "A data team with dataset.records.to_json() of Argilla 2 (id, fields, metadata, "
        "suggestions, responses; argilla/src/argilla/records/_resource.py).",
        "ratings",
        19,
        {
            "id": "id",
            "question": "fields.prompt",
            "candidate": "fields.response",
            "system": "metadata.model",
            "judge": "responses.quality.user_id",
            "score": "responses.quality.value",
        },
        items=10,
        systems=2,
        judges=2,
        dimensions=1,
        file_rows=10,
        records="the answers under responses.quality of each record",
        cells=[
            cell(0, "judge", USERS[0]),
            cell(0, "score", nested[0]["responses"]["quality"][0]["value"]),
            cell(18, "judge", USERS[1]),
        ],
        note="The dimension is the key `quality`. Suggestions come from a model, not a person.",
    )
    cases.write("argilla_flat.csv", csv_text(flat))
    cases.expect(
        "argilla_flat.csv",
        "A data team with the flattened records of Argilla as CSV (quality.responses and "
        "quality.responses.users are parallel lists; records/_io/_generic.py).",
        "ratings",
        19,
        {
            "id": "id",
            "question": "prompt",
            "candidate": "response",
            "system": "model",
            "judge": "quality.responses.users",
            "score": "quality.responses",
        },
        items=10,
        systems=2,
        judges=2,
        dimensions=1,
        file_rows=10,
        cells=[
            cell(1, "judge", USERS[1]),
            cell(1, "score", nested[0]["responses"]["quality"][1]["value"]),
        ],
        note="A row per list entry. The dimension is the prefix `quality`.",
    )


def _google_sheet(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "Prompt": item["question"],
            "Model Output": item["mistral-small"],
            "Expected": item["reference"] if number != 9 else "",
            "Reviewer": ["Mia", "Jon"][number % 2],
            "Score (1-5)": rating(number, "mistral-small", ["Mia", "Jon"][number % 2]),
            "Notes": "wrong price!" if number == 0 else "",
        }
        for number, item in enumerate(BIKES)
    ]
    name = "FAQ bot eval - Sheet1.csv"
    cases.write(name, csv_text(rows, end="\r\n"))
    cases.expect(
        name,
        "A product manager who downloaded a Google sheet as CSV: each answer was reviewed by one "
        "of two colleagues.",
        "ratings",
        12,
        {
            "question": "Prompt",
            "candidate": "Model Output",
            "reference": "Expected",
            "judge": "Reviewer",
            "score": "Score (1-5)",
        },
        items=12,
        judges=2,
        dimensions=1,
        missing={"reference": 1},
        cells=[
            cell(0, "candidate", "Single rides cost 2 euros for 30 minutes."),
            cell(1, "judge", "Jon"),
            cell(4, "score", rows[4]["Score (1-5)"]),
        ],
        ambiguous=True,
        readings=[
            reading("Ratings of 12 answers (the sheet has a reviewer and a score)."),
            reading("Outputs to score, with a human score beside them.", kind="outputs"),
        ],
    )


def _google_form(cases: Cases) -> None:
    people = ["p01", "p02", "p03", "p04", "p05", "p06", "p07"]
    columns = [
        f"How helpful is this answer? [{system} / question {number}]"
        for number in range(1, 4)
        for system in ("Bot A", "Bot B")
    ]
    rows: list[Row] = [
        {"Timestamp": f"2026/10/0{day + 1} 9:1{day}:00 AM GMT+2", "Your code": person}
        | {column: rating(column, column, person) for column in columns}
        for day, person in enumerate(people)
    ]
    rows[3][columns[4]] = None
    name = "Helpfulness survey (Responses) - Form Responses 1.csv"
    cases.write(name, csv_text(rows))
    cases.expect(
        name,
        "A researcher with the answers to a Google form: a row per participant, a column per rated "
        "answer, the transpose of a table with a column per judge.",
        "ratings",
        7,
        {"judge": "Your code"},
        columns={
            column: {"id": f"question {column.split()[-1][:-1]}", "system": system}
            for column, system in zip(columns, ["Bot A", "Bot B"] * 3, strict=True)
        },
        items=3,
        systems=2,
        judges=7,
        dimensions=1,
        missing={"score": 1},
        cells=[cell(0, "judge", "p01"), cell(0, "score", rows[0][columns[0]], system="Bot A")],
        ambiguous=True,
        readings=[
            reading("Columns encode item and system; rows are judges."),
            reading(
                "Each column is an item of one unnamed system; rows are judges.",
                counts={"items": 6, "systems": 1},
            ),
        ],
    )
