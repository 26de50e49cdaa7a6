"""`draft_nuggets`: a language model drafts a key from questions and their documents.

    {"question": "q1", "text": "Who designed the lens?", "documents": ["…", "…"]}

One object per line. An evaluation set or any table can be used as well: segments are the questions,
sources their texts, and contexts the documents, or references where there are no contexts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from karat.errors import InputError, OutputError, quoted, short
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.reading import (
    Reading,
    check_member,
    format_json_line,
    read_json_lines,
    read_lines,
)
from karat.llm.interview import (
    MAX_TEXT_LENGTH,
    InterviewTask,
    InvalidAnswer,
    Prompt,
    PromptCase,
    Setup,
    Slots,
    bundled_prompt,
    draw_sample,
    json_object,
    occurs,
    read_prompt,
    signature,
)
from karat.llm.requests import Limits, Usage
from karat.nuggets.formats.json_lines import jsonl_lines
from karat.nuggets.formats.text_files import key_lines
from karat.nuggets.sets.keys_and_runs import Nugget, NuggetKey, Question, make_key, normal
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import SEED, check_count
from karat.storage.output import write_atomically

if TYPE_CHECKING:
    from karat.llm.endpoint import Endpoint


MEMBERS = ("question", "text", "documents")


class SourcedQuestion(NamedTuple):
    """A question and its documents."""

    id: str
    text: str
    documents: tuple[str, ...]


class QuestionSource(NamedTuple):
    """Questions with documents, the name of their file or set, and how it was read."""

    name: str
    questions: tuple[SourcedQuestion, ...]
    remarks: tuple[str, ...] = ()


def read_questions(source: SetSource) -> QuestionSource:
    """Return the questions of a file, set or table, with their documents."""
    if isinstance(source, str | PathLike) and has_documents(source):
        return QuestionSource(Path(source).name, _read_question_file(Path(source)))
    evalset = as_evalset(source)
    contexts = evalset.contexts or ((),) * len(evalset)
    documents = [
        passages or references
        for passages, references in zip(contexts, evalset.references, strict=True)
    ]
    if not any(documents):
        reason = "has no contexts and no references: a key is drafted from documents or references"
        raise InputError(f"{evalset.name} {reason}")
    sources = evalset.sources or ("",) * len(evalset)
    rows = zip(evalset.segments, sources, documents, strict=True)
    questions = tuple(SourcedQuestion(*row) for row in rows)
    return QuestionSource(evalset.name, questions, evalset.remarks)


def has_documents(source: str | PathLike[str]) -> bool:
    """Return whether the first object of a file is a question with documents."""
    path = Path(source)
    if not path.is_file():
        return False
    try:
        first = next((line for line in read_lines(path) if line.strip()), "")
    except InputError:
        return False
    return '"documents"' in first and '"question"' in first


def _read_question_file(path: Path) -> tuple[SourcedQuestion, ...]:
    reading, questions = Reading(lister=""), dict[str, SourcedQuestion]()
    for place, row in read_json_lines(path, reading):
        n_problems = len(reading.problems)
        if unknown := [key for key in row if key not in MEMBERS]:
            problem = f"found the name {quoted(unknown[0])}, expected {', '.join(MEMBERS)}"
            reading.problem(place, problem)
        id = check_member(row, "question", str, place, reading)
        documents = check_member(row, "documents", list, place, reading)
        text = check_member({"text": "", **row}, "text", str, place, reading)
        if len(reading.problems) > n_problems or id is None or documents is None:
            continue
        reading.check_name("question", id, place, blank=False)
        if not documents or not all(isinstance(item, str) and item.strip() for item in documents):
            reading.problem(place, "expected at least one document, each a text that is not empty")
        if id in questions:
            reading.problem(place, f"question {short(id)} again")
        questions[id] = SourcedQuestion(id, str(text), tuple(map(str, documents)))
    reading.check()
    return tuple(questions.values())


MAX_WORDS = 12
_MARKS = re.compile(r"\W+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Fact(NamedTuple):
    """A proposed nugget, and the words of a document that state it."""

    text: str
    vital: bool
    document: int  # number of the document, from 0
    quote: str


class DraftRejection(NamedTuple):
    """A fact that was refused, and the reason."""

    text: str
    reason: str


class Facts(NamedTuple):
    """The facts of an answer."""

    accepted: tuple[Fact, ...]
    refused: tuple[DraftRejection, ...]


def read_facts(documents: Sequence[str], max_facts: int, answer: str) -> Facts:
    """Return at most `max_facts` facts of an answer; raise InvalidAnswer if none is valid."""
    entries = json_object(answer).get("facts")
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise InvalidAnswer("no list of facts")
    facts: dict[str, Fact] = {}
    rejections = []
    for entry in entries:
        text = " ".join(str(entry.get("fact") or "").split())
        reason = _rejection_reason(entry, text, documents)
        normalized = _MARKS.sub(" ", normal(text)).strip()
        if not reason and normalized in facts:
            reason = "a duplicate"
        if not reason and len(facts) == max_facts:
            reason = f"more than {max_facts} facts"
        if reason:
            rejections.append(DraftRejection(text, reason))
        else:
            document = int(entry["document"]) - 1
            quote = " ".join(entry["quote"].split())
            facts[normalized] = Fact(text, entry["importance"] == "vital", document, quote)
    if not facts:
        raise InvalidAnswer(f"no valid fact ({rejections[0].reason})" if rejections else "no facts")
    return Facts(tuple(facts.values()), tuple(rejections))


def _rejection_reason(entry: Mapping[str, Any], text: str, documents: Sequence[str]) -> str:
    """Return why an entry is not a valid fact; "" if it is."""
    if not _MARKS.sub("", text) or _CONTROL.search(text):
        return "no words, or control characters"
    if len(text.split()) > MAX_WORDS:
        return f"longer than {MAX_WORDS} words"
    if entry.get("importance") not in ("vital", "okay"):
        return "neither vital nor okay"
    if str(entry.get("document")) not in map(str, range(1, len(documents) + 1)):
        return "no document of that number"
    quote, document = entry.get("quote"), documents[int(entry["document"]) - 1]
    has_quote = isinstance(quote, str) and bool(quote.strip()) and occurs(quote, document)
    return "" if has_quote else "no quote that occurs in the document"


FOLDER = Path(__file__).parent / "prompts"
DRAFT = Slots("draft", ("documents",), ("question", "most"))


def draft_prompt(path: str | PathLike[str] | None = None) -> Prompt:
    """Return the prompt in a file, or the one that comes with Karat."""
    return bundled_prompt(FOLDER, "draft.v1") if path is None else read_prompt(path, DRAFT)


FORM = "facts: document, quote, fact (1 to 12 words), importance"
BESIDE = ".draft.jsonl"
"""Ending of the file next to a key that names the model, with the quote of each nugget."""
READ_IT = "A model drafted this key: read and edit it before you use it."


class DraftRow(NamedTuple):
    """A drafted nugget, with the words of the document that state it."""

    question: str
    nugget: str
    importance: str
    description: str
    document: int  # number of the document, from 1
    quote: str


class RefusedRow(NamedTuple):
    """A fact that did not become a nugget."""

    question: str
    fact: str
    reason: str


class UndraftedRow(NamedTuple):
    """A question without a draft."""

    question: str
    reason: str


@dataclass(frozen=True, repr=False)
class DraftedNuggets(Result):
    """A key that a model drafted; `rows` are its nuggets."""

    name: str
    model: str
    rows: tuple[DraftRow, ...]
    questions: Mapping[str, str]  # texts of the questions that have nuggets, by id
    refused: tuple[RefusedRow, ...]
    missing: tuple[UndraftedRow, ...]
    usage: Usage
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> NuggetKey:
        """The drafted key."""
        nuggets_by_question: dict[str, list[Nugget]] = {id: [] for id in self.questions}
        for row in self.rows:
            nugget = Nugget(row.nugget, (row.description,), row.importance == "vital")
            nuggets_by_question[row.question].append(nugget)
        return make_key(
            Question(id, tuple(nuggets), self.questions[id])
            for id, nuggets in nuggets_by_question.items()
        )

    def save_log(self, path: str | PathLike[str]) -> None:
        """Write the key, and next to it a file with the model and the quotes (both atomic).

        `.jsonl` is JSON lines, with the model in the first line; `.txt` is a TREC key.
        """
        check_key_name(path)
        about = {"key": self.name, "drafted_by": self.model, "signature": self.signature}
        lines = (
            [format_json_line(about), *jsonl_lines(NuggetSet(self.name, self.key))]
            if Path(path).suffix == ".jsonl"
            else list(key_lines(self.key))
        )
        quotes = (format_json_line(row._asdict()) for row in self.rows)
        write_atomically(path, lines)
        write_atomically(f"{path}{BESIDE}", [format_json_line(about), *quotes])


def check_key_name(path: str | PathLike[str]) -> None:
    """Raise OutputError if the format of a key cannot be inferred from its name."""
    if Path(path).suffix not in (".jsonl", ".txt"):
        expected = "expected a name that ends in .jsonl (JSON lines) or .txt (a TREC key)"
        raise OutputError(f"{path}: {expected}")


@dataclass(frozen=True)
class DraftTask:
    """Questions to draft a key for."""

    name: ClassVar[str] = "draft-nuggets"
    source: str  # the name of the file or set
    questions: tuple[SourcedQuestion, ...]
    prompt: str | PathLike[str] | None = None
    most: int = 20  # most nuggets of a question
    sample: int | None = None
    """Number of questions that were drawn at random by the seed; None for all."""
    seed: int = SEED
    remarks: tuple[str, ...] = ()
    """Remarks of the set, such as how its table was read."""

    def __post_init__(self) -> None:
        check_count("most", self.most, 1)
        if not self.questions:
            raise InputError(f"{self.source} has no questions: expected at least one")

    @property
    def settings(self) -> dict[str, object]:
        """Settings, as signatures have them."""
        sampling = {} if self.sample is None else {"sample": self.sample, "seed": self.seed}
        return {"most": self.most, **sampling}

    def task(self) -> InterviewTask:
        """Return the cases to ask about."""
        cases = []
        for id, text, documents in self.questions:
            if documents and sum(map(len, documents)) <= MAX_TEXT_LENGTH:
                listed = [
                    {"id": str(k), "text": document} for k, document in enumerate(documents, 1)
                ]
                values = {"question": text or None, "documents": listed, "most": self.most}
                cases.append(PromptCase(id, values, partial(read_facts, documents, self.most)))
        return InterviewTask(draft_prompt(self.prompt), FORM, cases)

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> DraftedNuggets:
        """Ask a model and return its key."""
        task = self.task()
        interview = task.ask(setup, progress)
        missing = tuple(
            UndraftedRow(
                question.id,
                interview.reasons.get(
                    question.id, "documents too long" if question.documents else "no documents"
                ),
            )
            for question in self.questions
            if question.id not in interview.answers
        )
        if not interview.answers:
            reason = f"{short(setup.judge)} drafted no nugget: {missing[0].reason}"
            raise InputError(f"{reason}; nothing was written")
        rows, refused = [], []
        for id, (facts, *_) in interview.answers.items():
            for number, fact in enumerate(facts.accepted, 1):
                importance = "vital" if fact.vital else "okay"
                fields = importance, fact.text, fact.document + 1, fact.quote
                rows.append(DraftRow(id, str(number), *fields))
            refused += [RefusedRow(id, *rejection) for rejection in facts.refused]
        texts = {q.id: q.text for q in self.questions if q.id in interview.answers}
        return DraftedNuggets(
            *(self.source, judge or setup.judge, tuple(rows), texts),
            *(tuple(refused), missing, interview.usage),
            settings={**self.settings, "prompt": task.prompt.label, **setup.settings},
            signature=signature(self.name, self.settings, task, setup),
            notes=(*setup.notes, *interview.notes, *self.remarks, READ_IT),
        )


def drafted_questions(source: SetSource, sample: int | None, seed: int) -> QuestionSource:
    """Return the questions of a file, set or table, or a random sample of them."""
    read = read_questions(source)
    sampled_ids = set(draw_sample([question.id for question in read.questions], sample, seed))
    sampled = tuple(question for question in read.questions if question.id in sampled_ids)
    return read._replace(questions=sampled)


def draft_nuggets(
    source: SetSource,
    *,
    endpoint: Endpoint,
    most: int = 20,
    cache: str | PathLike[str] | None = None,
    limits: Limits | None = None,
    prompt: str | PathLike[str] | None = None,
    sample: int | None = None,
    seed: int = SEED,
    progress: Progress = silent,
) -> DraftedNuggets:
    """Let a language model draft an answer key from references or documents.

    Args:
        source: file of questions with documents; or a set, its name or path, the path of a table,
            or a frame, with contexts or references.
        endpoint: endpoint of the model.
        most: most nuggets of a question.
        cache: file of earlier answers, which are reused.
        limits: concurrency, rate, attempts and budget.
        prompt: file with another prompt.
        sample, seed: number of questions, drawn at random.
        progress: function that is called with the progress.
    """
    name, questions, remarks = drafted_questions(source, sample, seed)
    task = DraftTask(name, questions, prompt, most, sample, seed, remarks)
    return task.run(Setup(endpoint, cache, limits or Limits()), progress=progress)
