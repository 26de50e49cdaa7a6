"""From a document to a string, in the format the reader asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from karat.errors import InputError
from karat.report.table import Document


class Renderer(NamedTuple):
    """A function named by its module, which is imported when it is first called."""

    module: str
    function: str
    for_terminal: bool = False

    def __call__(self, document: Document, *, color: bool, width: int) -> str:
        function: Callable[..., str] = getattr(import_module(self.module), self.function)
        return (
            function(document, color=color, width=width)
            if self.for_terminal
            else function(document)
        )


RENDERERS = {
    "text": Renderer("karat.report.plain_text", "render_text", for_terminal=True),
    "json": Renderer("karat.report.records", "render_json"),
    "tsv": Renderer("karat.report.records", "render_tsv"),
    "md": Renderer("karat.report.markdown", "render_markdown"),
    "latex": Renderer("karat.report.latex", "render_latex"),
    "html": Renderer("karat.report.webpage", "render_html"),
}


def render(document: Document, format: str, *, color: bool = False, width: int = 100) -> str:
    """The document in one of the `RENDERERS`' formats; `color` and `width` concern text alone."""
    if format not in RENDERERS:
        known = ", ".join(RENDERERS)
        raise InputError(f"there is no format {format!r}; choose one of {known}")
    return RENDERERS[format](document, color=color, width=width)
