"""Logs of evaluation tools: outputs of systems with targets and scores.

A log has one system and one task; several logs make a set. A segment is named after its sample,
`TASK/SAMPLE` if there are several tasks, and `SAMPLE/N` for the N-th answer to a sample,
if any sample has several answers.

The scores in a log come from the tool's metrics, not from people. They become judgements only
on request: `scores=exact_match,ter:lower`; without `:lower` higher is better. A score that
a model gave is a judgement of that model.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import first_line, json_object
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import MODEL, Dimension
from karat.evalset.reading import (
    FileLocation,
    Location,
    Reading,
    check_member,
    output_columns,
    parse_number,
    read_json_lines,
    read_text,
    split_names,
)
from karat.evalset.sets import EvalSet, check_known
from karat.registry import load
from karat.storage.unpacking import ZipMembers

Better = Literal["higher", "lower"]


class LoggedSample(NamedTuple):
    """One sample of one log."""

    system: str
    task: str
    name: str
    time: int
    """1 for the first answer to this sample, 2 for the second, …"""
    output: str | None
    references: tuple[str, ...]
    source: str
    scores: Mapping[str, object]
    location: Location
    graders: Mapping[str, str] = MappingProxyType({})
    """The model that gave a score, if one did."""


def build_sample_set(
    path: Path,
    reading: Reading,
    samples: Sequence[LoggedSample],
    judge: str,
    scores: str | Sequence[str],
    name: str | None,
    description: str,
    remarks: Sequence[str] = (),
) -> EvalSet:
    """Return the set of all samples; `judge` is the name of the judge who gave the scores."""
    reading.check()
    dimensions = _score_dimensions(scores, samples, path)
    tasks = list(dict.fromkeys(sample.task for sample in samples))
    is_repeated = any(sample.time > 1 for sample in samples)
    cells: dict[tuple[str, str], LoggedSample] = {}
    segments: dict[str, LoggedSample] = {}
    for sample in samples:
        parts = [sample.task] * (len(tasks) > 1) + [sample.name] + [str(sample.time)] * is_repeated
        segment = "/".join(parts)
        first = segments.setdefault(segment, sample)
        if first.references != sample.references:
            problem = f"sample {quoted(sample.name)} has another target than in {first.location}"
            reading.problem(sample.location, problem)
        before = cells.setdefault((sample.system, segment), sample)
        if before is not sample:
            problem = f"sample {quoted(sample.name)} of {short(sample.system)} again"
            reading.problem(sample.location, f"{problem} (first in {before.location})")
    outputs = {item: sample.output for item, sample in cells.items()}
    groups = None
    if len(tasks) > 1 or is_repeated:  # by task, and by sample if it has several answers
        groups = [
            "/".join([sample.task] * (len(tasks) > 1) + [sample.name] * is_repeated)
            for sample in segments.values()
        ]
    without_texts = bool(samples) and all(sample.output is None for sample in samples)
    lost = 0 if without_texts else sum(sample.output is None for sample in samples)
    if without_texts:
        remarks = [*remarks, "The log has no generated texts: its metrics are scores of the set."]
    if lost:
        remarks = [*remarks, f"{lost:,} of {len(samples):,} samples have no output."]
    draft = EvalSetDraft(
        name or path.resolve().stem,
        list(segments),
        output_columns(path, outputs, segments),
        reading=reading,
        location=path,
        references=[sample.references for sample in segments.values()],
        groups=groups,
        sources=[sample.source for sample in segments.values()],
        dimensions=dimensions.values(),
        description=description,
        remarks=remarks,
        without_texts=without_texts,
    )
    for (system, segment), sample in cells.items():
        for dimension in dimensions:
            if (value := sample.scores.get(dimension)) is not None:
                model = sample.graders.get(dimension, "")
                at = system, segment, model or judge, dimension
                draft.judge(*at, value, sample.location, MODEL if model else "")
    evalset = draft.finish()
    return _with_logged_scores(evalset, cells, dimensions) if without_texts else evalset


def _with_logged_scores(
    evalset: EvalSet,
    cells: Mapping[tuple[str, str], LoggedSample],
    dimensions: Collection[str],
) -> EvalSet:
    """Return the set with the numbers of each metric in the log as scores of segments."""
    metrics: dict[str, dict[str, dict[str, float]]] = {}
    for (system, segment), sample in cells.items():
        for metric, value in sample.scores.items():
            number = float(value) if isinstance(value, bool) else parse_number(value)
            if number is not None and metric not in dimensions:
                metrics.setdefault(metric, {}).setdefault(system, {})[segment] = number
    for metric, scores in metrics.items():
        evalset = evalset.with_scores(metric, scores)
    return evalset


def _score_dimensions(
    scores: str | Sequence[str], samples: Sequence[LoggedSample], path: Path
) -> dict[str, Dimension]:
    names = dict.fromkeys(name for sample in samples for name in sample.scores)
    dimensions: dict[str, Dimension] = {}
    for choice in split_names(scores):
        name, colon, better = choice.partition(":")
        if colon and better not in ("lower", "higher"):
            raise InputError(f"scores={choice}: expected NAME, NAME:higher or NAME:lower")
        check_known("score", (name,), names, str(path))
        direction: Better = "lower" if better == "lower" else "higher"
        dimensions[name] = Dimension(name, direction, guideline="A score from the log.")
    return dimensions


LM_EVAL_FILES = ("samples_*.jsonl",)
RAW = "raw"
_LOGGED = frozenset(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash", "task", "model"),
    ]
)
"""Members of a sample that are no metrics."""
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
    """Return the set of a file, or of all sample files in a folder and the folders in it.

        MODEL/samples_TASK_TIME.jsonl       an object a line, for each document and each filter
        {"doc_id": 0, "target": "…", "arguments": {"gen_args_0": {"arg_0": PROMPT, …}},
         "resps": [["…"]], "filtered_resps": ["…"], "filter": "none", "metrics": ["exact_match"],
         "exact_match": 1.0, …}

    The system is the folder of the file; of two runs of a task the later is read. The output is the
    filtered response, with `filter=raw` the one before any filter. A target that is printed as a
    list of strings is several references unless `targets=text`.
    """
    if targets not in ("lists", "text"):
        raise InputError(f"targets={quoted(targets)}: expected lists or text")
    if path.is_file() and not _is_log(path):  # another file with such a name
        evalset: EvalSet = load("karat.tables.outputs:read_table_set")(path, reading, name=name)
        return evalset
    files, remarks = _latest_files(path)
    rows = {file: list(read_json_lines(file, reading)) for file in files}
    reading.check()
    chosen = _choose_filter(path, filter, rows)
    samples = [
        sample
        for file, file_rows in rows.items()
        for location, row in file_rows
        if filter == RAW or row.get("filter", chosen) == chosen
        for sample in _lm_eval_samples(
            file, row, location, reading, filter == RAW, targets == "lists"
        )
    ]
    with_texts = {(s.system, s.task) for s in samples if s.output is not None}
    for sample in samples:
        if sample.output is None and (sample.system, sample.task) in with_texts:
            problem = "found likelihoods of given answers, expected generated text"
            reading.problem(sample.location, f"{problem} as in other samples")
            break
    if filter == RAW:  # the same for each filter
        samples = list({(s.system, s.task, s.name, s.time): s for s in samples}.values())
    description = "Samples of lm-evaluation-harness"
    return build_sample_set(
        path, reading, samples, "lm-eval", scores, name, description, remarks=remarks
    )


def _is_log(file: Path) -> bool:
    """Return whether the first object of a file has a member that all logs have."""
    record = json_object(first_line(file))
    return not record or bool({"doc_id", "doc", "resps", "filtered_resps"} & {*record})


def _latest_files(path: Path) -> tuple[list[Path], list[str]]:
    """Return the last file of each model and task, and a remark on others."""
    if not path.is_dir():
        return [path], []
    runs: dict[tuple[str, str], list[tuple[str, Path]]] = {}
    for file in sorted([*path.glob(LM_EVAL_FILES[0]), *path.glob(f"*/{LM_EVAL_FILES[0]}")]):
        task, time = _task_and_time(file)
        runs.setdefault((str(file.parent), task), []).append((time, file))
    if not runs:
        raise InputError(f"{path}: found no samples_TASK_TIME.jsonl in it or in its folders")
    old = [file.name for files in runs.values() for _, file in sorted(files)[:-1]]
    remark = f"Of several runs of a task the last is read; left out: {', '.join(old)}."
    return [max(files)[1] for files in runs.values()], [remark] if old else []


def _task_and_time(file: Path) -> tuple[str, str]:
    """Return the task and the time in the name of a file."""
    match = _NAME.fullmatch(file.name.removesuffix(".gz"))
    return (match["task"], match["time"] or "") if match else (file.name.split(".")[0], "")


def _choose_filter(
    path: Path, choice: str | None, rows: dict[Path, list[tuple[FileLocation, dict[str, Any]]]]
) -> object:
    if choice == RAW:
        return None
    lines = (row for file_rows in rows.values() for _, row in file_rows)
    # Old logs name no filter.
    filters = dict.fromkeys(str(row["filter"]) for row in lines if "filter" in row)
    names = ", ".join(filters)
    if choice is None and len(filters) > 1:
        advice = f"--option filter=NAME; filter={RAW} takes the unfiltered responses"
        problem = f"responses of several filters ({names})"
        raise InputError(f"{path}: {problem}: choose one with {advice}")
    if choice is not None and choice not in filters:
        raise InputError(f"{path}: no responses of the filter {quoted(choice)}, only of {names}")
    return choice if choice is not None else next(iter(filters), None)


def _lm_eval_samples(
    file: Path,
    row: dict[str, Any],
    location: FileLocation,
    reading: Reading,
    raw: bool,
    lists: bool,
) -> Iterator[LoggedSample]:
    """Yield a sample for each response to a document."""
    responses = check_member(row, "resps" if raw else "filtered_resps", list, location, reading)
    if row.get("target") is None or not isinstance(row.get("doc_id"), int | str):
        reading.problem(location, "found no doc_id or no target, expected a sample of lm_eval")
        return
    if responses is None:
        return
    generated = _generated_texts(responses)
    if generated is None and not _are_likelihoods(responses):
        reading.problem(location, "found several responses, expected generated text of one request")
        return
    texts: Sequence[str | None] = generated or [None]
    scores = row.get("metrics")
    score_names = scores if isinstance(scores, list) else [key for key in row if key not in _LOGGED]
    if texts == [None]:
        score_names = [key for key in score_names if parse_number(row.get(str(key))) is not None]
    if texts == [None] and not score_names:
        problem = "found likelihoods of given answers and no metric"
        reading.problem(location, f"{problem}, expected generated text or metrics such as acc")
        return
    for time, text in enumerate(texts, 1):
        yield LoggedSample(
            system=file.resolve().parent.name or "lm-eval",
            task=_task_and_time(file)[0],
            name=str(row["doc_id"]),
            time=time,
            output=text,
            references=() if text is None else _target_references(row["target"], lists),
            source=_prompt(row.get("arguments")),
            scores={key: row[key] for key in score_names if isinstance(key, str) and key in row},
            location=location,
        )


def _generated_texts(responses: list[Any]) -> list[str] | None:
    """Return the texts generated for a document; None if there are none."""
    if len(responses) != 1:
        return None  # one request for each choice
    texts = responses[0] if isinstance(responses[0], list) else responses
    likelihood = len(texts) == 2 and texts[1] in ("True", "False", True, False)
    if likelihood or not texts or not all(isinstance(text, str) for text in texts):
        return None
    return list(texts)


def _are_likelihoods(responses: list[Any]) -> bool:
    """Return whether responses are likelihoods of given answers, each with a truth value."""
    pairs = [responses[0]] if len(responses) == 1 and _is_likelihood(responses[0]) else responses
    return bool(pairs) and all(map(_is_likelihood, pairs))


def _is_likelihood(value: object) -> bool:
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(value, list) and len(value) == 2 and str(value[1]) in ("True", "False")


def _target_references(target: object, lists: bool) -> tuple[str, ...]:
    if lists and isinstance(target, str) and target[:1] == "[" and target[-1:] == "]":
        try:
            texts = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            texts = None
        if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
            return tuple(texts)
    if isinstance(target, list):
        return tuple(map(str, target))
    return (str(target),)


def _prompt(arguments: object) -> str:
    """Return the prompt; newer versions write it as an object, older ones as a list."""
    first: object = arguments
    for key in ("gen_args_0", "arg_0"):
        if isinstance(first, dict):
            first = first.get(key)
        elif isinstance(first, list) and first:
            first = first[0]
    return first if isinstance(first, str) else ""


INSPECT_FILES = ("*.eval", "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*_*.json")
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHED = "attachment://"


def read_inspect_ai(
    path: Path,
    reading: Reading,
    *,
    scores: str | Sequence[str] = (),
    name: str | None = None,
) -> EvalSet:
    """Return the set of a log, or of all logs in a folder and the folders in it.

        {"eval": {"model": …, "task": …}, "samples": [{"id": …, "epoch": 1, "input": …, "target": …,
         "output": {"choices": […], "completion": …}, "scores": {NAME: {"value": …}}}]}

    An `.eval` file is a zip with `header.json` and `samples/ID_epoch_N.json`. An epoch is another
    answer to a sample. Scores are `C` (1), `P` (0.5), `I` and `N` (0), truth values or numbers.
    """
    files = [path]
    if path.is_dir():
        patterns = [*INSPECT_FILES, *(f"*/{pattern}" for pattern in INSPECT_FILES)]
        files = sorted(file for pattern in patterns for file in path.glob(pattern))
    if not files:
        raise InputError(f"{path}: found no log of inspect_ai (.eval, .json) in it")
    samples = [sample for file in files for sample in _read_inspect_log(file, reading)]
    description = "Samples of inspect_ai"
    return build_sample_set(path, reading, samples, "inspect", scores, name, description)


def is_inspect_log(path: Path) -> bool:
    """Return whether a JSON file begins like a log of inspect_ai, whatever its name."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096)
    keys = (b'"version"', b'"status"', b'"eval"')
    return head.lstrip().startswith(b"{") and all(key in head for key in keys)


