"""Reference page of Python: every public function and class with its signature and docstring."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import karat
from karat.results import Result
from tools.docs.markdown import block, code, escaped

APPS = ("karat.nuggets", "karat.paraphrase", "karat.realize", "karat.lm", "karat.arrow")
"""Packages with public names in addition to those of `karat`."""
KINDS = (
    ("Functions", inspect.isroutine),
    ("Results", lambda thing: isinstance(thing, type) and issubclass(thing, Result)),
    ("Classes", lambda thing: isinstance(thing, type) and not issubclass(thing, BaseException)),
    ("Errors", lambda thing: isinstance(thing, type)),
    ("Packages", lambda thing: True),
)
"""Sections of names of `karat`: a name is in the first that it fits."""
_ABOUT = """\
Import Karat as `import karat as kt`. Every command is one function, and every function returns a
result with `rows`, `settings`, `notes` and a `signature`. [Data frames](../how-to/data-frames.md)
shows how results become tables."""


def python_page() -> str:
    """Return the page: the names of `karat` by kind, then the names of its packages."""
    parts = ["# Python", " ".join(_ABOUT.split()), *_results()]
    left = {name: getattr(karat, name) for name in karat.__all__}
    for heading, fits in KINDS:
        chosen = [name for name in left if fits(left[name])]
        parts.append(f"## {heading}")
        for name in chosen:
            parts += _entry(f"karat.{name}", left.pop(name))
    for place in APPS:
        parts += _package(import_module(place))
    return "\n\n".join(parts) + "\n"


def _results() -> Iterator[str]:
    yield "## Every result"
    yield _paragraphs(_text(Result))
    yield from _members(Result)


def _package(module: ModuleType) -> Iterator[str]:
    """Yield the names of a package; names that `karat` exports too are links."""
    yield f"## {module.__name__}"
    yield _paragraphs(_text(module))
    only_here = [name for name in module.__all__ if name not in karat.__all__]
    shared = [name for name in module.__all__ if name in karat.__all__]
    if shared:
        links = (f"[`{name}`](#karat.{name})" for name in shared)
        yield f"Also under this name: {', '.join(links)}."
    for name in only_here:
        yield from _entry(f"{module.__name__}.{name}", getattr(module, name))


def _entry(name: str, member: Any) -> Iterator[str]:
    yield f"### `{name}` {{ #{name} }}"
    if callable(member):
        yield block(_signature(name.rpartition(".")[2], member), "python")
    if text := _text(member):
        yield _paragraphs(text)
    if isinstance(member, type):
        yield from _members(member)


def _text(member: Any) -> str:
    """Return the docstring of a thing's own."""
    return inspect.getdoc(member) or "" if getattr(member, "__doc__", None) else ""


def _paragraphs(text: str) -> str:
    """Convert a docstring to Markdown: indented text becomes code, arguments become a list."""
    return "\n\n".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return text
    head, _, listed = text.partition("\n    ")
    items = re.sub(r"\n {8}", " ", listed).split("\n    ") if listed else []
    lines = [re.sub(r"^(\w+):", r"- `\1`:", escaped(item)) for item in items]
    return "\n".join([escaped(head), *[""] * bool(lines), *lines])


def _members(cls: type) -> Iterator[str]:
    """Yield a list of the public methods and properties that a class itself defines."""
    lines = []
    for name, member in vars(cls).items():
        is_public_kind = inspect.isroutine(member) or isinstance(member, property | classmethod)
        if is_public_kind and not name.startswith("_") and (text := _text(_function(member))):
            call = "" if isinstance(member, property) else _signature(name, _function(member), True)
            lines.append(f"- {code(call or name)}: {escaped(' '.join(text.split()))}")
    if lines:
        yield "\n".join(lines)


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else getattr(member, "__func__", member)


def _signature(name: str, member: Any, method: bool = False) -> str:
    """Return how a function or class is called, one parameter a line if it is long."""
    try:
        signature = inspect.signature(member)
    except (TypeError, ValueError):  # what C or an exception has none of
        return f"{name}(…)"
    params = _parameters(list(signature.parameters.values())[method:])
    result = "" if isinstance(member, type) else _return_annotation(signature.return_annotation)
    line = f"{name}({', '.join(params)}){result}"
    if method or len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {param},\n" for param in params) + f"){result}"


def _parameters(params: list[inspect.Parameter]) -> list[str]:
    written: list[str] = []
    star = False
    for param in params:
        if param.kind is param.KEYWORD_ONLY and not star:
            written.append("*")
        star = star or param.kind in (param.KEYWORD_ONLY, param.VAR_POSITIONAL)
        stars = {param.VAR_POSITIONAL: "*", param.VAR_KEYWORD: "**"}.get(param.kind, "")
        kind = "" if param.annotation is param.empty else f": {_annotation(param.annotation)}"
        default = "" if param.default is param.empty else f" = {_value(param.default)}"
        written.append(f"{stars}{param.name}{kind}{default}")
    return written


def _return_annotation(annotation: Any) -> str:
    return "" if annotation is inspect.Signature.empty else f" -> {_annotation(annotation)}"


def _annotation(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\bkarat\.[\w.]*\.", "", text)


def _value(value: Any) -> str:
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    is_unreadable = isinstance(value, type(dataclasses.MISSING)) or repr(value).startswith("<")
    return "…" if is_unreadable else repr(value)
