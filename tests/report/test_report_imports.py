"""Start-up: asking for text loads nothing that only other formats need, and draws nothing."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
from karat.report.render.renderers import render
from karat.report.model import Document, Table
from karat.results import Column
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
    assert "karat.report.render.text" in after - before
    other_formats = {"render.records", "render.markdown", "render.latex", "render.html", "charts"}
    assert not {f"karat.report.{name}" for name in other_formats} & after


COMMANDS = """
import sys
from importlib.resources import files
from karat.cli.main import main
demo = files("karat") / "data" / "demo"
texts = [str(demo / "systems" / name) for name in ("atlas.txt", "beacon.txt")]
given = [*texts, "-r", str(demo / "reference-1.txt"), "-m", "bleu"]
for command in (
    ["score", *given, "--intervals"],
    ["compare", *given, "--examples", "1"],
    ["nuggets", "score", "heron", "wren", "--key", "demo-nuggets"],
    ["nuggets", "describe", "demo-nuggets"],
    ["meta", "demo", "-m", "bleu", "--resamples", "20", "--trials", "20"],
):
    for format in ("text", "json", "tsv"):
        assert main([*command, "-f", format]) == 0, command
drawn = [name for name in sys.modules if name.startswith("karat.report") and "svg" in name]
assert drawn == [], drawn
assert main(["score", *given, "-f", "svg"]) == 0
assert "karat.report.charts.svg.rows" in sys.modules
"""


def test_text_json_and_tsv_load_nothing_that_draws_svg() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
