"""Supports: a model says which nuggets of its question a response contains.

Equal responses to a question, whichever run gave them, are judged once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from typing import ClassVar, NamedTuple

from karat.errors import InputError
from karat.evalset.judgements import PERSON
from karat.llm.interview import (
    LONGEST_TEXT,
    Case,
    Interview,
    Setup,
    Task,
    drawn,
    entries,
    json_object,
    one_of,
    quote_from,
)
from karat.llm.material import nugget_agreement
from karat.llm.results import TOO_LONG, Asked, ModelSupports, Named, SupportRow, check_judge
from karat.llm.task_prompts import NUGGETS, task_prompt
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.settings import check_count

FORM = "answers: id, evidence (a quote; empty for not_support), label"
LABELS = {"support": SUPPORT, "partial_support": PARTIAL, "not_support": NOT}
_NAMES = {value: label for label, value in LABELS.items()}


class Support(NamedTuple):
    """A label as a number, and the words that carry the nugget."""

    value: float
    evidence: str


class Answered(NamedTuple):
    """A response to a question, and the runs that gave it."""

    question: str
    text: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class SupportTask:
    """Responses of the runs of a set, each with the nuggets of its question."""

    name: ClassVar[str] = "judge-nuggets"
    nuggets: NuggetSet
    prompt: str | PathLike[str] | None = None
    batch: int = 10
    """Nuggets in one request."""
    sample: int | None = None
    seed: int = 12345

    def __post_init__(self) -> None:
        check_count("batch", self.batch, 1)
        if not any(run.answers for run in self.nuggets.runs.values()):
            told = "has no responses: expected at least one run"
            raise InputError(f"{self.nuggets.name} {told}; name a file of one with --run")
        drawn([*self.nuggets.key.questions][:1], self.sample, self.seed)  # refuses a wrong size

    @property
    def questions(self) -> list[str]:
        """Questions to judge."""
        return drawn([*self.nuggets.key.questions], self.sample, self.seed)

    @cached_property
    def responses(self) -> list[Answered]:
        """All different responses to the questions."""
        found: dict[tuple[str, str], tuple[str, list[str]]] = {}
        for question in self.questions:
            for tag, run in self.nuggets.runs.items():
                for response in run.responses(question):
                    new = response.text, list[str]()
                    _, tags = found.setdefault((question, response.normal), new)
                    if tag not in tags:
                        tags.append(tag)
        return [Answered(id, text, tuple(tags)) for (id, _), (text, tags) in found.items()]

    def task(self) -> Task:
        """Return the cases to ask about."""
        prompt = task_prompt(NUGGETS, self.prompt)
        return Task(prompt, FORM, [case for case, *_ in self._cases()])

    def _cases(self) -> Iterator[tuple[Case, Answered, dict[str, Nugget]]]:
        for number, answered in enumerate(self.responses):
            question = self.nuggets.key.questions[answered.question]
            if len(answered.text) > LONGEST_TEXT:
                continue
            for at in range(0, len(question.nuggets), self.batch):
                some = question.nuggets[at : at + self.batch]
                asked = {str(k): nugget for k, nugget in enumerate(some, 1)}
                values = {
                    "question": question.text or None,
                    "response": answered.text,
                    "nuggets": [_shown(id, nugget) for id, nugget in asked.items()],
                }
                read = partial(read_supports, answered.text, list(asked))
                yield Case(f"{number}\t{at}", values, read), answered, asked

    @property
    def settings(self) -> dict[str, object]:
        """Settings, as signatures have them."""
        sample = {"sample": self.sample, "seed": self.seed} if self.sample else {}
        return {"batch": self.batch, **sample}

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> ModelSupports:
        """Ask a model and return its labels."""
        judge, task = judge or setup.judge, self.task()
        kinds = {row.judge: row.kind or PERSON for row in self.nuggets.judgements.rows}
        check_judge(judge, kinds, self.nuggets.name)
        found = task.ask(setup, progress)
        rows, missing = self._rows(found)
        name = self.nuggets.name
        asked = Asked(self.name, name, judge, self.settings, task, setup, found)
        return ModelSupports(
            **asked.fields(rows, missing, self._sample_note()),
            agreement=nugget_agreement(self.nuggets, judge, rows),
        )

    def _rows(self, found: Interview) -> tuple[list[SupportRow], list[Named]]:
        """Return the labels, and the pair and reason of each that is missing."""
        rows, missing = [], []
        for case, (question, text, runs), asked in self._cases():
            for id, nugget in asked.items():
                if some := found.answers.get(case.id):
                    value, evidence = _middle([answer[id] for answer in some])
                    told = _NAMES[value], value, evidence, text, runs, len(some)
                    rows.append(SupportRow(question, nugget.id, *told))
                else:
                    name = f"question {question}, nugget {nugget.id}, run {runs[0]}"
                    missing.append((name, found.reasons.get(case.id, TOO_LONG)))
        for question, text, runs in self.responses:
            if len(text) > LONGEST_TEXT:
                name = f"question {question}, run {runs[0]}"
                missing += [(name, TOO_LONG)] * len(self.nuggets.key.questions[question].nuggets)
        return rows, missing

    def _sample_note(self) -> list[str]:
        judged, every = len(self.questions), len(self.nuggets.key)
        told = f"A random sample of {judged:,} of {every:,} questions was judged."
        return [told] if judged < every else []


def _shown(id: str, nugget: Nugget) -> dict[str, object]:
    first, *others = nugget.descriptions
    return {"id": id, "text": first, **({"also": others} if others else {})}


def _middle(supports: Sequence[Support]) -> Support:
    """The median of some labels; of two in the middle, the lower."""
    return sorted(supports, key=lambda one: one.value)[(len(supports) - 1) // 2]


def read_supports(response: str, ids: Sequence[str], answer: str) -> Mapping[str, Support]:
    """Return the labels in an answer by id; support, in full or in part, needs a quote."""
    found = {}
    for id, entry in entries(json_object(answer), "answers", ids).items():
        value = LABELS[one_of(entry, "label", LABELS)]
        evidence = quote_from(entry, response, needed=True) if value else ""
        found[id] = Support(value, evidence)
    return found
