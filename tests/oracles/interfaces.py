"""The public names of a package, and what a drop-in lacks of them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any


def modules(package: str) -> list[str]:
    """The public modules of a package, with the package itself as ""."""
    paths = import_module(package).__path__
    names = [m.name.removeprefix(package) for m in pkgutil.walk_packages(paths, f"{package}.")]
    return ["", *(n for n in names if not any(p.startswith("_") for p in n.split(".")[1:] if p))]


def public_names(module: ModuleType, package: str) -> dict[str, Any]:
    """The public names that a module defines, or that a package's `__init__` collects."""
    collects = hasattr(module, "__path__")
    names: dict[str, Any] = {}
    for name, value in vars(module).items():
        if inspect.ismodule(value):
            is_public = collects and value.__name__.startswith(package)
        elif inspect.isclass(value) or inspect.isfunction(value):
            home = package if collects else module.__name__
            is_public = value.__module__.startswith(home)
        else:
            is_public = type(value).__module__ not in ("typing", "__future__")
        if is_public and not name.startswith("_"):
            names[name] = value
    return names


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """The parameters of a function or class: names, defaults and kinds."""
    return [(p.name, p.default, p.kind) for p in inspect.signature(function).parameters.values()]


def missing(name: str, actual: Any, peer: Any) -> Iterator[str]:
    """What an object lacks of its peer: parameters, methods, attributes, values."""
    if inspect.ismodule(peer):
        return
    if inspect.isclass(peer):
        for attribute in [n for n in dir(peer) if not n.startswith("_")]:
            full_name = f"{name}.{attribute}"
            if not hasattr(actual, attribute):
                yield full_name
            elif callable(getattr(peer, attribute)):
                yield from missing(full_name, getattr(actual, attribute), getattr(peer, attribute))
    if callable(peer) and "__init__" in dir(peer) and not isinstance(peer, dict):
        try:
            expected = parameters(peer)
        except ValueError:
            return
        if parameters(actual) != expected:
            yield f"{name}{inspect.signature(actual)}, expected {inspect.signature(peer)}"
    elif isinstance(peer, str | int | float | bool | tuple | None) and actual != peer:
        yield f"{name} = {actual!r}, expected {peer!r}"


def interface_gaps(drop_in: str, package: str, exceptions: dict[str, str]) -> list[str]:
    """The public names of a package that its drop-in lacks or has with other parameters."""
    gaps = []
    for module in modules(package):
        peer = import_module(package + module)
        names = {
            f"{module}.{name}"[1:] if module else name: name for name in public_names(peer, package)
        }
        exempt = f"{module[1:]}" in exceptions
        try:
            actual = None if exempt else import_module(drop_in + module)
        except ImportError:
            gaps.append(module[1:])
            continue
        for full_name, name in names.items():
            if exempt or full_name in exceptions:
                continue
            if not hasattr(actual, name):
                gaps.append(full_name)
            else:
                found = missing(full_name, getattr(actual, name), getattr(peer, name))
                gaps += [gap for gap in found if gap.partition("(")[0] not in exceptions]
    return gaps
