"""Lazy exports: the public names of a package, listed once in its `__init__.pyi`.

A name is imported when it is first used, so that `karat --version` does not wait for numpy; type
checkers and editors read the same list.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
"""typing is not imported here: Ctrl-C before `karat.cli.run` would print a traceback."""
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, from the stub beside it."""
    module = sys.modules[package]
    if package != "karat" and getattr(sys.modules["karat"], "lazy", None) is not lazy:
        from karat.installation import refuse_replaced_package

        refuse_replaced_package()
    with open(f"{module.__file__}i", encoding="utf-8") as stub:  # from PLACE import NAME as NAME
        words = [line.split() for line in stub if line.startswith("from ")]
    modules = {name: module_name for _, module_name, _, name, *_ in words}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        inner = modules[name] == package  # from karat import arrow: a package within it
        module_name = f"{package}.{name}" if inner else modules[name]
        value = import_module(module_name) if inner else getattr(import_module(module_name), name)
        setattr(module, name, value)
        return value

    return get, lambda: sorted({*modules, *({"__version__"} & set(vars(module)))}), sorted(modules)
