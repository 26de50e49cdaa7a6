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

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_DECLARED: dict[str, dict[str, Any]] = {}
"""Entries of programs and apps, by kind; see `karat.apps`."""
_REGISTRIES: dict[str, Registry[Any]] = {}
"""The registries that were made, by kind."""
_ORIGINS: dict[int, str] = {}
"""Package and version of what came from an entry point, by its id."""


def declared(kind: str) -> dict[str, Any]:
    """Return the names of a kind that apps and programs added."""
    if kind not in _DECLARED:
        _DECLARED[kind] = dict(load("karat.apps:DECLARED").get(kind, {}))
    return _DECLARED[kind]


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
        _REGISTRIES[kind] = self

    def known(self) -> dict[str, T | str]:
        """Return the entries of Karat, its apps and this program: no entry point is read."""
        return {**self._entries, **declared(self.kind), **self._entries}  # ours always win

    def check_new(self, name: str, thing: T) -> None:
        """Refuse a name that stands for something else, and what is no such thing."""
        taken = self.known().get(self.name(name) or name, thing)
        if taken is not thing:
            raise InputError(f"{self.kind}: {name} is registered already: choose another name")
        self._check(name, thing)

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
            from karat.settings import nearest

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
        except (Exception, SystemExit) as error:  # whatever another package does
            raise InputError(
                f"{self.one} {name} of the package {package} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._check(name, found)
        _ORIGINS[id(found)] = package  # what is loaded stays: no other object gets its id
        return found


@cache
def _entry_points(kind: str) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"karat.{kind}"):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            both = " and ".join(sorted(str(p.dist and p.dist.name) for p in (point, other)))
            raise InputError(f"{kind}: {point.name} is in two packages, {both}: uninstall one")
    return found


def plugins() -> list[str]:
    """Return the packages whose things are in use."""
    return sorted(set(_ORIGINS.values()))


KINDS = {
    "metrics": "karat.metrics.names",
    "statistics": "karat.stats.correlation",
    "levels": "karat.meta.views",
    "formats": "karat.evalset.loading",
    "text_formats": "karat.evalset.aligned_texts",
    "tokenizers": "karat.text.tokenizers",
    "stemmers": "karat.text.stemmers",
    "renderers": "karat.report.render.renderers",
}
"""Kinds of the core that others can add to -> the module of their registry; apps declare theirs."""


def register(thing: T, kind: str | None = None, name: str | None = None) -> T:
    """Make something of a program known by its name; a decorator for metrics.

    `kind` is that of the registry, such as `statistics` or `stemmers`; metrics know theirs.
    """
    kind = kind or getattr(thing, "kind", None)
    name = name or getattr(thing, "name", None) or getattr(thing, "__name__", None)
    if not (isinstance(kind, str) and isinstance(name, str)):
        raise InputError(f"{quoted(thing)} cannot be registered: give its kind and its name")
    kinds = {**KINDS, **declared("kinds")}
    if kind not in kinds:
        raise InputError(f"kind {quoted(kind)}: expected one of {', '.join(kinds)}")
    import_module(kinds[kind])
    registry = _REGISTRIES.get(kind)
    if registry is not None:
        registry.check_new(name, thing)
    declared(kind)[name] = thing
    return thing


def origin(thing: Any) -> str:
    """Return `package@version` of something that is not Karat's; an empty string for Karat's."""
    module = str(getattr(thing, "__module__", None) or "builtins")
    if id(thing) in _ORIGINS or module.partition(".")[0] == "karat":
        return _ORIGINS.get(id(thing), "")
    return module
