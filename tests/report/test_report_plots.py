"""Charts as files for papers: of the right kind, the same on every run, whatever the labels."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sample_charts import BARS, CHARTS, CURVES, HEAT_MAP, SCATTER

from karat.errors import MissingExtra, OutputError
from karat.report.charts.models import (
    Chart,
    Curve,
    Curves,
    HeatMap,
    Interval,
    Intervals,
    Knot,
    Point,
    Scatter,
)
from karat.report.charts.paper.files import chart_file, save_chart
from karat.report.charts.paper.letters import printable

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<?xml"}

PROGRAM = """
import hashlib, sys
from sample_charts import CURVES, HEAT_MAP, SCATTER
from karat.report.charts.paper.files import chart_file
assert "matplotlib" not in sys.modules
for chart, kind in ((SCATTER, "png"), (HEAT_MAP, "pdf"), (CURVES, "svg")):
    print(hashlib.sha256(chart_file(chart, kind)).hexdigest())
print("matplotlib.pyplot" in sys.modules)
"""


@pytest.mark.parametrize(
    ("chart", "kind"),
    [(SCATTER, "png"), (SCATTER, "svg"), *((chart, "pdf") for chart in CHARTS)],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_file_is_what_its_name_says(chart: Chart, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"chart.{kind.upper()}"
    save_chart(chart, path)
    assert path.read_bytes().startswith(MAGIC[kind])
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_bytes_on_every_run_and_no_pyplot() -> None:
    places = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    *digests, loaded = done.stdout.splitlines()
    pairs = ((SCATTER, "png"), (HEAT_MAP, "pdf"), (CURVES, "svg"))
    files = [chart_file(chart, kind) for chart, kind in pairs]
    assert digests == [hashlib.sha256(file).hexdigest() for file in files]
    assert loaded == "False"


def test_bars_are_drawn_in_files_too() -> None:
    bare = replace(BARS, points=[point._replace(low=None, high=None) for point in BARS.points])
    with_bars, without = (chart_file(chart, "svg").decode() for chart in (BARS, bare))
    assert with_bars.count("LineCollection") == 1
    assert "LineCollection" not in without


def test_the_settings_of_the_program_are_left_alone_and_have_no_say() -> None:
    import matplotlib as mpl

    usual = chart_file(SCATTER, "svg")
    with mpl.rc_context({"font.size": 30, "text.usetex": True, "axes.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert chart_file(SCATTER, "svg") == usual
        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "chart",
    [
        Scatter("T", "x", "y", []),
        Scatter("T", "x", "y", [Point(1.0, 1.0, "p")]),
        Scatter("T", "x", "y", [Point(1e299, -1e-299, "p"), Point(math.inf, 0.0, "q")]),
        Scatter("T", "x", "y", [Point(k, k % 7, str(k)) for k in range(1000)]),
        HeatMap("T", "r", "c", [], [], []),
        HeatMap("T", "r", "c", ["a"], ["b", "c"], [[1.0, 1.0]]),
        HeatMap("T", "r", "c", ["a"], list("abcdefgh" * 9), [[1e-9] * 72]),
        Curves("T", "x", "y", []),
        Curves("T", "x", "y", [Curve("c", [Knot(1.0, 1.0, 0.0, 2.0)])], log_x=True),
        Curves("T", "x", "y", [Curve(f"c{k}", [Knot(k, 1.0)]) for k in range(12)]),
        Intervals("T", "x", [Interval("a", math.nan)]),
        Intervals("T", "x", [Interval("a", 1.0, -math.inf, 2.0)], baseline=math.nan),
    ],
)
def test_odd_data(chart: Chart) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chart_file(chart, "png").startswith(MAGIC["png"])


def test_any_label_is_drawn_without_a_warning(
    hostile: str, caplog: pytest.LogCaptureFixture
) -> None:
    points = [Point(1.0, 1.0, hostile, hostile), Point(2.0, 2.0, "日本 \U0001f600 $\\frac$ \udc80")]
    chart = Scatter(hostile, hostile, hostile, points, note=hostile)
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        ElementTree.fromstring(chart_file(chart, "svg"))
        assert chart_file(chart, "pdf").startswith(MAGIC["pdf"])
    assert caplog.records == []


def test_what_no_font_has_is_shown_as_an_escape() -> None:
    assert printable("BLEU r² ▲◆●") == "BLEU r² ▲◆●"
    assert printable("a\x1b\U0010fffd") == "a\\x1b\\U0010fffd"


def test_without_a_heading() -> None:
    assert chart_file(CURVES, "svg", title=False) != chart_file(CURVES, "svg")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("chart.jpg", r"its name ends in \.jpg; a chart is a \.png, \.pdf or \.svg file"),
        ("chart", r"its name has no ending; a chart is a \.png"),
        ("nowhere/chart.png", "there is no directory"),
    ],
)
def test_a_file_that_cannot_be_written(name: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=told):
        save_chart(SCATTER, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    old = tmp_path / "chart.png"
    old.write_text("as it was")
    with pytest.raises(MissingExtra, match=r"matplotlib: pip install 'karat\[charts\]'"):
        save_chart(SCATTER, old)
    assert old.read_text() == "as it was"
