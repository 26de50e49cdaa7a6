"""Contents of a store in memory: texts, current answers and decisions, kept up to date.

Calibration items are left out: they are not outputs of systems. Outputs are in set order, which
follows from the seed of the project. Results are computed once for each version of a store.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from karat.evalset.draws import Draw
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.studio.store.draws import draw_probability, shuffled_ids
from karat.studio.store.projects import REVEALED, Project, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, TASKS
from karat.studio.tasks.task import CurrentAnswer, CurrentDecision, Task

T = TypeVar("T")


class Item(NamedTuple):
    """A segment or question."""

    id: int
    segment: str
    group: str | None
    source: str | None
    references: tuple[str, ...]


class Output(NamedTuple):
    """An output of a system."""

    id: int
    item: int
    system: str
    text: str


@dataclass(frozen=True)
class Contents:
    """Contents of one state of a store."""

    project: Project
    items: Mapping[int, Item]
    outputs: Mapping[int, Output]
    nuggets: Mapping[int, tuple[Nugget, ...]]
    """The nuggets of each item."""
    draws: tuple[Draw, ...]
    names: Mapping[int, str]
    """Assessors, or their pseudonyms."""
    answers: tuple[CurrentAnswer, ...]
    decisions: tuple[CurrentDecision, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in set order."""
        return tuple(dict.fromkeys(output.system for output in self.outputs.values()))

    def segment(self, output: int) -> str:
        """Return the segment of an output."""
        return self.items[self.outputs[output].item].segment

    def answers_to(self, task: Task) -> Iterator[CurrentAnswer]:
        """Yield the answers of one task."""
        return (answer for answer in self.answers if answer.task == task.name)

    def decisions_on(self, task: Task) -> Iterator[CurrentDecision]:
        """Yield the decisions of one task."""
        return (decision for decision in self.decisions if decision.task == task.name)

    @property
    def decider(self) -> str:
        """The judge of adjudicated values; differs from all names of assessors."""
        name, names = "adjudicated", {*self.names.values()}
        while name in names:
            name += "*"
        return name


def read_contents(store: Store, anonymous: bool = False) -> Contents:
    """Read a store; `anonymous` gives pseudonyms instead of the names of assessors."""
    with store.read() as connection:
        return contents_in(connection, anonymous)


def contents_in(connection: StoreConnection, anonymous: bool) -> Contents:
    """Read a store within a transaction."""
    return Contents(
        project_in(connection),
        items_in(connection),
        outputs_in(connection),
        _nuggets_in(connection),
        _draws_in(connection),
        _names_in(connection, anonymous),
        _parse_answers(connection, connection.rows(_ANSWERS + " ORDER BY j.id")),
        _decisions_in(connection),
    )


def read_item(store: Store, item: int) -> Contents:
    """Read the answers and decisions on one item, with pseudonyms and without its outputs."""
    with store.read() as connection:
        rows = connection.rows(_ANSWERS + " AND a.item = ? ORDER BY j.id", item)
        return Contents(
            project_in(connection),
            items_in(connection, item),
            outputs={},
            nuggets={},
            draws=(),
            names=_names_in(connection, anonymous=True),
            answers=_parse_answers(connection, rows),
            decisions=tuple(row for row in _decisions_in(connection) if row.item == item),
        )


def pseudonym(assessor: int) -> str:
    """Return the pseudonym of an assessor, which is fixed in a store."""
    return f"assessor-{assessor}"


def _names_in(connection: StoreConnection, anonymous: bool) -> dict[int, str]:
    rows = connection.rows("SELECT id, name FROM assessor ORDER BY id")
    return {id: pseudonym(id) if anonymous else name for id, name in rows}


def items_in(connection: StoreConnection, item: int | None = None) -> dict[int, Item]:
    """Return the items by id, in set order; or only one item."""
    rows = connection.rows(
        "SELECT id, segment, grp, source, refs FROM item WHERE NOT calibration "
        "AND id = coalesce(?, id) ORDER BY ord, id",
        item,
    )
    return {row[0]: Item._make((*row[:4], tuple(json.loads(row[4])))) for row in rows}


def outputs_in(connection: StoreConnection, texts: bool = True) -> dict[int, Output]:
    """Return the outputs by id, in set order; texts are empty unless requested."""
    order = connection.row("SELECT (SELECT count(*) FROM output), seed, set_digest FROM project")
    rows = connection.execute(
        f"SELECT output.id, item, system, {'text' if texts else repr('')} FROM output "
        "JOIN item ON item.id = item WHERE NOT calibration"
    )
    outputs = {row[0]: Output(*row) for row in rows}
    return {id: outputs[id] for id in shuffled_ids(*order) if id in outputs}