def _read_inspect_log(file: Path, reading: Reading) -> Iterator[LoggedSample]:
    if file.suffix == ".json":
        log = _parse_object(read_text(file), str(file))
        samples = log.get("samples")
        if not isinstance(samples, list):
            raise InputError(f"{file}: found no samples, expected a log of inspect_ai")
        numbered = ((f"{file}, sample {i}", sample) for i, sample in enumerate(samples, 1))
        yield from _inspect_samples(str(file), log, numbered, reading)
        return
    with ZipMembers(file) as members:
        if "header.json" not in members.names:
            raise InputError(f"{file}: found no header.json, expected a finished log of inspect_ai")
        header = _parse_object(members.read("header.json"), f"{file}, header.json")
        places = [
            (f"{file}, {name}", name) for name in members.names if name.startswith("samples/")
        ]
        parsed = ((at, _parse_object(members.read(name), at)) for at, name in places)
        yield from _inspect_samples(str(file), header, parsed, reading)


def _parse_object(text: str | bytes, location: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{location}: not a JSON object ({error})") from error
    if not isinstance(value, dict):
        raise InputError(f"{location}: found {quoted(value)}, expected a JSON object")
    return value


def _inspect_samples(
    file: str, header: dict[str, Any], samples: Iterator[tuple[str, Any]], reading: Reading
) -> Iterator[LoggedSample]:
    run = header.get("eval")
    model, task = (run.get("model"), run.get("task")) if isinstance(run, dict) else (None, None)
    if not (isinstance(model, str) and isinstance(task, str)):
        raise InputError(f"{file}: found no eval with model and task, expected inspect_ai's log")
    for location, sample in samples:
        record = sample if isinstance(sample, dict) else {}
        epoch, target = record.get("epoch", 1), record.get("target")
        targets: list[Any] = target if isinstance(target, list) else [target]
        attached = record.get("attachments")
        source = _content_text(record.get("input"), attached)
        is_counted = isinstance(epoch, int) and epoch >= 1 and source is not None
        is_named = isinstance(record.get("id"), int | str)
        if not (is_named and is_counted and all(isinstance(text, str) for text in targets)):
            expected = "expected a sample with id, epoch, input, target and output"
            reading.problem(location, expected)
            continue
        failed = record.get("error") is not None
        scores, graders = _inspect_scores(record.get("scores"))
        yield LoggedSample(
            system=model,
            task=task,
            name=str(record["id"]),
            time=epoch,
            output=None if failed else _completion(record.get("output"), attached),
            references=tuple(_resolve_attachment(text, attached) for text in targets),
            source=source or "",
            scores=scores,
            location=location,
            graders=graders,
        )


def _completion(output: Any, attached: Any) -> str | None:
    """Return the text of the first choice."""
    if not isinstance(output, dict):
        return None
    choices = output.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict):
            return _content_text(message.get("content"), attached)
    text = output.get("completion")
    return _resolve_attachment(text, attached) if isinstance(text, str) and text else None


