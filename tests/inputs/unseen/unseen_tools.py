"""Files of further evaluation tools, and JSON and CSV tables in unusual shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from case_format import Cases, Row, cell, csv_text, json_text, jsonl_text, noise, rating, reading

TEXTS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "unseen_texts.json").read_text("utf-8")
)
MUSEUM = TEXTS["museum"]
WEATHER = TEXTS["weather"]
MODELS = ["gemma-2", "qwen-2.5"]


def add_cases(cases: Cases) -> None:
    """Write the files and add their expectations."""
    _langsmith(cases)
    _azure(cases)
    _braintrust(cases)
    _helm(cases)
    _comet(cases)
    _batch_api(cases)
    _alpaca_eval(cases)
    _mt_bench(cases)
    _metricx(cases)
    _several_samples(cases)
    _prodigy(cases)
    _toloka(cases)
    _object_by_id(cases)
    _frame_by_column(cases)
    _gold_file(cases)


def _langsmith(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "": number,
            "inputs.question": item["question"],
            "outputs.answer": item["gemma-2"],
            "error": None,
            "reference.answer": item["reference"],
            "feedback.correctness": int(noise("correct", number) > 0.4),
            "feedback.conciseness": round(noise("concise", number), 2),
            "execution_time": round(0.4 + noise("time", number), 6),
            "example_id": f"5fa1b2c3-0000-4000-8000-{number:012d}",
            "id": f"019a30f4-1111-7222-9333-{number:012d}",
        }
        for number, item in enumerate(MUSEUM)
    ]
    cases.write("langsmith_experiment.csv", csv_text(rows))
    cases.expect(
        "langsmith_experiment.csv",
        "An engineer who ran client.evaluate(...).to_pandas().to_csv() of LangSmith (inputs.*, "
        "outputs.*, reference.*, feedback.*; `id` is the run, `example_id` the item).",
        "outputs",
        8,
        {
            "id": "example_id",
            "question": "inputs.question",
            "candidate": "outputs.answer",
            "reference": "reference.answer",
        },
        items=8,
        also_scores=["feedback.correctness", "feedback.conciseness"],
        cells=[cell(2, "candidate", MUSEUM[2]["gemma-2"]), cell(0, "id", rows[0]["example_id"])],
        note="execution_time is neither a rating nor a system.",
    )


def _azure(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "inputs.query": item["question"],
            "inputs.response": item["qwen-2.5"],
            "inputs.context": " ".join(item["contexts"]),
            "inputs.ground_truth": item["reference"],
            "outputs.groundedness.groundedness": rating(number, "qwen-2.5", "gpt"),
            "outputs.groundedness.groundedness_reason": "The answer follows from the context.",
            "outputs.f1_score.f1_score": round(noise("f1", number), 4),
            "line_number": number,
        }
        for number, item in enumerate(MUSEUM)
    ]
    metrics = {"groundedness.groundedness": 3.1, "f1_score.f1_score": 0.52}
    document = {"rows": rows, "metrics": metrics, "studio_url": None}
    cases.write("azure_evaluation.json", json_text(document))
    cases.expect(
        "azure_evaluation.json",
        "A developer with the output_path file of evaluate() of azure-ai-evaluation (rows with "
        "inputs.* and outputs.EVALUATOR.*; names contain dots).",
        "outputs",
        8,
        {
            "question": "inputs.query",
            "candidate": "inputs.response",
            "contexts": "inputs.context",
            "reference": "inputs.ground_truth",
        },
        items=8,
        records="rows",
        optional={"id": "line_number"},
        also_scores=["outputs.groundedness.groundedness", "outputs.f1_score.f1_score"],
        cells=[cell(7, "candidate", "A family ticket is 24 euros.")],
    )


def _braintrust(cases: Cases) -> None:
    rows = [
        {
            "id": f"a7f0{number:04d}-6c1e-4f10-9d55-000000000000",
            "span_id": f"b{number:07d}",
            "root_span_id": f"b{number:07d}",
            "created": f"2026-09-30T10:0{number}:00.000Z",
            "input": {"question": item["question"]},
            "output": item["gemma-2"] if number != 5 else None,
            "expected": item["reference"],
            "error": None if number != 5 else "TimeoutError: no answer within 30 seconds",
            "scores": {
                "Factuality": round(noise("fact", number), 1) if number != 5 else None,
                "Levenshtein": round(noise("lev", number), 4) if number != 5 else None,
            },
            "metadata": {"model": "gemma-2"},
            "metrics": {"start": 1790000000 + number, "end": 1790000001 + number, "tokens": 80},
            "tags": None,
            "span_attributes": {"name": "eval", "type": "eval"},
            "is_root": True,
        }
        for number, item in enumerate(MUSEUM)
    ]
    cases.write("braintrust_experiment.jsonl", jsonl_text(rows))
    cases.expect(
        "braintrust_experiment.jsonl",
        "A developer who downloaded an experiment of Braintrust as JSON lines (input, output, "
        "expected, scores, metadata, metrics).",
        "outputs",
        8,
        {
            "id": "id",
            "question": "input.question",
            "candidate": "output",
            "reference": "expected",
        },
        items=8,
        missing={"candidate": 1},
        optional={"system": "metadata.model"},
        also_scores=["scores.Factuality", "scores.Levenshtein"],
        cells=[cell(5, "candidate", None), cell(6, "candidate", MUSEUM[6]["gemma-2"])],
        problem="The call of row 5 failed, so its output is missing.",
    )


def _helm(cases: Cases) -> None:
    states = [
        {
            "instance": {
                "input": {"text": item["question"]},
                "references": [{"output": {"text": item["reference"]}, "tags": ["correct"]}],
                "split": "test",
                "id": f"id{number + 100}",
            },
            "train_trial_index": 0,
            "num_train_instances": 0,
            "request": {
                "model": "google/gemma-2",
                "prompt": f"Question: {item['question']}\nAnswer:",
                "temperature": 0.0,
                "max_tokens": 60,
            },
            "result": {
                "success": True,
                "embedding": [],
                "completions": [{"text": item["gemma-2"], "logprob": -7.25, "tokens": []}],
                "cached": False,
                "request_time": 0.61,
            },
        }
        for number, item in enumerate(MUSEUM)
    ]
    document = {
        "adapter_spec": {
            "method": "generation",
            "input_prefix": "Question: ",
            "model": "google/gemma-2",
            "num_outputs": 1,
        },
        "request_states": states,
    }
    cases.write("scenario_state.json", json_text(document, None))
    cases.expect(
        "scenario_state.json",
        "A researcher with the scenario_state.json that a HELM run writes (request_states with "
        "instance, request and result).",
        "outputs",
        8,
        {
            "id": "instance.id",
            "question": "instance.input.text",
            "reference": "instance.references.0.output.text",
            "candidate": "result.completions.0.text",
        },
        items=8,
        records="request_states",
        optional={"system": "/adapter_spec.model"},
        cells=[cell(3, "id", "id103"), cell(3, "candidate", MUSEUM[3]["gemma-2"])],
        note="request.prompt has the whole prompt; instance.input.text is the question.",
    )


def _comet(cases: Cases) -> None:
    files = {"nmt.hyp.de": "nmt", "llm.hyp.de": "llm"}
    document = {
        file: [
            {"src": item["en"], "mt": item[system], "ref": item["ref"]}
            | {"COMET": round(0.6 + 0.4 * noise("comet", system, number), 6)}
            for number, item in enumerate(WEATHER)
        ]
        for file, system in files.items()
    }
    cases.write("comet_scores.json", json_text(document, 4))
    cases.expect(
        "comet_scores.json",
        "A translator who ran `comet-score ... --to_json` on two systems: an object with the list "
        "of segments of each hypothesis file.",
        "outputs",
        16,
        {"source": "src", "candidate": "mt", "reference": "ref"},
        items=8,
        systems=2,
        records="the list under each key; the key is the system",
        system_names=list(files),
        also_scores=["COMET"],
        cells=[cell(8, "candidate", WEATHER[0]["llm"])],
    )


def _batch_api(cases: Cases) -> None:
    rows: list[Row] = []
    for number, item in enumerate(MUSEUM):
        message = {"role": "assistant", "content": item["qwen-2.5"], "refusal": None}
        body = {
            "id": f"chatcmpl-{number:03d}",
            "object": "chat.completion",
            "model": "gpt-4o-mini-2024-07-18",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42},
        }
        response = {"status_code": 200, "request_id": f"req_{number}", "body": body}
        row = {"id": f"batch_req_{number:05d}", "custom_id": f"museum-{number + 1}"}
        rows.append(row | {"response": response, "error": None})
    rows[4] |= {"response": None, "error": {"code": "batch_expired", "message": "Expired."}}
    rows.reverse()
    cases.write("batch_output.jsonl", jsonl_text(rows))
    cases.expect(
        "batch_output.jsonl",
        "A developer with the output file of OpenAI's batch API, in any order; one request "
        "expired.",
        "outputs",
        8,
        {"id": "custom_id", "candidate": "response.body.choices.0.message.content"},
        items=8,
        missing={"candidate": 1},
        optional={"system": "response.body.model"},
        cells=[
            cell(0, "id", "museum-8"),
            cell(0, "candidate", "A family ticket is 24 euros."),
            cell(3, "candidate", None),
        ],
        problem="One of eight requests has no response.",
        note="`id` is the number of the request within the batch, `custom_id` the item.",
    )


def _alpaca_eval(cases: Cases) -> None:
    rows = [
        {
            "dataset": "helpful_base",
            "instruction": item["question"],
            "output": item[model],
            "generator": model,
            "datasplit": "eval",
        }
        for model in MODELS
        for item in MUSEUM[:7]
    ]
    cases.write("model_outputs.json", json_text(rows))
    cases.expect(
        "model_outputs.json",
        "A researcher with model outputs as AlpacaEval stores them (instruction, output, "
        "generator), two generators in one file.",
        "outputs",
        14,
        {"question": "instruction", "candidate": "output", "system": "generator"},
        items=7,
        systems=2,
        optional={"unit": "dataset"},
        cells=[cell(7, "system", "qwen-2.5"), cell(7, "candidate", "The museum opens at nine.")],
    )


def _mt_bench(cases: Cases) -> None:
    rows = [
        {
            "question_id": 81 + number,
            "answer_id": f"ans{model[0]}{number:02d}",
            "model_id": model,
            "choices": [
                {"index": 0, "turns": [item[model], f"In short: {item['reference']}"]},
            ],
            "tstamp": 1790000000.5 + number,
        }
        for model in MODELS
        for number, item in enumerate(MUSEUM[:6])
    ]
    cases.write("model_answer.jsonl", jsonl_text(rows))
    cases.expect(
        "model_answer.jsonl",
        "A researcher with model answers of MT-Bench (FastChat): two turns in choices.0.turns.",
        "outputs",
        12,
        {"id": "question_id", "system": "model_id", "candidate": "choices.0.turns.0"},
        items=6,
        systems=2,
        ambiguous=True,
        readings=[
            reading(
                "The first turn is the answer.",
                cells=[cell(0, "candidate", MUSEUM[0]["gemma-2"])],
            ),
            reading(
                "The last turn is the answer.",
                roles={"candidate": "choices.0.turns.-1"},
                cells=[cell(0, "candidate", f"In short: {MUSEUM[0]['reference']}")],
            ),
        ],
    )


def _metricx(cases: Cases) -> None:
    rows = [
        {"source": item["en"], "hypothesis": item["llm"], "reference": item["ref"]}
        | {"prediction": round(6 * noise("metricx", number), 8)}
        for number, item in enumerate(WEATHER)
    ]
    cases.write("metricx_output.jsonl", jsonl_text(rows))
    cases.expect(
        "metricx_output.jsonl",
        "A researcher with the output of metricx24.predict: `prediction` is the score that the "
        "metric predicts, not a text.",
        "outputs",
        8,
        {"source": "source", "candidate": "hypothesis", "reference": "reference"},
        items=8,
        also_scores=["prediction"],
        cells=[cell(3, "candidate", "Die Böen erreichen bis zu 80 km/h.")],
    )


def _several_samples(cases: Cases) -> None:
    rows = [
        {
            "task_id": f"museum/{number}",
            "prompt": item["question"],
            "completions": [item["gemma-2"], item["qwen-2.5"], f"Answer: {item['qwen-2.5']}"],
            "gold": item["reference"],
        }
        for number, item in enumerate(MUSEUM)
    ]
    cases.write("samples_at_3.jsonl", jsonl_text(rows))
    cases.expect(
        "samples_at_3.jsonl",
        "An engineer who drew three answers of one model to each prompt, in a list.",
        "outputs",
        24,
        {"id": "task_id", "question": "prompt", "candidate": "completions", "reference": "gold"},
        items=8,
        file_rows=8,
        records="the texts of `completions`",
        cells=[cell(1, "candidate", MUSEUM[0]["qwen-2.5"]), cell(3, "id", "museum/1")],
        note="Repeated answers of one system: 24 outputs to 8 questions.",
    )


def _prodigy(cases: Cases) -> None:
    options = [{"id": str(n), "text": f"{n}"} for n in range(1, 6)]
    rows: list[Row] = []
    for number, item in enumerate(WEATHER[:6]):
        system = ("nmt", "llm")[number % 2]
        for person in ("ines", "otto"):
            choice = [str(rating(number, system, person))]
            rows.append(
                {
                    "text": item[system],
                    "meta": {"source": item["en"], "system": system},
                    "options": options,
                    "_input_hash": 1000 + 7 * number,
                    "_task_hash": -2000 - 7 * number,
                    "_view_id": "choice",
                    "config": {"choice_style": "single"},
                    "accept": choice,
                    "answer": "accept",
                    "_timestamp": 1790000000 + number,
                    "_annotator_id": f"weather-{person}",
                    "_session_id": f"weather-{person}",
                }
            )
    rows[5] |= {"accept": [], "answer": "ignore"}
    cases.write("prodigy_choice.jsonl", jsonl_text(rows))
    cases.expect(
        "prodigy_choice.jsonl",
        "A linguist with `prodigy db-out` of a rating task: the choice is in `accept`, and "
        "`answer` is what was done with the task (accept, reject, ignore).",
        "ratings",
        12,
        {
            "id": "_input_hash",
            "candidate": "text",
            "source": "meta.source",
            "system": "meta.system",
            "judge": "_annotator_id",
            "score": "accept.0",
        },
        items=6,
        systems=2,
        judges=2,
        dimensions=1,
        missing={"score": 1},
        cells=[
            cell(0, "score", int(rows[0]["accept"][0])),
            cell(5, "score", None),
            cell(11, "judge", "weather-otto"),
        ],
        problem="One task was ignored and has no choice.",
        note="Each item has one of two systems.",
    )


def _toloka(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "INPUT:source": item["en"],
            "INPUT:system": system,
            "INPUT:translation": item[system],
            "OUTPUT:quality": rating(number, system, worker),
            "GOLDEN:quality": None,
            "HINT:text": None,
            "ASSIGNMENT:link": f"https://toloka.example.org/task/{number}",
            "ASSIGNMENT:task_id": f"00014f495f--{number:02d}{system}",
            "ASSIGNMENT:assignment_id": f"00014f495f--a{number}{worker}",
            "ASSIGNMENT:worker_id": worker,
            "ASSIGNMENT:status": "APPROVED",
            "ASSIGNMENT:started": f"2026-09-30T08:0{number}:11.214",
            "ACCEPT:verdict": None,
            "ACCEPT:comment": None,
        }
        for number, item in enumerate(WEATHER[:5])
        for system in ("nmt", "llm")
        for worker in ("f3a9", "77c0", "b1d4")[: 2 + number % 2]
    ]
    cases.write("assignments_from_pool_1204.tsv", csv_text(rows, "\t"))
    cases.expect(
        "assignments_from_pool_1204.tsv",
        "A localization team with the results of a Toloka pool (INPUT:, OUTPUT:, GOLDEN: and "
        "ASSIGNMENT: columns).",
        "ratings",
        24,
        {
            "source": "INPUT:source",
            "system": "INPUT:system",
            "candidate": "INPUT:translation",
            "judge": "ASSIGNMENT:worker_id",
            "score": "OUTPUT:quality",
        },
        items=5,
        systems=2,
        judges=3,
        dimensions=1,
        optional={"id": "ASSIGNMENT:task_id"},
        cells=[
            cell(1, "judge", "77c0"),
            cell(1, "score", rows[1]["OUTPUT:quality"]),
            cell(23, "candidate", WEATHER[4]["llm"]),
        ],
        note="The source identifies an item. A task is one output, so task ids would make 10 "
        "items with one system each: also acceptable if it is reported.",
    )


def _object_by_id(cases: Cases) -> None:
    document = {
        f"museum-{number + 1}": {
            "question": item["question"],
            "prediction": item["gemma-2"],
            "gold": item["reference"],
        }
        for number, item in enumerate(MUSEUM)
    }
    cases.write("by_id.json", json_text(document))
    cases.expect(
        "by_id.json",
        "A student with one JSON object: a key per item, and its fields below.",
        "outputs",
        8,
        {"question": "question", "candidate": "prediction", "reference": "gold"},
        items=8,
        records="the object under each key; the key is the id",
        cells=[cell(3, "id", "museum-4"), cell(3, "candidate", MUSEUM[3]["gemma-2"])],
    )


def _frame_by_column(cases: Cases) -> None:
    items = TEXTS["portuguese"]
    columns = {"pergunta": "q", "resposta_modelo": "a", "resposta_ouro": "ref"}
    document = {
        name: {str(number): item[key] for number, item in enumerate(items)}
        for name, key in columns.items()
    }
    cases.write("perguntas_barco.json", json_text(document, None))
    cases.expect(
        "perguntas_barco.json",
        "A Portuguese data scientist who called DataFrame.to_json() without arguments: an object "
        "per column, with row numbers as keys.",
        "outputs",
        5,
        {
            "question": "pergunta",
            "candidate": "resposta_modelo",
            "reference": "resposta_ouro",
        },
        items=5,
        records="row numbers are the keys below each column",
        cells=[cell(1, "candidate", "Sim, a bicicleta viaja de graça.")],
    )


def _gold_file(cases: Cases) -> None:
    predictions: list[Row] = [
        {"id": f"w{number}", "prediction": item["nmt"]} for number, item in enumerate(WEATHER)
    ]
    gold: list[Row] = [
        {"id": f"w{number}", "source": item["en"], "label": item["ref"]}
        for number, item in reversed(list(enumerate(WEATHER)))
    ]
    cases.write("predictions.csv", csv_text(predictions))
    cases.write("gold.csv", csv_text(gold))
    cases.expect(
        ["predictions.csv", "gold.csv"],
        "A student of a shared task: the predictions in one file, the gold labels in another, "
        "which match by id and are in another order.",
        "outputs",
        8,
        {"id": "id", "candidate": "prediction", "reference": "label", "source": "source"},
        items=8,
        cells=[cell(0, "candidate", WEATHER[0]["nmt"]), cell(0, "reference", WEATHER[0]["ref"])],
        problem="gold.csv is not a second system; its labels belong to the predictions by id.",
    )
