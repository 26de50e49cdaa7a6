"""Registries: one way to find everything that has a name.

    Registry("metrics", "metric", {"bleu": "karat.metrics.ngram:BLEU"})["bleu"]

An entry is a value, or `module:attribute`, which is loaded when it is asked for. A name is looked
for among the registry's own entries, then among those that apps and programs declared, then among
the entry points `karat.KIND` of installed packages. Entry points are read only when a name is
unknown or a list is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from karat.errors import InputError, quoted
from karat.settings import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_DECLARED: dict[str, dict[str, Any]] = {}
"""Entries of apps and programs, by kind."""
_ORIGINS: dict[Any, str] = {}
"""Package and version of what came from an entry point."""


def declare(kind: str, entries: Mapping[str, Any]) -> None:
    """Add names of a kind, as an app does."""
    _DECLARED.setdefault(kind, {}).update(entries)


def declared(kind: str) -> Mapping[str, Any]:
    """Return the names of a kind that apps and programs added."""
    return _DECLARED.get(kind, {})


def load(target: str) -> Any:
    """Return what `module:attribute` names."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


class Registry(Generic[T]):
    """The names of one kind, and what they stand for."""

    def __init__(
        self,
        kind: str,
        one: str,
        entries: Mapping[str, T | str],
        *,
        folded: Callable[[str], str] = str,
        check: Callable[[str, T], None] = lambda name, found: None,
    ) -> None:
        """`folded` makes names that count as equal equal; `check` refuses what is no such thing."""
        self.kind, self.one = kind, one
        self._entries: dict[str, T | str] = dict(entries)
        self._folded, self._check = folded, check

    def known(self) -> dict[str, T | str]:
        """Return the entries of Karat, its apps and this program: no entry point is read."""
        return {**self._entries, **declared(self.kind)}

    def names(self) -> list[str]:
        """Return all names, those of installed packages last."""
        return list({**self.known(), **_entry_points(self.kind)})

    def name(self, written: str) -> str | None:
        """Return the name as it is registered for what was written; None if there is none."""
        for names in (self.known, lambda: _entry_points(self.kind)):
            found = {self._folded(name): name for name in names()}.get(self._folded(written))
            if found is not None:
                return found
        return None

    def find(self, written: str) -> T | None:
        """Return what has that name; None if there is none."""
        name = self.name(written)
        if name is None:
            return None
        if name not in self.known():
            self._entries[name] = self._plugin(name)
            return cast(T, self._entries[name])
        found = self.known()[name]
        if isinstance(found, str):
            self._entries[name] = found = cast(T, load(found))
        elif name in declared(self.kind):
            self._check(name, found)
        return found

    def __getitem__(self, written: str) -> T:
        found = self.find(written)
        if found is None:
            names = self.names()
            expected = f"expected one of {', '.join(names)}{nearest(written, names)}"
            raise InputError(f"{self.one} {quoted(written)}: {expected}")
        return found

    def __contains__(self, written: str) -> bool:
        return self.name(written) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _plugin(self, name: str) -> T:
        """Load an entry point and remember where it came from."""
        point = _entry_points(self.kind)[name]
        package = f"{point.dist.name}@{point.dist.version}" if point.dist else point.value
        try:
            found: T = point.load()
        except Exception as error:  # whatever another package does
            raise InputError(
                f"{self.one} {name} of the package {package} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._check(name, found)
        _ORIGINS[found] = package
        return found


@cache
def _entry_points(kind: str) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"karat.{kind}")}


def register(thing: T, kind: str | None = None, name: str | None = None) -> T:
    """Make something of a program known by its name; a decorator for metrics.

    `kind` is that of the registry, such as `formats` or `stemmers`; metrics know theirs.
    """
    kind = kind or getattr(thing, "kind", None)
    name = name or getattr(thing, "name", None) or getattr(thing, "__name__", None)
    if not (isinstance(kind, str) and isinstance(name, str)):
        raise InputError(f"{quoted(thing)} cannot be registered: give its kind and its name")
    if declared(kind).get(name, thing) is not thing:
        raise InputError(f"{kind}: {name} is registered already: choose another name")
    declare(kind, {name: thing})
    return thing


def origin(thing: Any) -> str:
    """Return `package@version` of something that is not Karat's; an empty string for Karat's."""
    module = str(getattr(thing, "__module__", "karat"))
    if thing in _ORIGINS or module.partition(".")[0] == "karat":
        return _ORIGINS.get(thing, "")
    return _ORIGINS.setdefault(thing, module)
