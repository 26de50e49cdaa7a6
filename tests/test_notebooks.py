"""A real notebook: results show tables and pictures, and progress is one line that goes away."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, chromium

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = (
    """
import karat as kt
import karat.progress
import karat.pandas
import pandas as pd

karat.progress._PATIENCE = karat.progress._PAUSE = 0
many = 6000
frame = pd.DataFrame({
    "gpt": ["the cat sat on the mat", "a dog ran"] * many,
    "<b>llama": ["a cat on mat", "the dog ran far"] * many,
    "references": [["the cat sat on a mat", "x"], ["a dog ran far"]] * many,
})
""",
    """
print("before")
scores = kt.score(frame, candidate=["gpt", "<b>llama"], metrics=["bleu", "chrf"], progress=True)
print("after")
scores
""",
    "kt.compare(frame.head(6), candidate=['gpt', '<b>llama'], metrics='chrf')",
    "frame.head(3).karat.segments('chrf', candidate='gpt')",
)


class Client(nbclient.NotebookClient):  # type: ignore[misc]
    """Runs a notebook and remembers all that its kernel displayed."""

    def process_message(self, message: Any, cell: Any, cell_index: int) -> Any:
        if message["msg_type"] in ("display_data", "update_display_data"):
            self.shown.append((message["msg_type"], message["content"]["data"]["text/html"]))
        return super().process_message(message, cell, cell_index)


@pytest.fixture(scope="module")
def client() -> Client:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    notebook_client = Client(book, timeout=120, kernel_name="python3")
    notebook_client.shown = []
    notebook_client.execute()
    return notebook_client


def html(client: Client, cell: int) -> str:
    return str(client.nb.cells[cell].outputs[-1]["data"]["text/html"])


def test_progress_is_one_line_that_is_updated_and_emptied(client: Client) -> None:
    kinds, lines = zip(*client.shown, strict=True)
    assert kinds == ("display_data", *["update_display_data"] * (len(kinds) - 1))
    bar_pattern = re.compile(
        r'<div>scoring rows <progress value="\d+" max="24000"></progress> [\d,]+/24,000</div>'
    )
    assert all(bar_pattern.fullmatch(line) for line in lines[:-1])
    assert len(lines) > 2
    assert lines[-1] == ""
    first, bar, second, _ = client.nb.cells[1].outputs
    assert (first["text"], second["text"]) == ("before\n", "after\n")
    assert bar["data"]["text/html"] == ""


def test_results_show_a_table_and_a_picture(client: Client) -> None:
    for cell in (1, 2):
        cell_html = html(client, cell)
        assert "<table>" in cell_html
        assert cell_html.count("data:image/svg+xml;base64,") == 1
        assert "&lt;b&gt;llama" in cell_html
        assert "<b>" not in cell_html
        assert "<script" not in cell_html
    assert "<th>chrf</th>" in html(client, 3)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_draws_the_pictures(client: Client, tmp_path: Path) -> None:
    page = tmp_path / "cells.html"
    widths = "[...document.images].map(image => image.naturalWidth).join()"
    script = f"<script>addEventListener('load', () => document.title = {widths})</script>"
    body = "".join(html(client, cell) for cell in (1, 2))
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}{script}</body>", "utf-8")
    rendered_page = chromium(page, "--dump-dom", "--virtual-time-budget=2000").stdout
    title_match = re.search("<title>(.*?)</title>", rendered_page)
    assert title_match
    assert [int(width) > 300 for width in title_match[1].split(",")] == [True, True]
