"""What a user answers when the loader asks, by the expectations of a sample file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inputs.plain_reading import ENCODINGS, Case, unique_names

PROBLEMS = {
    "promptfoo_results": r"\b(1|one)\b.*(missing|without|no )|(missing|without|no ).*\b1\b",
    "20261002_120000": r"\b(2|two)\b.*(missing|without|no )|(missing|without|no ).*\b2\b",
    "samples_gsm8k_2026-10-02T15-40-12": "filter",
    "1790928800007-lf-traces-export-cmf2k1": r"\b(1|one)\b.*(missing|without|no )",
    "phoenix_spans": "span|16 rows|16 of 24|left out",
    "human_judgments": "prefer|compar|pair",
    "ratings_with_gaps": r"\b(7|seven)\b|missing",
    "mqm_letters_ende": "severit|weight|errors",
    "manager_scores": "too long",
    "three_scores": "score",
    "log_varying": r"missing|without|no (reference|candidate)",
    "baseline": r"\b(8|4|2)\b.*|both|missing|without",
    "merged_runs": "again|twice|repeat|same|copy|copies",
    "rating_workbook": "Ratings",
    "review_log": "date|2026",
    "braintrust_experiment": r"\b(1|one)\b.*(missing|without|no )|(missing|without|no ).*\b1\b",
    "batch_output": r"\b(1|one)\b.*(missing|without|no )|(missing|without|no ).*\b1\b",
    "prodigy_choice": r"ignore|missing|without|left out|no ",
    "predictions": "gold",
    "scores_with_mean": "last|mean|formula|left out",
    "dev": "header",
    "transposed": "transpos|exchang|turned",
    "ranking": "lower|best",
}
"""Case -> what the report of an accepted file says about its problem."""


def columns_of(case: Case) -> dict[str, str]:
    """Return the option `columns` for the expected roles."""
    columns = {}
    for role, names in case["roles"].items():
        columns[role] = names if isinstance(names, str) else ",".join(names)
    for key, role in (("judges", "judge"), ("systems", "system"), ("dimensions", "dimension")):
        if case.get(key):
            columns[role] = ",".join(unique_names(case[key]))
    if case.get("columns"):
        columns["score"] = ",".join(case["columns"])
    return columns


def options_for(case: Case, message: str, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an option that a message asks for, with its expected value; None without one."""
    header = case.get("header_rows", [0])
    sheet = case.get("sheet")
    schema = re.search(r"--schema (\w[\w-]*)", message)
    answers: dict[str, Any] = {
        "skip_missing": True,
        "repeats": "first",
        "sheet": "*" if isinstance(sheet, list) else sheet,
        "header": "-".join(str(at + 1) for at in sorted({*header[:1], *header[-1:]})) or "none",
        "encoding": ENCODINGS.get(case["name"]),
        "scale": {"": ",".join(case.get("scale", ()))},
        "schema": schema and schema[1],
        "columns": columns_of(case),
    }
    for name, answer in answers.items():
        option = "--column" if name == "columns" else f"--{name.replace('_', '-')}"
        if option in message and name not in options and answer:
            return {name: answer}
    return None
