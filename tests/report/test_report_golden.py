"""The exact output of each format, kept in files so that a change of it shows in a diff."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.report.model import Document
from karat.report.render.renderers import RENDERERS, render

GOLDEN = Path(__file__).parent / "golden"
TEXTS = ["text", "json", "tsv", "csv", "md", "latex", "html", "svg"]


@pytest.mark.parametrize("format", ["text", "json", "tsv", "csv", "md", "latex"])
def test_output_equals_the_golden_file(document: Document, format: str) -> None:
    expected = (GOLDEN / f"document.{format}").read_bytes().decode("utf-8")
    assert render(document, format, width=72) == expected


def test_html_body_equals_the_golden_file(document: Document) -> None:
    # Style and script have files of their own: only what is between them is kept.
    body = render(document, "html").split("<body")[1].split("<script>")[0]
    golden = GOLDEN / "document.html"
    if os.environ.get("KARAT_GOLDEN") == "write":
        golden.write_text(body, "utf-8")
    assert body == golden.read_bytes().decode("utf-8")


def test_colour_equals_the_golden_file(document: Document) -> None:
    expected = (GOLDEN / "document.ansi").read_bytes().decode("utf-8")
    assert render(document, "text", color=True, width=72) == expected


def test_formats_are_the_promised_ones() -> None:
    assert list(RENDERERS) == [*TEXTS, "xlsx", "parquet"]


@pytest.mark.parametrize("format", TEXTS)
def test_every_format_of_text_can_be_encoded_and_ends_with_a_newline(
    document: Document, format: str
) -> None:
    output = render(document, format)
    assert output.encode("utf-8").endswith(b"\n")
    assert not output.endswith("\n\n")


def test_unknown_format_names_the_known_ones(document: Document) -> None:
    with pytest.raises(
        InputError, match="format 'yaml': expected one of text, json, tsv, csv, md, latex, html"
    ):
        render(document, "yaml")
