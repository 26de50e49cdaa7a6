"""Decisions: which response carries which nugget, by judgements, by guesses or by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.nuggets.sets.judgements import SUPPORT, Judgements, Sides
from karat.nuggets.sets.keys_and_runs import NuggetKey, Question, Response, Run
from karat.progress import Progress, silent

PredictAnswer: TypeAlias = Callable[[Question, Sequence[Response]], Floats]
"""Function from a question and its responses to values, responses by nuggets: 0, 0.5, 1 or NaN.

This is the interface of classifiers; NaN means undecided.
"""

JUDGEMENT, GUESS, LABEL = "judgement", "guess", "label"
NOTHING, NO_RESPONSE = "nothing", "no response"
"""Sources of a decision."""


@dataclass(frozen=True)
class AnswerDecisions:
    """Decisions on one answer: responses in rank order by nuggets in the order of the key."""

    values: Floats  # 1 carries it, 0.5 in part, 0 does not, NaN where nothing decides
    is_judged: Flags  # pairs that a judgement decided
    tied: Mapping[tuple[int, int], Sides] = field(default_factory=dict)
    """Pairs with a tie that counts as half, and both values of the tie."""
    unjudged_source: str = GUESS  # source of values that no judgement decides: a guess or a label

    @property
    def undecided(self) -> int:
        """Number of pairs that are neither judged nor guessed; they count as not carried."""
        return int(np.count_nonzero(np.isnan(self.values)))

    @cached_property
    def settled(self) -> Flags:
        """Nuggets that judgements decide: a response was judged to carry it, or all were judged.

        Guesses about other responses cannot change the support of these.
        """
        carried = self.is_judged & (self.values == SUPPORT)
        return np.asarray(self.is_judged.all(axis=0) | carried.any(axis=0))

    @property
    def open_pairs(self) -> Flags:
        """Unjudged pairs that can change a score: no judgement settles their nugget."""
        return ~self.is_judged & ~self.settled

    @property
    def all_settled(self) -> bool:
        """True if judgements settle every nugget."""
        return bool(self.settled.all())

    @cached_property
    def best(self) -> Floats:
        """Best value of each nugget over all responses. Cached: every score needs it."""
        best: Floats = np.fmax.reduce(self.values, axis=0, initial=0.0)
        best.flags.writeable = False
        return best

    def support(self, strict: bool = False) -> Floats:
        """Return the best value of each nugget; if `strict`, partial support counts 0."""
        return np.where(self.best < SUPPORT, 0.0, self.best) if strict else self.best

    def carried(self, strict: bool = False) -> Floats:
        """Return the count of each pair in F: 1 if carried, 0 if not, 1/2 for a tie of both."""
        least = SUPPORT if strict else np.nextafter(0, 1)
        counts = (np.nan_to_num(self.values) >= least).astype(np.float64)
        for pair, (low, high) in self.tied.items():
            counts[pair] = ((low >= least) + (high >= least)) / 2
        return counts

    def returned_counts(self, strict: bool = False) -> Floats:
        """Return the count of each nugget in F: the best of any response."""
        if self.tied:
            return np.asarray(self.carried(strict).max(axis=0, initial=0.0))
        return (self.support(strict) > 0).astype(np.float64)

    def credit(self, strict: bool = False) -> list[int | None]:
        """Return the first response that carries each nugget, which gets the credit.

        If a judgement settles a nugget, responses that were only guessed to carry it get none.
        """
        carried = np.nan_to_num(self.values) >= (SUPPORT if strict else np.nextafter(0, 1))
        carried &= self.is_judged | ~self.settled
        if not len(carried):
            return [None] * carried.shape[1]
        first = np.where(carried.any(axis=0), carried.argmax(axis=0), -1)
        return [at if at >= 0 else None for at in first.tolist()]

    def by(self, nugget: int, credit: int | None) -> str:
        """Return the weakest source that the support of a nugget rests on."""
        is_judged = self.is_judged[:, nugget]
        if not len(is_judged):
            return NO_RESPONSE
        if self.settled[nugget]:
            return JUDGEMENT
        if np.isnan(self.values[:, nugget]).any():  # some pairs are neither judged nor guessed
            if credit is None:
                return NOTHING
            return JUDGEMENT if is_judged[credit] else self.unjudged_source
        return self.unjudged_source

    def sources(self, strict: bool = False) -> list[str]:
        """Return the source of the decision on each nugget (see `by`)."""
        return [self.by(j, credit) for j, credit in enumerate(self.credit(strict))]


def decide(
    question: Question,
    responses: Sequence[Response],
    judgements: Judgements | None = None,
    guess: PredictAnswer | None = None,
    run_tag: str | None = None,
    source: str = GUESS,
) -> AnswerDecisions:
    """Combine judgements and guesses; a judgement always wins over a guess.

    `source` is that of the guesses: a classifier's guess, or a model's label.

    Judgements of identical responses of any run count (see `Votes`); with `run_tag`, that run's own
    judgements take precedence. Labels of models are not judgements.
    """
    shape = len(responses), len(question.nuggets)
    values = np.full(shape, np.nan)
    if guess is not None:
        values = np.array(guess(question, responses), dtype=np.float64)
    if values.shape != shape:
        raise InputError(
            f"the guesses for question {question.id} have the shape {values.shape}, expected "
            f"{shape}: responses by nuggets"
        )
    is_judged = np.zeros(shape, dtype=np.bool_)
    judgements = judgements or Judgements(())
    names = [nugget.id for nugget in question.nuggets]
    for i, response in enumerate(responses):
        if values_by_nugget := judgements.about(question.id, response.normal, run_tag):
            columns = [j for j, name in enumerate(names) if name in values_by_nugget]
            values[i, columns] = [values_by_nugget[names[j]] for j in columns]
            is_judged[i, columns] = True
    if not judgements.has_ties:
        return AnswerDecisions(values, is_judged, unjudged_source=source)
    ties = {
        (i, j): judgements.tie(question.id, name, response.normal, run_tag)
        for i, response in enumerate(responses)
        for j, name in enumerate(names)
    }
    tied = {pair: sides for pair, sides in ties.items() if sides}
    return AnswerDecisions(values, is_judged, tied, source)


def decide_run(
    run: Run,
    key: NuggetKey,
    judgements: Judgements | None = None,
    guess: PredictAnswer | None = None,
    progress: Progress = silent,
    *,
    run_tag: str | None = None,
    source: str = GUESS,
) -> Mapping[str, AnswerDecisions]:
    """Return the decisions on every question of the key; `run_tag`, `source` as in `decide`."""
    decisions = {}
    for done, (id, question) in enumerate(key.questions.items(), 1):
        decisions[id] = decide(question, run.responses(id), judgements, guess, run_tag, source)
        progress(done, len(key), f"deciding {run.tag}")
    return decisions
