"""Arguments of public functions: one of the wrong type gets a sentence, not a traceback.

Types are looked at only after a function has failed, so that a right call costs nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from karat.errors import InputError, quoted


def refuse_wrong(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Refuse the first argument that its parameter's annotation does not allow, if there is one."""
    signature = inspect.signature(function)
    for name, value in signature.bind(*args, **named).arguments.items():
        parameter = signature.parameters[name]
        try:
            hint = eval(str(parameter.annotation), function.__globals__)
        except (NameError, TypeError):  # names for type checkers alone
            continue
        if parameter.kind is not parameter.VAR_KEYWORD and not _fits(value, hint):
            found = f"{name} is {quoted(value)}, expected {_told(hint)}"
            raise InputError(f"{function.__name__}: {found}")


def _fits(value: Any, hint: Any) -> bool:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return hint is not None or value is None
    if not isinstance(value, (int, float) if kind is float else kind):
        return False
    if not inner or not isinstance(value, str | list | tuple | Mapping):
        return True
    items = value.values() if isinstance(value, Mapping) else value
    return all(_fits(one, inner[-1]) for one in items)


def _told(hint: Any) -> str:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(dict.fromkeys(_told(one) for one in inner if one is not NoneType))
    name = str(getattr(kind, "__name__", kind))
    return f"{name} of {_told(inner[-1])}" if inner and kind is not Callable else name
