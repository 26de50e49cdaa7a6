"""Lazy exports: the public names of a package, listed once in its `__init__.pyi`.

A name is imported when it is first used, so that `karat --version` does not wait for numpy; type
checkers and editors read the same list.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_LINE = re.compile(r"^from (\S+) import (.+)$", re.M)
_NAME = re.compile(r"(\w+) as \1\b")


def lazy(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, from the stub beside it."""
    module = sys.modules[package]
    stub = Path(str(module.__file__)).with_suffix(".pyi").read_text("utf-8")
    places = {name: place for place, names in _LINE.findall(stub) for name in _NAME.findall(names)}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(places[name]), name)
        setattr(module, name, found)
        return found

    return get, lambda: sorted({*places, *({"__version__"} & set(vars(module)))}), sorted(places)
