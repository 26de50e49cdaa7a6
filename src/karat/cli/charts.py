"""Charts as files beside a report: `--charts FOLDER`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.errors import OutputError
from karat.storage.output import write_atomically

if TYPE_CHECKING:
    from karat.report.charts.models import Chart

KINDS = ("png", "pdf", "svg")


def check_charts(folder: str | None) -> None:
    """Refuse, before any work is done, a folder that cannot be one or a machine without plots."""
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"--charts {folder}: this is a file; give a folder")
    from karat.report.render.svg import typesetter

    typesetter()


def write_charts(charts: Sequence[Chart], folder: str | None) -> None:
    """Write every chart as PNG, PDF and SVG, named after its title."""
    if folder is None:
        return
    from karat.report.render.svg import chart_file

    os.makedirs(folder, exist_ok=True)
    for chart, name in zip(charts, _names([chart.title for chart in charts]), strict=True):
        for kind in KINDS:
            write_atomically(os.path.join(folder, f"{name}.{kind}"), chart_file(chart, kind))


def _names(titles: Sequence[str]) -> list[str]:
    """File names for titles, numbered where two would be the same."""
    found: list[str] = []
    for title in titles:
        kept = "".join(c if c.isalnum() or c in "=.-" else "-" for c in title.lower())
        plain = name = "-".join(part for part in kept.split("-") if part)[:100]
        number = 1
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found.append(name)
    return found
