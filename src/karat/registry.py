"""Registries: named things, found in Karat, its apps, the program and installed packages.

    Registry("metrics", "metric", {"bleu": "karat.metrics.ngram:BLEU"})["bleu"]

An entry is a value, or `module:attribute`, which is loaded on first use. A name is looked up among
the registry's own entries, then among the entries that apps and programs declared, then among the
entry points `karat.KIND` of installed packages. Entry points are read only for unknown names and
for lists of all names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from karat.errors import InputError, KaratError, quoted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_DECLARED: dict[str, dict[str, Any]] = {}
"""Entries of programs and apps, by kind; see `karat.apps`."""
_ORIGINS: dict[int, str] = {}
"""Id of an object from an entry point -> its package and version."""


def declared(kind: str) -> dict[str, Any]:
    """Return the names of a kind that apps and programs added."""
    if kind not in _DECLARED:
        _DECLARED[kind] = dict(load("karat.apps:DECLARED").get(kind, {}))
    return _DECLARED[kind]


def load(target: Any) -> Any:
    """Return the object that `module:attribute` names; other values are returned unchanged."""
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


Check = Callable[[str, Any], None]


def make_check(fits: Callable[[Any], bool], singular: str, expected: str) -> Check:
    """Return the check of a registry: reject values for which `fits` is false."""

    def check(name: str, value: Any) -> None:
        if not fits(value):
            raise InputError(f"{singular} {name}: found {quoted(value)}, expected {expected}")

    return check


class Registry(Generic[T]):
    """Things of one kind by name."""

    def __init__(
        self,
        kind: str,
        singular: str,
        entries: Mapping[str, T | str],
        *,
        folded: Callable[[str], str] = str,
        check: Check = lambda name, value: None,
    ) -> None:
        """`folded` normalises names before they are compared; `check` rejects unsuitable values."""
        self.kind, self.singular = kind, singular
        self._entries: dict[str, T | str] = dict(entries)
        self._first = tuple(entries)
        self._folded, self._check = folded, check

    def entries(self) -> dict[str, T | str]:
        """Return the entries of Karat, its apps and this program: no entry point is read."""
        built_in = {name: self._entries[name] for name in self._first}
        # Built-in entries win. Loaded entries keep the position of their declaration.
        return {**built_in, **declared(self.kind), **self._entries}

    def add(self, name: str, value: T) -> None:
        """Add an entry of this program, if its name is free and its value of the right kind."""
        if self.entries().get(self.name(name) or name, value) is not value:
            raise InputError(f"{self.kind}: {name} is registered already: choose another name")
        self._check(name, value)
        declared(self.kind)[name] = value

    def names(self) -> list[str]:
        """Return all names; names of installed packages come last."""
        return list({**self.entries(), **_entry_points(self.kind)})

    def usable(self, broken: list[str] | None = None) -> Iterator[tuple[str, T]]:
        """Yield all entries that can be loaded, by name; append messages on others to `broken`.

        Entry points are read last.
        """
        seen_names: set[str] = set()
        for names in (self.entries, self.names):
            for name in [name for name in names() if name not in seen_names]:
                seen_names.add(name)
                try:
                    yield name, self[name]
                except InputError as error:  # a broken plug-in; the others can still be used
                    if broken is not None:
                        broken.append(str(error))

    def name(self, written: str) -> str | None:
        """Return the registered spelling of a name; None if it is unknown."""
        if not isinstance(written, str):
            return None
        for names in (self.entries, lambda: _entry_points(self.kind)):
            match = {self._folded(name): name for name in names()}.get(self._folded(written))
            if match is not None:
                return match
        return None

    def find(self, written: str) -> T | None:
        """Return the entry of a name; None if it is unknown."""
        name = self.name(written)
        if name is None:
            return None
        value = self.entries().get(name)
        if value is None:
            self._entries[name] = value = self._plugin(name)
        elif isinstance(value, str):
            self._entries[name] = value = cast(T, load(value))
        elif name in declared(self.kind):
            self._check(name, value)
        return value

    def __getitem__(self, written: str) -> T:
        value = self.find(written)
        if value is None:
            from karat.settings import nearest

            names = self.names()
            expected = f"expected one of {', '.join(names)}{nearest(str(written), names)}"
            raise InputError(f"{self.singular} {quoted(written)}: {expected}")
        return value

    def __contains__(self, written: str) -> bool:
        return self.name(written) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _plugin(self, name: str) -> T:
        """Load an entry point and remember where it came from."""
        point, *duplicates = _entry_points(self.kind)[name]
        if duplicates:
            both = " and ".join(sorted(str(p.dist and p.dist.name) for p in (point, *duplicates)))
            raise InputError(f"{self.kind}: {name} is in two packages, {both}: uninstall one")
        package = f"{point.dist.name}@{point.dist.version}" if point.dist else point.value
        try:
            value: T = point.load()
        except (Exception, SystemExit) as error:  # plug-ins may raise anything
            problem = f"{self.singular} {name} of the package {package} cannot be loaded"
            raise InputError(f"{problem}: {type(error).__name__}: {error}") from error
        try:
            self._check(name, value)
        except InputError as error:
            raise type(error)(f"{error} (package {package})") from error
        _ORIGINS[id(value)] = package  # the object stays alive, so its id stays unique
        return value


@cache
def _entry_points(kind: str) -> Mapping[str, list[EntryPoint]]:
    """Return the entry points of a kind by name; several if packages conflict."""
    from importlib.metadata import entry_points

    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"karat.{kind}"):
        named_points = points.setdefault(point.name, [])
        if point.value not in (other.value for other in named_points):
            named_points.append(point)
    return points


def plugins() -> list[str]:
    """Return the packages whose plug-ins are in use."""
    return sorted(set(_ORIGINS.values()))


KINDS = {
    "metrics": "karat.metrics.names:METRICS",
    "statistics": "karat.stats.correlation:STATISTICS",
    "levels": "karat.meta.views:LEVELS",
    "groupings": "karat.meta.plane_study:GROUPINGS",
    "formats": "karat.evalset.loading:FORMATS",
    "engines": "karat.arrow.jobs:ENGINES",
    "table_formats": "karat.arrow.pieces:TABLE_FORMATS",
    "text_formats": "karat.evalset.aligned_texts:TEXT_FORMATS",
    "reproductions": "karat.reproduction.papers:REPRODUCTIONS",
    "sources": "karat.gating.items:SOURCES",
    "tokenizers": "karat.text.tokens:REGISTRY",
    "stemmers": "karat.text.tokens:stemmers",
    "renderers": "karat.report.render.renderers:RENDERERS",
}
"""Kind that plug-ins can extend -> its registry, or a function that returns it. Apps add kinds."""


def registry_of(kind: str) -> Registry[Any]:
    """Return the registry of a kind that plug-ins can extend."""
    kinds = {**KINDS, **declared("kinds")}
    if kind not in kinds:
        raise InputError(f"kind {quoted(kind)}: expected one of {', '.join(kinds)}")
    registry = load(kinds[kind])
    return registry if isinstance(registry, Registry) else cast(Registry[Any], registry())


def register(value: T, kind: str | None = None, name: str | None = None) -> T:
    """Register a thing under a name; a decorator for metrics.

    Args:
        value: metric, statistic, stemmer or another thing of a registry.
        kind: name of the registry, such as `statistics`; not needed for metrics.
        name: its name; by default that of the thing.
    """
    kind = kind or getattr(value, "kind", None)
    name = name or getattr(value, "name", None) or getattr(value, "__name__", None)
    if not (isinstance(kind, str) and isinstance(name, str)):
        raise InputError(f"{quoted(value)} cannot be registered: give its kind and its name")
    registry_of(kind).add(name, value)
    return value


def origin(value: Any) -> str:
    """Return `package@version` of a plug-in's object; an empty string for Karat's own."""
    module = str(getattr(value, "__module__", None) or "builtins")
    if id(value) in _ORIGINS or module.partition(".")[0] == "karat":
        return _ORIGINS.get(id(value), "")
    return module


def call(
    subject: str,
    owner: Any,
    function: Callable[[], T],
    problem: Callable[[T], str],
    error_type: type[InputError] = InputError,
) -> T:
    """Call a function of an object that may come from a plug-in.

    For a plug-in, failures and results with a `problem` become one sentence that names it.
    """
    if not origin(owner):
        return function()
    package = f" (package {_ORIGINS[id(owner)]})" if id(owner) in _ORIGINS else ""
    try:
        result = function()
    except KaratError:
        raise
    except (Exception, SystemExit) as error:  # plug-ins may raise anything
        failure = f"{type(error).__name__}: {error}"
        raise error_type(f"{subject} failed: {failure}{package}") from error
    if wrong := problem(result):
        raise error_type(f"{subject} returned {wrong}{package}")
    return result


def expect_type(kind: type | tuple[type, ...], expected: str) -> Callable[[Any], str]:
    """Return the `problem` function that requires a type of result."""
    return lambda result: (
        "" if isinstance(result, kind) else f"{quoted(result)}, expected {expected}"
    )
