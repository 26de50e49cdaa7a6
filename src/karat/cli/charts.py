"""Charts as files beside a report: `--charts FOLDER`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.errors import OutputError

if TYPE_CHECKING:
    from karat.report.charts.models import Chart

KINDS = ("png", "pdf", "svg")


def check_charts(folder: str | None) -> None:
    """Refuse, before any work is done, a folder that cannot be one or a machine without plots."""
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{folder} is a file: name a folder for the charts")
    from karat.report.charts.paper.files import check_matplotlib

    check_matplotlib()


def write_charts(charts: Sequence[Chart], folder: str | None) -> None:
    """Write every chart as PNG, PDF and SVG, named after its title."""
    if folder is None:
        return
    from karat.report.charts.paper.files import save_chart

    os.makedirs(folder, exist_ok=True)
    for chart, name in zip(charts, _names([chart.title for chart in charts]), strict=True):
        for kind in KINDS:
            save_chart(chart, os.path.join(folder, f"{name}.{kind}"))


def _names(titles: Sequence[str]) -> list[str]:
    """File names for titles, numbered where two would be the same."""
    found: list[str] = []
    for title in titles:
        name, number = _name(title), 1
        while name in found:
            number += 1
            name = f"{_name(title)}-{number}"
        found.append(name)
    return found


def _name(title: str) -> str:
    """A file name for a title."""
    kept = "".join(c if c.isalnum() or c in "=.-" else "-" for c in title.lower())
    return "-".join(part for part in kept.split("-") if part)[:100]
