"""Files that evaluation tools write: RAG, prompt tests and harness logs.

Field names follow each tool's public code or documentation, which `who` cites.
"""

from __future__ import annotations

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
    reading,
    zip_archive,
)

BIKES = TEXTS["bikes"]
RAGAS_NEW = {"question": "user_input", "contexts": "retrieved_contexts"}
RAGAS_NEW |= {"candidate": "response", "reference": "reference"}


def add_cases(cases: Cases) -> None:
    """Write the files of these tools and add their expectations."""
    _ragas(cases)
    _ragas_before_02(cases)
    _promptfoo_json(cases)
    _promptfoo_csv(cases)
    _promptfoo_jsonl(cases)
    _deepeval_goldens(cases)
    _deepeval_test_run(cases)
    _lm_eval_generation(cases)
    _lm_eval_filters(cases)
    _lm_eval_choices(cases)
    _inspect_json(cases)
    _inspect_zip(cases)
    _openai_evals(cases)


def _ragas(cases: Cases) -> None:
    rows: list[Row] = [
        {
            "user_input": item["question"],
            "retrieved_contexts": item["contexts"],
            "response": item["gpt-4o-mini"],
            "reference": item["reference"],
        }
        for item in BIKES
    ]
    cases.write("ragas_dataset.jsonl", jsonl_text(rows))
    cases.expect(
        "ragas_dataset.jsonl",
        "A RAG developer who saved ragas' EvaluationDataset with to_jsonl (ragas 0.2 and later: "
        "SingleTurnSample in src/ragas/dataset_schema.py).",
        "outputs",
        12,
        RAGAS_NEW,
        items=12,
        cells=[
            cell(2, "contexts", BIKES[2]["contexts"]),
            cell(
                9,
                "candidate",
                "With a full battery about 60 km. Bikes below 15% cannot be unlocked.",
            ),
        ],
    )
    table: list[Row] = [
        row
        | {
            "retrieved_contexts": repr(row["retrieved_contexts"]),
            "faithfulness": None if number == 7 else round(0.6 + 0.4 * noise("f", number), 4),
            "answer_relevancy": round(0.7 + 0.3 * noise("a", number), 4),
            "context_recall": 1.0 if number % 3 else 0.5,
        }
        for number, row in enumerate(rows)
    ]
    cases.write("ragas_results.csv", csv_text(table))
    cases.expect(
        "ragas_results.csv",
        "A RAG developer who ran result.to_pandas().to_csv(index=False) on ragas' EvaluationResult "
        "(same fields, one column per metric, lists in Python notation).",
        "outputs",
        12,
        RAGAS_NEW,
        items=12,
        also_scores=["faithfulness", "answer_relevancy", "context_recall"],
        cells=[
            cell(0, "contexts", BIKES[0]["contexts"]),
            cell(8, "reference", BIKES[8]["reference"]),
        ],
        note="Row 7 has no faithfulness; the texts are complete.",
    )


def _ragas_before_02(cases: Cases) -> None:
    columns = {
        "question": [item["question"] for item in BIKES],
        "answer": [item["mistral-small"] for item in BIKES],
        "contexts": [item["contexts"] for item in BIKES],
        "ground_truth": [item["reference"] for item in BIKES],
    }
    roles = {"question": "question", "candidate": "answer", "contexts": "contexts"}
    cases.write("ragas_columns.json", json_text(columns))
    cases.expect(
        "ragas_columns.json",
        "A RAG developer who dumped the dictionary for Dataset.from_dict of ragas 0.1 (question, "
        "answer, contexts, ground_truth): one object with a list per column.",
        "outputs",
        12,
        roles | {"reference": "ground_truth"},
        items=12,
        cells=[
            cell(4, "candidate", BIKES[4]["mistral-small"]),
            cell(11, "reference", "Yes, all stations are open around the clock."),
        ],
    )
    rows = [
        {
            "question": item["question"],
            "answer": item["llama-3.1-8b"],
            "contexts": item["contexts"],
            "ground_truths": [item["reference"]],
        }
        for item in BIKES[:10]
    ]
    cases.write("rag_eval_2023.jsonl", jsonl_text(rows))
    cases.expect(
        "rag_eval_2023.jsonl",
        "A RAG developer with an evaluation of 2023 (ragas 0.0: ground_truths is a list).",
        "outputs",
        10,
        roles | {"reference": "ground_truths"},
        items=10,
        cells=[cell(1, "candidate", "Yes! Students get 50% off, so 24 euros a year.")],
    )


