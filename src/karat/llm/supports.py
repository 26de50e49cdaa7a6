"""Supports: a model decides which nuggets of its question a response contains.

Equal responses to a question are judged once, even if they come from different runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from karat.errors import InputError
from karat.evalset.judgements import PERSON
from karat.llm.interview import (
    MAX_TEXT_LENGTH,
    Interview,
    JudgedValue,
    PromptCase,
    Slots,
    draw_sample,
    entries,
    json_object,
    one_of,
    quote_from,
)
from karat.llm.material import nugget_agreement
from karat.llm.results import TOO_LONG, JudgedRows, JudgingTask, ModelSupports, SupportRow
from karat.llm.task_prompts import NUGGETS
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.settings import check_count

FORM = "answers: id, evidence (a quote; empty for not_support), label"
LABELS = {"support": SUPPORT, "partial_support": PARTIAL, "not_support": NOT}
_NAMES = {value: label for label, value in LABELS.items()}


class SharedResponse(NamedTuple):
    """A response to a question, and the runs that gave it."""

    question: str
    text: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class ModelSupportTask(JudgingTask[ModelSupports]):
    """Responses of the runs of a set, each with the nuggets of its question."""

    name: ClassVar[str] = "judge-nuggets"
    slots: ClassVar[Slots] = NUGGETS
    form: ClassVar[str] = FORM
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
        _ = self.questions  # checks the sample size

    @cached_property
    def questions(self) -> list[str]:
        """Questions to judge."""
        return draw_sample([*self.nuggets.key.questions], self.sample, self.seed)

    @cached_property
    def responses(self) -> list[SharedResponse]:
        """Distinct responses to each question, with the tags of the runs that gave them."""
        tags_by_text: dict[tuple[str, str], tuple[str, list[str]]] = {}
        for question in self.questions:
            for tag, run in self.nuggets.runs.items():
                for response in run.responses(question):
                    key = question, response.normal
                    _, tags = tags_by_text.setdefault(key, (response.text, []))
                    if tag not in tags:
                        tags.append(tag)
        return [
            SharedResponse(question, text, tuple(tags))
            for (question, _), (text, tags) in tags_by_text.items()
        ]

    def _batches(self) -> Iterator[tuple[str, SharedResponse, dict[str, Nugget]]]:
        """Yield the id of each case, its response, and its nuggets by number."""
        for number, response in enumerate(self.responses):
            nuggets = self.nuggets.key.questions[response.question].nuggets
            if len(response.text) <= MAX_TEXT_LENGTH:
                for start in range(0, len(nuggets), self.batch):
                    batch = enumerate(nuggets[start : start + self.batch], 1)
                    numbered = {str(k): nugget for k, nugget in batch}
                    yield f"{number}\t{start}", response, numbered

    def make_cases(self) -> Iterator[PromptCase]:
        """Yield every response with the nuggets of its question, in batches."""
        for case, response, nuggets in self._batches():
            nugget_texts = []
            for id, nugget in nuggets.items():
                first, *also = nugget.descriptions
                nugget_texts.append({"id": id, "text": first, **({"also": also} if also else {})})
            question = self.nuggets.key.questions[response.question].text or None
            values = {"question": question, "response": response.text, "nuggets": nugget_texts}
            yield PromptCase(case, values, partial(parse_supports, response.text, list(nuggets)))

    @property
    def settings(self) -> dict[str, object]:
        """Settings for signatures."""
        sample = {"sample": self.sample, "seed": self.seed} if self.sample else {}
        return {"batch": self.batch, **sample}

    @property
    def judged_set(self) -> tuple[str, Mapping[str, str]]:
        """Name of the set, and the kinds of its judges."""
        kinds = {row.judge: row.kind or PERSON for row in self.nuggets.judgements.rows}
        return self.nuggets.name, kinds

    def result(self, interview: Interview, **fields: Any) -> ModelSupports:
        """Return the labels with their agreement with people."""
        agreement = nugget_agreement(self.nuggets, fields["judge"], fields["rows"])
        return ModelSupports(**fields, agreement=agreement)

    def judged_rows(self, interview: Interview) -> JudgedRows:
        """Return the labels, and the pair and reason of each missing one."""
        rows, missing = [], []
        for case, (question, text, runs), nuggets in self._batches():
            for id, nugget in nuggets.items():
                if replies := interview.answers.get(case):
                    value, evidence = _median([answer[id] for answer in replies])
                    fields = _NAMES[value], value, evidence, text, runs, len(replies)
                    rows.append(SupportRow(question, nugget.id, *fields))
                else:
                    name = f"question {question}, nugget {nugget.id}, run {runs[0]}"
                    missing.append((name, interview.reasons.get(case, TOO_LONG)))
        for question, text, runs in self.responses:
            if len(text) > MAX_TEXT_LENGTH:
                name = f"question {question}, run {runs[0]}"
                missing += [(name, TOO_LONG)] * len(self.nuggets.key.questions[question].nuggets)
        n_judged, total = len(self.questions), len(self.nuggets.key)
        note = f"A random sample of {n_judged:,} of {total:,} questions was judged."
        return JudgedRows(rows, missing, [note] if n_judged < total else [])


def _median(supports: Sequence[JudgedValue]) -> JudgedValue:
    """Return the median label; of two in the middle, the lower."""
    return sorted(supports, key=lambda support: support.value)[(len(supports) - 1) // 2]


def parse_supports(response: str, ids: Sequence[str], answer: str) -> Mapping[str, JudgedValue]:
    """Return the labels in an answer by id; full and partial support need a quote."""
    supports = {}
    for id, entry in entries(json_object(answer), "answers", ids).items():
        value = LABELS[one_of(entry, "label", LABELS)]
        evidence = quote_from(entry, response, needed=True) if value else ""
        supports[id] = JudgedValue(value, evidence)
    return supports
