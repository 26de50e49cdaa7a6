"""Interviews: prompts filled with cases, replies parsed into values, plans of dry runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from karat import __version__
from karat.errors import InputError, quoted, short
from karat.llm.demo import JUDGE, NOTE
from karat.llm.endpoint import Endpoint
from karat.llm.requests import Message, Request
from karat.llm.run import Limits, Plan, Usage, ask, plan
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import check_count
from karat.storage.digests import data_digest
from karat.storage.output import as_path
from karat.storage.unpacking import read_bytes


def shuffle(names: Sequence[str], seed: int, salt: str = "") -> list[str]:
    """Return names in a random order, the same on every machine."""
    return sorted(names, key=lambda name: _hash(f"{seed}\t{salt}\t{name}"))


def draw_sample(names: Sequence[str], size: int | None, seed: int) -> list[str]:
    """Return a random sample of names in their own order; all if no size is given.

    A larger sample of the same seed contains the smaller one, so no answer is lost to it.
    """
    if size is None:
        return list(names)
    check_count("sample", size, 1)
    sample = set(shuffle(names, seed)[:size])
    return [name for name in names if name in sample]


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


MAX_TEXT_LENGTH = 200_000
"""Characters of a text that is sent; nobody is asked about longer ones."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*)\n\s*```", re.DOTALL)


class InvalidAnswer(ValueError):
    """An answer that does not have the form that was asked for."""


class JudgedValue(NamedTuple):
    """A rating, preference or label as a number, and the words of the text that decide it."""

    value: float
    evidence: str


def json_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of an answer.

    It may stand in a code block or follow the model's thoughts, as many models write it.
    """
    text = _THOUGHT.sub("", text)
    fenced = _FENCE.search(text)
    start, end = text.find("{"), text.rfind("}")
    for candidate in (text, fenced[1] if fenced else "", text[max(start, 0) : end + 1]):
        try:
            parsed = json.loads(candidate)
            json.dumps(parsed, ensure_ascii=False).encode()  # refuses halves of characters
        except (ValueError, RecursionError):  # numbers of too many digits are ValueErrors, too
            continue
        if isinstance(parsed, dict):
            return parsed
        break
    raise InvalidAnswer("invalid JSON")


def entries(reply: Mapping[str, Any], key: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the entries of a list by their ids: exactly those that were asked for, each once."""
    listed = reply.get(key)
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise InvalidAnswer(f"no list of {key}")
    by_id = {str(entry.get("id")): entry for entry in listed}
    if len(by_id) < len(listed) or set(by_id) != set(ids):
        raise InvalidAnswer("wrong ids")
    return {id: by_id[id] for id in ids}


def number_between(entry: Mapping[str, Any], key: str, low: float, high: float) -> float:
    """Return a number on a scale."""
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAnswer(f"the {key} is not a number")
    if not low <= value <= high:  # NaN is nowhere on it, and whole numbers may be of any size
        raise InvalidAnswer(f"the {key} is off the scale")
    return float(value)


def one_of(entry: Mapping[str, Any], key: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    value = entry.get(key)
    if not isinstance(value, str) or value.strip().lower() not in choices:
        raise InvalidAnswer(f"unknown {key}")
    return value.strip().lower()


def quote_from(entry: Mapping[str, Any], text: str, *, needed: bool, key: str = "evidence") -> str:
    """Return a quote that occurs in a text; white space and case do not matter.

    It may be empty unless it is needed.
    """
    value = entry.get(key, "")
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise InvalidAnswer(f"the {key} is not a text")
    quote = " ".join(value.split())
    if not quote and needed:
        raise InvalidAnswer(f"no {key}")
    if not occurs(quote, text):
        raise InvalidAnswer(f"the {key} does not occur in the text")
    return quote


def occurs(quote: str, text: str) -> bool:
    """Return whether a quote stands in a text; white space and case do not matter."""
    return _plain(quote) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


_HEADING = re.compile(r"\[(system|user)\]\s*")
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}|\{([a-z_]+)\}")
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Characters that end lines, turn the writing direction or are no text: escaped in JSON."""
_HASH = 12  # hexadecimal digits of a prompt's hash


class Slots(NamedTuple):
    """The placeholders of a task: those that its prompts need, and all that it fills."""

    task: str
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All placeholders that may be used."""
        return (*self.needed, *self.optional)


