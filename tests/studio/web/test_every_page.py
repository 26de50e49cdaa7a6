"""Every page of the studio in a real browser: at a desk in light, and on a phone in dark.

No page scrolls sideways, has pale text or unnamed controls, or asks another host for anything.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.browser_page import UNNAMED, WIDER, Visitor
from studio.web.judged_server import judged_server
from studio.web.studio_server import Client, StudioServer

LOOKS = ((1300, "light"), (390, "dark"))
READY = "#judge .output, #judge .answer, #judge .nuggets, main:not(#judge)"
COUNTED = (
    "!document.querySelector('[data-counting]') && !/being computed/.test(document.body.innerText)"
)

STAFF = {
    "/adjudicate": "Adjudicate",
    "/browse": "Segments",
    "/browse?q=nowhere": "Segments",
    "/browse/segments/1": "Segments",
    "/browse/outputs?metrics=chrf": "Outputs",
    "/browse/reports": "Reports",
    "/owner": "Owner",
    "/owner/events": "Owner",
}
"""Pages with a navigation -> the link that is marked."""
ALONE = ("/nowhere", "/browse/segments/999", "/browse?low=x")
"""Pages that say one thing."""

LOST = """[...document.querySelectorAll(".staff td, .nuggets p, .text")]
  .filter((one) => one.parentElement.checkVisibility() && !one.checkVisibility())
  .map((one) => one.textContent)"""
"""Texts that a style hides."""

PALE = r"""() => {
  const parts = (color) => {
    const found = color.match(/[\d.]+/g).map(Number);
    const most = color.startsWith("color(") ? 255 : 1;
    return [...found.slice(0, 3).map((x) => x * most), found[3] ?? 1];
  };
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color[3] > 0.5) return luminance(color);
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 1;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *:not(script, style, option)")) {
    const text = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!text || !element.checkVisibility()) continue;
    if (element.closest("svg, noscript, :disabled")) continue;
    const [back, ink] = [paper(element), luminance(parts(getComputedStyle(element).color))];
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${element.textContent.trim().slice(0, 40)}`);
  }
  return found;
}"""


class Reader(Visitor):
    """Somebody who looks at pages in every size and colour, and notes what is wrong."""

    def __init__(self, browser: Any, server: StudioServer, name: str) -> None:
        super().__init__(browser, server, name)
        self.wrong: list[tuple[Any, ...]] = []
        self.page.on("request", self._ask)

    def _ask(self, request: Any) -> None:
        if not request.url.startswith(self.site):
            self.wrong.append(("asks elsewhere", request.url))

    def look(self, path: str, marked: str | None = None) -> None:
        self.open(path)
        self.page.wait_for_selector(READY)
        self.page.wait_for_function(COUNTED)
        current = self.page.locator(".links [aria-current=page]").all_inner_texts()
        if current != ([] if marked is None else [marked]):
            self.wrong.append((path, "marks", current))
        for width, scheme in LOOKS:
            self.page.set_viewport_size({"width": width, "height": 844})
            self.page.emulate_media(color_scheme=scheme)
            problems = [self.page.evaluate(script) for script in (WIDER, LOST, PALE, UNNAMED)]
            if problems != [0, [], [], []]:
                self.wrong.append((path, width, scheme, *problems))

    def links(self, path: str, start: str) -> list[str]:
        self.open(path)
        anchors = self.page.locator(f'main a[href^="{start}"]')
        return [anchor.get_attribute("href") for anchor in anchors.all()]


def test_pages_of_owners_and_readers(browser: Any, tmp_path: Path) -> None:
    server = judged_server(tmp_path, "ratings", 6, most=9)
    try:
        assessor, owner = Reader(browser, server, "ann"), Reader(browser, server, "owner")
        assessor.look("/")
        assessor.look("/owner")  # refused
        owner.look("/", "Judge")
        look_at_all(owner)
        post = Client(server, "owner")
        for path in ("estimates", "freeze", "reveal"):
            assert post.ask("POST", f"/api/owner/{path}", {}).status == 200
            owner.look("/owner", "Owner")
        for path in ("/browse", "/browse/segments/1", "/browse/outputs", "/adjudicate"):
            owner.look(path, STAFF.get(path, "Outputs"))
        assessor.look("/", "Judge")
        (*_, explained) = owner.links("/browse/segments/1", "/browse/segments/1/outputs/")
        for path in (explained, *owner.links("/browse/reports", "/browse/reports/")):
            owner.look(path)
    finally:
        server.stop()
    assert assessor.wrong + owner.wrong == []
    assert assessor.faults + owner.faults == []


def look_at_all(owner: Reader) -> None:
    for path, marked in STAFF.items():
        owner.look(path, marked)
    for path in ALONE:
        owner.look(path)
        summary = owner.page.inner_text(".answer")
        assert re.fullmatch(r"[A-Z].*\.", summary, re.DOTALL), summary


@pytest.mark.long
@pytest.mark.parametrize("task", ["pairs", "spans", "nuggets"])
def test_pages_of_tasks(browser: Any, tmp_path: Path, task: str) -> None:
    server = judged_server(tmp_path, task, 4, most=5)
    try:
        assessor, owner = Reader(browser, server, "ann"), Reader(browser, server, "owner")
        assessor.look("/")
        for path in ("/adjudicate", *(["/key"] if task == "nuggets" else [])):
            owner.look(path, {"/key": "Key"}.get(path, "Adjudicate"))
        owner.look("/browse/segments/1", "Segments")
    finally:
        server.stop()
    assert assessor.wrong + owner.wrong == []
