"""`NuggetSet`: a key, the runs that answer it, and what assessors said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from karat.errors import InputError, quoted, short
from karat.nuggets.sets.judgements import UNNAMED, Judged, Judgements
from karat.nuggets.sets.keys import Key
from karat.nuggets.sets.places import short_places
from karat.nuggets.sets.runs import Run
from karat.nuggets.sets.voting import HALF, NO, YES


@dataclass(frozen=True)
class NuggetSet:
    """A key with its runs and judgements, which may be absent."""

    name: str
    key: Key
    runs: Mapping[str, Run] = field(default_factory=lambda: MappingProxyType({}))
    judgements: Judgements = field(default_factory=lambda: Judgements(()))
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences on what a reader left out."""

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

            some = ", ".join([*self.runs][:10]) + (", …" if len(self.runs) > 10 else "")
            known = nearest(tag, self.runs) or f" (there are {some or 'none'})"
            raise InputError(f"{self.name} has no run {quoted(tag)}{known}")
        return self.runs[tag]

    def select(self, *tags: str) -> NuggetSet:
        """Return the set with some of the runs; all judgements stay."""
        return replace(self, runs=MappingProxyType({tag: self.run(tag) for tag in tags}))


def remarks(nuggets: NuggetSet, *, corrected: bool = True) -> list[str]:
    """Return what is no error, and still good to know before numbers are believed.

    Not `corrected`: judgements of a run stand as they are, whatever others say of the same words.
    """
    return [
        *nuggets.notes,
        *_key_remarks(nuggets.key),
        *(sentence for run in nuggets.runs.values() for sentence in _run_remarks(run, nuggets.key)),
        *_contradictions(nuggets.judgements, corrected),
        *_disputes(nuggets.judgements),
        *_about_judges(nuggets.judgements),
    ]


def _key_remarks(key: Key) -> Iterator[str]:
    if without := [q.id for q in key.questions.values() if not q.vital]:
        yield f"no vital nuggets, so no F and no V: {_named('question', without)}"
    if single := [q.id for q in key.questions.values() if len(q.nuggets) == 1]:
        yield f"one nugget only: {_named('question', single)}"


def _run_remarks(run: Run, key: Key) -> Iterator[str]:
    if silent := [q for q in key.questions if not run.responses(q)]:
        where = _named("question", silent)
        yield f"run {short(run.tag)}: no response, which scores 0: {where}"
    if empty := [q for q in run.answers for some in run.answers[q] if not some.text.strip()]:
        yield f"run {short(run.tag)}: an empty response: {_named('question', empty)}"


def _named(kind: str, names: list[str]) -> str:
    """`question 3`, or `4 questions (1, 2, 3, …)`."""
    if len(names) == 1:
        return f"{kind} {short(names[0])}"
    return f"{len(names):,} {kind}s ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})"


def _contradictions(judgements: Judgements, corrected: bool) -> list[str]:
    """Return a sentence on contradictions; the rule is the paper's, or each run's own stand."""
    count = len(judgements.contradictions)
    if not count:
        return []
    first, second = both = judgements.contradictions[0]
    places = _places(both)
    told = (
        f"question {first.question}, nugget {first.nugget}: the same response was judged "
        f"{first.value:g} ({places[0]}) and {second.value:g} ({places[1]})"
    )
    others = f" (and {count - 1:,} more: karat nuggets describe lists them)" if count > 1 else ""
    rule = "the highest counts" if corrected else "a run's own count, else the highest"
    return [f"contradictory judgements, of which {rule}: {told}{others}"]


def _places(rows: Sequence[Judged]) -> list[str]:
    """The files and lines of some judgements, or their runs."""
    return short_places([row.place or f"run {row.run or '-'}" for row in rows])


def _disputes(judgements: Judgements) -> list[str]:
    """The pairs about which judges differ, and the ties among them, the first of those in full."""
    found = judgements.disputes
    if not found:
        return []
    ties = [one for one in found if one.tie]
    counted = {HALF: "as half", YES: "as the higher value", NO: "as the lower value"}
    rule = "the majority counts"
    if ties:
        some = "1 tie counts" if len(ties) == 1 else f"{len(ties):,} ties count"
        rule += f", and {some} {counted[judgements.ties]}"
    rows = (ties or found)[0].rows
    votes = [
        f"{short(row.judge or UNNAMED)} {row.value:g} ({place})"
        for row, place in zip(rows[:5], _places(rows[:5]), strict=True)
    ]
    said = ", ".join(votes) + (", …" if len(rows) > 5 else "")
    more = " (karat nuggets describe lists them all)" if len(found) > 1 else ""
    return [
        f"judges contradict each other on {len(found):,} pair{'s' * (len(found) > 1)} of response "
        f"and nugget; {rule}: question {rows[0].question}, nugget {rows[0].nugget}: {said}{more}"
    ]


def _about_judges(judgements: Judgements) -> list[str]:
    """Sentences on judges of unknown kind, and on models."""
    names = list(dict.fromkeys(row.judge for row in judgements.rows if row.judge and not row.kind))
    unknown = (
        f"of unknown kind, so counted as a person: {_named('judge', names)}; say which are models "
        "(--model-judge NAME, or a kind beside the judge)"
    )
    counts = {name or UNNAMED: len(found) for name, found in judgements.of_models.items()}
    shown = ", ".join(f"{short(name)} ({count:,})" for name, count in counts.items())
    models = f"labels of models never count as judgements: {shown}"
    return [unknown] * bool(names) + [models] * bool(counts)
