"""The agenda of an assessor: what is asked next, in view of all answers so far.

An answer about a nugget changes what the other responses to the question are worth asking about,
for that nugget alone: if a run has it, they do not matter to the run. So only one column of one
table is made anew after an answer, and the best pair of every column is remembered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from karat.arrays import np
from karat.nuggets.judging.asking import Ask, Probabilities, topics
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent


class Listed:
    """Asks in a given order, whatever the answers are."""

    def __init__(self, asks: Iterable[Ask]) -> None:
        self._waiting = deque(asks)

    def __len__(self) -> int:
        return len(self._waiting)

    def first(self) -> Ask | None:
        """Return the pair to ask about; None at the end."""
        return self._waiting[0] if self._waiting else None

    def answer(self, value: float) -> None:
        """Note that the first was answered."""
        self._waiting.popleft()

    def skip(self) -> None:
        """Put the first off to the end."""
        self._waiting.rotate(-1)

    def take_back(self, ask: Ask, skipped: bool) -> None:
        """Make what was answered or skipped last the first again."""
        if skipped:
            self._waiting.rotate(1)
        else:
            self._waiting.appendleft(ask)


class _Place(NamedTuple):
    """A pair: its question, response and nugget, as numbers."""

    topic: int
    row: int
    nugget: int


class Agenda:
    """The undecided pairs, the most useful first; the order follows the answers.

    With `likely`, instead those whose probability is at least that, question by question, the most
    probable first; answers do not change that. If `strict`, support in part is none.
    """

    def __init__(
        self,
        nuggets: NuggetSet,
        probabilities: Probabilities,
        *,
        likely: float | None = None,
        strict: bool = False,
        progress: Progress = silent,
    ) -> None:
        self._likely = likely
        self._topics = topics(nuggets, probabilities, progress, strict)
        least = -1.0 if likely is None else likely
        self._waits = [topic.open & (topic.p >= least) for topic in self._topics]
        self._count = sum(int(table.sum()) for table in self._waits)
        self._best: dict[tuple[int, int], tuple[float, int]] = {}
        self._front: list[_Place] = []
        self._later: deque[_Place] = deque()
        self._done: list[_Place] = []
        self._now: tuple[_Place, Ask] | None = None
        for t, topic in enumerate(self._topics):
            for nugget in range(len(topic.question.nuggets)):
                self._rank(t, nugget)

    def _rank(self, topic: int, nugget: int) -> None:
        """Find the best response of a column; of equals the first."""
        waits = self._waits[topic][:, nugget]
        self._best.pop((topic, nugget), None)
        if waits.any():
            one = self._topics[topic]
            ranked = one.use(nugget) if self._likely is None else one.p[:, nugget]
            values = np.where(waits, ranked, -1.0)
            row = int(values.argmax())
            self._best[topic, nugget] = float(values[row]), row

    def __len__(self) -> int:
        return self._count

    def first(self) -> Ask | None:
        """Return the pair to ask about; None at the end."""
        if self._now is None and self._count:
            place = self._next()
            topic = self._topics[place.topic]
            use = float(topic.use(place.nugget)[place.row])
            self._now = place, topic.ask(place.row, place.nugget, use)
        return self._now[1] if self._now else None

    def _next(self) -> _Place:
        """Return what was taken back; else the best of all columns; what was skipped last."""
        if self._front:
            return self._front[-1]
        if self._best:
            topic, nugget = min(self._best, key=self._turn)
            return _Place(topic, self._best[topic, nugget][1], nugget)
        return self._later[0]

    def _turn(self, column: tuple[int, int]) -> tuple[float, float, int, int]:
        """Return the rank of a column: by its best pair; of equals in the order of the key."""
        (topic, nugget), (value, row) = column, self._best[column]
        first, second = (-value, topic) if self._likely is None else (topic, -value)
        return first, second, row, nugget

    def answer(self, value: float) -> None:
        """Note that the first was answered."""
        place = self._leave()
        self._topics[place.topic].known[place.row, place.nugget] = value
        self._count -= 1
        self._done.append(place)
        self._rank(place.topic, place.nugget)

    def skip(self) -> None:
        """Put the first off to the end."""
        place = self._leave()
        self._later.append(place)
        self._rank(place.topic, place.nugget)

    def _leave(self) -> _Place:
        """Take the first from where it waits."""
        place = self._now[0] if self._now else self._next()
        self._now = None
        if self._front:
            self._front.pop()
        elif not self._best:
            self._later.popleft()
        self._waits[place.topic][place.row, place.nugget] = False
        return place

    def take_back(self, ask: Ask, skipped: bool) -> None:
        """Make what was answered or skipped last the first again."""
        self._now = None
        if skipped:
            self._front.append(self._later.pop())
            return
        place = self._done.pop()
        self._topics[place.topic].known[place.row, place.nugget] = np.nan
        self._count += 1
        self._front.append(place)
        self._rank(place.topic, place.nugget)


Order: TypeAlias = Listed | Agenda
"""The order of a session."""
