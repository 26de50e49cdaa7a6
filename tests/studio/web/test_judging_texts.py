"""Marks in texts, in a real browser: places of any script, overlaps, the mouse, evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.store_rows import history
from studio.web.person import Person, rows, values
from studio.web.studio_server import StudioServer

ARABIC = "قررت اللجنة 😀 تأجيل التصويت"
TEXT = "A 👩‍👩‍👧 cafe\u0301 𝒳 sat.\nOn two lines 😀 it ends."
PEOPLE = ("ada", "ben", "cy", "dee", "eli", "fay", "gil")
INVITED = [word for name in PEOPLE for word in ("--assessor", name)]


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """A studio for error spans, on two outputs."""
    folder = tmp_path_factory.mktemp("spans")
    items = [{"id": "1", "outputs": {"A": TEXT}}, {"id": "2", "outputs": {"A": ARABIC}}]
    path = folder / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in items), "utf-8")
    server = StudioServer(folder, str(path), "--task", "spans", "--overlap", "9", *INVITED)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def nuggets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    folder = tmp_path_factory.mktemp("nuggets")
    server = StudioServer(folder, "demo-nuggets", "--overlap", "9", *INVITED)
    yield server
    server.stop()


def at_text(browser: Any, server: StudioServer, name: str, text: str, **more: Any) -> Person:
    """Open the page at the item with a text."""
    person = Person(browser, server, name, **more)
    if person.output() != text:
        person.go_on()
    assert person.output() == text
    return person


def marked(server: StudioServer, name: str, text: str) -> list[str]:
    """What the newest row of an assessor marks, as Python cuts it."""
    spans = rows(server, name, history)[-1].value["spans"]
    return [text[span["start"] : span["end"]] for span in spans]


def quoted(person: Person) -> list[str]:
    quotes: list[str] = person.page.locator(".spans q").all_text_contents()
    return quotes


def test_every_word_is_marked_where_python_finds_it(browser: Any, spans: StudioServer) -> None:
    ada = at_text(browser, spans, "ada", TEXT)
    words = [word for line in TEXT.split("\n") for word in line.replace(".", " .").split()]
    for _ in words:
        ada.press("ArrowRight", "2", "a")
    ada.saved()
    assert quoted(ada) == marked(spans, "ada", TEXT) == words


def test_a_text_from_right_to_left_runs_as_the_arrows_do(browser: Any, spans: StudioServer) -> None:
    ben = at_text(browser, spans, "ben", ARABIC)
    ben.press("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "2", "a", "w", "3", "b")
    ben.saved()
    assert quoted(ben) == marked(spans, "ben", ARABIC) == ["اللجنة 😀", ARABIC]


def test_the_mouse_marks_across_lines_and_beyond_the_text(
    browser: Any, spans: StudioServer
) -> None:
    cy = at_text(browser, spans, "cy", TEXT)
    cy.page.evaluate(
        """() => { const text = document.querySelector("#judge .output .text").firstChild;
        getSelection().setBaseAndExtent(text, text.data.indexOf("sat"), text,
          text.data.indexOf("two")); }"""
    )
    cy.press("1", "a")
    # A triple click reaches into what follows: what lies in the text is marked.
    cy.page.evaluate(
        """() => { const marks = document.querySelectorAll("#judge .output .text > *");
        getSelection().setBaseAndExtent(marks[0].firstChild, 1, document.getElementById("told"), 0);
        }"""
    )
    cy.press("2", "b")
    cy.saved()
    start = TEXT.index("sat")
    assert quoted(cy) == marked(spans, "cy", TEXT) == ["sat.\nOn ", TEXT[start + 1 :]]


def test_overlapping_errors_are_chosen_changed_and_removed_by_keys(
    browser: Any, spans: StudioServer
) -> None:
    dee = at_text(browser, spans, "dee", TEXT)
    dee.press("ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "2", "a")  # A … café
    dee.press("ArrowLeft", "Shift+ArrowRight", "Shift+ArrowRight", "3", "b")  # … 𝒳
    assert dee.page.locator("mark.several").count() == 1
    dee.press("ArrowDown")
    assert dee.page.locator(".spans li.active q").text_content() == quoted(dee)[0]
    dee.press("4", "c")  # changes the chosen one
    dee.saved()
    marks = rows(spans, "dee", history)[-1].value["spans"]
    assert [span["severity"] for span in marks] == ["critical", "major"]
    assert [span["category"] for span in marks] == ["Accuracy/Mistranslation", "Accuracy/Omission"]
    dee.press("ArrowUp", "ArrowUp", "x")
    dee.saved()
    assert [span["severity"] for span in rows(spans, "dee", history)[-1].value["spans"]] == [
        "major"
    ]
    dee.press("ArrowRight", "1", "Escape", "Enter")  # cancelled: nothing is pending
    dee.page.wait_for_function("() => document.getElementById('count').textContent[0] !== '0'")


def test_a_key_held_down_finishes_one_item(browser: Any, spans: StudioServer) -> None:
    eli = Person(browser, spans, "eli")
    for _ in range(4):
        eli.page.keyboard.down("Enter")  # the second and those after it repeat
        eli.page.wait_for_timeout(100)
    eli.page.keyboard.up("Enter")
    eli.page.wait_for_function(
        "() => document.getElementById('count').textContent.startsWith('1 of')"
    )
    assert len(values(spans, "eli")) == 1


def test_who_is_done_can_go_back_and_undo(browser: Any, spans: StudioServer) -> None:
    fay = Person(browser, spans, "fay")
    fay.go_on()
    last = fay.output()
    fay.press("Enter")
    fay.page.wait_for_selector("body.finished")
    fay.press("u")
    fay.page.wait_for_selector("#judge .output")
    fay.saved()
    assert fay.output() == last
    assert len(values(spans, "fay")) == 1  # the last one is open again
    fay.press("Enter")
    fay.page.wait_for_selector("body.finished")
    fay.page.click("#previous")
    fay.page.wait_for_selector("#judge .output")
    assert len(values(spans, "fay")) == 2


def test_evidence_decides_nothing(browser: Any, nuggets: StudioServer) -> None:
    ada = Person(browser, nuggets, "ada")
    ada.press("e")
    assert ada.page.text_content("#judge .hint") == "Select words of the response first."
    ada.press("ArrowRight", "Shift+ArrowRight", "e")
    ada.saved()
    assert ada.page.locator(".nuggets > li button[aria-pressed=true]").count() == 0
    (row,) = rows(nuggets, "ada", history)
    (first,) = row.value["nuggets"].values()
    assert [*first] == ["evidence"]
    assert not row.value["done"]
    ada.press("Enter")
    assert ada.page.text_content("#told") == "Decide nugget 1 first."
    ada.page.reload()
    ada.page.wait_for_selector("#judge mark.evidence")
    ada.press("3")
    ada.saved()
    (after,) = rows(nuggets, "ada", history)[-1].value["nuggets"].values()
    assert after == {"label": "none", **first}


def test_a_selection_of_the_mouse_outlives_a_click_on_another_nugget(
    browser: Any, nuggets: StudioServer
) -> None:
    ben = Person(browser, nuggets, "ben")
    ben.page.dblclick("#judge .output .text", position={"x": 30, "y": 25})
    ben.page.locator(".nuggets > li").nth(2).get_by_text("Mark evidence").click()
    ben.saved()
    (row,) = rows(nuggets, "ben", history)
    (label,) = row.value["nuggets"].values()
    (evidence_span,) = label["evidence"]
    assert evidence_span["start"] == 0
    assert ben.page.locator(".nuggets > li.active").nth(0).text_content().startswith("3.")


def test_what_is_judged_stays_in_sight(browser: Any, nuggets: StudioServer) -> None:
    cy = Person(browser, nuggets, "cy", viewport={"width": 390, "height": 800})
    for _ in range(cy.page.locator(".nuggets > li").count() - 1):
        cy.press("y")
    active, output, moves = (
        cy.page.locator(selector).bounding_box()
        for selector in (".nuggets > li.active", "#judge .output", ".moves")
    )
    assert output["y"] >= 0
    assert output["y"] + output["height"] <= active["y"]
    assert active["y"] + active["height"] <= moves["y"]
