"""Questions to an assessor: the undecided pairs whose answers would tell most about the score.

A run has a nugget if any of its responses carries it. Let p be the probability that one of them
does, q that no other response of the run does, and w what the nugget weighs in the run's recall.
Having the nugget or not adds v = w^2 r (1 - r) to the variance of that recall, r = 1 - (1 - p) q;
an answer "yes" leaves none of it, a "no" leaves w^2 q (1 - q), so that on average it takes

    v - (1 - p) w^2 q (1 - q)  =  w^2 p (1 - p) q^2

off. A response that several runs submitted is worth the sum over them, and is asked about once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.nuggets.sets.judgements import PARTIAL, SUPPORT
from karat.nuggets.sets.keys import Nugget, Question
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, Run
from karat.progress import Progress, silent

Probabilities: TypeAlias = Callable[[Question, Sequence[Response]], Floats]
"""From a question and responses to the probability that each response carries each nugget.

This is where a classifier is plugged in.
"""

OKAY = 0.1
"""Weight of an okay nugget beside a vital one: it adds to the allowance alone."""


class Ask(NamedTuple):
    """A response and a nugget that nobody has judged."""

    question: Question
    nugget: Nugget
    response: Response
    run: str
    """The first run that submitted it."""
    p: float
    use: float
    """Amount that the answer would take off the variance of the runs' scores."""


class Topic:
    """The distinct responses to a question, what is known of them, and what answers are of use.

    Tables are responses x nuggets; rows stand in the order of the runs and of their responses. If
    `strict`, support in part is none.
    """

    def __init__(
        self, nuggets: NuggetSet, question: Question, probabilities: Probabilities, strict: bool
    ) -> None:
        self.question = question
        self._least = SUPPORT if strict else PARTIAL
        self.responses: list[Response] = []
        self.tags: list[str] = []
        self._runs: list[Ints] = []
        self._gather(nuggets.runs.values())
        shape = len(self.responses), len(question.nuggets)
        self.p: Floats = np.zeros(shape)
        if self.responses:
            self.p = np.asarray(probabilities(question, self.responses), dtype=np.float64)
        if self.p.shape != shape or not ((self.p >= 0) & (self.p <= 1)).all():
            raise InputError(
                f"found probabilities of the shape {self.p.shape} for question {question.id}, "
                f"expected {shape}, responses by nuggets, each from 0 to 1"
            )
        self.known: Floats = np.full(shape, np.nan)
        columns = {nugget.id: j for j, nugget in enumerate(question.nuggets)}
        for i, response in enumerate(self.responses):
            said = nuggets.judgements.of_response.get((question.id, response.normal), {})
            for nugget in said.keys() & columns.keys():
                self.known[i, columns[nugget]] = said[nugget]
        self._weights = weight(question)

    def _gather(self, runs: Iterable[Run]) -> None:
        """Each response once, under the first run that has it; and the rows of every run."""
        rows: dict[str, int] = {}
        for run in runs:
            # No words at all carry nothing, and are not asked about.
            said = [one for one in run.responses(self.question.id) if one.normal]
            for response in said:
                if response.normal not in rows:
                    rows[response.normal] = len(rows)
                    self.responses.append(response)
                    self.tags.append(run.tag)
            mine = dict.fromkeys(rows[one.normal] for one in said)
            self._runs.append(np.array([*mine], dtype=np.int64))

    @property
    def open(self) -> Flags:
        """The pairs that nobody has judged."""
        return np.isnan(self.known)

    def use(self, nugget: int) -> Floats:
        """Return what an answer about each response and this nugget takes off the variance."""
        p, known = self.p[:, nugget], self.known[:, nugget]
        decided = np.where(np.isnan(known), p, (known >= self._least).astype(np.float64))
        found = np.zeros(len(p))
        for rows in self._runs:
            found[rows] += none_of_the_others(decided[rows]) ** 2
        weight = self._weights[nugget]
        return np.asarray(weight * weight * p * (1 - p) * found)

    def ask(self, row: int, nugget: int, use: float) -> Ask:
        """A pair as it is asked about."""
        which, p = self.question.nuggets[nugget], float(self.p[row, nugget])
        return Ask(self.question, which, self.responses[row], self.tags[row], p, use)


def topics(
    nuggets: NuggetSet, probabilities: Probabilities, progress: Progress, strict: bool = False
) -> list[Topic]:
    """All questions of a key."""
    found = []
    for done, question in enumerate(nuggets.key.questions.values(), 1):
        found.append(Topic(nuggets, question, probabilities, strict))
        progress(done, len(nuggets.key), "looking for pairs")
    return found


def queue(
    nuggets: NuggetSet,
    probabilities: Probabilities,
    *,
    likely: float | None = None,
    progress: Progress = silent,
) -> list[Ask]:
    """The undecided pairs, the most useful first; of equals in the order of the key.

    With `likely`, instead those whose probability is at least that, the most probable first within
    each question: a low threshold for correcting guesses. This is the order before any answer;
    `agenda.Agenda` keeps it up to date, and makes no list of all pairs.
    """
    found: list[Ask] = []
    for topic in topics(nuggets, probabilities, progress):
        uses = [topic.use(j) for j in range(len(topic.question.nuggets))]
        pairs = np.argwhere(topic.open).tolist()
        asks = [topic.ask(row, nugget, float(uses[nugget][row])) for row, nugget in pairs]
        if likely is not None:
            asks = sorted((ask for ask in asks if ask.p >= likely), key=lambda ask: -ask.p)
        found += asks
    return found if likely is not None else sorted(found, key=lambda ask: -ask.use)


def disputed(nuggets: NuggetSet, probabilities: Probabilities, **how: Any) -> list[Ask]:
    """The pairs on which judges contradict each other, in the order of `queue`; `how` as there."""
    words = {one.rows[0].words for one in nuggets.judgements.disputes}
    others = (row for row in nuggets.judgements.rows if row.words not in words)
    rest = replace(nuggets, judgements=nuggets.judgements.with_rows(others))
    asks = queue(rest, probabilities, **how)
    return [a for a in asks if (a.question.id, a.nugget.id, a.response.normal) in words]


def none_of_the_others(p: Floats) -> Floats:
    """q: for each row the product of 1 - p over the other rows."""
    before, after = np.ones((2, len(p) + 1, *p.shape[1:]))
    np.cumprod(1 - p, axis=0, out=before[1:])
    np.cumprod(1 - p[::-1], axis=0, out=after[1:])
    return np.asarray(before[:-1] * after[-2::-1])


def weight(question: Question) -> Floats:
    """w: what each nugget adds to recall; nothing where no nugget is vital, and nothing scored."""
    vital = np.array([nugget.vital for nugget in question.nuggets], dtype=np.bool_)
    if not vital.any():
        return np.zeros(len(vital))
    return np.where(vital, 1.0, OKAY) / int(vital.sum())
