"""The check of the built site: every fault is found, and the theme asks no other site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.check_site import main, problems
from tools.docs.stage import ROOT

POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'self' file: data: blob: 'unsafe-inline'\">"
)
PAGE = f"""<html><head>{POLICY}<link rel="stylesheet" href="a.css"><link rel="next" href="b.html">
<script src="a.js"></script></head><body><h1 id="top">T</h1><a href="b.html#part">b</a>
<a href="https://example.org/">elsewhere</a><img src="data:image/png;base64,AA"></body></html>"""
OTHER = (
    f"""<html><head>{POLICY}</head><body><h2 id="part">P</h2><a href="./">home</a></body></html>"""
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two pages without a fault."""
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "b.html").write_text(OTHER, "utf-8")
    (tmp_path / "404.html").write_text(OTHER, "utf-8")
    (tmp_path / "a.css").write_text("p { background: url(data:image/png;base64,AA) }", "utf-8")
    return tmp_path.resolve()


def test_a_good_site_has_no_problem(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(site) == 0
    assert capsys.readouterr().out == f"{site.name}: 3 pages, 4 links, 0 problems\n"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('href="b.html#part"', 'href="b.html#parts"', "index.html: b.html#parts: no such anchor"),
        ('href="b.html#part"', 'href="c.html"', "index.html: c.html does not exist"),
        ('href="b.html#part"', 'href="#top"', "b.html is not reached from index.html"),
        ('src="a.js"', 'src="https://cdn.org/a.js"', "index.html fetches https://cdn.org/a.js"),
        ('href="a.css"', 'href="//cdn.org/a.css"', "index.html fetches //cdn.org/a.css"),
        ("data:image/png;base64,AA", "http://x.org/i.png", "index.html fetches http://x.org/i.png"),
        (POLICY, "", "index.html: its policy is '', expected"),
        (POLICY, f"{POLICY}<style>@import '//f.org/f';</style>", "index.html fetches //f.org/f"),
    ],
)
def test_a_fault_is_told(site: Path, right: str, wrong: str, message: str) -> None:
    assert right in PAGE
    (site / "index.html").write_text(PAGE.replace(right, wrong), "utf-8")
    assert any(problem.startswith(message) for problem in problems(site))
    assert main(site) == 1


def test_a_font_of_another_site_is_told(site: Path) -> None:
    (site / "a.css").write_text("@font-face { src: url('https://f.org/f.woff2') }", "utf-8")
    assert list(problems(site)) == ["a.css fetches https://f.org/f.woff2"]


def test_the_configuration_fetches_no_fonts_and_has_no_diagrams() -> None:
    text = (ROOT / "zensical.toml").read_text("utf-8")
    assert "\nfont = false" in text
    assert "mermaid" not in text
    assert "zensical==" in (ROOT / "Makefile").read_text("utf-8")
