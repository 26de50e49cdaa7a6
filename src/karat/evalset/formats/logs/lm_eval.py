"""Samples of lm-evaluation-harness, as `lm_eval --log_samples` writes them (seen: 0.4.13).

    MODEL/samples_TASK_TIME.jsonl       an object a line, for each document and each filter
    {"doc_id": 0, "doc": {…}, "target": "…", "arguments": {"gen_args_0": {"arg_0": PROMPT, …}},
     "resps": [["…"]], "filtered_resps": ["…"], "filter": "none", "metrics": ["exact_match"],
     "exact_match": 1.0, …}

The system is the folder of the file. Of two runs of a model on a task the later one is read. The
output is the filtered response; of several filters one must be chosen, `filter=raw` takes the
response before any. Tasks that only compare likelihoods have no output, and are refused.

Newer versions write a target that is a list of strings as Python would print it; it is read as
several references unless `targets=text`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.formats.logs.samples import LoggedSample, set_of_samples
from karat.evalset.reading import Place, Reading, json_rows, member
from karat.evalset.sets import EvalSet

NAMES = ("samples_*.jsonl",)
RAW = "raw"
_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<time>\d{4}-\d\d-\d\dT.*))?\.jsonl")


def read_lm_eval(
    path: Path,
    reading: Reading,
    *,
    filter: str | None = None,
    targets: str = "lists",
    scores: str | Sequence[str] = (),
    name: str | None = None,
) -> EvalSet:
    """Return the set of a file, or of all sample files in a folder and the folders in it."""
    if targets not in ("lists", "text"):
        raise InputError(f"targets={quoted(targets)}: expected lists or text")
    files, remarks = _newest(path)
    rows = {file: list(json_rows(file, reading)) for file in files}
    reading.check()
    chosen = _filter(path, filter, rows)
    samples = [
        sample
        for file, found in rows.items()
        for place, row in found
        if filter == RAW or row.get("filter", chosen) == chosen
        for sample in _samples(file, row, place, reading, filter == RAW, targets == "lists")
    ]
    if filter == RAW:  # the same for each filter
        samples = list({(s.system, s.task, s.name, s.time): s for s in samples}.values())
    return set_of_samples(
        path,
        reading,
        samples,
        judge="lm-eval",
        scores=scores,
        name=name,
        description="Samples of lm-evaluation-harness",
        remarks=remarks,
    )


def _newest(path: Path) -> tuple[list[Path], list[str]]:
    """Return the last file of each model and task, and which others there are."""
    if not path.is_dir():
        return [path], []
    runs: dict[tuple[str, str], list[tuple[str, Path]]] = {}
    for file in sorted([*path.glob(NAMES[0]), *path.glob(f"*/{NAMES[0]}")]):
        key = str(file.parent), _task(file)
        runs.setdefault(key, []).append((_named(file, "time"), file))
    if not runs:
        raise InputError(f"{path}: found no samples_TASK_TIME.jsonl in it or in its folders")
    old = [file.name for found in runs.values() for _, file in sorted(found)[:-1]]
    remark = f"Of several runs of a task the last is read; left out: {', '.join(old)}."
    return [max(found)[1] for found in runs.values()], [remark] if old else []


def _named(file: Path, part: str) -> str:
    found = _NAME.fullmatch(file.name.removesuffix(".gz"))
    return (found[part] or "") if found else ""


def _task(file: Path) -> str:
    return _named(file, "task") or file.name.split(".")[0]


def _filter(
    path: Path, given: str | None, rows: dict[Path, list[tuple[Place, dict[str, Any]]]]
) -> object:
    if given == RAW:
        return None
    lines = (row for own in rows.values() for _, row in own)
    found = dict.fromkeys(str(row["filter"]) for row in lines if "filter" in row)  # not in old ones
    names = ", ".join(found)
    if given is None and len(found) > 1:
        how = f"--option filter=NAME; filter={RAW} takes the unfiltered responses"
        raise InputError(f"{path}: responses of several filters ({names}): choose one with {how}")
    if given is not None and given not in found:
        raise InputError(f"{path}: no responses of the filter {quoted(given)}, only of {names}")
    return given if given is not None else next(iter(found), None)


def _samples(
    file: Path, row: dict[str, Any], place: Place, reading: Reading, raw: bool, lists: bool
) -> Iterator[LoggedSample]:
    """Yield a sample for each response to a document."""
    responses = member(row, "resps" if raw else "filtered_resps", list, place, reading)
    if row.get("target") is None or not isinstance(row.get("doc_id"), int | str):
        reading.problem(place, "found no doc_id or no target, expected a sample of lm_eval")
        return
    if responses is None:
        return
    texts = _texts(responses)
    if texts is None:
        told = "found likelihoods of given answers, expected generated text"
        reading.problem(place, f"{told}; tasks of the type generate_until have it")
        return
    scores = row.get("metrics")
    named = scores if isinstance(scores, list) else []
    for time, text in enumerate(texts, 1):
        yield LoggedSample(
            system=file.resolve().parent.name or "lm-eval",
            task=_task(file),
            name=str(row["doc_id"]),
            time=time,
            output=text,
            references=_references(row["target"], lists),
            source=_prompt(row.get("arguments")),
            scores={key: row[key] for key in named if isinstance(key, str) and key in row},
            place=place,
        )


def _texts(responses: list[Any]) -> list[str] | None:
    """Return the texts that were generated for a document; None if there are none."""
    if len(responses) != 1:
        return None  # one request for each choice
    found = responses[0] if isinstance(responses[0], list) else responses
    likelihood = len(found) == 2 and found[1] in ("True", "False", True, False)
    if likelihood or not found or not all(isinstance(text, str) for text in found):
        return None
    return list(found)


def _references(target: object, lists: bool) -> tuple[str, ...]:
    if lists and isinstance(target, str) and target[:1] == "[" and target[-1:] == "]":
        try:
            found = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
        if isinstance(found, list) and found and all(isinstance(text, str) for text in found):
            return tuple(found)
    if isinstance(target, list):
        return tuple(map(str, target))
    return (str(target),)


def _prompt(arguments: object) -> str:
    """Return the prompt, which newer versions write as an object and older ones as a list."""
    first: object = arguments
    for key in ("gen_args_0", "arg_0"):
        if isinstance(first, dict):
            first = first.get(key)
        elif isinstance(first, list) and first:
            first = first[0]
    return first if isinstance(first, str) else ""
