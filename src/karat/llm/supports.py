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
    MAX_TEXT_LENGTH,
    Interview,
    InterviewTask,
    PromptCase,
    Setup,
    draw_sample,
    entries,
    json_object,
    one_of,
    quote_from,
)
from karat.llm.material import nugget_agreement
from karat.llm.results import (
    TOO_LONG,
    JudgeRun,
    MissingJudgement,
    ModelSupports,
    SupportRow,
    check_judge,
)
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


class SharedResponse(NamedTuple):
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
            problem = "has no responses: expected at least one run"
            raise InputError(f"{self.nuggets.name} {problem}; name a file of one with --run")
        draw_sample(
            [*self.nuggets.key.questions][:1], self.sample, self.seed
        )  # refuses a wrong size

    @property
    def questions(self) -> list[str]:
        """Questions to judge."""
        return draw_sample([*self.nuggets.key.questions], self.sample, self.seed)

    @cached_property
    def responses(self) -> list[SharedResponse]:
        """All different responses to the questions."""
        tags_by_text: dict[tuple[str, str], tuple[str, list[str]]] = {}
        for question in self.questions:
            for tag, run in self.nuggets.runs.items():
                for response in run.responses(question):
                    new = response.text, list[str]()
                    _, tags = tags_by_text.setdefault((question, response.normal), new)
                    if tag not in tags:
                        tags.append(tag)
        return [
            SharedResponse(id, text, tuple(tags)) for (id, _), (text, tags) in tags_by_text.items()
        ]

    def task(self) -> InterviewTask:
        """Return the cases to ask about."""
        prompt = task_prompt(NUGGETS, self.prompt)
        return InterviewTask(prompt, FORM, [case for case, *_ in self._cases()])

    def _cases(self) -> Iterator[tuple[PromptCase, SharedResponse, dict[str, Nugget]]]:
        for number, response in enumerate(self.responses):
            question = self.nuggets.key.questions[response.question]
            if len(response.text) > MAX_TEXT_LENGTH:
                continue
            for start in range(0, len(question.nuggets), self.batch):
                batch = question.nuggets[start : start + self.batch]
                nuggets = {str(k): nugget for k, nugget in enumerate(batch, 1)}
                values = {
                    "question": question.text or None,
                    "response": response.text,
                    "nuggets": [_nugget_values(id, nugget) for id, nugget in nuggets.items()],
                }
                read = partial(read_supports, response.text, list(nuggets))
                yield PromptCase(f"{number}\t{start}", values, read), response, nuggets

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
        interview = task.ask(setup, progress)
        rows, missing = self._rows(interview)
        name = self.nuggets.name
        judge_run = JudgeRun(self.name, name, judge, self.settings, task, setup, interview)
        return ModelSupports(
            **judge_run.fields(rows, missing, self._sample_note()),
            agreement=nugget_agreement(self.nuggets, judge, rows),
        )

    def _rows(self, interview: Interview) -> tuple[list[SupportRow], list[MissingJudgement]]:
        """Return the labels, and the pair and reason of each that is missing."""
        rows, missing = [], []
        for case, (question, text, runs), nuggets in self._cases():
            for id, nugget in nuggets.items():
                if replies := interview.answers.get(case.id):
                    value, evidence = _median([answer[id] for answer in replies])
                    fields = _NAMES[value], value, evidence, text, runs, len(replies)
                    rows.append(SupportRow(question, nugget.id, *fields))
                else:
                    name = f"question {question}, nugget {nugget.id}, run {runs[0]}"
                    missing.append((name, interview.reasons.get(case.id, TOO_LONG)))
        for question, text, runs in self.responses:
            if len(text) > MAX_TEXT_LENGTH:
                name = f"question {question}, run {runs[0]}"
                missing += [(name, TOO_LONG)] * len(self.nuggets.key.questions[question].nuggets)
        return rows, missing

    def _sample_note(self) -> list[str]:
        judged, total = len(self.questions), len(self.nuggets.key)
        note = f"A random sample of {judged:,} of {total:,} questions was judged."
        return [note] if judged < total else []


def _nugget_values(id: str, nugget: Nugget) -> dict[str, object]:
    first, *alternatives = nugget.descriptions
    return {"id": id, "text": first, **({"also": alternatives} if alternatives else {})}


def _median(supports: Sequence[Support]) -> Support:
    """The median of some labels; of two in the middle, the lower."""
    return sorted(supports, key=lambda support: support.value)[(len(supports) - 1) // 2]


def read_supports(response: str, ids: Sequence[str], answer: str) -> Mapping[str, Support]:
    """Return the labels in an answer by id; support, in full or in part, needs a quote."""
    supports = {}
    for id, entry in entries(json_object(answer), "answers", ids).items():
        value = LABELS[one_of(entry, "label", LABELS)]
        evidence = quote_from(entry, response, needed=True) if value else ""
        supports[id] = Support(value, evidence)
    return supports