PROVIDERS = {
    "openai:gpt-4o-mini": "gpt-4o-mini",
    "ollama:chat:llama3.1:8b": "llama-3.1-8b",
    "mistral:mistral-small-latest": "mistral-small",
}


def _promptfoo_result(test: int, prompt: int, provider: str, label: str, text: str | None) -> Row:
    """Return one EvaluateResult; a text of None is a call that failed."""
    item = BIKES[test]
    passed = text is not None and noise(test, provider) > 0.3
    variables = {"question": item["question"], "expected": item["reference"]}
    result: Row = {
        "cost": round(0.0001 * noise("cost", test, provider), 7),
        "gradingResult": {"pass": passed, "score": int(passed), "reason": "All assertions passed"},
        "id": f"77fc8172-31e0-49b2-a2{test:02d}-ab467a76a{prompt:03d}",
        "latencyMs": 400 + 57 * test + 211 * prompt,
        "namedScores": {},
        "prompt": {"raw": f"{label}: {item['question']}", "label": label},
        "promptId": f"3942c15781d38dab{prompt}",
        "promptIdx": prompt,
        "provider": {"id": provider, "label": ""},
        "response": {"output": text, "tokenUsage": {"prompt": 31, "completion": 18, "total": 49}},
        "score": int(passed),
        "success": passed,
        "testCase": {
            "vars": variables,
            "assert": [{"type": "similar", "value": "{{expected}}", "threshold": 0.8}],
            "options": {},
            "metadata": {},
        },
        "testIdx": test,
        "vars": variables,
        "metadata": {},
        "failureReason": 0 if passed else 1,
    }
    if text is None:
        message = "API error: 429 Too Many Requests"
        result |= {"error": message, "failureReason": 2, "response": {"error": message}}
    return result


def _promptfoo_json(cases: Cases) -> None:
    results = [
        _promptfoo_result(
            test,
            prompt,
            provider,
            "Answer in one sentence: {{question}}",
            None if (test, prompt) == (4, 1) else BIKES[test][name],
        )
        for test in range(6)
        for prompt, (provider, name) in enumerate(PROVIDERS.items())
    ]
    results[3], results[5] = results[5], results[3]  # results come in the order of completion
    prompts = [{"raw": result["prompt"]["raw"], "provider": p} for result, p in
               zip(results, PROVIDERS, strict=False)]  # fmt: skip
    document = {
        "evalId": "eval-V0O-2026-10-02T12:00:00",
        "results": {
            "version": 3,
            "timestamp": "2026-10-02T12:00:00.157Z",
            "prompts": prompts,
            "results": results,
            "stats": {"successes": 12, "failures": 5, "errors": 1},
        },
        "config": {"description": "bike FAQ", "providers": list(PROVIDERS)},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.119.9", "exportedAt": "2026-10-02T12:01:03.145Z"},
    }
    cases.write("promptfoo_results.json", json_text(document))
    cases.expect(
        "promptfoo_results.json",
        "A prompt engineer who ran `promptfoo eval -o results.json` with three providers (results "
        "version 3, as in files of the promptfoo repository).",
        "outputs",
        18,
        {
            "id": "testIdx",
            "system": "provider.id",
            "candidate": "response.output",
            "question": "vars.question",
            "reference": "vars.expected",
        },
        items=6,
        systems=3,
        missing={"candidate": 1},
        records="results.results",
        also_scores=["score"],
        cells=[
            cell(3, "system", "mistral:mistral-small-latest"),
            cell(3, "candidate", BIKES[1]["mistral-small"]),
            cell(13, "candidate", None),
        ],
        problem="The call of row 13 failed (API error), so its output is missing.",
    )


