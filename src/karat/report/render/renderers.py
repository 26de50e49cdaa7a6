"""From a document to text, in the format the reader asked for.

A renderer is a function from a document to a string, or to an iterator of strings where it may be
long. Those of other packages are found by the entry point `karat.renderers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType
from typing import TypeAlias, TypeVar

from karat.registry import Registry, call, check_that, returned
from karat.report.model.table import Document

T = TypeVar("T")
Renderer: TypeAlias = Callable[..., str | Iterable[str]]

RENDERERS: Registry[Renderer] = Registry(
    "renderers",
    "format",
    {
        "text": "karat.report.render.plain_text:render_text",
        "json": "karat.report.render.records:render_json",
        "tsv": "karat.report.render.records:render_tsv",
        "csv": "karat.report.render.records:render_csv",
        "md": "karat.report.render.markdown:render_markdown",
        "latex": "karat.report.render.latex:render_latex",
        "html": "karat.report.render.webpage:render_html",
        "svg": "karat.report.render.svg:render_svg",
    },
    check=check_that(callable, "format", "a function from a document to text"),
)


def render(document: Document, format: str, *, color: bool = False, width: int = 100) -> str:
    """Return the document in one of the `RENDERERS`' formats; `color`, `width`: of text alone."""
    return "".join(pieces(document, format, color=color, width=width))


def pieces(
    document: Document, format: str, *, color: bool = False, width: int = 100
) -> Iterable[str]:
    """Return what `render` does in pieces, so that a long table need not be held whole."""
    terminal = {"color": color, "width": width} if format == "text" else {}
    renderer = RENDERERS[format]

    def asked(function: Callable[[], T], problem: Callable[[T], str]) -> T:
        return call(f"the renderer of the format {format}", renderer, function, problem)

    made = asked(lambda: renderer(document, **terminal), returned(Iterable, "text"))
    if isinstance(made, str):
        return [made]
    parts, end = iter(made), None
    return iter(lambda: asked(lambda: next(parts, end), returned((str, NoneType), "text")), end)
