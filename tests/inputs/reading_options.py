"""What a user answers when the loader asks, by the expectations of a sample file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inputs.judging import readings_of
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
SPELLINGS = {"repeats": "repeated-ids", "scale": "rating-scale"}
"""Options whose name on the command line differs."""


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


def is_true(case: Case, role: str, column: str) -> bool:
    """Return whether a reading of the case has this column, or these columns, in the role."""
    readings = readings_of(case)
    roles = [{**columns_of(r), **r.get("optional", {})} for r in readings]
    if role == "system" and column == "sheet":
        return isinstance(case.get("sheet"), list)
    is_rated = [role == "score" and column in rated_columns(r) for r in readings]
    return any(is_rated) or any(names.get(role) == column for names in roles)


def rated_columns(reading: Case) -> list[str]:
    """Return the columns with ratings."""
    columns = [*reading.get("judges", ()), *reading.get("dimensions", ())]
    wide = reading.get("systems", ()) if reading["kind"] == "ratings" else ()
    return [*columns, *wide, *reading.get("columns", ())]


def options_for(case: Case, message: str, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the options so far with each truthful answer to a message.

    An answer is an option that the message names: as the message has it, or with the expected
    value. Columns are ignored only if nothing else is offered.
    """
    columns = dict(options.get("columns", {}))
    quoted = re.findall(r"--column '(\w+)=([^']+)'", message)
    named = [*quoted, *re.findall(r"--column (\w+)=([^\s';:]+)", message)]
    true = [(role, column) for role, column in named if is_true(case, role, column)]
    yield from ({**options, "columns": {**columns, role: column}} for role, column in true)
    if true:
        return
    others = list(_other_options(case, message, options))
    yield from others
    for role, column in named:
        if role == "ignore":
            rest = {r: c for r, c in columns.items() if c != column}
            yield {**options, "columns": {**rest, role: column}}
    is_open = not named or any(column.isupper() for _, column in named)
    if "--column" in message and is_open and not others:
        yield {**options, "columns": {**columns, **columns_of(case)}}


def _other_options(
    case: Case, message: str, options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    header = case.get("header_rows", [0])
    sheet = case.get("sheet")
    schema = re.search(r"--schema (\w[\w-]*)", message)
    answers: dict[str, Any] = {
        "skip_missing": True,
        "repeats": "first",
        "sheet": "*" if isinstance(sheet, list) else sheet,
        "header": "-".join(str(at + 1) for at in sorted({*header[:1], *header[-1:]})) or "none",
        "encoding": ENCODINGS.get(case["name"]),
        "scale": {"": ",".join(case.get("scale", ()))} if "scale" in case else None,
        "schema": schema and schema[1],
    }
    for name, answer in answers.items():
        spelling = SPELLINGS.get(name, name.replace("_", "-"))
        if f"--{spelling}" in message and answer:
            yield {**options, name: answer}
    if "--option filter" in message:
        yield {**options, "filter": "strict-match"}
