"""Pages of every kind in a real browser: their own scripts run, and no other script ever does."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from browser import CHROMIUM, ask, chromium

from karat.cli.main import main

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

BANK = str(resources.files("karat") / "data" / "treebank" / "demo.conllu")
FEW = ("-m", "bleu", "-m", "ter", "--resamples", "2", "--trials", "2")
PAGES = {  # the command, and what its page's scripts leave behind that is not in the markup
    "score": (("score", "x.txt", "y.txt", "-r", "r.txt", "--segments", "-o"), "th button"),
    "compare": (
        ("compare", "x.txt", "y.txt", "-r", "r.txt", "-o"),
        "th button",
    ),
    "grid": (("grid", "x.txt", "-r", "r.txt", "-o"), ".told"),
    "meta": (("meta", "demo", *FEW, "-o"), "th button"),
    "plane": (("plane", "fit", "demo", "--dimension", "fluency", "-o"), "th button"),
    "nuggets": (("nuggets", "score", "heron", "wren", "-k", "demo-nuggets", "-o"), "p.asked"),
    "realize": (("realize", "explain", BANK, "--model", "model.npz", "-o"), "th button"),
}

INJECTED = (
    "<script>window.parsed = 1</script>"
    "<img src='x' onerror='window.handled = 1'>"
    "<button id='b' onclick='window.clicked = 1'></button>"
    "<p id='p' style='color: rgb(1, 2, 3)'></p><style>#p { font-size: 77px }</style>"
)
PROGRAM = """
  const script = document.createElement("script");
  script.textContent = "window.added = 1";
  document.body.append(script);
  document.getElementById("b").click();
  document.querySelector("table.matrix button")?.click();
  try { window.evaluated = eval("1"); } catch { }
  const p = getComputedStyle(document.getElementById("p"));
  const { parsed, handled, clicked, added, evaluated } = window;
  return {
    ran: Object.entries({ parsed, handled, clicked, added, evaluated }).filter(([, v]) => v),
    styled: p.color === "rgb(1, 2, 3)" || p.fontSize === "77px",
    own: document.querySelectorAll(OWN).length,
  };
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems with a reference, and a small realiser."""
    place = tmp_path_factory.mktemp("pages")
    (place / "x.txt").write_text("the cat sat on a mat\na dog\nthree birds\n")
    (place / "y.txt").write_text("a cat sat there\nthe dog\nfour birds\n")
    (place / "r.txt").write_text("the cat sat on the mat\na dog\nfour birds\n")
    run(place, "realize", "train", BANK, "-o", "model.npz", "--realizer", "fergus")
    return place


def run(folder: Path, *args: str) -> None:
    """Run the command within this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(list(args)) == 0


@pytest.mark.parametrize("kind", PAGES)
def test_only_the_scripts_of_the_page_itself_run(folder: Path, kind: str) -> None:
    command, left = PAGES[kind]
    page = folder / f"{kind}.html"
    run(folder, *command, page.name)
    text = page.read_text("utf-8")
    assert "unsafe" not in text.partition("</head>")[0]
    messages = chromium(page, "--dump-dom", "--virtual-time-budget=1000").stderr.splitlines()
    assert [line for line in messages if "CONSOLE" in line] == []
    hostile = folder / f"hostile-{kind}.html"
    hostile.write_text(text.replace("</main>", f"{INJECTED}</main>"), "utf-8")
    state = ask(hostile, PROGRAM.replace("OWN", repr(left)))
    assert (state["ran"], state["styled"]) == ([], False)
    assert state["own"] >= 1
