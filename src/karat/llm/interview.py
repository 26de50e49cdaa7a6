"""Interviews: prompts filled with cases, answers parsed into values, plans of dry runs."""

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
from karat.llm.requests import Limits, Message, Request, Usage
from karat.llm.run import Plan, ask, plan
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import check_count
from karat.storage.digests import data_digest
from karat.storage.output import as_path
from karat.storage.unpacking import read_bytes


def shuffle(names: Sequence[str], seed: int, salt: str = "") -> list[str]:
    """Return names in a random order that is the same on every machine."""

    def sort_key(name: str) -> bytes:
        return sha256(f"{seed}\t{salt}\t{name}".encode("utf-8", "surrogatepass")).digest()

    return sorted(names, key=sort_key)


def draw_sample(names: Sequence[str], size: int | None, seed: int) -> list[str]:
    """Return a random sample of names in their original order; all names without a size.

    A larger sample with the same seed contains the smaller one, so that its answers are reused.
    """
    if size is None:
        return list(names)
    check_count("sample", size, 1)
    sample = set(shuffle(names, seed)[:size])
    return [name for name in names if name in sample]


MAX_TEXT_LENGTH = 200_000
"""Longer texts are not sent."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*)\n\s*```", re.DOTALL)


class InvalidAnswer(ValueError):
    """An answer without the requested form."""


class JudgedValue(NamedTuple):
    """A rating, preference or label as a number, and the quote that supports it."""

    value: float
    evidence: str


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of an answer, possibly in a code block or after reasoning."""
    text = _THOUGHT.sub("", text)
    fenced = _FENCE.search(text)
    start, end = text.find("{"), text.rfind("}")
    for candidate in (text, fenced[1] if fenced else "", text[max(start, 0) : end + 1]):
        try:
            parsed = json.loads(candidate)
            json.dumps(parsed, ensure_ascii=False).encode()  # rejects lone surrogates
        except (ValueError, RecursionError):  # ValueError: also for numbers with too many digits
            continue
        if isinstance(parsed, dict):
            return parsed
        break
    raise InvalidAnswer("invalid JSON")


