"""Renderers by format.

A renderer is a function from a document to a string, or to an iterator of strings where it may be
long. Those of other packages are found by the entry point `karat.renderers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from karat.errors import OutputError
from karat.registry import Registry, call, expect_type, make_check, origin
from karat.report.model import Document
from karat.storage.output import write_atomically

Renderer: TypeAlias = Callable[..., str | Iterable[str]]

RENDERERS: Registry[Renderer] = Registry(
    "renderers",
    "format",
    {
        "text": "karat.report.render.text:render_text",
        "json": "karat.report.render.records:render_json",
        "tsv": "karat.report.render.records:render_tsv",
        "csv": "karat.report.render.records:render_csv",
        "md": "karat.report.render.markdown:render_markdown",
        "latex": "karat.report.render.latex:render_latex",
        "html": "karat.report.render.html:render_html",
        "svg": "karat.report.render.svg:render_svg",
    },
    check=make_check(callable, "format", "a function from a document to text"),
)


SPREADSHEET_FORMATS = ("csv", "tsv")
"""Formats that spreadsheets open."""


def render(document: Document, format: str, **options: Any) -> str:
    """Return the document in one of the `RENDERERS`' formats; options as for `render_pieces`."""
    return "".join(render_pieces(document, format, **options))


def render_pieces(
    document: Document,
    format: str,
    *,
    color: bool = False,
    width: int = 100,
    spreadsheet_safe: bool = False,
) -> Iterable[str]:
    """Render in pieces, to save memory for long tables.

    `color` and `width` are for text; `spreadsheet_safe` is for CSV and TSV.
    """
    options: dict[str, Any] = {"color": color, "width": width} if format == "text" else {}
    if spreadsheet_safe:
        check_spreadsheet_safe(format)
        options["spreadsheet_safe"] = True
    renderer = RENDERERS[format]

    def render_foreign() -> str | Iterable[str]:  # at once, so that errors name the package
        output = renderer(document, **options)
        is_iterable = not isinstance(output, str) and isinstance(output, Iterable)
        return "".join(output) if is_iterable else output

    if origin(renderer):
        subject = f"the renderer of the format {format}"
        text = call(subject, renderer, render_foreign, expect_type(Iterable, "text"))
    else:
        text = renderer(document, **options)
    return [text] if isinstance(text, str) else text


def check_spreadsheet_safe(format: str) -> None:
    """Raise if spreadsheets do not open the format: there are no formulas to escape."""
    if format not in SPREADSHEET_FORMATS:
        formats = " and ".join(SPREADSHEET_FORMATS)
        raise OutputError(
            f"--spreadsheet-safe is for {formats}, and the output is {format}: leave it out, or "
            "choose one of these formats (-f csv)"
        )


_ENDINGS = {"txt": "text", "htm": "html", "tex": "latex", "markdown": "md"}


def save(document: Document, path: str | PathLike[str], *, spreadsheet_safe: bool = False) -> None:
    """Write a document to a file (atomic), in the format of its extension."""
    ending = Path(path).suffix.lower().lstrip(".")
    format = _ENDINGS.get(ending, ending)
    if format not in RENDERERS:
        expected = ", ".join(f".{name}" for name in (*RENDERERS, *_ENDINGS))
        raise OutputError(f"{path}: no format has that ending; expected one of {expected}")
    write_atomically(path, render_pieces(document, format, spreadsheet_safe=spreadsheet_safe))
