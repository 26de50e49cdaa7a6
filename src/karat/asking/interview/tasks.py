"""Interviews: cases that a model is asked about, its answers read in their form, and the missing.

A case is asked once for each replicate. An answer that has not the form of its case is asked again
and is missing in the end, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from os import PathLike
from typing import Any, NamedTuple, Protocol

from karat.asking.asker import Limits, Plan, Usage, ask, plan
from karat.asking.demo import JUDGE, NOTE
from karat.asking.endpoint import Endpoint
from karat.asking.interview.forms import InvalidAnswer
from karat.asking.interview.templates import Prompt
from karat.asking.requests import Message, Request
from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.storage.digests import data_digest
from karat.storage.output import as_path
from karat.trials import check_count


class Case(NamedTuple):
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
        some = sum(len(answers) < self.replicates for answers in self.answers.values())
        told = f"{some:,} of {len(self.answers):,} judgements rest on fewer than"
        few = [f"{told} {self.replicates} answers."] if some else []
        estimated = ["Tokens are estimated: the server did not count them."]
        return (*few, *(estimated if self.usage.estimated_tokens else []), *self.usage.notes)


@dataclass(frozen=True)
class Task:
    """Cases under one prompt, and the form that their answers have."""

    prompt: Prompt
    form: str
    """The form in words, of which the cache keeps a hash."""
    cases: Sequence[Case]

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

        asked = ask(
            self.requests(setup),
            setup.endpoint,
            cache=setup.cache,
            limits=setup.limits,
            check=check,
            progress=progress,
        )
        answers: dict[str, list[Any]] = {}
        missing: list[tuple[str, str]] = []
        for one in asked.answers:
            case = _case(one.id)
            try:
                if one.text is not None:
                    answers.setdefault(case, []).append(cases[case].read(one.text))
                else:
                    missing.append((case, one.why))
            except InvalidAnswer as error:
                missing.append((case, str(error)))
        found = {id: tuple(some) for id, some in answers.items() if some}
        reasons = dict(reversed(missing))
        return Interview(found, reasons, asked.usage, setup.replicates)


class Asks(Protocol):
    """Something that a command asks a model about, and the result of it."""

    @property
    def name(self) -> str:
        """The task, as signatures have it."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings, as signatures have them."""

    def task(self) -> Task:
        """Return the cases to ask about."""

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> Any:
        """Ask a model and return the result."""


def _case(request: str) -> str:
    return request.rpartition("\t")[0]
