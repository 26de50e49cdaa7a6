"""Charts as files for papers: of the right kind, the same on every run, whatever the labels."""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sample_charts import CHARTS, CURVES, HEAT_MAP, SCATTER, joined

from karat.cli.show import check_output, write_charts
from karat.errors import MissingExtra, OutputError
from karat.report.charts.models import (
    CellChart,
    Chart,
    ChartRow,
    Point,
    RowChart,
    XYChart,
    histogram,
)
from karat.report.charts.svg.frame import HEAT, SERIES
from karat.report.render.svg import INK, chart_file, typesetter

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<svg "}
DIFFERENT = ((SCATTER, "png"), (HEAT_MAP, "pdf"), (CURVES, "svg"))
PROGRAM = """
import hashlib, sys
from test_report_chart_files import DIFFERENT, chart_file
assert "typst" not in sys.modules
for chart, kind in DIFFERENT:
    print(hashlib.sha256(chart_file(chart, kind)).hexdigest())
"""


def colours(png: bytes, tmp_path: Path) -> set[str]:
    """The colours that a picture holds."""
    from PIL import Image

    path = tmp_path / "picture.png"
    path.write_bytes(png)
    pixels = Image.open(path).convert("RGB")
    colors = pixels.getcolors(pixels.width * pixels.height)
    return {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in colors}


def test_every_chart_is_written_in_every_format(tmp_path: Path) -> None:
    write_charts([*CHARTS, SCATTER], str(tmp_path / "charts"))
    files = sorted((tmp_path / "charts").iterdir())
    assert len(files) == 3 * (len(CHARTS) + 1)
    for path in files:
        assert path.read_bytes().startswith(MAGIC[path.suffix[1:]])
    assert (tmp_path / "charts" / "human-scores-against-bleu-2.png").exists()


def test_the_same_bytes_on_every_run() -> None:
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    files = [chart_file(chart, kind) for chart, kind in DIFFERENT]
    assert done.stdout.split() == [hashlib.sha256(file).hexdigest() for file in files]


def test_colours_are_plain_and_come_out(tmp_path: Path) -> None:
    drawing = chart_file(SCATTER, "svg").decode()
    looks = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawing))
    assert {look for look in looks if not re.fullmatch("#[0-9a-f]{6}", look)} <= {"none"}
    assert "<style>" not in drawing
    assert {SERIES[0], SERIES[1], "#ffffff"} <= colours(chart_file(SCATTER, "png"), tmp_path)
    assert set(HEAT[::2]) <= colours(chart_file(HEAT_MAP, "png"), tmp_path)


def test_words_come_out(tmp_path: Path) -> None:
    titled, bare = (chart_file(XYChart(title, "x", "y", []), "png") for title in ("BLEU r²", ""))
    assert INK in colours(titled, tmp_path)
    assert INK not in colours(bare, tmp_path)
    assert b"/FontFile" in chart_file(SCATTER, "pdf")


def test_words_that_look_like_colours_are_left_alone() -> None:
    words = '"currentColor" "var(--ink, #ffffff)" <style>x</style>'
    root = ElementTree.fromstring(chart_file(XYChart(words, "x", "y", []), "svg"))
    assert root[0].text == words


@pytest.mark.parametrize(
    "chart",
    [
        XYChart("T", "x", "y", []),
        XYChart("T", "x", "y", [Point(1.0, 1.0, "p")]),
        XYChart("T", "x", "y", [Point(1e299, -1e-299, "p"), Point(math.inf, 0.0, "q")]),
        XYChart("T", "x", "y", [Point(k, k % 7, str(k)) for k in range(1000)]),
        CellChart("T", "r", "c", [], [], []),
        CellChart("T", "r", "c", ["a"], ["b", "c"], [[1.0, 1.0]]),
        CellChart("T", "r", "c", ["a"], list("abcdefgh" * 9), [[1e-9] * 72]),
        joined("T", "x", "y", []),
        joined("T", "x", "y", [("c", [(1.0, 1.0, 0.0, 2.0)])]),
        joined("T", "x", "y", [(f"c{k}", [(k, 1.0)]) for k in range(12)]),
        RowChart("T", "x", [ChartRow("a", math.nan)]),
        RowChart("T", "x", [ChartRow("a", 1.0, -math.inf, 2.0)], baseline=math.nan),
        histogram("T", "x", [1.0, 2.0, 2.0], marker=0.0),
    ],
)
def test_odd_data(chart: Chart) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chart_file(chart, "png").startswith(MAGIC["png"])


def test_any_label_is_drawn_without_a_warning(hostile: str) -> None:
    points = [Point(1.0, 1.0, hostile, hostile), Point(2.0, 2.0, "日本 \U0001f600 $\\frac$ \udc80")]
    chart = XYChart(hostile, hostile, hostile, points, note=hostile)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ElementTree.fromstring(chart_file(chart, "svg"))
        assert chart_file(chart, "pdf").startswith(MAGIC["pdf"])


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("as it was")
    with pytest.raises(OutputError, match="this is a file; give a folder"):
        check_output(None, charts=str(path))


def test_without_typst_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    typesetter.cache_clear()
    with pytest.raises(MissingExtra, match=r"typst: pip install 'karat-eval\[charts\]'"):
        check_output(None, charts=str(tmp_path / "charts"))
    assert list(tmp_path.iterdir()) == []