@dataclass(frozen=True)
class Prompt:
    """Text of a prompt, its name and where it was read."""

    name: str
    text: str
    place: str = ""

    @property
    def label(self) -> str:
        """Name, version and hash, as signatures have them: `ratings.v1@0123456789ab`."""
        return f"{self.name}@{sha256(self.text.encode()).hexdigest()[:_HASH]}"

    def check(self, slots: Slots) -> None:
        """Refuse a prompt with an unknown placeholder, or without one that its task needs."""
        place = self.place or self.name
        used = set[str]()
        for number, line in enumerate(self.text.split("\n"), 1):
            for word in (match[2] for match in _PLACEHOLDER.finditer(line) if match[2]):
                if word not in slots.all:
                    allowed = ", ".join(f"{{{slot}}}" for slot in slots.all)
                    problem = f"found the placeholder {{{short(word)}}}, expected one of {allowed}"
                    raise InputError(f"{place}, line {number}: {problem}")
                used.add(word)
        for word in slots.needed:
            if word not in used:
                problem = f"the prompt has no placeholder {{{word}}}, which {slots.task} needs"
                raise InputError(f"{place}: {problem}; add it")

    def messages(self, values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
        """Return role and content of each message, its placeholders filled with JSON."""
        filled = {word: as_json(value) for word, value in values.items()}

        def fill(match: re.Match[str]) -> str:
            return f"{{{match[1]}}}" if match[1] else filled[match[2]]

        return tuple((role, _PLACEHOLDER.sub(fill, text)) for role, text in self._parts())

    def _parts(self) -> Iterator[tuple[str, str]]:
        role, lines = "user", list[str]()
        for line in self.text.split("\n"):
            if heading := _HEADING.fullmatch(line):
                if "".join(lines).strip():
                    yield role, "\n".join(lines).strip()
                role, lines = heading[1], []
            else:
                lines.append(line)
        if "".join(lines).strip():
            yield role, "\n".join(lines).strip()


def read_prompt(path: str | PathLike[str], slots: Slots) -> Prompt:
    """Return the prompt in a file, checked for a task."""
    place = as_path("prompt", path)
    text = _read_text(place).replace("\r\n", "\n")
    prompt = Prompt(place.name.removesuffix(".md").removesuffix(".txt"), text, str(path))
    if not text.strip():
        raise InputError(f"{path} is empty: expected a prompt with {{{slots.needed[0]}}}")
    prompt.check(slots)
    return prompt


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not valid UTF-8, expected a text") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def bundled_prompt(folder: Path, name: str) -> Prompt:
    """Return a prompt that comes with Karat."""
    return Prompt(name, (folder / f"{name}.md").read_text("utf-8"))


def as_json(value: object) -> str:
    """Return a value as JSON on one line, hidden characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class PromptCase(NamedTuple):
    """One thing to ask about: what fills the prompt, and how the answer is read."""

    id: str
    values: Mapping[str, object]
    read: Callable[[str], Any]
    """Reads an answer; raises InvalidAnswer."""


@dataclass(frozen=True)
class Setup:
    """Endpoint, cache, limits and replicates: what all tasks share."""

    endpoint: Endpoint
    cache: str | PathLike[str] | None = None
    limits: Limits = field(default_factory=Limits)
    replicates: int = 1
    """Answers that are wanted for each case."""

    def __post_init__(self) -> None:
        for name, kind in (("endpoint", Endpoint), ("limits", Limits)):
            if not isinstance(value := getattr(self, name), kind):
                raise InputError(f"{name}={quoted(value)}: expected a karat.{kind.__name__}")
        if self.cache is not None:
            as_path("cache", self.cache)
        check_count("replicates", self.replicates, 1)

    @property
    def judge(self) -> str:
        """The name of the model as a judge."""
        return JUDGE if self.endpoint.is_demo else self.endpoint.model

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the model that every report has."""
        return (NOTE,) if self.endpoint.is_demo else ()

    @property
    def settings(self) -> dict[str, object]:
        """Settings that change answers, as signatures have them; no key is among them."""
        return {
            "endpoint": self.endpoint.name,
            "model": self.endpoint.model,
            "temperature": self.endpoint.temperature,
            "max_tokens": self.endpoint.max_tokens,
            "model_seed": self.endpoint.seed,
            "json_object": self.endpoint.json_object,
            "replicates": self.replicates,
        }


class Interview(NamedTuple):
    """Answers to all cases, missing ones with their reasons, and usage."""

    answers: Mapping[str, tuple[Any, ...]]
    """Case -> its answers, as many as there are."""
    reasons: Mapping[str, str]
    """Case -> the first reason why an answer to it is missing."""
    usage: Usage
    replicates: int = 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on missing replicates, estimated tokens and limits."""
        n_incomplete = sum(len(answers) < self.replicates for answers in self.answers.values())
        problem = f"{n_incomplete:,} of {len(self.answers):,} judgements rest on fewer than"
        replicate_notes = [f"{problem} {self.replicates} answers."] if n_incomplete else []
        estimated = ["Tokens are estimated: the server did not count them."]
        return (
            *replicate_notes,
            *(estimated if self.usage.estimated_tokens else []),
            *self.usage.notes,
        )


@dataclass(frozen=True)
class InterviewTask:
    """Cases under one prompt, and the form that their answers have."""

    prompt: Prompt
    form: str
    """The form in words, of which the cache keeps a hash."""
    cases: Sequence[PromptCase]

    @cached_property
    def digest(self) -> str:
        """Eight characters that change when the texts or guidelines of a case do."""
        return data_digest(self.form, *((case.id, case.values) for case in self.cases))

    def requests(self, setup: Setup) -> list[Request]:
        """Return the requests, those of the replicates of a case one after the other."""
        schema = f"{self.prompt.name}@{sha256(self.form.encode()).hexdigest()[:8]}"
        return [
            Request(f"{case.id}\t{k}", messages, schema, k)
            for case in self.cases
            for messages in [tuple(Message(*m) for m in self.prompt.messages(case.values))]
            for k in range(setup.replicates)
        ]

    def plan(self, setup: Setup) -> Plan:
        """Return what asking would take; nothing is sent."""
        return plan(self.requests(setup), setup.endpoint, setup.cache, setup.limits)

    def ask(self, setup: Setup, progress: Progress = silent) -> Interview:
        """Ask about every case and read the answers; a stored one may have an earlier form."""
        cases = {case.id: case for case in self.cases}

        def check(request: Request, text: str) -> str:
            try:
                cases[_case(request.id)].read(text)
            except InvalidAnswer as error:
                return str(error)
            return ""

        ask_result = ask(
            self.requests(setup),
            setup.endpoint,
            cache=setup.cache,
            limits=setup.limits,
            check=check,
            progress=progress,
        )
        answers: dict[str, list[Any]] = {}
        missing: list[tuple[str, str]] = []
        for reply in ask_result.answers:
            case = _case(reply.id)
            try:
                if reply.text is not None:
                    answers.setdefault(case, []).append(cases[case].read(reply.text))
                else:
                    missing.append((case, reply.reason))
            except InvalidAnswer as error:
                missing.append((case, str(error)))
        parsed = {id: tuple(values) for id, values in answers.items() if values}
        reasons = dict(reversed(missing))
        return Interview(parsed, reasons, ask_result.usage, setup.replicates)


class ModelTask(Protocol):
    """Something that a command asks a model about, and the result of it."""

    @property
    def name(self) -> str:
        """The task, as signatures have it."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings, as signatures have them."""

    def task(self) -> InterviewTask:
        """Return the cases to ask about."""

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> Any:
        """Ask a model and return the result."""


def _case(request: str) -> str:
    return request.rpartition("\t")[0]


_SAFE = " /:()@+-._~"


def signature(name: str, settings: Mapping[str, object], task: InterviewTask, setup: Setup) -> str:
    """Return all that changes the answers; texts and guidelines by a digest. No key is in it.

    Args:
        name: name of the task.
        settings: settings of the task.
        task: prompt and cases.
        setup: model, and how it is asked.
    """
    task_settings = ",".join(f"{key}={_plain_setting(value)}" for key, value in settings.items())
    shared_settings = {"prompt": task.prompt.label, "cases": task.digest, **setup.settings}
    fields = "|".join(f"{key}={_plain_setting(value)}" for key, value in shared_settings.items())
    return f"{name}:{task_settings}|{fields}|karat={__version__}"


def _plain_setting(value: object) -> str:
    """Return a value without the characters that separate values."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return quote(text, safe=_SAFE)


ESTIMATED = "Tokens are estimated: four characters are taken for one."


@dataclass(frozen=True, repr=False)
class AskingPlan(Result):
    """Requests, tokens and cost that asking would take."""

    task: str
    rows: tuple[Plan, ...]
    notes: tuple[str, ...] = (ESTIMATED,)
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""


def plan_task(model_task: ModelTask, setup: Setup) -> AskingPlan:
    """Return what asking about a task would take; nothing is sent."""
    task = model_task.task()
    full_signature = signature(model_task.name, model_task.settings, task, setup)
    settings = {**model_task.settings, "prompt": task.prompt.label, **setup.settings}
    return AskingPlan(
        model_task.name, (task.plan(setup),), (*setup.notes, ESTIMATED), settings, full_signature
    )