def entries(reply: Mapping[str, Any], key: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the entries of a list by id; each expected id must occur exactly once."""
    items = reply.get(key)
    if not isinstance(items, list) or not all(isinstance(entry, dict) for entry in items):
        raise InvalidAnswer(f"no list of {key}")
    by_id = {str(entry.get("id")): entry for entry in items}
    if len(by_id) < len(items) or set(by_id) != set(ids):
        raise InvalidAnswer("wrong ids")
    return {id: by_id[id] for id in ids}


def number_between(entry: Mapping[str, Any], low: float, high: float) -> float:
    """Return the value of an entry; raise InvalidAnswer if it is not on the scale."""
    value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAnswer("the value is not a number")
    if not low <= value <= high:  # also rejects NaN
        raise InvalidAnswer("the value is off the scale")
    return float(value)


def one_of(entry: Mapping[str, Any], key: str, choices: Collection[str]) -> str:
    """Return a word in lower case; raise InvalidAnswer if it is not among the choices."""
    value = entry.get(key)
    if not isinstance(value, str) or value.strip().lower() not in choices:
        raise InvalidAnswer(f"unknown {key}")
    return value.strip().lower()


def quote_from(entry: Mapping[str, Any], text: str, *, needed: bool) -> str:
    """Return the evidence; raise InvalidAnswer if it is not in the text, or empty though needed."""
    value = entry.get("evidence")
    if not isinstance(value, str | None):
        raise InvalidAnswer("the evidence is not a text")
    quote = " ".join((value or "").split())
    if not quote and needed:
        raise InvalidAnswer("no evidence")
    if not occurs(quote, text):
        raise InvalidAnswer("the evidence does not occur in the text")
    return quote


def occurs(quote: str, text: str) -> bool:
    """Return whether a quote occurs in a text, ignoring white space and case."""
    plain_quote, plain_text = (" ".join(part.split()).casefold() for part in (quote, text))
    return plain_quote in plain_text


_HEADING = re.compile(r"^\[(system|user)\][^\S\n]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}|\{([a-z_]+)\}")
_INVISIBLE = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Line ends, writing directions and invalid characters, which are escaped in JSON."""
_HASH = 12  # hexadecimal digits of a prompt's hash


class Slots(NamedTuple):
    """The placeholders of a task: required and optional ones."""

    task: str
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """All placeholders."""
        return (*self.needed, *self.optional)


@dataclass(frozen=True)
class Prompt:
    """Text of a prompt, its name and its file."""

    name: str
    text: str
    place: str = ""

    @property
    def label(self) -> str:
        """Name, version and hash for signatures: `ratings.v1@0123456789ab`."""
        return f"{self.name}@{sha256(self.text.encode()).hexdigest()[:_HASH]}"

    def check(self, slots: Slots) -> None:
        """Raise InputError for unknown placeholders and missing required ones."""
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

    def messages(self, values: Mapping[str, object]) -> tuple[Message, ...]:
        """Return the messages with placeholders replaced by JSON."""
        filled = {word: as_json(value) for word, value in values.items()}

        def fill(match: re.Match[str]) -> str:
            return f"{{{match[1]}}}" if match[1] else filled[match[2]]

        # The text before the first heading is a user message.
        first, *parts = _HEADING.split(self.text)
        pairs = [("user", first), *zip(parts[::2], parts[1::2], strict=True)]
        texts = [(role, text.strip()) for role, text in pairs if text.strip()]
        return tuple(Message(role, _PLACEHOLDER.sub(fill, text)) for role, text in texts)


def read_prompt(path: str | PathLike[str], slots: Slots) -> Prompt:
    """Return the prompt in a file, after checking its placeholders."""
    place = as_path("prompt", path)
    try:
        text = read_bytes(place).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{place}, line {line}: not valid UTF-8, expected a text") from error
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}") from error
    prompt = Prompt(place.name.removesuffix(".md").removesuffix(".txt"), text, str(path))
    if not text.strip():
        raise InputError(f"{path} is empty: expected a prompt with {{{slots.needed[0]}}}")
    prompt.check(slots)
    return prompt


def bundled_prompt(folder: Path, name: str) -> Prompt:
    """Return a bundled prompt."""
    return Prompt(name, (folder / f"{name}.md").read_text("utf-8"))


def as_json(value: object) -> str:
    """Return a value as JSON on one line, with invisible characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class PromptCase(NamedTuple):
    """One request: the values of the placeholders, and the parser of the answer."""

    id: str
    values: Mapping[str, object]
    parse: Callable[[str], Any]
    """Parses an answer; raises InvalidAnswer."""


@dataclass(frozen=True)
class Setup:
    """Endpoint, cache, limits and replicates: the settings shared by all tasks."""

    endpoint: Endpoint
    cache: str | PathLike[str] | None = None
    limits: Limits = field(default_factory=Limits)
    replicates: int = 1
    """Answers per case."""

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
        """Notes on the model for every report."""
        return (NOTE,) if self.endpoint.is_demo else ()

    @property
    def settings(self) -> dict[str, object]:
        """Settings that affect answers, for signatures; the API key is not among them."""
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
    """Answers to all cases, reasons for missing ones, and usage."""

    answers: Mapping[str, tuple[Any, ...]]
    """Case -> valid answers."""
    reasons: Mapping[str, str]
    """Case -> first reason why an answer is missing."""
    usage: Usage
    replicates: int = 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on missing replicates, estimated tokens and limits."""
        notes = list(self.usage.notes)
        if self.usage.estimated_tokens:
            notes.insert(0, "Tokens are estimated: the server did not count them.")
        n_incomplete = sum(len(answers) < self.replicates for answers in self.answers.values())
        if n_incomplete:
            problem = f"{n_incomplete:,} of {len(self.answers):,} judgements rest on fewer than"
            notes.insert(0, f"{problem} {self.replicates} answers.")
        return tuple(notes)


