"""From a document to a string, in the format the reader asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.report.model.table import Document


class Renderer(NamedTuple):
    """A function named by its module, which is imported when it is first called."""

    module: str
    function: str
    for_terminal: bool = False
    in_pieces: bool = False

    def __call__(self, document: Document, *, color: bool, width: int) -> Iterator[str]:
        """The document, in pieces where it may be long."""
        function: Callable[..., Any] = getattr(import_module(self.module), self.function)
        if self.in_pieces:
            yield from function(document)
        elif self.for_terminal:
            yield function(document, color=color, width=width)
        else:
            yield function(document)


RENDERERS = {
    "text": Renderer("karat.report.render.plain_text", "render_text", for_terminal=True),
    "json": Renderer("karat.report.render.records", "json_pieces", in_pieces=True),
    "tsv": Renderer("karat.report.render.records", "tsv_pieces", in_pieces=True),
    "csv": Renderer("karat.report.render.records", "csv_pieces", in_pieces=True),
    "md": Renderer("karat.report.render.markdown", "render_markdown"),
    "latex": Renderer("karat.report.render.latex", "render_latex"),
    "html": Renderer("karat.report.render.webpage", "render_html"),
    "svg": Renderer("karat.report.render.svg", "render_svg"),
}


def render(document: Document, format: str, *, color: bool = False, width: int = 100) -> str:
    """The document in one of the `RENDERERS`' formats; `color` and `width` concern text alone."""
    return "".join(pieces(document, format, color=color, width=width))


def pieces(
    document: Document, format: str, *, color: bool = False, width: int = 100
) -> Iterator[str]:
    """`render` in pieces, so that a long table need not be held whole."""
    if format not in RENDERERS:
        known = ", ".join(RENDERERS)
        raise InputError(f"there is no format {format!r}; choose one of {known}")
    return RENDERERS[format](document, color=color, width=width)