def _promptfoo_csv(cases: Cases) -> None:
    label = "Answer in one sentence: {{question}}"
    columns = {f"[{provider}] {label}": name for provider, name in PROVIDERS.items()}

    def decorated(test: int, name: str) -> str:
        passed = noise(test, name) > 0.3
        verdict, score = ("[PASS]", "1.00") if passed else ("[FAIL]", "0.00")
        reason = "Pass Reason: All assertions passed" if passed else "Fail Reason: Too different"
        return f"{verdict} ({score})\n\n{BIKES[test][name]}\n\n{reason}"

    rows: list[Row] = [
        {"question": BIKES[test]["question"], "expected": BIKES[test]["reference"]}
        | {column: decorated(test, name) for column, name in columns.items()}
        for test in range(8)
    ]
    cases.write("promptfoo_output.csv", csv_text(rows))
    roles = {"question": "question", "reference": "expected"}
    cases.expect(
        "promptfoo_output.csv",
        "A prompt engineer who ran `promptfoo eval -o output.csv`: a column per variable, then "
        "`[provider] prompt` per output, as src/util/output.ts writes them.",
        "outputs",
        8,
        roles,
        system_columns=list(columns),
        items=8,
        systems=3,
        ambiguous=True,
        readings=[
            reading(
                "Each output is the text between the verdict and the reason.",
                cells=[cell(1, "candidate", BIKES[1]["gpt-4o-mini"], system=next(iter(columns)))],
            ),
            reading(
                "Each cell as it is, with [PASS] and the reason.",
                cells=[
                    cell(1, "candidate", decorated(1, "gpt-4o-mini"), system=next(iter(columns)))
                ],
            ),
        ],
        cells=[cell(1, "reference", BIKES[1]["reference"])],
    )


def _promptfoo_jsonl(cases: Cases) -> None:
    labels = {"v1 short": "llama-3.1-8b", "v2 polite": "gpt-4o-mini"}
    rows = [
        _promptfoo_result(test, prompt, "openai:gpt-4o-mini", label, BIKES[test][name])
        for test in range(7)
        for prompt, (label, name) in enumerate(labels.items())
    ]
    cases.write("promptfoo_two_prompts.jsonl", jsonl_text(rows))
    cases.expect(
        "promptfoo_two_prompts.jsonl",
        "A prompt engineer who ran `promptfoo eval -o out.jsonl` with two prompts and one "
        "provider: one result per line; the prompts are what is compared.",
        "outputs",
        14,
        {
            "id": "testIdx",
            "system": "prompt.label",
            "candidate": "response.output",
            "question": "vars.question",
            "reference": "vars.expected",
        },
        items=7,
        systems=2,
        also_scores=["score"],
        cells=[cell(0, "system", "v1 short"), cell(5, "candidate", BIKES[2]["gpt-4o-mini"])],
    )


def _deepeval_goldens(cases: Cases) -> None:
    rows = [
        {
            "input": item["question"],
            "actual_output": None if number in {3, 8} else item["gpt-4o-mini"],
            "expected_output": item["reference"],
            "context": item["contexts"],
            "source_file": f"docs/{item['topic']}.md",
        }
        for number, item in enumerate(BIKES[:10])
    ]
    cases.write("20261002_120000.json", json.dumps(rows, indent=4, ensure_ascii=False))
    cases.expect(
        "20261002_120000.json",
        "A tester who saved DeepEval goldens with dataset.save_as('json') (deepeval/dataset/"
        "dataset.py); two have no output yet.",
        "outputs",
        10,
        {
            "question": "input",
            "candidate": "actual_output",
            "reference": "expected_output",
            "contexts": "context",
        },
        items=10,
        missing={"candidate": 2},
        cells=[cell(3, "candidate", None), cell(4, "contexts", BIKES[4]["contexts"])],
        optional={"unit": "source_file"},
        problem="Rows 3 and 8 have no output.",
    )


