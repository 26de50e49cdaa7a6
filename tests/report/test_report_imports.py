"""Start-up: asking for text loads nothing that only other formats need."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
from karat.report.render.renderers import render
from karat.report.model.table import Column, Document, Table
before = set(sys.modules)
render(Document("T", (Table("rows", "", (Column("a", "A"),), ()),), "karat", {}), "text")
print(*sorted(before), "|", *sorted(sys.modules))
"""


def test_renderers_are_imported_when_called() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    before, after = (set(part.split()) for part in done.stdout.split("|"))
    assert "karat.report.render.plain_text" in after - before
    others = {"records", "markdown", "latex", "webpage", "page", "charts"}
    assert not {f"karat.report.{name}" for name in others} & after
