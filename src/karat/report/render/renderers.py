"""Renderers by format.

A renderer is a function from a document to a string, or to an iterator of strings or bytes where it
may be long. Renderers of other packages are found by the entry point `karat.renderers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from karat.errors import OutputError
from karat.registry import Registry, call, expect_type, load, make_check, origin
from karat.report.model import Document
from karat.storage.output import write_atomically

Renderer: TypeAlias = Callable[..., str | Iterable[str] | Iterable[bytes]]

_BUILT_IN = {
    "text": "karat.report.render.text:render_text",
    "json": "karat.report.render.records:render_json",
    "tsv": "karat.report.render.records:render_tsv",
    "csv": "karat.report.render.records:render_csv",
    "md": "karat.report.render.markdown:render_markdown",
    "latex": "karat.report.render.latex:render_latex",
    "html": "karat.report.render.html:render_html",
    "svg": "karat.report.render.svg:render_svg",
    "xlsx": "karat.report.render.workbook:render_xlsx",
    "parquet": "karat.report.render.parquet:render_parquet",
}
FORMATS = tuple(_BUILT_IN)
"""Karat's own formats."""
RENDERERS: Registry[Renderer] = Registry(
    "renderers",
    "format",
    _BUILT_IN,
    check=make_check(callable, "format", "a function from a document to text"),
)

SPREADSHEET_FORMATS = ("csv", "tsv")
"""Formats of text that spreadsheets open."""
BINARY_FORMATS = {
    "xlsx": "karat.report.render.workbook:openpyxl_package",
    "parquet": "karat.report.render.parquet:pyarrow_package",
}
"""Formats of bytes -> the function that imports their package, or raises MissingExtra."""

_USUAL_ENDINGS = {"text": "txt", "latex": "tex"}
USUAL_ENDINGS = tuple(_USUAL_ENDINGS.get(name, name) for name in FORMATS)
"""The usual ending of each format."""
ENDINGS = {
    **dict(zip(USUAL_ENDINGS, FORMATS, strict=True)),
    **{name: name for name in FORMATS},
    **{"htm": "html", "markdown": "md"},
}
"""Ending of a file -> the format."""


def render(document: Document, format: str, **options: Any) -> str:
    """Return the document in one of the `RENDERERS`' formats; options as for `render_pieces`."""
    if format in BINARY_FORMATS:
        raise OutputError(f"{format} is not text: save it to a file, such as results.{format}")
    return "".join(map(str, render_pieces(document, format, **options)))


def check_binary(format: str, path: str | None, *, is_terminal: bool) -> None:
    """Raise if a format of bytes goes to a terminal, or if its package is not installed.

    `path` is the file of the output; None means standard output.
    """
    if format not in BINARY_FORMATS:
        return
    if path is None and is_terminal:
        raise OutputError(f"{format} cannot be shown in a terminal: add -o results.{format}")
    load(BINARY_FORMATS[format])()


def render_pieces(
    document: Document,
    format: str,
    *,
    color: bool = False,
    width: int = 100,
    spreadsheet_safe: bool = False,
) -> Iterable[str] | Iterable[bytes]:
    """Render in pieces, to save memory for long tables.

    `color` and `width` are for text; `spreadsheet_safe` is for CSV and TSV.
    """
    options: dict[str, Any] = {"color": color, "width": width} if format == "text" else {}
    if spreadsheet_safe:
        check_spreadsheet_safe(format)
        options["spreadsheet_safe"] = True
    renderer = RENDERERS[format]

    def render_foreign() -> Any:  # at once, so that errors name the package
        text = renderer(document, **options)
        is_iterable = not isinstance(text, str) and isinstance(text, Iterable)
        return "".join(text) if is_iterable else text  # type: ignore[arg-type]  # text alone

    if origin(renderer):
        subject = f"the renderer of the format {format}"
        output: Any = call(subject, renderer, render_foreign, expect_type(Iterable, "text"))
    else:
        output = renderer(document, **options)
    return [output] if isinstance(output, str) else output


def check_spreadsheet_safe(format: str) -> None:
    """Raise if spreadsheets do not open the format: there are no formulas to escape."""
    if format not in SPREADSHEET_FORMATS:
        formats = " and ".join(SPREADSHEET_FORMATS)
        raise OutputError(
            f"--spreadsheet-safe is for {formats}, and the output is {format}: leave it out, or "
            "choose one of these formats (-f csv)"
        )


def save(document: Document, path: str | PathLike[str], *, spreadsheet_safe: bool = False) -> None:
    """Write a document to a file (atomic), in the format of its extension."""
    ending = Path(path).suffix.lower().lstrip(".")
    format = ENDINGS.get(ending, ending)
    if format not in RENDERERS:
        plugins = [name for name in RENDERERS if name not in FORMATS]
        expected = ", ".join(f".{name}" for name in (*USUAL_ENDINGS, *plugins))
        raise OutputError(f"{path}: no format has that ending; expected one of {expected}")
    write_atomically(path, render_pieces(document, format, spreadsheet_safe=spreadsheet_safe))