def _deepeval_test_run(cases: Cases) -> None:
    def metric(name: str, number: int) -> Row:
        score = round(noise(name, number), 2)
        result: Row = {"name": name, "threshold": 0.5, "success": score >= 0.5, "score": score}
        return result | {"reason": "The answer names the price.", "evaluationModel": "gpt-4o"}

    tests = [
        {
            "name": f"test_case_{number}",
            "input": item["question"],
            "actualOutput": item["mistral-small"],
            "expectedOutput": item["reference"],
            "retrievalContext": item["contexts"],
            "success": True,
            "metricsData": [metric("Answer Relevancy", number), metric("Faithfulness", number)],
            "runDuration": 2.5,
            "evaluationCost": 0.0012,
            "order": number,
        }
        for number, item in enumerate(BIKES[:8])
    ]
    document = {
        "testFile": "test_bike_faq.py",
        "testCases": tests,
        "conversationalTestCases": [],
        "metricsScores": [{"metric": "Faithfulness", "scores": [0.5], "passes": 4, "fails": 4}],
        "hyperparameters": {"model": "mistral-small", "prompt template": "You are helpful."},
        "testPassed": 5,
        "testFailed": 3,
        "runDuration": 21.5,
    }
    cases.write("latest_test_run.json", json_text(document, None))
    cases.expect(
        "latest_test_run.json",
        "A tester with the test run that `deepeval test run` keeps (camel-case names of "
        "LLMApiTestCase in deepeval/test_run/api.py).",
        "outputs",
        8,
        {
            "id": "name",
            "question": "input",
            "candidate": "actualOutput",
            "reference": "expectedOutput",
            "contexts": "retrievalContext",
        },
        items=8,
        records="testCases",
        optional={"system": "/hyperparameters.model"},
        also_scores=["metricsData.score"],
        cells=[cell(0, "id", "test_case_0"), cell(6, "candidate", BIKES[6]["mistral-small"])],
    )


def _lm_eval_row(number: int, doc: Row, target: Any, prompt: str, output: str) -> Row:
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {
            "gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n\n"], "do_sample": False}}
        },
        "resps": [[output]],
        "filtered_resps": [output],
        "filter": "none",
        "metrics": ["bleu", "chrf"],
        "doc_hash": f"{number:064x}",
        "prompt_hash": f"{number + 1:064x}",
        "target_hash": f"{number + 2:064x}",
    }


def _lm_eval_generation(cases: Cases) -> None:
    rows = []
    for number, item in enumerate(TEXTS["letters"]):
        doc = {"translation": {"en": item["en"], "de": item["ref"]}}
        prompt = f"English phrase: {item['en']}\nGerman phrase:"
        row = _lm_eval_row(number, doc, item["ref"], prompt, " " + item["Google"])
        row |= {"filtered_resps": [item["Google"]]}
        rows.append(
            row | {"bleu": [item["ref"], item["Google"]], "chrf": [item["ref"], item["Google"]]}
        )
    name = "samples_letters_en-de_2026-10-02T14-11-05.317201.jsonl"
    cases.write(name, jsonl_text(rows))
    cases.expect(
        name,
        "A researcher with the samples of `lm-eval run --log_samples` on a translation task "
        "(fields of lm_eval/evaluator.py; bleu holds the pair of texts, not a number).",
        "outputs",
        12,
        {"id": "doc_id", "candidate": "filtered_resps", "reference": "target"},
        items=12,
        optional={"source": "doc.translation.en", "question": "arguments.gen_args_0.arg_0"},
        cells=[
            cell(0, "candidate", "Danke für deinen Brief vom 3. März."),
            cell(5, "reference", TEXTS["letters"][5]["ref"]),
        ],
    )


def _lm_eval_filters(cases: Cases) -> None:
    rows = []
    for number, item in enumerate(TEXTS["math"]):
        doc = {"question": item["question"], "answer": item["answer"]}
        prompt = f"Question: {item['question']}\nAnswer:"
        row = _lm_eval_row(number, doc, item["answer"], prompt, item["response"])
        for filtering, text in (("strict-match", "strict"), ("flexible-extract", "flexible")):
            scores = {"metrics": ["exact_match"], "exact_match": float(item[text] == item["gold"])}
            rows.append(row | {"filtered_resps": [item[text]], "filter": filtering} | scores)
    name = "samples_gsm8k_2026-10-02T15-40-12.004417.jsonl"
    cases.write(name, jsonl_text(rows))
    cases.expect(
        name,
        "A researcher with the samples of lm-eval's gsm8k: every question twice, once per answer "
        "filter, and a worked solution as target.",
        "outputs",
        16,
        {"id": "doc_id", "candidate": "filtered_resps", "reference": "target"},
        items=8,
        optional={"question": "doc.question"},
        also_scores=["exact_match"],
        cells=[cell(2, "candidate", "[invalid]"), cell(3, "candidate", "404")],
        problem="Each doc_id has two rows, which differ in `filter` alone.",
        ambiguous=True,
        readings=[
            reading("One system; one of the two filters has to be chosen.", rows=8),
            reading(
                "The filters are what is compared.",
                roles={"system": "filter"},
                counts={"systems": 2},
            ),
        ],
    )


