"""Options that a command gets together, as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

Command = Callable[..., Any]


def bundle(name: str, *options: Any, make: Command = dict) -> Callable[[Command], Command]:
    """Return options whose values a command gets together, as `name`: what `make` makes of them."""

    def add(function: Command) -> Command:
        @wraps(function)
        def called(**given: Any) -> Any:
            mine = {param.name: given.pop(param.name) for param in added}
            return function(**given, **{name: make(**mine)})

        known = len(getattr(called, "__click_params__", ()))
        for each in reversed(options):
            called = each(called)
        added = called.__click_params__[known:][::-1]  # type: ignore[attr-defined]
        return called

    return add