def _nuggets_in(connection: StoreConnection) -> dict[int, tuple[Nugget, ...]]:
    rows = connection.execute(
        "SELECT item, nugget, importance, descriptions FROM nugget WHERE NOT dropped "
        "ORDER BY item, coalesce(ord, id), id"
    )
    by_item: dict[int, tuple[Nugget, ...]] = {}
    for item, id, importance, texts in rows:
        entry = Nugget(id, tuple(json.loads(texts)), importance == "vital")
        by_item[item] = (*by_item.get(item, ()), entry)
    return by_item


_ANSWERS = (
    "SELECT j.id, j.uuid, j.assessor, a.task, a.item, a.outputs, j.value, j.ms, j.time, a.reason, "
    "a.probability, a.id FROM assignment a JOIN judgement j ON j.id = a.judged "
    "JOIN item ON item.id = a.item WHERE NOT calibration"
)


def _parse_answers(
    connection: StoreConnection, rows: Iterable[tuple[Any, ...]]
) -> tuple[CurrentAnswer, ...]:
    """Return the answers in rows of `_ANSWERS`, without labels of dropped nuggets."""
    dropped: dict[int, set[str]] = {}
    for item, nugget in connection.execute("SELECT item, nugget FROM nugget WHERE dropped"):
        dropped.setdefault(item, set()).add(nugget)
    answers = []
    for row in rows:
        outputs, value = tuple(json.loads(row[5])), json.loads(row[6])
        answer = CurrentAnswer._make((*row[:5], outputs, value, *row[7:11]))
        if answer.item in dropped:
            value = TASKS[answer.task].without_nuggets(value, dropped[answer.item])
        answers.append(answer._replace(value=value))
    return tuple(answers)


def _decisions_in(connection: StoreConnection) -> tuple[CurrentDecision, ...]:
    """Return the decisions in force."""
    rows = connection.execute(
        "SELECT d.id, uuid, task, item, output, about, value, assessor, time FROM adjudication d "
        "JOIN item ON item.id = item WHERE value IS NOT NULL AND NOT calibration AND d.id NOT IN "
        "(SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL) AND NOT "
        f"(task = '{NUGGETS.name}' AND EXISTS (SELECT 1 FROM nugget n WHERE n.item = d.item "
        "AND nugget = about AND dropped)) ORDER BY d.id"
    )
    return tuple(CurrentDecision._make((*row[:6], json.loads(row[6]), *row[7:])) for row in rows)


def _draws_in(connection: StoreConnection) -> tuple[Draw, ...]:
    """Return the draws of the items with an answer or a decision.

    Assessors judge the units of a round in random order, so the judged part of an unfinished round
    is random, too: the probability is that of the draw times the judged share of the round.
    """
    units = dict(connection.rows("SELECT round, count(*) FROM unit GROUP BY round"))
    labelled = connection.rows(
        "SELECT DISTINCT unit, item, round FROM assignment WHERE judged IS NOT NULL"
    )
    done = Counter(round for _, _, round in labelled)
    items = {item for _, item, _ in labelled} | {row.item for row in _decisions_in(connection)}
    rows = connection.execute(
        "SELECT item.id, segment, probability, reason, round FROM draw "
        "JOIN item ON item.id = item ORDER BY round, item.ord, item.id"
    )
    draws = []
    for item, segment, share, reason, round in rows:
        if item in items:
            probability = draw_probability(share * max(done[round], 1) / units[round], reason)
            draws.append(Draw(segment, probability, reason, round))
    return tuple(draws)


def pseudonyms(systems: Iterable[str], project: Project) -> dict[str, str]:
    """Return pseudonyms (`system 1`, ...) in an order unrelated to the set or the names."""

    def sort_key(system: str) -> bytes:
        """Return a hash of the name: the order looks random, but stays the same in a project."""
        return sha256(f"{project.seed}\n{project.set_digest}\n{system}".encode()).digest()

    ordered = sorted({*systems}, key=sort_key)
    width = len(str(len(ordered)))
    return {name: f"system {k:0{width}}" for k, name in enumerate(ordered, 1)}