def _lm_eval_choices(cases: Cases) -> None:
    rows = []
    for number, item in enumerate(BIKES[:9]):
        texts = [item[name] for name in BIKE_SYSTEMS] + [item["reference"]]
        doc = {"id": f"bikes_{number}", "question": item["question"]}
        doc |= {"choices": {"text": texts, "label": ["A", "B", "C", "D"]}, "answerKey": "D"}
        values = [round(-2 - 9 * noise(number, text), 4) for text in texts]
        row = _lm_eval_row(number, doc, 3, item["question"], "")
        row["arguments"] = {
            f"gen_args_{i}": {"arg_0": item["question"], "arg_1": " " + text}
            for i, text in enumerate(texts)
        }
        row["resps"] = [[[str(value), "False"]] for value in values]
        row["filtered_resps"] = [[str(value), "False"] for value in values]
        best = float(max(values) == values[3])
        rows.append(row | {"metrics": ["acc", "acc_norm"], "acc": best, "acc_norm": 1.0 - best})
    name = "samples_bikes_mc_2026-10-02T16-02-44.920113.jsonl"
    cases.write(name, jsonl_text(rows))
    cases.expect(
        name,
        "A researcher with the samples of a multiple-choice task of lm-eval: resps are "
        "log-likelihoods, so there are accuracies but no texts to score.",
        "scores",
        9,
        {"id": "doc_id"},
        dimension_columns=["acc", "acc_norm"],
        items=9,
        dimensions=2,
        optional={"question": "doc.question"},
        cells=[cell(0, "score", rows[0]["acc"], dimension="acc")],
    )


def _inspect_sample(
    number: int, epoch: int, question: str, target: Any, text: str, model: str
) -> Row:
    message = {"id": f"m{number}{epoch}b", "content": text, "source": "generate"}
    message |= {"role": "assistant", "model": model}
    grade = "C" if noise(number, epoch) > 0.4 else "I"
    return {
        "id": number,
        "epoch": epoch,
        "input": question,
        "target": target,
        "messages": [
            {"id": f"m{number}{epoch}a", "content": question, "source": "input", "role": "user"},
            message,
        ],
        "output": {
            "model": model,
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"input_tokens": 24, "output_tokens": 17, "total_tokens": 41},
            "time": 0.68,
        },
        "scores": {
            "model_graded_fact": {"value": grade, "answer": text, "explanation": f"GRADE: {grade}"}
        },
        "metadata": {},
        "store": {},
        "events": [{"event": "sample_init", "sample": {"input": question, "target": target}}],
        "attachments": {},
    }


def _inspect_header(task: str, model: str, samples: int, epochs: int) -> Row:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": "SGXvsm4KEQwf7JZmPLCGZF",
            "created": "2026-09-14T10:22:31+00:00",
            "task": task,
            "dataset": {"name": task, "samples": samples},
            "model": model,
            "config": {"epochs": epochs, "epochs_reducer": ["mean"]},
            "packages": {"inspect_ai": "0.3.140"},
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {
            "total_samples": samples * epochs,
            "completed_samples": samples * epochs,
            "scores": [{"name": "model_graded_fact", "metrics": {"accuracy": {"value": 0.625}}}],
        },
        "stats": {"started_at": "2026-09-14T10:22:31+00:00"},
    }


INSPECT_ROLES = {
    "id": "id",
    "system": "/eval.model",
    "candidate": "output.choices.0.message.content",
    "question": "input",
    "reference": "target",
}


def _inspect_json(cases: Cases) -> None:
    model = "openai/gpt-4o-mini"
    samples = [
        _inspect_sample(
            number + 1,
            epoch,
            item["question"],
            item["reference"],
            item[BIKE_SYSTEMS[epoch - 1]],
            model,
        )
        for epoch in (1, 2)
        for number, item in enumerate(BIKES[:8])
    ]
    name = "2026-09-14T10-22-31+00-00_bike-faq_k3XqTt8Vd2.json"
    cases.write(name, json_text(_inspect_header("bike_faq", model, 8, 2) | {"samples": samples}))
    cases.expect(
        name,
        "A safety researcher with a JSON log of Inspect (`inspect eval --log-format json`, two "
        "epochs; structure of the logs in the inspect_ai tests).",
        "outputs",
        16,
        INSPECT_ROLES,
        items=8,
        records="samples",
        also_scores=["scores.model_graded_fact.value"],
        cells=[
            cell(0, "system", model),
            cell(9, "id", 2),
            cell(9, "candidate", "Yes! Students get 50% off, so 24 euros a year."),
        ],
        note="Each id occurs once per epoch: repeated answers of one system to one question.",
    )