@dataclass(frozen=True)
class InterviewTask:
    """Cases with one prompt and one form of answers."""

    prompt: Prompt
    form: str
    """Description of the form; its hash is part of the cache key."""
    cases: Sequence[PromptCase]

    @cached_property
    def digest(self) -> str:
        """Eight characters that depend on the texts and guidelines of all cases."""
        return data_digest(self.form, *((case.id, case.values) for case in self.cases))

    def requests(self, setup: Setup) -> list[Request]:
        """Return the requests, with the replicates of a case in sequence."""
        schema = f"{self.prompt.name}@{sha256(self.form.encode()).hexdigest()[:8]}"
        filled = [(case.id, self.prompt.messages(case.values)) for case in self.cases]
        return [
            Request(f"{id}\t{k}", messages, schema, k)
            for id, messages in filled
            for k in range(setup.replicates)
        ]

    def ask(self, setup: Setup, progress: Progress = silent) -> Interview:
        """Send a request for every case and parse the answers."""
        parsers = {case.id: case.parse for case in self.cases}

        def check(request: Request, text: str) -> str:
            try:
                parsers[_case_id(request.id)](text)
            except InvalidAnswer as error:
                return str(error)
            return ""

        replies, usage = ask(
            self.requests(setup),
            setup.endpoint,
            cache=setup.cache,
            limits=setup.limits,
            check=check,
            progress=progress,
        )
        answers: dict[str, tuple[Any, ...]] = {}
        reasons: dict[str, str] = {}
        for reply in replies:
            case = _case_id(reply.id)
            if reply.text is None:
                reasons.setdefault(case, reply.reason)
                continue
            try:
                answers[case] = (*answers.get(case, ()), parsers[case](reply.text))
            except InvalidAnswer as error:  # a stored answer may have an earlier form
                reasons.setdefault(case, str(error))
        return Interview(answers, reasons, usage, setup.replicates)


class ModelTask(Protocol):
    """A task of a command that uses a model."""

    @property
    def name(self) -> str:
        """Name for signatures."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings for signatures."""

    def task(self) -> InterviewTask:
        """Return the cases."""

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> Any:
        """Ask a model and return the result."""


def _case_id(request_id: str) -> str:
    return request_id.rpartition("\t")[0]


_SAFE = " /:()@+-._~"


def signature(name: str, settings: Mapping[str, object], task: InterviewTask, setup: Setup) -> str:
    """Return everything that affects the answers, except for the API key.

    Texts and guidelines are represented by a digest.
    """

    def fields(values: Mapping[str, object]) -> Iterator[str]:
        for key, value in values.items():
            text = f"{value:g}" if isinstance(value, float) else str(value)
            yield f"{key}={quote(text, safe=_SAFE)}"  # escapes separators

    shared = {"prompt": task.prompt.label, "cases": task.digest, **setup.settings}
    return f"{name}:{','.join(fields(settings))}|{'|'.join(fields(shared))}|karat={__version__}"


ESTIMATED = "Tokens are estimated: four characters are taken for one."


@dataclass(frozen=True, repr=False)
class AskingPlan(Result):
    """Expected requests, tokens and cost of a task."""

    task: str
    rows: tuple[Plan, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    signature: str


def plan_task(model_task: ModelTask, setup: Setup) -> AskingPlan:
    """Return the expected usage of a task without sending anything."""
    task = model_task.task()
    planned = plan(task.requests(setup), setup.endpoint, setup.cache, setup.limits)
    settings = {**model_task.settings, "prompt": task.prompt.label, **setup.settings}
    full_signature = signature(model_task.name, model_task.settings, task, setup)
    notes = (*setup.notes, ESTIMATED)
    return AskingPlan(model_task.name, (planned,), notes, settings, full_signature)
