"""Every kind of page in a real browser: phone width, the first screen, contrast, tools, policy.

All pages stand in frames of one page, so that one browser looks at all of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, ask
from report_commands import COMMANDS, write_inputs

from karat.cli.main import main

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

PHONE, DESK = (390, 844), (1300, 900)
DARK = "--blink-settings=preferredColorScheme=0"
SAME_ORIGIN = "--allow-file-access-from-files"
CHECKS = """
  const luminance = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const looks = (frame) => {
    const page = frame.contentDocument, view = frame.contentWindow;
    const paper = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = view.getComputedStyle(at).backgroundColor;
        if (!/, 0\\)$/.test(color) && color !== "transparent") return luminance(color);
      }
      return luminance(view.getComputedStyle(page.body).backgroundColor);
    };
    const pale = [];
    for (const element of page.querySelectorAll("main *:not(script)")) {
      const text = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (!text || /^(title|desc|style|option)$/i.test(element.tagName)) continue;
      if (element.closest("svg") || element.disabled) continue;
      const back = paper(element), ink = luminance(view.getComputedStyle(element).color);
      const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
      if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${element.textContent.slice(0, 40)}`);
    }
    const answer = page.querySelector(".answer"), picture = page.querySelector("main svg, .case");
    const root = page.documentElement;
    return {
      wide: root.scrollWidth - root.clientWidth, pale,
      answer: answer ? answer.getBoundingClientRect().bottom : null,
      answerRight: answer ? answer.scrollWidth - answer.clientWidth : 0,
      picture: picture ? picture.getBoundingClientRect().top : null,
      fetched: view.performance.getEntriesByType("resource").length,
      hostile: view.hostile ?? 0,
      title: page.title,
    };
  };
  return Object.fromEntries([...document.querySelectorAll("iframe")].map(
    (frame) => [frame.name, looks(frame)]));
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind, made by commands on bundled texts."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        many = write_inputs(folder)
        for name, command in COMMANDS.items():
            words = command.replace("{many}", many).split()
            output = [] if "-o" in words else ["-o", f"{name}.html"]
            assert main([*words, *output]) in (0, 1), command  # 1: a gate that fails
    return {name: folder / f"{name}.html" for name in COMMANDS}


def looked_at(pages: dict[str, Path], size: tuple[int, int], *options: str) -> dict[str, Any]:
    """Open all pages in frames of one size."""
    width, height = size
    frames = "".join(
        f'<iframe name="{name}" src="{path.name}" width="{width}" height="{height}"'
        ' style="border:0"></iframe>'
        for name, path in pages.items()
    )
    harness = next(iter(pages.values())).with_name(f"harness-{width}.html")
    policy = '<meta http-equiv="Content-Security-Policy" content="script-src ">'
    harness.write_text(f"<!doctype html>{policy}<body>{frames}</body>", "utf-8")
    return dict(ask(harness, CHECKS, SAME_ORIGIN, "--window-size=1400,1000", *options))


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_phones(pages: dict[str, Path], options: tuple[str, ...]) -> None:
    measures = looked_at(pages, PHONE, *options)
    assert set(measures) == set(pages)
    assert {
        name: measure["wide"] for name, measure in measures.items() if measure["wide"] > 0
    } == {}
    assert {
        name: measure["answerRight"]
        for name, measure in measures.items()
        if measure["answerRight"] > 0
    } == {}
    assert {name: measure["pale"] for name, measure in measures.items() if measure["pale"]} == {}
    assert [
        name for name, measure in measures.items() if measure["hostile"] or measure["fetched"]
    ] == []


SILENT = {"segments", "worst", "metrics", "sets", "draft", "sentences", "rewritten"}
"""Pages whose numbers say nothing by themselves, or that are one table."""


def test_the_first_screen_has_the_answer_and_the_first_picture(pages: dict[str, Path]) -> None:
    measures = looked_at(pages, DESK)
    low = {
        name: (measure["answer"], measure["picture"])
        for name, measure in measures.items()
        if name not in SILENT
        and not (
            measure["answer"]
            and measure["answer"] < 700
            and measure["picture"]
            and measure["picture"] < 850
        )
    }
    assert low == {}


def test_tables_search_filter_and_turn_pages(pages: dict[str, Path]) -> None:
    program = """
      const frame = document.querySelector("details.table, section");
      const table = [...document.querySelectorAll("table")]
        .find((one) => one.closest("section, details").querySelector(".pages"));
      const box = table.closest("section, details");
      const rows = () => [...table.querySelectorAll("tbody tr:not(.group)")];
      const told = () => box.querySelector(".pages").textContent;
      const press = (word) => [...box.querySelectorAll(".pages button")]
        .find((one) => one.textContent === word).click();
      const steps = [[rows().length, told()]];
      press("Next"); steps.push([rows().length, told(), rows()[0].textContent]);
      const search = box.querySelector('input[type="search"]');
      search.value = "drift"; search.dispatchEvent(new Event("input", { bubbles: true }));
      steps.push([rows().length, told(), rows().every((row) => /drift/.test(row.textContent))]);
      search.value = "no such row"; search.dispatchEvent(new Event("input", { bubbles: true }));
      steps.push([rows().length, told()]);
      search.value = ""; search.dispatchEvent(new Event("input", { bubbles: true }));
      steps.push([rows().length, told()]);
      return steps;
    """
    first, second, searched, none, again = ask(pages["segments"], program)
    total = f"{4 * 80 * 6:,}"
    assert first[:1] == [100]
    assert f"Rows 1 to 100 of {total}" in first[1]
    assert f"Rows 101 to 200 of {total}" in second[1]
    assert searched[2] is True
    assert f"of {80 * 6}" in searched[1]
    assert none[0] == 0
    assert "No row fits" in none[1]
    assert again[0] == 100


def test_examples_switch_between_systems_and_metrics(pages: dict[str, Path]) -> None:
    program = """
      const section = document.querySelector("section.examples");
      const shown = () => [...section.querySelectorAll(".case")].filter((one) => !one.hidden)
        .map((one) => [one.getAttribute("data-tag-0"), one.getAttribute("data-tag-1")]);
      const [system, metric] = section.querySelectorAll("select");
      const steps = [shown()];
      system.value = "cinder"; metric.value = "chrF";
      metric.dispatchEvent(new Event("change", { bubbles: true }));
      return [...steps, shown(), section.querySelector(".tools").hidden];
    """
    first, then, hidden = ask(pages["demo"], program)
    assert first == [["atlas", "BLEU"]] * 2
    assert then == [["cinder", "chrF"]] * 2
    assert hidden is False


def test_no_page_is_large(pages: dict[str, Path]) -> None:
    assert {
        name: path.stat().st_size for name, path in pages.items() if path.stat().st_size > 3_000_000
    } == {}
    assert json.dumps(sorted(pages))  # the fixture made them all