def mask_systems(outputs: Mapping[int, Output], project: Project) -> dict[int, Output]:
    """Return outputs with pseudonyms of systems until the reveal, in the order of these."""
    if project.state == REVEALED:
        return dict(outputs)
    new_names = pseudonyms((output.system for output in outputs.values()), project)
    renamed = [output._replace(system=new_names[output.system]) for output in outputs.values()]
    renamed.sort(key=lambda output: (output.system, output.item))
    return {output.id: output for output in renamed}


# The state of an open store

ESTIMATES_EVENT = "estimates"
"""Event: an owner asked for estimates before the reveal."""


class Version(NamedTuple):
    """The version of a store, which determines all results."""

    judgement: int
    """Id of the newest row."""
    adjudication: int
    key_edit: int
    state: str
    has_asked: bool
    """Whether an owner has asked for estimates."""


def read_version(connection: StoreConnection) -> Version:
    """Return the version of a store."""
    names = ("judgement", "adjudication", "key_edit")
    ids = ", ".join(f"(SELECT coalesce(max(id), 0) FROM {name})" for name in names)
    row = connection.row(
        f"SELECT {ids}, (SELECT state FROM project), EXISTS (SELECT 1 FROM event WHERE what = ?)",
        ESTIMATES_EVENT,
    )
    return Version._make((*row[:4], bool(row[4])))


@dataclass
class CachedResults:
    """Results computed from an open store, each with the version that it was computed from."""

    results: dict[str, tuple[Version | None, Any]] = field(default_factory=dict)

    def get(self, name: str, version: Version | None, compute: Callable[[], T]) -> T:
        """Return a result, computed unless it is known for the version."""
        if name not in self.results or self.results[name][0] != version:
            self.results[name] = version, compute()
        result: T = self.results[name][1]
        return result


@dataclass
class LiveState:
    """Answers of a store, updated incrementally.

    Texts are kept for nuggets only, whose judgements refer to the text of responses. Until the
    reveal systems have pseudonyms.
    """

    newest_judgement: int = 0
    """The newest judgement in `answers`."""
    n_edits: int = 0
    """Number of key edits applied to texts and answers."""
    answers: dict[int, CurrentAnswer] = field(default_factory=dict)
    """Assignment -> its current answer."""
    newest_contents: tuple[Version, Contents] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def contents(self, connection: StoreConnection, version: Version) -> Contents:
        """Return the current contents, with pseudonyms, and texts only if needed."""
        if self.newest_contents is None or self.newest_contents[0] != version:
            self.newest_contents = version, self._read(connection)
        return self.newest_contents[1]

    def _read(self, connection: StoreConnection) -> Contents:
        project = project_in(connection)
        earlier = None if self.newest_contents is None else self.newest_contents[1]
        n_edits = connection.value("SELECT count(*) FROM key_edit")
        if n_edits != self.n_edits:  # read everything again: edits are rare
            earlier, self.newest_judgement, self.n_edits = None, 0, n_edits
            self.answers.clear()
        newest = connection.value("SELECT coalesce(max(id), 0) FROM judgement")
        if newest != self.newest_judgement:  # update assignments with new rows
            changed = "SELECT assignment FROM judgement WHERE id > ?"
            if self.newest_judgement:
                for id in connection.column(changed, self.newest_judgement):
                    self.answers.pop(id, None)
            rows = connection.rows(f"{_ANSWERS} AND a.id IN ({changed})", self.newest_judgement)
            answers = _parse_answers(connection, rows)
            self.answers |= {row[-1]: answer for row, answer in zip(rows, answers, strict=True)}
            self.newest_judgement = newest
        if earlier and (earlier.project.state == REVEALED) == (project.state == REVEALED):
            items, outputs, nuggets = earlier.items, earlier.outputs, earlier.nuggets
        else:
            items, nuggets = items_in(connection), _nuggets_in(connection)
            outputs = outputs_in(connection, texts=project.settings.has(NUGGETS))
            outputs = mask_systems(outputs, project)
        return Contents(
            project,
            items,
            outputs,
            nuggets,
            draws=_draws_in(connection),
            names=_names_in(connection, anonymous=True),
            answers=tuple(self.answers.values()),
            decisions=_decisions_in(connection),
        )


def computed_once(compute: Callable[[Store, Contents], T]) -> Callable[[Store], T]:
    """Decorate a function to compute its result once per version, in one thread at a time."""

    @wraps(compute)
    def get_result(store: Store) -> T:
        state = store.companion(LiveState)
        with state.lock, store.read() as connection:
            version = read_version(connection)
            return store.companion(CachedResults).get(
                compute.__name__,
                version,
                lambda: compute(store, state.contents(connection, version)),
            )

    return get_result
