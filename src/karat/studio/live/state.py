"""The current answers of a store in memory, brought up to date by what was added since.

Texts are kept for nuggets only, whose judgements are known by the words of responses. Results are
kept until a judgement or a decision is added or the state changes. Before the reveal systems have
pseudonyms.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from karat.studio.export.contents import (
    ANSWERS,
    Contents,
    Item,
    Output,
    decisions_in,
    draws_in,
    items_in,
    mask_systems,
    names_in,
    nuggets_in,
    outputs_in,
    parse_answers,
)
from karat.studio.store.projects import REVEALED, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS
from karat.studio.tasks.task import CurrentAnswer

T = TypeVar("T")


ESTIMATES_EVENT = "estimates"
"""The event of an owner who asked for estimates before the reveal."""


class Version(NamedTuple):
    """The version of a store: results of one version do not differ."""

    judgement: int
    """The newest row."""
    adjudication: int
    key_edit: int
    state: str
    has_asked: bool
    """Whether an owner has asked for estimates."""


class _Texts(NamedTuple):
    """Texts, of which only the key changes after the import."""

    items: Mapping[int, Item]
    outputs: Mapping[int, Output]
    nuggets: Mapping[int, Any]


@dataclass
class LiveState:
    """Answers and results of a store so far."""

    texts: _Texts | None = None
    revealed: bool = False
    """Whether the outputs of `texts` have the names of their systems."""
    newest: int = 0
    edits: int = 0
    """Edits of the key that texts and answers take into account."""
    answers: dict[int, CurrentAnswer] = field(default_factory=dict)
    """Assignment -> its current answer."""
    newest_contents: tuple[Version, Contents] | None = None
    results: dict[str, tuple[Version, Any]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def catch_up(self, connection: StoreConnection) -> None:
        """Take the answers of all assignments with new rows."""
        newest = connection.value("SELECT coalesce(max(id), 0) FROM judgement")
        if newest == self.newest:
            return
        changed = "SELECT assignment FROM judgement WHERE id > ?"
        if self.newest:
            for (id,) in connection.rows(changed, self.newest):
                self.answers.pop(id, None)
        rows = connection.rows(
            f"{ANSWERS.replace('SELECT', 'SELECT a.id,', 1)} AND a.id IN ({changed})", self.newest
        )
        answers = parse_answers(connection, [row[1:] for row in rows])
        self.answers.update((row[0], answer) for row, answer in zip(rows, answers, strict=True))
        self.newest = newest

    def _start_over(self, connection: StoreConnection) -> None:
        """Forget texts and answers where the key was edited: edits are rare."""
        edits = connection.value("SELECT count(*) FROM key_edit")
        if edits != self.edits:
            self.texts, self.newest, self.edits = None, 0, edits
            self.answers.clear()

    def contents(self, connection: StoreConnection, version: Version) -> Contents:
        """Return the store as it is now, with pseudonyms, and texts only where needed."""
        if self.newest_contents is None or self.newest_contents[0] != version:
            self.newest_contents = version, self._read(connection)
        return self.newest_contents[1]

    def _read(self, connection: StoreConnection) -> Contents:
        project = project_in(connection)
        self._start_over(connection)
        revealed = project.state == REVEALED
        if self.texts is None or revealed != self.revealed:
            needs_texts = project.settings.has(NUGGETS)
            outputs: Mapping[int, Output] = outputs_in(connection, texts=needs_texts)
            outputs = outputs if revealed else mask_systems(outputs, project)
            self.texts = _Texts(items_in(connection), outputs, nuggets_in(connection))
            self.revealed = revealed
        self.catch_up(connection)
        answers = tuple(self.answers.values())
        return Contents(
            project,
            *self.texts,
            draws=draws_in(connection),
            names=names_in(connection, True),
            answers=answers,
            decisions=decisions_in(connection),
        )


_STATES: WeakKeyDictionary[Store, LiveState] = WeakKeyDictionary()
_STATES_LOCK = threading.Lock()


def get_state(store: Store) -> LiveState:
    """Return the state of an open store."""
    with _STATES_LOCK:
        return _STATES.setdefault(store, LiveState())


def read_version(connection: StoreConnection) -> Version:
    """Return the version of a store."""
    names = ("judgement", "adjudication", "key_edit")
    ids = ", ".join(f"(SELECT coalesce(max(id), 0) FROM {name})" for name in names)
    row = connection.row(
        f"SELECT {ids}, (SELECT state FROM project), EXISTS (SELECT 1 FROM event WHERE what = ?)",
        ESTIMATES_EVENT,
    )
    return Version._make((*row[:4], bool(row[4])))


def remember(store: Store, name: str, compute: Callable[[Contents], T]) -> T:
    """Return a result, computed once for each version of the store, by one thread at a time."""
    state = get_state(store)
    with state.lock, store.read() as connection:
        version = read_version(connection)
        cached = state.results.get(name)
        if cached is None or cached[0] != version:
            cached = version, compute(state.contents(connection, version))
            state.results[name] = cached
        result: T = cached[1]
        return result