def _content_text(content: Any, attached: Any) -> str | None:
    """Return the text of a string, of messages, or of parts of a message, one per line."""
    if isinstance(content, str):
        return _resolve_attachment(content, attached)
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict)]
    texts = [_content_text(part.get("text", part.get("content")), attached) for part in parts]
    return "\n".join(text for text in texts if text is not None)


def _resolve_attachment(text: str, attached: Any) -> str:
    if text.startswith(_ATTACHED) and isinstance(attached, dict):
        attachment = attached.get(text.removeprefix(_ATTACHED))
        return attachment if isinstance(attachment, str) else text
    return text


def _inspect_scores(scores: Any) -> tuple[dict[str, object], dict[str, str]]:
    """Return scores as numbers, and the models that gave some; `NAME.KEY` if one has several.

    The score of a model comes with the prompt. A grader without a name has the name
    of the score.
    """
    numbers: dict[str, object] = {}
    graders: dict[str, str] = {}
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value, metadata = (
            (score.get("value"), score.get("metadata")) if isinstance(score, dict) else (None, None)
        )
        several = {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, dict) else None
        for key, part in ({name: value} if several is None else several).items():
            number = LETTERS.get(part, part) if isinstance(part, str) else part
            numbers[key] = float(number) if isinstance(number, bool) else number
        messages = metadata.get("grading") if isinstance(metadata, dict) else None
        if isinstance(messages, list) and messages:
            last = messages[-1] if isinstance(messages[-1], dict) else {}
            graders |= dict.fromkeys([name, *(several or ())], str(last.get("model") or name))
    return numbers, graders