def _inspect_zip(cases: Cases) -> None:
    model = "ollama/llama3.1:8b"
    samples = []
    for number, item in enumerate(TEXTS["refs"]):
        prompt = f"Translate the sign into English: {item['src']}"
        sample = _inspect_sample(number + 1, 1, prompt, item["refs"], item["hyp"], model)
        sample["input"] = [sample["messages"][0]]
        samples.append(sample)
    header = _inspect_header("signs", model, len(samples), 1)
    summaries = [
        {key: sample[key] for key in ("id", "epoch", "input", "target")} for sample in samples
    ]
    members: dict[str, Any] = {
        "_journal/start.json": {key: header[key] for key in ("version", "eval", "plan")},
        **{f"samples/{sample['id']}_epoch_1.json": sample for sample in samples},
        "_journal/summaries/1.json": summaries,
        "summaries.json": summaries,
        "reductions.json": [{"scorer": "model_graded_fact", "samples": []}],
        "header.json": header,
    }
    name = "2026-09-15T08-01-10+00-00_signs_Pz81LmQw4T.eval"
    cases.write(
        name, zip_archive({key: json_text(value).encode() for key, value in members.items()})
    )
    cases.expect(
        name,
        "A safety researcher with a log of Inspect in its default format: a zip archive with a "
        "JSON file per sample (src/inspect_ai/log/_recorders/eval.py).",
        "outputs",
        8,
        INSPECT_ROLES | {"question": "input.-1.content"},
        items=8,
        records="samples/*.json",
        also_scores=["scores.model_graded_fact.value"],
        cells=[
            cell(0, "reference", TEXTS["refs"][0]["refs"]),
            cell(2, "candidate", "Today rest day."),
        ],
        note="Several accepted targets, and not the same number for each sample.",
    )


def _openai_evals(cases: Cases) -> None:
    run = {"run_id": "261002101530KXZP4QLM", "created_by": "", "created_at": "2026-10-02 10:15:30"}
    events: list[Row] = []
    for number in (3, 0, 1, 2, 5, 4, 6, 9, 8, 7):  # threads finish in any order
        item = BIKES[number]
        prompt = [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": item["question"]},
        ]
        text = item["llama-3.1-8b"]
        data: list[tuple[str, Row]] = [
            ("sampling", {"prompt": prompt, "sampled": [text]}),
            (
                "match",
                {
                    "correct": number % 2 == 0,
                    "expected": item["reference"],
                    "picked": None,
                    "sampled": text,
                },
            ),
        ]
        for kind, fields in data:
            event = {"run_id": run["run_id"], "event_id": len(events)}
            event |= {"sample_id": f"bike-faq.dev.{number}", "type": kind, "data": fields}
            events.append(event | {"created_by": "", "created_at": "2026-10-02 10:15:31+00:00"})
    spec: Row = {"completion_fns": ["gpt-4o-mini"], "eval_name": "bike-faq.dev.v0"}
    spec |= {"base_eval": "bike-faq", "split": "dev", "run_config": {"seed": 20220722}}
    lines = [{"spec": spec | run}, {"final_report": {"accuracy": 0.5}}, *events]
    name = "261002101530KXZP4QLM_gpt-4o-mini_bike-faq.jsonl"
    cases.write(name, jsonl_text(lines))
    cases.expect(
        name,
        "A researcher with the event log of `oaieval` from OpenAI's evals repository (evals/"
        "record.py: spec, final_report, then sampling and match events).",
        "outputs",
        10,
        {
            "id": "sample_id",
            "system": "/spec.completion_fns.0",
            "candidate": "data.sampled",
            "question": "data.prompt.-1.content",
            "reference": "data.expected",
        },
        items=10,
        file_rows=22,
        records="events of type sampling; expected is in the match event of the same sample_id",
        also_scores=["data.correct"],
        cells=[
            cell(0, "id", "bike-faq.dev.3"),
            cell(0, "reference", BIKES[3]["reference"]),
            cell(9, "candidate", BIKES[7]["llama-3.1-8b"]),
        ],
    )
