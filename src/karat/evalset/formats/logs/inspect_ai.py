"""Logs of inspect_ai (seen: 0.3.285, version 2 of its logs), `.eval` or `.json`.

    {"version": 2, "eval": {"model": …, "task": …}, "samples": [{"id": …, "epoch": 1, "input": …,
     "target": …, "output": {"choices": […], "completion": …}, "scores": {NAME: {"value": …}}}]}

An `.eval` file is a zip with `header.json`, and a `samples/ID_epoch_N.json` for each sample; newer
versions pack it with Zstandard. The system is the model; an epoch is another answer to a sample. A
sample that ended in an error has no output. Long texts may stand apart (`attachment://…`).

Scores are `C` (1), `P` (0.5), `I` and `N` (0), as inspect counts them, truth values or numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.formats.logs.samples import LoggedSample, set_of_samples
from karat.evalset.reading import Reading, read_text
from karat.evalset.sets import EvalSet
from karat.storage.zipped import ZipMembers

NAMES = ("*.eval", "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*_*.json")
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHED = "attachment://"


def read_inspect_ai(
    path: Path,
    reading: Reading,
    *,
    scores: str | Sequence[str] = (),
    name: str | None = None,
) -> EvalSet:
    """Return the set of a log, or of all logs in a folder and the folders in it."""
    files = [path]
    if path.is_dir():
        patterns = [*NAMES, *(f"*/{pattern}" for pattern in NAMES)]
        files = sorted(file for pattern in patterns for file in path.glob(pattern))
    if not files:
        raise InputError(f"{path}: found no log of inspect_ai (.eval, .json) in it")
    samples = [sample for file in files for sample in _log(file, reading)]
    return set_of_samples(
        path,
        reading,
        samples,
        judge="inspect",
        scores=scores,
        name=name,
        description="Samples of inspect_ai",
    )


def _log(file: Path, reading: Reading) -> Iterator[LoggedSample]:
    if file.suffix == ".json":
        log = _parsed(read_text(file), str(file))
        found = log.get("samples")
        if not isinstance(found, list):
            raise InputError(f"{file}: found no samples, expected a log of inspect_ai")
        header, parts = log, [(f"{file}, sample {i}", one) for i, one in enumerate(found, 1)]
        yield from _samples(str(file), header, iter(parts), reading)
        return
    with ZipMembers(file) as members:
        if "header.json" not in members.names:
            raise InputError(f"{file}: found no header.json, expected a finished log of inspect_ai")
        header = _parsed(members.read("header.json"), f"{file}, header.json")
        inside = [name for name in members.names if name.startswith("samples/")]
        read = (
            (f"{file}, {name}", _parsed(members.read(name), f"{file}, {name}")) for name in inside
        )
        yield from _samples(str(file), header, read, reading)


def _parsed(text: str | bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a JSON object ({error})") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: found {quoted(found)}, expected a JSON object")
    return found


def _samples(
    file: str, header: dict[str, Any], samples: Iterator[tuple[str, Any]], reading: Reading
) -> Iterator[LoggedSample]:
    run = header.get("eval")
    model, task = (run.get("model"), run.get("task")) if isinstance(run, dict) else (None, None)
    if not (isinstance(model, str) and isinstance(task, str)):
        raise InputError(f"{file}: found no eval with model and task, expected inspect_ai's log")
    for place, sample in samples:
        made = _sample(sample, model, task, place)
        if made is None:
            told = "expected a sample with id, epoch, input, target and output"
            reading.problem(place, told)
        else:
            yield made


def _sample(sample: Any, model: str, task: str, place: str) -> LoggedSample | None:
    if not isinstance(sample, dict) or not isinstance(sample.get("id"), int | str):
        return None
    epoch, given = sample.get("epoch", 1), sample.get("target")
    targets: list[Any] = given if isinstance(given, list) else [given]
    attached = sample.get("attachments")
    source = _text(sample.get("input"), attached)
    if not isinstance(epoch, int) or epoch < 1 or source is None:
        return None
    if not all(isinstance(text, str) for text in targets):
        return None
    failed = sample.get("error") is not None
    return LoggedSample(
        system=model,
        task=task,
        name=str(sample["id"]),
        time=epoch,
        output=None if failed else _completion(sample.get("output"), attached),
        references=tuple(_whole(text, attached) for text in targets),
        source=source,
        scores=_scores(sample.get("scores")),
        place=place,
        graders=_graders(sample.get("scores")),
    )


def _completion(output: Any, attached: Any) -> str | None:
    """Return the text of the first choice."""
    if not isinstance(output, dict):
        return None
    choices = output.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict):
            return _text(message.get("content"), attached)
    completion = output.get("completion")
    return _whole(completion, attached) if isinstance(completion, str) and completion else None


def _text(content: Any, attached: Any) -> str | None:
    """Return the text of a string, of messages, or of the parts of one, a line each."""
    if isinstance(content, str):
        return _whole(content, attached)
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict)]
    texts = [_text(part.get("text", part.get("content")), attached) for part in parts]
    return "\n".join(text for text in texts if text is not None)


def _whole(text: str, attached: Any) -> str:
    if text.startswith(_ATTACHED) and isinstance(attached, dict):
        found = attached.get(text.removeprefix(_ATTACHED))
        return found if isinstance(found, str) else text
    return text


def _scores(scores: Any) -> dict[str, object]:
    """Return the scores as numbers; those with several values as `NAME.KEY`."""
    found: dict[str, object] = {}
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else None
        parts = value if isinstance(value, dict) else {None: value}
        for key, one in parts.items():
            number = LETTERS.get(one, one) if isinstance(one, str) else one
            found[name if key is None else f"{name}.{key}"] = (
                float(number) if isinstance(number, bool) else number
            )
    return found


def _graders(scores: Any) -> dict[str, str]:
    """Return the models that gave scores: such scores come with what the model was asked.

    A grader without a name goes by that of the score.
    """
    found: dict[str, str] = {}
    for name, score in scores.items() if isinstance(scores, dict) else ():
        asked = score.get("metadata") if isinstance(score, dict) else None
        messages = asked.get("grading") if isinstance(asked, dict) else None
        if isinstance(messages, list) and messages:
            last = messages[-1] if isinstance(messages[-1], dict) else {}
            keys = [name, *(f"{name}.{key}" for key in _parts(score.get("value")))]
            found |= dict.fromkeys(keys, str(last.get("model") or name))
    return found


def _parts(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []
