"""Judgements: which response carries which nugget, according to judges.

A judgement is looked up by question, nugget and normalised response, so the same words are never
judged twice, no matter which run submitted them. Adjudicated judgements decide; without any, the
judgements of people do; labels of models never do. If a judge judged the same words several times,
the most favourable value is the judge's vote (the paper's corrected judgements). All judgements
without a name count as one judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

from karat.errors import InputError, quoted
from karat.evalset.judgements import ADJUDICATED, MODEL, PERSON, check_kinds
from karat.nuggets.sets.keys_and_runs import Response, normal
from karat.storage.digests import data_digest

RANK = {MODEL: 0, "": 1, PERSON: 1, ADJUDICATED: 2}
"""Judgements of the highest rank decide; rank 0 never does."""

HALF, YES, NO = "half", "yes", "no"
TIES = (HALF, YES, NO)  # the value of a tie: 0.5, or the higher or the lower of the two values

EVIDENCE, MODEL_LABELS = "evidence", "model"
LABEL_USES = (EVIDENCE, MODEL_LABELS)
"""Use of a model's labels: evidence for guesses, or decisions on all that people did not judge."""

Sides: TypeAlias = tuple[float, float]  # the lower and the higher value that have the most votes


class Votes(NamedTuple):
    """The judgements that decide about one response and nugget, one for each judge.

    The majority decides whether the response carries the nugget. If it does, the majority of the
    judges who agree decides whether in full or in part. A tie counts as half by default.
    """

    rank: int
    by_judge: dict[str, float]

    @property
    def differ(self) -> bool:
        """True if judges contradict each other."""
        return len(set(self.by_judge.values())) > 1

    @property
    def sides(self) -> Sides:
        """The two values of a tie; without a tie, the value with the most votes, twice."""
        yes = [value for value in self.by_judge.values() if value > 0]
        full, judges = 2 * sum(value == 1 for value in yes), len(self.by_judge)
        carried = (0.5 if full <= len(yes) else 1.0, 1.0 if full >= len(yes) else 0.5)
        if not yes or 2 * len(yes) < judges:
            return 0.0, 0.0
        return carried if 2 * len(yes) > judges else (0.0, carried[1])

    def value(self, ties: str = HALF) -> float:
        """Return the value that counts."""
        low, high = self.sides
        return low if low == high else {HALF: 0.5, YES: high, NO: low}[ties]


SUPPORT, PARTIAL, NOT = 1.0, 0.5, 0.0
UNNAMED, NAMELESS = "unnamed", "-"
"""Name of the judge without a name: in reports, and in the list of judges that are models."""

PairKey: TypeAlias = tuple[str, str, str]  # question, nugget and normalised response
_K = TypeVar("_K")


class JudgedResponse(NamedTuple):
    """A judgement of one response and nugget, and its place in a file."""

    question: str
    nugget: str
    response: str  # text of the response as submitted
    value: float  # 1 carries it, 0.5 in part, 0 does not
    run: str = ""
    judge: str = ""
    place: str = ""  # file and line, for messages
    kind: str = ""
    """Kind of the judge, one of `evalset.judgements.KINDS`; "" (unknown) counts as a person."""
    evidence: str = ""  # words of the response that the judge quoted

    @property
    def pair_key(self) -> PairKey:
        """Question, nugget and normalised response."""
        return self.question, self.nugget, normal(self.response)


class Contradiction(NamedTuple):
    """Two judgements of the same pair by one judge that differ."""

    first: JudgedResponse
    second: JudgedResponse


class DisputedJudgement(NamedTuple):
    """A response and a nugget about which judges contradict each other."""

    rows: tuple[JudgedResponse, ...]  # the vote of each judge
    value: float  # the value that counts
    tie: bool


@dataclass(frozen=True)
class Judgements:
    """Rows in the order they were read, and the value of a tie (one of `TIES`)."""

    rows: tuple[JudgedResponse, ...]
    ties: str = HALF

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise InputError(f"ties {quoted(self.ties)}: expected one of {', '.join(TIES)}")
        check_kinds({row.kind for row in self.rows})

    @cached_property
    def digest(self) -> str:
        """Eight characters that change when a judgement does, whatever file it is in."""
        rows = ((*row.pair_key, row.value, row.run, row.judge, row.kind) for row in self.rows)
        return data_digest(*rows)

    @cached_property
    def values(self) -> dict[PairKey, float]:
        """(question, nugget, normalised response) -> value, where people or adjudicators judged."""
        return {pair: votes.value(self.ties) for pair, votes in self._votes.items()}

    @cached_property
    def _votes(self) -> dict[PairKey, Votes]:
        return _votes(self.deciding, lambda row: row.pair_key)

    @cached_property
    def of_response(self) -> dict[tuple[str, str], dict[str, float]]:
        """(question, normalised response) -> nugget -> value: `values` by response."""
        return self._by_response(self._votes)

    @cached_property
    def of_run(self) -> dict[tuple[str, str, str], dict[str, float]]:
        """(run, question, normalised response) -> nugget -> value, from the run's rows alone.

        Adjudicated judgements are the exception: they apply to the same words in every run.
        """
        return self._by_response(self._own_votes)

    def _by_response(self, votes_by_pair: Mapping[Any, Votes]) -> dict[Any, dict[str, float]]:
        """Return values by response; keys have the nugget and the response last."""
        values: dict[Any, dict[str, float]] = {}
        for (*place, nugget, text), votes in votes_by_pair.items():
            values.setdefault((*place, text), {})[nugget] = votes.value(self.ties)
        return values

    @cached_property
    def _own_votes(self) -> dict[tuple[str, str, str, str], Votes]:
        run_votes = _votes(self.deciding, lambda row: (row.run, *row.pair_key))
        for key, votes in run_votes.items():
            if (all_votes := self._votes[key[1:]]).rank > votes.rank:
                run_votes[key] = all_votes
        return run_votes

    def about(self, question: str, text: str, run_tag: str | None = None) -> Mapping[str, float]:
        """Return nugget -> value of a normalised response.

        With `run_tag`, the run's own judgements take precedence over those of other runs.
        """
        values: Mapping[str, float] = self.of_response.get((question, text), {})
        run_values = {} if run_tag is None else self.of_run.get((run_tag, question, text), {})
        return {**values, **run_values} if run_values else values

    def best(self, question: str, nugget: str, responses: Iterable[Response]) -> float | None:
        """Return the best value of any of some responses; None if no response was judged."""
        values = (self.values.get((question, nugget, response.normal)) for response in responses)
        return max((value for value in values if value is not None), default=None)

    @cached_property
    def has_ties(self) -> bool:
        """True if any tie counts as half, among all judgements or within a run."""
        all_votes = (*self._votes.values(), *self._own_votes.values()) if self.ties == HALF else ()
        return any(votes.differ and votes.sides[0] != votes.sides[1] for votes in all_votes)

    def tie(
        self, question: str, nugget: str, text: str, run_tag: str | None = None
    ) -> Sides | None:
        """Return both values of a tie that counts as half; `run_tag` as in `about`."""
        pair = question, nugget, text
        run_votes = None if run_tag is None else self._own_votes.get((run_tag, *pair))
        votes = run_votes or self._votes.get(pair)
        if votes is None or self.ties != HALF:
            return None
        low, high = votes.sides
        return (low, high) if low != high else None

    def without(self, runs: Iterable[str]) -> Judgements:
        """Return the judgements without those of some runs."""
        out = set(runs)
        return self.with_rows(row for row in self.rows if row.run not in out)

    def with_rows(self, rows: Iterable[JudgedResponse]) -> Judgements:
        """Return judgements of other rows, with the same rule for ties."""
        return replace(self, rows=tuple(rows))

    @cached_property
    def deciding(self) -> tuple[JudgedResponse, ...]:
        """The rows that can decide: all but labels of models."""
        return tuple(row for row in self.rows if row.kind != MODEL)

    @cached_property
    def labels_by_model(self) -> dict[str, dict[PairKey, float]]:
        """Model -> (question, nugget, normalised response) -> its label, the most favourable."""
        labels: dict[str, dict[PairKey, float]] = {}
        for row in self.rows:
            if row.kind == MODEL:
                model_labels, pair = labels.setdefault(row.judge, {}), row.pair_key
                model_labels[pair] = max(row.value, model_labels.get(pair, 0.0))
        return labels

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Rows that contradict the judge's first row about the same pair, each with that row."""
        first: dict[tuple[str, str, PairKey], JudgedResponse] = {}
        pairs = [
            Contradiction(first.setdefault((row.judge, row.kind, row.pair_key), row), row)
            for row in self.rows
        ]
        return tuple(pair for pair in pairs if pair.first.value != pair.second.value)

    @cached_property
    def disputes(self) -> tuple[DisputedJudgement, ...]:
        """Pairs on which the deciding judges contradict each other, in the order of their rows."""
        differ = {pair: votes for pair, votes in self._votes.items() if votes.differ}
        rows: dict[PairKey, dict[str, JudgedResponse]] = {pair: {} for pair in differ}
        for row in self.deciding if differ else ():
            votes = differ.get(pair := row.pair_key)
            if votes and RANK[row.kind] == votes.rank and votes.by_judge[row.judge] == row.value:
                rows[pair].setdefault(row.judge, row)
        return tuple(
            DisputedJudgement(
                tuple(rows[pair].values()), self.values[pair], len({*votes.sides}) > 1
            )
            for pair, votes in differ.items()
        )


def _votes(rows: Iterable[JudgedResponse], of: Callable[[JudgedResponse], _K]) -> dict[_K, Votes]:
    """Return the votes of the highest rank by key, for each judge the most favourable one."""
    votes_by_key: dict[_K, Votes] = {}
    for row in rows:
        key, rank = of(row), RANK[row.kind]
        votes = votes_by_key.get(key)
        if votes is None or rank > votes.rank:
            votes_by_key[key] = Votes(rank, {row.judge: row.value})
        elif rank == votes.rank:
            votes.by_judge[row.judge] = max(row.value, votes.by_judge.get(row.judge, 0.0))
    return votes_by_key
