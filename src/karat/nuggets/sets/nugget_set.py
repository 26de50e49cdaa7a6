"""`NuggetSet`: a key, the runs that answer it, and their judgements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.judgements import ADJUDICATED, MODEL, PERSON, kind_problem
from karat.evalset.reading import FileLocation, Reading
from karat.nuggets.sets.judgements import (
    EVIDENCE,
    HALF,
    NAMELESS,
    NO,
    NOT,
    PARTIAL,
    SUPPORT,
    UNNAMED,
    YES,
    JudgedResponse,
    Judgements,
)
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    Run,
    make_key,
    make_run,
)

_SEPARATOR = re.compile(r"[/\\]")


def short_places(places: Sequence[str]) -> list[str]:
    """Return `FILE, line N` of each place, with just enough folders to distinguish the files."""
    split = [place.rpartition(", line ") for place in places]
    files = {file: _SEPARATOR.split(file) for file, _, _ in split}
    longest, n = max(map(len, files.values()), default=1), 1
    while n < longest and len({tuple(parts[-n:]) for parts in files.values()}) < len(files):
        n += 1
    return [
        f"{'/'.join(files[file][-n:])}, line {line}" if file else line for file, _, line in split
    ]


@dataclass(frozen=True)
class NuggetSet:
    """A key with its runs and judgements, which may be absent."""

    name: str
    key: NuggetKey
    runs: Mapping[str, Run] = field(default_factory=lambda: MappingProxyType({}))
    judgements: Judgements = field(default_factory=lambda: Judgements(()))
    notes: tuple[str, ...] = field(default=(), compare=False)  # sentences on skipped input

    def __repr__(self) -> str:
        nuggets = sum(len(question.nuggets) for question in self.key.questions.values())
        return (
            f"<NuggetSet {self.name}: {len(self.key):,} questions; {nuggets:,} nuggets; "
            f"{len(self.runs):,} runs; {len(self.judgements.rows):,} judgements>"
        )

    def run(self, tag: str) -> Run:
        """Return a run by its tag."""
        if tag not in self.runs:
            from karat.settings import nearest

            tags = first_names(self.runs, 10) or "none"
            hint = nearest(tag, self.runs) or f" (there are {tags})"
            raise InputError(f"{self.name} has no run {quoted(tag)}{hint}")
        return self.runs[tag]

    def select(self, *tags: str) -> NuggetSet:
        """Return the set with some of the runs; all judgements stay."""
        return replace(self, runs=MappingProxyType({tag: self.run(tag) for tag in tags}))


def remarks(nuggets: NuggetSet, *, corrected: bool = True, labels: str = EVIDENCE) -> list[str]:
    """Return remarks on the set that are not errors but affect how far numbers can be trusted.

    If not `corrected`, a run's own judgements take precedence over others of the same words.
    `labels` is the use of a model's labels, one of `LABEL_USES`.
    """
    questions, runs = nuggets.key.questions, nuggets.runs.values()
    return [
        *nuggets.notes,
        *_about_questions(
            "no vital nuggets, so no F and no V", [id for id, q in questions.items() if not q.vital]
        ),
        *_about_questions(
            "one nugget only", [id for id, q in questions.items() if len(q.nuggets) == 1]
        ),
        *(
            sentence
            for run in runs
            for subject, ids in (
                ("no response, which scores 0", [q for q in questions if not run.responses(q)]),
                (
                    "an empty response",
                    [q for q, answer in run.answers.items() for r in answer if not r.text.strip()],
                ),
            )
            for sentence in _about_questions(f"run {short(run.tag)}: {subject}", ids)
        ),
        *_contradictions(nuggets.judgements, corrected),
        *_disputes(nuggets.judgements),
        *_about_judges(nuggets.judgements, labels),
    ]


def first_names(names: Iterable[str], most: int) -> str:
    """Return the first names, with … if there are more."""
    names = list(names)
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _about_questions(subject: str, ids: list[str]) -> list[str]:
    return [f"{subject}: {_count_names('question', ids)}"] if ids else []


def _count_names(kind: str, names: list[str]) -> str:
    """`question 3`, or `4 questions (1, 2, 3, …)`."""
    if len(names) == 1:
        return f"{kind} {short(names[0])}"
    return f"{len(names):,} {kind}s ({first_names(names, 5)})"


def _contradictions(judgements: Judgements, corrected: bool) -> list[str]:
    """Return a sentence on contradictory judgements, and on which of them counts."""
    count = len(judgements.contradictions)
    if not count:
        return []
    first, second = both = judgements.contradictions[0]
    places = _places(both)
    more = f" (and {count - 1:,} more: karat nuggets describe lists them)" if count > 1 else ""
    rule = "the highest counts" if corrected else "a run's own count, else the highest"
    return [
        f"contradictory judgements, of which {rule}: question {first.question}, nugget "
        f"{first.nugget}: the same response was judged {first.value:g} ({places[0]}) and "
        f"{second.value:g} ({places[1]}){more}"
    ]


def _places(rows: Sequence[JudgedResponse]) -> list[str]:
    """Return the files and lines of some judgements, or their runs."""
    return short_places([row.place or f"run {row.run or '-'}" for row in rows])


def _disputes(judgements: Judgements) -> list[str]:
    """Return a sentence on pairs on which judges differ, and on the first tie among them."""
    disputes = judgements.disputes
    if not disputes:
        return []
    ties = [dispute for dispute in disputes if dispute.tie]
    rule = "the majority counts"
    if ties:
        counted = {HALF: "as half", YES: "as the higher value", NO: "as the lower value"}
        ties_text = "1 tie counts" if len(ties) == 1 else f"{len(ties):,} ties count"
        rule += f", and {ties_text} {counted[judgements.ties]}"
    rows = (ties or disputes)[0].rows
    votes = [
        f"{short(row.judge or UNNAMED)} {row.value:g} ({place})"
        for row, place in zip(rows[:5], _places(rows[:5]), strict=True)
    ]
    votes_text = ", ".join(votes) + (", …" if len(rows) > 5 else "")
    more = " (karat nuggets describe lists them all)" if len(disputes) > 1 else ""
    return [
        f"judges contradict each other on {len(disputes):,} pair{'s' * (len(disputes) > 1)} of "
        f"response and nugget; {rule}: question {rows[0].question}, nugget {rows[0].nugget}: "
        f"{votes_text}{more}"
    ]


def _about_judges(judgements: Judgements, labels: str) -> list[str]:
    """Return sentences on judges of unknown kind, and on models."""
    names = list(dict.fromkeys(row.judge for row in judgements.rows if row.judge and not row.kind))
    unknown = (
        f"of unknown kind, so counted as a person: {_count_names('judge', names)}; say which are "
        "models (--model-judge NAME, or a kind beside the judge)"
    )
    counts = {name or UNNAMED: len(labels) for name, labels in judgements.labels_by_model.items()}
    counts_text = ", ".join(f"{short(name)} ({count:,})" for name, count in counts.items())
    models = f"labels of models never count as judgements: {counts_text}"
    return [unknown] * bool(names) + [models] * (bool(counts) and labels == EVIDENCE)


PARTS = ("key", "runs", "judgements")


class _DraftedQuestion(NamedTuple):
    text: str
    place: FileLocation
    nuggets: dict[str, Nugget]
    places: dict[str, FileLocation]


class NuggetDraft:
    """Collects what readers find, records problems, and becomes a `NuggetSet`.

    Only the parts in `take` are kept; a file may hold others. `models` are the names of judges that
    are models, `ties` is the value of a tie between judges.
    """

    def __init__(
        self,
        name: str,
        reading: Reading,
        skip_unknown: bool = False,
        models: Sequence[str] = (),
        ties: str = HALF,
    ) -> None:
        self.name, self.reading, self.skip_unknown = name, reading, skip_unknown
        self.models, self.ties, self.problem = models, ties, reading.problem
        self._is_name = partial(reading.check_name, blank=False)
        self.take: tuple[str, ...] = PARTS
        self.questions: dict[str, _DraftedQuestion] = {}
        self._responses: dict[str, list[tuple[FileLocation, str, Response]]] = {}
        self._institutions: dict[str, str] = {}
        self._judged: list[tuple[FileLocation, JudgedResponse]] = []
        self._added: list[tuple[FileLocation, str, Nugget]] = []
        self._words: list[tuple[FileLocation, str, str, str]] = []
        self._skipped: dict[str, int] = {}

    def question(self, id: str, place: FileLocation, text: str = "") -> None:
        """Add a question, which must be new."""
        if "key" not in self.take or not self._is_name("question", id, place):
            return
        if id in self.questions:
            self.problem(place, f"question {short(id)} again (first {self.questions[id].place})")
        else:
            self.questions[id] = _DraftedQuestion(text, place, {}, {})

    def nugget(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        """Add a nugget to a question of the draft."""
        if "key" in self.take and question in self.questions:
            self._keep(question, nugget, place)

    def also(self, question: str, id: str, description: str, place: FileLocation) -> None:
        """Add a description to a nugget of the draft."""
        if "key" not in self.take:
            return
        if question in self.questions and id in self.questions[question].nuggets:
            self._describe(question, id, description)
        else:
            problem = f"a further description of nugget {short(id)}, which no line above has"
            self.problem(place, problem)

    def _keep(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        drafted = self.questions[question]
        if not self._is_name("nugget", nugget.id, place):
            return
        if nugget.id in drafted.nuggets:
            again = f"has nugget {short(nugget.id)} already ({drafted.places[nugget.id]})"
            self.problem(place, f"question {short(question)} {again}")
        elif not all(text.strip() for text in nugget.descriptions):
            self.problem(place, f"nugget {short(nugget.id)} has no description, expected words")
        else:
            drafted.nuggets[nugget.id], drafted.places[nugget.id] = nugget, place

    def _describe(self, question: str, id: str, description: str) -> None:
        nuggets = self.questions[question].nuggets
        nuggets[id] = replace(nuggets[id], descriptions=(*nuggets[id].descriptions, description))

    def run(self, tag: str, place: FileLocation, institution: str = "") -> None:
        """Add a run, which may have no responses; any call may name its institution."""
        if "runs" in self.take and self._is_name("run", tag, place):
            self._responses.setdefault(tag, [])
            if institution:
                self._institutions[tag] = institution

    def response(self, tag: str, question: str, response: Response, place: FileLocation) -> None:
        """Add the next response of a run to a question."""
        if "runs" in self.take and self._is_name("run", tag, place):
            self._responses.setdefault(tag, []).append((place, question, response))

    @property
    def responses(self) -> int:
        """The number of responses so far."""
        return sum(map(len, self._responses.values()))

    def judge(self, row: JudgedResponse, place: FileLocation) -> None:
        """Add a judgement."""
        if "judgements" not in self.take:
            return
        if row.value not in (SUPPORT, PARTIAL, NOT):
            self.problem(place, f"found the value {row.value}, expected 0, 0.5 or 1")
        elif problem := kind_problem(row.kind):
            self.problem(place, problem)
        else:
            self._judged.append((place, row._replace(place=str(place))))

    def add(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        """Add a nugget that an assessor found missing; it is part of the judgements."""
        if "judgements" in self.take:
            self._added.append((place, question, nugget))

    def add_words(self, question: str, id: str, description: str, place: FileLocation) -> None:
        """Add a description of a nugget that an assessor marked in a response."""
        if "judgements" in self.take:
            self._words.append((place, question, id, description))

    def _extend_key(self) -> None:
        """Add the nuggets and then the descriptions of assessors that the key does not have yet."""
        for place, question, nugget in self._added:
            if not self._is_asked("a nugget of", question, place):
                continue
            earlier, n = self.questions[question].nuggets.get(nugget.id), len(nugget.descriptions)
            # The key may hold this very nugget, perhaps with further words.
            if earlier is None or replace(earlier, descriptions=earlier.descriptions[:n]) != nugget:
                self._keep(question, nugget, place)
        for place, question, id, words in self._words:
            if not self._is_asked("words for a nugget of", question, place):
                continue
            if not words.strip():
                self.problem(place, f"no words for nugget {short(id)}, expected some")
            elif (
                self._has_nugget("words for", question, id, place)
                and words not in self.questions[question].nuggets[id].descriptions
            ):
                self._describe(question, id, words)

    def finish(self) -> NuggetSet:
        """Return the set, or raise its first problem."""
        self._extend_key()
        if not self.questions:
            self.problem(self.name, "no questions: expected a key with at least one")
        for id, drafted in self.questions.items():
            if not drafted.nuggets:
                self.problem(drafted.place, f"question {short(id)} has no nuggets")
        runs = {}
        for tag, rows in self._responses.items():
            answered = [
                row[1:] for row in rows if self._is_asked("a response to", row[1], row[0], 1)
            ]
            runs[tag] = make_run(tag, answered, self._institutions.get(tag, ""))
        judged_rows = [
            (place, row)
            for place, row in self._judged
            if self._is_asked("a judgement of", row.question, place)
            and self._has_nugget("a judgement of", row.question, row.nugget, place)
        ]
        judged = Judgements(
            _with_kinds(judged_rows, self.models, self.name, self.reading), self.ties
        )
        self.reading.check()
        key = make_key(
            Question(id, tuple(drafted.nuggets.values()), drafted.text)
            for id, drafted in self.questions.items()
        )
        out = f"{sum(self._skipped.values()):,} responses to {len(self._skipped):,} questions"
        notes = (f"left out: {out} that the key does not have",) if self._skipped else ()
        return NuggetSet(self.name, key, MappingProxyType(runs), judged, notes)

    def _is_asked(
        self, subject: str, question: str, place: FileLocation, responses: int = 0
    ) -> bool:
        """Return whether the key has a question; if not, count it as skipped or as a problem."""
        if question in self.questions:
            return True
        if self.skip_unknown:
            self._skipped[question] = self._skipped.get(question, 0) + responses
        else:
            self.problem(place, f"{subject} question {quoted(question)}, which is not in the key")
        return False

    def _has_nugget(self, subject: str, question: str, id: str, place: FileLocation) -> bool:
        """Return whether a question of the key has a nugget; if not, record a problem."""
        nuggets = self.questions[question].nuggets
        if id not in nuggets:
            reason = f"which question {short(question)} does not have ({first_names(nuggets, 10)})"
            self.problem(place, f"{subject} nugget {quoted(id)}, {reason}")
        return id in nuggets


def _with_kinds(
    rows: Sequence[tuple[FileLocation, JudgedResponse]],
    models: Sequence[str],
    name: str,
    reading: Reading,
) -> tuple[JudgedResponse, ...]:
    """Return the rows with the kinds of their judges; `models` are judges that are models.

    A kind in one row of a named judge applies to all rows of that judge, except `adjudicated`.
    """
    kinds: dict[str, str] = {}
    for place, row in rows:
        if not row.kind or not row.judge:
            continue
        first = kinds.setdefault(row.judge, row.kind)
        if first != row.kind and MODEL in (first, row.kind):
            reading.problem(
                place,
                f"judge {short(row.judge)} is of the kind {row.kind} here and {first} before; "
                "expected a model to be one everywhere",
            )
        elif first != row.kind:  # a person who also adjudicates
            kinds[row.judge] = PERSON
    judges = {row.judge or NAMELESS for _, row in rows}
    for model in dict.fromkeys(models):
        row_kinds = {row.kind for _, row in rows if not row.judge and model == NAMELESS}
        if model not in judges:
            names_text = ", ".join(short(judge) for judge in sorted(judges)[:10]) or "none"
            reason = f"no judgement is by a judge {quoted(model)}, named as a model"
            reading.problem(name, f"{reason} (the judges are {names_text})")
        elif kinds.setdefault(model, MODEL) != MODEL or (row_kinds and not row_kinds & {"", MODEL}):
            reading.problem(
                name, f"judge {short(model)} is named as a model, but its file says another kind"
            )
    if NAMELESS in models:
        kinds[""] = MODEL
    # A judge who adjudicated some pairs may have judged the others as a person.
    fill = {judge: kind for judge, kind in kinds.items() if kind != ADJUDICATED}
    return tuple(
        row if row.kind or row.judge not in fill else row._replace(kind=fill[row.judge])
        for _, row in rows
    )
