"""Engines: who works on the pieces of a table, this process or a cluster.

An engine gives every piece to a function of an installed package and hands back what it returns,
in any order. A piece may be worked on twice, after a worker died: its result is the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Protocol, TypeVar

from karat.arrow.pieces import Piece
from karat.errors import InputError
from karat.progress import Stop, map_in_order, n_threads
from karat.registry import Registry
from karat.settings import NamedSettings, parse_setting, parse_settings, setting

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


Report = Callable[[int], None]
"""Told how many more rows are done."""


class Work(Protocol[T_co]):
    """The work on one piece.

    In this process it may use `threads`, looks at `stop`, and tells `report` how many rows it did.
    """

    def __call__(
        self,
        piece: Piece,
        threads: int = 1,
        stop: Stop | None = None,
        report: Report | None = None,
    ) -> T_co: ...


class Engine(NamedSettings):
    """A way to run work on pieces: a value with settings, such as `dask:workers=4`."""

    kind: ClassVar[str] = "engines"

    @classmethod
    def parse(cls, text: str) -> Engine:
        """Return the engine that `name:setting=value,…` describes."""
        return parse_settings(cls, text)

    def with_options(self, options: Mapping[str, str]) -> Engine:
        """Return the engine with other settings, given as texts, which may hold commas."""
        texts = {key: str(value) for key, value in options.items()}
        given = {key: parse_setting(type(self), self.name, key, texts[key]) for key in texts}
        return replace(self, **given)

    @abstractmethod
    def running(self, pieces: int) -> AbstractContextManager[Runner]:
        """Start, or connect to, whatever does the work on so many pieces; stop it at the end.

        Raises InputError in a few seconds if an address does not answer, and MissingExtra if a
        package is not installed.
        """


class Runner(Protocol):
    """An engine that has been started."""

    def run(
        self, work: Work[T], pieces: Sequence[Piece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield the place of each piece and the result of its work, as they are done, each once.

        `report` is told of rows in mid-piece by runners that can see them. What is
        thrown into or raised by the loop over it (Ctrl-C) stops the work.
        """


@dataclass(frozen=True)
class Local(Engine):
    """The threads of this process."""

    name: ClassVar[str] = "local"
    threads: int | None = setting(
        None, "Threads; by default one for each processor.", kind=int, low=1
    )

    @contextmanager
    def running(self, pieces: int) -> Iterator[LocalRunner]:
        """Run in this process."""
        yield LocalRunner(n_threads(self.threads))


class LocalRunner:
    """Threads of this process: a piece each where there are many, else all on one piece."""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def run(
        self, work: Work[T], pieces: Sequence[Piece], report: Report | None = None
    ) -> Iterator[tuple[int, T]]:
        """Yield the results in the order of the pieces."""
        stop = Stop()
        if len(pieces) < 2 * self._threads or self._threads == 1:
            for at, piece in enumerate(pieces):
                yield at, work(piece, self._threads, stop, report)
            return
        yield from enumerate(map_in_order(partial(work, stop=stop), pieces, self._threads, stop))


ENGINES: Registry[type[Engine]] = Registry(
    "engines", "engine", {"local": "karat.arrow.engines:Local"}
)
"""Name -> engine; apps add clusters."""


def as_engine(given: str | Engine, options: Mapping[str, str] | None = None) -> Engine:
    """Return an engine by its name with settings; `options` are more of them, as texts.

    Each engine reads its own options: Spark takes any `spark.*` among them.
    """
    if not isinstance(given, str | Engine):
        raise InputError(f"engine {given!r}: expected a name, such as {', '.join(ENGINES)}")
    try:
        if isinstance(given, Engine):
            found = given
        else:
            found = ENGINES[given.partition(":")[0].strip()].parse(given)
        return found.with_options(options or {})
    except InputError as error:
        told = str(error)
        raise type(error)(told if told.startswith("engine ") else f"engine {told}") from error
